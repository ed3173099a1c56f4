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


def test_only_this_turn_counts() -> None:
    history = asked('status', ('get_status', '{"ok": true}'))[1:]
    view = read_view(FIGURES, [*history, AIMessage('done'), HumanMessage('explore the ground')])
    assert view.steps == ()
    assert view.text == 'explore the ground'
    rover = Rover(x=6.0)
    assert 'score 1.00' in run_turn(rover, 'Analyze the ground', history=history)


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


# --- commands and talk --------------------------------------------------------------------------


def names(rover: Rover) -> list[str]:
    return [tool for tool, _, _ in rover.calls]


DOWN = {'is_up': False, 'known': False}
COMMANDS: list[tuple[str, dict[str, Any], str]] = [
    ('stop', {'moving': True}, 'move_stop'),
    ('open the mast', DOWN, 'mast_open'),
    ('open the mast', DOWN | {'moving': True}, 'mast_open move_stop mast_open'),
    ('close the mast', {}, 'mast_close'),
    ('rotate the mast', {}, 'mast_open mast_rotate'),
    ('rotate the mast', DOWN, 'mast_open mast_rotate'),
    ('take a picture', {}, 'capture_and_score'),
    ('take a picture', DOWN, 'capture_and_score mast_open capture_and_score'),
    ('forward 5 s', {}, 'get_status mast_close move_forward'),
    ('forward 5 s', {'known': None}, 'get_status mast_close move_forward'),
    ('turn left', DOWN, 'get_status turn_left'),
    ('turn right 2 s', DOWN | {'moving': True}, 'get_status move_stop turn_right'),
    ("what is the rover's status?", {}, 'get_status'),
]


def test_a_command_is_prepared_and_done() -> None:
    for text, start, wanted in COMMANDS:
        rover = Rover(**start)
        assert 'gave up' not in run_turn(rover, text)
        assert names(rover)[-len(wanted.split()) :] == wanted.split(), text


def test_a_drive_that_failed_is_stopped_and_not_repeated() -> None:
    for reason in ('Service timeout: move_forward', 'what?'):
        rover = Rover(is_up=False, known=False, broken={'move_forward': reason})
        assert reason in run_turn(rover, 'go forward')
        assert names(rover) == ['get_status', 'move_forward', 'move_stop']
    rover = Rover(moving=True, broken={'move_stop': 'Service timeout: move_stop'})
    assert 'COULD NOT BE STOPPED' in run_turn(rover, 'stop!')
    assert names(rover) == ['move_stop'] * 3


def test_what_fails_for_good_is_said_in_the_users_language() -> None:
    for tool, text in (
        ('mast_open', 'マストを開いて'),
        ('get_status', '現在のローバーの状態を教えて'),
    ):
        rover = Rover(broken={tool: 'Service unavailable: x'})
        assert run_turn(rover, text).startswith('断念しました')
        assert names(rover).count(tool) == 3


TOLD = {
    "what is the rover's status?": ['open', 'moving: no', 'x = 1.50', '90 degrees', 'none'],
    '現在のローバーの状態を教えて': ['マストは展開', '移動中: いいえ', 'x = 1.50', '90 度'],
    '状态如何': ['桅杆已打开', '正在移动：否', 'x = 1.50', '90 度'],
    'tell me a joke': ['set of rules, not a language model', 'llm.provider', 'OPENAI_API_KEY'],
    '冗談を言って': ['言語モデルではなく、規則の集まり', 'llm.model', 'OPENAI_API_KEY'],
    '讲个笑话': ['是一组规则，不是语言模型', 'llm.model', 'OPENAI_API_KEY'],
}


def test_the_status_and_what_it_is_are_told_in_plain_words() -> None:
    for text, words in TOLD.items():
        answer = run_turn(Rover(x=1.5, yaw=1.5708), text)
        assert [each for each in words if each not in answer] == [], answer
    unknown = run_turn(Rover(known=None, tells_pose=False), 'status')
    for words in ('mast is unknown', 'x = unknown, y = unknown', 'heading unknown'):
        assert words in unknown


