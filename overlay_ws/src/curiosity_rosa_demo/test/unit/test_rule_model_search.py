# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The search for the light: what it believes and measures, where it looks next, whole turns."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any

from curiosity_rosa_demo.agent.rule_model.beliefs import (
    Beliefs,
    beliefs_from,
    Mast,
    MotionBelief,
    Obstacle,
    Pose,
)
from curiosity_rosa_demo.agent.rule_model.context import MAX_ATTEMPTS
from curiosity_rosa_demo.agent.rule_model.light_belief import LightBelief
from curiosity_rosa_demo.agent.rule_model.look_planner import Look, next_look
from curiosity_rosa_demo.agent.rule_model.motion_search import (
    layers,
    Motions,
    SECONDS,
    X,
    Y,
    YAW,
)
from curiosity_rosa_demo.agent.rule_model.rules import MAX_CALLS, MAX_INTERRUPTIONS
from curiosity_rosa_demo.agent.rule_model.steering import motions_of, search_motion
from curiosity_rosa_demo.agent.rule_model.turn_view import ToolStep, TurnView
from curiosity_rosa_demo.domain.models import NEED_TO_CLOSE_MAST
from examples import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from rule_model_rover import FIGURES, MOTIONS, PROFILE, Rover, run_turn

FAULTS = [
    'Service unavailable: /adapter/mast_close',
    'Service timeout: /adapter/move_forward',
    'No image received',
    'Image is stale: 4.2 s old',
    'Image cannot be decoded: truncated',
    'TF unavailable: odom -> base_footprint',
    'One tool call at a time',
    'something new',
]


@st.composite
def rovers(draw: st.DrawFn, /, **fixed: Any) -> Rover:
    up = draw(st.booleans())
    glitches: Mapping[int, str] = draw(
        st.dictionaries(st.integers(0, 20), st.sampled_from(FAULTS), max_size=2)
    )
    values: dict[str, Any] = {
        'x': draw(st.floats(-8.0, 8.0)),
        'y': draw(st.floats(-8.0, 8.0)),
        'yaw': draw(st.floats(-math.pi, math.pi)),
        'is_up': up,
        'known': draw(st.sampled_from([up, None])),
        'moving': draw(st.booleans()),
        'speed': draw(st.floats(0.2, 1.5)),
        'late': draw(st.booleans()),
        'glitches': glitches,
    }
    return Rover(**(values | fixed))


def check_manners(rover: Rover) -> None:
    """What holds for every turn, however it ends."""
    steps = [ToolStep(tool, args, result) for tool, args, result in rover.calls]
    assert len(steps) <= MAX_CALLS + MAX_ATTEMPTS
    refused = [step.result.error_reason == NEED_TO_CLOSE_MAST for step in steps]
    for i, step in enumerate(steps):
        if step.tool in MOTIONS:
            facts = beliefs_from(TurnView(FIGURES, '', tuple(steps[:i])))
            assert facts.mast is Mast.CLOSED, 'a motion although the mast may be open'
            assert not facts.must_stop, 'a motion before the stop'
            assert not (i and refused[i - 1] and refused[i])
        if i and steps[i - 1].tool in MOTIONS and steps[i - 1].fault:
            assert step.tool == 'move_stop'


def names(rover: Rover) -> list[str]:
    return [tool for tool, _, _ in rover.calls]


# --- whole explorations: the real model drives a small simulated rover ------------------------


@settings(max_examples=examples(20))
@given(rover=rovers(has_mast=False, moving=False, glitches={}))
def test_a_rover_without_a_mast_looks_and_drives(rover: Rover) -> None:
    answer = run_turn(rover)
    assert rover.score >= rover.threshold, answer
    assert set(names(rover)) <= {'capture_and_score', 'get_status', *MOTIONS}


@settings(max_examples=examples(10))
@given(rovers())
def test_from_any_state_and_through_two_faults_it_reaches_a_good_capture(rover: Rover) -> None:
    answer = run_turn(rover)
    check_manners(rover)
    tool, _, result = rover.calls[-1]
    assert tool == 'capture_and_score'
    assert result.data['is_good'] is True
    assert f'{result.data["score"]:.2f}' in answer


