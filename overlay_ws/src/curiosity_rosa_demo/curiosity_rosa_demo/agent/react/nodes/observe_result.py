# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Records the result of the operation: for the model, the budget and the plan."""

from __future__ import annotations

from contextlib import suppress
import time
from typing import Any

from curiosity_rosa_demo.agent.react.nodes.rehearse import with_plan_compared
from curiosity_rosa_demo.agent.react.plan.steps import (
    record_step,
    RecordedStep,
    reject_step,
    retry_step,
    trace_steps,
)
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.react.turn.messages import (
    PICTURE,
    result_of,
    with_react_fields,
    with_result,
)
from curiosity_rosa_demo.agent.skills.registry import VISION_SKILLS
from curiosity_rosa_demo.domain.brain_state import BrainState, Json, SkillResult, SkillStatus
from curiosity_rosa_demo.domain.cancellation import TurnCancelled
from curiosity_rosa_demo.domain.models import (
    INTERRUPTED_TEXT,
    ToolResult,
    TraceKind,
)
from curiosity_rosa_demo.domain.operation import (
    Operation,
    PlanStepCall,
    PlanStepOp,
    PlanStepRejected,
)
from curiosity_rosa_demo.domain.plan import Plan, StepStatus
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import CAPTURE
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.trace.reporter import (
    finite_float,
    result_summary,
    tool_result,
    trace_result,
)

ONE_CALL_AT_A_TIME_TEXT = 'One tool call at a time: this one was not carried out'


async def observe_result(state: BrainState, turn: TurnContext) -> BrainState:
    """Record the result of every call of this decision, the used budget and the plan's step."""
    proposed, done = state.react.proposed_ops, state.skills.last_result
    if proposed is not None and proposed.to_dispatch and done is not None:
        state = _with_result(state, proposed.to_dispatch[0], done, turn)
    state = _with_further_calls_declined(state, turn)
    return _with_plan_result(with_react_fields(state, proposed_ops=None), turn)


def with_interrupted_result(state: BrainState) -> BrainState:
    """An UNKNOWN result for an operation that a crash or a stop may have interrupted."""
    proposed = state.react.proposed_ops
    if proposed is None or not proposed.to_dispatch:
        return state
    unknown = SkillResult(
        status=SkillStatus.UNKNOWN, error_code=RefusalCode.INTERRUPTED, error_msg=INTERRUPTED_TEXT
    )
    return state.model_copy(
        update={'skills': state.skills.model_copy(update={'last_result': unknown})}
    )


def _with_result(
    state: BrainState, op: Operation, done: SkillResult, turn: TurnContext
) -> BrainState:
    react = state.react
    edited = next(
        (each.get('edited_from') for each in state.messages if each['call_id'] == op.call_id), None
    )
    result = tool_result(done)
    cost = finite_float(result.data.get('cost'))
    if cost is None:
        cost = turn.config.tool_costs.of(op.skill)
    data = {**result.data, 'cost': cost}
    if edited:
        data['note'] = f'The operator changed {edited} to {op.text}: that is what was done.'
    result = result.model_copy(update={'data': data})
    before_s = time.monotonic()
    if done.error_code != RefusalCode.INTERRUPTED:
        trace_result(turn.trace, op.skill, result)
    spent = react.spent.model_copy(
        update={
            'steps': react.spent.steps + 1,
            'cost': react.spent.cost + cost,
            'metres': react.spent.metres + _metres_driven(op, done, turn),
        }
    )
    changes: dict[str, Any] = {
        'spent': spent,
        'failures_in_a_row': 0 if result.ok else react.failures_in_a_row + 1,
        'same_in_a_row': _repeat_count(state, op, result),
        'refused_in_a_row': 0,
    }
    if result.ok and turn.registry.get(op.skill).definition.resources_required:
        changes['refused'] = {}  # the robot has changed: a refused call may pass now
    if done.error_code == RefusalCode.INTERNAL_ERROR:
        changes['internal_error'] = True
    if op.skill == 'capture_and_score':
        changes['score'] = finite_float(result.data.get('score'))
        changes['is_good'] = result.ok and result.data.get('is_good') is True
    more = _picture_reference(op, result, turn, before_s)
    messages = with_result(state.messages, op.call_id, result, op=op.text, **more)
    return with_react_fields(state.model_copy(update={'messages': messages}), **changes)


