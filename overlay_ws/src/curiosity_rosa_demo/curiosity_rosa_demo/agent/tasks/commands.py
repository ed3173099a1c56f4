# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Commands on existing tasks, and queries. TaskSubmission adds the submission of new ones."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from itertools import islice
from typing import Literal

from curiosity_rosa_demo.agent.tasks.engine import Engine
from curiosity_rosa_demo.agent.tasks.entry import StopCause, StopWeight, TaskRecord
from curiosity_rosa_demo.agent.tasks.event_publisher import Subscription
from curiosity_rosa_demo.agent.tasks.skill_runs import TaskSkills
from curiosity_rosa_demo.agent.tasks.store import HistoryRow, TaskStore
from curiosity_rosa_demo.agent.tasks.task import (
    BadTask,
    CannotBeCancelled,
    StoreError,
    Task,
    TaskError,
    UnknownTask,
)
from curiosity_rosa_demo.agent.tasks.validation import (
    ALLOWED_PRIORITIES,
    metadata_fault,
    task_label,
)
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.trace.trace_buffer import EventBus

_S = LifecycleState


class TaskControl:
    """A method that changes a task returns once the change is committed. It raises StoreError if
    the file cannot be written now: the change still holds, and is written as soon as possible.
    """

    def __init__(self, engine: Engine, store: TaskStore, skills: TaskSkills) -> None:
        self._engine = engine
        self._store = store
        self._skills = skills
        self._phase: Literal['new', 'started', 'stopped'] = 'new'

    async def cancel(self, task_id: str, reason: str = '') -> bool:
        """Cancel a task. Returns False if it had already ended. A running skill has cleaned up by
        the return. A task still being submitted is cancelled before it starts. Raises
        CannotBeCancelled.
        """
        self._check()
        record = self._engine.records.get(task_id) or self._find(task_id)
        if record is None:
            return False
        if record.plan.terminal:
            await self._engine.journal.committed(record)
            return False
        if record.busy and not self._engine.runs.may_stop(record):
            raise CannotBeCancelled(record.plan.name)
        await self._cancel([record], reason)
        return True

    async def cancel_all(self, reason: str = '') -> list[str]:
        """Cancel all tasks that have not ended, also those still being submitted. Returns IDs."""
        self._check()
        records = [r for r in self._engine.records.values() if not r.plan.terminal]
        await self._cancel(records, reason)
        return [record.task.id for record in records if record.visible]

    async def _cancel(self, records: list[TaskRecord], reason: str) -> None:
        engine = self._engine
        exits = [engine.runs.wait_until_ended(record) for record in records if record.busy]
        for record in records:
            engine.cancel(record, reason or 'cancelled on request')
        await self._commit([record for record in records if not record.busy], exits)

    async def pause(self, task_id: str, reason: str = '') -> bool:
        """Hold a task until resume(). Returns False if its skill runs and has ``cancel_supported``
        false: the skill then runs to its end, and only a retry waits for resume(). Raises
        TaskError if the task has ended, or ends before it is paused.
        """
        record, engine = self._live_record(task_id), self._engine
        reason = reason or 'paused on request'
        if record.busy and not engine.runs.may_stop(record):
            engine.runs.hold_after_run(record, reason)
            return False
        if record.busy:
            exits = engine.runs.wait_until_ended(record)
            engine.runs.request_stop(record, StopCause(StopWeight.HOLD, reason))
            await exits
            self._live_record(task_id)
            return True
        self._set_held(record, reason)
        await self._commit([record])
        return True

    def _set_held(self, record: TaskRecord, reason: str) -> None:
        record.plan.held = True
        if record.plan.state is not _S.WAITING:
            record.plan.reason = reason
        self._engine.ready_queue.discard(record.plan.id)
        self._engine.save(record)

    async def hold_waiting(self, reason: str, which: Callable[[Task], bool]) -> list[str]:
        """Hold each task for which ``which`` returns True until resume(), except that a skill that
        runs goes on: only a retry of it waits. Returns the IDs of the held tasks.
        """
        self._check()
        engine, held = self._engine, list[TaskRecord]()
        for record in engine.records.values():
            if record.plan.terminal or record.plan.held or not which(record.plan):
                continue
            if record.busy:
                engine.runs.hold_after_run(record, reason)
                continue
            self._set_held(record, reason)
            held.append(record)
        await self._commit(held)
        return [record.task.id for record in held]

    async def resume(self, task_id: str) -> None:
        """End the hold of pause(): the task may run again."""
        record, engine = self._live_record(task_id), self._engine
        if record.busy:
            if record.cause is not None and record.cause.weight is StopWeight.HOLD:
                record.cause = replace(record.cause, weight=StopWeight.PAUSE)
            return
        if record.plan.held:
            record.plan.held = False
            if record.plan.state is not _S.WAITING:
                record.plan.reason = ''
                engine.ready(record)
            engine.save(record)
        await self._commit([record])

    async def reprioritise(self, task_id: str, priority: int) -> None:
        """Change the priority. Raises TaskError while the skill runs, BadTask if out of range."""
        if isinstance(priority, bool) or priority not in ALLOWED_PRIORITIES:
            raise BadTask(
                f'priority is {priority!r}; it must be a whole number, {ALLOWED_PRIORITIES[0]} to '
                f'{ALLOWED_PRIORITIES[-1]}'
            )
        record = self._live_record(task_id)
        if record.busy:
            raise TaskError(
                f'Task {task_label(record.plan)} is {record.plan.state.name}; its priority can be '
                'changed while it waits, pause it first'
            )
        self._engine.reprioritise(record, int(priority))
        await self._commit([record])

    async def approve(self, task_id: str, approved: bool, reason: str = '') -> None:
        """Answer a task that needs approval. It may then run, or it is CANCELLED."""
        record = self._live_record(task_id)
        if not record.plan.needs_approval:
            raise TaskError(f'Task {task_label(record.plan)} does not wait for approval')
        if approved:
            record.plan.needs_approval = False
            self._engine.save(record)
            self._engine.reconsider(record)
        else:
            self._engine.cancel(record, reason or 'not approved')
        await self._commit([record])

    # --- the gate ----------------------------------------------------------------------------

    async def hold(self, reason: str, allow: Callable[[Task], bool] = lambda task: False) -> None:
        """Let only tasks run for which ``allow`` returns True. Replaces an earlier hold.

        Other running tasks are paused, their skills cancelled. They resume by themselves after
        release(). Returns once the skills have cleaned up. ``allow`` must be quick and not raise.
        """
        self._check()
        records = self._engine.records
        self._engine.ready_queue.gate(lambda task_id: allow(records[task_id].plan))
        running = [r for r in self._engine.runs.busy() if not allow(r.plan)]
        await self._pause(running, reason)

    async def release(self) -> None:
        """End the hold: every task may run again."""
        self._check()
        self._engine.ready_queue.gate(None)
        self._engine.dispatch_and_flush()

    async def _pause(self, running: list[TaskRecord], reason: str) -> None:
        runs = self._engine.runs
        exits = [runs.wait_until_ended(record) for record in running]
        for record in running:
            runs.request_stop(record, StopCause(StopWeight.PAUSE, reason))
        self._engine.dispatch_and_flush()
        await asyncio.gather(*exits, return_exceptions=True)

    # --- for skills --------------------------------------------------------------------------

    async def checkpoint(self, task: Task) -> None:
        """Commit the metadata of ``task`` now. Raises BadTask if it is not JSON."""
        record = self._live_record(task.id)
        if fault := metadata_fault(record.task):
            raise BadTask(fault)
        self._engine.save(record)
        await self._commit([record])

    async def observed(self, task: Task) -> None:
        """The skill has re-observed the world after a crash: RECOVERING becomes ACTIVE."""
        record = self._live_record(task.id)
        if record.busy and record.plan.state is _S.RECOVERING:
            self._engine.move(record, _S.ACTIVE)
        await self._commit([record])

    # --- queries -----------------------------------------------------------------------------

    def get_task(self, task_id: str) -> Task | None:
        """The task as committed, except ``metadata``, which the skill may have changed since."""
        if (record := self._engine.records.get(task_id)) is not None:
            # The file may hold the insert before the writer has notified this loop.
            return record.task if record.visible else None
        return self._engine.ended.get(task_id) or self._store.get(task_id)

    def list_tasks(self) -> list[Task]:
        """All tasks that have not ended and the last 1000 that have, in order of submission."""
        known = [r.task for r in self._engine.records.values() if r.visible]
        return sorted([*self._engine.ended.values(), *known], key=lambda task: task.seq)

    def live(self, limit: int | None = None) -> list[Task]:
        """Tasks that have not ended, running ones first. ``limit`` bounds number and cost."""
        records = self._engine.records
        running = [record.plan.id for record in self._engine.runs.busy()]
        ids = dict.fromkeys([*running, *islice(records, limit)])
        found = [records[task_id] for task_id in islice(ids, limit)]
        return [record.task for record in found if record.visible and not record.task.terminal]

    def needs(self, task: Task) -> frozenset[str]:
        """The resources that ``task`` occupies while it runs."""
        return self._skills.needs(task)

    def history(self, task_id: str) -> list[HistoryRow]:
        """The changes of state, the oldest first. Raises UnknownTask."""
        if rows := self._store.history(task_id):
            return rows
        raise UnknownTask(task_id)

    async def wait(self, task_id: str, timeout: float | None = None) -> Task:
        """Return the task once it has ended. Raises UnknownTask, TimeoutError after ``timeout``
        seconds, and TaskError if the runner stops before.
        """
        record = self._find(task_id)
        if record is not None:
            watcher = asyncio.get_running_loop().create_future()
            record.watchers.append(watcher)
            try:
                await asyncio.wait_for(watcher, timeout)
            except asyncio.TimeoutError:
                state = record.task.state.name
                raise TimeoutError(
                    f'Task {task_label(record.task)} is {state} after {timeout:g} s'
                ) from None
            return record.task
        task = self.get_task(task_id)
        assert task is not None
        return task

    def subscribe(self) -> Subscription:
        """The task events from now on, for a reader in this loop."""
        return self._engine.event_publisher.subscribe()

    @property
    def event_bus(self) -> EventBus:
        """The bus on which the task events are published."""
        return self._engine.event_publisher.bus

    @property
    def counters(self) -> dict[str, int]:
        return dict(self._engine.counters)

    @property
    def failed(self) -> StoreError | None:
        """The current write error of the task file, or None. No task runs while it is set."""
        return self._engine.journal.broken

    # --- helpers -----------------------------------------------------------------------------

    def _check(self) -> None:
        if self._phase != 'started':
            phase = 'not started; await start() first' if self._phase == 'new' else 'stopped'
            raise TaskError(f'The runner is {phase}')

    def _find(self, task_id: str) -> TaskRecord | None:
        """Return the record, or None if the task has ended. Raises UnknownTask."""
        self._check()
        record = self._engine.records.get(task_id)
        if record is not None and record.visible:
            return record
        if self.get_task(task_id) is None:
            raise UnknownTask(task_id)
        return None

    def _live_record(self, task_id: str) -> TaskRecord:
        record = self._find(task_id)
        if record is None or record.plan.terminal:
            task = self.get_task(task_id) if record is None else record.plan
            assert task is not None
            raise TaskError(f'Task {task_label(task)} has ended: {task.state.name}')
        return record

    async def _commit(
        self, records: list[TaskRecord], others: Iterable[Awaitable[None]] = ()
    ) -> None:
        """Wait until all is committed. Raises StoreError; the changes are then written later."""
        done = [self._engine.journal.committed(record) for record in records]
        self._engine.dispatch_and_flush()
        for error in await asyncio.gather(*done, *others, return_exceptions=True):
            if isinstance(error, StoreError):
                raise error
