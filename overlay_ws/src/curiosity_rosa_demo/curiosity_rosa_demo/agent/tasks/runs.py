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

At the start of a runner, the tasks of the process before go on from where the file has them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from copy import copy
from dataclasses import dataclass
import logging

from curiosity_rosa_demo.agent.tasks.commits import (
    Commits,
    Exit,
    StopCause,
    StopWeight,
    TaskRecord,
)
from curiosity_rosa_demo.agent.tasks.store import TaskStore
from curiosity_rosa_demo.agent.tasks.table import BLOCKED, TaskTable
from curiosity_rosa_demo.agent.tasks.task import BadTask, check_metadata, now, SkillFailed, Task
from curiosity_rosa_demo.domain.task_state import LifecycleState

MAX_BACKOFF_S = 60.0

SkillFunction = Callable[[Task], Awaitable[None]]

_S = LifecycleState

_log = logging.getLogger('curiosity_rosa.tasks')


@dataclass(frozen=True)
class TaskSkill:
    """The fields as the arguments of SkillRunner.skill()."""

    function: SkillFunction
    resources: frozenset[str]
    recovers: bool = False
    cancel_supported: bool = True


class SkillRuns:
    """Arguments as those of SkillRunner. ``default``: the skill of a name that has no other."""

    def __init__(
        self,
        table: TaskTable,
        commits: Commits,
        resources: Iterable[str],
        *,
        cancel_grace_s: float,
        retry_backoff_s: float,
    ) -> None:
        self.resources = frozenset(resources)
        self.default: TaskSkill | None = None
        self.busy: dict[str, TaskRecord] = {}
        self.skills: dict[str, TaskSkill] = {}
        self._table, self._commits = table, commits
        self._grace_s, self._backoff_s = cancel_grace_s, retry_backoff_s

    def needs(self, task: Task) -> frozenset[str]:
        if task.resources is not None:
            return task.resources
        skill = self._skill_of(task)
        return self.resources if skill is None else skill.resources

    def _skill_of(self, task: Task) -> TaskSkill | None:
        return self.skills.get(task.name, self.default)

    # --- the start and the stop of a run -----------------------------------------------------

    def occupy(self, record: TaskRecord) -> None:
        """Start a task to which the ready queue has assigned its resources."""
        plan, skill = record.plan, self._skill_of(record.plan)
        self.busy[plan.id] = record
        record.exit = asyncio.get_running_loop().create_future()
        if skill is None or not skill.recovers:
            self._table.move(record, _S.ACTIVE)
        elif record.unobserved or plan.state is not _S.RECOVERING:
            self._table.move(record, _S.ACTIVE)
            if record.unobserved:
                self._table.move(record, _S.RECOVERING, 'was active in a crash')
        record.unobserved = False
        if skill is None:
            known = ', '.join(sorted(self.skills)) or 'none'
            reason = f'there is no skill {plan.name!r}; registered: {known}'
            self._end(record, _S.FAILED, reason)
        else:
            self.start_if_committed(record)

    def start_if_committed(self, record: TaskRecord) -> None:
        """Call the skill of a busy record once all changes of the task are on the disk."""
        if record.exit is None or record.run is not None or record.unsaved:
            return
        skill = self._skill_of(record.task)
        assert skill is not None
        try:
            coroutine = skill.function(record.task)
        except TypeError as error:  # the function has other parameters
            self._conclude(record, error)
            return
        self._commits.counters['started'] += 1
        loop = asyncio.get_running_loop()
        record.run = loop.create_task(coroutine)  # type: ignore[arg-type]
        record.run.add_done_callback(lambda run: self._returned(record, run))

    async def stop(self, records: list[TaskRecord], cause: StopCause) -> None:
        """Stop the skills of busy records. Returns once their ends are committed. Raises
        StoreError.
        """
        if exits := self.request_stops(records, cause):
            await asyncio.wait(exits)
        await self._commits.done()

    def request_stops(self, records: Iterable[TaskRecord], cause: StopCause) -> list[Exit]:
        """Of several causes, the heaviest holds. A skill that has not started ends at once: the
        commit of its start may wait for a disk. Returns the ends of the runs.
        """
        exits = []
        for record in list(records):
            assert record.exit is not None
            exits.append(record.exit)
            if record.cause is None or cause.weight > record.cause.weight:
                record.cause = cause
            if record.run is None:
                self._conclude(record, asyncio.CancelledError())
            elif record.grace is None:
                record.run.cancel(cause.reason)  # the trace then says who has stopped it
                loop = asyncio.get_running_loop()
                record.grace = loop.call_later(self._grace_s, self._abandon, record)
        return exits

    def may_stop(self, record: TaskRecord) -> bool:
        """Whether a pause, an interrupt or a cancel may stop the skill of a busy record.

        True for every skill that has not started, that is re-observing after a crash, or that is
        already being stopped.
        """
        skill = self._skill_of(record.plan)
        return (
            skill is None
            or skill.cancel_supported
            or record.run is None
            or record.grace is not None
            or record.plan.state is not _S.ACTIVE
        )

    def free(self, record: TaskRecord) -> None:
        """Another task may have the resources, in the commit in which this one ends."""
        assert record.exit is not None
        record.exit.set_result(None)
        record.exit = record.run = record.cause = None
        if record.grace is not None:
            record.grace.cancel()
            record.grace = None
        del self.busy[record.plan.id]
        self._table.ready.free(record.resources)
        self._commits.act_soon()

    # --- the end of a run --------------------------------------------------------------------

    def _returned(self, record: TaskRecord, run: asyncio.Task[None]) -> None:
        error = asyncio.CancelledError() if run.cancelled() else run.exception()
        if record.run is not run:
            _log.warning('event=abandoned_skill_ended task=%s error=%r', record.task.id, error)
            return
        self._conclude(record, error)

    def _abandon(self, record: TaskRecord) -> None:
        _log.error('event=abandoned task=%s name=%s', record.task.id, record.task.name)
        self._commits.counters['abandoned'] += 1
        self._end(record, _S.FAILED, f'ignored its cancellation for {self._grace_s:g} s')

    def _conclude(self, record: TaskRecord, error: BaseException | None) -> None:
        """Derive the new state of the task. ``error`` None: the skill returned."""
        cause = record.cause
        if cause is not None and cause.weight is StopWeight.CANCEL:
            self._end(record, _S.CANCELLED, cause.reason)
            return
        try:
            check_metadata(record.task)
        except BadTask as fault:
            self._end(record, _S.FAILED, str(fault))
            return
        if error is None:
            self._end(record, _S.COMPLETED, '')
        elif cause is not None and cause.weight is StopWeight.DEADLINE:
            self._end(record, _S.FAILED, cause.reason)
        elif not isinstance(error, asyncio.CancelledError):
            final = isinstance(error, SkillFailed) and error.final
            self._failed(record, error_text(error), final=final)
        elif cause is None:
            self._failed(record, 'its skill was cancelled by itself')
        else:
            record.unobserved = record.plan.state is _S.RECOVERING
            record.plan.held = cause.weight is StopWeight.HOLD
            self._commits.counters['preempted'] += cause.preempted
            self._end(record, _S.PAUSED, cause.reason)
            self._table.queue(record)

    def _failed(self, record: TaskRecord, reason: str, *, final: bool = False) -> None:
        plan = record.plan
        if final or plan.attempts >= plan.max_retries:
            self._end(record, _S.FAILED, reason)
            return
        delay = self.backoff_s(plan.attempts)
        plan.attempts += 1
        plan.held = record.cause is not None and record.cause.weight is StopWeight.HOLD
        self._commits.counters['retried'] += 1
        number = f'retry {plan.attempts} of {plan.max_retries}'
        self._end(record, _S.WAITING, f'{reason}; {number} in {delay:g} s')
        record.retry_at = asyncio.get_running_loop().time() + delay
        self._table.reconsider(record)

    def backoff_s(self, attempts: int) -> float:
        """Seconds from a failure to the next attempt, after ``attempts`` earlier retries."""
        return min(self._backoff_s * 2.0 ** min(attempts, 60), MAX_BACKOFF_S)

    def _end(self, record: TaskRecord, after: LifecycleState, reason: str) -> None:
        if record.plan.state is _S.RECOVERING and after in (_S.COMPLETED, _S.WAITING):
            self._table.move(record, _S.ACTIVE)
        self._table.move(record, after, reason)
        self.free(record)

    # --- after a restart ---------------------------------------------------------------------

    def recover(self, tasks: list[Task], store: TaskStore, *, fail: bool) -> list[str]:
        """Go on with the ``tasks`` of another process that have not ended, the oldest first.
        ``fail``: those that ran become FAILED, else RECOVERING. Returns one note for each of
        these; none if an earlier recovery has told of it and it has not run since. Raises
        StoreError.
        """
        notes = []
        for task in tasks:
            record = TaskRecord(task, copy(task), self.needs(task), stored=True)
            plan, records = record.plan, self._table.records
            self._table.add(record, [each for each in plan.blocked_by if each in records])
            if plan.deadline_s is not None and plan.state is not _S.PAUSED:
                plan.used_s += max(0.0, _passed_s(plan))
                record.since = asyncio.get_running_loop().time()
                self._table.watch_deadline(record)
            if plan.state.running:
                notes += self._recover_running(record, fail)
            elif plan.state is _S.WAITING:
                self._recover_waiting(record, store)
            else:
                if plan.state is _S.PAUSED and (rows := store.history(plan.id)):
                    record.unobserved = rows[-1].before is _S.RECOVERING
                self._table.queue(record)
        return notes

    def _recover_running(self, record: TaskRecord, fail: bool) -> list[str]:
        plan, reason = record.plan, 'the process ended while it ran'
        name = f'task {plan.name} {plan.id} was active when the process ended'
        if fail:
            self._table.move(record, _S.FAILED, reason)
            return [f'{name}; it has failed']
        ran = plan.state is _S.ACTIVE
        if ran:
            self._table.move(record, _S.RECOVERING, reason)
        self._table.queue(record)
        return [f'{name}; it is queued again'] if ran else []

    def _recover_waiting(self, record: TaskRecord, store: TaskStore) -> None:
        plan = record.plan
        for task_id in plan.blocked_by:
            known = self._table.records.get(task_id)
            blocker = store.get(task_id) if known is None else known.plan
            state = None if blocker is None else blocker.state
            if state in BLOCKED:
                self._table.block(record, task_id, state)
                return
        if plan.attempts:
            delay_s = self.backoff_s(plan.attempts - 1)
            remaining_s = min(delay_s, max(0.0, delay_s - _passed_s(plan)))
            record.retry_at = asyncio.get_running_loop().time() + remaining_s
        self._table.reconsider(record)


def _passed_s(task: Task) -> float:
    """Seconds since the last change of ``task``, of another process."""
    return (now() - task.updated_at).total_seconds()


def error_text(error: BaseException) -> str:
    """The type and text of ``error`` in one line; for SkillFailed only the text."""
    kind = '' if isinstance(error, SkillFailed) else f'{type(error).__name__}: '
    return ' '.join(f'{kind}{error}'.split()).removesuffix(':') or type(error).__name__
