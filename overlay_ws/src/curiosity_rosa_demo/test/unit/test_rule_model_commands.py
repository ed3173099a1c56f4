# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Direct commands, questions and small talk."""

from __future__ import annotations

from typing import Any

from curiosity_rosa_demo.agent.rule_model.step_texts import done_text
from curiosity_rosa_demo.agent.rule_model.texts import (
    broken_text,
    result_text,
    status_text,
    text_for,
)
from curiosity_rosa_demo.domain.text import printable
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from rule_model_rover import LONGEST_S, MOTIONS, Rover, run_turn


def names(rover: Rover) -> list[str]:
    return [tool for tool, _, _ in rover.calls]


@pytest.mark.parametrize(
    ('text', 'start', 'wanted'),
    [
        ('stop', {'moving': True}, ['move_stop']),
        ('open the mast', {'is_up': False, 'known': False}, ['mast_open']),
        ('close the mast', {}, ['mast_close']),
        ('rotate the mast', {}, ['mast_open', 'mast_rotate']),
        (
            'rotate the mast',
            {'is_up': False, 'known': False},
            ['mast_open', 'mast_rotate'],
        ),
        ('take a picture', {}, ['capture_and_score']),
        (
            'take a picture',
            {'is_up': False, 'known': False},
            ['capture_and_score', 'mast_open', 'capture_and_score'],
        ),
        ('forward 5 s', {}, ['get_status', 'mast_close', 'move_forward']),
        ('forward 5 s', {'known': None}, ['get_status', 'mast_close', 'move_forward']),
        ('turn left', {'is_up': False, 'known': False}, ['get_status', 'turn_left']),
        (
            'turn right 2 s',
            {'is_up': False, 'known': False, 'moving': True},
            ['get_status', 'move_stop', 'turn_right'],
        ),
        (
            'open the mast',
            {'is_up': False, 'known': False, 'moving': True},
            ['mast_open', 'move_stop', 'mast_open'],
        ),
        ("what is the rover's status?", {}, ['get_status']),
    ],
)
def test_a_command_is_prepared_and_done(
    text: str, start: dict[str, Any], wanted: list[str]
) -> None:
    rover = Rover(**start)
    answer = run_turn(rover, text)
    assert names(rover)[-len(wanted) :] == wanted
    assert 'gave up' not in answer


@settings(max_examples=examples(40))
@given(st.floats(1.0, LONGEST_S).map(lambda s: round(s, 1)))
def test_a_drive_takes_the_seconds_asked_for(seconds: float) -> None:
    rover = Rover(is_up=False, known=False)
    answer = run_turn(rover, f'forward {seconds} s')
    assert rover.calls[-1][1] == {'duration_s': seconds}
    assert f'{seconds:.1f} s' in answer


@pytest.mark.parametrize('reason', ['Service timeout: move_forward', 'what?'])
def test_a_drive_that_failed_is_stopped_and_not_repeated(reason: str) -> None:
    rover = Rover(is_up=False, known=False, broken={'move_forward': reason})
    answer = run_turn(rover, 'go forward')
    assert names(rover) == ['get_status', 'move_forward', 'move_stop']
    assert reason in answer


def test_a_stop_that_fails_is_tried_three_times_and_cried_out() -> None:
    rover = Rover(moving=True, broken={'move_stop': 'Service timeout: move_stop'})
    assert 'COULD NOT BE STOPPED' in run_turn(rover, 'stop!')
    assert names(rover) == ['move_stop'] * 3


@pytest.mark.parametrize(
    ('tool', 'text'),
    [('mast_open', 'マストを開いて'), ('get_status', '現在のローバーの状態を教えて')],
)
def test_what_fails_for_good_is_said_in_the_users_language(tool: str, text: str) -> None:
    rover = Rover(broken={tool: 'Service unavailable: x'})
    answer = run_turn(rover, text)
    assert answer.startswith('断念しました')
    assert names(rover).count(tool) == 3


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ("what is the rover's status?", ['open', 'moving: no', 'x = 1.50', '90 degrees', 'none']),
        ('現在のローバーの状態を教えて', ['マストは展開', '移動中: いいえ', 'x = 1.50', '90 度']),
        ('状态如何', ['桅杆已打开', '正在移动：否', 'x = 1.50', '90 度']),
    ],
)
def test_the_status_is_told_in_plain_words(text: str, words: list[str]) -> None:
    answer = run_turn(Rover(x=1.5, yaw=1.5708), text)
    assert all(word in answer for word in words), answer


def test_what_is_unknown_is_called_unknown() -> None:
    answer = run_turn(Rover(known=None, tells_pose=False), 'status')
    assert 'mast is unknown' in answer
    assert 'x = unknown, y = unknown' in answer
    assert 'heading unknown' in answer


@pytest.mark.parametrize(
    'text',
    [
        "don't move forward",
        '前進しないで',
        '不要前进',
        'go 3 meters',
        'hello',
        'help',
        'tell a joke',
    ],
)
def test_talk_calls_no_tool(text: str) -> None:
    rover = Rover()
    run_turn(rover, text)
    assert rover.calls == []


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('tell me a joke', 'set of rules, not a language model'),
        ('冗談を言って', '言語モデルではなく、規則の集まり'),
        ('讲个笑话', '是一组规则，不是语言模型'),
    ],
)
def test_it_says_what_it_is_and_how_to_configure_a_model(text: str, words: str) -> None:
    answer = run_turn(Rover(), text)
    assert words in answer
    assert all(key in answer for key in ('llm.provider', 'llm.model', 'OPENAI_API_KEY'))


@given(st.text(), st.sampled_from(['en', 'ja', 'zh']))
def test_texts_of_others_are_only_values(text: str, lang: str) -> None:
    facts = {'captures': 1, 'moves': 0, 'metres': '0.0', 'score': '0.00'}
    assert text in broken_text(lang, 'mast_open', text, facts)
    assert text in text_for('operator', lang, reason=text)
    assert printable(text) in status_text(lang, {'last_error_reason': text})


@pytest.mark.parametrize('tool', [*MOTIONS, 'capture_and_score', 'mast_open', 'move_stop'])
def test_a_result_without_figures_can_be_told(tool: str) -> None:
    for lang in ('en', 'ja', 'zh'):
        assert result_text(lang, tool, {})


@pytest.mark.parametrize(
    ('tool', 'turned_deg', 'metres', 'told'),
    [
        ('drive_distance', -0.2, 1.0, 'drove 1.0 m'),
        ('drive_distance', 3.0, 1.0, 'turned left 3 degrees, 1.0 m driven'),
        ('turn_angle', -90.0, 2.5, 'turned right 90 degrees, 2.5 m driven'),
        ('turn_angle', 0.0, None, 'turned right 0 degrees, 0.0 m driven'),
    ],
)
def test_a_drive_is_told_with_the_turn_that_it_made(
    tool: str, turned_deg: float, metres: float | None, told: str
) -> None:
    assert done_text(tool, {'turned_deg': turned_deg, 'distance_m': metres}, 'en') == told
