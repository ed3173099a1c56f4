# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The routine: messages in, one tool call or an answer out; commands, plans and small talk."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
import json
from typing import Any

from coded_failures import failed
from curiosity_rosa_demo.agent.rule_model.context import Decision, FinalAnswer, ToolCall
from curiosity_rosa_demo.agent.rule_model.model import read_result, read_view, RuleChatModel
from curiosity_rosa_demo.agent.rule_model.rules import decide
from curiosity_rosa_demo.agent.rule_model.step_texts import done_text
from curiosity_rosa_demo.agent.rule_model.texts import (
    broken_text,
    status_text,
    text_for,
)
from curiosity_rosa_demo.agent.rule_model.turn_view import ToolStep, TurnView
from curiosity_rosa_demo.domain.models import need_to_stow, ToolResult
from curiosity_rosa_demo.domain.serde import to_json
from curiosity_rosa_demo.domain.text import printable
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
from orders_world import fields
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


# --- as LangChain sees it ---------------------------------------------------------------------


def test_it_calls_one_tool_with_a_thought_and_a_new_id_in_each_way_of_asking() -> None:
    messages = [MODEL.invoke(asked(DEMO)), *MODEL.stream(asked(DEMO))]
    messages.append(asyncio.run(MODEL.ainvoke(asked(DEMO))))
    assert [called(message) for message in messages] == ['capture_and_score'] * 3
    assert all(message.content for message in messages)
    assert len({m.tool_calls[0]['id'] for m in messages if isinstance(m, AIMessage)}) == 3


def test_without_a_question_or_tools_it_answers() -> None:
    assert called(MODEL.invoke([SystemMessage('hello')])) is None
    message = RuleChatModel(rover=FIGURES).invoke(asked('Analyze the ground'))
    assert message.content == 'I cannot do that: there is no tool capture_and_score.'


def test_it_reads_hints_costs_and_limits_as_any_model_would() -> None:
    view = read_view(FIGURES, asked(DEMO), [convert_to_openai_tool(tool) for tool in tools()])
    assert view.bright_x == 5.0
    assert view.costs == COSTS
    assert view.longest_s == LONGEST_S
    assert view.tools == set(COSTS)
    assert read_view(FIGURES, [HumanMessage(DEMO)]).bright_x is None


def test_an_unreadable_result_is_a_failure_with_its_text() -> None:
    nan, short, strange = (
        '{"ok": true, "data": {"x": NaN}}',
        '{"ok": false}',
        '{"ok": true, "a": 1}',
    )
    for content in ('', 'Error: boom', '[]', nan, short, strange):
        failure = ToolResult.failure(content or 'Empty result')
        assert read_result('move_stop', content) == failure
    assert not read_result('capture_and_score', '{"ok": true, "data": {"score": true}}').ok


def test_a_motion_of_which_nothing_readable_is_known_is_followed_by_a_stop() -> None:
    assert called(MODEL.invoke(asked(DEMO, ('move_forward', 'Traceback ...')))) == 'move_stop'
    assert called(MODEL.invoke(asked(DEMO, ('turn_left', '{}'))[:-1])) == 'move_stop'


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


# --- turns ---------------------------------------------------------------------------------------


def test_a_turn_calls_and_answers_as_it_is_written() -> None:
    for start, text, calls, words in fields('turns.tsv'):
        values = json.loads(start)
        glitches = {int(at): reason for at, reason in values.pop('glitches', {}).items()}
        rover = Rover(**values, glitches=glitches)
        answer = run_turn(rover, text)
        called = [tool for tool, _, _ in rover.calls]
        wanted = [] if calls == '-' else calls.split()
        assert called[-len(wanted) :] == wanted, (text, start, called, answer)
        assert [each for each in words.split('|') if each not in answer] == [], answer


@given(st.text(), st.sampled_from(['en', 'ja', 'zh']))
def test_texts_of_others_are_only_values(text: str, lang: str) -> None:
    facts = {'captures': 1, 'moves': 0, 'metres': '0.0', 'score': '0.00'}
    assert text in broken_text(lang, 'mast_open', text, facts)
    assert text in text_for('operator', lang, reason=text)
    assert printable(text) in status_text(lang, {'last_error_reason': text})


# --- orders of several steps --------------------------------------------------------------------

_TOOLS = """
capture_and_score mast_open mast_close mast_rotate move_forward turn_left turn_right move_stop
get_status speak wait wait_until query_world navigate_to_pose drive_distance turn_angle drill
decide
"""
TOOLS = frozenset(_TOOLS.split())
HERE = {'rover_x': 1.0, 'rover_y': 2.0, 'yaw_rad': 0.0, 'mast_is_open': True, 'moving': False}


def done(tool: str, args: dict[str, Any] | None = None, **data: Any) -> ToolStep:
    return ToolStep(tool, args or {}, ToolResult.success(**data))


def decision(text: str, steps: Sequence[ToolStep] = ()) -> Decision:
    return decide(TurnView(FIGURES, text, tuple(steps), TOOLS, longest_s=20.0), ())


def call(text: str, steps: Sequence[ToolStep] = ()) -> ToolCall:
    made = decision(text, steps)
    assert isinstance(made, ToolCall), made
    return made


def answer(text: str, steps: Sequence[ToolStep] = ()) -> FinalAnswer:
    made = decision(text, steps)
    assert isinstance(made, FinalAnswer), made
    return made


