# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

import math

from curiosity_stand_in.terrain import CLEAR_DISC, CLEAR_LANE, rocks_near, scan_ranges
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from numpy.typing import NDArray
import pytest

places = st.floats(-500, 500)
ANGLES = np.linspace(-math.pi, math.pi, 640)


@given(places, places)
def test_the_same_rocks_lie_there_from_wherever_one_looks(x: float, y: float) -> None:
    here, wide = rocks_near(x, y, 15.0), rocks_near(x + 4.0, y - 3.0, 30.0)
    all_of_them = set(zip(wide.x, wide.y, wide.radius, wide.look, strict=True))
    assert set(zip(here.x, here.y, here.radius, here.look, strict=True)) <= all_of_them


@given(places, places)
def test_the_first_drive_meets_no_rock(x: float, y: float) -> None:
    rocks = rocks_near(x, y, 30.0)
    assert (abs(rocks.y) - rocks.radius >= CLEAR_LANE).all()
    assert (np.hypot(rocks.x, rocks.y) - rocks.radius >= CLEAR_DISC).all()


def test_there_are_rocks_and_they_differ() -> None:
    rocks = rocks_near(0.0, 0.0, 40.0)
    assert len(rocks.x) > 50
    assert len(set(rocks.look)) == len(rocks.x)
    assert 0.3 < rocks.look.mean() < 0.7


def scan(x: float, y: float, yaw: float) -> NDArray[np.float32]:
    """A level scan at the ground, where a rock is a circle of its radius."""
    rays = np.column_stack((np.cos(ANGLES + yaw), np.sin(ANGLES + yaw), np.zeros_like(ANGLES)))
    return scan_ranges(np.array([x, y, 0.0]), rays, nearest=1.0, farthest=20.0)


@given(places, places, st.floats(-4, 4))
def test_every_beam_ends_on_a_rock_or_nowhere(x: float, y: float, yaw: float) -> None:
    ranges = scan(x, y, yaw).astype(float)
    hit = np.isfinite(ranges)
    assert (ranges[~hit] == np.inf).all()
    assert (ranges[hit] >= 1.0).all()
    assert (ranges[hit] <= 20.0).all()
    rocks = rocks_near(x, y, 22.0)
    for distance, angle in zip(ranges[hit], ANGLES[hit], strict=True):
        end_x, end_y = x + distance * math.cos(angle + yaw), y + distance * math.sin(angle + yaw)
        off = abs(np.hypot(rocks.x - end_x, rocks.y - end_y) - rocks.radius)
        assert off.min() < 1e-4


@given(places, places)
def test_turning_by_one_beam_moves_the_scan_by_one_beam(x: float, y: float) -> None:
    step = ANGLES[1] - ANGLES[0]
    ahead, turned = scan(x, y, 0.3), scan(x, y, 0.3 + step)
    both = np.isfinite(ahead[1:]) & np.isfinite(turned[:-1])
    # A beam that just grazes a rock may differ by rounding.
    same = np.isclose(ahead[1:][both], turned[:-1][both], atol=1e-3)
    assert same.sum() >= 0.98 * both.sum()


def test_something_is_seen_from_the_start() -> None:
    assert np.isfinite(scan(0.0, 0.0, 0.0)).sum() > 20


def test_a_ray_that_looks_down_ends_on_the_ground() -> None:
    down, level, up = (math.sin(-0.25), 0.0, 1.0)
    rays = np.array([[math.cos(-0.25), 0.0, down], [1.0, 0.0, level], [0.0, 0.0, up]])
    ranges = scan_ranges(np.array([0.0, 0.0, 1.0]), rays, nearest=1.0, farthest=20.0)
    assert ranges[0] == pytest.approx(1.0 / math.sin(0.25), rel=1e-6)
    assert np.isinf(ranges[1:]).all()
