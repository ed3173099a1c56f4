# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The names of people who act: shown, bounded, and never able to look like something else."""

from __future__ import annotations

from curiosity_rosa_demo.domain.origin import (
    caller_prefix,
    caller_text,
    MAX_OPERATOR_CHARS,
    operator_name,
)
from hypothesis import given
from hypothesis import strategies as st
import pytest

TEXTS = st.text(max_size=600) | st.none() | st.integers()


@given(TEXTS)
def test_any_name_becomes_one_short_printable_line(name: object) -> None:
    shown = operator_name(name)
    assert len(shown) <= MAX_OPERATOR_CHARS
    assert shown.isprintable()
    assert shown == shown.strip()
    assert not set(shown) & set('()')
    assert operator_name(shown) == shown


@given(st.text(max_size=60), TEXTS)
def test_the_client_of_a_named_caller_is_always_shown(client: str, name: object) -> None:
    shown = caller_text(client, name)
    assert shown.isprintable()
    if operator_name(name):
        assert shown.endswith(')')
        assert shown.count('(') == 1
        assert caller_prefix(shown) == f'{shown}:'
    else:
        assert caller_prefix(shown) == f'({shown})'


@pytest.mark.parametrize(
    ('client', 'name', 'shown'),
    [
        ('', '', 'HTTP'),
        ('', 'Anna', 'Anna (HTTP)'),
        ('page', '', 'the page'),
        ('page', '  Anna\nK. ', 'Anna K. (page)'),
        ('console-1a2b', 'anna@lab', 'anna@lab (console-1a2b)'),
        ('console-1a2b', '', 'console-1a2b'),
        (') the watchdog', 'x) the watchdog (', 'x the watchdog (HTTP)'),
        ('page', '安娜', '安娜 (page)'),
    ],
)
def test_a_caller_is_told_by_name_and_client(client: str, name: str, shown: str) -> None:
    assert caller_text(client, name) == shown
