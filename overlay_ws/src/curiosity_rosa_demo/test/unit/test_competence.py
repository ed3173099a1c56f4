# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The bench of the search in random worlds: its twin, its optimum, what counts as found."""

from __future__ import annotations

from dataclasses import replace
import math
from types import SimpleNamespace

from competence import run_world
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_stand_in.scenery import Light
import pytest
from rover_twin import RoverTwin
from worlds.optimum import optimum
from worlds.world import World, world_of

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


def test_an_internal_error_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: RoverTwin) -> SimpleNamespace:
        raise AttributeError('no such thing')

    monkeypatch.setattr(RoverTwin, 'analyze_ground', broken)
    assert not run_world(world_of(3), CONFIG).found
