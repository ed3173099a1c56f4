# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skills ``drive_distance`` and ``turn_angle``: so far ahead, or so far around, from here.

A closed loop of short motions: each leg measures the speed of the rover, and the next one drives
what is left. Metres and radians in the world frame, seconds.
"""

from __future__ import annotations

import math
from typing import Annotated

from curiosity_rosa_demo.agent.skills.navigation.navigate import (
    drive_failed,
    DriveFailed,
    FIRST_LEG_S,
    leg_failed,
    MAX_LEG_S,
    MAX_LEGS,
    MAX_STUCK_LEGS,
    MAX_TURN_RAD,
    MIN_LEG_S,
    POSE_ATTEMPTS,
    POSE_RETRY_S,
)
from curiosity_rosa_demo.agent.skills.navigation.speed_estimate import SpeedEstimate
from curiosity_rosa_demo.agent.skills.skill import part_done, SkillCall
from curiosity_rosa_demo.domain.models import MAX_LOST_LEGS, RoverPose, ToolResult
from curiosity_rosa_demo.domain.refusal import LINK_LOST, RefusalCode
from curiosity_rosa_demo.trace.reporter import finite_float
from pydantic import Field

NEAR_ENOUGH_M, NEAR_ENOUGH_RAD = 0.03, 0.04

Distance = Annotated[float, Field(ge=0.05, le=100.0, description='metres ahead')]
Angle = Annotated[
    float, Field(ge=-720.0, le=720.0, description='degrees; above 0 to the left, below 0 right')
]


def drive_distance(call: SkillCall, distance_m: Distance) -> ToolResult:
    """Drive straight ahead for a distance in metres, measured by the pose. Needs a closed mast."""
    return _Legs(call, 'move_forward', distance_m).run()


def turn_angle(call: SkillCall, angle_deg: Angle) -> ToolResult:
    """Change the heading by an angle, on a wide arc, measured by the pose. Needs a closed mast."""
    name = 'turn_left' if angle_deg > 0.0 else 'turn_right'
    return _Legs(call, name, math.radians(abs(angle_deg))).run()


class _Legs:
    """Legs of the motion ``name`` until ``amount`` (metres, or radians of a turn) is measured."""

    def __init__(self, call: SkillCall, name: str, amount: float) -> None:
        config = call.world.config
        max_mps = config.guardrails.geofence.max_speed_mps  # a high first guess: short legs
        self._call, self._name, self._amount = call, name, amount
        self._turns = name != 'move_forward'
        rate = max_mps / config.thresholds.obstacles.turn_radius_m if self._turns else 0.0
        self._estimate = SpeedEstimate(max_mps, rate, config.thresholds.body.start_s)
        self._longest_s = min(
            MAX_LEG_S, config.agent.turn.max_motion_s, config.thresholds.motion.max_duration_s
        )
        self._done = self._driven_m = self._turned_rad = 0.0
        self._legs = self._stuck = self._lost = 0
        self._pose: RoverPose | None = None

    def run(self) -> ToolResult:
        """Raises TurnCancelled."""
        near = NEAR_ENOUGH_RAD if self._turns else NEAR_ENOUGH_M
        try:
            here = self._read_pose()
            while self._amount - self._done > near:
                seconds = self._seconds_left()
                if self._legs and seconds < (self._estimate.start_s + MIN_LEG_S) / 2:
                    break
                here = self._drive(here, max(seconds, MIN_LEG_S))
                self._report()
        except DriveFailed as failure:
            return failure.with_data(self._result_data())
        return ToolResult.success(**self._result_data())

    def _report(self) -> None:
        left = max(self._amount - self._done, 0.0)
        estimate = self._estimate
        left_m = left * estimate.speed / estimate.turn if self._turns else left
        self._call.progress(
            {
                'fraction': part_done(self._amount, left),
                'distance_m': round(left_m, 3),
                'legs': self._legs,
            }
        )

    def _seconds_left(self) -> float:
        left, estimate = self._amount - self._done, self._estimate
        longest_s = self._longest_s if estimate.is_known else min(self._longest_s, FIRST_LEG_S)
        if self._turns:  # a change of heading above half a circle is ambiguous
            longest_s = min(longest_s, MAX_TURN_RAD / estimate.turn)
        return min(estimate.seconds_for(left), longest_s)

    def _drive(self, here: RoverPose, seconds: float) -> RoverPose:
        """One leg; returns the pose after it. Raises DriveFailed and TurnCancelled."""
        if self._legs >= MAX_LEGS:
            raise drive_failed(RefusalCode.NAV_TIMEOUT, f'not done after {MAX_LEGS} legs')
        refused = self._call.world.drive_refusal(self._name, seconds)
        if refused is not None:
            raise leg_failed(refused.result(), self._code)
        result = self._call.world.tool(self._name, self._call.cancellation, duration_s=seconds)
        self._legs += 1
        there = self._read_pose()
        straight_m = math.hypot(there.x - here.x, there.y - here.y)
        driven = finite_float(result.data.get('distance_m'))
        metres = straight_m if driven is None else driven
        turned = math.remainder(there.yaw_rad - here.yaw_rad, math.tau)
        self._driven_m += metres
        self._turned_rad += turned
        gained = turned * (-1.0 if self._name == 'turn_right' else 1.0)
        self._done += gained if self._turns else straight_m
        if not result.ok:
            self._lost += 1
            if result.error_code in LINK_LOST and self._lost <= MAX_LOST_LEGS:
                return there
            raise leg_failed(result, RefusalCode.NAV_BLOCKED)
        moved = self._estimate.update(seconds, metres, gained)
        self._stuck = 0 if moved else self._stuck + 1
        if self._stuck >= MAX_STUCK_LEGS:
            why = f'the rover hardly moved in {MAX_STUCK_LEGS} legs'
            raise drive_failed(RefusalCode.NAV_BLOCKED, why)
        return there

    def _read_pose(self) -> RoverPose:
        for _ in range(POSE_ATTEMPTS):
            self._pose = self._call.world.pose()
            if self._pose is not None:
                return self._pose
            self._call.cancellation.sleep(POSE_RETRY_S)
        raise drive_failed(self._code, 'where the rover is is not known')

    @property
    def _code(self) -> RefusalCode:
        return RefusalCode.NAV_BLOCKED if self._legs else RefusalCode.NAV_GOAL_REJECTED

    def _result_data(self) -> dict[str, float | int | None]:
        pose = self._pose
        return {
            'x': pose.x if pose else None,
            'y': pose.y if pose else None,
            'yaw_rad': pose.yaw_rad if pose else None,
            'distance_m': self._driven_m,
            'turned_deg': math.degrees(self._turned_rad),
            'legs': self._legs,
        }