def test_talk_calls_no_tool() -> None:
    for text in (
        *("don't move forward", '前進しないで', '不要前进', 'go 3 meters'),
        *('hello', 'help', 'tell a joke'),
    ):
        rover = Rover()
        run_turn(rover, text)
        assert rover.calls == [], text


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


def decision(text: str, steps: Sequence[ToolStep] = (), *words: tuple[str, str]) -> Decision:
    return decide(TurnView(FIGURES, text, tuple(steps), TOOLS, longest_s=20.0), words)


def call(text: str, steps: Sequence[ToolStep] = (), *words: tuple[str, str]) -> ToolCall:
    made = decision(text, steps, *words)
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


PLANS = {
    'drive 2 m': ['mast_close', 'drive_distance 2.0'],
    '右に90度曲がって': ['mast_close', 'turn_angle -90.0'],
    'turn around': ['mast_close', 'turn_angle 180.0'],
    'navigate to x 3 y 0': ['mast_close', 'navigate_to_pose 3.0 0.0'],
    'drive forward for 50 seconds': ['mast_close', *['move_forward 16.67'] * 3],
    '等10秒，然后拍照': ['wait 10.0', 'mast_open', 'capture_and_score'],
    '写真を3枚撮って': ['mast_open', *['capture_and_score'] * 3],
    'take two pictures around you': [
        *('mast_open', 'capture_and_score', 'mast_rotate', 'capture_and_score')
    ],
    'open and close the mast': ['mast_open', 'mast_close'],
    'drive 1 m and say "I am there"': ['mast_close', 'drive_distance 1.0', 'speak I am there'],
}


def test_an_order_becomes_a_plan_of_skills() -> None:
    assert {text: ops(call(text)) for text in PLANS} == PLANS


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


REFUSED = {
    'drive forward for 1000 seconds': '120 s',
    'drive 2 km': '100 m',
    'turn left 100 times': 'number',
    'make me a coffee': 'coffee',
    'turn left and fly': 'left',
}


def test_what_is_refused_names_the_reason() -> None:
    for text, limit in REFUSED.items():
        end = answer(text)
        assert (end.ok, limit in end.text) == (False, True), end


def test_the_words_of_a_plug_in_order_its_skill() -> None:
    words = (('drill a hole', 'drill'), ('穴を掘', 'drill'), ('打个洞', 'drill'))
    assert ops(call('drive 1 m and drill a hole', (), *words))[-1] == 'drill'
    assert ops(call('打个洞', (), *words)) == ['drill']
    assert not answer('drill a hole').ok


ARM = frozenset({*TOOLS, 'arm_close', 'arm_open'})
WORDS = (('open the arm', 'arm_open'), ('stow the arm', 'arm_close'))
NOT_STOWED = failed(need_to_stow('arm', 'arm_close'))
WITH_AN_ARM = {
    'drive 2 m': ['arm_close', 'mast_close', 'drive_distance 2.0'],
    'take two pictures': ['mast_open', *['capture_and_score'] * 2],
    'drive 1 m, open the arm and drive 1 m': [
        *('arm_close', 'mast_close', 'drive_distance 1.0'),
        *('arm_open', 'arm_close', 'drive_distance 1.0'),
    ],
}


def test_a_plan_stows_the_arm_before_it_drives() -> None:
    for text, wanted in WITH_AN_ARM.items():
        view = TurnView(FIGURES, text, (), ARM, longest_s=20.0, stows=('arm_close',))
        plan = decide(view, WORDS)
        assert isinstance(plan, ToolCall)
        assert ops(plan) == wanted
    for tries, stows in ((1, True), (4, False)):
        steps = [done('get_status', mast_is_open=False), ToolStep('move_forward', {}, NOT_STOWED)]
        steps += [ToolStep('arm_close', {}, ToolResult.failure('jammed'))] * (tries - 1)
        made = decide(TurnView(FIGURES, 'drive forward', tuple(steps), ARM), WORDS)
        assert (isinstance(made, ToolCall) and made.tool == 'arm_close') is stows
