# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The names that the designs published, for code that was written against them.

The product uses none of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict

from curiosity_rosa_demo.agent.kernel import loop as kernel
from curiosity_rosa_demo.agent.react import act, think
from curiosity_rosa_demo.agent.react.answer import ask
from curiosity_rosa_demo.agent.react.loop import TurnExecutor
from curiosity_rosa_demo.agent.skills.executor import SkillExecutor, SkillRun, status_of
from curiosity_rosa_demo.agent.tasks import Event, EventType, LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.rows import Change
from curiosity_rosa_demo.agent.tasks.runner import SkillRunner as TaskRunner
from curiosity_rosa_demo.agent.tasks.runs import TaskSkill
from curiosity_rosa_demo.agent.tasks.store import TaskStore
from curiosity_rosa_demo.agent.tasks.table import MAX_ENDED_TASKS
from curiosity_rosa_demo.agent.tasks.task import BadTask, SkillFailed, TaskError, UnknownTask
from curiosity_rosa_demo.domain.brain_state import BrainState, Json, SkillResult
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import LightScore, Model, Stamp, ToolResult
from curiosity_rosa_demo.infra.config.limits import Thresholds
from curiosity_rosa_demo.infra.event_thread import run_in_thread
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph


class MastState(Model):
    is_open: bool | None  # None: unknown, which counts as open
    yaw_rad: float | None = None


class CaptureResult(LightScore):
    """A successful capture: its score and the topic of its picture."""

    image_topic: str
    stamp: Stamp = Stamp()


class IStateManager(ABC):
    """Holds one BrainState, for use outside the kernel. A state or text that is none raises
    ValidationError or SerdeError, and the previous state is kept.
    """

    @abstractmethod
    def get_state(self) -> BrainState: ...

    @abstractmethod
    def update_state(self, updates: dict[str, Any]) -> BrainState: ...

    @abstractmethod
    def serialize(self) -> str: ...

    @abstractmethod
    def deserialize(self, data: str) -> BrainState: ...


class StateManager(IStateManager):
    def __init__(self, state: BrainState | None = None) -> None:
        self._state = state or BrainState()

    def get_state(self) -> BrainState:
        return self._state

    def update_state(self, updates: dict[str, Any]) -> BrainState:
        """``updates``: parts by name, as models or as dicts of all their fields."""
        self._state = BrainState(**{**dict(self._state), **updates})
        return self._state

    def serialize(self) -> str:
        return self._state.serialize()

    def deserialize(self, data: str) -> BrainState:
        self._state = BrainState.deserialize(data)
        return self._state


class IKernelNode(ABC):
    """One node of the outer loop."""

    @abstractmethod
    def execute(self, state: BrainState) -> BrainState: ...


class Channels(TypedDict):
    brain: BrainState


@dataclass(frozen=True)
class _KernelNode(IKernelNode):
    name: str
    step: kernel.Step
    rules: Thresholds

    def execute(self, state: BrainState) -> BrainState:
        return self.step(state, self.rules)

    def __call__(self, channels: Channels) -> Channels:
        return {'brain': self.execute(channels['brain'])}


def kernel_nodes(rules: Thresholds) -> list[_KernelNode]:
    """The six nodes in execution order, for use in another graph."""
    return [_KernelNode(step.__name__, step, rules) for step in kernel.STEPS]


def kernel_graph(rules: Thresholds) -> CompiledStateGraph:
    """The six nodes as a graph, which takes and returns ``{'brain': state}``."""
    graph = StateGraph(Channels)
    nodes: Any = [(each.name, each) for each in kernel_nodes(rules)]  # no public type of a node
    graph.add_sequence(nodes)
    graph.add_edge(START, nodes[0][0])
    graph.add_edge(nodes[-1][0], END)
    return graph.compile()


class IReActNode(ABC):
    """One node of the agent loop."""

    @abstractmethod
    async def execute(self, state: BrainState) -> BrainState: ...


# Of the executor's turn; the second argument is what the node before has returned.
_REACT: dict[str, Callable[[TurnExecutor, Any], Any]] = {
    'build_observation': lambda it, _: think.observe(it.turn, it.env),
    'react_decide': lambda it, _: think.choose(it.turn, it.env, it.deciders),
    'compile_ops': lambda it, choice: think.take(it.turn, it.env, choice),
    'guardrails_check': lambda it, taken: think.propose(it.turn, it.env, *taken),
    'human_approval': lambda it, _: ask(it.turn, it.env),
    'dispatch_skills': lambda it, _: act.dispatch(it.turn, it.env),
    'observe_result': lambda it, done: act.record(it.turn, it.env, done),
    'stop_or_loop': lambda it, _: act.end_or_go_on(it.turn, it.env),
}


