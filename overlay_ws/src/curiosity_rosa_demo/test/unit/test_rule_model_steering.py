# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The routine's steering: the slope of the light, and motions that lead up it."""

from __future__ import annotations

import math

from curiosity_rosa_demo.agent.rule_model.beliefs import Beliefs, CaptureBelief, MotionBelief, Pose
from curiosity_rosa_demo.agent.rule_model.reasons import reason_text
from curiosity_rosa_demo.agent.rule_model.steering import gradient, motion_along
from curiosity_rosa_demo.agent.rule_model.turn_view import TurnView
from hypothesis import given
from hypothesis import strategies as st
import pytest

METRES = st.floats(-50.0, 50.0)
ANGLES = st.floats(-math.pi, math.pi)


def facts_at(
    poses: list[Pose], scores: list[float], moves: list[MotionBelief] | None = None
) -> Beliefs:
    """One look at each pose, one after another; the rover stands at the last."""
    facts = Beliefs(new_view=False, spot=len(poses) - 1, pose=poses[-1], asked_here=True)
    facts.poses = dict(enumerate(poses))
    facts.captures = [CaptureBelief(score, False, spot, 0) for spot, score in enumerate(scores)]
    facts.moves = moves or []
    return facts


@given(ANGLES, st.floats(0.05, 1.0), METRES, METRES)
def test_the_slope_of_a_plane_is_found(angle: float, steepness: float, x: float, y: float) -> None:
    gx, gy = steepness * math.cos(angle), steepness * math.sin(angle)
    spots = [(0.0, 0.0), (0.4, 0.0), (0.0, 0.4)]
    samples = [(Pose(x + a, y + b, 0.0), 0.5 + gx * a + gy * b) for a, b in spots]
    found = gradient(samples)
    assert found is not None
    assert found == pytest.approx((gx, gy), rel=0.03, abs=0.03 * steepness)


@given(ANGLES, st.floats(0.1, 0.9), st.floats(0.1, 0.9), st.floats(1.0, 5.0))
def test_two_samples_give_the_slope_along_their_line(
    angle: float, first: float, second: float, metres: float
) -> None:
    there = Pose(metres * math.cos(angle), metres * math.sin(angle), 0.0)
    found = gradient([(Pose(0.0, 0.0, 0.0), first), (there, second)])
    slope = (second - first) / metres
    if found is None:
        assert abs(slope) < 0.006
    else:
        along = found[0] * math.cos(angle) + found[1] * math.sin(angle)
        assert along == pytest.approx(slope, rel=0.02)


def test_equal_scores_show_no_slope() -> None:
    dark = [(Pose(float(x), 0.0, 0.0), 0.0) for x in range(-3, 0)]
    assert gradient(dark) is None
    assert gradient([]) is None
    assert gradient([(Pose(1.0, 0.0, 0.0), 0.4), (Pose(1.0, 3.0, 0.0), 0.4)]) is None


def test_dark_samples_do_not_bend_the_slope() -> None:
    dark = [(Pose(-8.0, 5.0, 0.0), 0.0), (Pose(-1.0, -4.0, 0.0), 0.0)]
    lit = [(Pose(1.0, 0.0, 0.0), 0.2), (Pose(2.0, 1.0, 0.0), 0.4), (Pose(2.0, -1.0, 0.0), 0.4)]
    assert gradient([*dark, *lit]) == pytest.approx((0.2, 0.0), abs=0.01)


@given(st.floats(-8.0, 4.0), METRES, ANGLES, st.floats(1.0, 60.0))
def test_every_motion_is_one_that_the_tools_accept(
    x: float, y: float, yaw: float, longest: float
) -> None:
    for hint in (5.0, None):
        view = TurnView('explore', bright_x=hint, longest_s=longest)
        motion = motion_along(view, facts_at([Pose(x, y, yaw)], [0.0]))
        assert motion is not None
        assert 1.0 <= motion.duration_s <= longest


@given(ANGLES)
def test_with_the_hint_it_turns_to_the_light_by_the_shorter_way(yaw: float) -> None:
    motion = motion_along(
        TurnView('explore', bright_x=5.0), facts_at([Pose(0.0, 0.0, yaw)], [0.0])
    )
    assert motion is not None
    if abs(yaw) <= 0.35:
        assert motion.tool == 'move_forward'
    else:
        assert motion.tool == ('turn_right' if yaw > 0.0 else 'turn_left')


@given(st.floats(0.1, 1.5), st.floats(-3.0, 3.0))
def test_the_second_drive_uses_the_speed_of_the_first(speed: float, start: float) -> None:
    poses = [Pose(start, 0.0, 0.0), Pose(start + 6.0 * speed, 0.0, 0.0)]
    if poses[1].x >= 5.0:
        return  # the first hop reached the light
    hop = MotionBelief('move_forward', 6.0, poses[0], poses[1], 6.0 * speed, captures_before=1)
    motion = motion_along(
        TurnView('explore', bright_x=5.0, longest_s=100.0), facts_at(poses, [0.0, 0.0], [hop])
    )
    assert motion is not None
    assert motion.tool == 'move_forward'
    reached = poses[1].x + speed * motion.duration_s
    assert 5.2 < reached < 5.8 or motion.duration_s == 1.0


def test_a_slope_that_falls_towards_the_hint_is_believed_instead() -> None:
    poses = [Pose(0.0, 0.0, 0.0), Pose(3.0, 0.0, 0.0)]
    motion = motion_along(TurnView('explore', bright_x=5.0), facts_at(poses, [0.6, 0.3]))
    assert motion is not None
    assert motion.tool.startswith('turn_')


def test_darkness_behind_the_edge_refutes_the_hint() -> None:
    motion = motion_along(
        TurnView('explore', bright_x=5.0), facts_at([Pose(6.0, 0.0, 0.0)], [0.0])
    )
    assert motion is not None
    assert motion.tool == 'move_forward'
    assert 'further on' in reason_text(motion.why, 'en')
