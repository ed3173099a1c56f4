# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The lines that the page keeps for all browsers."""

from __future__ import annotations

from curiosity_rosa_demo.agent.interfaces.page.talk_lines import (
    MAX_TALK_CHARS,
    MAX_TALK_LINES,
    MAX_TOKEN_CHARS,
    TalkLines,
)
from hypothesis import given
from hypothesis import strategies as st
import pytest

tokens = st.sampled_from(['a', 'b', '', 'x' * (MAX_TOKEN_CHARS + 1), None, 7])


def test_a_line_has_its_reply_and_its_task() -> None:
    lines = TalkLines(clock=lambda: 12.5)
    line = lines.add('go to the light', 'Anna', 'a1')
    asked = {'id': 1, 'token': 'a1', 'at': 12.5, 'text': 'go to the light', 'by': 'Anna'}
    assert lines.rows() == [{**asked, 'words': '', 'ok': True, 'task': ''}]
    lines.reply(line, True, 'task 1234', '1234abcd')
    assert lines.rows() == [{**asked, 'words': 'task 1234', 'ok': True, 'task': '1234abcd'}]


def test_what_came_of_a_button_stands_among_the_lines() -> None:
    lines = TalkLines()
    lines.add('look')
    lines.add_result(False, 'refused')
    assert [(row['text'], row['ok'], row['words']) for row in lines.rows()] == [
        ('look', True, ''),
        ('', False, 'refused'),
    ]


def test_a_line_that_is_forgotten_may_still_get_its_reply() -> None:
    lines = TalkLines()
    first = lines.add('first')
    for _ in range(MAX_TALK_LINES):
        lines.add('another')
    lines.reply(first, True, 'done')
    assert all(row['words'] == '' for row in lines.rows())


@pytest.mark.parametrize('extra', [0, 1])
def test_a_text_is_bounded(extra: int) -> None:
    lines = TalkLines()
    text = 'y' * (MAX_TALK_CHARS + extra)
    lines.reply(lines.add(text), True, text)
    (row,) = lines.rows()
    assert len(str(row['text'])) == len(str(row['words'])) == MAX_TALK_CHARS
    assert (row['text'] == text) is (not extra)


@given(st.lists(st.tuples(st.text(max_size=3), tokens), max_size=3 * MAX_TALK_LINES))
def test_the_newest_lines_stay_and_no_two_have_the_same_token(
    typed: list[tuple[str, object]],
) -> None:
    lines = TalkLines()
    for text, token in typed:
        lines.add(text, '', token)
    rows = lines.rows()
    assert [row['text'] for row in rows] == [text for text, _ in typed][-MAX_TALK_LINES:]
    assert [row['id'] for row in rows] == list(range(1, len(typed) + 1))[-MAX_TALK_LINES:]
    kept = [row['token'] for row in rows if row['token']]
    assert len(kept) == len(set(kept))
    assert set(kept) <= {'a', 'b'}
