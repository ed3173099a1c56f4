# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The stage ``act``: runs the operation, records what came of it, and ends a hopeless turn.

A checkpoint with the operation was committed before: an interrupted one is not run again.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
import time

from curiosity_rosa_demo.agent.react.plan import (
    open_step,
    record_step,
    retry_step,
    trace_steps,
)
from curiosity_rosa_demo.agent.react.rehearse import compare_approved, compare_plan
from curiosity_rosa_demo.agent.react.supervise import (
    comparable,
    refusals_text,
    refused_too_often,
    rules_may_decide,
)
from curiosity_rosa_demo.agent.react.think import put_question
from curiosity_rosa_demo.agent.react.turn import ASK_TO_CONTINUE, ROUTINE, Turn, TurnEnvironment
from curiosity_rosa_demo.agent.skills.executor import STOPPED
from curiosity_rosa_demo.agent.skills.registry import VISION_SKILLS
from curiosity_rosa_demo.agent.tasks.origin import current_order, under_order
from curiosity_rosa_demo.domain.brain_state import DecisionType, Json
from curiosity_rosa_demo.domain.cancellation import TurnCancelled
from curiosity_rosa_demo.domain.geometry import finite_float, Place
from curiosity_rosa_demo.domain.models import INTERRUPTED_TEXT, ToolResult, TraceKind
from curiosity_rosa_demo.domain.operation import Exchange, Operation
from curiosity_rosa_demo.domain.plan import ExecutionResult, Plan, StepStatus
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import CAPTURE
from curiosity_rosa_demo.domain.text import clip, count_text
from curiosity_rosa_demo.trace.reporter import (
    result_summary,
    trace_result,
)

ONE_CALL_AT_A_TIME_TEXT = 'One tool call at a time: this one was not carried out'
MAX_LOOPS_PER_STEP = 3  # decisions on plans, questions and refused calls use no step
INTERRUPTED = ToolResult.failure(INTERRUPTED_TEXT, RefusalCode.INTERRUPTED)


def act(turn: Turn, env: TurnEnvironment) -> None:
    """Raises TurnCancelled."""
    record(turn, env, dispatch(turn, env))
    end_or_go_on(turn, env)


def dispatch(turn: Turn, env: TurnEnvironment) -> ToolResult | None:
    """Run the operation. None: there is none."""
    op = turn.op
    if op is None:
        return None
    env.cancellation.check()
    env.trace(TraceKind.ACT, op.text, tool_name=op.skill, data={'arguments': op.arguments})
    with under_order(replace(current_order(), call=op, approval=turn.approval)):
        done = env.skill_executor.result_of(op.skill, op.arguments, env.cancellation)
    compare_approved(turn.approval, done, env, env.said.language)
    return done


def observe_interrupted(turn: Turn, env: TurnEnvironment) -> None:
    """An interrupted act: what the operation did is not known."""
    record(turn, env, None if turn.op is None else INTERRUPTED)
    end_or_go_on(turn, env)


def record(turn: Turn, env: TurnEnvironment, done: ToolResult | None) -> None:
    """Record the result of every call of this decision, the used budget and the plan's step.
    ``done``: of ``turn.op``.
    """
    if turn.op is not None and done is not None:
        _record(turn, env, turn.op, done)
    _decline_further_calls(turn, env)
    _record_step(turn, env)
    turn.op = turn.approval = None


# --- The result --------------------------------------------------------------------------------


