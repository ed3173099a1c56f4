# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the adapter knows of its agent, and how it tells alarms; the guard has its own tests."""

from __future__ import annotations

from itertools import pairwise

from curiosity_rosa_demo.adapter.agent_link import AgentLink
from curiosity_rosa_demo.adapter.alarm_fold import ALARM_PERIOD_S, AlarmFold
from curiosity_rosa_demo.domain.heartbeat import decode_heartbeat, encode_heartbeat
from curiosity_rosa_demo.domain.models import (
    TWO_AGENTS,
)
from hypothesis import given
from hypothesis import strategies as st
import pytest

WHY = 'an obstacle'


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just('beat'), st.integers(-3, 9), st.sampled_from(['', WHY])),
            st.tuples(st.just('alive'), st.integers(0, 3), st.just('')),
            st.tuples(st.just('forget'), st.just(0), st.just('')),
        )
    )
)
def test_nothing_but_a_beat_of_a_single_agent_lifts_the_latch(
    events: list[tuple[str, int, str]],
) -> None:
    link, alive = AgentLink(2.0), 1
    link.set_publishers(1, ['/agent'])
    for now, (kind, number, latch) in enumerate(events):
        before = link.latch
        if kind == 'beat':
            link.beat(number, latch, float(now))
        elif kind == 'alive':
            alive = number
            link.set_publishers(number, ['/agent'])
        else:
            link.forget()
        if before and not link.latch:
            assert (kind, latch) == ('beat', '')
            assert alive <= 1
        if alive > 1:
            assert link.refusal(float(now)).startswith(TWO_AGENTS)
            assert link.stop_reason(float(now))


@given(st.lists(st.integers(0, 5)))
def test_beats_count_only_while_the_tick_rises(ticks: list[int]) -> None:
    link, highest = AgentLink(2.0), -1
    for now, tick in enumerate(ticks, 1):
        link.beat(tick, '', 10.0 * now)
        assert link.silent(10.0 * now) is (tick <= highest)
        highest = max(highest, tick)


@given(st.lists(st.tuples(st.sampled_from('ab'), st.floats(0.0, 15.0)), max_size=60))
def test_each_alarm_is_told_once_a_period_and_none_is_lost(
    alarms: list[tuple[str, float]],
) -> None:
    fold, now = AlarmFold(), 0.0
    told: list[tuple[float, str]] = []
    for text, pause in alarms:
        now += pause
        fold.add(text, now)
        told += [(now, line) for line in fold.take_due(now)]
    while (wakeup := fold.next_wakeup()) is not None:
        told += [(wakeup, line) for line in fold.take_due(wakeup)]
    for text in 'ab':
        lines = [(at, line) for at, line in told if line.startswith(text)]
        count = sum(_times(line) for _, line in lines)
        assert count == sum(each == text for each, _ in alarms)
        for (first, _), (second, _) in pairwise(lines):
            assert second - first >= ALARM_PERIOD_S - 1e-6


def _times(line: str) -> int:
    words = line.partition('(')[2].split()
    return 1 if not words or words[0] == 'once' else int(words[0])


@pytest.mark.parametrize(
    'text', ['', '[]', '{}', '{"tick": true, "safe_reason": ""}', '{"tick": 1}', '[' * 10**5]
)
def test_what_is_no_heartbeat_is_ignored(text: str) -> None:
    assert decode_heartbeat(text) is None


@given(st.integers(0), st.text(max_size=500))
def test_a_heartbeat_survives_its_encoding(tick: int, reason: str) -> None:
    assert decode_heartbeat(encode_heartbeat(tick, reason)) == (tick, reason)
