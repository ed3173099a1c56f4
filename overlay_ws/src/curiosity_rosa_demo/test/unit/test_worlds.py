# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The worlds and sentences of bench/worlds.py: the optimum, what is found, what is right."""

from __future__ import annotations

from dataclasses import replace
import math
from types import SimpleNamespace
from typing import Any

from _sentences import is_right, is_wrong_motion, Leg, Outcome, sentences
from _worlds import optimum, World, world_of
from curiosity_rosa_demo.domain.ground import GROUND_UNKNOWN
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from curiosity_stand_in.scenery import Light
from orders_world import rows
import pytest
from rover_twin import RoverTwin
from worlds import run_world

CONFIG = load_config()
PROFILE = CONFIG.thresholds.speeds
COSTS = CONFIG.tool_costs.tools
LOOKED, ROUND = COSTS.capture_and_score, COSTS.mast_close + COSTS.mast_open
CALL_M = PROFILE.straight * CONFIG.agent.turn.max_motion_s


def plain(dark_m: float, yaw: float = 0.0) -> World:
    """At the origin; the light begins ``dark_m`` ahead along X and is full 1 mm farther."""
    quiet = {'slip': 0.0, 'noise_m': 0.0, 'score_noise': 0.0, 'obstacles': (), 'faults': ()}
    light = Light(dark_m + 0.001, dark_m, 0.0)
    return replace(world_of(1), light=light, x=0.0, y=0.0, yaw=yaw, **quiet)


@pytest.mark.parametrize(
    ('world', 'cost'),
    [
        (plain(-1.0), LOOKED),
        (plain(0.9 * CALL_M), LOOKED + ROUND + COSTS.turn_left * 2),  # two arcs are cheaper
        (plain(CALL_M), LOOKED + ROUND + COSTS.move_forward),
        (replace(plain(0.0), light=Light(math.inf)), None),
    ],
    ids=['light here', 'two arcs', 'one drive', 'no light'],
)
def test_the_optimum_is_the_cheapest_way_of_this_rover(world: World, cost: float | None) -> None:
    if cost == LOOKED + ROUND + COSTS.turn_left * 2:
        world = plain(1.9 * PROFILE.arc * CONFIG.agent.turn.max_motion_s)
    assert optimum(world, CONFIG) == cost


def test_facing_away_the_optimum_pays_for_the_turn() -> None:
    ahead, away = (optimum(plain(5.0, yaw), CONFIG) for yaw in (0.0, math.pi))
    assert ahead is not None
    assert away is not None
    quarter_turns = math.pi / (PROFILE.turn * CONFIG.agent.turn.max_motion_s)
    assert away >= ahead + COSTS.turn_left * (quarter_turns - 2.0)


def test_the_twin_moves_as_the_profile_says() -> None:
    twin = RoverTwin(CONFIG)
    assert (twin.speed, twin.turn_speed) == (PROFILE.straight, PROFILE.arc)
    assert twin.turn_radius == pytest.approx(PROFILE.radius_m)


def test_a_success_ends_with_the_analysis_and_costs_no_less_than_the_optimum() -> None:
    run = run_world(world_of(3), CONFIG)
    assert (run.found, run.ok, run.violations) == (True, True, ())
    assert 'could not' not in run.answer
    assert run.over is not None
    assert run.over >= 1.0


def test_a_ground_that_cannot_be_analyzed_is_a_failure_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    why = 'no free patch of ground: rocks or the rover cover what is near'

    def refused(_: RoverTwin) -> SimpleNamespace:
        raise ServiceFailed(f'{GROUND_UNKNOWN}: {why}', RefusalCode.GROUND_UNKNOWN.value)

    monkeypatch.setattr(RoverTwin, 'analyze_ground', refused)
    run = run_world(world_of(3), CONFIG)
    assert (run.found, run.ok) == (True, False)
    assert run.answer == f'The light is here, but the ground could not be analyzed: {why}.'


def test_an_internal_error_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: RoverTwin) -> SimpleNamespace:
        raise AttributeError('no such thing')

    monkeypatch.setattr(RoverTwin, 'analyze_ground', broken)
    assert not run_world(world_of(3), CONFIG).found