@dataclass(frozen=True)
class _ReActNode(IReActNode):
    name: str
    executor: TurnExecutor
    returned: list[Any]

    async def execute(self, state: BrainState) -> BrainState:
        node, turn = _REACT[self.name], self.executor.turn
        self.returned.append(await asyncio.to_thread(node, self.executor, self.returned[-1]))
        messages = [each.model_dump(mode='json') for each in turn.exchanges]
        return state.model_copy(update={'react': turn.shown(), 'messages': messages})


def react_nodes(executor: TurnExecutor) -> list[_ReActNode]:
    """The eight nodes in the order in which they run, on the executor's turn."""
    returned: list[Any] = [None]
    return [_ReActNode(name, executor, returned) for name in _REACT]


class ISkillExecutor(ABC):
    """Runs skills by name; a run has an ID, progress reports and a result."""

    @abstractmethod
    async def dispatch(self, skill_name: str, params: dict[str, Any]) -> str: ...

    @abstractmethod
    async def cancel(self, goal_id: str) -> bool: ...

    @abstractmethod
    async def get_feedback(self, goal_id: str) -> dict[str, Any]: ...

    @abstractmethod
    async def get_result(self, goal_id: str) -> dict[str, Any]: ...


class JsonSkillExecutor(ISkillExecutor):
    """Adapts a SkillExecutor and raises its errors. ``cancellation`` stops every run of it and
    refuses new ones: who has a stop button holds it. Only the adapter checks these runs.
    """

    MAX_RUNS = 100

    def __init__(self, executor: SkillExecutor, cancellation: Cancellation) -> None:
        self._executor, self._cancellation = executor, cancellation
        self._runs: dict[str, tuple[SkillRun, asyncio.Task[ToolResult]]] = {}

    async def dispatch(self, skill_name: str, params: Json) -> str:
        run = self._executor.start(skill_name, params, self._cancellation)
        if len(self._runs) >= self.MAX_RUNS:
            ended = (name for name, (_, result) in self._runs.items() if result.done())
            self._runs.pop(next(ended, ''), None)
        result = asyncio.create_task(run_in_thread('skill-result', run.wait))
        self._runs[run.goal.goal_id] = (run, result)
        return run.goal.goal_id

    async def cancel(self, goal_id: str) -> bool:
        return self._runs[goal_id][0].cancel()

    async def get_feedback(self, goal_id: str) -> Json:
        return self._runs[goal_id][0].feedback

    async def get_result(self, goal_id: str) -> Json:
        """A SkillResult as JSON: status, error_code, error_msg and metrics."""
        result = await asyncio.shield(self._runs[goal_id][1])
        status, why = status_of(result), result.error_reason
        code = '' if result.ok else result.error_code or status.value
        told = SkillResult(status=status, error_code=code, error_msg=why, metrics=result.data)
        return told.model_dump(mode='json')


