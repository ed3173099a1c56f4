# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The beliefs about the world, folded over the steps of a turn in order.

Pure. World frame, metres, radians (yaw about +Z, REP 103), seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
import math

from curiosity_rosa_demo.domain.geometry import DIRECTIONS, finite_float, MotionSpeeds, Place, XY
from curiosity_rosa_demo.domain.operation import Exchange
from curiosity_rosa_demo.domain.refusal import POSE_UNKNOWN, RefusalCode
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.obstacles import RoverShape

LEGS = ('drive_distance', 'turn_angle', 'navigate_to_pose')  # the skills that drive in legs
SAME_M = 0.5  # two obstacles that are nearer to each other are one
SHORTER = 0.6  # the part of a motion to try that the fence has refused
SCORE_TOLERANCE = 0.02  # scores closer than this count as equal


@dataclass(frozen=True)
class RoverFigures:
    """Metres from the base of a rover that drives, with its appendages stowed: ``front_m`` and
    ``rear_m`` to the ends of the body, ``half_m`` to each side of its corridor. ``stop_m``: the
    adapter stops a motion with less free way.
    """

    speeds: MotionSpeeds
    front_m: float
    rear_m: float
    half_m: float
    stop_m: float

    @classmethod
    def of(cls, config: Config) -> RoverFigures:
        thresholds = config.thresholds
        shape = RoverShape.of(thresholds, stowed=config.robot.appendages)
        return cls(
            speeds=thresholds.speeds,
            front_m=shape.front_m,
            rear_m=thresholds.obstacles.rear_m,
            half_m=shape.half_width_m + shape.margin_m,
            stop_m=thresholds.telemetry.obstacle_stop_m,
        )


class Mast(Enum):
    UNASKED = 'unasked'  # no step of this turn involved the mast
    UNKNOWN = 'unknown'  # queried or moved without a clear result: counts as open
    OPEN = 'open'
    CLOSED = 'closed'
    NONE = 'none'  # the robot has none

    @property
    def is_stowed(self) -> bool:
        return self in (Mast.CLOSED, Mast.NONE)


@dataclass(frozen=True)
class CaptureBelief:
    """A successful capture. ``motions_before`` is the index of the spot where it was taken."""

    score: float
    is_good: bool
    motions_before: int
    taken_at: Place | None = None


@dataclass(frozen=True)
class MotionBelief:
    """A successful motion, with the poses before and after it (None: unknown)."""

    tool: str
    duration_s: float
    start: Place | None
    end: Place | None
    distance_m: float | None
    captures_before: int


