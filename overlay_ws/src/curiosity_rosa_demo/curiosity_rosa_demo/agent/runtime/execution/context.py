# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The context that every task skill gets, and helpers for the skills."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TYPE_CHECKING

from curiosity_rosa_demo.agent.runtime.execution.blocking import BlockingCalls
from curiosity_rosa_demo.agent.runtime.execution.session import AgentSession
from curiosity_rosa_demo.agent.runtime.execution.task_origin import door_of
from curiosity_rosa_demo.agent.tasks import Event, LifecycleState, SkillFailed, SkillRunner, Task
from curiosity_rosa_demo.domain.brain_state import RobotState
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.infra.spans import activated, Span, TRACEPARENT
from curiosity_rosa_demo.trace.trace_buffer import EventBus

if TYPE_CHECKING:
    from curiosity_rosa_demo.infra.tracing import TaskTracer

# --- The span of each task: from its submission to its end -------------------------------------


class TaskSpans:
    """Follows the task events of ``bus``, in the thread of the runner. ``tracer`` None: tracing is
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


POLL_PERIOD_S = 0.5
RESOURCES_POLL_S = 0.1


@dataclass(frozen=True)
class SkillContext:
    execution: AgentSession
    runner: SkillRunner
    blocking: BlockingCalls
    robot: Callable[[], RobotState]  # as the kernel knows it
    charged_level: float  # part of the full charge at which charging ends
    clock: Callable[[], float]  # the policy's clock: monotonic seconds since the epoch
    hold_waiting: Callable[[str], Awaitable[None]]  # until a person resumes; gets the reason
    spans: TaskSpans = field(default_factory=TaskSpans)  # off


async def reobserve(task: Task, context: SkillContext) -> None:
    """After a crash, wait until the rover has reported its status; then report it as observed."""
    if task.state is not LifecycleState.RECOVERING:
        return

    def wait_for_status(cancellation: Cancellation) -> None:
        while not context.execution.rover_status().ok:
            cancellation.sleep(POLL_PERIOD_S)

    await context.blocking.run(wait_for_status)
    await context.runner.observed(task)


def wait_for_resources(
    context: SkillContext, resources: Collection[str], cancellation: Cancellation
) -> None:
    """From the thread of a task: wait until no other skill holds any of ``resources``. One that
    ignored its stop does until its thread ends, and the runner knows nothing of it. Raises
    TurnCancelled.
    """
    is_told = False
    while (holder := context.execution.monitor.holder_of(resources)) is not None:
        if not is_told:
            shared = ', '.join(sorted(set(resources).intersection(holder.resources_occupied)))
            text = f'waits for {shared}, which {holder.skill_name} still holds'
            context.execution.trace(TraceKind.OBSERVE, text)
            is_told = True
        cancellation.sleep(RESOURCES_POLL_S)


def store_outcome(task: Task, outcome: Outcome) -> None:
    """Store the outcome in the task's metadata. Raises SkillFailed when it is a failure."""
    data: dict[str, Any] = {'ok': outcome.ok, 'answer': outcome.answer, 'score': outcome.score}
    if outcome.code:
        data['code'] = outcome.code
    if outcome.refusal is not None:
        data['refusal'] = outcome.refusal
    task.metadata['outcome'] = data
    if not outcome.ok:
        raise SkillFailed(outcome.answer)
