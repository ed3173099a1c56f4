# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The names that the designs published, for code that was written against them.

The product uses none of them but RARKKernel, the base of its SkillRunner.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, TypedDict

from curiosity_rosa_demo.agent.kernel import loop as kernel
from curiosity_rosa_demo.agent.react import graph as react
from curiosity_rosa_demo.agent.react.nodes.human_approval import human_approval, put_question
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.skills.executor import SkillExecutor
from curiosity_rosa_demo.agent.tasks.engine import MAX_ENDED_TASKS
from curiosity_rosa_demo.agent.tasks.kernel import RARKKernel as RARKKernel
from curiosity_rosa_demo.agent.tasks.ready_queue import rank_of, ReadyQueue
from curiosity_rosa_demo.agent.tasks.store import TaskStore
from curiosity_rosa_demo.agent.tasks.store_writer import Change, Insert, Move, Save
from curiosity_rosa_demo.agent.tasks.task import Task, UnknownTask
from curiosity_rosa_demo.domain.brain_state import BrainState, Json
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import LightScore, Model, Stamp
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.infra.config.limits import Thresholds
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph


class MastState(Model):
    """State of the mast. ``is_open`` is None when unknown, which counts as open."""

    is_open: bool | None
    yaw_rad: float | None = None


class CaptureResult(LightScore):
    """A successful capture: its score and the topic of its picture."""

    image_topic: str
    stamp: Stamp = Stamp()


class IStateManager(ABC):
    """Holds one BrainState."""

    @abstractmethod
    def get_state(self) -> BrainState:
        """The current state."""

    @abstractmethod
    def update_state(self, updates: dict[str, Any]) -> BrainState:
        """Replace the parts that ``updates`` names, by models or by dicts of all their fields, and
        return the new state. Raises ValidationError and keeps the previous state.
        """

    @abstractmethod
    def serialize(self) -> str:
        """The current state as JSON."""

    @abstractmethod
    def deserialize(self, data: str) -> BrainState:
        """Replace the current state by ``data``. Raises SerdeError and keeps the previous one."""


class StateManager(IStateManager):
    """For use outside the kernel. Only the kernel's nodes change the running kernel's state."""

    def __init__(self, state: BrainState | None = None) -> None:
        self._state = state or BrainState()

    def get_state(self) -> BrainState:
        return self._state

    def update_state(self, updates: dict[str, Any]) -> BrainState:
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
    def execute(self, state: BrainState) -> BrainState:
        """The state after this node."""


class Channels(TypedDict):
    brain: BrainState


@dataclass(frozen=True)
class _KernelNode(IKernelNode):
    name: str
    step: kernel.Step
    rules: Thresholds

    def execute(self, state: BrainState) -> BrainState:
        return self.step(state, self.rules)

    def on_channel(self, channels: Channels) -> Channels:
        return {'brain': self.execute(channels['brain'])}


def kernel_nodes(rules: Thresholds) -> list[_KernelNode]:
    """The six nodes in execution order, for use in another graph."""
    return [_KernelNode(step.__name__, step, rules) for step in kernel.STEPS]


def kernel_graph(rules: Thresholds) -> CompiledStateGraph:
    """The six nodes as a graph, which takes and returns ``{'brain': state}``."""
    graph = StateGraph(Channels)
    names = [START]
    for each in kernel_nodes(rules):
        node: Any = each.on_channel  # LangGraph's node type is not public
        graph.add_node(each.name, node)
        graph.add_edge(names[-1], each.name)
        names.append(each.name)
    graph.add_edge(names[-1], END)
    return graph.compile()


class IReActNode(ABC):
    """One node of the agent loop."""

    @abstractmethod
    async def execute(self, state: BrainState) -> BrainState:
        """The state after this node."""


@dataclass(frozen=True)
class _ReActNode(IReActNode):
    name: str
    function: react.Node
    turn: TurnContext

    async def execute(self, state: BrainState) -> BrainState:
        return await self.function(state, self.turn)


def react_nodes(turn: TurnContext) -> list[_ReActNode]:
    """The eight nodes in the order in which they run. ``human_approval`` waits in LangGraph's
    ``interrupt``, so a graph with a checkpointer must run it.
    """
    stages = react.STAGES.values()
    functions = [node for stage in stages for node in stage if node is not put_question]
    return [
        _ReActNode(node.__name__, _approval if node is human_approval else node, turn)
        for node in functions
    ]


async def _approval(state: BrainState, turn: TurnContext) -> BrainState:
    """Ask when the proposed operation needs an answer; otherwise do nothing."""
    if state.react.question is None:
        state = await put_question(state, turn)
    return state if state.react.question is None else await human_approval(state, turn)


class ISkillExecutor(ABC):
    """Runs skills by name."""

    @abstractmethod
    async def dispatch(self, skill_name: str, params: dict[str, Any]) -> str:
        """Start a skill and return the ID of the run."""

    @abstractmethod
    async def cancel(self, goal_id: str) -> bool:
        """Request the end of a run. Return whether the request is accepted."""

    @abstractmethod
    async def get_feedback(self, goal_id: str) -> dict[str, Any]:
        """The last progress report; empty before the first."""

    @abstractmethod
    async def get_result(self, goal_id: str) -> dict[str, Any]:
        """Wait for the end of the run and return its result."""


class JsonSkillExecutor(ISkillExecutor):
    """Adapts a SkillExecutor and raises its errors. ``cancellation`` stops every run of this
    executor and refuses new ones; the owner of a stop button must hold it. A turn's guardrails do
    not check these runs; the adapter's checks apply to them as to all others.
    """

    def __init__(self, executor: SkillExecutor, cancellation: Cancellation) -> None:
        self._executor, self._cancellation = executor, cancellation

    async def dispatch(self, skill_name: str, params: Json) -> str:
        return await self._executor.dispatch(skill_name, params, self._cancellation)

    async def cancel(self, goal_id: str) -> bool:
        return await self._executor.cancel(goal_id)

    async def get_feedback(self, goal_id: str) -> Json:
        return await self._executor.get_feedback(goal_id)

    async def get_result(self, goal_id: str) -> Json:
        """A SkillResult as JSON: status, error_code, error_msg and metrics."""
        result = await self._executor.get_result(goal_id)
        return result.model_dump(mode='json')


class Scheduler:
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
            if task.state in (LifecycleState.PENDING, LifecycleState.PAUSED):
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
        change: Change
        if before is None:
            task.seq, self._seq = self._seq, self._seq + 1
            change = Insert(task)
        else:
            change = Save(task) if before is task.state else Move(task, before)
        await self._store.write([change])

    async def close(self) -> None:
        await self._store.close()
