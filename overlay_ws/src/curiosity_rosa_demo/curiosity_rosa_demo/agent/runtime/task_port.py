# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The tasks as every door sees them: order, list, follow, cancel, pause, resume, prioritise."""

from __future__ import annotations

from abc import ABC, abstractmethod
import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from curiosity_rosa_demo.agent.runtime.threads import CALL_TIMEOUT_S
from curiosity_rosa_demo.agent.tasks import Event, LifecycleState, SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.store import HistoryRow
from curiosity_rosa_demo.agent.tasks.task import (
    CannotBeCancelled,
    TaskError,
    UnknownTask,
)
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.trace.events import SkillProgressed
from curiosity_rosa_demo.trace.trace_buffer import EventBus, Subscription

T = TypeVar('T')
RETRY_PERIOD_S = 1.0  # of a cancellation that is refused now


class RobotBusy(TaskError):
    """The agent did not answer in time. The client may retry the request."""


class TaskPort(ABC):
    """Call the methods in any loop: their work runs in that of ``runner``. They raise TaskError.
    The tasks that they return go on to change, in whole steps; only the runner changes them.
    """

    def __init__(self, runner: SkillRunner) -> None:
        self._runner = runner

    @abstractmethod
    def call(self, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
        """Run ``work`` in the runner's loop. Raises its exceptions, and RobotBusy after a
        time-out; ``work`` is then cancelled.
        """

    @property
    def event_bus(self) -> EventBus:
        """The trace events of all nodes and the events of the tasks."""
        return self._runner.event_bus

    @property
    def store_failure(self) -> str:
        """Why no task can be stored now; '': they can be."""
        return str(self._runner.failed or '')

    # --- orders -------------------------------------------------------------------------------

    async def order(self, task: Task, *, stops: int | None = None, by: str = '') -> Task:
        """Submit a task and return it, or the earlier one with its idempotency_key, once it is
        stored. ``stops``: of the robot, after which it is refused. ``by`` names the caller.
        """
        return await self.call(self._runner.submit(task))

    async def interrupt(self, task: Task, *, by: str = '') -> Task:
        """As ``order``, at once: running tasks that need its resources are paused before the
        return.
        """
        return await self.call(self._runner.interrupt(task))

    async def cancel(self, task_id: str, reason: str = '') -> Task:
        """Cancel a task; returns after its skill has cleaned up. Raises CannotBeCancelled, and
        TaskError when it had ended in another way.
        """

        async def cancel() -> Task:
            await self._runner.cancel(task_id, reason)
            task = self._known(task_id)
            if task.state is not LifecycleState.CANCELLED:
                raise TaskError(f'The task has ended before: {task.state.name}')
            return task

        return await self.call(cancel())

    async def cancel_when_possible(self, task: Task, reason: str) -> None:
        """Cancel a task. A skill that cannot be cancelled runs to its end; this tries again
        meanwhile, in case the task is to run again.
        """
        while not task.terminal:
            try:
                await self.cancel(task.id, reason)
            except (CannotBeCancelled, RobotBusy):
                await asyncio.sleep(RETRY_PERIOD_S)
            except TaskError:  # it has ended meanwhile, or the agent ends
                return

    async def pause(self, task_id: str, reason: str = '') -> Task:
        """Hold a task until ``resume``. A skill that cannot be cancelled runs to its end."""
        return await self._changed(task_id, lambda: self._runner.pause(task_id, reason))

    async def resume(self, task_id: str, *, by: str = '') -> Task:
        """Let a paused or held task run again."""
        return await self._changed(task_id, lambda: self._runner.resume(task_id))

    async def prioritise(self, task_id: str, priority: int, *, by: str = '') -> Task:
        """Change the priority of a task that does not run."""
        return await self._changed(task_id, lambda: self._runner.reprioritise(task_id, priority))

    # --- what is known ------------------------------------------------------------------------

    async def tasks(self) -> list[Task]:
        """All unfinished tasks and the newest ended ones, in the order of their submission."""
        return await self._read(self._runner.list_tasks)

    async def task(self, task_id: str) -> Task:
        return await self._read(lambda: self._known(task_id))

    async def history(self, task_id: str) -> list[HistoryRow]:
        """The changes of its state, the oldest first."""
        return await self._read(lambda: self._runner.history(task_id))

    async def task_counts(self) -> Mapping[str, int]:
        """How often each thing has happened to tasks since the start."""
        return await self._read(lambda: self._runner.counters)

    def follow(self, task: Task, after: int) -> Following:
        """What happens to ``task`` after the event ``after`` of ``event_bus``."""
        return Following(self.event_bus, task, after)

    def _known(self, task_id: str) -> Task:
        if (task := self._runner.get_task(task_id)) is None:
            raise UnknownTask(task_id)
        return task

    async def _read(self, read: Callable[[], T]) -> T:
        async def in_loop() -> T:
            return read()

        return await self.call(in_loop())

    async def _changed(self, task_id: str, work: Callable[[], Awaitable[object]]) -> Task:
        async def change() -> Task:
            await work()
            return self._known(task_id)

        return await self.call(change())


class Following:
    """The events of a task, and what is traced meanwhile, except the progress of other tasks.
    Make it and use it in one loop, in a ``with``.
    """

    def __init__(self, bus: EventBus, task: Task, after: int) -> None:
        self._task_id, self._changed = task.id, asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._reader = Subscription(bus, 'a followed task', object, after=after, wake=self.wake)

    def wake(self) -> None:
        """End a wait for news. Thread-safe."""
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._changed.set)

    async def news(self, timeout_s: float) -> list[Event | TraceEvent]:
        """Those since the last call, in their order; waits for one, ``timeout_s`` at most."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._changed.wait(), timeout_s)
        self._changed.clear()
        return self.read()

    def read(self) -> list[Event | TraceEvent]:
        """Those since the last call. What the bus has dropped meanwhile is missing."""
        return [*self._of_the_task(each.event for each in self._reader.read().events)]

    def _of_the_task(self, events: Iterable[object]) -> Iterable[Event | TraceEvent]:
        for event in events:
            if isinstance(event, Event):
                if event.task_id == self._task_id:
                    yield event
            elif isinstance(event, TraceEvent):
                progressed = SkillProgressed.of(event)
                if progressed is None or progressed.task_id == self._task_id:
                    yield event

    def __enter__(self) -> Following:
        self.wake()  # for what has happened already
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()


class LocalTasks(TaskPort):
    """A runner without a robot, in the loop of its only door. The first request starts it if
    needed; its tasks run within ``running``.
    """

    async def call(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            await self._runner.start()
            return await work
        finally:
            work.close()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the tasks within the context, then stop the runner."""
        await self._runner.start()
        loop = asyncio.create_task(self._runner.run_loop())
        try:
            yield
        finally:
            await self._runner.stop()
            await loop


# --- For a caller in another loop --------------------------------------------------------------


def wrapped_future(future: Future[T]) -> asyncio.Future[T]:
    """``future`` for the caller's loop. asyncio does not log its exception as unretrieved."""
    done = asyncio.wrap_future(future)
    done.add_done_callback(lambda _: done.cancelled() or done.exception())
    return done


async def result_in_time(future: Future[T]) -> T:
    """Await ``future`` in the caller's loop. Raises its exception. Cancels ``future`` when the
    caller is cancelled, and after CALL_TIMEOUT_S: it then raises RobotBusy.
    """
    done = wrapped_future(future)
    try:
        await asyncio.wait([done], timeout=CALL_TIMEOUT_S)
        if not done.done():
            raise RobotBusy(
                f'No answer within {CALL_TIMEOUT_S:g} s; try again; a stop still works'
            )
        return done.result()
    finally:
        done.cancel()  # without effect on a result
