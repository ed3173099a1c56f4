# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rule that stops the rover before an obstacle."""

from __future__ import annotations

from collections.abc import Mapping
import math

from curiosity_rosa_demo.adapter.obstacle_stop import ObstacleStop, ViewState
from curiosity_rosa_demo.domain.models import OBSTACLE_AHEAD, VIEW_LOST
from curiosity_rosa_demo.infra.config.thresholds import Thresholds
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.obstacles import ObstacleView, TURN_DIRECTIONS
from hypothesis import given
from hypothesis import strategies as st
import numpy as np

THRESHOLDS = load_config().thresholds
STOP_M, CLEAR_M = THRESHOLDS.telemetry.obstacle_stop_m, THRESHOLDS.obstacles.clear_m
MAX_AGE_S = THRESHOLDS.obstacles.scan_max_age_s
POINTS = np.empty((0, 2))
BLIND = ObstacleView(False, {}, POINTS)


def seen(**free_m: float) -> ObstacleView:
    return ObstacleView(True, {**dict.fromkeys(TURN_DIRECTIONS, math.inf), **free_m}, POINTS)


FREE = seen()
WALL = seen(**dict.fromkeys(TURN_DIRECTIONS, STOP_M / 2))


class World:
    def __init__(self, thresholds: Thresholds = THRESHOLDS) -> None:
        self.now = 100.0
        self.rule = ObstacleStop(thresholds, lambda: self.now)

    def after(self, seconds: float, *scans: ObstacleView | None) -> ObstacleStop:
        """The rule, after ``seconds``, then the scans."""
        self.now += seconds
        for scan in scans:
            self.rule.record_scan(scan)
        return self.rule


def test_a_wall_stops_and_refuses_each_motion_with_the_distance() -> None:
    rule = World().after(0.0, WALL)
    assert rule.enabled
    for motion in TURN_DIRECTIONS:
        assert rule.stop_reason(motion) == rule.refusal(motion)
        assert rule.refusal(motion) == f'{OBSTACLE_AHEAD} at 1.0 m: no motion leads past it'
    assert (rule.view, rule.ahead_m) == (ViewState.AHEAD, STOP_M / 2)


def test_a_free_arc_is_the_way_out_and_the_refusal_names_it() -> None:
    rule = World().after(0.0, seen(move_forward=1.5, turn_right=1.4, turn_left=5.0))
    assert rule.refusal('move_forward') == f'{OBSTACLE_AHEAD} at 1.5 m: turn_left leads past it'
    assert (rule.refusal('turn_left'), rule.stop_reason('turn_left')) == ('', '')
    assert rule.refusal('turn_right').startswith(OBSTACLE_AHEAD)


metres = st.floats(0.0, 10.0) | st.sampled_from([STOP_M, CLEAR_M, math.inf])


@given(st.lists(metres | st.sampled_from([None, BLIND]), max_size=30))
def test_a_motion_is_blocked_below_the_stop_distance_until_a_view_shows_the_clear_distance(
    scans: list[float | ObstacleView | None],
) -> None:
    world, blocked = World(), False
    for each in scans:
        if isinstance(each, float):
            blocked = each < STOP_M or (blocked and each < CLEAR_M)
        rule = world.after(0.0, seen(move_forward=each) if isinstance(each, float) else each)
        assert bool(rule.stop_reason('move_forward')) is blocked
        assert rule.refusal('move_forward') == rule.stop_reason('move_forward')


def test_without_a_view_the_rover_drives_and_the_status_says_so() -> None:
    views: Mapping[ViewState, list[ObstacleView | None]] = {
        ViewState.NO_SCAN: [],
        ViewState.NO_TRANSFORM: [None],
        ViewState.NO_VIEW: [BLIND],
    }
    for state, scans in views.items():
        rule = World().after(0.0, *scans)
        assert (rule.view, rule.ahead_m) == (state, None)
        for motion in TURN_DIRECTIONS:
            assert (rule.refusal(motion), rule.stop_reason(motion)) == ('', '')


def test_a_lost_view_stops_a_motion_and_forbids_the_next_until_it_is_back() -> None:
    for scans in ([], [None], [BLIND]):
        world = World()
        assert not world.after(0.0, FREE).stop_reason('move_forward')
        assert not world.after(MAX_AGE_S).stop_reason('move_forward')
        rule = world.after(0.1, *scans)
        assert rule.stop_reason('move_forward') == VIEW_LOST
        assert rule.view_lost
        if scans != [BLIND]:
            assert rule.refusal('move_forward') == VIEW_LOST
        assert not world.after(0.1, FREE).refusal('move_forward')


def test_a_scan_that_looks_elsewhere_since_lets_the_rover_start() -> None:
    rule = World().after(0.0, FREE, BLIND)
    assert rule.refusal('move_forward') == ''
    assert not rule.view_lost


def test_a_scan_without_a_publisher_is_not_waited_for_but_an_obstacle_stays() -> None:
    world = World()
    world.after(0.0, seen(move_forward=1.0))
    rule = world.after(MAX_AGE_S + 0.1)
    rule.forget()
    assert rule.view is ViewState.NO_SCAN
    assert rule.refusal('turn_left') == ''
    assert rule.refusal('move_forward').startswith(OBSTACLE_AHEAD)


def test_zero_turns_the_rule_off() -> None:
    telemetry = THRESHOLDS.telemetry.model_copy(update={'obstacle_stop_m': 0.0})
    world = World(THRESHOLDS.model_copy(update={'telemetry': telemetry}))
    rule = world.after(0.0, WALL)
    assert (rule.view, rule.refusal('move_forward')) == (ViewState.OFF, '')
    assert not world.after(9.0).stop_reason('move_forward')
