# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A day of an agent with a real runtime; the test owns the clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, TypeVar

from curiosity_rosa_demo.agent.policy.autonomy.autonomy import OFF_TEXT
from curiosity_rosa_demo.agent.policy.autonomy.persistent_policy import PersistentPolicy
from curiosity_rosa_demo.agent.policy.decision_record import Decision
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.world_state import WorldState
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config.world import WorldView
from runtime_world import CONFIG, RuntimeBench

T = TypeVar('T')
SINGAPORE = timezone(timedelta(hours=8))
TEN = datetime(2026, 11, 24, 10, 0, tzinfo=SINGAPORE).timestamp()  # on a Tuesday
MIN, HOUR = 60.0, 3600.0

WORLD: dict[str, Any] = {
    'says': 'a rover in a test',
    'measured': False,
    'begins': {'place': 'base', 'energy': 0.8},
    'places': {'base': {'leads_to': ['field']}, 'field': {'leads_to': ['base']}},
    'devices': {'battery': {'abilities': ['charge']}},
    'activities': {
        'survey': {
            'says': 'surveys the ground',
            'window': '06:00-20:00',
            'minutes': 20,
            'again_after_h': 2.0,
            'does': [{'skill': 'mast_open'}, {'skill': 'capture_and_score'}],
        },
        'sleep': {'says': 'sleeps', 'window': '21:00-05:00', 'minutes': 480},
        'charge': {'says': 'charges', 'does': [{'skill': 'charge'}], 'again_after_h': 1.0},
        'read': {'says': 'reads a message', 'minutes': 2, 'interruptible': False},
        'rest': {'says': 'stands still', 'minutes': 30},
        'wonder': {'says': 'wonders', 'asks': 'Find something of interest.'},
    },
    'emergencies': [{'event': 'external.message', 'activity': 'read'}],
    'routine': [{'activity': 'sleep'}, {'activity': 'survey', 'preemptive': False}],
}


def config_of(world: dict[str, Any] | None = None, **policy: Any) -> Config:
    """The shipped contracts but for the world; ``policy`` replaces settings of its section."""
    settings = CONFIG.agent.policy.model_copy(update=policy)
    agent = CONFIG.agent.model_copy(update={'policy': settings})
    view = WorldView.model_validate({**WORLD, **(world or {})})
    return CONFIG.model_copy(update={'world': view, 'agent': agent})


class AutonomyBench(RuntimeBench):
    """It begins at ten in the morning of a Tuesday."""

    def __init__(
        self,
        folder: Path,
        *,
        ready: bool = True,
        go_on: bool = False,
        config: Config | None = None,
        at: float = TEN,
        provider: LLMPolicyProvider | None = None,
    ) -> None:
        self.at = at
        self.config = config or config_of()
        super().__init__(
            folder,
            ready=ready,
            go_on=go_on,
            config=self.config,
            now=lambda: self.at,
            epoch=lambda: TEN,
            provider=provider,
        )

    def on(self) -> str:
        outcome = self.autonomy.switch_on()
        assert outcome.ok, outcome.answer
        return outcome.answer

    @property
    def is_on(self) -> bool:
        return self.autonomy.status_text() != OFF_TEXT

    def kept(self, read: Callable[[PersistentPolicy], T]) -> T:
        """What ``read`` finds between two ticks."""
        return self.autonomy._worker.call(lambda: read(self.autonomy._policy), 10.0)

    @property
    def state(self) -> WorldState:
        return self.kept(lambda kept: kept.policy.state)

    @property
    def activity(self) -> str:
        ongoing = self.state.activity
        return ongoing.activity if ongoing else ''

    def decisions(self) -> list[Decision]:
        return self.kept(lambda kept: kept.recent_decisions(1000))

    def goes_on(self, activity: str) -> None:
        self.until(lambda: self.activity == activity, f'{activity or "nothing"} to go on')

    def pass_time(self, seconds: float) -> None:
        """And wait until that was noticed; for while it is on."""
        seen = self.decisions()[-1].at
        self.at += seconds
        self.until(lambda: self.decisions()[-1].at > seen, 'a tick')

    @property
    def timer(self) -> Task:
        """The first task that lasts as long as an activity."""
        return next(task for task in self.runtime.list_tasks() if task.name == 'activity')

    def states(self, name: str) -> list[str]:
        """Of the tasks for the skill ``name``, in order of submission."""
        return [task.state.name for task in self.runtime.list_tasks() if task.name == name]

    def become(self, name: str, *states: str) -> None:
        self.until(lambda: self.states(name) == [*states], f'{name} to be {states}')
