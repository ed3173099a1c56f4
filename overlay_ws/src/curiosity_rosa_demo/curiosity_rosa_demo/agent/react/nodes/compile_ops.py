# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Turns the decision into a typed operation, or refuses a call that fits no skill."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from curiosity_rosa_demo.agent.react.nodes.rehearse import rehearse_plan
from curiosity_rosa_demo.agent.react.plan.steps import (
    check_plan,
    ENDED_STATUSES,
    left_out_text,
    revised_plan,
    trace_plan,
)
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.react.turn.decide_tool import PROPOSED_KEY
from curiosity_rosa_demo.agent.react.turn.messages import result_of, with_react_fields, with_result
from curiosity_rosa_demo.agent.rule_model.rules import is_understood
from curiosity_rosa_demo.domain.brain_state import BrainState, Decision, Json, ProposedOps
from curiosity_rosa_demo.domain.models import ToolResult, TraceKind
from curiosity_rosa_demo.domain.operation import (
    CourseChange,
    DECIDE_TOOL,
    ModelQuestion,
    Operation,
    PlanStepCall,
    PlanStepQuestion,
    PlanStepRejected,
    RefusedCall,
    ToolCall,
)
from curiosity_rosa_demo.domain.plan import Plan, PlanError
from curiosity_rosa_demo.domain.plan_reader import create_plan_from_llm_response, LEFT_OUT
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.tools.tool_impl import arguments_error_text
from pydantic import ValidationError

# -----------------------------------------------------------------------------------------------
# When the rule model decides a step in the model's place, and which calls it reads. Pure
#
# The rule model decides one step; then the model is asked again, until ``patience.takeovers``. Its
# proposals pass the same guardrails.


BY, ROUTINE = 'by', 'routine'  # marks the rule model's decisions and calls


def rules_may_decide(state: BrainState, turn: TurnContext) -> bool:
    """Whether the rule model may decide: it understands the goal, no plan is under way, and the
    operator's last answer was not a no.
    """
    if turn.fallback is None or not is_understood(turn.text, _skill_words(turn)):
        return False
    plan = state.react.plan
    under_way = plan is not None and Plan.from_dict(plan).status not in ENDED_STATUSES
    return not (under_way or was_rejected(state))


def _skill_words(turn: TurnContext) -> tuple[tuple[str, str], ...]:
    return tuple(
        (phrase, skill.definition.name)
        for skill in turn.registry.for_model()
        for phrase in skill.words
    )


def refused_too_often(state: BrainState, turn: TurnContext) -> bool:
    return state.react.refused_in_a_row >= turn.config.guardrails.patience.refused_in_a_row


def rules_decided_last(state: BrainState) -> bool:
    """Whether the rule model made the last decision."""
    decision = state.react.decision
    return decision is not None and decision.by == ROUTINE


def messages_for_rules(messages: Iterable[Json]) -> list[Json]:
    """The executed calls and the rule model's own. A refused proposal of the model is left out,
    because it is no failure of the skill.
    """
    return [each for each in messages if 'op' in each or each.get(BY) == ROUTINE]


def was_rejected(state: BrainState) -> bool:
    """Whether the operator's last answer was a no."""
    for message in reversed(state.messages):
        result = result_of(message)
        if result is not None and result.error_code != RefusalCode.DECLINED:
            rejected = result.error_code == RefusalCode.REJECTED
            return rejected or result.data.get('answer') == 'no'
    return False


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
    decision, op = state.react.decision, state.react.decided_op
    assert decision is not None
    state = with_react_fields(state, proposed_ops=ProposedOps())
    if op is None or isinstance(op, PlanStepRejected):  # the operator rejects after this node
        return state
    if isinstance(op, RefusedCall):
        return refused_call(state, op, turn)
    if isinstance(op, (ModelQuestion, PlanStepQuestion)):
        return _with_question(state, op.question)
    if isinstance(op, CourseChange):
        return _with_course_change(state, op, decision, turn)
    if isinstance(op, PlanStepCall):
        return _with_operation(state, op.call, turn, op.step_id, op.question)
    return _with_operation(state, op, turn)


