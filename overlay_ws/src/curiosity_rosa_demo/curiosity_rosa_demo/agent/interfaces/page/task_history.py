# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The tasks and the history of their states, read in the runner's loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from curiosity_rosa_demo.agent.tasks import SkillRunner, Task
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

    def __init__(self, runner: SkillRunner) -> None:
        self._runner = runner
        self._rows: dict[str, tuple[datetime, tuple[HistoryRow, ...]]] = {}

    async def read(self) -> Sequence[TaskHistory]:
        """At most MAX_TASKS tasks, unfinished ones first. Call it in the runner's loop."""
        tasks = self._runner.list_tasks()
        live = [task for task in tasks if not task.terminal]
        ended = (task for task in reversed(tasks) if task.terminal)
        shown = [*live[:MAX_TASKS], *islice(ended, max(0, MAX_TASKS - len(live)))]
        histories = [TaskHistory(replace(task), self._history(task)) for task in shown]
        self._rows = {each: self._rows[each] for task in shown if (each := task.id) in self._rows}
        return histories

    def _history(self, task: Task) -> tuple[HistoryRow, ...]:
        changed, rows = self._rows.get(task.id, (None, ()))
        if changed != task.updated_at:
            try:
                rows = tuple(self._runner.history(task.id))
            except TaskError:  # the database cannot be read now: return the last rows
                return rows
            self._rows[task.id] = (task.updated_at, rows)
        return rows
