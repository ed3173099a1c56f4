# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

import math

from curiosity_stand_in.kinematics import (
    advance,
    body_velocity,
    MAX_UNITS,
    Pose,
    STILL,
    Velocity,
    wrap,
)
from hypothesis import given
from hypothesis import strategies as st
import pytest

units = st.floats(-MAX_UNITS, MAX_UNITS)
finite = st.floats(allow_nan=False, allow_infinity=False)
poses = st.builds(Pose, st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.floats(-math.pi, math.pi))
velocities = st.builds(Velocity, st.floats(-5, 5), st.floats(-3, 3))
seconds = st.floats(0, 60)


def close(a: Pose, b: Pose) -> bool:
    return math.hypot(a.x - b.x, a.y - b.y) < 1e-6 and abs(wrap(a.yaw - b.yaw)) < 1e-6


@given(units.filter(lambda u: abs(u) > 1e-6), units, st.floats(0.001, 10))
def test_an_arc_has_the_radius_that_was_asked_for(
    linear_x: float, angular_z: float, metres_per_unit: float
) -> None:
    velocity = body_velocity(linear_x, angular_z, metres_per_unit=metres_per_unit)
    assert velocity.forward == pytest.approx(metres_per_unit * linear_x)
    assert velocity.turn * linear_x == pytest.approx(velocity.forward * angular_z)


@given(finite)
def test_nothing_turns_on_the_spot(angular_z: float) -> None:
    assert body_velocity(0.0, angular_z, metres_per_unit=0.25) == STILL


@given(finite, finite)
def test_no_twist_is_too_fast_for_the_wheels(linear_x: float, angular_z: float) -> None:
    velocity = body_velocity(linear_x, angular_z, metres_per_unit=0.25)
    limit = 0.25 * MAX_UNITS * (1 + 1e-9)
    assert abs(velocity.forward) <= limit
    assert abs(velocity.turn) <= limit


@pytest.mark.parametrize('bad', [(math.nan, 0.0), (1.0, math.inf), (-math.inf, 0.0)])
def test_a_twist_that_is_not_finite_is_refused(bad: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match='not finite'):
        body_velocity(*bad, metres_per_unit=0.25)


@given(poses, velocities, seconds, seconds)
def test_two_steps_lead_where_one_does(
    pose: Pose, velocity: Velocity, first: float, second: float
) -> None:
    twice = advance(advance(pose, velocity, first), velocity, second)
    assert close(twice, advance(pose, velocity, first + second))


@given(poses, st.floats(0.1, 3), st.floats(0.05, 2))
def test_a_full_circle_ends_where_it_began(pose: Pose, forward: float, turn: float) -> None:
    assert close(advance(pose, Velocity(forward, turn), math.tau / turn), pose)


@given(poses, velocities, seconds)
def test_the_way_is_never_longer_than_the_arc(pose: Pose, velocity: Velocity, time: float) -> None:
    after = advance(pose, velocity, time)
    assert math.hypot(after.x - pose.x, after.y - pose.y) <= abs(velocity.forward) * time + 1e-6
    assert -math.pi <= after.yaw <= math.pi


@pytest.mark.parametrize(
    ('start', 'velocity', 'seconds', 'end'),
    [
        (Pose(), Velocity(1.0, 0.4), math.pi / 2 / 0.4, (2.5, 2.5, math.pi / 2)),
        (Pose(1.0, 2.0, math.pi / 2), Velocity(0.5, 0.0), 4.0, (1.0, 4.0, math.pi / 2)),
    ],
    ids=['a quarter turn to the left', 'straight on'],
)
def test_where_a_drive_leads(
    start: Pose, velocity: Velocity, seconds: float, end: tuple[float, float, float]
) -> None:
    after = advance(start, velocity, seconds)
    assert (after.x, after.y, after.yaw) == pytest.approx(end)
