# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What can be asked about the tasks that the runner knows. SkillRunner adds the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from itertools import islice
from typing import Literal

from curiosity_rosa_demo.agent.tasks.bus import Subscription
from curiosity_rosa_demo.agent.tasks.engine import Engine
from curiosity_rosa_demo.agent.tasks.entry import StopCause, StopWeight, TaskRecord
from curiosity_rosa_demo.agent.tasks.errors import (
    BadTask,
    CannotBeCancelled,
    StoreError,
    TaskError,
    UnknownTask,
)
from curiosity_rosa_demo.agent.tasks.skill import TaskSkills
from curiosity_rosa_demo.agent.tasks.store import HistoryRow, TaskStore
from curiosity_rosa_demo.agent.tasks.task import Task
from curiosity_rosa_demo.agent.tasks.validation import (
    ALLOWED_PRIORITIES,
    metadata_fault,
    task_label,
)
from curiosity_rosa_demo.domain.task_state import LifecycleState

_S = LifecycleState


class TaskControl:
    """A request that changes something returns when it is committed. It raises StoreError when
    that has to wait for the disk: it is done nevertheless, and stored as soon as can be.
    """

    def __init__(self, engine: Engine, store: TaskStore, skills: TaskSkills) -> None:
        self._engine = engine
        self._store = store
        self._skills = skills
        self._phase: Literal['new', 'started', 'stopped'] = 'new'

    async def cancel(self, task_id: str, reason: str = '') -> bool:
        """False when it had ended before. A running skill has cleaned up when this returns. A task
        that is being submitted is cancelled before it begins. Raises CannotBeCancelled.
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
        """Everything that has not ended, that which is being submitted included."""
        self._check()
        records = [r for r in self._engine.records.values() if not r.plan.terminal]
        await self._cancel(records, reason)
        return [record.task.id for record in records if record.visible]

    async def _cancel(self, records: list[TaskRecord], reason: str) -> None:
        engine = self._engine
        left = [engine.runs.wait_until_ended(record) for record in records if record.busy]
        for record in records:
            engine.cancel(record, reason or 'cancelled on request')
        await self._commit([record for record in records if not record.busy], left)

    async def pause(self, task_id: str, reason: str = '') -> bool:
        """It will not run until resume(). False: its skill runs and has ``cancel_supported``
        false; it goes on to its end, and only a retry waits for resume(). Raises TaskError when
        the task has ended, or ends first.
        """
        record, engine = self._alive(task_id), self._engine
        reason = reason or 'paused on request'
        if record.busy and not engine.runs.may_stop(record):
            engine.runs.hold_after_run(record, reason)
            return False
        if record.busy:
            left = engine.runs.wait_until_ended(record)
            engine.runs.request_stop(record, StopCause(StopWeight.HOLD, reason))
            await left
            self._alive(task_id)
            return True
        record.plan.held = True
        if record.plan.state is not _S.WAITING:
            record.plan.reason = reason
        engine.ready_queue.discard(task_id)
        engine.save(record)
        await self._commit([record])
        return True

    async def resume(self, task_id: str) -> None:
        """The contrary of pause()."""
        record, engine = self._alive(task_id), self._engine
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
        """Raises TaskError while its skill runs, BadTask for a priority out of range."""
        if isinstance(priority, bool) or priority not in ALLOWED_PRIORITIES:
            raise BadTask(
                f'priority is {priority!r}; it must be a whole number, {ALLOWED_PRIORITIES[0]} to '
                f'{ALLOWED_PRIORITIES[-1]}'
            )
        record = self._alive(task_id)
        if record.busy:
            raise TaskError(
                f'Task {task_label(record.plan)} is {record.plan.state.name}; its priority can be '
                'changed while it waits, pause it first'
            )
        self._engine.reprioritise(record, int(priority))
        await self._commit([record])

    async def approve(self, task_id: str, approved: bool, reason: str = '') -> None:
        """The answer for a task that needs approval: it goes on, or is CANCELLED."""
        record = self._alive(task_id)
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
        """Only what ``allow`` says may run from now on; in place of an earlier hold.

        Skills that may not run are cancelled, their tasks paused; they resume by themselves after
        release(). Returns when they have cleaned up. ``allow`` must be quick and not raise.
        """
        self._check()
        records = self._engine.records
        self._engine.ready_queue.gate(lambda task_id: allow(records[task_id].plan))
        running = [r for r in self._engine.runs.busy() if not allow(r.plan)]
        await self._pause(running, reason)

    async def release(self) -> None:
        """Everything may run again."""
        self._check()
        self._engine.ready_queue.gate(None)
        self._engine.dispatch_and_flush()

    async def _pause(self, running: list[TaskRecord], reason: str) -> None:
        runs = self._engine.runs
        left = [runs.wait_until_ended(record) for record in running]
        for record in running:
            runs.request_stop(record, StopCause(StopWeight.PAUSE, reason))
        self._engine.dispatch_and_flush()
        await asyncio.gather(*left, return_exceptions=True)

    # --- for skills --------------------------------------------------------------------------

    async def checkpoint(self, task: Task) -> None:
        """Commits its metadata now. Raises BadTask when JSON cannot carry that."""
        record = self._alive(task.id)
        if fault := metadata_fault(record.task):
            raise BadTask(fault)
        self._engine.save(record)
        await self._commit([record])

    async def observed(self, task: Task) -> None:
        """Its skill has looked again after a crash: RECOVERING becomes ACTIVE."""
        record = self._alive(task.id)
        if record.busy and record.plan.state is _S.RECOVERING:
            self._engine.move(record, _S.ACTIVE)
        await self._commit([record])

    # --- what is known -----------------------------------------------------------------------

    def get_task(self, task_id: str) -> Task | None:
        """As committed; its fields follow the commits, metadata follows the skill."""
        if (record := self._engine.records.get(task_id)) is not None:
            # The file may have its insert already, of which this loop has not heard yet.
            return record.task if record.visible else None
        return self._engine.ended.get(task_id) or self._store.get(task_id)

    def list_tasks(self) -> list[Task]:
        """All that have not ended and the last 1000 that have, in order of submission."""
        known = [r.task for r in self._engine.records.values() if r.visible]
        return sorted([*self._engine.ended.values(), *known], key=lambda task: task.seq)

    def live(self, limit: int | None = None) -> list[Task]:
        """Those that have not ended, what runs first; at most ``limit``, which bounds the cost."""
        records = self._engine.records
        running = [record.plan.id for record in self._engine.runs.busy()]
        ids = dict.fromkeys([*running, *islice(records, limit)])
        found = [records[task_id] for task_id in islice(ids, limit)]
        return [record.task for record in found if record.visible and not record.task.terminal]

    def needs(self, task: Task) -> frozenset[str]:
        """The resources that it takes."""
        return self._skills.needs(task)

    def history(self, task_id: str) -> list[HistoryRow]:
        """Raises UnknownTask."""
        if rows := self._store.history(task_id):
            return rows
        raise UnknownTask(task_id)

    async def wait(self, task_id: str, timeout: float | None = None) -> Task:
        """The task once it has ended. Raises TimeoutError after ``timeout`` seconds."""
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

    def subscribe(self, maxlen: int = 1000) -> Subscription:
        """Events from now on."""
        return self._engine.event_publisher.bus.subscribe(maxlen)

    @property
    def counters(self) -> dict[str, int]:
        return dict(self._engine.counters)

    @property
    def failed(self) -> StoreError | None:
        """Why the file cannot be written; nothing runs until it can."""
        return self._engine.journal.broken

    # --- help --------------------------------------------------------------------------------

    def _check(self) -> None:
        if self._phase != 'started':
            what = 'not started; await start() first' if self._phase == 'new' else 'stopped'
            raise TaskError(f'The runner is {what}')

    def _find(self, task_id: str) -> TaskRecord | None:
        """None: it has ended. Raises UnknownTask."""
        self._check()
        record = self._engine.records.get(task_id)
        if record is not None and record.visible:
            return record
        if self.get_task(task_id) is None:
            raise UnknownTask(task_id)
        return None

    def _alive(self, task_id: str) -> TaskRecord:
        record = self._find(task_id)
        if record is None or record.plan.terminal:
            task = self.get_task(task_id) if record is None else record.plan
            assert task is not None
            raise TaskError(f'Task {task_label(task)} has ended: {task.state.name}')
        return record

    async def _commit(
        self, records: list[TaskRecord], others: Iterable[Awaitable[None]] = ()
    ) -> None:
        """Raises StoreError when it has to wait for the disk; it is done nevertheless."""
        done = [self._engine.journal.committed(record) for record in records]
        self._engine.dispatch_and_flush()
        for error in await asyncio.gather(*done, *others, return_exceptions=True):
            if isinstance(error, StoreError):
                raise error
