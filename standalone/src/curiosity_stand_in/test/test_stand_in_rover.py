# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

import math
import threading

from curiosity_stand_in.mast import MOVES, OPENED
from curiosity_stand_in.rover import FASTEST_DRIVE, Rover
from hypothesis import given
from hypothesis import strategies as st
import pytest


class OwnedClock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> OwnedClock:
    return OwnedClock()


def test_one_twist_is_enough_to_drive_for_ever(clock: OwnedClock) -> None:
    rover = Rover(clock, metres_per_unit=0.25)
    rover.drive(2.0, 0.0)
    clock.now += 3600.0
    assert rover.state().pose.x == pytest.approx(1800.0)
    rover.drive(0.0, 0.0)
    clock.now += 3600.0
    assert rover.state().pose.x == pytest.approx(1800.0)


def test_a_bad_twist_leaves_the_last_one_in_force(clock: OwnedClock) -> None:
    rover = Rover(clock)
    rover.drive(2.0, 0.0)
    with pytest.raises(ValueError, match='not finite'):
        rover.drive(math.nan, 0.0)
    assert rover.state().velocity.forward == 0.5


@given(
    st.lists(
        st.tuples(
            st.just(0.0) | st.floats(-3, 3), st.floats(-1, 1), st.floats(0, 10), st.integers(1, 5)
        ),
        max_size=8,
    ),
    st.floats(0.1, 100),
)
def test_how_often_one_looks_changes_nothing(
    legs: list[tuple[float, float, float, int]], scale: float
) -> None:
    seldom_clock, often_clock = OwnedClock(), OwnedClock()
    seldom = Rover(seldom_clock, time_scale=scale)
    often = Rover(often_clock, time_scale=scale)
    for linear_x, angular_z, wall_seconds, looks in legs:
        seldom.drive(linear_x, angular_z)
        often.drive(linear_x, angular_z)
        if angular_z > 0.5:  # some legs close the mast, so that a stand there charges
            seldom.move_mast(MOVES['mast_close'])
            often.move_mast(MOVES['mast_close'])
        for _ in range(looks):
            often_clock.now += wall_seconds / looks
            often.state()
        seldom_clock.now += wall_seconds
    a, b = seldom.state(), often.state()
    assert (a.pose.x, a.pose.y) == pytest.approx((b.pose.x, b.pose.y), abs=1e-4)
    assert a.seconds == pytest.approx(b.seconds)
    assert a.battery.charge == pytest.approx(b.battery.charge)


@given(st.floats(0.1, 100))
def test_everything_runs_faster_by_the_time_scale(scale: float) -> None:
    clock = OwnedClock()
    rover = Rover(clock, time_scale=scale)
    rover.move_mast(MOVES['mast_close'])
    clock.now += 0.5 / scale
    state = rover.state()
    assert state.seconds == pytest.approx(0.5)
    assert state.joints.fold == pytest.approx(1.57 / 2)


@given(
    st.floats(0.1, 100),
    st.lists(st.tuples(st.booleans(), st.floats(0.0, 5.0)), min_size=1, max_size=6),
)
def test_while_it_drives_time_runs_no_faster_than_a_stop_can_follow(
    scale: float, parts: list[tuple[bool, float]]
) -> None:
    clock = OwnedClock()
    rover = Rover(clock, time_scale=scale)
    seconds = metres = 0.0
    for drives, wall_seconds in parts:
        rover.drive(2.0 if drives else 0.0, 0.0)
        clock.now += wall_seconds
        passed = wall_seconds * (min(scale, FASTEST_DRIVE) if drives else scale)
        seconds += passed
        metres += 0.5 * passed if drives else 0.0
    assert rover.state().seconds == pytest.approx(seconds, abs=1e-6)
    assert rover.state().pose.x == pytest.approx(metres, abs=1e-6)


def test_a_new_mast_command_starts_from_where_the_joints_are(clock: OwnedClock) -> None:
    rover = Rover(clock)
    rover.move_mast(MOVES['mast_close'])
    clock.now += 0.5
    rover.move_mast(MOVES['mast_open'])
    assert rover.state().joints.fold == pytest.approx(1.57 / 2)
    clock.now += 0.5
    assert rover.state().joints.fold == pytest.approx(1.57 / 4)
    clock.now += 9.0
    assert rover.state().joints == OPENED


def test_a_clock_that_steps_back_does_not_undo_the_way(clock: OwnedClock) -> None:
    rover = Rover(clock)
    rover.drive(2.0, 0.0)
    clock.now += 2.0
    there = rover.state()
    clock.now -= 1.0
    assert rover.state() == there


def test_many_threads_see_one_rover(clock: OwnedClock) -> None:
    rover = Rover(clock)
    rover.drive(2.0, 0.0)

    def look() -> None:
        for _ in range(200):
            rover.state()

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    clock.now += 10.0
    for thread in threads:
        thread.join(timeout=20)
    assert rover.state().pose.x == pytest.approx(5.0)
