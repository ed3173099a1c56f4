# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skill ``navigate_to_pose`` for a rover that only drives straight and in arcs.

A closed loop: read the pose, plan (path_planner.py), drive the plan's first segment for a few
seconds, and repeat. Each leg updates the estimates of speed and turn rate (speed_estimate.py). The
driven length is bounded by ``navigation.max_detour`` times the straight way. World frame, metres,
radians, seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Annotated, Any

from curiosity_rosa_demo.agent.skills.navigation.path_planner import (
    DrivePlan,
    KEPT_PART,
    NavigationGoal,
    plan_drive,
    too_long,
)
from curiosity_rosa_demo.agent.skills.navigation.speed_estimate import (
    SpeedEstimate,
    turning_radius,
)
from curiosity_rosa_demo.agent.skills.skill import part_done, SkillCall
from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.domain.models import MAX_LOST_LEGS, ToolResult
from curiosity_rosa_demo.domain.refusal import LINK_LOST, RefusalCode
from curiosity_rosa_demo.trace.reporter import finite_float
from pydantic import Field

MAX_LEG_S = 5.0
FIRST_LEG_S = 1.5  # longest leg of a motion whose speed is not measured yet
MIN_LEG_S = 0.4  # a shorter leg hardly moves it
MAX_LEGS = 100
MAX_STUCK_LEGS = 3  # consecutive legs that hardly moved the rover
MAX_TURN_RAD = 1.5  # of a leg
POSE_ATTEMPTS, POSE_RETRY_S = 5, 0.2  # while TF gives no pose
DUBINS_MOTIONS = {'L': 'turn_left', 'S': 'move_forward', 'R': 'turn_right'}

Metres = Annotated[float, Field(ge=-1e4, le=1e4, description='metres in the world frame')]
Heading = Annotated[
    float, Field(ge=-100.0, le=100.0, description='radians, 0 along X; left out: any heading')
]


def navigate_to_pose(
    call: SkillCall, x: Metres, y: Metres, yaw_rad: Heading | None = None
) -> ToolResult:
    """Drive to a place in the world frame, within 0.5 m and, if a heading is asked for, 0.3 rad.
    Needs a closed mast. The rover turns in wide arcs: a goal near beside it or behind it needs a
    loop, which is told first (loop_m) and refused if it is too long.
    """
    return _Navigation(call, NavigationGoal(x, y, yaw_rad)).run()


# Failures of a leg that are the drive's failure as they are; any other is NAV_BLOCKED.
PASSED_ON = frozenset(
    {
        RefusalCode.MAST_NOT_CLOSED,
        RefusalCode.NOT_STOWED,
        RefusalCode.MOVE_IN_PROGRESS,
        RefusalCode.BATTERY_CRITICAL,
        RefusalCode.SAFETY_VIOLATION,
        RefusalCode.ROVER_SILENT,
        RefusalCode.NO_SERVICE,
        RefusalCode.NO_ANSWER,
    }
)