def _picture_reference(
    op: Operation, result: ToolResult, turn: TurnContext, after_s: float
) -> Json:
    """The reference to the picture that a model which can see gets with this result; empty if it
    gets none. The picture of a capture arrives after its result; a stop ends the wait.
    """
    if not (turn.can_see and result.ok):
        return {}
    facts: Json | None = dict(result.data) if op.skill in VISION_SKILLS else None
    if op.skill == CAPTURE:
        with suppress(TurnCancelled):
            facts = turn.world.pictures.see_capture(turn.cancellation, after_s=after_s)
    return {PICTURE: facts[PICTURE]} if facts else {}


def _metres_driven(op: Operation, done: SkillResult, turn: TurnContext) -> float:
    """The measured path, or the longest possible one when there is no measurement. A failed motion
    reports a duration when it may have started.
    """
    measured = finite_float(done.metrics.get('distance_m'))
    if measured is not None:
        return measured
    source = done.metrics if done.status is SkillStatus.FAILED else op.arguments
    seconds = finite_float(source.get('duration_s')) or 0.0
    return seconds * turn.config.guardrails.geofence.max_speed_mps


def _repeat_count(state: BrainState, op: Operation, result: ToolResult) -> int:
    """How many times in a row, before this one, the operation had the same result."""
    finished = [each for each in state.messages if 'op' in each]
    last = finished[-1] if finished else None
    if last is None or last['op'] != op.text:
        return 0
    before = result_of(last)
    if before is None or comparable_result(before) != comparable_result(result):
        return 0
    return state.react.same_in_a_row + 1


def comparable_result(result: ToolResult) -> tuple[bool, str, Json]:
    """The part of a result that two equal calls share when nothing has changed."""
    data = {
        key: round(value, 2) if isinstance(value, float) else value
        for key, value in result.data.items()
        if key not in ('cost', 'note')
    }
    return result.ok, result.error_reason, data


def _with_further_calls_declined(state: BrainState, turn: TurnContext) -> BrainState:
    """Decline the further calls of the same answer. They are neither steps nor refusals."""
    messages = state.messages
    for each in state.messages:
        if each['result'] is None:
            name = clip(str(each['tool']))
            turn.trace(
                TraceKind.ERROR,
                f'{name}: {ONE_CALL_AT_A_TIME_TEXT}',
                tool_name=name,
                ok=False,
                error_reason=ONE_CALL_AT_A_TIME_TEXT,
            )
            failure = ToolResult.failure(ONE_CALL_AT_A_TIME_TEXT, RefusalCode.DECLINED)
            messages = with_result(messages, str(each['call_id']), failure)
    return state.model_copy(update={'messages': messages})


def _with_plan_result(state: BrainState, turn: TurnContext) -> BrainState:
    op = state.react.decided_op
    if not isinstance(op, PlanStepOp) or state.react.plan is None:
        return state
    plan, now = Plan.from_dict(state.react.plan), time.time()
    if isinstance(op, PlanStepRejected):
        recorded = reject_step(plan, op.step_id, op.why or 'no', now)
    elif isinstance(op, PlanStepCall):
        recorded = _with_attempt_result(state, turn, plan, op, now)
    else:
        recorded = record_step(plan, op.step_id, True, '', {}, now)
    trace_steps(turn.trace, [recorded.result, *recorded.skipped])
    state = with_react_fields(state, plan=recorded.plan.to_dict())
    if recorded.result.status is StepStatus.PENDING:  # its fallback runs, which was not rehearsed
        return with_react_fields(state, rehearsal=None)
    if recorded.result.status is StepStatus.SUCCESS:
        return with_plan_compared(state, turn, op.step_id)
    return state


def _with_attempt_result(
    state: BrainState, turn: TurnContext, plan: Plan, op: PlanStepCall, now: float
) -> RecordedStep:
    step, done = op.step_id, state.skills.last_result
    entry = next(each for each in state.messages if each['call_id'] == op.call.call_id)
    result = result_of(entry) or ToolResult.failure(INTERRUPTED_TEXT)
    was_interrupted = done is not None and done.error_code == RefusalCode.INTERRUPTED
    if was_interrupted and 'op' in entry and turn.registry.get(str(entry['tool'])).repeatable:
        return retry_step(plan, step, INTERRUPTED_TEXT, now)
    return record_step(plan, step, result.ok, result_summary(result), dict(result.data), now)
