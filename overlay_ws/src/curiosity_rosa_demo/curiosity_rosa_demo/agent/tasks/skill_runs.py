# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Running skills: they start once ACTIVE is committed, and are stopped or abandoned.

The end of a run decides the state of its task. If the skill returns, the task is COMPLETED, even
after a stop request, except cancel(): then it is CANCELLED. If the skill raises, the task FAILED,
or is retried up to max_retries times. After a CancelledError, the stop request decides: pause or
deadline. A CancelledError without a stop request is a failure.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
import inspect
import logging
from typing import Protocol

from curiosity_rosa_demo.agent.tasks.entry import StopCause, StopWeight, TaskRecord
from curiosity_rosa_demo.agent.tasks.task import Task
from curiosity_rosa_demo.agent.tasks.validation import backoff_s, error_text, metadata_fault
from curiosity_rosa_demo.domain.task_state import LifecycleState

# --- The registry of skills by name, with the function and the resources of each ---------------


SkillFunction = Callable[[Task], Awaitable[None]]


@dataclass(frozen=True)
class TaskSkill:
    function: SkillFunction
    resources: frozenset[str]
    recovers: bool  # after a crash it re-observes, then calls observed()
    cancel_supported: bool = True  # False: pause, interrupt and cancel do not stop it


class TaskSkills:
    def __init__(self, resources: Iterable[str]) -> None:
        self.resources = frozenset(resources)
        self._skills: dict[str, TaskSkill] = {}

    def add(
        self,
        name: str,
        function: SkillFunction,
        resources: Iterable[str] | None,
        recovers: bool,
        *,
        cancel_supported: bool = True,
    ) -> None:
        """Register a skill. ``resources`` None means all. Raises ValueError, TypeError."""
        if name in self._skills:
            raise ValueError(f'There is already a skill {name!r}; give this one another name')
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f'The skill {name!r} is {function!r}; it must be an async def')
        needed = self.resources if resources is None else frozenset(resources)
        if unknown := needed - self.resources:
            raise ValueError(
                f'The skill {name!r} needs {sorted(unknown)}; '
                f'the resources are {sorted(self.resources)}'
            )
        self._skills[name] = TaskSkill(function, needed, recovers, cancel_supported)

    def get(self, name: str) -> TaskSkill | None:
        return self._skills.get(name)

    def needs(self, task: Task) -> frozenset[str]:
        if task.resources is not None:
            return task.resources
        skill = self._skills.get(task.name)
        return self.resources if skill is None else skill.resources

    def missing(self, name: str) -> str:
        known = ', '.join(sorted(self._skills)) or 'none'
        return f'there is no skill {name!r}; registered: {known}'


_S = LifecycleState

_log = logging.getLogger('curiosity_rosa.tasks')


class TaskStates(Protocol):
    """The operations of the Engine (agent/tasks/engine.py) that SkillRuns needs."""

    counters: Counter[str]

    def move(self, record: TaskRecord, after: LifecycleState, reason: str = '') -> None:
        """Change the state of the task."""

    def ready(self, record: TaskRecord) -> None:
        """Queue the task in the scheduler."""

    def reconsider(self, record: TaskRecord) -> None:
        """Check again whether a WAITING task must still wait."""

    def dispatch_and_flush(self) -> None:
        """Start the tasks that may start, and store all staged changes."""


