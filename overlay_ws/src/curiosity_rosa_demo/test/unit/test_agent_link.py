# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The adapter and its agent: SAFE, two agents, the agent's death; stops and alarms that tell."""

from __future__ import annotations

from itertools import pairwise

from curiosity_rosa_demo.adapter.agent_link import AgentLink
from curiosity_rosa_demo.adapter.alarm_fold import ALARM_PERIOD_S, AlarmFold
from curiosity_rosa_demo.adapter.mast import Mast, MastAction
from curiosity_rosa_demo.domain.heartbeat import decode_heartbeat, encode_heartbeat
from curiosity_rosa_demo.domain.models import (
    agent_is_safe,
    AGENT_IS_SILENT,
    STOP_NOT_CONFIRMED,
    TWO_AGENTS,
)
from guard_world import CONFIG, World
from hypothesis import given
from hypothesis import strategies as st
import pytest

WHY = 'an obstacle'


@pytest.fixture
def driving() -> World:
    """A rover that its agent drives."""
    world = World()
    world.step(1.0)
    assert world.ask_mast(MastAction.CLOSE) == ''
    world.agent_lives = True
    world.step(2.0)
    assert world.ask_move() == ''
    world.step(0.5)
    assert world.moving
    return world


def test_safe_stops_the_rover_and_lets_only_the_mast_close(driving: World) -> None:
    driving.latch = WHY
    driving.step(1.0)
    assert not driving.moving
    assert driving.ask_move() == agent_is_safe(WHY)
    for action in (MastAction.OPEN, MastAction.ROTATE):
        assert driving.ask_mast(action) == agent_is_safe(WHY)
    assert driving.ask_mast(MastAction.CLOSE) == ''
    assert driving.guard.agent_latch == WHY


def test_the_latch_outlives_the_agent_until_a_beat_without_one(driving: World) -> None:
    driving.latch = WHY
    driving.step(1.0)
    driving.agent_leaves()
    assert driving.ask_move() == agent_is_safe(WHY)
    driving.latch, driving.agent_lives = '', True
    driving.step(0.5)
    assert driving.ask_move() == ''


def test_a_motion_in_safe_is_stopped_again(driving: World) -> None:
    driving.latch = WHY
    driving.step(1.0)
    driving.guard.take_alarms()
    driving.driving = True
    driving.step(0.5)
    assert not driving.moving
    assert 'Stopped: the rover moved unasked in SAFE' in driving.guard.take_alarms()


def test_two_agents_stop_the_rover_and_are_named(driving: World) -> None:
    driving.guard.set_agents(2, ['/agent', '/forger'])
    driving.step(1.0)
    assert not driving.moving
    assert driving.ask_move() == f'{TWO_AGENTS}: /agent, /forger'
    driving.guard.set_agents(1, [])
    driving.step(0.5)
    assert driving.ask_move() == ''


def test_an_agent_without_a_living_publisher_stops_the_rover_at_once(driving: World) -> None:
    driving.agent_lives = False
    driving.guard.set_agents(0, [])
    driving.step(0.2)
    assert not driving.moving
    assert driving.guard.last_error == 'The agent is gone: the rover was stopped'
    driving.step(0.5)
    assert driving.ask_move() == AGENT_IS_SILENT


def test_a_foreign_driver_makes_a_violation_that_ends_with_the_motion(driving: World) -> None:
    driving.drive.absent = True
    driving.ask_stop()
    number = driving.ask_stop()
    for _ in range(40):  # each second reading shows the foreign Twist
        driving.wheels = 0.5
        driving.guard.record_odometry(0.5, 0.0)
        driving.step(0.05)
    assert driving.guard.violation
    assert driving.guard.stop_problem(number).startswith(STOP_NOT_CONFIRMED)
    driving.drive.absent, driving.driving = False, False
    driving.step(3.0)
    assert driving.guard.violation == ''
    assert driving.guard.stop_problem(number) == ''


def test_a_stop_without_odometry_is_not_confirmed(driving: World) -> None:
    driving.odometry_on = False
    driving.step(CONFIG.motion.odometry_max_age_s + 0.1)
    number = driving.ask_stop()
    driving.step(0.5)
    assert driving.guard.stops_ended >= number
    assert driving.guard.stop_problem(number) == f'{STOP_NOT_CONFIRMED}: no odometry'


def test_joints_that_contradict_each_other_alarm_once_a_period() -> None:
    world = World()
    world.step(1.0)
    world.ask_mast(MastAction.CLOSE)
    world.step(2.0)
    alarms = []
    for _ in range(200):  # 20 s
        world.guard.record_joints(0.7, -1.0)
        world.guard.mast = Mast.CLOSED  # a second publisher
        world.step(0.1)
        alarms += world.guard.take_alarms()
    told = [alarm for alarm in alarms if alarm.startswith('Joint states contradict')]
    assert 2 <= len(told) <= 3
    assert 'times more)' in told[-1]


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
