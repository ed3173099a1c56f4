# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the HTTP API and the page can ask of this agent: a Robot (agent/runtime/robot.py).

Called from the HTTP server's loop, and from any other thread. Nothing waits in the caller's loop:
what belongs to the runtime's loop is handed to it and awaited; what blocks, such as a stop or a
line for the console, gets a thread of its own, so that a stop never waits for another caller.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from functools import partial
import threading
import time
from typing import Any, Protocol, TypeVar

from curiosity_rosa_demo.agent.react.turn.approval_queue import QuestionNotFound
from curiosity_rosa_demo.agent.react.turn.texts import short_id
from curiosity_rosa_demo.agent.runtime.action_dispatcher import MessageReply, ReplyCallback
from curiosity_rosa_demo.agent.runtime.approvals import find_question
from curiosity_rosa_demo.agent.runtime.execution.session import AgentSession
from curiosity_rosa_demo.agent.runtime.operator_console import OperatorConsole
from curiosity_rosa_demo.agent.runtime.robot import LineResult, RobotBusy
from curiosity_rosa_demo.agent.runtime.runtime import Runtime
from curiosity_rosa_demo.agent.runtime.threads.event_loop_thread import CALL_TIMEOUT_S
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.errors import TaskError
from curiosity_rosa_demo.agent.topics.camera import CameraFeed
from curiosity_rosa_demo.agent.topics.captures import Captures
from curiosity_rosa_demo.agent.topics.node_health import NodeHealth
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, BrainState, Json, Question
from curiosity_rosa_demo.domain.health import NodeStatus
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent
from curiosity_rosa_demo.domain.outcome import Outcome
from curiosity_rosa_demo.domain.pictures import Capture, Picture
from curiosity_rosa_demo.drawing.trail import Trail
from curiosity_rosa_demo.trace.bus import TraceBus

T = TypeVar('T')

HTTP_CLIENT_NAME = 'http'  # how the console calls what came by this way
MAX_TRAIL_POINTS = 2000  # places
STOP_OVERTOOK_TEXT = 'A stop came first; the request had no effect.'
NOT_READY_TEXT = 'The other nodes are not up yet; try again in a few seconds.'


class AutonomyStatus(Protocol):
    def status_text(self) -> str:
        """What is done unasked, in words."""


