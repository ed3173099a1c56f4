# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The robot as its doors see it: HTTP, page, action, MCP, triggers and fleet get nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future, InvalidStateError
from functools import partial
import time
from typing import Any, TypeVar

from curiosity_rosa_demo.agent.kernel.hear import Answered, Ordered, Reply
from curiosity_rosa_demo.agent.llm.usage import usage_json, usage_line
from curiosity_rosa_demo.agent.policy.autonomy import Autonomy
from curiosity_rosa_demo.agent.react.ask import QuestionNotFound
from curiosity_rosa_demo.agent.react.texts import question_summary, short_id
from curiosity_rosa_demo.agent.runtime.approvals import find_question
from curiosity_rosa_demo.agent.runtime.runtime import Runtime
from curiosity_rosa_demo.agent.runtime.session import AgentSession
from curiosity_rosa_demo.agent.runtime.session_recorder import EarlierSession, MAX_PLACES
from curiosity_rosa_demo.agent.runtime.task_port import (
    result_in_time,
    RobotBusy,
    TaskPort,
    wrapped_future,
)
from curiosity_rosa_demo.agent.runtime.threads import LoopJobs
from curiosity_rosa_demo.agent.skills.skill import Skill
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.origin import ASKED_BY_KEY, door_of
from curiosity_rosa_demo.agent.tasks.task import OrderRefused, TaskError
from curiosity_rosa_demo.agent.tasks.texts import task_summary
from curiosity_rosa_demo.agent.topics.camera import CameraFeed
from curiosity_rosa_demo.agent.topics.captures import Analyses, Captures
from curiosity_rosa_demo.agent.topics.node_health import NodeHealth
from curiosity_rosa_demo.domain.adapter_status import NodeStatus, TriggerStatus
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, BrainState, Json, Question
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent
from curiosity_rosa_demo.domain.origin import caller_text, named_caller, operator_name, Origin
from curiosity_rosa_demo.domain.pictures import (
    AnalyzedGround,
    Capture,
    MAX_CAPTURES,
    Picture,
    WHOLE,
)
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.domain.text import printable, without_controls
from curiosity_rosa_demo.drawing.columns import clip_columns
from curiosity_rosa_demo.drawing.trail import Trail
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.event_thread import run_in_thread
from curiosity_rosa_demo.recording.recorder import RecordingControl
from curiosity_rosa_demo.trace.trace_buffer import EventBus

T = TypeVar('T')
HTTP_CLIENT_NAME = 'http'  # name of these clients on the console
MAX_TASK_COLUMNS = 200  # of a submitted task, as the console shows it
# Runs a line of a remote client: the line, who sent it, what gets its result once, its door, and
# how many stops there were.
RunLine = Callable[[str, str, Callable[[Reply], None], Origin, int], None]
NOT_READY_TEXT = 'The other nodes are not up yet; try again in a few seconds.'


