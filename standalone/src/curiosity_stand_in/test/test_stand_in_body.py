# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The pure body: what a command does, whatever the steps in which one looks."""

from __future__ import annotations

import math
from typing import Any

from curiosity_rosa_demo.domain.geometry import along
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_stand_in.body import Body, MOST_SAG_S, ROCKING, State
from curiosity_stand_in.kinematics import FORWARD, LEFT, Pose
from curiosity_stand_in.mast import MOVES
from hypothesis import given
from hypothesis import strategies as st
import pytest

THRESHOLDS = load_config().thresholds
MPS, RADIUS_M = THRESHOLDS.body.forward_mps, THRESHOLDS.obstacles.turn_radius_m


class Timed:
    """A body and its clock."""

    def __init__(self, **start: Any) -> None:
        self.now = 1000.0
        self.body = Body(THRESHOLDS, lambda: self.now, **start)

    def wait(self, seconds: float) -> State:
        self.now += seconds
        return self.body.state()

    def states(self, seconds: float, step: float = 0.01) -> list[State]:
        return [self.wait(step) for _ in range(round(seconds / step))]


def test_a_bad_twist_leaves_the_last_one_in_force() -> None:
    timed = Timed()
    timed.body.drive(*FORWARD)
    with pytest.raises(ValueError, match='not finite'):
        timed.body.drive(math.nan, 0.0)
    assert timed.wait(1.0).velocity.forward == MPS


@given(
    st.lists(
        st.tuples(
            st.just(0.0) | st.floats(-3, 3), st.floats(-1, 1), st.floats(0, 10), st.integers(1, 5)
        ),
        max_size=8,
    ),
    st.sampled_from([0.0, 1.0, MOST_SAG_S]),
)
def test_how_often_one_looks_changes_nothing(
    legs: list[tuple[float, float, float, int]], sag_s: float
) -> None:
    seldom, often = Timed(), Timed()
    seldom.body.sag_s = often.body.sag_s = sag_s
    for linear_x, angular_z, seconds, looks in legs:
        for timed in (seldom, often):
            timed.now = seldom.now  # the same number: a tick must fall into the same step
            timed.body.drive(linear_x, angular_z)
            if angular_z > 0.5:  # some legs close the mast, so that a stand there charges
                timed.body.move_mast(MOVES['mast_close'])
        end = seldom.now + seconds
        for look in range(looks):
            often.wait(seconds / looks * (look < looks - 1))
        seldom.now = often.now = end
    a, b = seldom.body.state(), often.body.state()
    assert (a.pose.x, a.pose.y) == pytest.approx((b.pose.x, b.pose.y), abs=1e-4)
    assert (a.pose.z, a.pose.pitch) == pytest.approx((b.pose.z, b.pose.pitch), abs=1e-4)
    assert a.path_m == pytest.approx(b.path_m, abs=1e-4)
    assert a.wheels_turned == pytest.approx(b.wheels_turned, abs=1e-6)
    assert a.battery.charge == pytest.approx(b.battery.charge)
    assert a.joints == pytest.approx(b.joints)


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 1.0, 2.0, -1.0]), st.floats(0.05, 2.0)), max_size=6)
)
def test_its_velocity_is_the_derivative_of_its_way_and_nothing_jumps(
    legs: list[tuple[float, float]],
) -> None:
    timed = Timed()
    before = timed.body.state()
    for linear_x, seconds in legs:
        timed.body.drive(linear_x, 0.4)
        for after in timed.states(seconds, 0.005):
            middle = (before.velocity.forward + after.velocity.forward) / 2
            metres = math.hypot(after.pose.x - before.pose.x, after.pose.y - before.pose.y)
            assert metres == pytest.approx(abs(middle) * 0.005, abs=1e-4)
            assert abs(after.velocity.forward - before.velocity.forward) < 0.1
            assert abs(after.pose.pitch - before.pose.pitch) < 0.01
            assert after.path_m >= before.path_m
            before = after


def test_a_turn_is_an_arc_of_the_profiles_radius() -> None:
    timed = Timed(pose=Pose(1.0, 2.0, 0.5))
    timed.body.drive(*LEFT)
    state = timed.wait(20.0)
    assert state.velocity.turn == pytest.approx(THRESHOLDS.body.turn_mps / RADIUS_M)
    wanted = along(1.0, 2.0, 0.5, state.path_m, state.path_m / RADIUS_M)
    assert (state.pose.x, state.pose.y, state.pose.yaw) == pytest.approx(wanted)


def test_the_truth_knows_a_body_that_moves_on_standing_wheels() -> None:
    timed = Timed()
    timed.body.drive(*FORWARD)
    driving = timed.wait(5.0)
    assert driving.moves
    assert driving.wheels == FORWARD[0]
    assert timed.body.moves_until == math.inf
    timed.body.drive(0.0, 0.0)
    until = timed.body.moves_until
    assert timed.now < until <= timed.now + 0.1 + ROCKING[-1][0] + 1e-9
    rocking = timed.wait(0.2)
    assert rocking.moves
    assert rocking.wheels == 0.0
    assert not timed.wait(until - timed.now + 1e-6).moves


@pytest.mark.parametrize('sag_s', [1.0, MOST_SAG_S])
def test_a_mechanism_that_sags_moves_the_body_and_tilts_it(sag_s: float) -> None:
    timed = Timed()
    timed.body.sag_s = sag_s
    timed.body.drive(*FORWARD)
    timed.wait(5.0)
    timed.body.drive(0.0, 0.0)
    states = timed.states(sag_s + 1.0)
    standing = [state for state in states if state.wheels == 0.0]
    moving = [state for state in standing if state.moves]
    assert moving[-1].seconds - moving[0].seconds == pytest.approx(sag_s, abs=0.03)
    assert max(each.velocity.forward for each in moving[30:]) <= 0.5
    tilt = math.hypot(states[-1].pose.roll, states[-1].pose.pitch)
    assert 10.0 <= math.degrees(tilt) <= 12.0
    assert states[-1].pose.z > 1.0
    timed.body.sag_s = 0.0
    timed.body.drive(*FORWARD)
    level = timed.wait(5.0).pose
    assert (level.roll, level.pitch) == (0.0, -THRESHOLDS.body.driving_pitch_rad)


def test_a_slipping_rover_loses_its_way_and_its_wheels_turn_on() -> None:
    timed = Timed()
    timed.body.drive(*FORWARD)
    timed.wait(5.0)
    timed.body.set_slip(1.0)
    before, after = timed.wait(0.0), timed.wait(3.0)
    assert after.pose == before.pose
    assert after.wheels_turned == pytest.approx(before.wheels_turned + 3.0 * FORWARD[0])
    assert not after.moves


def test_a_clock_that_steps_back_does_not_undo_the_way() -> None:
    timed = Timed()
    timed.body.drive(*FORWARD)
    there = timed.wait(2.0)
    assert timed.wait(-1.0) == there
