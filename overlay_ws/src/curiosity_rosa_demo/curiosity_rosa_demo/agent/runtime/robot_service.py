# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the HTTP API and the page can ask of this agent: a Robot (agent/runtime/robot.py).

Called from the HTTP server's loop, and from any other thread. Nothing waits in the caller's loop:
what belongs to the mission's loop is handed to it and awaited; what blocks, such as a stop or a
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

from curiosity_rosa_demo.agent.react.turn.approval_queue import NoQuestion
from curiosity_rosa_demo.agent.react.turn.texts import short_id
from curiosity_rosa_demo.agent.runtime.action_dispatcher import Reply, Then
from curiosity_rosa_demo.agent.runtime.approvals import find
from curiosity_rosa_demo.agent.runtime.execution.session import Session
from curiosity_rosa_demo.agent.runtime.operator_console import OperatorConsole
from curiosity_rosa_demo.agent.runtime.robot import NoAnswer, Said
from curiosity_rosa_demo.agent.runtime.runtime import Mission
from curiosity_rosa_demo.agent.runtime.threads.event_loop_thread import CALL_WAIT_S
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.errors import TaskError
from curiosity_rosa_demo.agent.topics.camera import CameraFeed
from curiosity_rosa_demo.agent.topics.captures import Shots
from curiosity_rosa_demo.agent.topics.node_health import NodeHealth
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, BrainState, Json, Question
from curiosity_rosa_demo.domain.health import Health
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent
from curiosity_rosa_demo.domain.outcome import Outcome
from curiosity_rosa_demo.domain.pictures import Picture, Shot
from curiosity_rosa_demo.drawing.trail import Trail
from curiosity_rosa_demo.trace.bus import EventFeed

T = TypeVar('T')

BY = 'http'  # how the console calls what came by this way
TRAIL = 2000  # places
STOPPED = 'A stop came first; the request had no effect.'
NOT_YET = 'The other nodes are not up yet; try again in a few seconds.'


class AutonomyStatus(Protocol):
    def glance(self) -> str:
        """What is done unasked, in words."""