class Robot(TaskPort):
    """All that a door gets. Every method is thread-safe and returns at once, unless its docstring
    says otherwise. Coroutines run in the caller's own loop; work on tasks runs in that of the
    runtime. A stop is sent from a thread of its own, and waits for no loop and no other caller.

    ``say`` prints at the agent's console. ``recording``: None where nothing can be recorded.
    ``earlier_events`` and ``earlier``: of the agent that ran before this one. ``clock_problem``:
    why no motion can be timed; '' without simulated time, or while it advances.
    """

    def __init__(
        self,
        runtime: Runtime,
        session: AgentSession,
        autonomy: Autonomy,
        config: Config,
        *,
        say: Callable[[str], None],
        camera: CameraFeed,
        captures: Captures,
        analyses: Analyses,
        nodes: NodeHealth,
        pose: Callable[[], RoverPose | None],
        replay: Callable[[], str],
        triggers: Callable[[], Sequence[TriggerStatus]],
        switch_trigger: Callable[[str, bool], TriggerStatus],
        recording: RecordingControl | None = None,
        clock_problem: Callable[[], str] = lambda: '',
        console_texts: EventBus | None = None,
        earlier_events: Sequence[TraceEvent] = (),
        earlier: EarlierSession | None = None,
    ) -> None:
        super().__init__(runtime.runner)
        self._console_texts = console_texts or EventBus()
        self._runtime, self._session = runtime, session
        self.autonomy, self.config, self.recording = autonomy, config, recording
        self.ledger = session.usage  # of the model's calls
        self._say = say
        # For the console, whose threads may wait: as those of their owners.
        self.wait, self.post, self.call_on_end = runtime.call, runtime.post, runtime.call_on_end
        self.subscribe_to_stops = runtime.subscribe_to_stops
        self.make_task = runtime.make_task  # raises BadTask
        self.rover_status, self.recent_events = session.rover_status, session.recent_events
        self.reject_questions = session.approval_queue.reject_all
        self._run_line: RunLine | None = None  # of the console; no door is open before
        self._may_run: Callable[[], bool] = lambda: False
        self._camera, self._captures, self._nodes = camera, captures, nodes
        self._analyses = analyses
        self._pose, self._replay = pose, replay
        self._earlier_events = tuple(earlier_events)
        self._clock_problem = clock_problem
        self.triggers, self._switch_trigger = triggers, switch_trigger
        earlier = earlier or EarlierSession()
        self._trail = Trail(MAX_PLACES, earlier.trail)
        self._trail_points = self._trail.points()
        self._earlier_captures = tuple(earlier.captures)
        self._last_tick_s: float | None = None
        self.startup_failure = ''  # why no task will run; empty: the startup has not failed

    def attach(self, run_line: RunLine, may_run: Callable[[], bool]) -> None:
        """Give ``say`` its console, once. ``may_run``: whether tasks may run."""
        self._run_line, self._may_run = run_line, may_run

    def record_tick(self, state: BrainState) -> None:
        """Record the time and the position. Called in the runtime's loop after each tick."""
        self._last_tick_s = time.monotonic()
        robot = state.robot
        if 'odometry' not in robot.heard or 'odometry' in robot.silent:
            return
        if self._trail.add(robot.pose.x, robot.pose.y):
            self._trail_points = self._trail.points()

    # --- stop, orders and words ---------------------------------------------------------------

    @property
    def stop_count(self) -> int:
        """The stops requested so far."""
        return self._runtime.halt.stops

    def stop(self, by: str, *, tell: bool = True) -> Future[Outcome]:
        """Stop the rover, end all tasks and drop the queued lines. Waits for no loop. The future
        gets the rover's answer, in another thread. ``by`` names the caller; ``tell`` the console.
        """
        outcome = self._runtime.halt.stop(by)  # first: nothing may delay it
        if tell:
            self._notice(f'stop{_by(by)}')
        return outcome

    async def rehearse(self, task: Task) -> Rehearsal | None:
        """What ``task`` is expected to do, by the state now; nothing moves. None: it does not
        drive, or rehearsals are off.
        """
        return await run_in_thread('rehearsal', partial(self._session.rehearse_task, task))

    def order_refusal(self, skill: str) -> str:
        """Why an order for ``skill`` is refused now, in SAFE; '' when it is taken. An empty
        ``skill`` stands for any order that could move the rover.
        """
        return self._runtime.order_refusal(skill)

    async def order(self, task: Task, *, stops: int | None = None, by: str = '') -> Task:
        """Submit a task to the kernel and return it once it is stored. Raises TaskError, for
        example when a stop came first: one since ``stops`` was read, by default since the call.
        ``by`` names the caller, for people, here and below; '': unknown.
        """
        stops = self.stop_count if stops is None else stops
        return await self._order(Ordered(task, stops=stops), by)

    async def interrupt(self, task: Task, *, by: str = '') -> Task:
        """As ``order``, at once: see TaskPort."""
        return await self._order(Ordered(task, stops=self.stop_count, interrupts=True), by)

    async def _order(self, order: Ordered, by: str) -> Task:
        if why := self.not_ready_reason():
            raise RobotBusy(why)
        self._tell_order(order.task, by)
        return await self.call(self._ordered(order))

    def _tell_order(self, task: Task, by: str) -> None:
        shown = clip_columns(printable(task_summary(task)), MAX_TASK_COLUMNS)
        self._notice(f'{shown}{_by(by)}', door_of(task) or HTTP_CLIENT_NAME)
        if name := named_caller(by):
            task.metadata[ASKED_BY_KEY] = name

    async def _ordered(self, order: Ordered) -> Task:
        """In the runtime's loop."""
        self._runtime.post(order)
        try:
            reply = await wrapped_future(order.reply)
        except asyncio.CancelledError:  # its caller was told that nobody answered
            if not order.reply.cancel() and (stored := order.reply.result().task) is not None:
                self._runtime.dispatcher.withdraw(stored)
            raise
        if reply.task is None:
            raise reply.error or TaskError(reply.text)
        return reply.task

    async def resume(self, task_id: str, *, by: str = '') -> Task:
        """As that of TaskPort. Raises OrderRefused in SAFE."""
        if why := self.order_refusal(''):
            raise OrderRefused(why)
        task = await super().resume(task_id)
        self._notice(f'resume {task.id[:8]}{_by(by)}')
        return task

    async def prioritise(self, task_id: str, priority: int, *, by: str = '') -> Task:
        """As that of TaskPort. ``by``: as of ``switch_trigger``."""
        task = await super().prioritise(task_id, priority)
        if by:
            self._notice(f'priority {priority} for {task.id[:8]}{_by(by)}')
        return task

    async def say(
        self,
        text: str,
        origin: Origin = Origin.HTTP,
        client: str = '',
        operator: str = '',
        *,
        stops: int | None = None,
    ) -> Reply:
        """Run a sentence or a command, as at the console. Returns its task or its text.
        ``origin``: the door of a command that orders a skill. ``client``: a name that tells the
        clients of a door apart; the agent asks back, and hears a yes, by client. ``operator``:
        the name of the person. ``stops``: as of ``order``. Raises RobotBusy; a task that comes of
        the line later is withdrawn.
        """
        stops = self.stop_count if stops is None else stops  # before the thread, which may be late
        door = '' if origin is Origin.HTTP else origin.value
        by = caller_text(client or door, operator)
        if not operator_name(operator):
            by = f'{origin.value} {client}'.rstrip()
        answered: Future[Reply] = Future()

        def settle(reply: Reply) -> None:
            try:
                answered.set_result(reply)
            except InvalidStateError:
                if answered.cancelled() and reply.task is not None:  # nobody answered in time
                    self._runtime.dispatcher.withdraw(reply.task)

        assert self._run_line is not None
        await run_in_thread('say', partial(self._run_line, text, by, settle, origin, stops))
        return await result_in_time(answered)

    async def answer(
        self,
        question_id: str,
        action: ApprovalAction,
        arguments: Json | None,
        why: str,
        *,
        by: str = '',
    ) -> Outcome:
        """Answer an open question. Raises QuestionNotFound, and BadTask for ``arguments`` that the
        skill does not take; the question then stays open.
        """
        if not question_id:
            raise QuestionNotFound('Which question? Its id is missing.')
        asked = find_question(self.questions(), question_id)
        if arguments is not None and asked.op is not None:
            # Approvals refuses them as well; here the client learns it as a BadTask.
            self.make_task(asked.op.skill, arguments)
        self._notice(f'{action.value.lower()} {short_id(asked)}{_by(by)}')
        message = Answered(action, asked.id, why, by, arguments, stops=self.stop_count)
        self._runtime.post(message)
        reply = await result_in_time(message.reply)
        return Outcome(reply.ok, reply.text)

    def questions(self) -> Sequence[Question]:
        """The open questions, the oldest first."""
        return self._runtime.approvals.shown_questions

    def approval_deadline(self, question: Question) -> float | None:
        """The time of automatic rejection, in seconds since the epoch; None: never."""
        return self._runtime.approvals.deadline_of(question)

    def _notice(self, text: str, door: str = HTTP_CLIENT_NAME) -> None:
        self._say(without_controls(f'({door}) {text}'))

    # --- tasks --------------------------------------------------------------------------------

    async def call(self, work: Coroutine[Any, Any, T]) -> T:
        return await result_in_time(self._runtime.begin_call(work))

    def jobs(self, on_error: Callable[[BaseException], None]) -> LoopJobs:
        """The jobs of a door in the loop of the tasks."""
        return LoopJobs(self._runtime.event_loop.loop, on_error)

    def skills(self) -> Sequence[Skill]:
        """The skills that a model may call."""
        return self._runtime.registry.for_model()

    # --- for the console --------------------------------------------------------------------

    def was_dropped(self, task_id: str) -> bool:
        """Whether a stop ended the task before it began."""
        return task_id in self._runtime.dispatcher.dropped_task_ids

    @property
    def is_attended(self) -> bool:
        """Whether a person can answer questions."""
        return self._session.approval_queue.is_attended

    @property
    def busy(self) -> bool:
        """Whether a skill or a turn runs."""
        return self._runtime.halt.busy

    # --- what is known ------------------------------------------------------------------------

    def state(self) -> BrainState:
        """The kernel's last state. ``react`` is the running turn, or the last one."""
        return self._runtime.state.model_copy(update={'react': self._session.react_state})

    def pose(self) -> RoverPose | None:
        """The rover's pose by TF in the world frame; None: unknown."""
        return self._pose()

    def trail(self) -> Sequence[tuple[float, float]]:
        """Past positions (x, y) in metres in the world frame, the oldest first; bounded."""
        return self._trail_points

    def captures(self) -> Sequence[Capture]:
        """The last captures, the oldest first; bounded."""
        return [*self._earlier_captures, *self._captures.recent()][-MAX_CAPTURES:]

    def ground(self) -> AnalyzedGround | None:
        """The newest analysis of the ground; None: there has been none."""
        return self._analyses.newest()

    @property
    def console_texts(self) -> EventBus:
        """All that the agent's console prints, as texts; bounded."""
        return self._console_texts

    def console_status(self) -> str:
        """The status line of a console: the open question, or what runs and for how many seconds;
        '': neither.
        """
        for asked in self.questions():
            return question_summary(asked)
        activity = self._session.current_activity
        if activity is None:
            return ''
        return f'{activity.description}  {time.monotonic() - activity.since:.0f} s'

    def earlier_events(self) -> Sequence[TraceEvent]:
        """The newest trace events of the agent that ran before this one, the oldest first."""
        return self._earlier_events

    def picture(self, longest_px: int = WHOLE) -> Picture | None:
        """The newest frame of the camera, its longer side at most ``longest_px``. The call keeps
        the camera on for a few seconds, and may take 20 ms to make a JPEG.
        """
        return self._camera.picture(longest_px)

    def node_statuses(self) -> Sequence[NodeStatus]:
        """The status of adapter, simulator, visualizer, kernel and tasks."""
        ticked_s = self._last_tick_s
        age = None if ticked_s is None else time.monotonic() - ticked_s
        alive = (
            age is not None
            and age <= self.config.agent.kernel.watchdog_s
            and not self._runtime.failure
        )
        failed, clock = self.store_failure, self._clock_problem()
        return [
            *self._nodes.node_statuses(),
            NodeStatus('kernel', alive, age, self._runtime.failure),
            NodeStatus('tasks', not failed, None, failed),
            *([NodeStatus('clock', False, None, clock)] if clock else []),
        ]

    def not_ready_reason(self) -> str:
        """The reason why no task can run yet; empty: tasks can run."""
        why = self.startup_failure or self._runtime.failure or self.store_failure
        return why or ('' if self._may_run() else NOT_READY_TEXT)

    def switch_trigger(self, name: str, on: bool, *, by: str = '') -> TriggerStatus:
        """Switch a trigger on or off, until the agent ends. Raises UnknownTrigger. ``by``: the
        operator at the console need not be told of others; '': it is he.
        """
        status, switched = self._switch_trigger(name, on), 'on' if on else 'off'
        if by:
            self._notice(f'trigger {name} {switched}{_by(by)}')
        return status

    def replay_text(self) -> str:
        """File, position and speed of a recording that is played back; empty: none is."""
        return self._replay()

    def autonomy_status(self) -> str:
        """A text about the autonomy: whether it is on, and its activity."""
        return self.autonomy.status_text()

    def autonomy_is_on(self) -> bool:
        """Whether the agent acts on its own."""
        return self.autonomy.is_on

    def usage(self) -> Json:
        """What the model's calls have used: ``turn``, ``task`` and ``day``, with their limits."""
        return usage_json(self.ledger.llm, self.ledger.report())

    def usage_text(self) -> str:
        """The same in one line; '' for the routine."""
        return usage_line(self.ledger.llm, self.ledger.report())


def _by(caller: str) -> str:
    return f', by {caller}' if caller else ''
