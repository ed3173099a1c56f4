# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Asks the operator before a risky operation. After a restart the question is asked again."""

from __future__ import annotations

import json
import time
from typing import Any
import uuid

from curiosity_rosa_demo.agent.react.nodes.build_observation import build_observation
from curiosity_rosa_demo.agent.react.nodes.compile_ops import (
    BadCall,
    checked_operation,
    refused_call,
)
from curiosity_rosa_demo.agent.react.nodes.dispatch_skills import APPROVED_KEY, REHEARSED_KEY
from curiosity_rosa_demo.agent.react.nodes.guardrails_check import FENCE_KEY, guardrails_check
from curiosity_rosa_demo.agent.react.nodes.rehearse import rehearse_op
from curiosity_rosa_demo.agent.react.plan.steps import approve_step
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.react.turn.messages import result_of, with_react_fields, with_result
from curiosity_rosa_demo.agent.skills.monitor import current_task
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BrainState,
    Decision,
    Json,
    ProposedOps,
    Question,
)
from curiosity_rosa_demo.domain.models import ToolResult, TraceKind
from curiosity_rosa_demo.domain.operation import (
    ModelQuestion,
    Operation,
    PlanStepOp,
    PlanStepRejected,
    RefusedCall,
)
from curiosity_rosa_demo.domain.plan import Plan, PlanStatus
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.domain.text import visible
from curiosity_rosa_demo.trace.events import QuestionAnswered, QuestionAsked
from langgraph.types import interrupt

ASK_TO_CONTINUE = 'go on'  # stop_reason of an exhausted turn that asks to continue
REJECTED_TEXT = 'Rejected by the operator'


async def put_question(state: BrainState, turn: TurnContext) -> BrainState:
    """Set ``react.question`` when the proposed operation needs an answer first."""
    proposed = state.react.proposed_ops
    if proposed is None or not proposed.need_approval:
        return with_react_fields(state, question=None)
    payload: Any = proposed.approval_payload
    op = proposed.to_dispatch[0] if proposed.to_dispatch else None
    text = payload.get('text') or (op.full_text if op else '')
    return state_with_question(
        state,
        turn,
        text,
        payload['reasons'],
        op,
        _rehearsal_of(state, turn, op),
        leaves_fence=payload.get(FENCE_KEY) is True,
    )


def _rehearsal_of(state: BrainState, turn: TurnContext, op: Operation | None) -> Rehearsal | None:
    """Of the whole plan, if that is what the question is about; else of the operation."""
    plan = state.react.plan
    if plan is not None and plan.get('status') == PlanStatus.WAIT_CONFIRMATION.value:
        return state.react.rehearsal
    return None if op is None else rehearse_op(state, turn, op)


def state_with_question(
    state: BrainState,
    turn: TurnContext,
    text: str,
    reasons: list[Any],
    op: Operation | None,
    rehearsal: Rehearsal | None = None,
    *,
    leaves_fence: bool = False,
) -> BrainState:
    question = Question(
        id=f'q{uuid.uuid4().hex[:8]}',
        text=visible(text),
        op=op,
        reasons=[visible(str(reason)) for reason in reasons],
        asked_at=time.time(),
        rehearsal=rehearsal,
        leaves_fence=leaves_fence,
        task_id=current_task(),
    )
    why = f' ({"; ".join(question.reasons)})' if question.reasons else ''
    asked = QuestionAsked(question.id, '' if rehearsal is None else rehearsal.text)
    turn.trace(**asked.trace_fields(f'Asking: {text}{why}'))
    return with_react_fields(state, question=question)


async def human_approval(state: BrainState, turn: TurnContext) -> BrainState:
    """Runs twice: LangGraph ends the first run at ``interrupt`` and starts anew with the answer.

    An approved operation is checked again with current facts, because an answer takes time.
    """
    question = state.react.question
    assert question is not None
    answer: Any = interrupt(question.model_dump(mode='json'))
    action, why = ApprovalAction(answer['action']), str(answer.get('why', ''))
    answered = QuestionAnswered(
        question.id, action.value.lower(), why, by=str(answer.get('by', ''))
    )
    turn.trace(**answered.trace_fields())
    state = with_react_fields(state, question=None)
    if question.op is None:
        return _with_answer(state, action, why)
    proposed = state.react.proposed_ops
    assert proposed is not None
    op = proposed.to_dispatch[0]
    state = _with_plan_answer(state, yes=action is not ApprovalAction.REJECT, why=why)
    if action is ApprovalAction.REJECT:
        return _with_rejection(state, op, why, turn)
    if action is ApprovalAction.EDIT:
        return await _with_edited_op(state, op, answer.get('arguments'), turn, question)
    return await _with_rechecked_op(state, op, turn, question)


