# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the routine measures of its own motions, and its hops without a pose."""

from __future__ import annotations

import math

from curiosity_rosa_demo.agent.rule_model.beliefs import Beliefs, MotionBelief, Pose
from curiosity_rosa_demo.agent.rule_model.steering import motions_of, search_motion
from curiosity_rosa_demo.agent.rule_model.turn_view import TurnView
from hypothesis import assume, given
from hypothesis import strategies as st
import pytest
from rule_model_rover import FIGURES, PROFILE

VIEW = TurnView(FIGURES, 'explore', tools=frozenset({'move_forward', 'turn_left', 'turn_right'}))
START = Pose(1.0, -2.0, 0.5)


def moved(tool: str, seconds: float, end: Pose, told_m: float = 0.0) -> Beliefs:
    return Beliefs(FIGURES, pose=end, moves=[MotionBelief(tool, seconds, START, end, told_m, 0)])


@given(st.floats(0.05, 1.5), st.floats(1.0, 20.0), st.floats(0.0, 100.0))
def test_the_speed_is_that_between_the_poses_whatever_path_is_told(
    speed: float, seconds: float, told_m: float
) -> None:
    metres = speed * seconds
    assume(abs(metres - 0.2) > 1e-6)
    end = Pose(START.x + metres * math.cos(0.5), START.y + metres * math.sin(0.5), 0.5)
    measured = motions_of(VIEW, moved('move_forward', seconds, end, told_m)).speed
    assert measured == pytest.approx(speed if metres > 0.2 else PROFILE.straight)


@given(st.sampled_from([1.0, -1.0]), st.floats(0.02, 0.3), st.floats(1.0, 10.0))
def test_a_turn_tells_its_rate_and_the_speed_along_its_arc(
    side: float, rate: float, radius: float
) -> None:
    seconds, turned = 1.5 / rate, 1.5
    chord, middle = 2.0 * radius * math.sin(turned / 2.0), 0.5 + side * turned / 2.0
    end = Pose(
        START.x + chord * math.cos(middle),
        START.y + chord * math.sin(middle),
        math.remainder(0.5 + side * turned, math.tau),
    )
    tool = 'turn_left' if side > 0.0 else 'turn_right'
    measured = motions_of(VIEW, moved(tool, seconds, end))
    assert measured.turn_rate == pytest.approx(rate)
    assert measured.turn_speed == pytest.approx(radius * rate)
    # Of a rover that slips in a turn, the drive straight ahead is expected to slip as much.
    assert measured.speed == pytest.approx(PROFILE.straight * radius * rate / PROFILE.arc)


def test_before_any_motion_it_counts_with_the_rover_of_the_profile() -> None:
    measured = motions_of(VIEW, Beliefs(FIGURES, pose=START))
    assert (measured.speed, measured.turn_speed) == (PROFILE.straight, PROFILE.arc)
    assert measured.radius_m == pytest.approx(PROFILE.radius_m)
    assert set(measured.costs) == VIEW.tools


@given(st.floats(1.0, 60.0), st.integers(0, 3))
def test_every_hop_without_a_pose_is_one_that_the_tools_accept(longest: float, hops: int) -> None:
    view = TurnView(FIGURES, 'explore', longest_s=longest)
    moves = [MotionBelief('move_forward', 6.0, None, None, None, 0) for _ in range(hops)]
    motion = search_motion(view, Beliefs(FIGURES, moves=moves))
    assert motion is None or 1.0 <= motion.duration_s <= longest
