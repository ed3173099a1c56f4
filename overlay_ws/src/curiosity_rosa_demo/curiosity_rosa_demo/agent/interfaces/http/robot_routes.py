# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The routes of the rover: stop, say, approvals, triggers, plan, state, ground, trace."""

from __future__ import annotations

import asyncio
from typing import Annotated

from curiosity_rosa_demo.agent.interfaces.http.guard import OVER_RATE
from curiosity_rosa_demo.agent.interfaces.http.metrics import Metrics
from curiosity_rosa_demo.agent.interfaces.http.models import (
    CaptureView,
    GroundView,
    Line,
    LineResultView,
    NewAnswer,
    newest_as_json,
    OutcomeView,
    PlanView,
    QuestionView,
    StateView,
    Switch,
    TaskView,
)
from curiosity_rosa_demo.agent.interfaces.http.problems import (
    no_json,
    Problem,
)
from curiosity_rosa_demo.agent.interfaces.http.streams import jpeg_response
from curiosity_rosa_demo.agent.interfaces.http.task_routes import Caller, Door, Operator
from curiosity_rosa_demo.agent.interfaces.terminal.commands import is_short_stop, is_stop_line
from curiosity_rosa_demo.agent.kernel.sense import view_problem
from curiosity_rosa_demo.agent.react.ask import QuestionNotFound
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.domain.adapter_status import rival_texts, TriggerStatus
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, Mode, ReactState, RobotState
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.trace.trace_codec import encode
from fastapi import APIRouter, Path, Query, Request, Response

NEEDED_NODES = ('adapter', 'simulator', 'kernel', 'tasks')  # RViz alone needs the visualizer
NO_GROUND = 'No ground has been analyzed; the skill analyze_ground does it.'
MAX_TRACE_BYTES = 4_000_000  # of an answer; one event takes at most 16 kB


def not_ready_reasons(robot: Robot) -> list[str]:
    """Why a task cannot be carried out now; empty: it can. The adapter reports a missing rover."""
    state = robot.state()
    reasons = [robot.not_ready_reason()]
    if replay := robot.replay_text():
        reasons.append(f'a recording is played: {replay}')
    if state.tasks.mode is Mode.SAFE:
        reasons.append(f'SAFE: {state.tasks.mode_reason or "no reason is known"}')
    if state.robot.safety_latch:
        reasons.append(f'latched until :clear: {state.robot.safety_latch}')
    if state.robot.silent:
        reasons.append(f'silent: {", ".join(state.robot.silent)}')
    for node in robot.node_statuses():
        # not_ready_reason() tells of a kernel that has not begun.
        has_begun = node.name != 'kernel' or node.age_s is not None
        if node.name in NEEDED_NODES and has_begun and not node.ok:
            unheard = 'was never heard' if node.age_s is None else 'is not ok'
            reasons.append(f'{node.name}: {node.text or unheard}')
    return list(dict.fromkeys(filter(None, reasons)))


def state_view(robot: Robot) -> StateView:
    state = robot.state()
    adapter = state.robot.heard.get('adapter')
    return StateView(
        brain_state=state,
        pose=robot.pose(),
        nodes=list(robot.node_statuses()),
        ready=robot.not_ready_reason(),
        auto=robot.autonomy_status(),
        auto_on=robot.autonomy_is_on(),
        usage=robot.usage(),
        usage_text=robot.usage_text(),
        replay=robot.replay_text(),
        sources=list(state.robot.ages_s),
        way_ahead=_way_text(state.robot),
        warnings=[] if adapter is None else rival_texts(adapter.value),
    )


def _way_text(robot: RobotState) -> str:
    """What the scan shows of the rover's way."""
    if 'scan' not in robot.heard or 'scan' in robot.silent:
        return 'no scan'
    if problem := view_problem(robot):
        return problem
    return 'free' if robot.scan_min_m is None else f'free for {robot.scan_min_m:.1f} m'


