# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The stage ``ask``: waits for the operator, and checks again what was approved.

A checkpoint with the question was committed before: after a restart it is asked again.
"""

from __future__ import annotations

import json
import time

from curiosity_rosa_demo.agent.react.ask import ApprovalAnswer
from curiosity_rosa_demo.agent.react.gate import Approval
from curiosity_rosa_demo.agent.react.plan import approve_step, reject_step, trace_steps
from curiosity_rosa_demo.agent.react.rehearse import rehearse_op
from curiosity_rosa_demo.agent.react.think import (
    BadCall,
    check,
    checked_operation,
    observe,
    put_question,
    refuse,
)
from curiosity_rosa_demo.agent.react.turn import ASK_TO_CONTINUE, Turn, TurnEnvironment
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, Decision, Question
from curiosity_rosa_demo.domain.models import ToolResult, TraceKind
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.trace.events import QuestionAnswered

REJECTED_TEXT = 'Rejected by the operator'


def ask(turn: Turn, env: TurnEnvironment) -> None:
    """Blocks until the answer; without a question it does nothing. Raises TurnCancelled."""
    question, since_s = turn.question, time.monotonic()
    if question is None:
        return
    answer = env.approval_queue.ask(question, env.cancellation)
    turn.spend(seconds=since_s - time.monotonic())  # a wait for a person does not count
    apply_answer(turn, env, question, answer)


def apply_answer(
    turn: Turn, env: TurnEnvironment, question: Question, answer: ApprovalAnswer
) -> None:
    """An approved operation is checked again with current facts: an answer takes time."""
    action = answer.action
    told = QuestionAnswered(question.id, action.value.lower(), answer.why, by=answer.by)
    env.trace(**told.trace_fields())
    turn.question, op = None, question.op
    yes = action is ApprovalAction.APPROVE if op is None else action is not ApprovalAction.REJECT
    if op is None and turn.stop_reason == ASK_TO_CONTINUE:
        turn.stop_reason, turn.decision = '' if yes else 'ABORT', Decision()
        turn.failures_in_a_row = turn.same_in_a_row = turn.refused_in_a_row = 0
    elif op is None and turn.call_id:  # the model has asked, and reads the answer
        said = {'answer': 'yes'} if yes else {'answer': 'no', 'why': answer.why}
        turn.answer_call(turn.call_id, ToolResult.success(**said))
    elif yes:
        _approve(turn, env, question, answer)
    else:
        if op is not None:
            why = f'{REJECTED_TEXT}: {answer.why}' if answer.why else REJECTED_TEXT
            refuse(turn, env, why, RefusalCode.REJECTED.value)
        _reject_step(turn, env, answer.why)


def _reject_step(turn: Turn, env: TurnEnvironment, why: str) -> None:
    """Record the operator's no to the plan's step, which ends the plan; nothing without one."""
    if turn.plan is None or turn.step_id is None:
        return
    recorded = reject_step(turn.plan, turn.step_id, why or 'no', time.time())
    trace_steps(env.trace, [recorded.result, *recorded.skipped])
    turn.plan, turn.step_id = recorded.plan, None


def _approve(turn: Turn, env: TurnEnvironment, question: Question, answer: ApprovalAnswer) -> None:
    """Check the approved operation again. The operator is asked again when it now may leave the
    fence and the question did not say so.
    """
    if turn.plan is not None and turn.step_id is not None:
        turn.plan = approve_step(turn.plan, turn.step_id)
    op, note = question.op, ''
    if op is None:
        return
    if answer.action is ApprovalAction.EDIT:
        note, before = f'The operator changed {op.text}: ', op.text
        try:
            op = checked_operation(op.skill, answer.arguments, env, op.call_id, op.plan_step)
        except BadCall as problem:
            why = f'The operator changed the arguments of {before}, but: {problem}'
            refuse(turn, env, why)
            return
        env.trace(TraceKind.OBSERVE, f'The operator changed {before} to {op.text}')
        turn.change(op.call_id, input=json.dumps(op.arguments), edited_from=before)
    observe(turn, env)
    reasons, leaves_fence = check(turn, env, op)
    if turn.op is None:
        if note:  # the model must not take the edited call for its own
            refused = turn.exchange(op.call_id).result
            why = note if refused is None else f'{note}{refused.error_reason}'
            code = '' if refused is None else refused.error_code
            turn.answer_call(op.call_id, ToolResult.failure(why, code))
    elif leaves_fence and not question.leaves_fence:
        put_question(turn, env, op.full_text, reasons, op, leaves_fence=True)
    else:
        turn.approval = _approval(turn, env, op, question, edited=bool(note))


def _approval(
    turn: Turn, env: TurnEnvironment, op: Operation, question: Question, *, edited: bool
) -> Approval:
    if edited:  # an edited step is not the one that was rehearsed
        turn.rehearsal = None
    # A plan is compared as a whole.
    rehearsal = rehearse_op(turn, env, op) if turn.rehearsal is None else None
    return Approval(op, question.leaves_fence, rehearsal)
