# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The implementation of Robot (agent/runtime/robot.py) for HTTP, page and action.

All methods are thread-safe and never block the caller's loop. Work on tasks runs in the runtime's
loop and is awaited. A console line, which may block, runs in a separate thread. A stop is sent
from a thread of its own, and waits for no loop and no other caller.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from functools import partial
import time
from typing import Any, Protocol, TypeVar

from curiosity_rosa_demo.agent.llm.budget import usage_json, usage_line
from curiosity_rosa_demo.agent.react.ask import QuestionNotFound
from curiosity_rosa_demo.agent.react.texts import short_id
from curiosity_rosa_demo.agent.runtime.action_dispatcher import MessageReply
from curiosity_rosa_demo.agent.runtime.approvals import find_question
from curiosity_rosa_demo.agent.runtime.console_port import console_status, ConsolePort, Submission
from curiosity_rosa_demo.agent.runtime.execution.session import AgentSession
from curiosity_rosa_demo.agent.runtime.execution.task_origin import ASKED_BY_KEY, door_of
from curiosity_rosa_demo.agent.runtime.robot import LineResult, RobotBusy
from curiosity_rosa_demo.agent.runtime.runtime import Runtime
from curiosity_rosa_demo.agent.runtime.session_recorder import EarlierSession, MAX_PLACES
from curiosity_rosa_demo.agent.runtime.threads.event_loop_thread import CALL_TIMEOUT_S
from curiosity_rosa_demo.agent.skills.skill import Skill
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.task import OrderRefused, TaskError
from curiosity_rosa_demo.agent.tasks.texts import task_summary
from curiosity_rosa_demo.agent.topics.camera import CameraFeed
from curiosity_rosa_demo.agent.topics.captures import Analyses, Captures
from curiosity_rosa_demo.agent.topics.node_health import NodeHealth
from curiosity_rosa_demo.domain.adapter_status import (
    NodeStatus,
    NoTriggers,
    Triggers,
    TriggerStatus,
)
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, BrainState, Json, Question
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent
from curiosity_rosa_demo.domain.origin import caller_text, named_caller, operator_name, Origin
from curiosity_rosa_demo.domain.pictures import AnalyzedGround, Capture, MAX_CAPTURES, Picture
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.domain.text import printable
from curiosity_rosa_demo.drawing.columns import clip_columns
from curiosity_rosa_demo.drawing.trail import Trail
from curiosity_rosa_demo.infra.event_thread import run_in_thread
from curiosity_rosa_demo.trace.trace_buffer import EventBus

T = TypeVar('T')

HTTP_CLIENT_NAME = 'http'  # name of these clients on the console
MAX_TASK_COLUMNS = 200  # of a submitted task, as the console shows it
STOP_OVERTOOK_TEXT = 'A stop came first; the request had no effect.'
WITHDRAWN = 'its caller was told that nobody answered'
NOT_READY_TEXT = 'The other nodes are not up yet; try again in a few seconds.'


class AutonomyStatus(Protocol):
    def status_text(self) -> str:
        """A text about the autonomy: whether it is on, and its activity."""

    @property
    def is_on(self) -> bool:
        """Whether the agent acts on its own."""