class SkillRuns:
    """Starts and stops skills. If a skill ignores its cancellation for ``cancel_grace_s`` seconds,
    it is abandoned: its task fails, its resources are freed and its result is ignored. Skills must
    check a cancellation token of their own, so that an abandoned one can no longer act.
    """

    def __init__(
        self, engine: TaskStates, skills: TaskSkills, *, cancel_grace_s: float, backoff_s: float
    ) -> None:
        self._engine = engine
        self._skills = skills
        self._grace_s = cancel_grace_s
        self._backoff_s = backoff_s
        self._busy: dict[str, TaskRecord] = {}

    def busy(self) -> list[TaskRecord]:
        return list(self._busy.values())

    def occupy(self, record: TaskRecord) -> None:
        """Start a task to which the ready queue has assigned its resources."""
        plan = record.plan
        self._busy[plan.id] = record
        record.busy, record.freed = True, False
        record.resources = self._skills.needs(plan)
        skill = self._skills.get(plan.name)
        if skill is None or not skill.recovers:
            self._engine.move(record, _S.ACTIVE)
        elif record.unobserved or plan.state is not _S.RECOVERING:
            self._engine.move(record, _S.ACTIVE)
            if record.unobserved:
                self._engine.move(record, _S.RECOVERING, 'was active in a crash')
        record.unobserved = False
        if skill is None:
            self._end_run(record, _S.FAILED, self._skills.missing(plan.name))
            return
        record.starting = True
        if not record.staged and not record.in_flight:
            self.start_skill(record)

    def start_skill(self, record: TaskRecord) -> None:
        """Call the skill. Requires that all staged changes of the task are committed."""
        record.starting = False
        skill = self._skills.get(record.task.name)
        assert skill is not None
        if record.cause is not None:
            self._conclude(record, asyncio.CancelledError())
            return
        try:
            coroutine = skill.function(record.task)
        except TypeError as error:  # the function has other parameters
            self._conclude(record, error)
            return
        self._engine.counters['started'] += 1
        loop = asyncio.get_running_loop()
        record.run = loop.create_task(coroutine)  # type: ignore[arg-type]
        record.run.add_done_callback(lambda run: self._returned(record, run))

    def request_stop(self, record: TaskRecord, cause: StopCause) -> None:
        """Stop the skill of a busy record. Of several causes, the heaviest holds."""
        if record.cause is None or cause.weight > record.cause.weight:
            record.cause = cause
        if record.run is not None and record.grace is None:
            record.run.cancel(cause.reason)  # the trace then says who has stopped it
            loop = asyncio.get_running_loop()
            record.grace = loop.call_later(self._grace_s, self._abandon, record)

    def may_stop(self, record: TaskRecord) -> bool:
        """Whether a pause, an interrupt or a cancel may stop the skill of a busy record.

        True for every skill that has not started, that is re-observing after a crash, or that is
        already being stopped.
        """
        skill = self._skills.get(record.plan.name)
        return (
            skill is None
            or skill.cancel_supported
            or record.run is None
            or record.grace is not None
            or record.plan.state is not _S.ACTIVE
        )

    def hold_after_run(self, record: TaskRecord, reason: str) -> None:
        """Let the skill of a busy record run on, but hold its task if it is retried."""
        if record.cause is None or record.cause.weight < StopWeight.HOLD:
            record.cause = StopCause(StopWeight.HOLD, reason)

    def wait_until_ended(self, record: TaskRecord) -> asyncio.Future[None]:
        """A future that is done once the end of the run is committed. It may raise StoreError."""
        run_ended = asyncio.get_running_loop().create_future()
        record.leaving.append(run_ended)
        return run_ended

    def discard(self, record: TaskRecord) -> None:
        """Drop a new task that could not be stored. Its skill has not started."""
        self._busy.pop(record.plan.id, None)
        record.busy = record.starting = False
        for run_ended in record.leaving:
            if not run_ended.done():
                run_ended.set_result(None)

    def _returned(self, record: TaskRecord, run: asyncio.Task[None]) -> None:
        error = asyncio.CancelledError() if run.cancelled() else run.exception()
        if record.run is not run:
            _log.warning('event=abandoned_skill_ended task=%s error=%r', record.task.id, error)
            return
        self._conclude(record, error)
        self._engine.dispatch_and_flush()

    def _abandon(self, record: TaskRecord) -> None:
        _log.error('event=abandoned task=%s name=%s', record.task.id, record.task.name)
        self._engine.counters['abandoned'] += 1
        self._end_run(record, _S.FAILED, f'ignored its cancellation for {self._grace_s:g} s')
        self._engine.dispatch_and_flush()

    def _conclude(self, record: TaskRecord, error: BaseException | None) -> None:
        """Derive the new state of the task. ``error`` None: the skill returned."""
        cause = record.cause
        if cause is not None and cause.weight is StopWeight.CANCEL:
            self._end_run(record, _S.CANCELLED, cause.reason)
        elif fault := metadata_fault(record.task):
            self._end_run(record, _S.FAILED, fault)
        elif error is None:
            self._end_run(record, _S.COMPLETED, '')
        elif cause is not None and cause.weight is StopWeight.DEADLINE:
            self._end_run(record, _S.FAILED, cause.reason)
        elif not isinstance(error, asyncio.CancelledError):
            self._failed(record, error_text(error))
        elif cause is None:
            self._failed(record, 'its skill was cancelled by itself')
        else:
            self._paused(record, cause)

    def _paused(self, record: TaskRecord, cause: StopCause) -> None:
        record.unobserved = record.plan.state is _S.RECOVERING
        record.plan.held = cause.weight is StopWeight.HOLD
        self._engine.counters['preempted'] += cause.preempted
        self._end_run(record, _S.PAUSED, cause.reason)
        self._engine.ready(record)

    def _failed(self, record: TaskRecord, reason: str) -> None:
        plan = record.plan
        if plan.attempts >= plan.max_retries:
            self._end_run(record, _S.FAILED, reason)
            return
        delay = backoff_s(self._backoff_s, plan.attempts)
        plan.attempts += 1
        plan.held = record.cause is not None and record.cause.weight is StopWeight.HOLD
        self._engine.counters['retried'] += 1
        number = f'retry {plan.attempts} of {plan.max_retries}'
        self._end_run(record, _S.WAITING, f'{reason}; {number} in {delay:g} s')
        record.retry_at = asyncio.get_running_loop().time() + delay
        self._engine.reconsider(record)

    def _end_run(self, record: TaskRecord, after: LifecycleState, reason: str) -> None:
        """Stage the end of the run. Its resources are freed once that is sent to the store."""
        if record.plan.state is _S.RECOVERING and after in (_S.COMPLETED, _S.WAITING):
            self._engine.move(record, _S.ACTIVE)
        self._engine.move(record, after, reason)
        del self._busy[record.plan.id]
        record.busy, record.run, record.cause = False, None, None
        if record.grace is not None:
            record.grace.cancel()
            record.grace = None
        leaving, record.leaving = record.leaving, []
        record.staged[-1].waiters += leaving
