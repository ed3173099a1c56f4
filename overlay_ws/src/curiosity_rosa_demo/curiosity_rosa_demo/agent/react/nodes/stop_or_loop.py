# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether the turn ends, asks, or goes on."""

from __future__ import annotations

from curiosity_rosa_demo.agent.react.nodes.human_approval import ask, GO_ON
from curiosity_rosa_demo.agent.react.nodes.observe_result import ONE_AT_A_TIME
from curiosity_rosa_demo.agent.react.nodes.rule_step import (
    decided_last,
    may_decide,
    refused_too_often,
)
from curiosity_rosa_demo.agent.react.turn.context import Turn
from curiosity_rosa_demo.agent.react.turn.messages import result_of, with_react
from curiosity_rosa_demo.domain.brain_state import BrainState, DecisionType, Json, SkillStatus

LOOPS_PER_STEP = 3  # decisions that are no steps: plans, questions, refusals


async def stop_or_loop(state: BrainState, turn: Turn) -> BrainState:
    """``react.stop_reason`` (a DecisionType), ``ok`` and ``answer`` when the turn ends."""
    react, decision = state.react, state.react.decision
    assert decision is not None
    if react.stop_reason:  # a person did not want to go on
        return with_react(state, ok=False)
    if decision.type is DecisionType.FINISH:
        return _end(state, DecisionType.FINISH, decision.reason.strip() or 'done')
    if decision.type in (DecisionType.ABORT, DecisionType.SWITCH_TASK):
        return _end(state, decision.type, decision.reason.strip() or decision.type.value)
    return _judged(state, turn)


def _judged(state: BrainState, turn: Turn) -> BrainState:
    react = state.react
    patience, max_steps = turn.config.guardrails.patience, turn.config.agent.turn.max_steps
    mapped = _mapped(state, turn)
    if mapped is DecisionType.ABORT:
        return _end(
            state, DecisionType.ABORT, f'{_last_call(state)} failed: {_last_reason(state)}'
        )
    wants_more = react.spent.steps >= max_steps and react.refused_in_a_row > 0
    too_long = react.iter > LOOPS_PER_STEP * (max_steps + 1)
    if wants_more or too_long or react.spent.steps > max_steps:  # by a stop, which no rule refuses
        words = (
            f'Stopped after {max_steps} steps without an answer (turn.max_steps of agent.yaml).'
        )
        return _end(state, DecisionType.ABORT, words)
    if refused_too_often(state, turn) and (decided_last(state) or not may_decide(state, turn)):
        who = 'The model and the routine' if decided_last(state) else 'The model'
        words = refusals(state, who)
        if _refused_for(state, turn) is DecisionType.ASK_HUMAN:
            return _whether_to_go_on(state, turn, words)
        return _end(state, DecisionType.ABORT, words)
    if mapped is DecisionType.ASK_HUMAN:
        words = f'{_last_call(state)} failed: {_last_reason(state)}'
        return _whether_to_go_on(state, turn, words)
    if react.failures_in_a_row >= patience.failures_in_a_row:
        words = f'{react.failures_in_a_row} failures in a row; the last: {_last_reason(state)}'
        return _exhausted(state, turn, words)
    if react.same_in_a_row + 1 >= patience.no_progress:
        words = f'{_last_call(state)} had the same result {react.same_in_a_row + 1} times in a row'
        return _exhausted(state, turn, words)
    return state


def refusals(state: BrainState, who: str = 'The model') -> str:
    count = state.react.refused_in_a_row
    words = f'{who} proposed {count} calls in a row that were refused'
    return f'{words}; the last: {_last_reason(state)}'


def _exhausted(state: BrainState, turn: Turn, words: str) -> BrainState:
    if turn.config.guardrails.patience.exhausted is not DecisionType.ASK_HUMAN:
        return _end(state, DecisionType.ABORT, words)
    return _whether_to_go_on(state, turn, words)


def _whether_to_go_on(state: BrainState, turn: Turn, words: str) -> BrainState:
    """A person decides. A no, or nobody, ends the turn with ``words``."""
    state = with_react(state, stop_reason=GO_ON, ok=False, answer=words)
    return ask(state, turn, f'{words}. Go on?', [], None)


def _mapped(state: BrainState, turn: Turn) -> DecisionType | None:
    """What the error map says to the last failure."""
    done = state.skills.last_result
    call = _last_op(state)
    if done is None or done.status is SkillStatus.SUCCESS or call is None:
        return None
    skill = str(call['tool'])
    return turn.registry.error_decision(skill, done.error_code) or turn.registry.error_decision(
        skill, done.error_msg
    )


def _refused_for(state: BrainState, turn: Turn) -> DecisionType | None:
    """What the error map says to the last refusal of a call that fits no skill."""
    for message in reversed(state.messages):
        result = result_of(message)
        if result is not None and not result.ok and result.error_reason != ONE_AT_A_TIME:
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
        if result is not None and not result.ok and result.error_reason != ONE_AT_A_TIME:
            return result.error_reason
    return ''


def _end(state: BrainState, kind: DecisionType, answer: str) -> BrainState:
    return with_react(
        state, stop_reason=kind.value, ok=kind is not DecisionType.ABORT, answer=answer
    )
