# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skills that drive by the pose: ``navigate_to_pose``, ``drive_distance`` and ``turn_angle``.

One closed loop of short legs serves all three: each leg measures the speed of the rover, and the
next one drives what is left. World frame, metres, radians, seconds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
import math
from typing import Annotated, Any

from curiosity_rosa_demo.agent.skills.paths import (
    DrivePlan,
    KEPT_PART,
    NavigationGoal,
    plan_drive,
    too_long,
)
from curiosity_rosa_demo.agent.skills.skill import part_done, SkillCall
from curiosity_rosa_demo.domain.geometry import DIRECTIONS, finite_float, Place
from curiosity_rosa_demo.domain.models import MAX_LOST_LEGS, ToolResult
from curiosity_rosa_demo.domain.refusal import LINK_LOST, RefusalCode
from pydantic import Field

MAX_LEG_S = 5.0
FIRST_LEG_S = 1.5  # longest leg of a motion whose speed is not measured yet
MIN_LEG_S = 0.4  # a shorter leg hardly moves it
MAX_LEGS = 100
MAX_STUCK_LEGS = 3  # consecutive legs that hardly moved the rover
MAX_TURN_RAD = 1.5  # of a leg: a change of heading above half a circle is ambiguous
POSE_ATTEMPTS, POSE_RETRY_S = 5, 0.2  # while TF gives no pose
NO_POSE_TEXT = 'where the rover is is not known'
NEAR_ENOUGH_M, NEAR_ENOUGH_RAD = 0.03, 0.04  # of a distance or an angle
MOTION_OF = {'L': 'turn_left', 'S': 'move_forward', 'R': 'turn_right'}
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
OLD_ESTIMATE_WEIGHT = 0.5  # weight of the earlier seconds against those of a new leg
MIN_RADIUS_M = 0.05  # of a measured turn
MIN_DISTANCE_M, MIN_ANGLE_RAD = 0.02, 0.005  # a leg below these did not move the rover
MIN_TELLING_S = 0.5  # a shorter leg of a motion that is not measured yet tells nothing
MIN_MOVED_FRACTION = 0.2  # of the estimate; a later leg below this hardly moved it

Metres = Annotated[float, Field(ge=-1e4, le=1e4, description='metres in the world frame')]
Heading = Annotated[
    float, Field(ge=-100.0, le=100.0, description='radians, 0 along X; left out: any heading')
]
Distance = Annotated[float, Field(ge=0.05, le=100.0, description='metres ahead')]
Angle = Annotated[
    float, Field(ge=-720.0, le=720.0, description='degrees; above 0 to the left, below 0 right')
]


def navigate_to_pose(
    call: SkillCall, x: Metres, y: Metres, yaw_rad: Heading | None = None
) -> ToolResult:
    """Drive to a place in the world frame, within 0.5 m and, if a heading is asked for, 0.3 rad.
    Needs a closed mast. The rover turns in wide arcs: a goal near beside it or behind it needs a
    loop, which is told first (loop_m) and refused if it is too long.
    """
    return _ToPlace(call, NavigationGoal(x, y, yaw_rad)).run()


def drive_distance(call: SkillCall, distance_m: Distance) -> ToolResult:
    """Drive straight ahead for a distance in metres, measured by the pose. Needs a closed mast."""
    return _ByAmount(call, 'move_forward', distance_m).run()


def turn_angle(call: SkillCall, angle_deg: Angle) -> ToolResult:
    """Change the heading by an angle, on a wide arc, measured by the pose. Needs a closed mast."""
    motion = 'turn_left' if angle_deg > 0.0 else 'turn_right'
    return _ByAmount(call, motion, math.radians(abs(angle_deg))).run()


def drive_failure(code: RefusalCode, why: str, **data: Any) -> ToolResult:
    return ToolResult.failure(f'{code.value}: {why}', code, **data)


