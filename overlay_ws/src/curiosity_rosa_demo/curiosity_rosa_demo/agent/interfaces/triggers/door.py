# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The door of the triggers: what fires becomes a task of the agent, through the gate.

It works in the runtime's loop, at each tick of the kernel, and has no thread of its own.
"""

from __future__ import annotations

from collections.abc import Callable
import logging

from curiosity_rosa_demo.agent.interfaces.triggers.board import TriggerBoard
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
from curiosity_rosa_demo.domain.brain_state import Json, Mode
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.infra.config.behaviour import TriggerConfig
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.trace.events import TriggerChanged
from curiosity_rosa_demo.trace.reporter import TraceFunction

_log = logging.getLogger('curiosity_rosa.triggers')


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

    def on_tick(self, _: object) -> None:
        """Call it in the loop. Never raises: the tick is the kernel's."""
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