class RobotService:
    """``kernel_max_age_s``: a kernel that has not looked for longer is not well."""

    def __init__(
        self,
        runtime: Runtime,
        session: AgentSession,
        autonomy: AutonomyStatus,
        console: OperatorConsole,
        *,
        event_bus: TraceBus,
        camera: CameraFeed,
        captures: Captures,
        nodes: NodeHealth,
        pose: Callable[[], RoverPose | None],
        kernel_max_age_s: float,
    ) -> None:
        self._runtime, self._session = runtime, session
        self._autonomy, self._console = autonomy, console
        self._event_bus, self._camera, self._captures, self._nodes = (
            event_bus,
            camera,
            captures,
            nodes,
        )
        self._pose, self._kernel_max_age_s = pose, kernel_max_age_s
        self._trail = Trail(MAX_TRAIL_POINTS)
        self._trail_points: tuple[tuple[float, float], ...] = ()
        self._last_tick_s: float | None = None
        self.startup_failure = ''  # why no task will run, once that is known

    def record_tick(self) -> None:
        """After each tick of the kernel, in its loop."""
        self._last_tick_s = time.monotonic()
        robot = self._runtime.state.robot
        if 'odometry' not in robot.heard or 'odometry' in robot.silent:
            return
        if self._trail.add(robot.pose.x, robot.pose.y):
            self._trail_points = self._trail.points()

    # --- tasks --------------------------------------------------------------------------------

    def call(self, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
        return _result_in_time(self._runtime.begin_call(work))

    def make_task(self, name: str, arguments: dict[str, Any]) -> Task:
        return self._runtime.make_task(name, arguments)

    async def submit(self, task: Task) -> Task:
        why = self.not_ready_reason()
        if why:
            raise RobotBusy(why)
        reply = await self._reply_to(partial(self._runtime.submit_task, task))
        if reply.task is None:
            raise TaskError(_reply_text(reply))
        return reply.task

    # --- a person -----------------------------------------------------------------------------

    async def stop(self, by: str) -> Outcome:
        self._console.print_notice(f'({HTTP_CLIENT_NAME}) stop, by {by}')
        return await _run_in_thread(partial(self._console.stop, by), 'stop')

    async def say(self, text: str) -> LineResult:
        told: Future[MessageReply] = _new_future()
        await _run_in_thread(
            partial(
                self._console.handle_remote_line,
                text,
                HTTP_CLIENT_NAME,
                partial(_set_result, told),
            ),
            'say',
        )
        reply = await _result_in_time(told)
        return LineResult(reply.ok and not reply.dropped, _reply_text(reply), reply.task)

    async def answer(
        self, question_id: str, action: ApprovalAction, arguments: Json | None, why: str
    ) -> Outcome:
        if not question_id:
            raise QuestionNotFound('Which question? Its id is missing.')
        asked = find_question(self.questions(), question_id)
        self._console.print_notice(
            f'({HTTP_CLIENT_NAME}) {action.value.lower()} {short_id(asked)}'
        )
        payload: Json = {'action': action.value, 'id': asked.id, 'why': why}
        if arguments is not None:
            payload = {**payload, 'arguments': arguments}
        message: Json = {'intent': 'APPROVAL', 'payload': payload}
        reply = await self._reply_to(partial(self._runtime.post_message, message))
        return Outcome(reply.ok, _reply_text(reply))

    def questions(self) -> Sequence[Question]:
        return self._runtime.shown_questions

    def approval_deadline(self, question: Question) -> float | None:
        # a task that waits for approval has no time-out
        approval_queue = self._session.approval_queue
        on_desk = any(each.id == question.id for each in approval_queue.questions)
        return question.asked_at + approval_queue.timeout_s if on_desk else None

    # --- what there is to know ------------------------------------------------------------------

    def state(self) -> BrainState:
        return self._runtime.state.model_copy(update={'react': self._session.react_state})

    def pose(self) -> RoverPose | None:
        return self._pose()

    def trail(self) -> Sequence[tuple[float, float]]:
        return self._trail_points

    def captures(self) -> Sequence[Capture]:
        return self._captures.recent()

    def events(self, count: int | None = None) -> Sequence[TraceEvent]:
        return self._event_bus.recent(count)

    def subscribe(self, listener: Callable[[TraceEvent], None]) -> Callable[[], None]:
        return self._event_bus.subscribe(listener)

    def picture(self) -> Picture | None:
        return self._camera.picture()

    def node_statuses(self) -> Sequence[NodeStatus]:
        ticked_s = self._last_tick_s
        age = None if ticked_s is None else time.monotonic() - ticked_s
        alive = age is not None and age <= self._kernel_max_age_s and not self._runtime.failure
        failed = str(self._runtime.runner.failed or '')
        return [
            *self._nodes.node_statuses(),
            NodeStatus('kernel', alive, age, self._runtime.failure),
            NodeStatus('tasks', not failed, None, failed),
        ]

    def not_ready_reason(self) -> str:
        why = (
            self.startup_failure or self._runtime.failure or str(self._runtime.runner.failed or '')
        )
        return why or ('' if self._console.is_ready else NOT_READY_TEXT)

    def autonomy_status(self) -> str:
        return self._autonomy.status_text()

    async def _reply_to(self, ask: Callable[[ReplyCallback, int], None]) -> MessageReply:
        told: Future[MessageReply] = _new_future()
        ask(partial(_set_result, told), self._runtime.stop_count)
        return await _result_in_time(told)


def _new_future() -> Future[Any]:
    """For ``_set_result``; whoever waits for it may give up, but not cancel it."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    return future


def _set_result(future: Future[T], value: T) -> None:
    if not future.done():
        future.set_result(value)


def _reply_text(reply: MessageReply) -> str:
    return STOP_OVERTOOK_TEXT if reply.dropped else '\n'.join(reply.lines)


def _wrapped_future(future: Future[T]) -> asyncio.Future[T]:
    """For the caller's loop, which does not complain when nobody is left to hear of an error."""
    done = asyncio.wrap_future(future)
    done.add_done_callback(lambda _: done.cancelled() or done.exception())
    return done


async def _result_in_time(future: Future[T]) -> T:
    """Its result, in the caller's loop; what it raises. After a time-out it is cancelled, and
    NoAnswer is raised.
    """
    done = _wrapped_future(future)
    await asyncio.wait([done], timeout=CALL_TIMEOUT_S)
    if not done.done():
        done.cancel()
        raise RobotBusy(f'No answer within {CALL_TIMEOUT_S:g} s; try again; a stop still works')
    return done.result()


async def _run_in_thread(work: Callable[[], T], name: str) -> T:
    """What ``work`` returns or raises. A thread of its own, not one of a pool: it waits for nobody
    else's, and does not keep the process from ending.
    """
    result: Future[T] = _new_future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await _wrapped_future(result)
