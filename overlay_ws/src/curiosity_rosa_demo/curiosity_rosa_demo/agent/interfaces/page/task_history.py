# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The tasks and the history of their states."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from curiosity_rosa_demo.agent.runtime.task_port import TaskPort
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.store import HistoryRow
from curiosity_rosa_demo.agent.tasks.task import TaskError

MAX_TASKS = 30  # tasks


@dataclass(frozen=True)
class TaskHistory:
    """A copy of a task, and its changes of state, the oldest first."""

    task: Task
    rows: tuple[HistoryRow, ...]


class TaskHistories:
    """The last tasks. Reads the database only for tasks that have changed."""

    def __init__(self, port: TaskPort) -> None:
        self._port = port
        self._rows: dict[str, tuple[datetime, tuple[HistoryRow, ...]]] = {}

    async def read(self) -> Sequence[TaskHistory]:
        """At most MAX_TASKS tasks, unfinished ones first."""
        tasks = await self._port.tasks()
        live = [task for task in tasks if not task.terminal]
        ended = (task for task in reversed(tasks) if task.terminal)
        shown = [*live[:MAX_TASKS], *islice(ended, max(0, MAX_TASKS - len(live)))]
        histories = [await self._history(copy(task)) for task in shown]
        self._rows = {each: self._rows[each] for task in shown if (each := task.id) in self._rows}
        return histories

    async def _history(self, task: Task) -> TaskHistory:
        changed, rows = self._rows.get(task.id, (None, ()))
        if changed != task.updated_at:
            try:
                rows = tuple(await self._port.history(task.id))
            except TaskError:  # the database cannot be read now: the last rows
                return TaskHistory(task, rows)
            self._rows[task.id] = (task.updated_at, rows)
        return TaskHistory(task, rows)
