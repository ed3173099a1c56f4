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
        **{'run': 'a', 'edit': '{}', 'message': 'hi', 'device': 'camera off'},
    }
    command = read(f':{name} {arguments.get(name, "")}')
    assert command is not None
    assert command.name == name
    assert f':{name}' in help_text()


@pytest.mark.parametrize('line', [':task', ':cancel', ':priority a', ':history a b', ':submit'])
def test_a_missing_or_surplus_argument_is_answered_with_the_usage(line: str) -> None:
    assert refusal(line).startswith(f'usage: {line.split()[0]}')


def test_a_task_is_named_by_the_beginning_of_its_id() -> None:
    assert read(':task 3F2A') == Command('task', text='3f2a')
    assert read(':resume') == Command('resume')
    assert read(':priority 3f -7') == Command('priority', text='3f', number=-7)
    assert 'a whole number from -1000 to 1000' in refusal(':priority 3f 1.5')
    assert 'a whole number from -1000 to 1000' in refusal(':priority 3f 1001')


def test_a_submitted_skill_takes_its_arguments_as_json() -> None:
    assert read(':submit mast_open') == Command('submit', text='mast_open')
    assert read(':submit react {"text": "光　を"}') == Command(
        'submit', text='react', data={'text': '光　を'}
    )
    assert 'not JSON' in refusal(':submit react {"text"')
    assert "'[1]' is not a JSON object" in refusal(':submit react [1]')


@pytest.mark.parametrize(
    'line', [':submit x {"a": NaN}', ':edit {"a": Infinity}', ':edit {"\\ud800": 1}']
)
def test_what_only_python_takes_for_json_is_refused(line: str) -> None:
    assert 'not JSON' in refusal(line)


def test_a_question_is_named_by_the_beginning_of_its_id() -> None:
    assert read(':approve') == Command('approve')
    assert read('：ａｐｐｒｏｖｅ　Ｑ１Ａ') == Command('approve', text='q1a')
    assert refusal(':approve q1 q2') == 'usage: :approve [ID]'


@pytest.mark.parametrize('start', ['', 'q1a ', '　Ｑ１Ａ　', 'Q1a'])
def test_an_edit_holds_the_new_arguments(start: str) -> None:
    text = 'q1a' if start else ''
    command = read(f':edit {start}{{"text": "光　{{を}}"}}')
    assert command == Command('edit', text=text, data={'text': '光　{を}'})


@pytest.mark.parametrize(
    ('line', 'why'),
    [
        (':edit', 'usage: :edit [ID] {json}, such as {"duration_s": 2}'),
        (':edit q1', 'usage: :edit'),
        (':edit q1 [2]', 'usage: :edit'),
        (':edit q1 q2 {}', 'usage: :edit'),
        (':edit {"a": 1', 'not JSON'),
        (':edit {} {}', 'not JSON'),
        (':run', 'usage: :run FILE'),
        (':message', 'usage: :message TEXT'),
    ],
)
def test_what_cannot_do_without_its_argument(line: str, why: str) -> None:
    assert why in refusal(line)


def test_a_reason_and_a_file_stay_as_they_were_typed() -> None:
    assert read(':reject  Ｑ１ too  Far ') == Command('reject', text='Ｑ１ too  Far')
    assert read(':reject') == Command('reject')
    assert read('：ＲＵＮ　 ~/My  plan Ａ.json ') == Command('run', text='~/My  plan Ａ.json')
    assert read(': submit mast_open') == Command('submit', text='mast_open')


def test_what_it_does_unasked_is_switched_on_and_off_and_asked_about() -> None:
    assert read(':auto') == Command('auto')
    assert read('：ＡＵＴＯ　Ｏｎ') == Command('auto', text='on')
    assert read(':auto OFF') == Command('auto', text='off')
    assert read(':why') == Command('why', number=5)
    assert read('：why　１２') == Command('why', number=12)
    assert read(':tree') == Command('tree')
    assert read(':tree My tree.svg') == Command('tree', text='My tree.svg')
    assert read(':message  Ａ  letter') == Command('message', text='Ａ  letter')
    assert refusal(':auto maybe') == ":auto [on|off]: 'maybe' is neither on nor off"
    assert refusal(':auto on off') == 'usage: :auto [on|off]'
    assert refusal(':why 0') == ":why [n]: '0' is not a count from 1 to 1000"
    assert 'did you mean :auto?' in refusal(':aut')


@pytest.mark.parametrize('line', ['', '   ', '\t\n', '　'])
def test_an_empty_line_means_nothing(line: str) -> None:
    assert read(line) is None


@pytest.mark.parametrize(
    'line', ['地面のテクスチャを調査して', 'go to the light', '8 forward', '\\:stop']
)
def test_anything_without_a_colon_is_for_the_model(line: str) -> None:
    assert read(f'  {line} \n') == Command('text', text=line)


@pytest.mark.parametrize('line', ['：stop', '：ＳＴＯＰ', ' :STOP ', '： stop', ': stop'])
def test_full_width_and_upper_case_commands(line: str) -> None:
    assert read(line) == Command('stop')


def test_full_width_arguments() -> None:
    assert read('：ｆｏｒｗａｒｄ　２．５') == Command('forward', number=2.5)


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
        ('demo!', 'demo'),
    ],
)
def test_an_unknown_command_is_answered_with_the_nearest(typed: str, meant: str) -> None:
    text = refusal(f':{typed}')
    assert f'no command :{typed}; did you mean :{meant}?' in text
    assert all(f':{name}' in text for name in COMMANDS)


@pytest.mark.parametrize('line', [':', ':::', ':!', ':調査'])
def test_what_is_near_nothing_gets_the_list(line: str) -> None:
    text = refusal(line)
    assert 'did you mean' not in text
    assert ':help' in text


@pytest.mark.parametrize('name', ['forward', 'left', 'right'])
def test_drives_take_seconds(name: str) -> None:
    assert read(f':{name}') == Command(name, number=DEFAULT_DRIVE_S)
    assert read(f':{name} 0.5') == Command(name, number=0.5)
    assert read(f':{name} {LONGEST_S:g}') == Command(name, number=LONGEST_S)
    for bad in ('0', '-1', '20.01', 'nan', 'inf', '1e999', 'ten', '１x'):
        assert f':{name} [s]' in refusal(f':{name} {bad}')
    assert refusal(f':{name} 1 2') == f'usage: :{name} [s]'


def test_the_default_drive_respects_a_short_limit() -> None:
    assert parse(':forward', longest_drive_s=1.5) == Command('forward', number=1.5)


def test_trace_takes_a_count() -> None:
    assert read(':trace 3') == Command('trace', number=3.0)
    for bad in ('0', '-2', '1.5', '1001', 'all'):
        assert 'a count from 1 to 1000' in refusal(f':trace {bad}')


def test_commands_without_arguments_take_none() -> None:
    assert refusal(':stop now') == 'usage: :stop'


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
