# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Submission of new tasks: to the store, or to memory before start() opens the store."""

from __future__ import annotations

import asyncio
from collections import deque

from curiosity_rosa_demo.agent.tasks.commands import TaskControl
from curiosity_rosa_demo.agent.tasks.engine import Engine
from curiosity_rosa_demo.agent.tasks.entry import snapshot, StopCause, StopWeight, TaskRecord
from curiosity_rosa_demo.agent.tasks.events import Event, EventType
from curiosity_rosa_demo.agent.tasks.skill_runs import TaskSkills
from curiosity_rosa_demo.agent.tasks.store import TaskStore
from curiosity_rosa_demo.agent.tasks.task import BadTask, Task, TaskError, UnknownTask
from curiosity_rosa_demo.agent.tasks.validation import check_task, task_label
from curiosity_rosa_demo.domain.task_state import LifecycleState

_S = LifecycleState


class TaskSubmission(TaskControl):
    def __init__(self, engine: Engine, store: TaskStore, skills: TaskSkills) -> None:
        super().__init__(engine, store, skills)
        self._seq = 0
        self._stopped: asyncio.Task[None] | None = None
        self._registered: dict[str, Task] = {}  # submitted before start(), not stored yet
        self._inbox: deque[Event] = deque()  # for start() to handle

    async def submit(self, task: Task) -> Task:
        """Store ``task`` and return it, or the earlier task with the same idempotency_key.

        The task is queued and interrupts no running task. Before start(), the call returns at once
        and start() stores the task. Raises BadTask, StoreError.
        """
        if self._phase == 'new':
            return self._register(task, EventType.TASK_SUBMIT)
        return (await self._submit(task, EventType.TASK_SUBMIT))[0]

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
        if self._phase == 'new':
            return self._register(task, EventType.INTERRUPT)
        known, preempted = await self._submit(task, EventType.INTERRUPT)
        await asyncio.gather(*preempted, return_exceptions=True)
        return known

    def _register(self, task: Task, event: EventType) -> Task:
        """Keep ``task`` in memory. start() checks ``blocked_by``, once the file is open."""
        check_task(task, self._skills.resources)
        if task.id in self._registered:
            raise BadTask(f'There is already a task {task.id!r}; submit a new Task')
        for earlier in self._registered.values():
            if (
                task.idempotency_key is not None
                and task.idempotency_key == earlier.idempotency_key
            ):
                return earlier
        self._registered[task.id] = task
        self._inbox.append(Event(event, task.id, {'task': task}))
        return task

    async def cancel(self, task_id: str, reason: str = '') -> bool:
        """Like TaskControl.cancel(). Before start() the request is queued for start()."""
        if self._phase != 'new':
            return await super().cancel(task_id, reason)
        if task_id not in self._registered:
            raise UnknownTask(task_id)
        self._inbox.append(Event(EventType.TASK_CANCEL, task_id, {'reason': reason}))
        return True

    def get_task(self, task_id: str) -> Task | None:
        if self._phase == 'new' or task_id in self._registered:
            return self._registered.get(task_id)
        return super().get_task(task_id)

    def list_tasks(self) -> list[Task]:
        stored = super().list_tasks()
        known = {task.id for task in stored}
        return [*stored, *(task for key, task in self._registered.items() if key not in known)]

    async def _submit(
        self, task: Task, event: EventType
    ) -> tuple[Task, list[asyncio.Future[None]]]:
        self._check()
        if self._stopped is not None:
            raise TaskError('The runner is stopping; submit to the next one')
        engine = self._engine
        if engine.journal.broken is not None:
            raise engine.journal.broken
        check_task(task, self._skills.resources)
        if task.idempotency_key is not None:
            if (record := engine.idempotency_keys.get(task.idempotency_key)) is not None:
                if not record.visible:
                    await engine.journal.committed(record)
                return record.task, []
            if (earlier := self._store.by_key(task.idempotency_key)) is not None:
                return engine.ended.get(earlier.id, earlier), []
        blockers = self._blockers(task)
        if task.id in engine.records or task.id in engine.ended:
            raise BadTask(f'There is already a task {task.id!r}; submit a new Task')

        record = TaskRecord(task, snapshot(task), visible=False)
        plan = record.plan
        plan.urgent = event is EventType.INTERRUPT
        plan.seq, self._seq = self._seq, self._seq + 1
        plan.held, plan.attempts, plan.used_s, plan.reason = False, 0, 0.0, ''
        engine.add(record, [blocker.id for blocker in blockers if not blocker.terminal])
        engine.insert(record, event)
        for blocker in blockers:
            if blocker.terminal and blocker.state is not _S.COMPLETED:
                engine.block(record, blocker)
                break
        preempted = self._preempt(record) if plan.urgent else []
        stored = engine.journal.committed(record)
        engine.dispatch_and_flush()
        await stored
        return task, preempted

    def _blockers(self, task: Task) -> list[Task]:
        blockers = []
        for task_id in task.blocked_by:
            if (blocker := self.get_task(task_id)) is None:
                raise BadTask(f'blocked_by names {task_id!r}, and there is no such task')
            blockers.append(blocker)
        return blockers

    def _preempt(self, urgent: TaskRecord) -> list[asyncio.Future[None]]:
        engine = self._engine
        if not engine.open or not engine.ready_queue.admits(urgent.plan.id):
            return []
        needs, rank = self._skills.needs(urgent.plan), engine.ranks[urgent.plan.id]
        exits = []
        cause = StopCause(
            StopWeight.PAUSE, f'interrupted by {task_label(urgent.plan)}', preempted=True
        )
        for record in engine.runs.busy():
            if needs.isdisjoint(record.resources) or not engine.runs.may_stop(record):
                continue
            if engine.ranks[record.plan.id] > rank:
                exits.append(engine.runs.wait_until_ended(record))
                engine.runs.request_stop(record, cause)
        return exits
