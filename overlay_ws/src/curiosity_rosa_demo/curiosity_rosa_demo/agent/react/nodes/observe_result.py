# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What came of the operation: for the model, for the budget, for the plan."""

from __future__ import annotations

import time
from typing import Any

from curiosity_rosa_demo.agent.react.plan.steps import again, record, Recorded, reject
from curiosity_rosa_demo.agent.react.plan.trace import trace_steps
from curiosity_rosa_demo.agent.react.turn.context import Turn
from curiosity_rosa_demo.agent.react.turn.messages import (
    INTERRUPTED,
    result_of,
    with_react,
    with_result,
)
from curiosity_rosa_demo.domain.brain_state import BrainState, Json, SkillResult, SkillStatus
from curiosity_rosa_demo.domain.models import ToolResult, TraceKind
from curiosity_rosa_demo.domain.operation import Op
from curiosity_rosa_demo.domain.plan.plan import Plan
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.trace.reporter import number, summary, tool_result, trace_result

CUT = 'INTERRUPTED'  # error code of a result that nobody saw
ONE_AT_A_TIME = 'One tool call at a time: this one was not carried out'


async def observe_result(state: BrainState, turn: Turn) -> BrainState:
    """The result of every call of this decision; what was spent; the plan's step."""
    proposed, done = state.react.proposed_ops, state.skills.last_result
    if proposed is not None and proposed.to_dispatch and done is not None:
        state = _observed(state, Op.from_json(proposed.to_dispatch[0]), done, turn)
    state = _declined(state, turn)
    return _plan_recorded(with_react(state, proposed_ops=None), turn)


def interrupted(state: BrainState) -> BrainState:
    """The process ended, or the turn was stopped, while the operation may have been under way."""
    proposed = state.react.proposed_ops
    if proposed is None or not proposed.to_dispatch:
        return state
    unknown = SkillResult(status=SkillStatus.UNKNOWN, error_code=CUT, error_msg=INTERRUPTED)
    return state.model_copy(
        update={'skills': state.skills.model_copy(update={'last_result': unknown})}
    )


def _observed(state: BrainState, op: Op, done: SkillResult, turn: Turn) -> BrainState:
    react = state.react
    edited = next(
        (each.get('edited_from') for each in state.messages if each['call_id'] == op.call_id), None
    )
    result = tool_result(done)
    cost = number(result.data.get('cost'))
    if cost is None:
        cost = turn.config.tool_costs.of(op.skill)
    data = {**result.data, 'cost': cost}
    if edited:
        data['note'] = f'The operator changed {edited} to {op.text}: that is what was done.'
    result = result.model_copy(update={'data': data})
    if done.error_code != CUT:
        trace_result(turn.trace, op.skill, result)
    spent = react.spent.model_copy(
        update={
            'steps': react.spent.steps + 1,
            'cost': react.spent.cost + cost,
            'metres': react.spent.metres + _metres(op, done, turn),
        }
    )
    changes: dict[str, Any] = {
        'spent': spent,
        'failures_in_a_row': 0 if result.ok else react.failures_in_a_row + 1,
        'same_in_a_row': _same(state, op, result),
        'refused_in_a_row': 0,
    }
    if result.ok and turn.registry.get(op.skill).definition.resources_required:
        changes['refused'] = {}  # the robot has changed: what was refused may be right now
    if op.skill == 'capture_and_score':
        changes['score'] = number(result.data.get('score'))
        changes['is_good'] = result.ok and result.data.get('is_good') is True
    messages = with_result(state.messages, op.call_id, result, op=op.text)
    return with_react(state.model_copy(update={'messages': messages}), **changes)


def _metres(op: Op, done: SkillResult, turn: Turn) -> float:
    """The path that was driven; the longest possible when it was not measured. A motion that
    failed tells a duration when it may have begun.
    """
    measured = number(done.metrics.get('distance_m'))
    if measured is not None:
        return measured
    asked = done.metrics if done.status is SkillStatus.FAILED else op.arguments
    seconds = number(asked.get('duration_s')) or 0.0
    return seconds * turn.config.guardrails.geofence.max_speed_mps


def _same(state: BrainState, op: Op, result: ToolResult) -> int:
    """How often in a row the same operation has had the same result, before this time."""
    finished = [each for each in state.messages if 'op' in each]
    last = finished[-1] if finished else None
    if last is None or last['op'] != op.text:
        return 0
    before = result_of(last)
    if before is None or _stable(before) != _stable(result):
        return 0
    return state.react.same_in_a_row + 1


def _stable(result: ToolResult) -> tuple[bool, str, Json]:
    data = {
        key: round(value, 2) if isinstance(value, float) else value
        for key, value in result.data.items()
        if key not in ('cost', 'note')
    }
    return result.ok, result.error_reason, data


def _declined(state: BrainState, turn: Turn) -> BrainState:
    """Further calls of the same answer."""
    messages = state.messages
    for each in state.messages:
        if each['result'] is None:
            name = clip(str(each['tool']))
            turn.trace(
                TraceKind.ERROR,
                f'{name}: {ONE_AT_A_TIME}',
                tool_name=name,
                ok=False,
                error_reason=ONE_AT_A_TIME,
            )
            failure = ToolResult.failure(ONE_AT_A_TIME)
            messages = with_result(messages, str(each['call_id']), failure)
    count = sum(each['result'] is None for each in state.messages)
    if not count:
        return state
    spent, most = state.react.spent, turn.config.agent.turn.max_steps
    steps = max(spent.steps, min(spent.steps + count, most))
    spent = spent.model_copy(update={'steps': steps})
    return with_react(state.model_copy(update={'messages': messages}), spent=spent)


def _plan_recorded(state: BrainState, turn: Turn) -> BrainState:
    decision = state.react.decision
    call: Json = decision.ops[0] if decision is not None and decision.ops else {}
    if 'plan_step' not in call or state.react.plan is None:
        return state
    plan, step = Plan.from_dict(state.react.plan), int(str(call['plan_step']))
    now = time.time()
    if call.get('answered') is False:
        recorded = reject(plan, step, str(call.get('why') or 'no'), now)
    elif 'call_id' in call:
        recorded = _attempt_recorded(state, turn, plan, call, now)
    else:
        recorded = record(plan, step, True, '', {}, now)
    trace_steps(turn.trace, [recorded.result, *recorded.skipped])
    return with_react(state, plan=recorded.plan.to_dict())


def _attempt_recorded(
    state: BrainState, turn: Turn, plan: Plan, call: Json, now: float
) -> Recorded:
    step, done = int(str(call['plan_step'])), state.skills.last_result
    entry = next(each for each in state.messages if each['call_id'] == call['call_id'])
    result = result_of(entry) or ToolResult.failure(INTERRUPTED)
    was_cut = done is not None and done.error_code == CUT and 'op' in entry
    if was_cut and turn.registry.get(str(entry['tool'])).repeatable:
        return again(plan, step, INTERRUPTED, now)
    return record(plan, step, result.ok, summary(result), dict(result.data), now)
