# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The planner of the next look: what it believes, where it can get, what it chooses."""

from __future__ import annotations

from itertools import islice
import math

from curiosity_rosa_demo.agent.rule_model.beliefs import Mast, Obstacle, Pose
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
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from rule_model_rover import FIGURES, PROFILE

PRICES = {
    'capture_and_score': 1.0,
    'mast_open': 2.0,
    'mast_close': 2.0,
    'move_forward': 5.0,
    'turn_left': 2.0,
    'turn_right': 2.0,
}
MOTIONS = Motions(
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
    look = next_look(pose, Mast.OPEN, belief, MOTIONS, PRICES, **options)  # type: ignore[arg-type]
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
    for cost, reached in layers(start, MOTIONS, (), {}):
        if cost > 7.0:
            break
        assert cost > last
        last = cost
        away = np.hypot(reached[:, X] - start.x, reached[:, Y] - start.y)
        assert (away <= MOTIONS.speed * reached[:, SECONDS] + 1e-6).all()
        turned = np.abs(reached[:, YAW] - start.yaw)
        assert (turned <= MOTIONS.turn_rate * reached[:, SECONDS] + 1e-6).all()


def test_the_first_layers_are_the_single_motions() -> None:
    first_five = islice(layers(ORIGIN, MOTIONS, (), {}), 5)
    assert [cost for cost, _ in first_five] == [0.0, 2.0, 4.0, 5.0, 6.0]


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
    for cost, reached in layers(ORIGIN, MOTIONS, (rock,), {}):
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


def test_light_that_was_seen_twice_shows_the_way() -> None:
    seen = [(ORIGIN, 0.2), (Pose(0.0, 4.0, 0.0), 0.6)]
    look = plan(LightBelief(ORIGIN, None, seen), Pose(0.0, 4.0, math.pi / 2), seen_here=True)
    assert look.y > 5.5


def test_a_place_that_is_likely_bright_is_looked_at_before_driving() -> None:
    assert not plan(LightBelief(Pose(9.0, 0.0, 0.0), 5.0, []), Pose(9.0, 0.0, 0.0)).tool
