# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The triggers, and their door: what fires becomes a task of the agent, through the gate.

The door works in the runtime's loop, at each tick of the kernel, and has no thread of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import json
import logging
import threading
import time

from curiosity_rosa_demo.agent.interfaces.triggers.machine import Machine, Sample, Step
from curiosity_rosa_demo.agent.kernel.decide import INTERRUPT_REASONS
from curiosity_rosa_demo.agent.react.world import RoverWorld
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.agent.skills.registry import (
    arguments_as_json,
    SkillRegistry,
    TASK_ONLY_SKILLS,
)
from curiosity_rosa_demo.agent.skills.skill import BadArguments, UnknownSkill
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.origin import with_origin
from curiosity_rosa_demo.agent.tasks.task import TaskError
from curiosity_rosa_demo.domain.adapter_status import (
    TriggerState,
    TriggerStatus,
    UnknownTrigger,
)
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Json,
    Mode,
    Reading,
    UserInterruptType,
)
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.infra.config.behaviour import COMPARISONS, TriggerConfig
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.trace.events import TriggerChange, TriggerChanged
from curiosity_rosa_demo.trace.reporter import TraceFunction

_log = logging.getLogger('curiosity_rosa.triggers')


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
        self.stops = 0  # that it was told of
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
            self.stops += 1
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


# --- The door -----------------------------------------------------------------------------------


def world_facts(world: RoverWorld, readings: Callable[[], Mapping[str, Reading]]) -> Json:
    """The facts of query_world now, without a call of the adapter: from its last status; null for
    those of an adapter that is silent. ``readings`` as in ``agent/topics/telemetry.py``.
    """
    status = readings().get('adapter')
    max_age_s = world.config.thresholds.telemetry.adapter_max_age_s
    is_fresh = status is not None and time.monotonic() - status.received_s <= max_age_s
    return world.facts_of(dict(status.value) if is_fresh and status else {})


class TriggerDoor:
    """``facts`` are those of query_world; neither it nor ``trace`` may block."""

    def __init__(
        self,
        board: TriggerBoard,
        robot: Robot,
        *,
        facts: Callable[[], Json],
        trace: TraceFunction,
    ) -> None:
        self._board, self._robot, self._facts, self._trace = board, robot, facts, trace
        self._jobs = robot.jobs(_failure)
        self._tasks: dict[str, Task | None] = {}  # the last of each trigger; None: on its way
        self._paused = False  # by a person

    def on_tick(self, state: BrainState) -> None:
        """Call it in the loop. Never raises: the tick is the kernel's."""
        interrupt, is_of_one = state.hci.user_interrupt, 'task_id' in state.hci.interrupt_payload
        if interrupt in (UserInterruptType.STOP, UserInterruptType.RESUME) and not is_of_one:
            self._paused = False
        elif interrupt is UserInterruptType.PAUSE:
            self._paused = True
        try:
            if self._board.watches:
                self._observe()
        except Exception as error:
            _failure(error)

    def _observe(self) -> None:
        stops = self._robot.stop_count  # before the check: a stop from now on drops the task
        busy = {name: _busy_text(task) for name, task in self._tasks.items()}
        changes = self._board.observe(self._facts(), self._blocked(), busy)
        for change in changes:
            changed = TriggerChanged(change.config.name, change.kind)
            self._trace(**changed.trace_fields(change.words))
            if change.kind == 'fired':
                self._tasks[change.config.name] = None
                self._jobs.start_job(self._submit(change.config, stops))

    def _blocked(self) -> str:
        if why := self._robot.not_ready_reason():
            return why
        if replay := self._robot.replay_text():
            return f'a recording is played back: {replay}'
        if self._robot.stop_count > self._board.stops:  # it is counted before the board is told
            return 'a stop was just sent'
        if self._paused:
            return f'{INTERRUPT_REASONS[UserInterruptType.PAUSE]}; :resume ends it'
        tasks = self._robot.state().tasks
        return f'the mode is SAFE: {tasks.mode_reason}' if tasks.mode is Mode.SAFE else ''

    async def _submit(self, trigger: TriggerConfig, stops: int) -> None:
        try:
            skill = trigger.skill or 'react'
            arguments = trigger.arguments if trigger.skill else {'text': trigger.goal}
            task = with_origin(self._robot.make_task(skill, dict(arguments)), Origin.TRIGGER)
            task.priority = trigger.priority
            self._tasks[trigger.name] = await self._robot.order(task, stops=stops)
        except TaskError as error:
            why = f'Trigger {trigger.name}: {error}'
            self._trace(TraceKind.ERROR, why, ok=False, error_reason=why)
        finally:
            if self._tasks[trigger.name] is None:
                del self._tasks[trigger.name]


def check_triggers(triggers: list[TriggerConfig], registry: SkillRegistry, facts: Json) -> None:
    """Check the skill, its arguments and the fact of each trigger. Raises ConfigError."""
    for trigger in triggers:
        head = f'triggers.yaml: {trigger.name}'
        if trigger.fact is not None and trigger.fact not in facts:
            known = ', '.join(facts)
            raise ConfigError(f'{head}.fact = {trigger.fact!r}: no such fact; there are {known}')
        if trigger.skill in TASK_ONLY_SKILLS:
            way_out = 'use goal in its place' if trigger.skill == 'react' else 'take another'
            raise ConfigError(f'{head}.skill = {trigger.skill!r}: not for a trigger; {way_out}')
        try:
            if trigger.skill:
                arguments_as_json(registry.get(trigger.skill), dict(trigger.arguments))
        except UnknownSkill as error:
            raise ConfigError(f'{head}.skill = {trigger.skill!r}: {error}') from None
        except BadArguments as error:
            raise ConfigError(f'{head}.arguments = {trigger.arguments}: {error}') from None


def _busy_text(task: Task | None) -> str:
    if task is None:
        return 'its last task is on its way into the queue'
    return '' if task.terminal else f'its last task {task.id[:8]} has not ended'


def _failure(error: BaseException) -> None:
    _log.error('event=trigger_failed error=%r', error)
