# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether the turn ends, asks, or goes on."""

from __future__ import annotations

from curiosity_rosa_demo.agent.react.nodes.human_approval import (
    ASK_TO_CONTINUE,
    state_with_question,
)
from curiosity_rosa_demo.agent.react.nodes.observe_result import ONE_CALL_AT_A_TIME_TEXT
from curiosity_rosa_demo.agent.react.nodes.rule_step import (
    refused_too_often,
    rules_decided_last,
    rules_may_decide,
)
from curiosity_rosa_demo.agent.react.turn.context import TurnContext
from curiosity_rosa_demo.agent.react.turn.messages import result_of, with_react_fields
from curiosity_rosa_demo.domain.brain_state import BrainState, DecisionType, Json, SkillStatus

MAX_LOOPS_PER_STEP = 3  # decisions that are no steps: plans, questions, refusals


async def stop_or_loop(state: BrainState, turn: TurnContext) -> BrainState:
    """``react.stop_reason`` (a DecisionType), ``ok`` and ``answer`` when the turn ends."""
    react, decision = state.react, state.react.decision
    assert decision is not None
    if react.stop_reason:  # a person did not want to go on
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
    if wants_more or too_long or react.spent.steps > max_steps:  # by a stop, which no rule refuses
        words = (
            f'Stopped after {max_steps} steps without an answer (turn.max_steps of agent.yaml).'
        )
        return _end_turn(state, DecisionType.ABORT, words)
    if refused_too_often(state, turn) and (
        rules_decided_last(state) or not rules_may_decide(state, turn)
    ):
        who = 'The model and the routine' if rules_decided_last(state) else 'The model'
        words = refusals_text(state, who)
        if _refused_for(state, turn) is DecisionType.ASK_HUMAN:
            return _whether_to_go_on(state, turn, words)
        return _end_turn(state, DecisionType.ABORT, words)
    if mapped is DecisionType.ASK_HUMAN:
        words = f'{_last_call(state)} failed: {_last_reason(state)}'
        return _whether_to_go_on(state, turn, words)
    if react.failures_in_a_row >= patience.failures_in_a_row:
        words = f'{react.failures_in_a_row} failures in a row; the last: {_last_reason(state)}'
        return _budget_exhausted(state, turn, words)
    if react.same_in_a_row + 1 >= patience.no_progress:
        words = f'{_last_call(state)} had the same result {react.same_in_a_row + 1} times in a row'
        return _budget_exhausted(state, turn, words)
    return state


def refusals_text(state: BrainState, who: str = 'The model') -> str:
    count = state.react.refused_in_a_row
    words = f'{who} proposed {count} calls in a row that were refused'
    return f'{words}; the last: {_last_reason(state)}'


def _budget_exhausted(state: BrainState, turn: TurnContext, words: str) -> BrainState:
    if turn.config.guardrails.patience.exhausted is not DecisionType.ASK_HUMAN:
        return _end_turn(state, DecisionType.ABORT, words)
    return _whether_to_go_on(state, turn, words)


def _whether_to_go_on(state: BrainState, turn: TurnContext, words: str) -> BrainState:
    """A person decides. A no, or nobody, ends the turn with ``words``."""
    state = with_react_fields(state, stop_reason=ASK_TO_CONTINUE, ok=False, answer=words)
    return state_with_question(state, turn, f'{words}. Go on?', [], None)


def _decision_from_error_map(state: BrainState, turn: TurnContext) -> DecisionType | None:
    """What the error map says to the last failure."""
    done = state.skills.last_result
    call = _last_op(state)
    if done is None or done.status is SkillStatus.SUCCESS or call is None:
        return None
    skill = str(call['tool'])
    return turn.registry.error_decision(skill, done.error_code) or turn.registry.error_decision(
        skill, done.error_msg
    )


def _refused_for(state: BrainState, turn: TurnContext) -> DecisionType | None:
    """What the error map says to the last refusal of a call that fits no skill."""
    for message in reversed(state.messages):
        result = result_of(message)
        if result is not None and not result.ok and result.error_reason != ONE_CALL_AT_A_TIME_TEXT:
            code = str(result.data.get('code', ''))
            return turn.registry.error_decision(str(message['tool']), code)
    return None


def _last_op(state: BrainState) -> Json | None:
    """The entry of the last call that was carried out: the answer's other calls follow it."""
    return next((each for each in reversed(state.messages) if 'op' in each), None)


def _last_call(state: BrainState) -> str:
    call = _last_op(state)
    return '' if call is None else str(call['op'])


def _last_reason(state: BrainState) -> str:
    for message in reversed(state.messages):
        result = result_of(message)
        if result is not None and not result.ok and result.error_reason != ONE_CALL_AT_A_TIME_TEXT:
            return result.error_reason
    return ''


def _end_turn(state: BrainState, kind: DecisionType, answer: str) -> BrainState:
    return with_react_fields(
        state, stop_reason=kind.value, ok=kind is not DecisionType.ABORT, answer=answer
    )
