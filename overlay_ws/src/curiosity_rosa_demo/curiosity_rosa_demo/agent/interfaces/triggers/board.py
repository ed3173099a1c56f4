# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""All triggers: their machines, newest values and switches. Thread-safe, and no method blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import json
import threading
import time

from curiosity_rosa_demo.agent.interfaces.triggers.machine import Machine, Sample, Step
from curiosity_rosa_demo.domain.adapter_status import (
    TriggerState,
    TriggerStatus,
    UnknownTrigger,
)
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.infra.config.behaviour import COMPARISONS, TriggerConfig
from curiosity_rosa_demo.trace.events import TriggerChange


@dataclass(frozen=True)
class Change:
    """What happened to a trigger; ``words`` are for the trace."""

    config: TriggerConfig
    kind: TriggerChange
    words: str


class TriggerBoard:
    """``clock``: steady seconds."""

    def __init__(
        self, triggers: Sequence[TriggerConfig], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._machines = {each.name: Machine(each) for each in triggers}
        self._samples: dict[str, Sample] = {}  # those of topics
        self._blocked = ''
        for machine in self._machines.values():
            machine.switch(machine.config.enabled)

    # --- the operator -------------------------------------------------------------------------

    def statuses(self) -> Sequence[TriggerStatus]:
        with self._lock:
            return [self._status(each) for each in self._machines.values()]

    def switch(self, name: str, on: bool) -> TriggerStatus:
        with self._lock:
            if name not in self._machines:
                raise UnknownTrigger(name, list(self._machines))
            machine = self._machines[name]
            machine.switch(on)
            return self._status(machine)

    def on_stop(self, by: str) -> None:
        """A person who stops the rover does not want an event to start it again."""
        with self._lock:
            for machine in self._machines.values():
                if machine.state is not TriggerState.OFF:
                    machine.switch(False)
                    name = machine.config.name
                    machine.problem = f'off since a stop by {by}; :triggers on {name}'

    # --- values and time ----------------------------------------------------------------------

    def put(self, name: str, sample: Sample) -> None:
        """The newest value of a trigger that watches a topic."""
        with self._lock:
            self._samples[name] = sample

    def observe(self, facts: Json, blocked: str, busy: Mapping[str, str]) -> list[Change]:
        """Let each machine observe its newest value. ``busy``: why a trigger may not fire, by
        name.
        """
        now_s, changes = self._clock(), []
        with self._lock:
            self._blocked = blocked
            for name, machine in self._machines.items():
                fact = machine.config.fact
                sample = self._samples.get(name) if fact is None else Sample(facts[fact], now_s)
                step = machine.observe(sample, now_s, blocked=blocked, busy=busy.get(name, ''))
                if change := _change(machine.config, step):
                    changes.append(change)
        return changes

    @property
    def watches(self) -> bool:
        """Whether any trigger is on."""
        with self._lock:
            return any(each.state is not TriggerState.OFF for each in self._machines.values())

    def _status(self, machine: Machine) -> TriggerStatus:
        fired = machine.fired_at_s[-1] if machine.fired_at_s else None
        return TriggerStatus(
            machine.config.name,
            machine.state,
            condition_text(machine.config),
            action_text(machine.config),
            machine.value,
            None if fired is None else self._clock() - fired,
            machine.fired_count,
            machine.why_not(self._blocked),
        )


def _change(config: TriggerConfig, step: Step) -> Change | None:
    """What the trace says about a step; None: nothing."""
    head = f'Trigger {config.name}'
    if step.fired:
        words = f'{head} fired: {condition_text(config)}; queues {action_text(config)}'
        return Change(config, 'fired', words)
    if step.suppressed:
        return Change(config, 'suppressed', f'{head} suppressed: {step.suppressed}')
    came_back = step.after is TriggerState.ARMED and step.before is not TriggerState.PENDING
    is_armed = came_back and step.before is not step.after
    return Change(config, 'armed', f'{head} armed') if is_armed else None


def condition_text(config: TriggerConfig) -> str:
    """The condition, such as ``/battery_state percentage below 0.3 for 5 s``."""
    watched = config.watch
    source = config.fact if watched is None else f'{watched.topic} {watched.field}'
    kind = next(
        each
        for each in COMPARISONS
        if getattr(config, each) not in (None, False)
        or (each == 'equals' and config.equals is False)
    )
    limit = '' if kind == 'changes' else f' {json.dumps(getattr(config, kind))}'
    return f'{source} {kind}{limit}' + (f' for {config.for_s:g} s' if config.for_s else '')


def action_text(config: TriggerConfig) -> str:
    """The goal in quotes, or the skill with its arguments."""
    if config.goal:
        return json.dumps(config.goal, ensure_ascii=False)
    given = ', '.join(f'{key}={json.dumps(each)}' for key, each in config.arguments.items())
    return f'{config.skill}({given})'
