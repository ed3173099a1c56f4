# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The model as LangChain sees it: messages in, one tool call or an answer out."""

from __future__ import annotations

import asyncio
import json

from curiosity_rosa_demo.agent.rule_model.model import read_result, read_view, RuleChatModel
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.serde import to_json
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.utils.function_calling import convert_to_openai_tool
import pytest
from rule_model_rover import COSTS, DEMO, FIGURES, HINT, LONGEST_S, Rover, run_turn, tools

MODEL = RuleChatModel(rover=FIGURES).bind_tools(tools())
ODD_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([10**400, -1, 0]),
    st.text(max_size=3),
)
GOOD = {'score': 1.0, 'is_good': True, 'image_topic': '/c', 'cost': 1}


def asked(text: str, *results: tuple[str, str]) -> list[BaseMessage]:
    """A turn: the question, then calls with the contents of their tool messages."""
    messages: list[BaseMessage] = [SystemMessage(HINT), HumanMessage(text)]
    for i, (tool, content) in enumerate(results):
        call = {'name': tool, 'args': {}, 'id': f'c{i}', 'type': 'tool_call'}
        messages.append(AIMessage('', tool_calls=[call]))
        messages.append(ToolMessage(content, tool_call_id=f'c{i}'))
    return messages


def called(message: BaseMessage) -> str | None:
    assert isinstance(message, AIMessage)
    assert len(message.tool_calls) <= 1
    return message.tool_calls[0]['name'] if message.tool_calls else None


def test_it_calls_one_tool_with_a_thought_and_a_new_id() -> None:
    messages = [MODEL.invoke(asked(DEMO)) for _ in range(2)]
    assert [called(message) for message in messages] == ['capture_and_score'] * 2
    assert all(message.content for message in messages)
    assert len({m.tool_calls[0]['id'] for m in messages if isinstance(m, AIMessage)}) == 2


def test_streaming_and_async_give_the_same_decision() -> None:
    (whole,) = MODEL.stream(asked(DEMO))
    assert called(whole) == 'capture_and_score'
    assert called(asyncio.run(MODEL.ainvoke(asked(DEMO)))) == 'capture_and_score'


def test_it_reads_hints_costs_and_limits_as_any_model_would() -> None:
    view = read_view(FIGURES, asked(DEMO), [convert_to_openai_tool(tool) for tool in tools()])
    assert view.bright_x == 5.0
    assert view.costs == COSTS
    assert view.longest_s == LONGEST_S
    assert view.tools == set(COSTS)
    assert read_view(FIGURES, [HumanMessage(DEMO)]).bright_x is None


@given(st.floats(-100, 100).map(lambda x: round(x, 2)), st.sampled_from(['>=', '≥', ' >= ']))
def test_the_hint_may_be_any_place(x: float, sign: str) -> None:
    view = read_view(
        FIGURES, [SystemMessage(f'- Bright area starts at X{sign}{x}m.'), HumanMessage('')]
    )
    assert view.bright_x == x


def test_only_this_turn_counts() -> None:
    history = asked('status', ('get_status', '{"ok": true}'))[1:]
    view = read_view(FIGURES, [*history, AIMessage('done'), HumanMessage('explore the ground')])
    assert view.steps == ()
    assert view.text == 'explore the ground'
    rover = Rover(x=6.0)
    assert 'score 1.00' in run_turn(rover, 'Analyze the ground', history=history)


@given(st.text(max_size=400))
def test_any_content_of_a_tool_message_is_a_result(content: str) -> None:
    result = read_result('move_forward', content)
    assert result.ok or result.error_reason.strip()


@pytest.mark.parametrize(
    'content',
    [
        '',
        'Error: boom',
        '[]',
        '{"ok": true, "data": {"x": NaN}}',
        '{"ok": false}',
        '{"ok": true, "a": 1}',
    ],
)
def test_an_unreadable_result_is_a_failure_with_its_text(content: str) -> None:
    assert read_result('move_stop', content) == ToolResult.failure(content or 'Empty result')


def test_an_unreadable_motion_is_followed_by_a_stop() -> None:
    assert called(MODEL.invoke(asked(DEMO, ('move_forward', 'Traceback ...')))) == 'move_stop'


def test_a_call_without_a_result_counts_as_a_failure() -> None:
    messages = asked(DEMO, ('turn_left', '{}'))[:-1]
    assert called(MODEL.invoke(messages)) == 'move_stop'


def test_a_capture_without_a_score_is_a_failure() -> None:
    assert not read_result('capture_and_score', '{"ok": true, "data": {"score": true}}').ok


def test_results_in_content_blocks_are_read() -> None:
    text = to_json(ToolResult.success(**GOOD))
    messages = asked(DEMO, ('capture_and_score', text))
    messages[-1] = ToolMessage([{'type': 'text', 'text': text}], tool_call_id='c0')
    assert called(MODEL.invoke(messages)) is None


@given(
    st.lists(
        st.tuples(
            st.sampled_from([*sorted(COSTS), 'unknown_tool']),
            st.one_of(
                st.just(to_json(ToolResult.success(**GOOD))),
                st.text(max_size=20),
                st.dictionaries(
                    st.sampled_from(
                        ['score', 'is_good', 'x', 'y', 'yaw_rad', 'rover_x', 'distance_m',
                         'duration_s', 'moving', 'mast_is_open']
                    ),
                    ODD_VALUES,
                ).map(lambda data: json.dumps({'ok': True, 'data': data})),
            ),
        ),
        max_size=12,
    ),
    st.sampled_from([DEMO, 'status?', 'forward 5 s', 'take a picture', 'rotate the mast', 'stop']),
)  # fmt: skip
def test_no_conversation_breaks_it(results: list[tuple[str, str]], text: str) -> None:
    message = MODEL.invoke(asked(text, *results))
    assert called(message) in {*COSTS, None}
    assert str(message.content).strip()


def test_without_tools_it_says_which_one_is_missing() -> None:
    message = RuleChatModel(rover=FIGURES).invoke(asked('Analyze the ground'))
    assert message.content == 'I cannot do that: there is no tool capture_and_score.'


def test_a_conversation_without_a_question_gets_an_answer() -> None:
    assert called(MODEL.invoke([SystemMessage('hello')])) is None