class RobotService:
    """``kernel_max_age_s``: the kernel is unhealthy when its last tick is older.
    ``earlier_events`` and ``earlier``: of the agent that ran before this one.

    ``clock_problem``: why no motion can be timed; '' without simulated time, or while it advances.
    """

    def __init__(
        self,
        runtime: Runtime,
        session: AgentSession,
        autonomy: AutonomyStatus,
        console: ConsolePort,
        *,
        camera: CameraFeed,
        captures: Captures,
        analyses: Analyses,
        nodes: NodeHealth,
        pose: Callable[[], RoverPose | None],
        replay: Callable[[], str],
        kernel_max_age_s: float,
        clock_problem: Callable[[], str] = lambda: '',
        triggers: Triggers | None = None,
        console_texts: EventBus | None = None,
        earlier_events: Sequence[TraceEvent] = (),
        earlier: EarlierSession | None = None,
    ) -> None:
        self._console_texts = console_texts or EventBus()
        self._runtime, self._session = runtime, session
        self._autonomy, self._console = autonomy, console
        self._camera, self._captures, self._nodes = camera, captures, nodes
        self._analyses = analyses
        self._pose, self._replay, self._kernel_max_age_s = pose, replay, kernel_max_age_s
        self._earlier_events = tuple(earlier_events)
        self._clock_problem, self._triggers = clock_problem, triggers or NoTriggers()
        earlier = earlier or EarlierSession()
        self._trail = Trail(MAX_PLACES, earlier.trail)
        self._trail_points = self._trail.points()
        self._earlier_captures = tuple(earlier.captures)
        self._last_tick_s: float | None = None
        self.startup_failure = ''  # why no task will run; empty: the startup has not failed

    def record_tick(self) -> None:
        """Record the time and the position. Called in the runtime's loop after each tick."""
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

    async def rehearse(self, task: Task) -> Rehearsal | None:
        return await run_in_thread('rehearsal', partial(self._session.rehearse_task, task))

    def skills(self) -> Sequence[Skill]:
        return self._runtime.skills()

    @property
    def stop_count(self) -> int:
        return self._runtime.stop_count

    async def submit(self, task: Task, *, stops: int | None = None, by: str = '') -> Task:
        why = self.not_ready_reason()
        if why:
            raise RobotBusy(why)
        shown = clip_columns(printable(task_summary(task)), MAX_TASK_COLUMNS)
        self._console.print_notice(f'({door_of(task) or HTTP_CLIENT_NAME}) {shown}{_by(by)}')
        if name := named_caller(by):
            task.metadata[ASKED_BY_KEY] = name
        submission = Submission(partial(self._runtime.cancel_soon, task.id, WITHDRAWN))
        stops = self._runtime.stop_count if stops is None else stops
        self._runtime.submit_task(task, submission.settle, stops, submission.wanted)
        try:
            reply = await _result_in_time(submission.reply)
        except asyncio.CancelledError:  # of a call whose caller was told that nobody answered
            late = submission.withdraw()
            if late is not None and late.task is not None:
                self._runtime.cancel_soon(late.task.id, WITHDRAWN)
            raise
        except RobotBusy:
            late = submission.withdraw()
            if late is None:
                raise
            reply = late
        if reply.task is None:
            raise (OrderRefused if reply.refused else TaskError)(_reply_text(reply))
        return reply.task

    def order_refusal(self, skill: str) -> str:
        return self._runtime.order_refusal(skill)

    # --- operator and clients -----------------------------------------------------------------

    def begin_stop(self, by: str) -> Future[Outcome]:
        outcome = self._console.begin_stop(by)  # first: nothing may delay it
        self._console.print_notice(f'({HTTP_CLIENT_NAME}) stop{_by(by)}')
        return outcome

    async def stop(self, by: str) -> Outcome:
        return await _wrapped_future(self.begin_stop(by))

    async def say(
        self, text: str, origin: Origin = Origin.HTTP, client: str = '', operator: str = ''
    ) -> LineResult:
        door = '' if origin is Origin.HTTP else origin.value
        by = caller_text(client or door, operator)
        if not operator_name(operator):
            by = f'{origin.value} {client}'.rstrip()
        future: Future[MessageReply] = _new_future()
        await run_in_thread(
            'say',
            partial(
                self._console.handle_remote_line,
                text,
                by,
                partial(_set_result, future),
                origin,
            ),
        )
        reply = await _result_in_time(future)
        return LineResult(reply.ok and not reply.dropped, _reply_text(reply), reply.task)

    async def answer(
        self,
        question_id: str,
        action: ApprovalAction,
        arguments: Json | None,
        why: str,
        *,
        by: str = '',
    ) -> Outcome:
        if not question_id:
            raise QuestionNotFound('Which question? Its id is missing.')
        asked = find_question(self.questions(), question_id)
        if arguments is not None and asked.op is not None:
            # Approvals refuses them as well; here the client learns it as a BadTask.
            self._runtime.make_task(asked.op.skill, arguments)
        self._console.print_notice(
            f'({HTTP_CLIENT_NAME}) {action.value.lower()} {short_id(asked)}{_by(by)}'
        )
        payload: Json = {'action': action.value, 'id': asked.id, 'why': why, 'by': by}
        if arguments is not None:
            payload = {**payload, 'arguments': arguments}
        message: Json = {'intent': 'APPROVAL', 'payload': payload}
        future: Future[MessageReply] = _new_future()
        stops = self._runtime.stop_count
        self._runtime.post_message(message, partial(_set_result, future), stops)
        reply = await _result_in_time(future)
        return Outcome(reply.ok, _reply_text(reply))

    def questions(self) -> Sequence[Question]:
        return self._runtime.shown_questions

    def approval_deadline(self, question: Question) -> float | None:
        # a task that waits for approval has no time-out
        approval_queue = self._session.approval_queue
        is_open = any(each.id == question.id for each in approval_queue.questions)
        return question.asked_at + approval_queue.timeout_s if is_open else None

    # --- queries --------------------------------------------------------------------------------

    def state(self) -> BrainState:
        return self._runtime.state.model_copy(update={'react': self._session.react_state})

    def pose(self) -> RoverPose | None:
        return self._pose()

    def trail(self) -> Sequence[tuple[float, float]]:
        return self._trail_points

    def captures(self) -> Sequence[Capture]:
        return [*self._earlier_captures, *self._captures.recent()][-MAX_CAPTURES:]

    def ground(self) -> AnalyzedGround | None:
        return self._analyses.newest()

    @property
    def event_bus(self) -> EventBus:
        return self._runtime.runner.event_bus

    @property
    def console_texts(self) -> EventBus:
        return self._console_texts

    def console_status(self) -> str:
        return console_status(self._console, self._session)

    def earlier_events(self) -> Sequence[TraceEvent]:
        return self._earlier_events

    def picture(self) -> Picture | None:
        return self._camera.picture()

    def node_statuses(self) -> Sequence[NodeStatus]:
        ticked_s = self._last_tick_s
        age = None if ticked_s is None else time.monotonic() - ticked_s
        alive = age is not None and age <= self._kernel_max_age_s and not self._runtime.failure
        failed, clock = str(self._runtime.runner.failed or ''), self._clock_problem()
        return [
            *self._nodes.node_statuses(),
            NodeStatus('kernel', alive, age, self._runtime.failure),
            NodeStatus('tasks', not failed, None, failed),
            *([NodeStatus('clock', False, None, clock)] if clock else []),
        ]

    def not_ready_reason(self) -> str:
        why = (
            self.startup_failure or self._runtime.failure or str(self._runtime.runner.failed or '')
        )
        return why or ('' if self._console.is_ready else NOT_READY_TEXT)

    def triggers(self) -> Sequence[TriggerStatus]:
        return self._triggers.statuses()

    def switch_trigger(self, name: str, on: bool, *, by: str = '') -> TriggerStatus:
        status, switched = self._triggers.switch(name, on), 'on' if on else 'off'
        self._console.print_notice(f'({HTTP_CLIENT_NAME}) trigger {name} {switched}{_by(by)}')
        return status

    def replay_text(self) -> str:
        return self._replay()

    def autonomy_status(self) -> str:
        return self._autonomy.status_text()

    def autonomy_is_on(self) -> bool:
        return self._autonomy.is_on

    def usage(self) -> Json:
        usage = self._session.usage
        return usage_json(usage.llm, usage.report())

    def usage_text(self) -> str:
        usage = self._session.usage
        return usage_line(usage.llm, usage.report())


def _new_future() -> Future[Any]:
    """A future for ``_set_result``. A caller may stop waiting for it, but cannot cancel it."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    return future


def _set_result(future: Future[T], value: T) -> None:
    if not future.done():
        future.set_result(value)


def _by(caller: str) -> str:
    return f', by {caller}' if caller else ''


def _reply_text(reply: MessageReply) -> str:
    return STOP_OVERTOOK_TEXT if reply.dropped else '\n'.join(reply.lines)


def _wrapped_future(future: Future[T]) -> asyncio.Future[T]:
    """``future`` for the caller's loop. asyncio does not log its exception as unretrieved."""
    done = asyncio.wrap_future(future)
    done.add_done_callback(lambda _: done.cancelled() or done.exception())
    return done


async def _result_in_time(future: Future[T]) -> T:
    """Await ``future`` in the caller's loop. Raises its exception. After CALL_TIMEOUT_S cancels
    ``future`` and raises RobotBusy.
    """
    done = _wrapped_future(future)
    await asyncio.wait([done], timeout=CALL_TIMEOUT_S)
    if not done.done():
        done.cancel()
        raise RobotBusy(f'No answer within {CALL_TIMEOUT_S:g} s; try again; a stop still works')
    return done.result()
