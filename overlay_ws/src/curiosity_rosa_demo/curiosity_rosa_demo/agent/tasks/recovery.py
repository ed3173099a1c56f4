# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Recovery of the stored tasks at the start of a runner."""

from __future__ import annotations

import asyncio

from curiosity_rosa_demo.agent.tasks.engine import Engine
from curiosity_rosa_demo.agent.tasks.entry import snapshot, TaskRecord
from curiosity_rosa_demo.agent.tasks.store import TaskStore
from curiosity_rosa_demo.agent.tasks.task import now, Task
from curiosity_rosa_demo.agent.tasks.validation import backoff_s
from curiosity_rosa_demo.domain.task_state import LifecycleState

_S = LifecycleState


class Recovery:
    """``fail``: tasks that ran when the process ended become FAILED, else RECOVERING."""

    def __init__(self, engine: Engine, store: TaskStore, *, fail: bool, backoff_s: float) -> None:
        self._engine = engine
        self._store = store
        self._fail = fail
        self._backoff_s = backoff_s

    def recover_tasks(self, tasks: list[Task]) -> list[str]:
        """Recover unfinished ``tasks``, oldest first. Returns one note per task that was
        running; none for one that an earlier recovery has told of and that has not run since.
        Raises StoreError.
        """
        notes: list[str] = []
        for task in tasks:
            record = TaskRecord(task, snapshot(task), visible=True)
            blockers = {blocker: self._state(blocker) for blocker in task.blocked_by}
            self._engine.add(record, [key for key in blockers if key in self._engine.records])
            self._resume_clock(record)
            if task.state.running:
                if note := self._recover(record):
                    notes.append(note)
            elif task.state is _S.WAITING:
                self._wait(record, blockers)
            else:
                record.unobserved = task.state is _S.PAUSED and self._was_recovering(task)
                self._engine.ready(record)
        return notes

    def _state(self, task_id: str) -> LifecycleState | None:
        """The state of a task, or None if it was deleted."""
        if (record := self._engine.records.get(task_id)) is not None:
            return record.plan.state
        task = self._store.get(task_id)
        return None if task is None else task.state

    def _resume_clock(self, record: TaskRecord) -> None:
        plan = record.plan
        if plan.deadline_s is not None and plan.state is not _S.PAUSED:
            plan.used_s += max(0.0, (now() - plan.updated_at).total_seconds())
            record.since = asyncio.get_running_loop().time()
            self._engine.watch_deadline(record)

    def _recover(self, record: TaskRecord) -> str:
        self._engine.counters['recovered'] += 1
        name = f'task {record.task.name} {record.task.id} was active when the process ended'
        if self._fail:
            self._engine.move(record, _S.FAILED, 'the process ended while it ran')
            return f'{name}; it has failed'
        ran = record.plan.state is _S.ACTIVE
        if ran:
            self._engine.move(record, _S.RECOVERING, 'the process ended while it ran')
        self._engine.ready(record)
        return f'{name}; it is queued again' if ran else ''

    def _wait(self, record: TaskRecord, blockers: dict[str, LifecycleState | None]) -> None:
        plan = record.plan
        for task_id, state in blockers.items():
            if state is _S.COMPLETED or (state is not None and not state.terminal):
                continue
            outcome = 'is not known any more' if state is None else f'has {state.value}'
            if state is _S.CANCELLED:
                outcome = 'was cancelled'
            reason = f'blocked by {task_id[:8]}, which {outcome}'
            self._engine.move(record, _S.CANCELLED, reason)
            return
        if plan.attempts:
            delay_s = backoff_s(self._backoff_s, plan.attempts - 1)
            passed_s = (now() - plan.updated_at).total_seconds()
            remaining_s = min(delay_s, max(0.0, delay_s - passed_s))
            record.retry_at = asyncio.get_running_loop().time() + remaining_s
        self._engine.reconsider(record)

    def _was_recovering(self, task: Task) -> bool:
        rows = self._store.history(task.id)
        return bool(rows) and rows[-1].before is _S.RECOVERING
