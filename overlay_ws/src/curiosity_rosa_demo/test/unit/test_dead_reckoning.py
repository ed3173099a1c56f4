# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The one model of an arc."""

from __future__ import annotations

import math

from curiosity_rosa_demo.domain.geometry import along
from hypothesis import given
from hypothesis import strategies as st
import pytest

Place = tuple[float, float, float]
places = st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.floats(-math.pi, math.pi))
ways = st.floats(-50, 50)
curvatures = st.just(0.0) | st.floats(-2, 2)


def close(a: Place, b: Place) -> bool:
    return math.hypot(a[0] - b[0], a[1] - b[1]) < 1e-6 and abs(a[2] - b[2]) < 1e-6


@given(places, curvatures, ways, ways)
def test_two_steps_lead_where_one_does(
    place: Place, curvature: float, first: float, second: float
) -> None:
    twice = along(*along(*place, first, first * curvature), second, second * curvature)
    assert close(twice, along(*place, first + second, (first + second) * curvature))


@given(places, st.floats(0.1, 20.0), st.sampled_from([-1.0, 1.0]))
def test_a_full_circle_ends_where_it_began(place: Place, radius: float, side: float) -> None:
    x, y, yaw = along(*place, math.tau * radius, side * math.tau)
    assert close((x, y, yaw - side * math.tau), place)


@given(places, ways, curvatures)
def test_the_way_is_never_longer_than_the_arc(
    place: Place, metres: float, curvature: float
) -> None:
    x, y, _ = along(*place, metres, metres * curvature)
    assert math.hypot(x - place[0], y - place[1]) <= abs(metres) + 1e-6


@pytest.mark.parametrize(
    ('start', 'metres', 'turn', 'end'),
    [
        ((0.0, 0.0, 0.0), 2.5 * math.pi / 2, math.pi / 2, (2.5, 2.5, math.pi / 2)),
        ((1.0, 2.0, math.pi / 2), 2.0, 0.0, (1.0, 4.0, math.pi / 2)),
        ((0.0, 0.0, 0.0), -2.5 * math.pi / 2, -math.pi / 2, (-2.5, 2.5, -math.pi / 2)),
    ],
    ids=['a quarter turn to the left', 'straight on', 'backwards on the same circle'],
)
def test_where_an_arc_leads(start: Place, metres: float, turn: float, end: Place) -> None:
    assert along(*start, metres, turn) == pytest.approx(end)