@settings(max_examples=examples(10))
@given(rovers(x_good=9.0, speed=0.5))
def test_a_hint_that_is_too_near_is_corrected_by_measuring(rover: Rover) -> None:
    run_turn(rover)
    check_manners(rover)
    assert rover.calls[-1][2].data.get('is_good') is True


@settings(max_examples=examples(10))
@given(st.floats(1.0, 4.5), st.floats(-math.pi, math.pi), st.floats(0.3, 0.7))
def test_without_a_hint_the_slope_of_the_score_leads_to_the_light(
    x: float, yaw: float, speed: float
) -> None:
    assume(abs(math.cos(yaw)) > 0.3)  # driving across the slope, a hop measures next to nothing
    rover = Rover(x=x, yaw=yaw, speed=speed)
    run_turn(rover, prompt='')
    check_manners(rover)
    assert rover.calls[-1][2].data.get('is_good') is True


@settings(max_examples=examples(10))
@given(rovers(), st.sampled_from(['', 'X >= 5.0']), st.booleans())
def test_every_turn_ends_with_manners(rover: Rover, prompt: str, tells_pose: bool) -> None:
    rover.tells_pose = tells_pose
    run_turn(rover, prompt=prompt)
    check_manners(rover)


@pytest.mark.parametrize('text', ['Analyze the ground texture', 'turn left for 3 s'])
def test_the_agents_end_in_a_drive_is_not_a_broken_drive_unless_it_recurs(text: str) -> None:
    for restarts in (0, 1, MAX_INTERRUPTIONS, MAX_INTERRUPTIONS + 1):
        rover = Rover(x=-3.0, is_up=False, known=False, restarts=restarts)
        answer = run_turn(rover, text)
        once = text.startswith('turn')  # an interrupted motion is not repeated
        assert ('does not work' in answer) is (restarts > (0 if once else MAX_INTERRUPTIONS))
        assert once or (rover.score >= 0.8) is (restarts <= MAX_INTERRUPTIONS)


def test_darkness_without_end_is_reported() -> None:
    rover = Rover(x_min=1000.0, x_good=1001.0)
    answer = run_turn(rover, 'Analyze the ground texture')
    assert 'no good picture' in answer or 'there is none' in answer
    assert ' m driven' in answer
    check_manners(rover)


# --- the planner of the next look -------------------------------------------------------------

PRICES = {
    'capture_and_score': 1.0,
    'mast_open': 2.0,
    'mast_close': 2.0,
    'move_forward': 5.0,
    'turn_left': 2.0,
    'turn_right': 2.0,
}
SEARCH = Motions(
    {name: PRICES[name] for name in ('move_forward', 'turn_left', 'turn_right')},
    longest_s=20.0,
    speed=PROFILE.straight,
    turn_speed=PROFILE.arc,
    turn_rate=PROFILE.turn,
    rover=FIGURES,
)
ORIGIN = Pose(0.0, 0.0, 0.0)
metres = st.floats(-15.0, 15.0)
poses = st.builds(Pose, metres, metres, st.floats(-math.pi, math.pi))
samples = st.lists(st.tuples(poses, st.floats(0.0, 0.79)), max_size=6)
hints = st.none() | metres


def plan(belief: LightBelief, pose: Pose = ORIGIN, **options: object) -> Look:
    look = next_look(pose, Mast.OPEN, belief, SEARCH, PRICES, **options)  # type: ignore[arg-type]
    assert look is not None
    return look


@settings(max_examples=examples(50))
@given(poses, hints, samples, st.lists(poses, min_size=1, max_size=5))
def test_a_belief_is_a_probability(
    start: Pose, hint: float | None, told: list[tuple[Pose, float]], places: list[Pose]
) -> None:
    belief = LightBelief(start, hint, told)
    x, y = (np.array([getattr(place, axis) for place in places]) for axis in 'xy')
    seen = belief.edges.outcomes(x, y)
    assert 0.0 <= belief.no_light <= 1.0
    assert (seen.good >= 0.0).all()
    assert (seen.lit >= seen.good - 1e-9).all()
    assert (seen.missing_m >= 0.0).all()
    assert (seen.lit.sum(axis=0) + belief.no_light <= 1.0 + 1e-6).all()
    for place in places:
        left = belief.edges.dark_at(place.x, place.y).outcomes(x, y)
        assert (left.lit <= seen.lit + 1e-9).all()


