# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A policy run with an owned clock, in which the rules of policy_rules are checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from curiosity_rosa_demo.agent.policy.action import Senses
from curiosity_rosa_demo.agent.policy.events import Event
from curiosity_rosa_demo.agent.policy.policy import Policy, PolicyTick
from curiosity_rosa_demo.agent.policy.suggestion_provider import LLMPolicyProvider
from curiosity_rosa_demo.agent.policy.world_state import WorldState
from curiosity_rosa_demo.agent.policy.world_view import WorldModel
from curiosity_rosa_demo.infra.config.agent import PolicyConfig
from curiosity_rosa_demo.infra.config.time_zone import time_zone
from curiosity_rosa_demo.infra.config.world import WorldView
from curiosity_rosa_demo.infra.config_loader import load_world, shipped_config_dir
from policy_doubles import SETTINGS, SimulatedTasks, WORK_S
from policy_rules import Rules

ROVER = load_world('world_view', shipped_config_dir())
COMPANION = load_world('companion', shipped_config_dir())
HELD = ('SAFE: e-stop pressed', 'CHARGE: battery is low')


def world_of(view: WorldView, zone: str = 'UTC+08:00') -> WorldModel:
    return WorldModel(view, time_zone(zone))


def instant(text: str, world: WorldModel) -> float:
    """Epoch seconds of a local time such as 2026-11-23 07:20 (a Monday)."""
    return datetime.fromisoformat(text).replace(tzinfo=world.zone).timestamp()


@dataclass
class PolicyRun:
    """A policy, its kernel and its clock. ``holding`` and ``twin`` may be changed at any time."""

    world: WorldModel
    at: float
    settings: PolicyConfig = SETTINGS
    provider: LLMPolicyProvider | None = None
    state: WorldState | None = None
    work_s: Callable[[str], float] = lambda name: WORK_S
    keep: int = 5000  # decisions; 0: no events either
    holding: str = ''
    decisions: list[PolicyTick] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.twin = SimulatedTasks(self.world, self.work_s)
        self.twin.at = self.at
        self.rules = Rules(self.world)
        self.saved = self.state or WorldState.first(self.world.view)
        self.number = 0
        self.policy = self._born()

    def _born(self) -> Policy:
        return Policy(
            self.world,
            self.settings,
            state=self.saved,
            provider=self.provider,
            publish=self._hear,
            number=self.number,
        )

    def _hear(self, event: Event) -> None:
        if self.keep:
            self.events.append(event)
        self.rules.hear(event)

    def restart(self, *, lost: bool = False) -> None:
        """The process dies after its last tick; what was kept is read again."""
        self.policy.close()
        self.saved = WorldState.model_validate_json(self.saved.model_dump_json())
        if lost:
            self.twin.lose()
        self.policy = self._born()

    def senses(self) -> Senses:
        twin = self.twin
        if not self.world.view.measured:
            return Senses(hold_reason=self.holding, tasks=twin.states)
        return Senses(twin.place, twin.energy, self.holding, twin.states)

    def tick(self, *messages: str, cause: str = 'minute', carried_out: bool = True) -> PolicyTick:
        """``carried_out`` False: the process dies between keeping the state and its commands."""
        self.twin.advance(self.at)
        before, senses = self.saved, self.senses()
        self.rules.ended.clear()
        tick = self.policy.tick(self.at, cause, senses, messages)
        self.saved, self.number = tick.state, tick.decision.number
        if carried_out:
            if tick.commands:
                self.twin.do(tick.commands, self.at)
            self.rules.check(before, tick, senses, self.twin)
        if self.keep:
            self.decisions.append(tick)
            del self.decisions[: -self.keep]
        return tick

    def off(self, why: str) -> PolicyTick:
        tick = self.policy.switch_off(why, self.at)
        self.saved, self.number = tick.state, tick.decision.number
        self.twin.do(tick.commands, self.at)
        return tick

    def run(self, minutes: float) -> None:
        """Advance the clock and tick, again and again."""
        end = self.at + minutes * 60.0
        while self.at < end:
            self.at += 60.0
            self.tick()

    def until(self, text: str) -> None:
        """Live up to a local time, its own tick included."""
        self.run((instant(text, self.world) - self.at) / 60.0)

    @property
    def doing(self) -> str:
        return self.saved.activity.activity if self.saved.activity else ''

    def began(self, name: str = '') -> list[str]:
        """Local times at which ``name`` (all: with their names) began."""
        return [
            f'{self.world.local(at):%a %H:%M}' + ('' if name else f' {activity}')
            for at, activity, _ in self.rules.begun
            if name in ('', activity)
        ]
