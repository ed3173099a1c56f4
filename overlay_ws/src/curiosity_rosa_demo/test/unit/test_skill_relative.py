# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skills ``drive_distance`` and ``turn_angle``: what they drive, and what ends them."""

from __future__ import annotations

from collections.abc import Callable
import math

from arc_world import ArcWorld, Blinking, PROFILE
from coded_failures import ended_early, MAST_OUT
from curiosity_rosa_demo.agent.skills.navigation.navigate import (
    MAX_LEG_S,
    MAX_LOST_LEGS,
    MIN_LEG_S,
)
from curiosity_rosa_demo.agent.skills.navigation.relative import (
    drive_distance,
    NEAR_ENOUGH_M,
    NEAR_ENOUGH_RAD,
    turn_angle,
)
from curiosity_rosa_demo.domain.cancellation import TurnCancelled
from curiosity_rosa_demo.domain.models import AGENT_IS_GONE, NEED_TO_CLOSE_MAST, ToolResult
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from skill_calls import call_of, SHIPPED

LONGEST_S = min(MAX_LEG_S, SHIPPED.thresholds.motion.max_duration_s)
SKILLS: list[tuple[Callable[..., ToolResult], float]] = [(drive_distance, 4.0), (turn_angle, 90.0)]


def checked(world: ArcWorld, skill: Callable[..., ToolResult], amount: float) -> ToolResult:
    """Run the skill. Each leg was asked for first, and none is longer than a leg may be."""
    result = skill(call_of(world, Blinking()), amount)
    legs = [(name, arguments['duration_s']) for name, arguments in world.tools]
    assert world.asked[: len(legs)] == legs
    assert all(0.0 < seconds <= LONGEST_S for _, seconds in legs)
    assert result.data['legs'] == len(legs)
    return result


@given(distance=st.floats(0.05, 30.0), speed=st.floats(0.2, 1.0))
@settings(max_examples=examples(60))
def test_it_drives_the_distance_whatever_the_speed(distance: float, speed: float) -> None:
    world = ArcWorld(forward_mps=speed)
    result = checked(world, drive_distance, distance)
    assert result.ok
    assert abs(world.driven_m - distance) <= NEAR_ENOUGH_M + speed * MIN_LEG_S
    assert {name for name, _ in world.tools} == {'move_forward'}


@pytest.mark.parametrize('start_s', [0.0, 0.25, 0.75])
def test_a_leg_is_so_much_longer_as_the_profiles_rover_starts_late(start_s: float) -> None:
    body = SHIPPED.thresholds.body.model_copy(update={'start_s': start_s})
    thresholds = SHIPPED.thresholds.model_copy(update={'body': body})
    guess_mps = SHIPPED.guardrails.geofence.max_speed_mps
    world = ArcWorld(config=SHIPPED.model_copy(update={'thresholds': thresholds}))
    checked(world, drive_distance, 0.5 * guess_mps)
    assert world.tools[0][1]['duration_s'] == pytest.approx(0.5 + start_s)


@given(
    angle=st.floats(-720.0, 720.0).filter(lambda angle: abs(angle) > 5.0),
    speed=st.floats(0.1, 0.5),
    radius=st.floats(0.4 * PROFILE.radius_m, 1.6 * PROFILE.radius_m),
)
@settings(max_examples=examples(60))
def test_it_turns_by_the_angle_to_its_side(angle: float, speed: float, radius: float) -> None:
    world = ArcWorld(arc_mps=speed, radius_m=radius)
    result = checked(world, turn_angle, angle)
    turned = result.data['turned_deg']
    slow = MIN_LEG_S * speed / radius
    if result.ok:
        assert abs(turned - angle) <= math.degrees(NEAR_ENOUGH_RAD + slow)
    else:  # two whole turns of a slow rover take more legs than there are
        assert result.error_reason.startswith('NAV_TIMEOUT')
    assert {name for name, _ in world.tools} == {'turn_left' if angle > 0.0 else 'turn_right'}


@pytest.mark.parametrize(('skill', 'amount'), SKILLS)
def test_what_may_not_drive_does_not_begin(
    skill: Callable[..., ToolResult], amount: float
) -> None:
    world = ArcWorld()
    world.refuses = MAST_OUT
    result = checked(world, skill, amount)
    assert (result.ok, world.tools) == (False, [])
    assert NEED_TO_CLOSE_MAST in result.error_reason


@pytest.mark.parametrize(('skill', 'amount'), SKILLS)
@pytest.mark.parametrize('leg', [1, 2])
def test_a_leg_that_fails_is_the_last(
    skill: Callable[..., ToolResult], amount: float, leg: int
) -> None:
    world = ArcWorld()
    world.answers[leg] = ended_early('Obstacle ahead', distance_m=0.1)
    result = checked(world, skill, amount)
    assert (result.ok, len(world.tools)) == (False, leg)
    assert 'Obstacle ahead' in result.error_reason


@pytest.mark.parametrize(('skill', 'amount'), SKILLS)
@pytest.mark.parametrize('losses', [1, MAX_LOST_LEGS, MAX_LOST_LEGS + 1])
def test_a_leg_in_which_the_adapter_missed_the_agent_is_made_up_for(
    skill: Callable[..., ToolResult], amount: float, losses: int
) -> None:
    world = ArcWorld()
    for leg in range(1, losses + 1):
        world.answers[leg] = ended_early(f'{AGENT_IS_GONE}: the rover was stopped')
    result = checked(world, skill, amount)
    assert result.ok is (losses <= MAX_LOST_LEGS)
    if not result.ok:
        assert AGENT_IS_GONE in result.error_reason
        assert len(world.tools) == losses


@pytest.mark.parametrize(('skill', 'amount'), SKILLS)
@pytest.mark.parametrize('legs', [0, 1])
def test_without_a_pose_it_drives_no_further(
    skill: Callable[..., ToolResult], amount: float, legs: int
) -> None:
    world = ArcWorld()
    world.blind_after = legs
    result = checked(world, skill, amount)
    assert (result.ok, len(world.tools)) == (False, legs)
    assert 'not known' in result.error_reason


@pytest.mark.parametrize(('skill', 'amount'), SKILLS)
def test_a_rover_that_is_stuck_is_given_up(
    skill: Callable[..., ToolResult], amount: float
) -> None:
    result = checked(ArcWorld(forward_mps=0.0, arc_mps=0.0), skill, amount)
    assert not result.ok
    assert 'hardly moved' in result.error_reason


@pytest.mark.parametrize(('skill', 'amount'), SKILLS)
def test_a_stop_ends_it_before_the_next_leg(
    skill: Callable[..., ToolResult], amount: float
) -> None:
    world, button = ArcWorld(), Blinking()
    button.cancel('Stopped by the operator')
    with pytest.raises(TurnCancelled):
        skill(call_of(world, button), amount)
    assert world.tools == []
