# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""When a turn ends, and when a person is asked whether it goes on (property 9)."""

from __future__ import annotations

from typing import Any

from curiosity_rosa_demo.agent.react.nodes.human_approval import ASK_TO_CONTINUE
from curiosity_rosa_demo.agent.react.nodes.stop_or_loop import MAX_LOOPS_PER_STEP, stop_or_loop
from curiosity_rosa_demo.agent.react.turn.messages import call_entry, with_result
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Decision,
    DecisionType,
    ReactState,
    SkillResult,
    SkillsState,
    SkillStatus,
    Spent,
)
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.operation import call_text
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from react_world import action, finish, Nodes, with_rules
from turn_world import SHIPPED

PATIENCE = SHIPPED.guardrails.patience
MAPPED = {'SAFETY_VIOLATION: x': 'ABORT', 'PARAM_INVALID: y': 'ASK_HUMAN', 'NAV_BLOCKED': ''}
OVER = (DecisionType.FINISH, DecisionType.ABORT, DecisionType.SWITCH_TASK)


def state_of(
    *, decision: Decision | None = None, failure: str = '', beside: bool = False, **react: Any
) -> BrainState:
    """After a call of get_status that failed for that reason, or did not fail."""
    messages = [call_entry(action('get_status'), '', set())]
    call_id = str(messages[0]['call_id'])
    result = ToolResult.failure(failure) if failure else ToolResult.success()
    messages = with_result(messages, call_id, result, op=call_text('get_status', {}))
    if beside:  # a declined call of the same answer
        messages.append(call_entry(action('no such skill'), '', {call_id}))
        declined = str(messages[-1]['call_id'])
        messages = with_result(messages, declined, ToolResult.failure('One at a time'))
    status = SkillStatus.FAILED if failure else SkillStatus.SUCCESS
    return BrainState(
        messages=messages,
        skills=SkillsState(last_result=SkillResult(status=status, error_msg=failure)),
        react=ReactState(decision=decision or Decision(), **react),
    )


counts = st.integers(0, 10)


@settings(max_examples=examples(500))
@given(
    kind=st.sampled_from(DecisionType),
    reason=st.sampled_from(['', ' ', 'because']),
    exhausted=st.sampled_from(['ABORT', 'ASK_HUMAN']),
    failure=st.sampled_from(['', 'boom', *MAPPED]),
    beside=st.booleans(),
    failures=counts,
    same=counts,
    refused=st.integers(0, 4),
    steps=st.integers(0, 7),
    loops=st.integers(0, MAX_LOOPS_PER_STEP * 6 + 3),
)
def test_a_turn_ends_when_it_must_and_only_then(
    kind: DecisionType,
    reason: str,
    exhausted: str,
    failure: str,
    beside: bool,
    failures: int,
    same: int,
    refused: int,
    steps: int,
    loops: int,
) -> None:
    most = 5
    config = with_rules(steps=most, patience={'exhausted': DecisionType(exhausted)})
    nodes = Nodes(finish(), config=config)
    failures = failures if failure else 0
    nodes.state = state_of(
        decision=Decision(type=kind, reason=reason),
        failure=failure,
        beside=beside,
        failures_in_a_row=failures,
        same_in_a_row=same,
        refused_in_a_row=refused,
        spent=Spent(steps=steps),
        iter=loops,
    )
    react = nodes.run(stop_or_loop).react
    mapped = MAPPED.get(failure, '')
    if kind in OVER:
        end = kind.value
    elif (
        mapped == 'ABORT'
        or (steps >= most and refused > 0)
        or steps > most
        or loops > MAX_LOOPS_PER_STEP * (most + 1)
        or refused >= PATIENCE.refused_in_a_row
    ):
        end = 'ABORT'
    elif mapped == 'ASK_HUMAN':
        end = ASK_TO_CONTINUE
    elif failures >= PATIENCE.failures_in_a_row or same + 1 >= PATIENCE.no_progress:
        end = ASK_TO_CONTINUE if exhausted == 'ASK_HUMAN' else 'ABORT'
    else:
        end = ''
    assert react.stop_reason == end
    assert react.ok is (end in ('FINISH', 'SWITCH_TASK'))
    assert bool(react.answer.strip()) is bool(end)
    assert (react.question is not None) is (end == ASK_TO_CONTINUE)


@settings(max_examples=examples(50))
@given(yes=st.booleans(), failures=st.integers(8, 20), same=st.integers(0, 20))
def test_a_yes_goes_on_with_new_patience_and_a_no_ends(
    yes: bool, failures: int, same: int
) -> None:
    config = with_rules(patience={'exhausted': DecisionType.ASK_HUMAN})
    nodes = Nodes(finish(), config=config)
    nodes.state = state_of(failure='boom', failures_in_a_row=failures, same_in_a_row=same)
    question = nodes.run(stop_or_loop).react.question
    assert question is not None
    assert question.text == f'{failures} failures in a row; the last: boom. Go on?'
    with pytest.MonkeyPatch.context() as patch:
        nodes.answer(patch, 'APPROVE' if yes else 'REJECT')
    react = nodes.act().react
    assert react.question is None
    assert react.ok is False
    if yes:
        assert react.stop_reason == ''
        assert (react.failures_in_a_row, react.same_in_a_row, react.refused_in_a_row) == (0, 0, 0)
    else:
        assert react.stop_reason == 'ABORT'
        assert react.answer == f'{failures} failures in a row; the last: boom'


def test_an_error_that_the_map_calls_an_end_ends_at_once() -> None:
    error_map = {'boom': DecisionType.ABORT}
    skills = SHIPPED.skills
    mast = skills.skills['mast_open'].model_copy(update={'error_map': error_map})
    config = SHIPPED.model_copy(
        update={
            'skills': skills.model_copy(update={'skills': {**skills.skills, 'mast_open': mast}})
        }
    )
    # The other call of the answer is of a skill whose map says nothing of this error.
    nodes = Nodes([action('mast_open'), action('mast_close')], config=config)
    nodes.rover.faults['mast_open'] = lambda: ServiceFailed('boom')
    nodes.think()
    react = nodes.act().react
    assert (react.stop_reason, react.ok) == ('ABORT', False)
    assert react.answer == 'mast_open() failed: boom'


def test_the_same_call_with_another_result_is_progress() -> None:
    nodes = Nodes([action('get_status')])
    for light in range(PATIENCE.no_progress + 2):
        nodes.rover.extra_status['light'] = light
        nodes.think()
        assert nodes.act().react.stop_reason == ''
    nodes.rover.extra_status['light'] = 0
    for _ in range(PATIENCE.no_progress):
        assert nodes.state.react.stop_reason == ''
        nodes.think()
        nodes.act()
    assert nodes.state.react.stop_reason == 'ABORT'


def test_a_model_that_only_changes_its_mind_comes_to_an_end() -> None:
    nodes = Nodes([action('decide', {'type': 'CONTINUE'})], config=with_rules(steps=2))
    loops = 0
    while not nodes.state.react.stop_reason:
        nodes.think()
        nodes.act()
        loops += 1
        assert loops < 20
    assert nodes.state.react.answer.startswith('Stopped after 2 steps')
