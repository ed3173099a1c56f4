# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skill ``navigate_to_pose`` for a rover that only drives straight and in arcs.

A closed loop: read the pose, plan the shortest path (dubins.py), drive its first segment for a few
seconds, and repeat. Each leg updates the estimates of speed and turn rate (speed_estimate.py).
World frame, metres, radians, seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import math
from typing import Annotated

from curiosity_rosa_demo.agent.skills.navigation.dubins import dubins_paths, DubinsPath, PlanarPose
from curiosity_rosa_demo.agent.skills.navigation.speed_estimate import (
    GUESSED_RADIUS_M,
    SpeedEstimate,
    turning_radius,
)
from curiosity_rosa_demo.agent.skills.progress import part_done
from curiosity_rosa_demo.agent.skills.skill import SkillCall
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.trace.reporter import finite_float
from pydantic import Field

TOLERANCE_M = 0.5
TOLERANCE_RAD = 0.3
MAX_HEADINGS = 16  # tried for a goal without a heading
MAX_LEG_S = 5.0
FIRST_LEG_S = 1.5  # longest leg of a motion whose speed is not measured yet
MIN_LEG_S = 0.2
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
    Needs a closed mast. The rover turns in wide arcs, so a goal close beside it takes long.
    """
    return _Navigation(call, NavigationGoal(x, y, yaw_rad)).run()


@dataclass(frozen=True)
class NavigationGoal:
    x: float
    y: float
    yaw: float | None

    def distance(self, place: PlanarPose) -> float:
        return math.hypot(self.x - place.x, self.y - place.y)

    def is_reached(self, place: PlanarPose) -> bool:
        return self.distance(place) <= TOLERANCE_M and (
            self.yaw is None
            or abs(math.remainder(place.yaw - self.yaw, math.tau)) <= TOLERANCE_RAD
        )

    def candidate_poses(self) -> Iterator[tuple[PlanarPose, float]]:
        """Yield target poses with their penalty in metres: the centre, then points on a ring.

        A ring point can save a whole circle if the rover narrowly missed the centre.
        """
        if self.yaw is None:
            yaws = [(math.tau * i / MAX_HEADINGS, 0.0) for i in range(MAX_HEADINGS)]
        else:
            yaws = [(self.yaw + off, abs(off)) for off in (0.0, 0.2, -0.2)]
        for yaw, cost in yaws:
            yield PlanarPose(self.x, self.y, yaw), cost
            for i in range(8):
                dx, dy = (f(math.tau * i / 8) * 0.6 * TOLERANCE_M for f in (math.cos, math.sin))
                yield PlanarPose(self.x + dx, self.y + dy, yaw), cost + 0.6 * TOLERANCE_M


def shortest_path(start: PlanarPose, goal: NavigationGoal, radius: float) -> DubinsPath:
    """The path with the least sum of length and penalty over all candidate poses."""
    _, shortest = min(
        (
            (path.length + cost, path)
            for pose, cost in goal.candidate_poses()
            for path in dubins_paths(start, pose, radius)
        ),
        key=lambda each: each[0],
    )
    return shortest


class _NavigationFailed(Exception):
    """Ends the navigation; the message is the reason of the failed result."""


class _Navigation:
    def __init__(self, call: SkillCall, goal: NavigationGoal) -> None:
        config = call.world.config
        max_mps = config.guardrails.geofence.max_speed_mps  # a high first guess: short legs
        self._call, self._goal = call, goal
        self._longest_s = min(MAX_LEG_S, config.agent.turn.max_motion_s)
        self._codes = tuple(config.skills.error_map)
        self._estimates = {
            letter: SpeedEstimate(max_mps, 0.0 if letter == 'S' else max_mps / GUESSED_RADIUS_M)
            for letter in DUBINS_MOTIONS
        }
        self._pose: PlanarPose | None = None
        self._legs, self._driven_m, self._stuck = 0, 0.0, 0
        self._initial_distance_m = 0.0  # from the start to the goal

    def run(self) -> ToolResult:
        """Raises TurnCancelled."""
        try:
            here = self._read_pose()
            self._initial_distance_m = self._goal.distance(here)
            while not self._goal.is_reached(here):
                here = self._drive_leg(here)
        except _NavigationFailed as failure:
            return ToolResult.failure(str(failure), **self._result_data())
        return ToolResult.success(**self._result_data())

    def _drive_leg(self, here: PlanarPose) -> PlanarPose:
        """Drive the first segment of the shortest path and return the new pose.

        Raises _NavigationFailed and TurnCancelled.
        """
        if self._legs >= MAX_LEGS:
            left = self._goal.distance(here)
            raise _NavigationFailed(
                f'NAV_TIMEOUT: not there after {MAX_LEGS} legs, {left:.1f} m are left'
            )
        letter, seconds = self._next_leg(here)
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
            raise _NavigationFailed(self._with_code(result.error_reason))
        turned = math.remainder(there.yaw - here.yaw, math.tau)
        if estimate.update(seconds, metres, -turned if letter == 'R' else turned):
            self._stuck = 0
        else:
            self._stuck += 1
        if self._stuck >= MAX_STUCK_LEGS:
            raise _NavigationFailed(
                f'NAV_BLOCKED: the rover hardly moved in {MAX_STUCK_LEGS} legs'
            )
        left = self._goal.distance(there)
        self._call.progress(
            {
                'fraction': part_done(self._initial_distance_m, left),
                'distance_m': round(left, 3),
                'legs': self._legs,
            }
        )
        return there

    def _next_leg(self, here: PlanarPose) -> tuple[str, float]:
        """The letter of the next motion and its duration in seconds."""
        turns = [self._estimates[letter] for letter in 'LR']
        radius = turning_radius(turns)
        segments = [
            (letter, self._leg_seconds(letter, metres, radius))
            for letter, metres in shortest_path(here, self._goal, radius).segments
        ]
        letter, seconds = next(
            (segment for segment in segments if segment[1] >= MIN_LEG_S),
            max(segments, key=lambda segment: segment[1]),
        )
        longest_s = self._longest_s
        if not self._estimates[letter].is_known:
            longest_s = min(longest_s, FIRST_LEG_S)
        if letter != 'S':  # a change of heading above half a circle is ambiguous
            longest_s = min(longest_s, MAX_TURN_RAD / self._estimates[letter].turn)
        return letter, min(max(seconds, MIN_LEG_S), longest_s)

    def _leg_seconds(self, letter: str, metres: float, radius: float) -> float:
        """The duration of a segment. An arc is timed by its angle, because the rover may turn on a
        smaller radius than planned.
        """
        estimate = self._estimates[letter]
        return metres / estimate.speed if letter == 'S' else metres / radius / estimate.turn

    def _check_guardrails(self, name: str, seconds: float) -> None:
        why = self._call.world.may_drive(name, seconds)
        if why.startswith(self._codes):
            raise _NavigationFailed(why)
        if why:
            raise _NavigationFailed(
                f'{"NAV_BLOCKED" if self._legs else "NAV_GOAL_REJECTED"}: {why}'
            )

    def _with_code(self, why: str) -> str:
        """``why`` as it is if it starts with a known error code, else as NAV_BLOCKED."""
        return why if why.startswith(self._codes) else f'NAV_BLOCKED: {why}'

    def _read_pose(self) -> PlanarPose:
        for _ in range(POSE_ATTEMPTS):
            pose = self._call.world.pose()
            if pose is not None:
                self._pose = PlanarPose(pose.x, pose.y, pose.yaw_rad)
                return self._pose
            self._call.cancellation.sleep(POSE_RETRY_S)
        self._pose = None
        code = 'NAV_BLOCKED' if self._legs else 'NAV_GOAL_REJECTED'
        raise _NavigationFailed(f'{code}: where the rover is is not known')

    def _result_data(self) -> dict[str, float | int | None]:
        pose = self._pose
        return {
            'x': pose.x if pose else None,
            'y': pose.y if pose else None,
            'yaw_rad': pose.yaw if pose else None,
            'distance_m': self._driven_m,
            'legs': self._legs,
        }
