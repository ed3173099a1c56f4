# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a typed line means."""

from __future__ import annotations

from curiosity_rosa_demo.agent.interfaces.terminal.commands import (
    BadCommand,
    Command,
    COMMANDS,
    DEFAULT_DRIVE_S,
    help_text,
    parse,
)
from hypothesis import given
from hypothesis import strategies as st
import pytest

LONGEST_S = 20.0


def read(line: str) -> Command | None:
    return parse(line, longest_drive_s=LONGEST_S)


def refusal(line: str) -> str:
    with pytest.raises(BadCommand) as refused:
        read(line)
    return str(refused.value)


@pytest.mark.parametrize('name', COMMANDS)
def test_every_command_is_understood_and_helped(name: str) -> None:
    arguments = {
        **{'task': 'ab', 'history': 'ab', 'cancel': 'ab', 'priority': 'ab 3', 'submit': 'x'},
        **{
            'run': 'a',
            'edit': '{}',
            'message': 'hi',
            'graph': 'which nodes?',
            'device': 'camera off',
        },
    }
    command = read(f':{name} {arguments.get(name, "")}')
    assert command is not None
    assert command.name == name
    assert f':{name}' in help_text()


MEANT = {
    # full-width letters and spaces, capitals, space after the colon
    '：stop': Command('stop'),
    ' :STOP ': Command('stop'),
    '：　ＳＴＯＰ': Command('stop'),
    '：ｆｏｒｗａｒｄ　２．５': Command('forward', number=2.5),
    # without a colon: for the model
    '  地面のテクスチャを調査して \n': Command('text', text='地面のテクスチャを調査して'),
    '8 forward': Command('text', text='8 forward'),
    '\\:stop': Command('text', text='\\:stop'),
    # a task or a question is named by the beginning of its ID
    ':task 3F2A': Command('task', text='3f2a'),
    ':resume': Command('resume'),
    ':priority 3f -7': Command('priority', text='3f', number=-7),
    ':approve': Command('approve'),
    '：ａｐｐｒｏｖｅ　Ｑ１Ａ': Command('approve', text='q1a'),
    ':reject': Command('reject'),
    # JSON
    ': submit mast_open': Command('submit', text='mast_open'),
    ':submit react {"text": "光　を"}': Command('submit', text='react', data={'text': '光　を'}),
    ':edit {"text": "光　{を}"}': Command('edit', data={'text': '光　{を}'}),
    ':edit Q1a {"a": 1}': Command('edit', text='q1a', data={'a': 1}),
    ':edit 　Ｑ１Ａ　{"a": 1}': Command('edit', text='q1a', data={'a': 1}),
    # texts and files stay as they were typed
    ':reject  Ｑ１ too  Far ': Command('reject', text='Ｑ１ too  Far'),
    '：ＲＵＮ　 ~/My  plan Ａ.json ': Command('run', text='~/My  plan Ａ.json'),
    ':message  Ａ  letter': Command('message', text='Ａ  letter'),
    ':tree My tree.svg': Command('tree', text='My tree.svg'),
    ':tree': Command('tree'),
    # numbers and switches
    ':auto': Command('auto'),
    '：ＡＵＴＯ　Ｏｎ': Command('auto', text='on'),
    ':auto OFF': Command('auto', text='off'),
    ':why': Command('why', number=5),
    '：why　１２': Command('why', number=12),
    ':trace 3': Command('trace', number=3.0),
    **dict.fromkeys(['', '   ', '\t\n', '　']),
}


@pytest.mark.parametrize(('line', 'command'), MEANT.items())
def test_a_line_means_a_command_or_a_text(line: str, command: Command | None) -> None:
    assert read(line) == command


