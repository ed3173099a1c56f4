# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A simple priority queue of tasks for a custom life cycle, built on ReadyQueue."""

from __future__ import annotations

from curiosity_rosa_demo.agent.tasks.errors import UnknownTask
from curiosity_rosa_demo.agent.tasks.priority_inheritance import rank_of
from curiosity_rosa_demo.agent.tasks.ready_queue import ReadyQueue
from curiosity_rosa_demo.agent.tasks.task import Task
from curiosity_rosa_demo.domain.task_state import LifecycleState

READY = (LifecycleState.PENDING, LifecycleState.PAUSED)


class TaskScheduler:
    """Higher priority first, then the earlier add(). A suspended task keeps its place."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._numbers: dict[str, int] = {}
        self._ready = ReadyQueue()

    def register(self, task: Task) -> None:
        """Make ``task`` known to get(), without queueing it."""
        self._tasks[task.id] = task

    def add(self, task: Task) -> None:
        """Register and queue ``task``."""
        self.register(task)
        number = self._numbers.setdefault(task.id, len(self._numbers))
        self._ready.add(task.id, (rank_of(task, 0.0), True, number), frozenset())

    def pick_next(self) -> Task | None:
        """Take the first PENDING or PAUSED task from the queue; None if it has none."""
        while (task_id := self._ready.pop_next()) is not None:
            task = self._tasks[task_id]
            if task.state in READY:
                return task
        return None

    def suspend(self, task_id: str) -> None:
        """An ACTIVE task becomes PAUSED and is queued again. Raises UnknownTask,
        IllegalTransition.
        """
        task = self.get(task_id)
        if task is None:
            raise UnknownTask(task_id)
        task.transition(LifecycleState.PAUSED)
        self.add(task)

    def get(self, task_id: str) -> Task | None:
        return self._tasks.get(task_id)