def _with_operation(
    state: BrainState,
    call: ToolCall,
    turn: TurnContext,
    plan_step: int | None = None,
    question: str = '',
) -> BrainState:
    """Propose the call as an operation. ``question``: to the operator first; '' for none."""
    try:
        op = checked_operation(call.tool, call.arguments, turn, call.call_id, plan_step)
    except BadCall as problem:
        refused = RefusedCall(call.tool, call.text, call.call_id, str(problem), problem.code)
        return refused_call(state, refused, turn)
    payload: Json = {'reasons': [question]} if question else {}
    return with_react_fields(
        state,
        proposed_ops=ProposedOps(
            to_dispatch=[op], need_approval=bool(question), approval_payload=payload
        ),
    )


def checked_operation(
    name: str, arguments: Any, turn: TurnContext, call_id: str = '', plan_step: int | None = None
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


def refused_call(state: BrainState, call: RefusedCall, turn: TurnContext) -> BrainState:
    """Record the refusal as the call's result, for the model."""
    coded: Json = {'code': call.code} if call.code else {}
    turn.trace(
        TraceKind.ERROR,
        call.why,
        tool_name=clip(call.tool),
        ok=False,
        error_reason=call.why,
        data=coded or None,
    )
    counts = state.react.refused
    state = with_react_fields(
        state,
        refused={**counts, call.text: counts.get(call.text, 0) + 1},
        refused_in_a_row=state.react.refused_in_a_row + 1,
        proposed_ops=ProposedOps(),
    )
    failure = ToolResult.failure(call.why, call.code)
    messages = with_result(state.messages, call.call_id, failure)
    return state.model_copy(update={'messages': messages})


def _with_question(state: BrainState, text: str) -> BrainState:
    payload: Json = {'reasons': [], 'text': text}
    return with_react_fields(
        state, proposed_ops=ProposedOps(need_approval=True, approval_payload=payload)
    )


def _with_course_change(
    state: BrainState, change: CourseChange, decision: Decision, turn: TurnContext
) -> BrainState:
    """Record the change of course, and patch the plan where the decision says so."""
    data: dict[str, str] = {}
    if decision.plan_patch is not None:
        try:
            state, data = _with_patched_plan(state, decision.plan_patch, turn)
        except BadCall as problem:
            refused = RefusedCall(DECIDE_TOOL, change.text, change.call_id, str(problem))
            return refused_call(state, refused, turn)
    result = ToolResult.success(decision=decision.type.value, **data)
    messages = with_result(state.messages, change.call_id, result)
    return state.model_copy(update={'messages': messages})


def _with_patched_plan(
    state: BrainState, patch: Json, turn: TurnContext
) -> tuple[BrainState, dict[str, str]]:
    """Propose, revise or drop the plan; the texts go into the call's result. Raises BadCall."""
    if patch['action'] == 'drop':
        return with_react_fields(state, plan=None), {}
    try:
        plan = create_plan_from_llm_response(patch['plan'] or {})  # type: ignore[arg-type]
    except PlanError as error:
        raise BadCall(f'That is no plan: {error}') from None
    problems = check_plan(plan, [skill.definition.name for skill in turn.registry.for_model()])
    if problems:
        raise BadCall(f'The plan cannot be carried out: {"; ".join(problems[:5])}')
    if patch['action'] == 'revise' and state.react.plan is not None:
        plan = revised_plan(Plan.from_dict(state.react.plan), plan)
    state, plan, refused = rehearse_plan(state, turn, plan)
    if refused:
        raise BadCall(f'{refused}. The plan is not taken.')
    plan.metadata[PROPOSED_KEY] = True
    trace_plan(turn.trace, plan)
    left_out = {'left_out': left_out_text(plan)} if plan.metadata.get(LEFT_OUT) else {}
    return with_react_fields(state, plan=plan.to_dict()), left_out
