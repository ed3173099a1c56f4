# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether the camera stood still when a frame was taken."""

from __future__ import annotations

import math

from curiosity_rosa_demo.infra.tf.tree import FrameLink, Transform
from curiosity_rosa_demo.sim.stillness import Instant, STILL_S, Stillness
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

JOINT, PERIOD_S = 'mast_p_joint', 0.01
LINK = 'chassis_to_mast_p -> mast_p'


def stillness() -> Stillness:
    return Stillness(still_mps=0.02, still_radps=0.02, max_age_s=lambda: 1.0, skew_s=lambda: 1.0)


def swept(speed: float, *, moves_s: float, stands_s: float, stamps: float = 100.0) -> Stillness:
    """A joint that moves from 0.0 s on at ``speed``, then stands; ``stamps`` are so much more than
    the time of receipt. 0.0: there are none.
    """
    out, steps = stillness(), round((moves_s + stands_s) / PERIOD_S)
    for step in range(steps + 1):
        at_s = step * PERIOD_S
        stamp_s = at_s + stamps if stamps else 0.0
        out.record_angle(JOINT, speed * min(at_s, moves_s), Instant(stamp_s, at_s))
    return out


def frame(at_s: float, stamps: float = 100.0, *, late_s: float = 0.0) -> Instant:
    return Instant(at_s + stamps if stamps else 0.0, at_s + late_s)


@pytest.mark.parametrize(
    ('speed', 'stands_s', 'taken', 'moving'),
    [
        (1.5, 0.5, frame(1.2), False),
        (1.5, 0.5, frame(0.9), True),  # in the motion
        (1.5, 0.5, frame(0.9, late_s=0.3), True),  # in the motion, and received after it
        (1.5, 0.1, frame(1.1), True),  # not yet still for long enough
        (0.3, 0.1, frame(1.1), True),  # a slow one, read at 100 Hz
        (0.01, 0.1, frame(1.1), False),  # slower than the limit
        (1.5, 0.5, frame(1.6), True),  # not read since the frame
        (1.5, 0.5, frame(1.2, 0.0), False),  # no stamp: by the receipt
        (1.5, 0.5, frame(0.9, 0.0), True),
        (1.5, 0.5, frame(1.2, 5000.0), False),  # a clock of its own
        (1.5, 0.5, frame(0.9, 5000.0), True),
    ],
)
def test_a_frame_counts_when_it_is_newer_than_the_last_motion(
    speed: float, stands_s: float, taken: Instant, moving: bool
) -> None:
    parts = swept(speed, moves_s=1.0, stands_s=stands_s)
    assert parts.moving([JOINT], taken, 1.0 + stands_s) == (JOINT if moving else '')


def test_joints_without_stamps_are_judged_by_their_receipt() -> None:
    parts = swept(1.5, moves_s=1.0, stands_s=0.5, stamps=0.0)
    assert parts.moving([JOINT], frame(1.2), 1.5) == ''
    assert parts.moving([JOINT], frame(0.9), 1.5) == JOINT


def test_what_is_silent_or_unknown_holds_nothing_up() -> None:
    parts = swept(1.5, moves_s=1.0, stands_s=0.0)
    assert parts.moving(['another'], frame(1.0), 1.0) == ''
    assert parts.moving([JOINT], frame(1.0), 1.5) == JOINT
    assert parts.moving([JOINT], frame(2.5), 2.5) == ''


def test_no_number_counts_as_motion() -> None:
    parts = swept(0.0, moves_s=1.0, stands_s=0.0)
    parts.record_angle(JOINT, math.nan, Instant(101.1, 1.1))
    assert parts.moving([JOINT], frame(1.1), 1.1) == JOINT


def test_a_restarted_clock_begins_anew() -> None:
    parts = swept(0.0, moves_s=1.0, stands_s=0.0)
    parts.record_angle(JOINT, 0.0, Instant(3.0, 1.1))
    assert parts.moving([JOINT], Instant(3.0, 1.15), 1.2) == JOINT
    parts.record_angle(JOINT, 0.0, Instant(3.0 + STILL_S, 1.4))
    assert parts.moving([JOINT], Instant(3.1, 1.2), 1.4) == ''


@pytest.mark.parametrize(
    ('move_m', 'turn_rad', 'moving'), [(0.0, 0.0, False), (0.02, 0.0, True), (0.0, 0.02, True)]
)
def test_a_link_of_tf_moves_by_place_or_turn(move_m: float, turn_rad: float, moving: bool) -> None:
    parts = stillness()
    for step in range(10):
        turn = step * turn_rad / 2
        pose = Transform((step * move_m, 0.0, 0.0), (0.0, math.sin(turn), 0.0, math.cos(turn)))
        at_s = 0.1 * step
        link = FrameLink('chassis_to_mast_p', 'mast_p', pose, round(at_s * 1e9) + 1, at_s, False)
        parts.record_link(link, at_s)
    taken = Instant(0.85, 0.85)
    assert parts.moving([LINK], taken, 0.9) == (LINK if moving else '')


@settings(max_examples=examples(100))
@given(
    st.lists(st.floats(-0.5, 0.5), min_size=5, max_size=40),
    st.floats(0.01, 0.3),
    st.floats(0.0, 1.0),
)
def test_no_frame_counts_that_shows_another_pose_than_the_newest(
    steps: list[float], period_s: float, share: float
) -> None:
    """Whatever the joint does: a frame that counts was taken where the joint is now."""
    parts, angles = stillness(), [0.0]
    for step in steps:
        angles.append(angles[-1] + (step if abs(step) > 0.05 else 0.0))
    for number, angle in enumerate(angles):
        parts.record_angle(JOINT, angle, Instant(1.0 + number * period_s, number * period_s))
    end_s = (len(angles) - 1) * period_s
    taken_s = share * end_s
    if not parts.moving([JOINT], Instant(1.0 + taken_s, taken_s), end_s):
        before = angles[math.floor(taken_s / period_s + 1e-6)]
        assert before == pytest.approx(angles[-1], abs=0.02 * STILL_S)
