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
from copy import copy

from curiosity_rosa_demo.agent.tasks.record import TaskRecord
from curiosity_rosa_demo.agent.tasks.runs import SkillRuns
from curiosity_rosa_demo.agent.tasks.store import TaskStore
from curiosity_rosa_demo.agent.tasks.table import BLOCKED, TaskTable
from curiosity_rosa_demo.agent.tasks.task import now, Task
from curiosity_rosa_demo.domain.task_state import LifecycleState

_S = LifecycleState


class Recovery:
    """``fail``: tasks that ran when the process ended become FAILED, else RECOVERING."""

    def __init__(self, table: TaskTable, runs: SkillRuns, store: TaskStore, *, fail: bool) -> None:
        self._table, self._runs, self._store, self._fail = table, runs, store, fail

    def recover(self, tasks: list[Task]) -> list[str]:
        """``tasks`` have not ended; the oldest come first. Returns one note for each that was
        running; none if an earlier recovery has told of it and it has not run since. Raises
        StoreError.
        """
        notes = []
        for task in tasks:
            record = TaskRecord(task, copy(task), self._runs.needs(task), stored=True)
            plan, records = record.plan, self._table.records
            self._table.add(record, [each for each in plan.blocked_by if each in records])
            if plan.deadline_s is not None and plan.state is not _S.PAUSED:
                plan.used_s += max(0.0, _passed_s(plan))
                record.since = asyncio.get_running_loop().time()
                self._table.watch_deadline(record)
            if plan.state.running:
                notes += self._recover_running(record)
            elif plan.state is _S.WAITING:
                self._recover_waiting(record)
            else:
                if plan.state is _S.PAUSED and (rows := self._store.history(plan.id)):
                    record.unobserved = rows[-1].before is _S.RECOVERING
                self._table.queue(record)
        return notes

    def _recover_running(self, record: TaskRecord) -> list[str]:
        plan, reason = record.plan, 'the process ended while it ran'
        name = f'task {plan.name} {plan.id} was active when the process ended'
        if self._fail:
            self._table.move(record, _S.FAILED, reason)
            return [f'{name}; it has failed']
        ran = plan.state is _S.ACTIVE
        if ran:
            self._table.move(record, _S.RECOVERING, reason)
        self._table.queue(record)
        return [f'{name}; it is queued again'] if ran else []

    def _recover_waiting(self, record: TaskRecord) -> None:
        plan = record.plan
        for task_id in plan.blocked_by:
            known = self._table.records.get(task_id)
            blocker = self._store.get(task_id) if known is None else known.plan
            state = None if blocker is None else blocker.state
            if state in BLOCKED:
                self._table.block(record, task_id, state)
                return
        if plan.attempts:
            delay_s = self._runs.backoff_s(plan.attempts - 1)
            remaining_s = min(delay_s, max(0.0, delay_s - _passed_s(plan)))
            record.retry_at = asyncio.get_running_loop().time() + remaining_s
        self._table.reconsider(record)


def _passed_s(task: Task) -> float:
    """Seconds since the last change of ``task``, of another process."""
    return (now() - task.updated_at).total_seconds()
