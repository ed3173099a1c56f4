# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Compute the world state: a summary, the rover's zones and the nearest obstacles.

Zone ``bright``: X of the base is at least ``light_model.x_good``, where the score is 1.0. The zone
marker in the visualisation does not count. Zone ``base``: within 1 m of the origin of the world
frame. While odometry is silent the rover is in no zone.
"""

from __future__ import annotations

import math

from curiosity_rosa_demo.agent.kernel.telemetry_sync import KernelRules, SECTOR_BEARINGS
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    BrainState,
    Json,
    RobotState,
    WorldState,
)

BASE_RADIUS_M = 1.0


def world_update(state: BrainState, rules: KernelRules) -> BrainState:
    robot = state.robot
    zones = _zones(robot, rules)
    world = WorldState(
        summary=_world_summary(robot, zones), zones=zones, obstacles=_obstacles(robot)
    )
    distance = max(0.0, rules.bright_x_m - robot.pose.x)
    return state.model_copy(
        update={
            'world': world,
            'robot': robot.model_copy(update={'distance_to_target': distance}),
        }
    )


def view_problem(robot: RobotState) -> str:
    """Says that the scan arrives but shows nothing of the rover's way; empty: it does, or there is
    no scan.
    """
    scan = robot.heard.get('scan')
    if scan is None or not _is_live(robot, 'scan') or scan.value.get('view'):
        return ''
    stowed = _is_live(robot, 'adapter') and robot.mast == 'closed'
    return 'no view ahead while stowed' if stowed else 'no view ahead'


def _is_live(robot: RobotState, source: str) -> bool:
    return source in robot.ages_s and source not in robot.silent


def _zones(robot: RobotState, rules: KernelRules) -> list[str]:
    if not _is_live(robot, 'odometry'):
        return []
    zones = []
    if robot.pose.x >= rules.bright_x_m:
        zones.append('bright')
    if math.hypot(robot.pose.x, robot.pose.y) <= BASE_RADIUS_M:
        zones.append('base')
    return zones


def _obstacles(robot: RobotState) -> list[Json]:
    """The nearest return of each direction, sorted by distance. Empty without a live scan."""
    if not _is_live(robot, 'scan'):
        return []
    scan = robot.heard['scan'].value
    nearest_first = sorted(
        (metres, bearing)
        for name, bearing in SECTOR_BEARINGS.items()
        if (metres := scan[name]) is not None
    )
    return [{'distance_m': metres, 'bearing_rad': bearing} for metres, bearing in nearest_first]


def _world_summary(robot: RobotState, zones: list[str]) -> str:
    parts = [_place_text(robot), _motion_text(robot)]
    if robot.mast != 'none':
        parts.append(f'mast {robot.mast}' if _is_live(robot, 'adapter') else 'mast unknown')
    parts.extend(f'{name} {posture}' for name, posture in robot.appendages.items())
    if robot.battery_state is BatteryLevel.UNKNOWN:
        parts.append('battery unknown')
    else:
        parts.append(f'battery {robot.battery_pct:.0f} %')
    if robot.scan_min_m is not None:
        parts.append(f'nearest return in its way {robot.scan_min_m:.1f} m')
    if no_view := view_problem(robot):
        parts.append(no_view)
    parts.extend(f'in {zone}' for zone in zones)
    if robot.estop:
        parts.append('e-stop pressed')
    if robot.silent:
        parts.append(f'silent: {", ".join(robot.silent)}')
    return '; '.join(parts)


def _place_text(robot: RobotState) -> str:
    if 'odometry' not in robot.ages_s:
        return 'place unknown'
    pose = robot.pose
    heading = math.degrees(2.0 * math.atan2(pose.orientation_z, pose.orientation_w))
    heading = (heading + 180.0) % 360.0 - 180.0
    word = 'last seen at' if 'odometry' in robot.silent else 'at'
    # Adding 0.0 turns a rounded -0.0 into 0.0.
    x, y = round(pose.x, 1) + 0.0, round(pose.y, 1) + 0.0
    return f'{word} x {x:.1f} m, y {y:.1f} m, heading {round(heading)} deg'


def _motion_text(robot: RobotState) -> str:
    if not _is_live(robot, 'odometry') and not _is_live(robot, 'adapter'):
        return 'motion unknown'
    return 'moving' if robot.moving else 'standing still'
