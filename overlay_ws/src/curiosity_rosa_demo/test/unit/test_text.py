# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What others wrote is clipped, put into one line and repaired in one place."""

from __future__ import annotations

import json

from curiosity_rosa_demo.domain.text import (
    clip,
    one_line,
    printable,
    valid_unicode,
    visible,
)
from hypothesis import given
from hypothesis import strategies as st
import pytest

texts = st.text(st.characters()) | st.text(st.sampled_from('\ud83d\ude80a🚀 \n\x1b\u2028\u202e'))


@given(texts, st.integers(3, 30), st.sampled_from(['...', '…']))
def test_a_clipped_text_is_no_longer_than_asked_and_says_that_it_was_clipped(
    text: str, longest: int, ending: str
) -> None:
    clipped = clip(text, longest, ending=ending)
    assert len(clipped) <= longest
    assert clipped == text or (clipped.endswith(ending) and len(clipped) == longest)


@given(texts)
def test_printable_text_has_one_line_and_moves_no_cursor(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert shown == one_line(shown) == printable(shown)


@given(texts)
def test_visible_text_hides_nothing_and_loses_nothing(text: str) -> None:
    shown = visible(text)
    assert shown.isprintable()
    assert visible(shown) == shown
    as_json = json.dumps(text, ensure_ascii=False)
    assert json.loads(visible(as_json)) == json.loads(json.dumps(text))
    if text.isascii() and text.isprintable():
        assert shown == text


@pytest.mark.parametrize(
    ('text', 'shown'),
    [
        ('stop\u202eevird', 'stop\\u202eevird'),  # would be read from right to left
        ('no\u200b\u3164\ufe0f', 'no\\u200b\\u3164\\ufe0f'),  # nothing would be seen
        ('a\n\x1b[2J\x9b', 'a\\n\\u001b[2J\\u009b'),
        ('進め é 🚀', '進め é 🚀'),
    ],
)
def test_what_would_not_be_seen_is_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(texts)
def test_repaired_text_can_be_encoded_and_is_repaired_once(text: str) -> None:
    repaired = valid_unicode({text: [text]})
    ((key, (value,)),) = repaired.items()
    value.encode()
    assert key == value == valid_unicode(value)
    if not any(0xD800 <= ord(char) < 0xE000 for char in text):
        assert value == text


@pytest.mark.parametrize(
    ('text', 'repaired'),
    [('Up \ud83d', 'Up \ufffd'), ('Up \ud83d\ude80', 'Up \U0001f680'), ('\ufeffa', '\ufeffa')],
)
def test_halves_of_a_pair_are_joined_or_replaced(text: str, repaired: str) -> None:
    assert valid_unicode(text) == repaired
