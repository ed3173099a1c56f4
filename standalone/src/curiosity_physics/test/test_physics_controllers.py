# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The controllers and move_wheel's rules, without physics."""

from __future__ import annotations

import math

from curiosity_physics.controllers import (
    ARM,
    Controllers,
    FASTEST_RAD_S,
    MAST,
    STANDING,
    STEER,
    SUSPENSION,
    WHEELS,
)
from curiosity_physics.drivers import steering, turn_radius, Twist, WheelDriver
from hypothesis import given
from hypothesis import strategies as st
import pytest

AT_ZERO = dict.fromkeys((*WHEELS, *STEER, *MAST, *ARM, *SUSPENSION), 0.0)
ANGLE = st.floats(-3.0, 3.0)


def test_a_trajectory_is_a_straight_line_from_the_actual_joints() -> None:
    mast = Controllers().mast
    actual = {**AT_ZERO, 'mast_p_joint': 1.0}
    mast.follow(tuple(reversed(MAST)), [(2.0, (0.0, -1.0, 0.0))], now=5.0, actual=actual)
    assert mast.at(5.0) == (1.0, 0.0, 0.0)
    assert mast.at(6.0) == pytest.approx((0.5, -0.5, 0.0))
    assert mast.at(99.0) == (0.0, -1.0, 0.0)


@pytest.mark.parametrize(
    ('names', 'points', 'why'),
    [
        (MAST[:2], [(1.0, (0.0, 0.0))], 'its joints must be mast_p_joint'),
        (MAST, [(1.0, (0.0, 0.0))], '3 finite angles'),
        (MAST, [(1.0, (0.0, math.nan, 0.0))], '3 finite angles'),
        (MAST, [(1.0, (0.0,) * 3), (1.0, (1.0,) * 3)], 'must rise'),
    ],
)
def test_a_trajectory_that_no_controller_would_take_changes_nothing(
    names: tuple[str, ...], points: list[tuple[float, tuple[float, ...]]], why: str
) -> None:
    mast = Controllers().mast
    before = mast.at(3.0)
    with pytest.raises(ValueError, match=why):
        mast.follow(names, points, now=0.0, actual=AT_ZERO)
    assert mast.at(3.0) == before


def test_no_wheel_turns_and_no_spring_pushes_before_the_first_command() -> None:
    controllers = Controllers()
    velocities = controllers.velocities(1.0, AT_ZERO)
    assert {velocities[name] for name in WHEELS} == {0.0}
    assert controllers.suspension.efforts((0.3,) * 4) == (0.0,) * 4


def test_the_suspension_pushes_in_proportion_and_against_the_velocity_of_its_error() -> None:
    suspension = Controllers().suspension
    suspension.command((0.1, 0.1, 0.0, 0.0))
    assert suspension.efforts((0.0,) * 4) == pytest.approx((220.0, 420.0, 0.0, 0.0))
    # 0.01 rad nearer within 10 ms: 1 rad/s against the D of 10 Nm s/rad.
    assert suspension.efforts((0.01, 0.0, 0.0, 0.0))[0] == pytest.approx(198.0 - 10.0)
    with pytest.raises(ValueError, match='4 finite numbers'):
        suspension.command((0.1, math.inf, 0.0, 0.0))


@given(st.fixed_dictionaries(dict.fromkeys((*STEER, *MAST, *ARM), ANGLE)))
def test_a_position_servo_goes_to_its_target_at_a_bounded_velocity(
    actual: dict[str, float],
) -> None:
    velocities = Controllers().velocities(0.0, {**AT_ZERO, **actual})
    for name, angle in actual.items():
        assert velocities[name] == pytest.approx(-10.0 * angle)
        assert abs(velocities[name]) <= FASTEST_RAD_S


@given(st.floats(-1.0, 1.0))
def test_steering_is_ackermann_and_mirrored(angular_z: float) -> None:
    radius = turn_radius(angular_z)
    front_left, back_left, front_right, back_right = steering(radius)
    assert (back_left, back_right) == (-front_left, -front_right)
    assert steering(-radius) == (-front_right, front_right, -front_left, front_left)
    assert max(map(abs, steering(radius))) <= 0.6
    if abs(angular_z) >= 1e-3:
        assert math.copysign(1.0, front_left) == math.copysign(1.0, angular_z)


def test_the_wheel_driver_repeats_its_twist_and_steers_from_the_second_one_on() -> None:
    controllers = Controllers()
    driver = WheelDriver(controllers)
    for beat in range(3):  # run_demo's turn_left, every 0.1 s
        driver.drive(Twist(1.0, 0.4))
        driver.tick(beat * 0.1, AT_ZERO)
        steered = controllers.steer.at(99.0)
        assert (steered != (0.0,) * 4) == (beat >= 1)
    assert controllers.wheels.velocities == (1.0, 1.5, 1.0, -1.0, -1.5, -1.0)
    driver.tick(60.0, AT_ZERO)  # no time-out
    assert controllers.wheels.velocities[0] == 1.0
    assert controllers.suspension.efforts((0.0,) * 4) != (0.0,) * 4
    assert STANDING == (0.3, -0.1, 0.3, -0.1)