def test_a_dark_look_where_it_was_said_to_be_bright_refutes_the_hint() -> None:
    beyond = np.array([6.0])
    before = LightBelief(ORIGIN, 5.0, []).edges.outcomes(beyond, np.zeros(1)).good.sum()
    refuted = LightBelief(ORIGIN, 5.0, [(Pose(5.5, 0.0, 0.0), 0.0)])
    after = refuted.edges.outcomes(beyond, np.zeros(1)).good.sum()
    assert before > 0.6
    assert after < 0.2


@settings(max_examples=examples(20))
@given(poses)
def test_dark_looks_all_around_leave_no_light(start: Pose) -> None:
    ring = [
        (Pose(start.x + r * math.cos(a), start.y + r * math.sin(a), 0.0), 0.0)
        for r in (8.0, 16.0, 26.0)
        for a in np.linspace(0.0, math.tau, 12, endpoint=False)
    ]
    assert LightBelief(start, None, ring).no_light > 0.5


@settings(max_examples=examples(10))
@given(poses)
def test_the_layers_come_in_order_of_cost_and_of_what_the_motions_reach(start: Pose) -> None:
    last = -1.0
    for cost, reached in layers(start, SEARCH, (), {}):
        if cost > 7.0:
            break
        assert cost > last
        last = cost
        away = np.hypot(reached[:, X] - start.x, reached[:, Y] - start.y)
        assert (away <= SEARCH.speed * reached[:, SECONDS] + 1e-6).all()
        turned = np.abs(reached[:, YAW] - start.yaw)
        assert (turned <= SEARCH.turn_rate * reached[:, SECONDS] + 1e-6).all()


@pytest.mark.parametrize(
    ('obstacle', 'refused'),
    [(Obstacle(1.2 * PROFILE.radius_m, 0.0), {}), (None, {'move_forward': 0.0})],
    ids=['an obstacle ahead', 'a refusal'],
)
def test_it_plans_around_what_is_in_the_way(
    obstacle: Obstacle | None, refused: dict[str, float]
) -> None:
    bright_x = 2.0 * PROFILE.radius_m
    belief = LightBelief(ORIGIN, bright_x, [(ORIGIN, 0.0)])
    look = plan(
        belief,
        obstacles=(obstacle,) if obstacle else (),
        first_at_most=refused,
        seen_here=True,
    )
    assert look.tool in ('turn_left', 'turn_right')
    assert look.x > bright_x - 0.2 * 10.0


@given(st.floats(4.5, 12.0), st.floats(-3.0, 3.0))
@settings(max_examples=examples(20))
def test_no_motion_ends_where_an_obstacle_leaves_no_way_on(ahead: float, beside: float) -> None:
    """Straight ahead and both arcs blocked: a rover that cannot reverse never leaves."""
    rock, half = Obstacle(ahead, beside), FIGURES.half_m
    for cost, reached in layers(ORIGIN, SEARCH, (rock,), {}):
        if cost > 8.0:
            break
        for row in reached if cost else ():
            dx, dy = rock.x - row[X], rock.y - row[Y]
            x = dx * math.cos(row[YAW]) + dy * math.sin(row[YAW])
            y = dy * math.cos(row[YAW]) - dx * math.sin(row[YAW])
            before_it = 0.0 < x < 4.0
            assert not (before_it and abs(y) < half / 2), (row, x, y)


@settings(max_examples=examples(30))
@given(poses, st.floats(6.0, 15.0))
def test_with_a_hint_it_looks_beyond_the_edge(pose: Pose, ahead_m: float) -> None:
    belief = LightBelief(pose, pose.x + ahead_m, [(pose, 0.0)])
    look = plan(belief, pose, seen_here=True)
    assert look.x >= pose.x + ahead_m - 0.2 * 10.0
    assert look.tool


# --- what it measures of its own motions --------------------------------------------------------

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


@given(st.floats(1.0, 60.0), st.integers(0, 3))
def test_every_hop_without_a_pose_is_one_that_the_tools_accept(longest: float, hops: int) -> None:
    view = TurnView(FIGURES, 'explore', longest_s=longest)
    moves = [MotionBelief('move_forward', 6.0, None, None, None, 0) for _ in range(hops)]
    motion = search_motion(view, Beliefs(FIGURES, moves=moves))
    assert motion is None or 1.0 <= motion.duration_s <= longest