def robot_routes(robot: Robot, metrics: Metrics) -> APIRouter:
    router = APIRouter(tags=['robot'])

    @router.post('/stop', response_model=OutcomeView)
    async def stop(by: Caller) -> Outcome:
        """Stop the rover and end all tasks. The response comes after the rover's answer. 503: the
        stop could not be sent, or the rover did not confirm it.
        """
        with metrics.stop_latency.time():
            outcome = await asyncio.wrap_future(robot.stop(by))
        if not outcome.ok:
            raise Problem(503, outcome.answer)
        return outcome

    @router.post('/say')
    async def say(
        request: Request, line: Line, door: Door, operator: Operator = ''
    ) -> LineResultView:
        """Run a line. The response has its task or its text; a task continues afterwards."""
        over_rate = request.scope.get(OVER_RATE)
        if over_rate and not is_short_stop(line.text):
            raise over_rate
        if line.unless_stop and not is_stop_line(line.text):
            return LineResultView(ok=False, words=line.unless_stop, task=None)
        saying = robot.say(line.text, door, client=line.client, operator=operator)
        if door is Origin.PAGE:  # all pages show it
            saying = request.app.state.talk.told(saying, line.text, operator, line.token)
        result = await saying
        view = None if result.task is None else TaskView.of(result.task)
        return LineResultView(ok=result.ok, words=result.text, task=view)

    @router.get('/approvals')
    async def approvals() -> list[QuestionView]:
        """The open questions, the oldest first."""
        return [QuestionView.of(each, robot.approval_deadline(each)) for each in robot.questions()]

    @router.post('/approvals/{question_id}', response_model=OutcomeView)
    async def answer(
        question_id: Annotated[str, Path(max_length=200, examples=['q3f9a1'])],
        answer: NewAnswer,
        by: Caller,
    ) -> Outcome:
        """Answer a question. An edited operation is checked again."""
        if answer.action == 'edit' and answer.arguments is None:
            raise Problem(422, 'arguments: to edit, the new arguments are needed')
        if answer.action != 'edit' and answer.arguments is not None:
            raise Problem(422, f'arguments: they are for an edit, not to {answer.action}')
        # Only a whole ID: a prefix could match, and approve, another question.
        if all(each.id != question_id for each in robot.questions()):
            raise Problem(404, f'No question {question_id!r} is open')
        action = ApprovalAction(answer.action.upper())
        try:
            outcome = await robot.answer(question_id, action, answer.arguments, answer.why, by=by)
        except QuestionNotFound as error:
            raise Problem(409, str(error)) from None
        if not outcome.ok:
            raise Problem(409, outcome.answer)
        return outcome

    @router.get('/triggers')
    async def triggers() -> list[TriggerStatus]:
        """The triggers, in the order of triggers.yaml."""
        return list(robot.triggers())

    @router.post('/triggers/{name}')
    async def switch_trigger(
        name: Annotated[str, Path(max_length=60, examples=['low_battery'])],
        switch: Switch,
        by: Caller,
    ) -> TriggerStatus:
        """Switch a trigger on or off, until the agent ends."""
        return robot.switch_trigger(name, switch.on, by=by)

    @router.get('/plan', response_model=PlanView)
    async def plan() -> ReactState:
        """The plan of the running turn, or of the last one."""
        return robot.state().react

    @router.get('/state')
    async def state() -> StateView:
        return state_view(robot)

    @router.get('/trail')
    async def trail() -> list[list[float]]:
        """Where the rover has driven: x and y in the world frame, metres, the oldest first."""
        return [list(place) for place in robot.trail()]

    @router.get('/captures')
    async def captures() -> list[CaptureView]:
        """The last scored pictures, the oldest first."""
        return [CaptureView.of(each) for each in robot.captures()]

    @router.get('/ground')
    async def ground() -> GroundView:
        """The newest analysis of the ground. 404: there has been none."""
        if (analyzed := robot.ground()) is None:
            raise Problem(404, NO_GROUND)
        return GroundView.of(analyzed)

    @router.get('/ground.jpg', **no_json('image/jpeg'))
    async def ground_picture() -> Response:
        """The picture of the newest analysis, with its findings drawn in. 404: there is none."""
        analyzed = robot.ground()
        if analyzed is None or analyzed.picture is None:
            raise Problem(404, NO_GROUND if analyzed is None else 'Its picture has not arrived.')
        return jpeg_response(analyzed.picture, analyzed.at)

    @router.get('/trace', response_model=list[TraceEvent])
    async def trace(
        count: Annotated[int, Query(ge=1, le=1000)] = 100,
        kind: Annotated[list[TraceKind] | None, Query()] = None,
    ) -> Response:
        """The last ``count`` trace events of these kinds, the oldest first; fewer if they take
        more than 4 MB.
        """
        events = robot.event_bus.trace_events()
        found = [each for each in events if not kind or each.kind in kind][-count:]
        shown = newest_as_json(map(encode, reversed(found)), MAX_TRACE_BYTES)
        return Response(shown, media_type='application/json')

    return router
