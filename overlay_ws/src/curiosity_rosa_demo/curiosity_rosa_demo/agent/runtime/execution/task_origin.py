# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Who ordered a task: a door writes it into the metadata of its task. The span of each task."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.task import Event
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.text import printable
from curiosity_rosa_demo.infra.spans import activated, is_traceparent, Span, TRACEPARENT
from curiosity_rosa_demo.trace.trace_buffer import EventBus

if TYPE_CHECKING:
    from curiosity_rosa_demo.infra.tracing import TaskTracer

ORIGIN_KEY, ASKED_BY_KEY = 'origin', 'asked_by'  # in a task's metadata
MAX_ASKED_BY_CHARS = 80
TURN_SKILL, CHARGE_SKILL = 'react', 'charge'
UNASKED = (Origin.AUTONOMY, Origin.TRIGGER)
_KNOWN = {origin.value: origin for origin in Origin}


def with_origin(task: Task, origin: Origin, asked_by: str = '') -> Task:
    """The task, with the door that made it. ``asked_by``: the person, for others to see."""
    task.metadata[ORIGIN_KEY] = origin.value
    if asked_by:
        task.metadata[ASKED_BY_KEY] = asked_by
    return task


def with_traceparent(task: Task, traceparent: object) -> Task:
    """The task, as part of its caller's trace. An invalid ``traceparent`` counts as none."""
    if is_traceparent(traceparent):
        task.metadata[TRACEPARENT] = traceparent
    return task


def door_of(task: Task) -> str:
    """The door that made the task, such as 'action'; '' if the task does not say so."""
    value = str(task.metadata.get(ORIGIN_KEY, ''))
    return value if value in _KNOWN else ''


def asked_by(task: Task) -> str:
    """Who asked for the task, for people: a person's name if it is known, else the door."""
    name = task.metadata.get(ASKED_BY_KEY)
    shown = printable(name[:MAX_ASKED_BY_CHARS]) if isinstance(name, str) else ''
    return shown or door_of(task)


def task_origin(task: Task) -> Origin:
    """Who gives the orders of this task: in a turn, the model or its plan. A stored task that does
    not say so counts as recovered, and so does a skill that runs again after a crash. A turn that
    nobody asked for counts as its door: that of an activity or of a trigger.
    """
    known = _KNOWN.get(str(task.metadata.get(ORIGIN_KEY)), Origin.RECOVERY)
    if task.name == CHARGE_SKILL:
        return Origin.CHARGE
    if task.name == TURN_SKILL and known not in UNASKED:
        return Origin.PLAN if task.metadata.get('plan') else Origin.MODEL
    return Origin.RECOVERY if task.state is LifecycleState.RECOVERING else known


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
