# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The runner of tasks. It decides in its loop, in order and without waiting; what it has decided
while a commit runs is the next commit; and nobody sees a change before it is on the disk: not the
submitter, no skill, no event and no query.

    runner = SkillRunner(db_path='robot.db')

    @runner.skill('pour_water', resources=('base',))
    async def pour_water(task: Task) -> None: ...

    await runner.start()
    loop_task = asyncio.create_task(runner.run_loop())
    task = await runner.submit(Task('pour_water', 3))

A skill starts once ACTIVE is committed. It runs at least once: after a crash it runs again, with
the metadata of its last checkpoint. order.py defines the order of tasks, runs.py the effect of a
skill's end.

If a task of ``blocked_by`` FAILED or was CANCELLED, the dependent task is CANCELLED too. The clock
of ``deadline_s`` stands while the task is PAUSED. Time without a running process counts.

Over 400 lines in one file: half of them are the descriptions of the requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import copy
from dataclasses import replace
import inspect
from itertools import islice
import logging
from typing import Literal, TypeVar

from curiosity_rosa_demo.agent.tasks.commits import (
    Commits,
    Exit,
    StopCause,
    StopWeight,
    TaskRecord,
)
from curiosity_rosa_demo.agent.tasks.rows import to_row
from curiosity_rosa_demo.agent.tasks.runs import SkillFunction, SkillRuns, TaskSkill
from curiosity_rosa_demo.agent.tasks.store import HistoryRow, TaskStore
from curiosity_rosa_demo.agent.tasks.table import BLOCKED, MAX_ENDED_TASKS, TaskTable
from curiosity_rosa_demo.agent.tasks.task import (
    BadTask,
    CannotBeCancelled,
    check_metadata,
    check_task,
    EventType,
    Priority,
    StoreError,
    Task,
    TaskError,
    UnknownTask,
)
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.infra.event_thread import run_in_thread
from curiosity_rosa_demo.trace.trace_buffer import EventBus
from pydantic import TypeAdapter, ValidationError

DATABASE = 'tasks.db'  # in the working directory

_S = LifecycleState
_PRIORITY = TypeAdapter(Priority)
F = TypeVar('F', bound=SkillFunction)

_log = logging.getLogger('curiosity_rosa.tasks')