class MissionControl:
    """``kernel_max_age_s``: a kernel that has not looked for longer is not well."""

    def __init__(
        self,
        mission: Mission,
        session: Session,
        autonomy: AutonomyStatus,
        console: OperatorConsole,
        *,
        feed: EventFeed,
        camera: CameraFeed,
        shots: Shots,
        nodes: NodeHealth,
        pose: Callable[[], RoverPose | None],
        kernel_max_age_s: float,
    ) -> None:
        self._mission, self._session = mission, session
        self._autonomy, self._console = autonomy, console
        self._feed, self._camera, self._shots, self._nodes = feed, camera, shots, nodes
        self._pose, self._kernel_max_age_s = pose, kernel_max_age_s
        self._trail = Trail(TRAIL)
        self._places: tuple[tuple[float, float], ...] = ()
        self._ticked_s: float | None = None
        self.cannot_begin = ''  # why no task will run, once that is known

    def tick(self) -> None:
        """After each tick of the kernel, in its loop."""
        self._ticked_s = time.monotonic()
        robot = self._mission.state.robot
        if 'odometry' not in robot.heard or 'odometry' in robot.silent:
            return
        if self._trail.at(robot.pose.x, robot.pose.y):
            self._places = self._trail.points()

    # --- tasks --------------------------------------------------------------------------------

    def call(self, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
        return _within(self._mission.begin_call(work))

    def make_task(self, name: str, arguments: dict[str, Any]) -> Task:
        return self._mission.task(name, arguments)

    async def submit(self, task: Task) -> Task:
        why = self.ready()
        if why:
            raise NoAnswer(why)
        reply = await self._reply(partial(self._mission.submit, task))
        if reply.task is None:
            raise TaskError(_words(reply))
        return reply.task

    # --- a person -----------------------------------------------------------------------------

    async def stop(self, by: str) -> Outcome:
        self._console.notice(f'({BY}) stop, by {by}')
        return await _in_thread(partial(self._console.stop, by), 'stop')

    async def say(self, text: str) -> Said:
        told: Future[Reply] = _promise()
        await _in_thread(partial(self._console.take, text, BY, partial(_settle, told)), 'say')
        reply = await _within(told)
        return Said(reply.ok and not reply.dropped, _words(reply), reply.task)

    async def answer(
        self, question_id: str, action: ApprovalAction, arguments: Json | None, why: str
    ) -> Outcome:
        if not question_id:
            raise NoQuestion('Which question? Its id is missing.')
        asked = find(self.questions(), question_id)
        self._console.notice(f'({BY}) {action.value.lower()} {short_id(asked)}')
        payload: Json = {'action': action.value, 'id': asked.id, 'why': why}
        if arguments is not None:
            payload = {**payload, 'arguments': arguments}
        message: Json = {'intent': 'APPROVAL', 'payload': payload}
        reply = await self._reply(partial(self._mission.tell, message))
        return Outcome(reply.ok, _words(reply))

    def questions(self) -> Sequence[Question]:
        return self._mission.questions

    def asks_until(self, question: Question) -> float | None:
        desk = self._session.desk  # a task that waits for approval has no time-out
        on_desk = any(each.id == question.id for each in desk.questions)
        return question.asked_at + desk.timeout_s if on_desk else None

    # --- what there is to know ------------------------------------------------------------------

    def state(self) -> BrainState:
        return self._mission.state.model_copy(update={'react': self._session.react})

    def pose(self) -> RoverPose | None:
        return self._pose()

    def trail(self) -> Sequence[tuple[float, float]]:
        return self._places

    def shots(self) -> Sequence[Shot]:
        return self._shots.last()

    def events(self, count: int | None = None) -> Sequence[TraceEvent]:
        return self._feed.last(count)

    def subscribe(self, hear: Callable[[TraceEvent], None]) -> Callable[[], None]:
        return self._feed.follow(hear)

    def picture(self) -> Picture | None:
        return self._camera.picture()

    def health(self) -> Sequence[Health]:
        ticked_s = self._ticked_s
        age = None if ticked_s is None else time.monotonic() - ticked_s
        alive = age is not None and age <= self._kernel_max_age_s and not self._mission.lost
        failed = str(self._mission.runner.failed or '')
        return [
            *self._nodes.nodes(),
            Health('kernel', alive, age, self._mission.lost),
            Health('tasks', not failed, None, failed),
        ]

    def ready(self) -> str:
        why = self.cannot_begin or self._mission.lost or str(self._mission.runner.failed or '')
        return why or ('' if self._console.begun else NOT_YET)

    def auto(self) -> str:
        return self._autonomy.glance()

    async def _reply(self, ask: Callable[[Then, int], None]) -> Reply:
        told: Future[Reply] = _promise()
        ask(partial(_settle, told), self._mission.stops)
        return await _within(told)


def _promise() -> Future[Any]:
    """For ``_settle``; whoever waits for it may give up, but not cancel it."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    return future


def _settle(future: Future[T], value: T) -> None:
    if not future.done():
        future.set_result(value)


def _words(reply: Reply) -> str:
    return STOPPED if reply.dropped else '\n'.join(reply.words)


def _kept(future: Future[T]) -> asyncio.Future[T]:
    """For the caller's loop, which does not complain when nobody is left to hear of an error."""
    done = asyncio.wrap_future(future)
    done.add_done_callback(lambda _: done.cancelled() or done.exception())
    return done


async def _within(future: Future[T]) -> T:
    """Its result, in the caller's loop; what it raises. After a time-out it is cancelled, and
    NoAnswer is raised.
    """
    done = _kept(future)
    await asyncio.wait([done], timeout=CALL_WAIT_S)
    if not done.done():
        done.cancel()
        raise NoAnswer(f'No answer within {CALL_WAIT_S:g} s; try again; a stop still works')
    return done.result()


async def _in_thread(work: Callable[[], T], name: str) -> T:
    """What ``work`` returns or raises. A thread of its own, not one of a pool: it waits for nobody
    else's, and does not keep the process from ending.
    """
    result: Future[T] = _promise()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await _kept(result)
