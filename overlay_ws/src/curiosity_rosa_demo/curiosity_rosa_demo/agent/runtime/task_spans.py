# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The span of each task."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.origin import door_of
from curiosity_rosa_demo.agent.tasks.task import Event
from curiosity_rosa_demo.infra.spans import activated, Span, TRACEPARENT
from curiosity_rosa_demo.trace.trace_buffer import EventBus

if TYPE_CHECKING:
    from curiosity_rosa_demo.infra.tracing import TaskTracer


class TaskSpans:
    """The span of each task, from its submission to its end.

    Follows the task events of ``bus``, in the thread of the runner. ``tracer`` None: tracing is
    off, and no task has a span. ``find_task`` is called in that thread.

    The root of a task that has not ended when the agent ends is not exported: the agent that
    resumes the task exports it, from the submission on, with the same IDs.
    """

    def __init__(self, tracer: TaskTracer | None = None) -> None:
        self._tracer = tracer
        self._open: dict[str, Span | None] = {}  # None: its caller does not record
        self._find_task: Callable[[str], Task | None] = lambda task_id: None

    def follow(self, bus: EventBus, find_task: Callable[[str], Task | None]) -> None:
        self._find_task = find_task
        if self._tracer is not None:
            bus.listen('spans', self._record, Event)

    def active(self, task_id: str) -> AbstractContextManager[object]:
        """Within the context, new spans are those of the task. For a skill's thread."""
        root = self._open.get(task_id)
        return nullcontext() if root is None else activated(root)

    def _record(self, event: Event) -> None:
        if event.task_id is None or (task := self._find_task(event.task_id)) is None:
            return
        if task.id not in self._open:
            self._open[task.id] = self._root_of(task)
        if task.terminal:
            root = self._open.pop(task.id)
            if root is not None:
                root.set({'curiosity.task.state': task.state.value})
                if task.state is LifecycleState.FAILED:
                    root.fail(task.state.value)
                root.end()

    def _root_of(self, task: Task) -> Span | None:
        assert self._tracer is not None
        traceparent = task.metadata.get(TRACEPARENT)
        start_ns = int(task.created_at.timestamp() * 1e9)
        root = self._tracer.root(f'task {task.name}', task.id, traceparent, start_ns=start_ns)
        if root is not None:
            root.set(
                {
                    'curiosity.skill': task.name,
                    'curiosity.task.origin': door_of(task) or 'unknown',
                    'curiosity.task.priority': task.priority,
                }
            )
        return root
