# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What comes in as text: typed lines, goals of run_task, and the words of others."""

from __future__ import annotations

from dataclasses import dataclass
import json
import math
from typing import Any

from curiosity_rosa_demo.agent.interfaces.action_server.goal import (
    goal_result_of,
    GoalArguments,
    GoalResult,
    MAX_TEXT_CHARS,
    parse_goal,
)
from curiosity_rosa_demo.agent.interfaces.terminal.commands import (
    BadCommand,
    Command,
    COMMANDS,
    DEFAULT_DRIVE_S,
    help_text,
    parse,
)
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.task import BadTask
from curiosity_rosa_demo.domain.operation import RefusedCall, ToolCall
from curiosity_rosa_demo.domain.text import clip, one_line, printable, valid_unicode, visible
from hypothesis import given
from hypothesis import strategies as st
from orders_world import fields
import pytest
from react_world import action, Nodes
from strategies import json_objects

LONGEST_S = 20.0

# --- typed lines --------------------------------------------------------------------------------


def read(line: str) -> Command | str | None:
    """The command, or why there is none."""
    try:
        return parse(line, longest_drive_s=LONGEST_S)
    except BadCommand as refused:
        return str(refused)


def wanted(name: str, text: str = '', number: str = '', data: str = '') -> Command:
    values = {'text': text, 'number': float(number or 0), 'data': json.loads(data or 'null')}
    return Command(name, **{key: value for key, value in values.items() if value})


def test_a_line_means_a_command_or_a_text_or_is_refused_with_what_is_right() -> None:
    wrong = []
    for line, name, *rest in fields('commands.tsv'):
        got = read(line)
        if name == '!' and (not isinstance(got, str) or rest[0] not in got):
            wrong.append((line, rest[0], got))
        if name != '!' and got != wanted(name, *rest):
            wrong.append((line, wanted(name, *rest), got))
    assert wrong == []
    assert [read(nothing) for nothing in ('', '   ', '\t\n', '　')] == [None] * 4


ARGUMENTS = {
    **{'task': 'ab', 'history': 'ab', 'cancel': 'ab', 'priority': 'ab 3', 'submit': 'x'},
    **{'run': 'a', 'edit': '{}', 'message': 'hi', 'graph': 'which nodes?', 'device': 'camera off'},
}


def test_every_command_is_understood_and_helped_and_an_unknown_one_gets_the_list() -> None:
    for name in COMMANDS:
        command = read(f':{name} {ARGUMENTS.get(name, "")}')
        assert isinstance(command, Command)
        assert command.name == name
        assert f':{name}' in help_text()
        assert f':{name}' in str(read(':hlep'))
    assert 'did you mean' not in str(read(':調査'))
    assert read(':left') == Command('left', number=DEFAULT_DRIVE_S)
    assert parse(':left', longest_drive_s=1.5) == Command('left', number=1.5)


LINES = st.one_of(
    st.text(),
    st.text().map(':{}'.format),
    st.builds(':{} {}'.format, st.sampled_from(sorted(COMMANDS)), st.text()),
    st.builds('：{} {}'.format, st.sampled_from(sorted(COMMANDS)), st.floats().map(repr)),
)


@given(LINES)
def test_any_line_is_a_command_a_text_or_a_refusal(line: str) -> None:
    command = read(line)
    if isinstance(command, str):
        assert len(command) < 800  # however long the line
    elif command is None:
        assert not line.strip()
    elif line.strip().startswith((':', '：')):
        assert command.name in COMMANDS
        if command.name in ('forward', 'left', 'right'):
            assert 0.0 < command.number <= LONGEST_S
    else:  # reaches the model unchanged
        assert command == Command('text', text=line.strip())


# --- goals of run_task --------------------------------------------------------------------------


@dataclass
class Request:
    text: str = ''
    skill: str = ''
    arguments_json: str = ''


@given(json_objects, st.sampled_from(['', ' ', '\n']))
def test_a_skill_gets_its_arguments_as_they_are(arguments: dict[str, Any], nothing: str) -> None:
    request = Request(skill=' speak ', arguments_json=json.dumps(arguments))
    assert parse_goal(request) == GoalArguments(skill='speak', arguments=arguments)
    assert parse_goal(Request('', 'speak', nothing)) == GoalArguments(skill='speak', arguments={})
    assert parse_goal(Request(text=' :demo\n')) == GoalArguments(text=':demo')


NO_TASKS = [
    (Request(), 'The goal is empty; give either text or skill'),
    (Request('   '), 'The goal is empty'),
    (Request('go', 'speak'), 'give either text or skill'),
    (Request('go', '', '{}'), 'arguments_json goes with skill'),
    (Request('', 'speak', '{'), 'cannot be read'),
    (Request('', 'speak', '[1]'), 'is no JSON object'),
    (Request('', 'speak', 'null'), 'is no JSON object'),
    (Request('', 'speak', '{"a": NaN}'), 'NaN is no JSON'),
    (Request('', 'speak', '{"a": 1e999}'), 'cannot be read'),
    (Request('', 'speak', '[' * 20_000), 'cannot be read'),
    (Request('', 'speak', '{"a":' * 150 + '1' + '}' * 150), 'nested'),
    (Request('', 'speak', '{"a": "\\ud800"}'), 'cannot be read'),
    (Request('x' * (MAX_TEXT_CHARS + 1)), f'{MAX_TEXT_CHARS} are allowed'),
    (Request('', 'x' * (MAX_TEXT_CHARS + 1)), 'skill has'),
]


