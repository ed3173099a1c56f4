# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A robot in memory: a real SkillRunner and the real skills' schemas, before a rover that moves at
once and answers what the test says. Use it in a ``with``.

A turn (``say('go to the light')``) drives from x = 0 to x = 8 in steps of ``step_s`` seconds, then
takes a picture and scores it; any other skill takes one step. ``paused`` holds all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
import math
import threading
import time
from typing import Any, TypeVar
import uuid

from curiosity_rosa_demo.agent.interfaces.triggers.door import TriggerBoard
from curiosity_rosa_demo.agent.kernel.hear import Reply
from curiosity_rosa_demo.agent.react.ask import QuestionNotFound
from curiosity_rosa_demo.agent.runtime.task_port import RobotBusy, TaskPort
from curiosity_rosa_demo.agent.runtime.task_skills import make_task
from curiosity_rosa_demo.agent.runtime.threads import LoopJobs
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.agent.skills.skill import Skill
from curiosity_rosa_demo.agent.tasks import SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.task import OrderRefused
from curiosity_rosa_demo.domain.adapter_status import NodeStatus, TriggerStatus
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, BrainState, Json, Question
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.pictures import AnalyzedGround, Capture, Picture, WHOLE
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.imaging.pixels import scaled_jpeg
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.trace.events import TurnStarted, with_task
from curiosity_rosa_demo.trace.reporter import TOOL_RESULT
from curiosity_rosa_demo.trace.trace_buffer import EventBus
from curiosity_rosa_demo.trace.trace_codec import new_event
import cv2
from missions.rover_twin import ANALYSIS
import numpy as np

T = TypeVar('T')
CONFIG = load_config()
REGISTRY = make_registry(CONFIG)
CALL_WAIT_S = 10.0


def jpeg(x: float) -> bytes:
    """Ground as seen from ``x``: the further, the brighter."""
    pixels = np.full((240, 320, 3), 40 + min(200, int(25 * max(0.0, x))), np.uint8)
    cv2.putText(pixels, f'x = {x:.1f}', (20, 120), cv2.FONT_HERSHEY_SIMPLEX, 1, (0, 0, 255), 2)
    return bytes(cv2.imencode('.jpg', pixels)[1])


