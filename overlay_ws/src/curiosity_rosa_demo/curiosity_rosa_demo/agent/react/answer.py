# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Waits for the operator, and checks again what was approved: the stage ``ask`` of a turn, and a
direct order.

A checkpoint with a turn's question was committed before: after a restart it is asked again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import json
import time

from curiosity_rosa_demo.agent.react.ask import ApprovalAnswer, put, wait_for_answer
from curiosity_rosa_demo.agent.react.forecast import Call, rehearse, Stage
from curiosity_rosa_demo.agent.react.gate import not_approved, proposal_of
from curiosity_rosa_demo.agent.react.guardrails import Ask
from curiosity_rosa_demo.agent.react.plan import (
    approve_step,
    edit_step,
    open_step,
    reject_step,
    trace_steps,
    unmet_reason,
)
from curiosity_rosa_demo.agent.react.rehearse import rehearse_op
from curiosity_rosa_demo.agent.react.think import (
    check,
    observe,
    put_question,
    refuse,
)
from curiosity_rosa_demo.agent.react.turn import ASK_TO_CONTINUE, Turn, TurnEnvironment
from curiosity_rosa_demo.agent.skills.registry import arguments_as_json, SkillRegistry
from curiosity_rosa_demo.agent.skills.skill import BadArguments
from curiosity_rosa_demo.agent.tasks.origin import Approval, current_order, Order
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, Decision, Json, Question
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import ToolResult, TraceKind
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.origin import Origin
from curiosity_rosa_demo.domain.refusal import Refusal, RefusalCode
from curiosity_rosa_demo.domain.rehearsal import Rehearsal

REJECTED_TEXT = 'Rejected by the operator'


def ask(turn: Turn, env: TurnEnvironment) -> None:
    """Blocks until the answer; without a question it does nothing. Raises TurnCancelled."""
    question, since_s = turn.question, time.monotonic()
    if question is None:
        return
    answer = wait_for_answer(question, env.approval_queue, env.trace, env.cancellation)
    turn.spend(seconds=since_s - time.monotonic())  # a wait for a person does not count
    apply_answer(turn, env, question, answer)


def apply_answer(
    turn: Turn, env: TurnEnvironment, question: Question, answer: ApprovalAnswer
) -> None:
    """An approved operation is checked again with current facts: an answer takes time."""
    action, turn.question, op = answer.action, None, question.op
    yes = action is ApprovalAction.APPROVE if op is None else action is not ApprovalAction.REJECT
    turn.was_rejected = not yes
    if op is None and turn.stop_reason == ASK_TO_CONTINUE:
        turn.stop_reason, turn.decision = '' if yes else 'ABORT', Decision()
        turn.call_id = ''  # the yes is about its failure, which does not ask again
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
    if turn.plan is not None and open_step(turn.plan) is not None:
        trace_steps(env.trace, reject_step(turn.plan, why or 'no', time.time()))


def _approve(turn: Turn, env: TurnEnvironment, question: Question, answer: ApprovalAnswer) -> None:
    """Check the approved operation again. The operator is asked again when it now may leave the
    fence and the question did not say so.
    """
    if turn.plan is not None:
        approve_step(turn.plan)
    op, note = question.op, ''
    if op is None:
        return
    plan = turn.plan if op.plan_step is not None and turn.search is None else None
    try:
        op, before = _approved_op(op, answer, env.registry), op.text
    except BadArguments as problem:
        why = f'Wrong arguments for {problem}'
        why = f'The operator changed the arguments of {op.text}, but: {why}'
        refuse(turn, env, why)
        return
    if answer.action is ApprovalAction.EDIT:
        note = f'The operator changed {before}: '
        env.trace(TraceKind.OBSERVE, f'The operator changed {before} to {op.text}')
        turn.change(op.call_id, input=json.dumps(op.arguments), edited_from=before)
        if plan is not None:
            edit_step(plan, op.arguments)
    observe(turn, env)
    if plan is not None and (unmet := unmet_reason(plan, turn.observation)):
        refuse(turn, env, unmet)
        return
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


# --- A direct order ----------------------------------------------------------------------------


class NotAdmitted(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


def admit(
    op: Operation, env: TurnEnvironment, cancellation: Cancellation, reset: Callable[[], None]
) -> Order:
    """The order that may be dispatched, with the operator's yes where the gate asks for one.
    Blocks until the answer. The operator may have changed the arguments. ``reset`` begins a new
    budget before each check: neither the time since the last order nor a wait for a person counts.
    Raises NotAdmitted and TurnCancelled.
    """
    order = replace(current_order(), call=op)
    while True:
        reset()
        verdict = verdict_on(op, env, order)
        if isinstance(verdict, Refusal):
            raise NotAdmitted(verdict)
        if verdict is None:
            return order
        # After a yes the gate is asked again: an answer takes time.
        leaves_fence, rehearsal = bool(verdict.fence), rehearsal_of(op, env, order.origin)
        asked = put(env.trace, op.text, verdict.reasons, op, rehearsal, leaves_fence=leaves_fence)
        answer = wait_for_answer(asked, env.approval_queue, env.trace, cancellation)
        if answer.action is ApprovalAction.REJECT:
            raise NotAdmitted(_rejected(op, answer.why))
        try:
            op = _approved_op(op, answer, env.registry)
        except BadArguments as error:
            wrong = _rejected(op, f'the changed arguments are wrong: {error}')
            raise NotAdmitted(wrong) from None
        # What the operator's own arguments do is checked again, and rehearsed again.
        approval = Approval(op, leaves_fence, rehearsal_of(op, env, order.origin))
        order = replace(order, call=op, approval=approval)


def verdict_on(op: Operation, env: TurnEnvironment, order: Order) -> Refusal | Ask | None:
    """What the gate says to a direct order now; None: it may run."""
    return env.world.order_verdict(proposal_of(op, env.registry, env.config), order)


def rehearsal_of(
    op: Operation, env: TurnEnvironment, origin: Origin, facts: Json | None = None
) -> Rehearsal | None:
    """What a direct order would do; None: it does not drive. ``facts``: by default as of now."""
    language, seen = env.config.prompts.default_language, env.world.surroundings()
    stage = Stage(env.config, env.registry, seen, origin, language)
    return rehearse([Call(op)], env.world.facts() if facts is None else facts, stage)


def _rejected(op: Operation, why: str) -> Refusal:
    answer = f'rejected by the operator: {why}' if why else 'rejected by the operator'
    return not_approved(op, (answer,), 'order something else, or ask the operator')


def _approved_op(op: Operation, answer: ApprovalAnswer, registry: SkillRegistry) -> Operation:
    """The operation that a yes allows; an EDIT has replaced its arguments. Raises BadArguments."""
    if answer.action is not ApprovalAction.EDIT:
        return op
    given = {} if answer.arguments is None else answer.arguments
    return replace(op, arguments=arguments_as_json(registry.get(op.skill), given))