def _record(turn: Turn, env: TurnEnvironment, op: Operation, result: ToolResult) -> None:
    cost = finite_float(result.data.get('cost'))
    if cost is None:
        cost = env.config.tool_costs.of(op.skill)
    data: Json = {**result.data, 'cost': cost}
    if edited := turn.exchange(op.call_id).edited_from:
        data['note'] = f'The operator changed {edited} to {op.text}: that is what was done.'
    result = result.model_copy(update={'data': data})
    before_s = time.monotonic()
    if result.error_code != RefusalCode.INTERRUPTED:
        trace_result(env.trace, op.skill, result)
    turn.spend(steps=1, cost=cost, metres=_metres_driven(turn, op, result, env))
    turn.failures_in_a_row = 0 if result.ok else turn.failures_in_a_row + 1
    turn.same_in_a_row, turn.refused_in_a_row = _repeat_count(turn, op, result), 0
    if result.ok and env.registry.get(op.skill).definition.resources_required:
        turn.refused = {}  # the robot has changed: a refused call may pass now
    if result.error_code == RefusalCode.INTERNAL_ERROR:
        turn.internal_error = True
    if op.skill == CAPTURE:
        turn.score = finite_float(result.data.get('score'))
        turn.is_good = result.ok and result.data.get('is_good') is True
    picture = _picture(op, result, env, before_s)
    turn.answer_call(op.call_id, result, op=op.text, picture=picture)


def _picture(
    op: Operation, result: ToolResult, env: TurnEnvironment, after_s: float
) -> Json | None:
    """The reference to the picture that a model which can see gets with this result. The picture
    of a capture arrives after its result; a stop ends the wait.
    """
    if not (env.can_see and result.ok):
        return None
    facts: Json | None = dict(result.data) if op.skill in VISION_SKILLS else None
    if op.skill == CAPTURE:
        with suppress(TurnCancelled):
            facts = env.world.pictures.see_capture(env.cancellation, after_s=after_s)
    picture = (facts or {}).get('picture')
    return picture if isinstance(picture, dict) else None


def _metres_driven(turn: Turn, op: Operation, result: ToolResult, env: TurnEnvironment) -> float:
    """The measured path, or the longest possible one when there is no measurement. A failed motion
    reports a duration when it may have started. A skill need not tell what its legs have driven;
    of an interrupted one at least the straight way is known.
    """
    measured, legs_m = finite_float(result.data.get('distance_m')), env.world.driven_m
    if measured is not None:
        return max(measured, legs_m)
    if result.error_code == RefusalCode.INTERRUPTED:
        seen = (turn.observation, env.world.facts())
        begin, end = (Place.known(*map(each.get, ('x', 'y', 'yaw_rad'))) for each in seen)
        legs_m = begin.away_m(end) if begin and end else 0.0
    source = op.arguments if result.ok or result.error_code in STOPPED else result.data
    seconds = finite_float(source.get('duration_s')) or 0.0
    return max(legs_m, seconds * env.config.guardrails.geofence.max_speed_mps)


def _repeat_count(turn: Turn, op: Operation, result: ToolResult) -> int:
    """How many times in a row, before this one, the operation had the same result."""
    last = turn.last_op
    if last is None or last.op != op.text or last.result is None:
        return 0
    return turn.same_in_a_row + 1 if comparable(last.result) == comparable(result) else 0


def _decline_further_calls(turn: Turn, env: TurnEnvironment) -> None:
    """Decline the further calls of the same answer. They are neither steps nor refusals."""
    why = ONE_CALL_AT_A_TIME_TEXT
    for each in turn.exchanges:
        if each.result is None:
            name = clip(each.tool)
            text = f'{name}: {why}'
            env.trace(TraceKind.ERROR, text, tool_name=name, ok=False, error_reason=why)
            turn.answer_call(each.call_id, ToolResult.failure(why, RefusalCode.DECLINED))


def _record_step(turn: Turn, env: TurnEnvironment) -> None:
    """Record the result of the plan's open step; that of a search is not known from one call."""
    if turn.plan is None or open_step(turn.plan) is None or turn.search is not None:
        return
    if turn.call_id:
        results = _attempted(turn.plan, turn.exchange(turn.call_id), env)
    else:  # it has only asked, and was told yes
        results = record_step(turn.plan, True, '', {}, time.time())
    trace_steps(env.trace, results, called=bool(turn.call_id))
    if results[0].status is StepStatus.PENDING:  # its fallback runs, which was not rehearsed
        turn.rehearsal = None
    elif results[0].status is StepStatus.SUCCESS:
        compare_plan(turn, env, results[0].step_id)


