# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The tasks as a page shows them: as GET /tasks/ID gives them, each with its history."""

from __future__ import annotations

from collections.abc import Hashable
from copy import copy
from itertools import islice

from curiosity_rosa_demo.agent.interfaces.http.models import TaskView
from curiosity_rosa_demo.agent.interfaces.page.document import Document
from curiosity_rosa_demo.agent.runtime.task_port import TaskPort
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.task import TaskError
from curiosity_rosa_demo.domain.text import clip, memory_size

MAX_TASKS = 30  # tasks
MAX_ROWS = 100  # of a history, the newest
MAX_METADATA_MEMORY = 50_000  # bytes; GET /tasks/ID has larger ones
MAX_REASON_CHARS = 2000


class ShownTasks:
    """The last tasks. Reads the database only for tasks that have changed."""

    def __init__(self, port: TaskPort) -> None:
        self._port = port
        self._shown: dict[str, tuple[Hashable, Document]] = {}

    async def read(self) -> Document:
        """At most MAX_TASKS tasks by ID, in the order of submission; the unfinished ones are
        among them.
        """
        tasks = await self._port.tasks()
        live = [task for task in tasks if not task.terminal]
        ended = (task for task in reversed(tasks) if task.terminal)
        kept = [*live[:MAX_TASKS], *islice(ended, max(0, MAX_TASKS - len(live)))]
        shown = {task.id: await self._task(copy(task)) for task in sorted(kept, key=_seq)}
        self._shown = {task_id: self._shown[task_id] for task_id in shown}
        return shown

    async def _task(self, task: Task) -> Document:
        known: Hashable = (task.updated_at, task.priority, task.held, task.urgent)
        before, shown = self._shown.get(task.id, (None, {}))
        if known == before:
            return shown
        rows = shown.get('history', [])
        try:
            rows = [
                {
                    'at': row.at.timestamp(),
                    'state': row.after.value,
                    'reason': clip(row.reason, MAX_REASON_CHARS),
                }
                for row in (await self._port.history(task.id))[-MAX_ROWS:]
            ]
        except TaskError:  # the database cannot be read now: the last rows
            known = ()
        shown = {**TaskView.of(task).model_dump(mode='json'), 'history': rows}
        shown['reason'] = clip(task.reason, MAX_REASON_CHARS)
        if memory_size(shown['metadata']) > MAX_METADATA_MEMORY:
            shown['metadata'] = {}
        self._shown[task.id] = known, shown
        return shown


def _seq(task: Task) -> int:
    return task.seq
