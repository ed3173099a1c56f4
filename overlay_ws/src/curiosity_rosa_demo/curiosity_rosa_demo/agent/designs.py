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
import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from curiosity_rosa_demo.agent.kernel import loop as kernel
from curiosity_rosa_demo.agent.kernel.telemetry_sync import KernelRules
from curiosity_rosa_demo.agent.react import act, think
from curiosity_rosa_demo.agent.react.answer import ask
from curiosity_rosa_demo.agent.react.loop import TurnExecutor
from curiosity_rosa_demo.agent.skills.executor import SkillExecutor
from curiosity_rosa_demo.agent.tasks.engine import MAX_ENDED_TASKS
from curiosity_rosa_demo.agent.tasks.kernel import RARKKernel as RARKKernel
from curiosity_rosa_demo.agent.tasks.ready_queue import rank_of, ReadyQueue
from curiosity_rosa_demo.agent.tasks.store import TaskStore
from curiosity_rosa_demo.agent.tasks.store_writer import Insert, Move, Save
from curiosity_rosa_demo.agent.tasks.task import Task, UnknownTask
from curiosity_rosa_demo.domain.brain_state import BrainState, Json
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import LightScore, Model, Stamp
from curiosity_rosa_demo.domain.task_state import LifecycleState


class MastState(Model):
    is_open: bool | None  # None: unknown, which counts as open
    yaw_rad: float | None = None


class CaptureResult(LightScore):
    """A successful capture: its score and the topic of its picture."""

    image_topic: str
    stamp: Stamp = Stamp()


class IStateManager(ABC):
    """Holds one BrainState."""

    @abstractmethod
    def get_state(self) -> BrainState: ...

    @abstractmethod
    def update_state(self, updates: dict[str, Any]) -> BrainState:
        """Replace the parts that ``updates`` names, by models or by dicts of all their fields.
        Raises ValidationError and keeps the previous state.
        """

    @abstractmethod
    def serialize(self) -> str: ...

    @abstractmethod
    def deserialize(self, data: str) -> BrainState:
        """Replace the state by the one in ``data``. Raises SerdeError and keeps the old one."""


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
    def execute(self, state: BrainState) -> BrainState: ...


@dataclass(frozen=True)
class _KernelNode(IKernelNode):
    name: str
    function: kernel.Node

    def execute(self, state: BrainState) -> BrainState:
        return self.function(state)


def kernel_nodes(rules: KernelRules) -> list[_KernelNode]:
    """The six nodes in execution order, for use in another graph."""
    return [_KernelNode(name, function) for name, function in kernel.nodes(rules).items()]


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
    'stop_or_loop': lambda it, done: act.end_or_go_on(it.turn, it.env, done),
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

    def __init__(self, executor: SkillExecutor, cancellation: Cancellation) -> None:
        self._executor, self._cancellation = executor, cancellation

    async def dispatch(self, skill_name: str, params: Json) -> str:
        return await self._executor.dispatch(skill_name, params, self._cancellation)

    async def cancel(self, goal_id: str) -> bool:
        return await self._executor.cancel(goal_id)

    async def get_feedback(self, goal_id: str) -> Json:
        return await self._executor.get_feedback(goal_id)

    async def get_result(self, goal_id: str) -> Json:
        return (await self._executor.get_result(goal_id)).model_dump(mode='json')


class Scheduler:
    """Higher priority first, then the earlier add(). A suspended task keeps its place."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._numbers: dict[str, int] = {}
        self._ready = ReadyQueue()

    def register(self, task: Task) -> None:  # for get(), without queueing it
        self._tasks[task.id] = task

    def add(self, task: Task) -> None:
        self.register(task)
        number = self._numbers.setdefault(task.id, len(self._numbers))
        self._ready.add(task.id, (rank_of(task, 0.0), True, number), frozenset())

    def pick_next(self) -> Task | None:
        """Take the first PENDING or PAUSED task from the queue; None if it has none."""
        waiting = (LifecycleState.PENDING, LifecycleState.PAUSED)
        taken = (self._tasks[task_id] for task_id in iter(self._ready.pop_next, None))
        return next((task for task in taken if task.state in waiting), None)

    def suspend(self, task_id: str) -> None:
        """ACTIVE becomes PAUSED, and is queued. Raises UnknownTask, IllegalTransition."""
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
        if before is None:
            task.seq, self._seq = self._seq, self._seq + 1
            await self._store.write([Insert(task)])
        else:
            await self._store.write([Save(task) if before is task.state else Move(task, before)])

    async def close(self) -> None:
        await self._store.close()