def _attempted(plan: Plan, call: Exchange, env: TurnEnvironment) -> list[ExecutionResult]:
    result = call.result or INTERRUPTED
    interrupted = call.code == RefusalCode.INTERRUPTED and call.op
    if interrupted and env.registry.get(call.tool).settings.repeatable:
        return retry_step(plan, INTERRUPTED_TEXT, time.time())
    summary = result_summary(result)
    return record_step(plan, result.ok, summary, dict(result.data), time.time())


# --- The end of the turn -----------------------------------------------------------------------


def end_or_go_on(turn: Turn, env: TurnEnvironment) -> None:
    """Set ``stop_reason`` (a DecisionType), ``ok`` and ``answer`` when the turn ends."""
    decision = turn.decision
    assert decision is not None
    reason = decision.reason.strip()
    if turn.internal_error:  # whatever the decider says to it
        _end(turn, DecisionType.ABORT, _failed_text(turn))
    elif turn.stop_reason:  # the operator chose not to continue
        turn.ok = False
    elif decision.type is DecisionType.FINISH:
        _end(turn, DecisionType.FINISH, reason or 'done')
    elif decision.type in (DecisionType.ABORT, DecisionType.SWITCH_TASK):
        _end(turn, decision.type, reason or decision.type.value)
    else:
        _end_if_hopeless(turn, env)


def _end_if_hopeless(turn: Turn, env: TurnEnvironment) -> None:
    call = turn.exchange(turn.call_id) if turn.call_id else None
    mapped = env.registry.decision_on(call) if call and call.op else None
    patience, most = env.config.guardrails.patience, env.config.agent.turn.max_steps
    by_rules = turn.decision is not None and turn.decision.by == ROUTINE
    wants_more = turn.spent.steps >= most and turn.refused_in_a_row > 0
    too_long = turn.iter > MAX_LOOPS_PER_STEP * (most + 1)
    may_ask = patience.exhausted == 'ASK_HUMAN'
    if mapped is DecisionType.ABORT:
        _end(turn, DecisionType.ABORT, _failed_text(turn))
    elif wants_more or too_long or turn.spent.steps > most:  # no rule refuses a stop
        used = count_text(most, 'step')
        text = f'Stopped after {used} without an answer (turn.max_steps of agent.yaml).'
        _end(turn, DecisionType.ABORT, text)
    elif refused_too_often(turn, env) and (by_rules or not rules_may_decide(turn, env)):
        text = refusals_text(turn, 'The model and the rule model' if by_rules else 'The model')
        asks = env.registry.decision_on(turn.last_failed) is DecisionType.ASK_HUMAN
        _end_or_ask(turn, env, text, may_ask=asks)
    elif mapped is DecisionType.ASK_HUMAN:
        _end_or_ask(turn, env, _failed_text(turn), may_ask=True)
    elif turn.failures_in_a_row >= patience.failures_in_a_row:
        failures = count_text(turn.failures_in_a_row, 'failure')
        text = f'{failures} in a row; the last: {turn.last_reason}'
        _end_or_ask(turn, env, text, may_ask=may_ask)
    elif turn.same_in_a_row + 1 >= patience.no_progress:
        times = turn.same_in_a_row + 1
        text = f'{_last_call(turn)} had the same result {times} times in a row'
        _end_or_ask(turn, env, text, may_ask=may_ask)


def _last_call(turn: Turn) -> str:
    return '' if turn.last_op is None else turn.last_op.op


def _failed_text(turn: Turn) -> str:
    return f'{_last_call(turn)} failed: {turn.last_reason}'


def _end_or_ask(turn: Turn, env: TurnEnvironment, text: str, *, may_ask: bool) -> None:
    """Ask the operator whether to continue. A no, or no answer, ends the turn with ``text``."""
    if may_ask:
        turn.stop_reason, turn.ok, turn.answer = ASK_TO_CONTINUE, False, text
        put_question(turn, env, f'{text}. Go on?')
    else:
        _end(turn, DecisionType.ABORT, text)


def _end(turn: Turn, kind: DecisionType, answer: str) -> None:
    turn.stop_reason, turn.ok, turn.answer = kind.value, kind is not DecisionType.ABORT, answer
