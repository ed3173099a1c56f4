# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


from __future__ import annotations

import math

from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_stand_in.kinematics import Course, course, FORWARD, LEFT, MAX_UNITS, RIGHT, wrap
from hypothesis import given
from hypothesis import strategies as st
import pytest

THRESHOLDS = load_config().thresholds
BODY, RADIUS_M = THRESHOLDS.body, THRESHOLDS.obstacles.turn_radius_m
finite = st.floats(allow_nan=False, allow_infinity=False)
TABLE = [  # the Twist, and the speed and the radius that move_wheel's steering gives it
    (FORWARD, BODY.forward_mps, math.inf),
    (LEFT, BODY.turn_mps, RADIUS_M),
    (RIGHT, BODY.turn_mps, -RADIUS_M),
    ((2.0, 0.4), 2 * BODY.turn_mps, RADIUS_M),  # the radius does not depend on the speed
    ((-1.0, 0.4), -BODY.turn_mps, RADIUS_M),
    ((1.0, 0.6), BODY.turn_mps, RADIUS_M / 3),
    ((1.0, 50.0), BODY.turn_mps, RADIUS_M / 3),  # the steering has an end
    ((1.0, 0.2), BODY.forward_mps / 2 * 0.4 + BODY.turn_mps * 0.6, RADIUS_M * 5 / 3),
]


@pytest.mark.parametrize(('twist', 'speed', 'radius'), TABLE)
def test_a_twist_drives_and_steers(
    twist: tuple[float, float], speed: float, radius: float
) -> None:
    found = course(*twist, THRESHOLDS)
    assert found.speed == pytest.approx(speed)
    assert found.curvature == pytest.approx(1.0 / radius)


@given(finite)
def test_nothing_turns_on_the_spot(angular_z: float) -> None:
    assert course(0.0, angular_z, THRESHOLDS) == Course()


@given(finite, finite)
def test_no_twist_is_too_fast_for_the_wheels(linear_x: float, angular_z: float) -> None:
    found = course(linear_x, angular_z, THRESHOLDS)
    assert abs(found.speed) <= MAX_UNITS * max(BODY.forward_mps / 2, BODY.turn_mps)
    assert abs(found.curvature) <= 3.01 / RADIUS_M


@pytest.mark.parametrize('bad', [(math.nan, 0.0), (1.0, math.inf), (-math.inf, 0.0)])
def test_a_twist_that_is_not_finite_is_refused(bad: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match='not finite'):
        course(*bad, THRESHOLDS)


@given(st.floats(-100, 100))
def test_a_wrapped_angle_is_the_same_direction(angle: float) -> None:
    assert -math.pi <= wrap(angle) <= math.pi
    assert math.cos(wrap(angle)) == pytest.approx(math.cos(angle), abs=1e-9)