@dataclass
class Beliefs:
    """The believed state of the world. Pass each step to ``add_step``, in order."""

    rover: RoverFigures
    mast: Mast = Mast.UNASKED
    must_stop: bool = False  # a motion failed, or the rover moves: stop first
    moving_unasked: bool = False  # the rover moves without a motion of this turn
    in_doubt: bool = False  # a tool failed: get the status before a retry
    pose: Place | None = None
    spot: int = 0
    asked_here: bool = False
    new_view: bool = True  # no capture since the start, or since the mast turned
    captures: list[CaptureBelief] = field(default_factory=list)
    moves: list[MotionBelief] = field(default_factory=list)
    legs: int = 0  # of longer drives, and motions that ended early: they are no moves
    legs_m: float = 0.0
    poses: dict[int, Place] = field(default_factory=dict)
    obstacles: list[XY] = field(default_factory=list)
    longest_s: dict[str, float] = field(default_factory=dict)  # of a motion that was refused here
    free_m: dict[str, float] = field(
        default_factory=dict
    )  # of a motion with an obstacle in its way
    stow_first: str = ''  # the skill that stows an appendage for which a motion was refused
    sticks_out: str = ''  # the skill that stows an appendage which is out, as the status has it

    @property
    def samples(self) -> list[tuple[Place, float]]:
        """The score of each capture whose pose is known, with that pose."""
        return [
            (self.poses[look.motions_before], look.score)
            for look in self.captures
            if look.motions_before in self.poses
        ]

    @property
    def moves_since_capture(self) -> list[MotionBelief]:
        return [move for move in self.moves if move.captures_before == len(self.captures)]

    def driven_m(self) -> float:
        """The sum of the known distances in metres."""
        return self.legs_m + sum(move.distance_m or 0.0 for move in self.moves)

    def add_step(self, step: Exchange) -> None:
        if step.refused and step.code == RefusalCode.MOVE_IN_PROGRESS:
            self.must_stop = self.moving_unasked = True
        stow = str(step.data.get('stow') or '')
        if step.tool == 'get_status':
            self.sticks_out = stow
        elif stow:
            self.stow_first = stow
        elif step.ok and step.tool == self.stow_first:
            self.stow_first = ''
        if step.tool == self.sticks_out:
            self.sticks_out = ''
        if not (step.ok or step.refused) and step.tool not in ('get_status', 'move_stop'):
            self.in_doubt = True
        if step.tool in MOTIONS:
            self._add_motion(step)
        elif step.tool.startswith('mast_'):
            self._add_mast_action(step)
        elif step.tool == 'capture_and_score':
            self._add_capture(step)
        elif step.tool == 'get_status':
            self._add_status(step)
        elif step.tool in LEGS and step.data:  # a refusal has no data
            data = step.data
            self._set_new_place(Place.known(data.get('x'), data.get('y'), data.get('yaw_rad')))
            self.new_view = True
            self.legs += int(finite_float(data.get('legs')) or 0)
            self.legs_m += finite_float(data.get('distance_m')) or 0.0
        elif step.tool == 'move_stop' and step.ok:
            self.must_stop = False
            if self.moving_unasked:  # the captures and the pose belong to another spot
                self.moving_unasked = False
                self._set_new_place(None)
                self.new_view = self.mast is not Mast.CLOSED

    def _add_motion(self, step: Exchange) -> None:
        data, code = step.data, step.code
        if step.refused:
            if code == RefusalCode.OBSTACLE:
                self._add_obstacle(step)
            if code == RefusalCode.GEOFENCE:
                self._add_fence(step)
            if code == RefusalCode.MAST_NOT_CLOSED:
                self._set_mast(Mast.UNKNOWN)
            return
        # A failed motion may still have moved the rover.
        start = self.pose
        self._set_new_place(Place.known(data.get('x'), data.get('y'), data.get('yaw_rad')))
        self._add_free_ways(data.get('free_m'))
        if not step.ok:
            self.must_stop = True
            self.legs += 'duration_s' in data  # it has begun
            self.legs_m += finite_float(data.get('distance_m')) or 0.0
            if code == RefusalCode.OBSTACLE:
                self._add_obstacle(step)
            return
        self._set_mast(Mast.CLOSED)  # otherwise the adapter refuses the motion
        duration = (
            finite_float(data.get('duration_s'))
            or finite_float(step.arguments.get('duration_s'))
            or 1.0
        )
        distance = finite_float(data.get('distance_m'))
        if distance is None and start and self.pose:
            distance = math.hypot(self.pose.x - start.x, self.pose.y - start.y)
        self.moves.append(
            MotionBelief(
                step.tool, duration, start, self.pose, distance, captures_before=len(self.captures)
            )
        )

    def _add_fence(self, step: Exchange) -> None:
        refusal = step.data.get('refusal')
        why = refusal.get('why') if isinstance(refusal, dict) else ''
        if why == POSE_UNKNOWN:  # by now; the pose was known before
            self.pose, self.asked_here = None, False
            return
        asked_s = finite_float(step.arguments.get('duration_s')) or 0.0
        self.longest_s[step.tool] = SHORTER * asked_s

    def _add_obstacle(self, step: Exchange) -> None:
        """Where the scan has shown an obstacle in the way, as far as it is known."""
        self.longest_s[step.tool] = 0.0
        metres = finite_float(step.data.get('obstacle_m'))
        if metres is not None:
            self._add_free_way(step.tool, metres)

    def _add_free_ways(self, told: object) -> None:
        """``told``: the free metres of each motion from here, if the scan shows them."""
        if not isinstance(told, Mapping):
            return
        for tool in DIRECTIONS:
            free_m = finite_float(told.get(tool))
            if free_m is not None:
                self.free_m[tool] = free_m
                self._add_free_way(tool, free_m)

    def _add_free_way(self, tool: str, free_m: float) -> None:
        """The obstacle lies before the rover's front after so many metres of the motion."""
        if self.pose is None:
            return
        turn = DIRECTIONS[tool] * free_m / self.rover.speeds.radius_m
        front = self.pose.after(free_m, turn).after(self.rover.front_m, 0.0)
        there = (front.x, front.y)
        if all(math.dist(there, each) > SAME_M for each in self.obstacles):
            self.obstacles.append(there)

    def _add_mast_action(self, step: Exchange) -> None:
        if not step.ok:
            self._set_mast(Mast.UNKNOWN)
            return
        self._set_mast(Mast.CLOSED if step.tool == 'mast_close' else Mast.OPEN)
        if step.tool == 'mast_rotate':
            self.new_view = True

    def _add_capture(self, step: Exchange) -> None:
        data = step.data
        if step.ok:
            if self.mast is not Mast.CLOSED:
                self._set_mast(Mast.OPEN)
            self.new_view = False
            score = finite_float(data.get('score')) or 0.0
            taken_at = Place.known(data.get('x'), data.get('y'), data.get('yaw_rad'))
            is_good = data.get('is_good') is True
            self.captures.append(CaptureBelief(score, is_good, self.spot, taken_at))
        elif step.code == RefusalCode.MAST_IS_CLOSED:
            self._set_mast(Mast.CLOSED)

    def _add_status(self, step: Exchange) -> None:
        self.in_doubt = False
        if not step.ok:
            return
        self.asked_here = True
        data = step.data
        known = {True: Mast.OPEN, False: Mast.CLOSED}
        is_open = data.get('mast_is_open')
        self._set_mast(known[is_open] if isinstance(is_open, bool) else Mast.UNKNOWN)
        if data.get('moving') is True:
            self.must_stop = self.moving_unasked = True
        self._set_pose(Place.known(data.get('rover_x'), data.get('rover_y'), data.get('yaw_rad')))
        self._add_free_ways(data.get('free_m'))

    def _set_mast(self, mast: Mast) -> None:
        if self.mast is not Mast.NONE:
            self.mast = mast

    def _set_new_place(self, pose: Place | None) -> None:
        """Start a new spot: the rover has moved. None: its pose is unknown."""
        self.spot += 1
        self.asked_here = False
        self.longest_s.clear()
        self.free_m.clear()
        self._set_pose(pose)

    def _set_pose(self, pose: Place | None) -> None:
        self.pose = pose
        if pose:
            self.poses[self.spot] = pose
