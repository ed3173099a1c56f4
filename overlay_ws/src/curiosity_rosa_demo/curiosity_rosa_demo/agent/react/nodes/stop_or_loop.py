# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Decides whether the turn ends, asks the operator, or continues."""

from __future__ import annotations

from curiosity_rosa_demo.agent.react.nodes.compile_ops import (
    refused_too_often,
    rules_decided_last,
    rules_may_decide,
)
from curiosity_rosa_demo.agent.react.nodes.human_approval import (
    ASK_TO_CONTINUE,
    state_with_question,
)
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.react.turn.messages import result_of, with_react_fields
from curiosity_rosa_demo.domain.brain_state import BrainState, DecisionType, Json, SkillStatus
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.text import count_text

MAX_LOOPS_PER_STEP = 3  # decisions on plans, questions and refused calls use no step


async def stop_or_loop(state: BrainState, turn: TurnContext) -> BrainState:
    """Set ``react.stop_reason`` (a DecisionType), ``ok`` and ``answer`` when the turn ends."""
    react, decision = state.react, state.react.decision
    assert decision is not None
    if react.internal_error:  # whatever the decider says to it
        text = f'{_last_call(state)} failed: {_last_reason(state)}'
        return _end_turn(state, DecisionType.ABORT, text)
    if react.stop_reason:  # the operator chose not to continue
        return with_react_fields(state, ok=False)
    if decision.type is DecisionType.FINISH:
        return _end_turn(state, DecisionType.FINISH, decision.reason.strip() or 'done')
    if decision.type in (DecisionType.ABORT, DecisionType.SWITCH_TASK):
        return _end_turn(state, decision.type, decision.reason.strip() or decision.type.value)
    return _end_if_hopeless(state, turn)


def _end_if_hopeless(state: BrainState, turn: TurnContext) -> BrainState:
    react = state.react
    patience, max_steps = turn.config.guardrails.patience, turn.config.agent.turn.max_steps
    mapped = _decision_from_error_map(state, turn)
    if mapped is DecisionType.ABORT:
        return _end_turn(
            state, DecisionType.ABORT, f'{_last_call(state)} failed: {_last_reason(state)}'
        )
    wants_more = react.spent.steps >= max_steps and react.refused_in_a_row > 0
    too_long = react.iter > MAX_LOOPS_PER_STEP * (max_steps + 1)
    # A stop can exceed max_steps: no rule refuses it.
    if wants_more or too_long or react.spent.steps > max_steps:
        used = count_text(max_steps, 'step')
        text = f'Stopped after {used} without an answer (turn.max_steps of agent.yaml).'
        return _end_turn(state, DecisionType.ABORT, text)
    if refused_too_often(state, turn) and (
        rules_decided_last(state) or not rules_may_decide(state, turn)
    ):
        proposer = 'The model and the routine' if rules_decided_last(state) else 'The model'
        text = refusals_text(state, proposer)
        if _decision_on_refusal(state, turn) is DecisionType.ASK_HUMAN:
            return _ask_to_continue(state, turn, text)
        return _end_turn(state, DecisionType.ABORT, text)
    if mapped is DecisionType.ASK_HUMAN:
        text = f'{_last_call(state)} failed: {_last_reason(state)}'
        return _ask_to_continue(state, turn, text)
    if react.failures_in_a_row >= patience.failures_in_a_row:
        failures = count_text(react.failures_in_a_row, 'failure')
        text = f'{failures} in a row; the last: {_last_reason(state)}'
        return _end_or_ask(state, turn, text)
    if react.same_in_a_row + 1 >= patience.no_progress:
        text = f'{_last_call(state)} had the same result {react.same_in_a_row + 1} times in a row'
        return _end_or_ask(state, turn, text)
    return state


def refusals_text(state: BrainState, proposer: str = 'The model') -> str:
    count = state.react.refused_in_a_row
    text = f'{proposer} proposed {count_text(count, "call")} in a row that were refused'
    return f'{text}; the last: {_last_reason(state)}'


def _end_or_ask(state: BrainState, turn: TurnContext, text: str) -> BrainState:
    if turn.config.guardrails.patience.exhausted is not DecisionType.ASK_HUMAN:
        return _end_turn(state, DecisionType.ABORT, text)
    return _ask_to_continue(state, turn, text)


def _ask_to_continue(state: BrainState, turn: TurnContext, text: str) -> BrainState:
    """Ask the operator whether to continue. A no, or no answer, ends the turn with ``text``."""
    state = with_react_fields(state, stop_reason=ASK_TO_CONTINUE, ok=False, answer=text)
    return state_with_question(state, turn, f'{text}. Go on?', [], None)


def _decision_from_error_map(state: BrainState, turn: TurnContext) -> DecisionType | None:
    """The error map's decision on the last failure; None when it has none."""
    done = state.skills.last_result
    call = _last_op(state)
    if done is None or done.status is SkillStatus.SUCCESS or call is None:
        return None
    skill = str(call['tool'])
    return turn.registry.error_decision(skill, done.error_code) or turn.registry.error_decision(
        skill, done.error_msg
    )


def _decision_on_refusal(state: BrainState, turn: TurnContext) -> DecisionType | None:
    """The error map's decision on the last refusal of a call that fits no skill."""
    for message in reversed(state.messages):
        result = result_of(message)
        if result is not None and not result.ok and result.error_code != RefusalCode.DECLINED:
            return turn.registry.error_decision(str(message['tool']), result.error_code)
    return None


def _last_op(state: BrainState) -> Json | None:
    """The entry of the last executed call; declined calls of the same answer follow it."""
    return next((each for each in reversed(state.messages) if 'op' in each), None)


def _last_call(state: BrainState) -> str:
    call = _last_op(state)
    return '' if call is None else str(call['op'])


def _last_reason(state: BrainState) -> str:
    for message in reversed(state.messages):
        result = result_of(message)
        if result is not None and not result.ok and result.error_code != RefusalCode.DECLINED:
            return result.error_reason
    return ''


def _end_turn(state: BrainState, kind: DecisionType, answer: str) -> BrainState:
    return with_react_fields(
        state, stop_reason=kind.value, ok=kind is not DecisionType.ABORT, answer=answer
    )