class DriveFailed(Exception):
    """Ends the drive. ``result``: what the skill answers, without the figures of the drive."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__(result.error_reason)
        self.result = result

    def with_data(self, data: Mapping[str, Any]) -> ToolResult:
        return self.result.model_copy(update={'data': {**self.result.data, **data}})


def drive_failed(code: RefusalCode, why: str, **data: Any) -> DriveFailed:
    return DriveFailed(ToolResult.failure(f'{code.value}: {why}', code, **data))


def leg_failed(leg: ToolResult, code: RefusalCode) -> DriveFailed:
    """``code``: of the drive, unless the failure of the leg is passed on."""
    data = {key: leg.data[key] for key in ('stow',) if key in leg.data}
    if leg.error_code in PASSED_ON:
        return DriveFailed(ToolResult.failure(leg.error_reason, leg.error_code, **data))
    return drive_failed(code, leg.error_reason, **data)


class _Navigation:
    def __init__(self, call: SkillCall, goal: NavigationGoal) -> None:
        config = call.world.config
        max_mps = config.guardrails.geofence.max_speed_mps  # a high first guess: short legs
        self._call, self._goal = call, goal
        self._longest_s = min(
            MAX_LEG_S, config.agent.turn.max_motion_s, config.thresholds.motion.max_duration_s
        )
        self._max_detour = config.agent.navigation.max_detour
        self._configured_radius_m = config.thresholds.obstacles.turn_radius_m
        turn = max_mps / self._configured_radius_m
        start_s = config.thresholds.body.start_s
        self._estimates = {
            letter: SpeedEstimate(max_mps, 0.0 if letter == 'S' else turn, start_s)
            for letter in DUBINS_MOTIONS
        }
        self._plan: DrivePlan | None = None
        self._pose: Place | None = None
        self._legs, self._driven_m, self._stuck, self._lost = 0, 0.0, 0, 0
        self._straight_m = 0.0  # from the start to the goal
        self._loop_m: float | None = None  # the length of the first plan, if it is a loop

    def run(self) -> ToolResult:
        """Raises TurnCancelled."""
        try:
            here = self._read_pose()
            self._straight_m = self._goal.distance(here)
            while not self._goal.is_reached(here):
                plan = self._plan_from(here)
                self._report(plan)
                here = self._drive_leg(here, plan)
        except DriveFailed as failure:
            return failure.with_data(self._result_data())
        return ToolResult.success(**self._result_data())

    @property
    def _radius_m(self) -> float:
        turns = [self._estimates[letter] for letter in 'LR']
        return turning_radius(turns) or self._configured_radius_m

    def _plan_from(self, here: Place) -> DrivePlan:
        """The plan from here. Raises DriveFailed if it is not worth driving."""
        radius = self._radius_m
        plan = plan_drive(
            here,
            self._goal,
            radius,
            longest_m=self._max_detour * self._straight_m - self._driven_m,
            current=self._plan,
        )
        if self._plan is None and not self._legs and plan.is_loop:
            self._loop_m = round(plan.length(radius), 1)
        refused = too_long(
            straight_m=self._straight_m,
            driven_m=self._driven_m,
            left_m=plan.length(radius),
            radius=radius,
            max_detour=self._max_detour,
        )
        if refused is not None:
            raise DriveFailed(refused.result())
        return plan

    def _report(self, plan: DrivePlan) -> None:
        left_m = plan.length(self._radius_m)
        self._call.progress(
            {
                'fraction': part_done(self._driven_m + left_m, left_m),
                'distance_m': round(left_m, 3),
                'legs': self._legs,
                **self._loop(),
            }
        )

    def _loop(self) -> dict[str, float]:
        """What the goal needs, said before the rover drives and in the result."""
        if self._loop_m is None:
            return {}
        return {'loop_m': self._loop_m, 'straight_m': round(self._straight_m, 1)}

    def _drive_leg(self, here: Place, plan: DrivePlan) -> Place:
        """Drive the first segment of ``plan``, or a part of it, and return the new pose.

        Raises DriveFailed and TurnCancelled.
        """
        if self._legs >= MAX_LEGS:
            left = self._goal.distance(here)
            why = f'not there after {MAX_LEGS} legs, {left:.1f} m are left'
            raise drive_failed(RefusalCode.NAV_TIMEOUT, why)
        plan, seconds = self._next_leg(here, plan)
        letter = plan.segments[0][0]
        name, estimate = DUBINS_MOTIONS[letter], self._estimates[letter]
        self._check_guardrails(name, seconds)
        result = self._call.world.tool(name, self._call.cancellation, duration_s=seconds)
        self._legs += 1
        driven = finite_float(result.data.get('distance_m'))
        self._driven_m += driven or 0.0  # before _read_pose, which may raise
        there = self._read_pose()
        metres = math.hypot(there.x - here.x, there.y - here.y)
        self._driven_m += metres if driven is None else 0.0
        if not result.ok:
            self._lost += 1
            if result.error_code not in LINK_LOST or self._lost > MAX_LOST_LEGS:
                raise leg_failed(result, RefusalCode.NAV_BLOCKED)
            self._plan = None
            return there
        turned = math.remainder(there.yaw_rad - here.yaw_rad, math.tau) * (
            -1.0 if letter == 'R' else 1.0
        )
        if estimate.update(seconds, metres, turned):
            self._stuck = 0
        else:
            self._stuck += 1
        if self._stuck >= MAX_STUCK_LEGS:
            why = f'the rover hardly moved in {MAX_STUCK_LEGS} legs'
            raise drive_failed(RefusalCode.NAV_BLOCKED, why)
        self._plan = plan.after(metres if letter == 'S' else turned)
        return there

    def _next_leg(self, here: Place, plan: DrivePlan) -> tuple[DrivePlan, float]:
        """The plan without leading segments that are too short to drive and that the goal does not
        need; the seconds of its next leg.
        """
        while self._segment_seconds(plan) < MIN_LEG_S:
            shorter = DrivePlan(plan.segments[1:])
            if not shorter.segments or not self._goal.is_reached(
                shorter.end(here, self._radius_m), KEPT_PART
            ):
                break
            plan = shorter
        letter = plan.segments[0][0]
        longest_s = self._longest_s
        estimate = self._estimates[letter]
        if not estimate.is_known:
            longest_s = min(longest_s, FIRST_LEG_S)
        if letter != 'S':  # a change of heading above half a circle is ambiguous
            longest_s = min(longest_s, MAX_TURN_RAD / estimate.turn)
        seconds = min(max(self._segment_seconds(plan), MIN_LEG_S), longest_s)
        return plan, seconds

    def _segment_seconds(self, plan: DrivePlan) -> float:
        """Of the first segment."""
        letter, amount = plan.segments[0]
        return self._estimates[letter].seconds_for(amount)

    def _check_guardrails(self, name: str, seconds: float) -> None:
        refused = self._call.world.drive_refusal(name, seconds)
        if refused is not None:
            raise leg_failed(refused.result(), self._code)

    @property
    def _code(self) -> RefusalCode:
        return RefusalCode.NAV_BLOCKED if self._legs else RefusalCode.NAV_GOAL_REJECTED

    def _read_pose(self) -> Place:
        for _ in range(POSE_ATTEMPTS):
            pose = self._call.world.pose()
            if pose is not None:
                self._pose = pose.place
                return self._pose
            self._call.cancellation.sleep(POSE_RETRY_S)
        self._pose = None
        raise drive_failed(self._code, 'where the rover is is not known')

    def _result_data(self) -> dict[str, float | int | None]:
        pose = self._pose
        return {
            'x': pose.x if pose else None,
            'y': pose.y if pose else None,
            'yaw_rad': pose.yaw_rad if pose else None,
            'distance_m': self._driven_m,
            'legs': self._legs,
            **self._loop(),
        }