# --- sentences ---------------------------------------------------------------------------------

STANDING = Outcome(
    legs=(), x=-1.0, y=0.0, mast='closed', rotations=0, pictures=0, is_good=False,
    brightness=0.0, ok=True,
)  # fmt: skip
AHEAD, LEFT, RIGHT = 'move_forward', 'turn_left', 'turn_right'


def drive(metres: float) -> Leg:
    return Leg(AHEAD, metres, 0.0)


def turn(side: str, degrees: float) -> Leg:
    return Leg(side, 0.5, math.radians(degrees))


def after(*legs: Leg, **facts: Any) -> Outcome:
    return replace(STANDING, legs=legs, **facts)


RIGHT_ONES: dict[str, Outcome] = {
    'forward': after(drive(2.0)),
    'forward 3m': after(drive(3.2)),
    'forward 10s': after(drive(4.9)),
    'left': after(turn(LEFT, 20)),
    'left 90deg': after(turn(LEFT, 95)),
    'left 180deg': after(turn(RIGHT, -178)),
    'right 4s': after(turn(RIGHT, -22)),
    'right > right': after(turn(RIGHT, -40)),
    'right 90deg > forward 3m': after(turn(RIGHT, -90), drive(3.0)),
    'left 45deg > picture > right 90deg > picture': after(
        turn(LEFT, 45), turn(RIGHT, -90), pictures=2
    ),
    'open': after(mast='open'),
    'close': after(),
    'rotate': after(rotations=1),
    'open > picture > close': after(pictures=1),
    'picture x3': after(pictures=3, mast='open'),
    'light': after(drive(6.0), brightness=1.0),
    'explore': after(drive(6.0), is_good=True, pictures=2),
    'forward 5m > explore': after(drive(7.0), is_good=True, pictures=1),
    'goto -2 6': after(turn(LEFT, 90), drive(6.0), x=-2.1, y=6.2),
    'refuse': after(),
    'question mast': after(ok=False),
    'doubt': after(),
    'stop': after(),
}
WRONG_ONES: list[tuple[str, Outcome, bool]] = [  # and whether it is a wrong motion
    ('forward 3m', after(), False),
    ('forward 3m', after(drive(3.0), ok=False), False),
    ('forward 3m', after(drive(2.0)), False),
    ('forward 3m', after(drive(9.0)), True),
    ('forward 3m', after(turn(LEFT, 30), drive(3.0)), True),
    ('left 90deg', after(turn(RIGHT, -90)), True),
    ('left 90deg', after(turn(LEFT, 45)), False),
    ('right 90deg > forward 3m', after(drive(3.0), turn(RIGHT, -90)), False),
    ('open', after(), False),
    ('picture', after(), False),
    ('picture', after(drive(2.0), pictures=1), True),
    ('light', after(drive(3.0)), False),
    ('explore', after(pictures=1), False),
    ('goto 4 2', after(drive(1.0)), False),
    ('refuse', after(drive(1.0)), True),
    ('refuse', after(pictures=1), False),
    ('question mast', after(turn(LEFT, 20)), True),
    ('stop', after(drive(0.5)), True),
]


@pytest.mark.parametrize(('label', 'outcome'), RIGHT_ONES.items())
def test_what_was_ordered_is_right(label: str, outcome: Outcome) -> None:
    assert is_right(label, outcome)
    assert not is_wrong_motion(label, outcome)


@pytest.mark.parametrize(('label', 'outcome', 'is_wrong'), WRONG_ONES)
def test_what_was_not_ordered_is_not_right(label: str, outcome: Outcome, is_wrong: bool) -> None:
    assert not is_right(label, outcome)
    assert is_wrong_motion(label, outcome) is is_wrong


def test_the_sentences_are_a_hundred_rows_of_the_held_corpus() -> None:
    held = {tuple(row) for row in rows('orders_held.tsv')}
    chosen = sentences()
    assert {tuple(row) for row in chosen} <= held
    assert len(set(chosen)) == 100
    languages = [row.language for row in chosen]
    assert [languages.count(each) for each in ('en', 'ja', 'zh')] == [34, 33, 33]