def test_what_is_no_task_is_refused_with_what_would_be_right() -> None:
    for request, words in NO_TASKS:
        with pytest.raises(BadTask) as refused:
            parse_goal(request)
        assert words in str(refused.value)
        assert len(str(refused.value)) < 500


def ended(state: LifecycleState, reason: str = '', outcome: Any = None) -> GoalResult:
    metadata = {} if outcome is None else {'outcome': outcome}
    return goal_result_of(Task('react', metadata=metadata, state=state, reason=reason))


def test_a_result_has_the_answer_the_score_and_why_it_failed() -> None:
    outcome = {'ok': True, 'answer': 'Here it is bright.', 'score': 0.9}
    done = GoalResult(True, 'Here it is bright.', 0.9)
    assert ended(LifecycleState.COMPLETED, outcome=outcome) == done
    for none in (None, [], {}, {'score': None}, {'score': True, 'answer': 3}):
        result = ended(LifecycleState.COMPLETED, outcome=none)
        assert (result.ok, bool(result.answer), math.isnan(result.score)) == (True, True, True)
    failed = ended(LifecycleState.FAILED, 'Need to close mast', {'score': 0.2})
    assert (failed.ok, failed.answer, failed.score) == (False, 'Need to close mast', 0.2)
    stopped = ended(LifecycleState.CANCELLED, 'Stopped by HTTP')
    assert (stopped.ok, stopped.answer) == (False, 'Stopped by HTTP')
    assert (failed.cancelled, stopped.cancelled) == (False, True)


@pytest.mark.parametrize(
    ('arguments', 'kind'),
    [
        *(({'duration_s': value}, ToolCall) for value in (2.0, 10**400)),
        *(({'duration_s': value}, RefusedCall) for value in (float('nan'), float('inf'))),
        ('2.0', RefusedCall),
    ],
    ids=str,
)
def test_a_call_of_a_model_without_an_exact_json_form_is_refused(
    arguments: Any, kind: type
) -> None:
    nodes = Nodes([action('move_forward', arguments)])
    state = nodes.think()
    assert isinstance(state.react.decided_op, kind)
    if kind is RefusedCall:
        reason = nodes.told()[0].error_reason
        assert reason.startswith('Wrong arguments for move_forward: ')
        assert state.react.refused_in_a_row == 1


# --- what others wrote is clipped, put into one line and repaired in one place ------------------

texts = st.text(st.characters()) | st.text(st.sampled_from('\ud83d\ude80a🚀 \n\x1b\u2028\u202e'))


@given(texts, st.integers(3, 30), st.sampled_from(['...', '…']))
def test_a_clipped_text_is_no_longer_than_asked_and_says_that_it_was_clipped(
    text: str, longest: int, ending: str
) -> None:
    clipped = clip(text, longest, ending=ending)
    assert len(clipped) <= longest
    assert clipped == text or (clipped.endswith(ending) and len(clipped) == longest)


@given(texts)
def test_shown_text_moves_no_cursor_and_visible_text_hides_and_loses_nothing(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert shown == one_line(shown) == printable(shown)
    seen = visible(text)
    assert seen.isprintable()
    assert visible(seen) == seen
    as_json = json.dumps(text, ensure_ascii=False)
    assert json.loads(visible(as_json)) == json.loads(json.dumps(text))
    if text.isascii() and text.isprintable():
        assert seen == text


VISIBLE = {
    'stop\u202eevird': 'stop\\u202eevird',  # would be read from right to left
    'no\u200b\u3164\ufe0f': 'no\\u200b\\u3164\\ufe0f',  # nothing would be seen
    'a\n\x1b[2J\x9b': 'a\\n\\u001b[2J\\u009b',
    '進め é 🚀': '進め é 🚀',
}
REPAIRED = {'Up \ud83d': 'Up \ufffd', 'Up \ud83d\ude80': 'Up \U0001f680', '\ufeffa': '\ufeffa'}


@given(texts)
def test_repaired_text_can_be_encoded_and_is_repaired_once(text: str) -> None:
    repaired = valid_unicode({text: [text]})
    ((key, (value,)),) = repaired.items()
    value.encode()
    assert key == value == valid_unicode(value)
    if not any(0xD800 <= ord(char) < 0xE000 for char in text):
        assert value == text


def test_what_would_not_be_seen_is_escaped_and_halves_of_a_pair_are_joined_or_replaced() -> None:
    assert {text: visible(text) for text in VISIBLE} == VISIBLE
    assert {text: valid_unicode(text) for text in REPAIRED} == REPAIRED
