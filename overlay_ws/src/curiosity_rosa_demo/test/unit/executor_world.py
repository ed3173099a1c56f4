# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A small world, and a day in it: an executor with a kernel that does at once what it is told."""

from __future__ import annotations

from datetime import timezone
from itertools import count
from typing import Any

from curiosity_rosa_demo.agent.policy.action import (
    ActionProposal,
    CancelTasks,
    Command,
    PauseTasks,
    PolicyAction,
    ResumeTasks,
    Senses,
    SubmitTasks,
)
from curiosity_rosa_demo.agent.policy.action_executor import ActionExecutor
from curiosity_rosa_demo.agent.policy.events import Event, StateChanged
from curiosity_rosa_demo.agent.policy.world_state import Source, WorldState
from curiosity_rosa_demo.agent.policy.world_view import WorldModel
from curiosity_rosa_demo.infra.config.world import WorldView

T0 = 1_800_000_000.0
WORK = [{'skill': 'mast_open', 'arguments': {}}]
PLACES = {'home': {'leads_to': ['school']}, 'school': {'leads_to': ['home'], 'zone': 'bright'}}
ACTIVITIES: dict[str, dict[str, Any]] = {
    'sleep': {'at': ['home'], 'minutes': 600, 'interruptible': False, 'energy_per_h': 0.1},
    'wake': {'ends': ['sleep'], 'minutes': 10},
    'go': {'at': ['home'], 'to': 'school', 'minutes': 20, 'energy_per_h': -0.6},
    'go_back': {'at': ['school'], 'to': 'home', 'minutes': 20, 'energy_per_h': -0.6},
    'study': {'at': ['school'], 'does': WORK, 'minutes': 60, 'energy_per_h': -0.3},
    'look': {'does': WORK, 'energy_per_h': -1.0},
    'ask': {'asks': 'what is there?', 'energy_per_h': -8.0},
    'rest': {'minutes': 30, 'energy_per_h': 2.0},
    'read': {'minutes': 2, 'interruptible': False},
}


def world_of(*, measured: bool = False, **changes: dict[str, Any]) -> WorldModel:
    values = {name: {'says': name} | each for name, each in ACTIVITIES.items()}
    for name, change in changes.items():
        values[name] |= change
    view = WorldView.model_validate(
        {
            'says': 'a test',
            'measured': measured,
            'begins': {'place': 'home', 'energy': 0.5},
            'places': PLACES,
            'activities': values,
            'routine': [],
        }
    )
    return WorldModel(view, timezone.utc)


class Day:
    """An executor, a kernel that does at once what it is told, and what was heard."""

    def __init__(self, world: WorldModel | None = None) -> None:
        self.world = world or world_of()
        self.at = T0
        self.tasks: dict[str, str] = {}
        self.events: list[Event] = []
        self.numbers = count(1)
        self.executor = self._executor(WorldState.first(self.world.view))
        self.look()

    def _hear(self, event: Event) -> None:
        """Changes of the energy are heard in test_policy_engine.py."""
        if not (isinstance(event, StateChanged) and event.what == 'energy'):
            self.events.append(event)

    def _executor(self, state: WorldState) -> ActionExecutor:
        return ActionExecutor(self.world, self._hear, state, lambda: f't{next(self.numbers)}')

    @property
    def state(self) -> WorldState:
        return self.executor.state

    @property
    def goes_on(self) -> str:
        return self.state.activity.activity if self.state.activity else ''

    @property
    def put_aside(self) -> list[str]:
        return [each.activity for each in self.state.suspended]

    def look(self, minutes: float = 0.0, **senses: Any) -> list[Command]:
        self.at += minutes * 60.0
        self.executor.observe(Senses(tasks=dict(self.tasks), **senses), self.at)
        return self.carry_out()

    def begin(self, name: str, by: Source = Source.ROUTINE, why: str = '') -> list[Command]:
        action = PolicyAction(type=name, preemptive=True, rationale=why)
        self.executor.start_activity(ActionProposal(action, by), self.at)
        return self.carry_out()

    def carry_out(self) -> list[Command]:
        commands = self.executor.take_commands()
        for command in commands:
            if isinstance(command, SubmitTasks):
                self.tasks |= dict.fromkeys(command.ongoing.task_ids, 'PENDING')
            else:
                state = {CancelTasks: 'CANCELLED', PauseTasks: 'PAUSED', ResumeTasks: 'ACTIVE'}
                self.tasks |= dict.fromkeys(command.task_ids, state[type(command)])
        return list(commands)

    def now(self, state: str, *ids: str) -> None:
        self.tasks |= dict.fromkeys(ids, state)

    def restart(self, *, commands_lost: bool = False) -> None:
        kept = self.state.model_dump_json()
        if commands_lost:
            self.executor.take_commands()
        self.executor = self._executor(WorldState.model_validate_json(kept))

    def heard(self) -> list[str]:
        heard = [f'{event.name} {event}' for event in self.events]
        self.events.clear()
        return heard
