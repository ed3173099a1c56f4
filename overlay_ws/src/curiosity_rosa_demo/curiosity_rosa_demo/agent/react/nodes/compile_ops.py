# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Turns the decision into a typed operation, or refuses a call that fits no skill."""

from __future__ import annotations

import json
from typing import Any

from curiosity_rosa_demo.agent.react.plan.steps import check_plan, left_out_text, revised_plan
from curiosity_rosa_demo.agent.react.plan.trace import trace_plan
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.react.turn.decide_tool import DECIDE_TOOL, PROPOSED_KEY
from curiosity_rosa_demo.agent.react.turn.messages import with_react_fields, with_result
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Decision,
    DecisionType,
    Json,
    ProposedOps,
)
from curiosity_rosa_demo.domain.models import ToolResult, TraceKind
from curiosity_rosa_demo.domain.operation import call_text, Operation
from curiosity_rosa_demo.domain.plan.plan import create_plan_from_llm_response, Plan, PlanError
from curiosity_rosa_demo.domain.plan.repair import LEFT_OUT
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.tools.arguments import arguments_error_text
from pydantic import ValidationError


class BadCall(Exception):
    """An invalid call; the message gives the reason to the model and the user. ``code``: of the
    error map; '' for none.
    """

    def __init__(self, why: str, code: str = '') -> None:
        super().__init__(why)
        self.code = code


async def compile_ops(state: BrainState, turn: TurnContext) -> BrainState:
    """Set ``react.proposed_ops``: at most one operation, validated against its skill's schema, or
    a question.
    """
    decision = state.react.decision
    assert decision is not None
    state = with_react_fields(state, proposed_ops=ProposedOps())
    if not decision.ops:
        return state
    first = decision.ops[0]
    try:
        if 'refused' in first:
            raise BadCall(str(first['refused']))
        if decision.plan_patch is not None:
            return _with_patched_plan(state, decision, turn)
        if decision.type is DecisionType.ASK_HUMAN:
            return _with_question(state, decision.reason or 'The agent asks whether to go on.')
        if 'tool' not in first:  # a question of a plan
            return _with_question(state, str(first['ask']))
        if first['tool'] == DECIDE_TOOL:
            return _with_decision(state, first, decision)
        op = checked_operation(
            str(first['tool']),
            json.loads(str(first['input'])),
            turn,
            call_id=str(first['call_id']),
            plan_step=first.get('plan_step'),
        )
    except BadCall as problem:
        return refused_call(state, first, str(problem), turn, problem.code)
    question = str(first.get('ask', ''))
    payload: Json = {'reasons': [question], 'op': op.to_json()} if question else {}
    return with_react_fields(
        state,
        proposed_ops=ProposedOps(
            to_dispatch=[op.to_json()], need_approval=bool(question), approval_payload=payload
        ),
    )


def checked_operation(
    name: str, arguments: Any, turn: TurnContext, call_id: str = '', plan_step: Any = None
) -> Operation:
    """The operation with validated arguments. Raises BadCall."""
    skills = {skill.definition.name: skill for skill in turn.registry.for_model()}
    skill = skills.get(name)
    if skill is None:
        known = ', '.join(skills)
        raise BadCall(f"Unknown tool '{clip(name)}'; there are: {known}", 'SKILL_NOT_FOUND')
    try:
        validated = skill.arguments.model_validate(arguments).model_dump(mode='json')
    except ValidationError as error:
        why = arguments_error_text(error, skill.arguments)
        raise BadCall(f'Wrong arguments for {name}: {why}', 'PARAM_INVALID') from None
    return Operation(name, validated, call_id, plan_step)


def refused_call(
    state: BrainState, call: Json, why: str, turn: TurnContext, code: str = ''
) -> BrainState:
    """Record ``why`` as the call's result, for the model. ``code``: of the error map."""
    name = clip(str(call.get('tool', '')))
    coded: Json = {'code': code} if code else {}
    turn.trace(
        TraceKind.ERROR, why, tool_name=name, ok=False, error_reason=why, data=coded or None
    )
    text = call_text(name, json.loads(str(call.get('input', '{}'))))
    counts = state.react.refused
    state = with_react_fields(
        state,
        refused={**counts, text: counts.get(text, 0) + 1},
        refused_in_a_row=state.react.refused_in_a_row + 1,
        proposed_ops=ProposedOps(),
    )
    failure = ToolResult.failure(why, **coded)
    messages = with_result(state.messages, str(call.get('call_id', '')), failure)
    return state.model_copy(update={'messages': messages})


def _with_question(state: BrainState, text: str) -> BrainState:
    payload: Json = {'reasons': [], 'text': text}
    return with_react_fields(
        state, proposed_ops=ProposedOps(need_approval=True, approval_payload=payload)
    )


def _with_decision(state: BrainState, call: Json, decision: Decision, **data: str) -> BrainState:
    """Record a change of course without an operation; ``data`` goes into the call's result."""
    result = ToolResult.success(decision=decision.type.value, **data)
    messages = with_result(state.messages, str(call['call_id']), result)
    return state.model_copy(update={'messages': messages})


def _with_patched_plan(state: BrainState, decision: Decision, turn: TurnContext) -> BrainState:
    """Propose, revise or drop the plan. Raises BadCall."""
    patch, call = decision.plan_patch or {}, decision.ops[0]
    if patch['action'] == 'drop':
        state = with_react_fields(state, plan=None)
        return _with_decision(state, call, decision)
    try:
        plan = create_plan_from_llm_response(patch['plan'] or {})  # type: ignore[arg-type]
    except PlanError as error:
        raise BadCall(f'That is no plan: {error}') from None
    problems = check_plan(plan, [skill.definition.name for skill in turn.registry.for_model()])
    if problems:
        raise BadCall(f'The plan cannot be carried out: {"; ".join(problems[:5])}')
    if patch['action'] == 'revise' and state.react.plan is not None:
        plan = revised_plan(Plan.from_dict(state.react.plan), plan)
    plan.metadata[PROPOSED_KEY] = True
    trace_plan(turn.trace, plan)
    left_out = {'left_out': left_out_text(plan)} if plan.metadata.get(LEFT_OUT) else {}
    return _with_decision(
        with_react_fields(state, plan=plan.to_dict()), call, decision, **left_out
    )