def ops(plan: ToolCall) -> list[str]:
    """The operations of a proposed plan: the name, and the arguments' values."""
    assert plan.tool == 'decide'
    assert plan.args['plan_patch']['action'] == 'propose'
    steps = plan.args['plan_patch']['plan']['steps']
    return [' '.join([s['action'], *map(str, s['parameters'].values())]) for s in steps]


def carried_out(plan: ToolCall, **data: Any) -> list[ToolStep]:
    """The steps of a turn in which ``plan`` was carried out."""
    steps = plan.args['plan_patch']['plan']['steps']
    results = [done(s['action'], s['parameters'], **data) for s in steps]
    return [done('decide', dict(plan.args)), *results]


def test_the_way_back_leads_to_where_the_turn_began_and_home_to_the_first_pose() -> None:
    text = 'drive 2 m and come back'
    assert call(text).tool == 'get_status'
    assert ops(call(text, [done('get_status', **HERE)]))[-1] == 'navigate_to_pose 1.0 2.0'
    measured = call('return to base')
    assert (measured.tool, measured.args) == ('query_world', {'query': 'home'})
    home = done('query_world', home_x=-1.0, home_y=0.5)
    assert ops(call('return to base', [home])) == ['mast_close', 'navigate_to_pose -1.0 0.5']


DRIVEN = [
    ('drive_distance', -0.2, 1.0, 'drove 1.0 m'),
    ('drive_distance', 3.0, 1.0, 'turned left 3 degrees, 1.0 m driven'),
    ('turn_angle', -90.0, 2.5, 'turned right 90 degrees, 2.5 m driven'),
    ('turn_angle', 0.0, None, 'turned right 0 degrees, 0.0 m driven'),
]


def test_the_answer_says_what_was_really_driven() -> None:
    end = answer('drive 2 m', carried_out(call('drive 2 m'), distance_m=2.06))
    assert (end.ok, '2.1 m' in end.text) == (True, True)
    for tool, turned_deg, metres, told in DRIVEN:
        result = {'turned_deg': turned_deg, 'distance_m': metres}
        assert done_text(tool, result, 'en') == told


def test_a_plan_that_fails_is_no_success() -> None:
    plan = call('drive 2 m, then take a picture')
    blocked = ToolStep('drive_distance', {}, ToolResult.failure('NAV_BLOCKED: a rock'))
    steps = [*carried_out(plan)[:2], blocked]
    end = answer('drive 2 m, then take a picture', steps)
    assert not end.ok
    assert 'a rock' in end.text


@pytest.mark.parametrize(
    ('text', 'measure', 'data', 'then'),
    [
        ('if the mast is open, close it', 'get_status', HERE, 'decide'),
        ('if the mast is closed, drive 2 m', 'get_status', HERE, ''),
        ('如果电量大于50%就前进2米', 'query_world', {'battery_pct': 60.0}, 'decide'),
        ('如果电量大于50%就前进2米', 'query_world', {'battery_pct': 50.0}, ''),
        ('if the battery is above 50 % drive 2 m', 'query_world', {'battery_pct': None}, ''),
    ],
)
def test_a_condition_is_measured_first(
    text: str, measure: str, data: dict[str, Any], then: str
) -> None:
    assert call(text).tool == measure
    following = decision(text, [done(measure, **data)])
    assert (following.tool if isinstance(following, ToolCall) else '') == then


def test_after_the_light_comes_the_rest() -> None:
    text = 'go to the light and say "found it"'
    found = [done('capture_and_score', score=0.9, is_good=True)]
    assert call(text).tool == 'capture_and_score'
    assert ops(call(text, found)) == ['speak found it']


WORDS = (
    *(('drill a hole', 'drill'), ('打个洞', 'drill')),
    *(('open the arm', 'arm_open'), ('stow the arm', 'arm_close')),
)
NOT_STOWED = failed(need_to_stow('arm', 'arm_close'))


def with_an_arm(text: str, *steps: ToolStep) -> Decision:
    tools = frozenset({*TOOLS, 'arm_close', 'arm_open'})
    view = TurnView(FIGURES, text, steps, tools, longest_s=20.0, stows=('arm_close',))
    return decide(view, WORDS)


def test_an_order_becomes_a_plan_of_skills_or_is_refused_with_the_reason() -> None:
    for more, text, wanted in fields('plans.tsv'):
        view = TurnView(FIGURES, text, (), TOOLS, longest_s=20.0)
        made = with_an_arm(text) if more == 'arm' else decide(view, WORDS)
        if wanted.startswith('!'):
            assert isinstance(made, FinalAnswer), text
            assert (made.ok, wanted[1:] in made.text) == (False, True), made
        else:
            assert isinstance(made, ToolCall), text
            assert ' > '.join(ops(made)) == wanted, text
    assert not answer('drill a hole').ok


def test_a_motion_that_an_arm_forbids_is_preceded_by_stowing_it() -> None:
    for tries, stows in ((1, True), (4, False)):
        steps = [done('get_status', mast_is_open=False), ToolStep('move_forward', {}, NOT_STOWED)]
        steps += [ToolStep('arm_close', {}, ToolResult.failure('jammed'))] * (tries - 1)
        made = with_an_arm('drive forward', *steps)
        assert (isinstance(made, ToolCall) and made.tool == 'arm_close') is stows