class FakeRobot(TaskPort):
    def __init__(self, *, path: str = ':memory:', step_s: float = 0.01) -> None:
        super().__init__(SkillRunner(path))
        self.runner, self.step_s = self._runner, step_s
        self.paused = False
        self.fault = ''  # why a turn fails
        self.not_ready = ''
        self.refusal = ''  # why every order is refused
        self.replay = ''
        self.board = TriggerBoard(())
        self.brain_state = BrainState()
        self.where: RoverPose | None = RoverPose(x=0.0, frame_id='odom')
        self.nodes = [
            NodeStatus(name, ok=True, age_s=0.1)
            for name in ('adapter', 'simulator', 'visualizer', 'kernel', 'tasks')
        ]
        self.camera = True  # whether a picture comes
        self.picture_age_s = 0.0
        self.stops: list[str] = []
        self.stop_outcome = Outcome(True, 'stopped')
        self.stop_gate = threading.Event()  # a stop is answered once this is set
        self.stop_gate.set()
        self.lines: list[str] = []
        self.console_texts = EventBus()
        self.answers: list[tuple[str, ApprovalAction, Json | None, str]] = []
        self.callers: list[str] = []  # by whom each request but a stop was made
        self.deaf = False  # whether call() gets no answer
        self.answer_outcome: Outcome | None = None  # in place of the usual one
        self.analyzed: AnalyzedGround | None = None
        self.earlier: list[TraceEvent] = []  # of the agent before
        self._open: list[Question] = []
        self._captures: list[Capture] = []
        self._trail: list[tuple[float, float]] = [(0.0, 0.0)]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._jobs: list[asyncio.Task[None]] = []
        for definition in REGISTRY:
            work = self._turn if definition.name == 'react' else self._step
            self.runner.skill(definition.name, resources=definition.resources_required)(work)

    def __enter__(self) -> FakeRobot:
        async def start() -> None:
            await self.runner.start()
            self._jobs.append(asyncio.create_task(self.runner.run_loop()))

        self._thread.start()
        self.do(start())
        return self

    def __exit__(self, *_: object) -> None:
        self.do(self.runner.stop())
        self._loop.call_soon_threadsafe(self._end)
        self._thread.join(CALL_WAIT_S)
        self._loop.close()

    def _end(self) -> None:
        """Cancel what is left, also what has not begun, in the loop's thread."""
        for work in asyncio.all_tasks(self._loop):
            work.cancel()
        self._loop.call_soon(self._loop.stop)

    # --- for tests ------------------------------------------------------------------------------

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """What ``work`` returns in the runner's loop; from the test's thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(CALL_WAIT_S)

    def trace(self, kind: TraceKind, message: str, **fields: Any) -> TraceEvent:
        event = new_event(kind, message, **fields)
        self.event_bus.publish(event)
        return event

    def ask(
        self,
        text: str,
        op: Json | None = None,
        reasons: Sequence[str] = (),
        rehearsal: Rehearsal | None = None,
        task_id: str = '',
    ) -> Question:
        """Put a question; answer() takes it away."""
        asked: Json = {'text': text, 'op': op, 'reasons': list(reasons), 'rehearsal': rehearsal}
        asked['task_id'] = task_id
        question = Question(id=f'q{uuid.uuid4().hex[:6]}', asked_at=time.time(), **asked)
        self._open.append(question)
        return question

    # --- Robot ----------------------------------------------------------------------------------

    def call(self, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
        if self.deaf:
            work.close()
            raise RobotBusy('No answer from the loop within 10 s')
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def make_task(self, name: str, arguments: dict[str, Any]) -> Task:
        return make_task(REGISTRY, name, arguments)

    async def rehearse(self, task: Task) -> Rehearsal | None:
        """A straight line to where ``navigate_to_pose`` leads."""
        given = task.metadata['arguments']
        if task.name != 'navigate_to_pose' or self.where is None:
            return None
        here, there = (self.where.x, self.where.y), (given['x'], given['y'])
        metres = math.dist(here, there)
        return Rehearsal(path=[here, there], metres=metres, text=f'Rehearsal: {metres:.1f} m')

    def skills(self) -> Sequence[Skill]:
        return REGISTRY.for_model()

    async def order(self, task: Task, *, stops: int | None = None, by: str = '') -> Task:
        self.callers.append(by)
        if why := self.not_ready_reason():
            raise RobotBusy(why)
        return await self._submit(task)

    async def interrupt(self, task: Task, *, by: str = '') -> Task:
        self.callers.append(by)
        return await super().interrupt(task)

    async def resume(self, task_id: str, *, by: str = '') -> Task:
        self.callers.append(by)
        return await super().resume(task_id)

    async def prioritise(self, task_id: str, priority: int, *, by: str = '') -> Task:
        self.callers.append(by)
        return await super().prioritise(task_id, priority)

    async def _submit(self, task: Task) -> Task:
        if self.refusal:
            raise OrderRefused(self.refusal)
        return await super().order(task)

    def jobs(self, on_error: Callable[[BaseException], None]) -> LoopJobs:
        return LoopJobs(self._loop, on_error)

    @property
    def stop_count(self) -> int:
        return len(self.stops)

    def order_refusal(self, skill: str) -> str:
        return self.refusal

    def stop(self, by: str) -> Future[Outcome]:
        self.stops.append(by)
        return asyncio.run_coroutine_threadsafe(self._stop(by), self._loop)

    async def _stop(self, by: str) -> Outcome:
        await asyncio.to_thread(self.stop_gate.wait, CALL_WAIT_S)
        if not self.deaf:
            await self.call(self.runner.cancel_all(f'Stopped by {by}'))
        outcome = self.stop_outcome
        reason = '' if outcome.ok else outcome.answer
        self.trace(TraceKind.RESULT, 'move_stop', ok=outcome.ok, error_reason=reason or None)
        return outcome

    async def say(
        self,
        text: str,
        origin: Origin = Origin.HTTP,
        client: str = '',
        operator: str = '',
        *,
        stops: int | None = None,
    ) -> Reply:
        self.callers.append(operator)
        self.lines.append(text)
        if text.strip() == ':stop':
            outcome = await asyncio.wrap_future(self.stop('HTTP'))
            return Reply([outcome.answer], outcome.ok)
        if text.startswith(':'):
            return Reply([f'There is no command {text.split()[0]}; :help shows them'], ok=False)
        # As the console, it takes a sentence before it is ready.
        return Reply(task=await self._submit(self.make_task('react', {'text': text})))

    async def answer(
        self,
        question_id: str,
        action: ApprovalAction,
        arguments: Json | None,
        why: str,
        by: str = '',
    ) -> Outcome:
        self.callers.append(by)
        question = next((each for each in self._open if each.id == question_id), None)
        if question is None:
            raise QuestionNotFound(f'{question_id[:8]} is not open any more.')
        if action is ApprovalAction.EDIT and question.op is None:
            raise QuestionNotFound(f'{question.id} is a plain question: approve or reject it.')
        if self.answer_outcome is not None:
            return self.answer_outcome
        self._open.remove(question)
        self.answers.append((question_id, action, arguments, why))
        self.trace(TraceKind.OBSERVE, f'{action.value.lower()} {question.id}: {question.text}')
        return Outcome(True, f'{action.value.lower()} {question.id}')

    def questions(self) -> Sequence[Question]:
        return tuple(self._open)

    def approval_deadline(self, question: Question) -> float | None:
        return question.asked_at + 300.0

    def state(self) -> BrainState:
        return self.brain_state

    def pose(self) -> RoverPose | None:
        return self.where

    def trail(self) -> Sequence[tuple[float, float]]:
        return tuple(self._trail)

    def captures(self) -> Sequence[Capture]:
        return tuple(self._captures)

    def ground(self) -> AnalyzedGround | None:
        return self.analyzed

    def console_status(self) -> str:
        return ''

    def earlier_events(self) -> Sequence[TraceEvent]:
        return tuple(self.earlier)

    def picture(self, longest_px: int = WHOLE) -> Picture | None:
        if not self.camera:
            return None
        age = self.picture_age_s
        small = scaled_jpeg(jpeg(self.where.x if self.where else 0.0), longest_px, 85)
        return Picture(small, time.time() - age, time.monotonic() - age)

    def triggers(self) -> Sequence[TriggerStatus]:
        return self.board.statuses()

    def switch_trigger(self, name: str, on: bool, *, by: str = '') -> TriggerStatus:
        self.callers.append(by)
        return self.board.switch(name, on)

    def replay_text(self) -> str:
        return self.replay

    def node_statuses(self) -> Sequence[NodeStatus]:
        return tuple(self.nodes)

    def not_ready_reason(self) -> str:
        return self.not_ready

    def autonomy_status(self) -> str:
        return 'off'

    def autonomy_is_on(self) -> bool:
        return False

    def usage(self) -> Json:
        return {}

    def usage_text(self) -> str:
        return ''

    # --- skills, in the runner's loop -----------------------------------------------------------

    async def _pace(self) -> None:
        await asyncio.sleep(self.step_s)
        while self.paused:
            await asyncio.sleep(0.01)

    async def _step(self, task: Task) -> None:
        self.trace(TraceKind.ACT, f'{task.name}()', tool_name=task.name)
        await self._pace()
        done: Json = {'tool_name': task.name, 'ok': True, 'data': with_task({'n': 1}, task.id)}
        self.trace(TraceKind.RESULT, f'{task.name}: done', type=TOOL_RESULT, **done)

    async def _turn(self, task: Task) -> None:
        if self.fault:
            raise RuntimeError(self.fault)
        text, known = f'User: {task.metadata["text"]}', with_task({}, task.id)
        started = TurnStarted(0).trace_fields(text)
        self.trace(**{**started, 'data': with_task(started['data'], task.id)})
        drive = {'tool_name': 'move_forward', 'data': known}
        for x in range(1, 9):
            self.trace(TraceKind.ACT, 'move_forward(distance_m=1.0)', **drive)
            await self._pace()
            self.where = RoverPose(x=float(x), y=math.sin(x / 3.0), frame_id='odom')
            self._trail.append((self.where.x, self.where.y))
            self.trace(TraceKind.RESULT, 'moved 1.0 m', ok=True, **drive)
        self._capture(0.9, task)

    def _capture(self, score: float, task: Task) -> None:
        said: Json = {'ok': True, 'score': score, 'data': with_task({}, task.id)}
        event = self.trace(
            TraceKind.RESULT, f'captured: score {score}', tool_name='capture_and_score', **said
        )
        picture = Picture(jpeg(8.0), time.time(), time.monotonic())
        self._captures.append(Capture(event.event_id, picture, score, score > 0.7, self.where))


def analyzed(event_id: str = 'g1') -> AnalyzedGround:
    return AnalyzedGround(event_id, 1000.0, ANALYSIS, Picture(jpeg(5.0), 1000.0, 0.0))