class DriveFailed(Exception):
    """Ends the drive. ``result``: what the skill answers, without the figures of the drive."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__(result.error_reason)
        self.result = result


class _Drive(ABC):
    """The legs of one drive. A subclass says what is left, and learns what each leg has driven."""

    def __init__(self, call: SkillCall) -> None:
        config = call.world.config
        max_mps = config.guardrails.geofence.max_speed_mps  # a high first guess: short legs
        rate = max_mps / config.thresholds.obstacles.turn_radius_m
        start_s = config.thresholds.body.start_s
        self._call = call
        self._longest_s = min(
            MAX_LEG_S, config.agent.turn.max_motion_s, config.thresholds.motion.max_duration_s
        )
        self._estimates = {
            motion: SpeedEstimate(max_mps, rate * abs(side), start_s)
            for motion, side in DIRECTIONS.items()
        }
        self._pose: Place | None = None
        self._legs = self._stuck = self._lost = 0
        self._driven_m = self._left_m = 0.0

    def run(self) -> ToolResult:
        """Raises TurnCancelled."""
        try:
            here = self._read_pose()
            while (leg := self.next_leg(here)) is not None:
                here = self._drive(here, *leg)
        except DriveFailed as failure:
            data = {**failure.result.data, **self.figures()}
            return failure.result.model_copy(update={'data': data})
        return ToolResult.success(**self.figures())

    @abstractmethod
    def next_leg(self, here: Place) -> tuple[str, float] | None:
        """The next motion and how far it leads, in metres or, for a turn, radians; None: the drive
        is over. Raises DriveFailed.
        """

    @abstractmethod
    def after_leg(self, motion: str, metres: float, radians: float, is_sound: bool) -> None:
        """A leg has led straight over ``metres`` and turned by ``radians``, left above 0.
        ``is_sound`` False: the adapter has ended it, because it missed the agent.
        """

    def figures(self) -> dict[str, float | int | None]:
        """The data of the result."""
        pose = self._pose
        return {
            'x': pose.x if pose else None,
            'y': pose.y if pose else None,
            'yaw_rad': pose.yaw_rad if pose else None,
            'distance_m': self._driven_m,
            'legs': self._legs,
        }

    def report(self, fraction: float, left_m: float, **more: float) -> None:
        self._left_m = left_m
        report = {'fraction': fraction, 'distance_m': round(left_m, 3), 'legs': self._legs}
        self._call.progress({**report, **more})

    def _drive(self, here: Place, motion: str, amount: float) -> Place:
        """Drive one leg of at most ``amount``; returns the pose after it. Raises DriveFailed and
        TurnCancelled.
        """
        if self._legs >= MAX_LEGS:
            why = f'not there after {MAX_LEGS} legs, {self._left_m:.1f} m are left'
            raise DriveFailed(drive_failure(RefusalCode.NAV_TIMEOUT, why))
        estimate, seconds = self._estimates[motion], self._leg_s(motion, amount)
        result = self._call.world.tool(motion, self._call.cancellation, duration_s=seconds)
        if 'refusal' in result.data:  # of the gate: nothing has begun
            raise self._leg_failed(result)
        self._legs += 1
        driven_m = finite_float(result.data.get('distance_m'))
        self._driven_m += driven_m or 0.0  # before _read_pose, which may raise
        failed = None if result.ok else self._leg_failed(result)
        there = self._read_pose(failed)
        metres = math.hypot(there.x - here.x, there.y - here.y)
        radians = math.remainder(there.yaw_rad - here.yaw_rad, math.tau)
        self._driven_m += metres if driven_m is None else 0.0
        self.after_leg(motion, metres, radians, result.ok)
        if failed is not None:
            self._lost += 1
            if result.error_code not in LINK_LOST or self._lost > MAX_LOST_LEGS:
                raise failed
            return there
        moved = estimate.update(seconds, metres, radians * DIRECTIONS[motion])
        self._stuck = 0 if moved else self._stuck + 1
        if self._stuck >= MAX_STUCK_LEGS:
            why = f'the rover hardly moved in {MAX_STUCK_LEGS} legs'
            raise DriveFailed(drive_failure(RefusalCode.NAV_BLOCKED, why))
        return there

    def _leg_s(self, motion: str, amount: float) -> float:
        estimate, longest_s = self._estimates[motion], self._longest_s
        if not estimate.is_known:
            longest_s = min(longest_s, FIRST_LEG_S)
        if estimate.turn:
            longest_s = min(longest_s, MAX_TURN_RAD / estimate.turn)
        return min(max(estimate.seconds_for(amount), MIN_LEG_S), longest_s)

    def _read_pose(self, failed: DriveFailed | None = None) -> Place:
        """Raises ``failed`` if there is one, else DriveFailed, while TF gives no pose."""
        for _ in range(POSE_ATTEMPTS):
            pose = self._call.world.pose()
            self._pose = pose.place if pose else None
            if self._pose is not None:
                return self._pose
            self._call.cancellation.sleep(POSE_RETRY_S)
        raise failed or DriveFailed(drive_failure(self._code, NO_POSE_TEXT))

    def _leg_failed(self, leg: ToolResult) -> DriveFailed:
        data = {key: leg.data[key] for key in ('stow',) if key in leg.data}
        if leg.error_code in PASSED_ON:
            return DriveFailed(ToolResult.failure(leg.error_reason, leg.error_code, **data))
        return DriveFailed(drive_failure(self._code, leg.error_reason, **data))

    @property
    def _code(self) -> RefusalCode:
        return RefusalCode.NAV_BLOCKED if self._legs else RefusalCode.NAV_GOAL_REJECTED


class _ByAmount(_Drive):
    """``motion`` until ``amount`` (metres, or radians of a turn) is measured."""

    def __init__(self, call: SkillCall, motion: str, amount: float) -> None:
        super().__init__(call)
        self._motion, self._amount = motion, amount
        self._done = self._turned_rad = 0.0

    def next_leg(self, here: Place) -> tuple[str, float] | None:
        turns, estimate = self._motion != 'move_forward', self._estimates[self._motion]
        left = max(self._amount - self._done, 0.0)
        if self._legs:
            left_m = left * estimate.speed / estimate.turn if turns else left
            self.report(part_done(self._amount, left), left_m)
        near = NEAR_ENOUGH_RAD if turns else NEAR_ENOUGH_M
        shortest_s = (estimate.start_s + MIN_LEG_S) / 2 if self._legs else 0.0
        if left <= near or estimate.seconds_for(left) < shortest_s:
            return None
        return self._motion, left

    def after_leg(self, motion: str, metres: float, radians: float, is_sound: bool) -> None:
        side = DIRECTIONS[motion]
        self._turned_rad += radians
        self._done += radians * side if side else metres

    def figures(self) -> dict[str, float | int | None]:
        return {**super().figures(), 'turned_deg': math.degrees(self._turned_rad)}


class _ToPlace(_Drive):
    """The way to ``goal``. Its length is bounded by ``navigation.max_detour`` times the straight
    way.
    """

    def __init__(self, call: SkillCall, goal: NavigationGoal) -> None:
        super().__init__(call)
        config = call.world.config
        self._goal, self._max_detour = goal, config.agent.navigation.max_detour
        self._radius_m = config.thresholds.obstacles.turn_radius_m  # until it is measured
        self._plan: DrivePlan | None = None
        self._straight_m: float | None = None  # from the start to the goal
        self._loop_m: float | None = None  # the length of the first plan, if it is a loop

    def next_leg(self, here: Place) -> tuple[str, float] | None:
        if self._straight_m is None:
            self._straight_m = self._goal.distance(here)
        if self._goal.is_reached(here):
            return None
        plan = self._plan_from(here, self._straight_m)
        left_m = plan.length(self._radius_m)
        self.report(part_done(self._driven_m + left_m, left_m), left_m, **self._loop())
        self._plan = plan = self._without_crumbs(here, plan)
        letter, amount = plan.segments[0]
        return MOTION_OF[letter], amount

    def after_leg(self, motion: str, metres: float, radians: float, is_sound: bool) -> None:
        assert self._plan is not None
        side = DIRECTIONS[motion]
        self._plan = self._plan.after(radians * side if side else metres) if is_sound else None

    def figures(self) -> dict[str, float | int | None]:
        return {**super().figures(), **self._loop()}

    def _loop(self) -> dict[str, float]:
        """What the goal needs, said before the rover drives and in the result."""
        if self._loop_m is None or self._straight_m is None:
            return {}
        return {'loop_m': self._loop_m, 'straight_m': round(self._straight_m, 1)}

    def _plan_from(self, here: Place, straight_m: float) -> DrivePlan:
        """The plan from here. Raises DriveFailed if it is not worth driving."""
        turns = [self._estimates[motion] for motion in ('turn_left', 'turn_right')]
        known = [each.speed / each.turn for each in turns if each.is_known]
        if known:  # the largest measured one
            self._radius_m = max(MIN_RADIUS_M, *known)
        radius = self._radius_m
        longest_m = self._max_detour * straight_m - self._driven_m
        plan = plan_drive(here, self._goal, radius, longest_m=longest_m, current=self._plan)
        if self._plan is None and not self._legs and plan.is_loop:
            self._loop_m = round(plan.length(radius), 1)
        refused = too_long(
            straight_m=straight_m,
            driven_m=self._driven_m,
            left_m=plan.length(radius),
            radius=radius,
            max_detour=self._max_detour,
        )
        if refused is not None:
            raise DriveFailed(refused.result())
        return plan

    def _without_crumbs(self, here: Place, plan: DrivePlan) -> DrivePlan:
        """``plan`` without leading segments that are too short to drive and that the goal does not
        need.
        """
        while len(plan.segments) > 1:
            letter, amount = plan.segments[0]
            rest = DrivePlan(plan.segments[1:])
            end = rest.end(here, self._radius_m)
            is_short = self._estimates[MOTION_OF[letter]].seconds_for(amount) < MIN_LEG_S
            if not (is_short and self._goal.is_reached(end, KEPT_PART)):
                break
            plan = rest
        return plan


@dataclass
class SpeedEstimate:
    """One motion: ``speed`` in m/s, ``turn`` in rad/s in the commanded direction, 0.0 straight
    ahead. Its first ``start_s`` seconds pass before the rover moves.
    """

    speed: float  # a guess until the first update
    turn: float
    start_s: float
    seconds: float = 0.0  # weighted time of measurement; 0: a guess

    @property
    def is_known(self) -> bool:
        return self.seconds > 0.0

    def seconds_for(self, amount: float) -> float:
        """Seconds of a leg of ``amount``: metres straight ahead, radians of a turn."""
        return self.start_s + amount / (self.turn or self.speed)

    def update(self, seconds: float, metres: float, radians: float) -> bool:
        """Add a measured leg; ``seconds``: what it was asked to last. Returns False if the rover
        hardly moved, in a leg long enough to tell.

        A leg far below the estimate counts at least as much as all before, since the estimate may
        be the wrong one: a computer that stalls lets a leg last too long. A short first leg
        teaches nothing: the rover starts and stops for most of it.
        """
        seconds = max(seconds - self.start_s, self.start_s)
        if not self.is_known and seconds < MIN_TELLING_S:
            return True
        straight = self.turn == 0.0
        if metres < MIN_DISTANCE_M or (not straight and radians < MIN_ANGLE_RAD):
            return self._is_too_short(seconds)
        moved = not self.is_known or (
            metres >= MIN_MOVED_FRACTION * self.speed * seconds
            and (straight or radians >= MIN_MOVED_FRACTION * self.turn * seconds)
        )
        old_s = OLD_ESTIMATE_WEIGHT * self.seconds
        old_s = old_s if moved else min(old_s, seconds)
        self.speed = (self.speed * old_s + metres) / (old_s + seconds)
        if not straight:
            self.turn = (self.turn * old_s + radians) / (old_s + seconds)
        self.seconds = old_s + seconds
        return moved

    def _is_too_short(self, seconds: float) -> bool:
        """Whether a leg of this time moves a sound rover less than can be told from noise."""
        short = self.speed * seconds < MIN_DISTANCE_M
        turns_little = 0.0 < self.turn * seconds < MIN_ANGLE_RAD
        return self.is_known and (short or turns_little)
