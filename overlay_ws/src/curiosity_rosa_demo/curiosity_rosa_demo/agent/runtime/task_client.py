# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Thread-safe queries about the runtime's tasks. Do not call from the runtime's own loop: it would
deadlock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from curiosity_rosa_demo.agent.runtime.threads.event_loop_thread import (
    CALL_TIMEOUT_S,
    EventLoopThread,
)
from curiosity_rosa_demo.agent.tasks import SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.store import HistoryRow
from curiosity_rosa_demo.agent.tasks.task import TaskError

T = TypeVar('T')
AGENT_ENDS = 'The agent ends; ask the next one'


class TaskClient:
    """Queries about tasks, callable from any thread except that of the runtime's loop."""

    runner: SkillRunner
    _event_loop: EventLoopThread

    def call(self, work: Coroutine[Any, Any, T], timeout_s: float = CALL_TIMEOUT_S) -> T:
        """Run ``work`` in the loop and return its result. Do not call it from the loop itself.

        Raises the exceptions of ``work``, and TaskError after ``timeout_s``.
        """
        try:
            return self._event_loop.call(work, timeout_s)
        except TimeoutError as error:
            raise TaskError(f'{error}; try again; :stop still works') from None

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop of kernel and tasks."""
        return self._event_loop.loop

    def begin_call(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run ``work`` in the loop without waiting. Raises TaskError when the loop has ended."""
        try:
            return self._event_loop.submit(work)
        except RuntimeError:
            raise TaskError(AGENT_ENDS) from None

    def list_tasks(self) -> list[Task]:
        """All unfinished tasks and the newest ended ones, in the order of their submission."""

        async def tasks() -> list[Task]:
            return self.runner.list_tasks()

        return self.call(tasks())

    def find_task(self, start: str) -> Task:
        """The task whose ID begins with ``start``. Raises TaskError."""
        found = [task for task in self.list_tasks() if task.id.startswith(start)]
        if len(found) == 1:
            return found[0]
        what = f'{len(found)} tasks' if found else 'no task'
        raise TaskError(f'{what} with an ID that begins with {start[:40]!r}; :tasks shows them')

    def task_history(self, task_id: str) -> list[HistoryRow]:
        async def rows() -> list[HistoryRow]:
            return self.runner.history(task_id)

        return self.call(rows())