def _with_answer(state: BrainState, action: ApprovalAction, why: str) -> BrainState:
    """Apply the answer to a plain question: of the model, of a plan, or whether to continue."""
    yes = action is ApprovalAction.APPROVE
    asked = state.react.decided_op
    state = with_react_fields(state, proposed_ops=ProposedOps())
    if state.react.stop_reason == ASK_TO_CONTINUE:
        changes: dict[str, Any] = {'stop_reason': ''} if yes else {'stop_reason': 'ABORT'}
        return with_react_fields(
            state,
            **changes,
            decision=Decision(),
            failures_in_a_row=0,
            same_in_a_row=0,
            refused_in_a_row=0,
        )
    if not isinstance(asked, ModelQuestion):
        return _with_plan_answer(state, yes=yes, why=why)
    result = ToolResult.success(answer='yes') if yes else ToolResult.success(answer='no', why=why)
    messages = with_result(state.messages, asked.call_id, result)
    return state.model_copy(update={'messages': messages})


def _with_plan_answer(state: BrainState, *, yes: bool, why: str) -> BrainState:
    """Record the answer that a plan's step waits for; nothing for a call without such a step."""
    decision, plan, op = state.react.decision, state.react.plan, state.react.decided_op
    if decision is None or plan is None or not isinstance(op, PlanStepOp):
        return state
    if yes:
        approved = approve_step(Plan.from_dict(plan), op.step_id)
        return with_react_fields(state, plan=approved.to_dict())
    rejected = decision.model_copy(update={'ops': [PlanStepRejected(op.step_id, why)]})
    return with_react_fields(state, decision=rejected)


def _with_rejection(state: BrainState, op: Operation, why: str, turn: TurnContext) -> BrainState:
    text = f'{REJECTED_TEXT}: {why}' if why else REJECTED_TEXT
    code = RefusalCode.REJECTED.value
    return refused_call(state, RefusedCall(op.skill, op.text, op.call_id, text, code), turn)


async def _with_edited_op(
    state: BrainState, op: Operation, arguments: Any, turn: TurnContext, question: Question
) -> BrainState:
    """Replace the model's call by the edited one. The result of the call notes the change."""
    try:
        edited = checked_operation(op.skill, arguments, turn, op.call_id, op.plan_step)
    except BadCall as problem:
        why = f'The operator changed the arguments of {op.text}, but: {problem}'
        return refused_call(state, RefusedCall(op.skill, op.text, op.call_id, why), turn)
    turn.trace(TraceKind.OBSERVE, f'The operator changed {op.text} to {edited.text}')
    messages = [
        {**each, 'input': json.dumps(edited.arguments), 'edited_from': op.text}
        if each['call_id'] == op.call_id
        else each
        for each in state.messages
    ]
    state = state.model_copy(update={'messages': messages})
    note = f'The operator changed {op.text}: '
    return await _with_rechecked_op(state, edited, turn, question, note)


async def _with_rechecked_op(
    state: BrainState, op: Operation, turn: TurnContext, question: Question, note: str = ''
) -> BrainState:
    """Check the approved operation again. The operator is asked again when the reasons now
    include the fence and the question did not.
    """
    state = with_react_fields(state, proposed_ops=ProposedOps(to_dispatch=[op]))
    state = await guardrails_check(await build_observation(state, turn), turn)
    left = state.react.proposed_ops
    assert left is not None
    if note and not left.to_dispatch:  # the model must not take the edited call for its own
        refusal = next(each for each in state.messages if each['call_id'] == op.call_id)
        told = result_of(refusal) or ToolResult.failure(REJECTED_TEXT, RefusalCode.REJECTED)
        failure = ToolResult.failure(f'{note}{told.error_reason}', told.error_code)
        messages = with_result(state.messages, op.call_id, failure)
        state = state.model_copy(update={'messages': messages})
    leaves_fence = left.approval_payload.get(FENCE_KEY) is True
    if left.to_dispatch and leaves_fence and not question.leaves_fence:
        return await put_question(state, turn)
    approved: Json = {}
    if left.to_dispatch:
        approved = {APPROVED_KEY: list(question.reasons), FENCE_KEY: question.leaves_fence}
    if note:  # an edited step is not the one that was rehearsed
        state = with_react_fields(state, rehearsal=None)
    if left.to_dispatch and state.react.rehearsal is None:  # a plan is compared as a whole
        rehearsal = rehearse_op(state, turn, left.to_dispatch[0])
        approved[REHEARSED_KEY] = None if rehearsal is None else rehearsal.model_dump(mode='json')
    proposed = ProposedOps(to_dispatch=left.to_dispatch, approval_payload=approved)
    return with_react_fields(state, proposed_ops=proposed)