class Scheduler:
    """Higher priority first, then the earlier add(). A suspended task keeps its place."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._queued: dict[str, bool] = {}  # in the order of the first add()

    def register(self, task: Task) -> None:  # for get(), without queueing it
        self._tasks[task.id] = task

    def add(self, task: Task) -> None:
        self.register(task)
        self._queued[task.id] = True

    def pick_next(self) -> Task | None:
        """Take the first PENDING or PAUSED task from the queue; None if it has none."""
        waiting = (LifecycleState.PENDING, LifecycleState.PAUSED)
        queued = (self._tasks[name] for name, is_queued in self._queued.items() if is_queued)
        ready = [task for task in queued if task.state in waiting]
        found = max(ready, key=lambda task: task.priority, default=None)
        if found is not None:
            self._queued[found.id] = False
        return found

    def suspend(self, task_id: str) -> None:
        """ACTIVE becomes PAUSED, and is queued. Raises UnknownTask, IllegalTransition."""
        if (task := self.get(task_id)) is None:
            raise UnknownTask(task_id)
        task.transition(LifecycleState.PAUSED)
        self.add(task)

    def get(self, task_id: str) -> Task | None:
        return self._tasks.get(task_id)


class RARKKernel(TaskRunner):
    """Tasks without skills. An external executor runs the ACTIVE tasks and emits TASK_COMPLETE or
    TASK_FAIL. It subscribes to events to learn which tasks are ACTIVE, PAUSED or CANCELLED.

    A task may be submitted before start(): the first one opens the file.
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        """As those of SkillRunner."""
        super().__init__(*args, **named)
        self._runs.default = TaskSkill(self._wait_for_report, self._runs.resources)
        self._outcomes: dict[str, asyncio.Future[SkillFailed | None]] = {}

    async def submit(self, task: Task) -> Task:
        await self.start()
        return await super().submit(task)

    async def interrupt(self, task: Task) -> Task:
        await self.start()
        return await super().interrupt(task)

    def emit(self, event: Event) -> asyncio.Future[None]:
        """Handle ``event`` after all earlier ones. The returned future need not be awaited. It is
        done once the event is handled and committed, and may raise TaskError.
        """
        handled = asyncio.get_running_loop().create_task(self._handle(event))
        handled.add_done_callback(lambda done: done.cancelled() or done.exception())
        return handled

    async def _handle(self, event: Event) -> None:
        kind, payload = event.type, event.payload
        if kind in (EventType.TASK_SUBMIT, EventType.INTERRUPT):
            if not isinstance(task := payload.get('task'), Task):
                raise BadTask(f"{kind.name} needs the payload {{'task': Task}}")
            await (self.submit(task) if kind is EventType.TASK_SUBMIT else self.interrupt(task))
        elif kind is EventType.TASK_STATE:
            raise BadTask(f'{kind.name} reports a change; it cannot ask for one')
        elif event.task_id is None:
            raise BadTask(f'{kind.name} needs a task_id')
        elif kind is EventType.TASK_CANCEL:
            await self.cancel(event.task_id, str(payload.get('reason', '')))
        else:
            failed = SkillFailed(str(payload.get('error', 'it failed')))
            is_done = kind is EventType.TASK_COMPLETE
            await self._report(event.task_id, None if is_done else failed)

    async def _report(self, task_id: str, error: SkillFailed | None) -> None:
        """End a task for the external executor. Raises TaskError unless the task is ACTIVE."""
        record = self._live_record(task_id)
        task, run_ended = record.task, record.exit
        if run_ended is None:
            raise TaskError(f'Task {task.label} is {task.state.name}; only an ACTIVE one can end')
        outcome = self._outcome(task_id)
        if not outcome.done():
            outcome.set_result(error)
        await asyncio.wait([run_ended])
        await self._commits.done()
        if task.state in (LifecycleState.PAUSED, LifecycleState.CANCELLED):
            raise TaskError(f'Task {task.label} was {task.state.name} before')

    def _outcome(self, task_id: str) -> asyncio.Future[SkillFailed | None]:
        if task_id not in self._outcomes:
            self._outcomes[task_id] = asyncio.get_running_loop().create_future()
        return self._outcomes[task_id]

    async def _wait_for_report(self, task: Task) -> None:
        try:
            if (error := await self._outcome(task.id)) is not None:
                raise error
        finally:
            del self._outcomes[task.id]


class SkillRunner(RARKKernel):
    """A kernel that runs the skills itself."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._runs.default = None

    async def _report(self, task_id: str, error: SkillFailed | None) -> None:
        """Always raises TaskError: ending the task would free resources that its skill uses."""
        label = self._live_record(task_id).task.label
        raise TaskError(f'Task {label} ends when its skill does; cancel it to end it before')


class SQLiteStore:
    """Tasks by upsert() and load_all(). ``path`` ':memory:' is not durable. Raises StoreError."""

    def __init__(self, path: str = ':memory:') -> None:
        self._store = TaskStore(path)
        self._states: dict[str, LifecycleState] = {}
        self._seq = 0

    def load_all(self) -> list[Task]:
        """Open the file and return its tasks, the ended ones last. Call it first, and once."""
        tasks = [*self._store.open(), *reversed(self._store.last(MAX_ENDED_TASKS))]
        self._states = {task.id: task.state for task in tasks}
        self._seq = self._store.next_seq()
        return tasks

    async def upsert(self, task: Task) -> None:
        """Store ``task`` as it is now; returns once it is on the disk."""
        before, self._states[task.id] = self._states.get(task.id), task.state
        if before is None:
            task.seq, self._seq = self._seq, self._seq + 1
        await self._store.write([Change(task, before)])

    async def close(self) -> None:
        await self._store.close()
