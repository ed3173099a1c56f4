# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The node: a refusal becomes the call's result, a pass goes on or becomes a question."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

from curiosity_rosa_demo.agent.react.guardrails.situation import Limits
from curiosity_rosa_demo.agent.react.nodes.guardrails_check import apply_guardrails
from curiosity_rosa_demo.domain.brain_state import BrainState, Json, ProposedOps, ReactState
from curiosity_rosa_demo.domain.models import NEED_TO_CLOSE_MAST, ToolResult
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.refusal import Refusal, RefusalCode
from curiosity_rosa_demo.domain.serde import from_json, to_json
from examples import examples
from guardrails_world import DRIVES, SHIPPED, skill_facts
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

FORWARD = Operation('move_forward', {'duration_s': 2.0}, 'c2')
FACTS: Json = {
    'mode': 'EXEC', 'mast': 'closed', 'moving': False, 'x': 0.0, 'y': 0.0, 'yaw_rad': 0.0,
    'safety_latch': '',
}  # fmt: skip
EXPOSED: Json = {**FACTS, 'mast': 'open'}
ASKING = dataclasses.replace(
    SHIPPED, approval=SHIPPED.approval.model_copy(update={'skills': list(DRIVES)})
)
LISTED = 'move_forward is in approval.skills'


def call(call_id: str, result: str | None = None) -> Json:
    entry: Json = dict.fromkeys(('tool', 'input', 'thought'), '')
    return {**entry, 'call_id': call_id, 'result': result, 'at': 0.0}


def state_of(observation: Json, op: Operation | None = FORWARD, **changes: Any) -> BrainState:
    proposed = {'to_dispatch': [op] if op else [], **changes.pop('proposed', {})}
    return BrainState(
        messages=[call('c1', to_json(ToolResult.success())), call('c2')],
        react=ReactState(observation=observation, proposed_ops=ProposedOps(**proposed), **changes),
    )


def check(state: BrainState, limits: Limits = SHIPPED) -> tuple[BrainState, list[Any]]:
    told: list[tuple[Operation, Refusal]] = []
    after = asyncio.run(
        apply_guardrails(state, limits, skill_facts, lambda op, why: told.append((op, why)))
    )
    assert BrainState.model_validate(after.model_dump()) == after
    return after, told


def proposed(state: BrainState) -> ProposedOps:
    assert state.react.proposed_ops is not None
    return state.react.proposed_ops


def test_a_refusal_is_the_result_that_the_model_reads_and_nobody_is_asked() -> None:
    question = {'need_approval': True, 'approval_payload': {'text': 'Drive on?'}}
    before = state_of(
        EXPOSED, refused={FORWARD.text: 1, 'speak()': 2}, refused_in_a_row=1, proposed=question
    )
    after, told = check(before, ASKING)
    assert proposed(after) == ProposedOps()
    refused = Refusal(
        RefusalCode.MAST_NOT_CLOSED,
        '',
        'a motion while the mast is closed',
        'mast_close first',
        rule='mast_closed',
        asked=FORWARD.text,
    )
    assert told == [(FORWARD, refused)]
    assert refused.reason == NEED_TO_CLOSE_MAST
    assert after.messages[0] == before.messages[0]
    result = from_json(ToolResult, str(after.messages[1]['result']))
    assert result == refused.result()
    assert after.react.refused == {FORWARD.text: 2, 'speak()': 2}
    assert after.react.refused_in_a_row == 2
    _, told = check(state_of(FACTS, refused=after.react.refused))
    assert [refused.rule for _, refused in told] == ['same_refused']


def test_a_pass_changes_nothing_but_the_count_of_refusals_in_a_row() -> None:
    before = state_of(FACTS, refused={FORWARD.text: 1}, refused_in_a_row=2)
    after, told = check(before)
    assert told == []
    react = before.react.model_copy(update={'refused_in_a_row': 0})
    assert after == before.model_copy(update={'react': react})


@pytest.mark.parametrize(
    ('of_the_plan', 'limits', 'payload'),
    [
        (None, ASKING, {'reasons': [LISTED]}),
        (['the plan asks'], SHIPPED, {'text': 'On?', 'reasons': ['the plan asks']}),
        (['the plan asks'], ASKING, {'text': 'On?', 'reasons': ['the plan asks', LISTED]}),
    ],
)
def test_a_question_has_the_text_of_its_plan_and_all_reasons(
    of_the_plan: list[str] | None, limits: Limits, payload: Json
) -> None:
    question = {'text': 'On?', 'reasons': of_the_plan}
    asked = {'need_approval': True, 'approval_payload': question} if of_the_plan else {}
    after, told = check(state_of(FACTS, proposed=asked), limits)
    assert told == []
    assert proposed(after) == ProposedOps(
        to_dispatch=[FORWARD], need_approval=True, approval_payload=payload
    )


def test_what_is_said_cancelled_or_only_asked_passes_through() -> None:
    rest = {'to_cancel': ['g1'], 'to_speak': ['hello']}
    after, _ = check(state_of(EXPOSED, proposed=rest))
    assert proposed(after) == ProposedOps(**rest)
    asked = {**rest, 'need_approval': True, 'approval_payload': {'text': 'Which way?'}}
    for before in (state_of(EXPOSED, None, proposed=asked, refused_in_a_row=1), BrainState()):
        assert check(before)[0] == before


@settings(max_examples=examples(150), deadline=None)
@given(
    st.dictionaries(st.sampled_from(list(FACTS)), st.none() | st.booleans() | st.integers()),
    st.sampled_from([*DRIVES, 'mast_open', 'speak', 'move_stop']),
    st.sampled_from([SHIPPED, ASKING]),
)
def test_an_operation_is_dispatched_or_refused_and_never_both(
    odd: Json, name: str, limits: Limits
) -> None:
    op = Operation(name, {'duration_s': 1.0, 'x': 1.0, 'y': 1.0}, 'c2')
    after, told = check(state_of({**FACTS, **odd}, op), limits)
    passed = proposed(after).to_dispatch == [op]
    assert passed is not bool(told)
    assert passed is (after.messages[1]['result'] is None)
    assert passed or not proposed(after).need_approval
    assert after.react.refused_in_a_row == len(told) == sum(after.react.refused.values())