@pytest.mark.parametrize(
    ('line', 'why'),
    [
        (':stop now', 'usage: :stop'),
        (':task', 'usage: :task'),
        (':cancel', 'usage: :cancel'),
        (':history a b', 'usage: :history'),
        (':priority a', 'usage: :priority'),
        (':priority 3f 1.5', 'a whole number from -1000 to 1000'),
        (':priority 3f 1001', 'a whole number from -1000 to 1000'),
        (':approve q1 q2', 'usage: :approve [ID]'),
        (':submit', 'usage: :submit'),
        (':submit react {"text"', 'not JSON'),
        (':submit react [1]', "'[1]' is not a JSON object"),
        (':submit x {"a": NaN}', 'not JSON'),
        (':edit {"a": Infinity}', 'not JSON'),
        (':edit {"\\ud800": 1}', 'not JSON'),
        (':edit', 'usage: :edit [ID] {json}, such as {"duration_s": 2}'),
        (':edit q1 [2]', 'usage: :edit'),
        (':edit q1 q2 {}', 'usage: :edit'),
        (':edit {} {}', 'not JSON'),
        (':run', 'usage: :run FILE'),
        (':message', 'usage: :message TEXT'),
        (':auto maybe', ":auto [on|off]: 'maybe' is neither on nor off"),
        (':auto on off', 'usage: :auto [on|off]'),
        (':why 0', ":why [n]: '0' is not a count from 1 to 1000"),
        *((f':trace {bad}', 'a count from 1 to 1000') for bad in ('0', '1.5', '1001', 'all')),
        (':forward 1 2', 'usage: :forward [s]'),
    ],
)
def test_a_wrong_argument_is_answered_with_what_is_right(line: str, why: str) -> None:
    assert why in refusal(line)


@pytest.mark.parametrize('name', ['forward', 'left', 'right'])
def test_drives_take_seconds(name: str) -> None:
    assert read(f':{name}') == Command(name, number=DEFAULT_DRIVE_S)
    assert read(f':{name} 0.5') == Command(name, number=0.5)
    assert read(f':{name} {LONGEST_S:g}') == Command(name, number=LONGEST_S)
    for bad in ('0', '-1', '20.01', 'nan', 'inf', '1e999', 'ten', '１x'):
        assert f':{name} [s]' in refusal(f':{name} {bad}')
    assert parse(f':{name}', longest_drive_s=1.5) == Command(name, number=1.5)


@pytest.mark.parametrize(
    ('typed', 'meant'),
    [
        ('hlep', 'help'),
        ('foward', 'forward'),
        ('fwd', 'forward'),
        ('mast-open', 'mast_open'),
        ('mast', 'mast_open'),
        ('capture', 'cap'),
        ('q', 'quit'),
        ('sto', 'stop'),
        ('aut', 'auto'),
        ('demo!', 'demo'),
    ],
)
def test_an_unknown_command_is_answered_with_the_nearest(typed: str, meant: str) -> None:
    text = refusal(f':{typed}')
    assert f'no command :{typed}; did you mean :{meant}?' in text
    assert all(f':{name}' in text for name in COMMANDS)


@pytest.mark.parametrize('line', [':', ':::', ':調査'])
def test_what_is_near_nothing_gets_the_list(line: str) -> None:
    text = refusal(line)
    assert 'did you mean' not in text
    assert ':help' in text


LINES = st.one_of(
    st.text(),
    st.text().map(':{}'.format),
    st.builds(':{} {}'.format, st.sampled_from(sorted(COMMANDS)), st.text()),
    st.builds('：{} {}'.format, st.sampled_from(sorted(COMMANDS)), st.floats().map(repr)),
)


@given(LINES, st.floats(min_value=0.01, max_value=3600.0))
def test_any_line_is_a_command_a_text_or_a_refusal(line: str, longest: float) -> None:
    command = None
    try:
        command = parse(line, longest_drive_s=longest)
    except BadCommand as refused:
        said = str(refused)
    else:
        said = ''
    if said:
        assert len(said) < 800  # however long the line
        return
    if command is None:
        assert not line.strip()
    elif command.name == 'text':
        assert command.text == line.strip()
        assert not command.text.startswith((':', '：'))
    else:
        assert command.name in COMMANDS
        if command.name in ('forward', 'left', 'right'):
            assert 0.0 < command.number <= longest


@given(st.text(min_size=1).filter(lambda text: text.strip()[:1] not in ('', ':', '：')))
def test_text_reaches_the_model_unchanged(text: str) -> None:
    assert read(text) == Command('text', text=text.strip())