class SkillRunner:
    """``cancel_grace_s``: a skill that ignores its cancellation for longer is abandoned: its task
    fails, its resources are freed, its result is ignored. Skills must check a cancellation token
    of their own, so that an abandoned one can no longer act.
    ``ageing_s``: seconds of waiting that count as one step of priority; 0 disables ageing.
    ``retry_backoff_s``: seconds before the first retry; doubled for each further one, up to 60 s.
    ``on_failure`` is called when the file cannot be written; ``failed`` is set, and no task runs,
    until it can. ``event_bus`` gets an Event after each commit; None: a bus of its own.

    Use all methods in one event loop. They raise the kinds of TaskError in task.py. A method that
    changes a task returns once the change is committed. It raises StoreError if the file cannot be
    written now: the change still holds, and is written as soon as possible. A runner can be
    started once. Its unfinished tasks continue in the next runner with the same file.
    """

    def __init__(
        self,
        db_path: str = DATABASE,
        crash_policy: Literal['resume', 'fail'] = 'resume',
        *,
        cancel_grace_s: float = 3.0,
        ageing_s: float = 0.0,
        retention_days: float = 30.0,
        resources: Iterable[str] = ('base', 'mast', 'camera'),
        retry_backoff_s: float = 1.0,
        on_failure: Callable[[StoreError], None] = lambda error: None,
        event_bus: EventBus | None = None,
        store: TaskStore | None = None,
    ) -> None:
        if crash_policy not in ('resume', 'fail'):
            raise ValueError(f"crash_policy is {crash_policy!r}; it must be 'resume' or 'fail'")
        self.event_bus = event_bus or EventBus()
        self._store = store or TaskStore(db_path, retention_days=retention_days)
        self._on_failure, self._fails_after_crash = on_failure, crash_policy == 'fail'

        self._phase: Literal['new', 'started', 'stopped'] = 'new'
        self._open = False  # whether tasks may start
        self._starting: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._end = asyncio.Event()
        self._recovered: list[str] = []

        self._seq = 0
        self._commits = Commits(
            self._store,
            self.event_bus,
            decide=self._settle_and_start,
            shown=self._shown,
            dropped=self._dropped,
            broke=self._broke,
        )
        self._table = TaskTable(self._commits, ageing_s, self._deadline_passed)
        self._runs = SkillRuns(
            self._table,
            self._commits,
            resources,
            cancel_grace_s=cancel_grace_s,
            retry_backoff_s=retry_backoff_s,
        )

    # --- skills ------------------------------------------------------------------------------

    def skill(
        self,
        name: str,
        *,
        resources: Iterable[str] | None = None,
        recovers: bool = False,
        cancel_supported: bool = True,
    ) -> Callable[[F], F]:
        """Decorate a function to ``register`` it."""

        def decorated(function: F) -> F:
            self.register(
                name,
                function,
                resources=resources,
                recovers=recovers,
                cancel_supported=cancel_supported,
            )
            return function

        return decorated

    def register(
        self,
        name: str,
        function: SkillFunction,
        *,
        resources: Iterable[str] | None = None,
        recovers: bool = False,
        cancel_supported: bool = True,
    ) -> None:
        """Register an ``async def`` that takes one Task. ``resources`` None means all of them.

        ``recovers``: after a crash the skill re-observes the world, then calls observed(). Until
        then its task is RECOVERING. ``cancel_supported`` False: pause(), interrupt() and cancel()
        do not stop it; cancel_all(), hold(), a deadline and stop() do. Raises ValueError for a
        duplicate name or an unknown resource, TypeError for another kind of function.
        """
        needed = self._runs.resources if resources is None else frozenset(resources)
        if name in self._runs.skills:
            raise ValueError(f'There is already a skill {name!r}; give this one another name')
        is_async: bool = inspect.iscoroutinefunction(function)  # no guard of its type
        if not is_async:
            raise TypeError(f'The skill {name!r} is {function!r}; it must be an async def')
        if unknown := needed - self._runs.resources:
            raise ValueError(
                f'The skill {name!r} needs {sorted(unknown)}; '
                f'the resources are {sorted(self._runs.resources)}'
            )
        self._runs.skills[name] = TaskSkill(function, needed, recovers, cancel_supported)

    def needs(self, task: Task) -> frozenset[str]:
        """The resources that ``task`` occupies while it runs."""
        return self._runs.needs(task)

    async def checkpoint(self, task: Task) -> None:
        """For a skill: commit the metadata of ``task`` now. Raises BadTask if it is not JSON."""
        record = self._live_record(task.id)
        check_metadata(record.task)
        self._table.save(record)
        await self._commits.done()

    async def observed(self, task: Task) -> None:
        """For a skill: it has re-observed the world after a crash. RECOVERING becomes ACTIVE."""
        record = self._live_record(task.id)
        if record.busy and record.plan.state is _S.RECOVERING:
            self._table.move(record, _S.ACTIVE)
        await self._commits.done()

    # --- the life of the runner --------------------------------------------------------------

    async def start(self) -> None:
        """Open the file and recover its tasks, once: whoever else asks for it waits for that.
        Raises StoreError.
        """
        if self._starting is None:
            self._starting = asyncio.get_running_loop().create_task(self._start())
        await asyncio.shield(self._starting)
        self._check()

    async def _start(self) -> None:
        tasks = await run_in_thread('task-store-start', self._store.open)
        self._phase = 'started'
        try:
            for task in reversed(self._store.last(MAX_ENDED_TASKS)):
                self._table.keep_ended(task)
            self._seq = self._store.next_seq()
            self._commits.counters['recovered'] += sum(task.state.running for task in tasks)
            fail = self._fails_after_crash
            self._recovered = self._runs.recover(tasks, self._store, fail=fail)
            await self._commits.done()
        except StoreError:
            await self.stop()
            raise
        for note in self.notes:
            _log.warning('event=recovered note=%r', note)

    async def run_loop(self) -> None:
        """Let tasks start; returns after stop()."""
        self._check()
        self._open = True
        self._commits.act_soon()
        try:
            await self._end.wait()
        finally:
            self._open = False

    async def stop(self) -> None:
        """Cancel the running skills, pause their tasks and close the file."""
        if self._stopping is None:
            self._stopping = asyncio.get_running_loop().create_task(self._stop())
        await asyncio.shield(self._stopping)

    async def _stop(self) -> None:
        self._open = False
        if self._phase == 'started':
            with suppress(StoreError):
                pause = StopCause(StopWeight.PAUSE, 'the runner was stopped')
                await self._runs.stop([*self._runs.busy.values()], pause)
            await self._commits.close()
            stopped = TaskError('The runner was stopped')
            for record in self._table.records.values():
                record.cancel_timers()
                record.ended.settle(stopped)
            await self._store.close()
        self._phase = 'stopped'
        self._end.set()

    def _check(self) -> None:
        if self._phase != 'started':
            phase = 'not started; await start() first' if self._phase == 'new' else 'stopped'
            raise TaskError(f'The runner is {phase}')

    # --- submission --------------------------------------------------------------------------

    async def submit(self, task: Task) -> Task:
        """Store ``task`` and return it, or the earlier task with the same idempotency_key.

        The task is queued and interrupts no running task. Raises BadTask, StoreError.
        """
        return await self._submit(task, EventType.TASK_SUBMIT)

    async def interrupt(self, task: Task) -> Task:
        """Like submit(), but mark ``task`` as urgent: it runs before all tasks that are not.

        Running tasks that occupy its resources and rank lower are paused, their skills cancelled.
        They resume by themselves. Returns once they are paused. ``task`` waits for skills with
        ``cancel_supported`` false. Among urgent tasks a higher priority interrupts a lower one;
        equals wait. Raises BadTask for a task that would have to wait, also StoreError.
        """
        for name in ('blocked_by', 'not_before', 'needs_approval'):
            if getattr(task, name):
                raise BadTask(f'{name} is set; what cannot begin now cannot interrupt, submit it')
        return await self._submit(task, EventType.INTERRUPT)

    async def _submit(self, task: Task, event: EventType) -> Task:
        self._check()
        if self._stopping is not None:
            raise TaskError('The runner is stopping; submit to the next one')
        if self.failed is not None:
            raise self.failed
        check_task(task, self._runs.resources)
        to_row(task)
        if task.idempotency_key is not None:
            if (known := self._table.keys.get(task.idempotency_key)) is not None:
                return await self._stored(known)
            if (earlier := self._store.by_key(task.idempotency_key)) is not None:
                return self._table.ended.get(earlier.id, earlier)
        blockers = [self._blocker(task_id) for task_id in task.blocked_by]
        if task.id in self._table.records or self.get_task(task.id) is not None:
            raise BadTask(f'There is already a task {task.id!r}; submit a new Task')

        record = TaskRecord(task, copy(task), self.needs(task), stored=False)
        plan = record.plan
        plan.urgent = event is EventType.INTERRUPT
        plan.seq, self._seq = self._seq, self._seq + 1
        plan.held, plan.attempts, plan.used_s, plan.reason = False, 0, 0.0, ''
        self._table.add(record, [blocker.id for blocker in blockers if not blocker.terminal])
        self._table.insert(record, event)
        for blocker in blockers:
            if blocker.state in BLOCKED:
                self._table.block(record, blocker.id, blocker.state)
                break
        exits = self._preempt(record) if plan.urgent else []
        await self._stored(record)
        if exits:
            await asyncio.wait(exits)
            with suppress(StoreError):
                await self._commits.done()
        return task

    def _blocker(self, task_id: str) -> Task:
        record = self._table.records.get(task_id)
        task = self.get_task(task_id) if record is None or not record.stored else record.plan
        if task is None:
            raise BadTask(f'blocked_by names {task_id!r}, and there is no such task')
        return task

    async def _stored(self, record: TaskRecord) -> Task:
        with suppress(StoreError):  # of the changes of another task
            await self._commits.done()
        if record.refused is not None:
            raise record.refused
        return record.task

    def _preempt(self, urgent: TaskRecord) -> list[Exit]:
        if not self._open or not self._table.ready.admits(urgent.plan.id):
            return []
        rank = self._table.ranks[urgent.plan.id]
        reason = f'interrupted by {urgent.plan.label}'
        lower = [
            record
            for record in self._runs.busy.values()
            if self._table.ranks[record.plan.id] > rank
            and not urgent.resources.isdisjoint(record.resources)
            and self._runs.may_stop(record)
        ]
        return self._runs.request_stops(lower, StopCause(StopWeight.PAUSE, reason, preempted=True))

    # --- requests ----------------------------------------------------------------------------

    async def cancel(self, task_id: str, reason: str = '') -> bool:
        """Cancel a task. Returns False if it had already ended. A running skill has cleaned up by
        the return. A task still being submitted is cancelled before it starts. Raises
        CannotBeCancelled.
        """
        self._check()
        record = self._table.records.get(task_id) or self._find(task_id)
        if record is None or record.plan.terminal:
            await self._commits.done()
            return False
        if record.busy and not self._runs.may_stop(record):
            raise CannotBeCancelled(record.plan.name)
        await self._cancel([record], reason)
        return True

    async def cancel_all(self, reason: str = '') -> list[str]:
        """Cancel all tasks that have not ended, also those still being submitted. Returns IDs."""
        self._check()
        records = [each for each in self._table.records.values() if not each.plan.terminal]
        await self._cancel(records, reason)
        return [record.task.id for record in records if record.stored]

    async def _cancel(self, records: list[TaskRecord], reason: str) -> None:
        reason = reason or 'cancelled on request'
        for record in records:
            if not record.busy:
                self._table.move(record, _S.CANCELLED, reason)
        busy = [record for record in records if record.busy]
        await self._runs.stop(busy, StopCause(StopWeight.CANCEL, reason))

    async def pause(self, task_id: str, reason: str = '') -> bool:
        """Hold a task until resume(). Returns False if its skill runs and has ``cancel_supported``
        false: the skill then runs to its end, and only a retry waits for resume(). Raises
        TaskError if the task has ended, or ends before it is paused.
        """
        record = self._live_record(task_id)
        reason = reason or 'paused on request'
        if not record.busy:
            self._hold(record, reason)
            await self._commits.done()
            return True
        if not self._runs.may_stop(record):
            self._hold(record, reason)
            return False
        await self._runs.stop([record], StopCause(StopWeight.HOLD, reason))
        self._live_record(task_id)
        return True

    def _hold(self, record: TaskRecord, reason: str) -> None:
        """Hold a task; a skill that runs goes on, and its task is held if it is retried."""
        if record.busy:
            cause = StopCause(StopWeight.HOLD, reason)
            if record.run is None:
                self._runs.request_stops([record], cause)
            elif record.cause is None or record.cause.weight < StopWeight.HOLD:
                record.cause = cause
            return
        record.plan.held = True
        if record.plan.state is not _S.WAITING:
            record.plan.reason = reason
        self._table.ready.discard(record.plan.id)
        self._table.save(record)

    async def hold_waiting(self, reason: str, which: Callable[[Task], bool]) -> list[str]:
        """Hold each task for which ``which`` returns True until resume(), except that a skill that
        runs goes on: only a retry of it waits. Returns the IDs of the held tasks.
        """
        self._check()
        records = [
            record
            for record in self._table.records.values()
            if not record.plan.terminal and not record.plan.held and which(record.plan)
        ]
        for record in records:
            self._hold(record, reason)
        held = [record.task.id for record in records if record.plan.held]
        await self._commits.done()
        return held

    async def resume(self, task_id: str) -> None:
        """End the hold of pause(): the task may run again."""
        record = self._live_record(task_id)
        if record.busy:
            if record.cause is not None and record.cause.weight is StopWeight.HOLD:
                record.cause = replace(record.cause, weight=StopWeight.PAUSE)
            return
        if record.plan.held:
            record.plan.held = False
            if record.plan.state is not _S.WAITING:
                record.plan.reason = ''
                self._table.queue(record)
            self._table.save(record)
        await self._commits.done()

    async def reprioritise(self, task_id: str, priority: int) -> None:
        """Change the priority. Raises TaskError while the skill runs, BadTask if out of range."""
        try:
            _PRIORITY.validate_python(priority)
        except ValidationError as error:
            raise BadTask(f'priority is {priority!r}: {error.errors()[0]["msg"]}') from None
        record = self._live_record(task_id)
        plan = record.plan
        if record.busy:
            raise TaskError(
                f'Task {plan.label} is {plan.state.name}; its priority can be changed while it '
                'waits, pause it first'
            )
        self._table.reprioritise(record, priority)
        await self._commits.done()

    async def approve(self, task_id: str, approved: bool, reason: str = '') -> None:
        """Answer a task that needs approval. It may then run, or it is CANCELLED."""
        record = self._live_record(task_id)
        if not record.task.needs_approval:
            raise TaskError(f'Task {record.plan.label} does not wait for approval')
        if approved:
            record.plan.needs_approval = False
            self._table.save(record)
            self._table.reconsider(record)
        else:
            await self._cancel([record], reason or 'not approved')
        await self._commits.done()

    async def hold(self, reason: str, allow: Callable[[Task], bool] = lambda task: False) -> None:
        """Let only tasks run for which ``allow`` returns True. Replaces an earlier hold.

        Other running tasks are paused, their skills cancelled. They resume by themselves after
        release(). Returns once the skills have cleaned up. ``allow`` must be quick and not raise.
        """
        self._check()
        self._table.ready.allow = lambda task_id: allow(self._table.records[task_id].plan)
        self._commits.act_soon()
        running = [record for record in self._runs.busy.values() if not allow(record.plan)]
        with suppress(StoreError):
            await self._runs.stop(running, StopCause(StopWeight.PAUSE, reason))

    async def release(self) -> None:
        """End the hold: every task may run again."""
        self._check()
        self._table.ready.allow = None
        self._commits.act_soon()

    # --- queries -----------------------------------------------------------------------------

    def get_task(self, task_id: str) -> Task | None:
        """The task as committed, except ``metadata``, which the skill may have changed since."""
        if (record := self._table.records.get(task_id)) is not None:
            # The file may hold the insert before the writer has notified this loop.
            return record.task if record.stored else None
        return self._table.ended.get(task_id) or self._store.get(task_id)

    def list_tasks(self) -> list[Task]:
        """All tasks that have not ended and the last 1000 that have, in order of submission."""
        known = [record.task for record in self._table.records.values() if record.stored]
        return sorted([*self._table.ended.values(), *known], key=lambda task: task.seq)

    def live(self, limit: int | None = None) -> list[Task]:
        """Tasks that have not ended, running ones first. ``limit`` bounds number and cost."""
        ids = dict.fromkeys([*self._runs.busy, *islice(self._table.records, limit)])
        found = [self._table.records[task_id] for task_id in islice(ids, limit)]
        return [record.task for record in found if record.stored and not record.task.terminal]

    def history(self, task_id: str) -> list[HistoryRow]:
        """The changes of state, the oldest first. Raises UnknownTask."""
        if rows := self._store.history(task_id):
            return rows
        raise UnknownTask(task_id)

    async def wait(self, task_id: str, timeout: float | None = None) -> Task:
        """Return the task once it has ended. Raises UnknownTask, TimeoutError after ``timeout``
        seconds, and TaskError if the runner stops before.
        """
        if (record := self._find(task_id)) is not None:
            try:
                await asyncio.wait_for(record.ended.wait(), timeout)
            except asyncio.TimeoutError:
                state = record.task.state.name
                raise TimeoutError(
                    f'Task {record.task.label} is {state} after {timeout:g} s'
                ) from None
            if record.ended.error is not None:
                raise record.ended.error
            return record.task
        task = self.get_task(task_id)
        assert task is not None
        return task

    @property
    def notes(self) -> list[str]:
        """The changes of start() to the file and to tasks that had been active."""
        return [*self._store.notes, *self._recovered]

    @property
    def failed(self) -> StoreError | None:
        """The current write error of the task file, or None. No task runs while it is set."""
        return self._commits.failed

    @property
    def counters(self) -> dict[str, int]:
        return dict(self._commits.counters)

    def _find(self, task_id: str) -> TaskRecord | None:
        """Return the record, or None if the task has ended. Raises UnknownTask."""
        self._check()
        if self.get_task(task_id) is None:
            raise UnknownTask(task_id)
        return self._table.records.get(task_id)

    def _live_record(self, task_id: str) -> TaskRecord:
        record = self._find(task_id)
        if record is None or record.plan.terminal:
            task = self.get_task(task_id) if record is None else record.plan
            assert task is not None
            raise TaskError(f'Task {task.label} has ended: {task.state.name}')
        return record

    # --- callbacks of the commits and the table ----------------------------------------------

    def _settle_and_start(self) -> None:
        """Start the tasks that may start: a new one that starts at once needs one commit."""
        table = self._table
        table.settle()
        while self._open and self.failed is None and (task_id := table.ready.pop_next()):
            self._runs.occupy(table.records[task_id])
            table.settle()

    def _shown(self, record: TaskRecord) -> None:
        if record.task.terminal:
            self._table.remove(record)
            self._table.keep_ended(record.task)
            record.ended.settle(None)
        else:
            self._runs.start_if_committed(record)

    def _dropped(self, record: TaskRecord) -> None:
        self._table.remove(record)
        if record.busy:
            self._runs.free(record)

    def _broke(self, error: StoreError) -> None:
        pause = StopCause(StopWeight.PAUSE, 'the task file cannot be written')
        self._runs.request_stops(self._runs.busy.values(), pause)
        try:
            self._on_failure(error)
        except Exception:
            _log.exception('event=on_failure_raised')

    def _deadline_passed(self, record: TaskRecord) -> None:
        record.deadline = None
        plan, reason = record.plan, f'deadline of {record.plan.deadline_s:g} s passed'
        if record.busy:
            self._runs.request_stops([record], StopCause(StopWeight.DEADLINE, reason))
        elif plan.state is _S.RECOVERING or (plan.state is _S.WAITING and plan.attempts):
            self._table.move(record, _S.FAILED, reason)
        else:
            self._table.move(record, _S.CANCELLED, f'{reason} before it began')
