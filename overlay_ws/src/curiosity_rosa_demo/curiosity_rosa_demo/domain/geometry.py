# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Headings, poses, and where a rover that drives straight and in arcs gets. Pure.

Metres and radians in the world frame, seconds. Everything that predicts a motion uses ``along``:
the rehearsal, the routine's planner, the paths of navigation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import Any

from pydantic import ConfigDict

# The direction in which each motion turns: +1 left, -1 right, 0 straight ahead.
DIRECTIONS = {'move_forward': 0, 'turn_left': 1, 'turn_right': -1}

XY = tuple[float, float]  # metres in the world frame


def finite_float(value: Any) -> float | None:
    """``value`` as a float when it is a finite number, else None. A bool is not a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:  # an integer too large for a float
        return None


@dataclass(frozen=True)
class Place:
    """Where the rover stands, and its heading."""

    __pydantic_config__ = ConfigDict(extra='forbid', allow_inf_nan=False)

    x: float
    y: float
    yaw_rad: float

    @classmethod
    def known(cls, x: object, y: object, yaw_rad: object) -> Place | None:
        """None unless all three are finite numbers."""
        numbers = [each for each in map(finite_float, (x, y, yaw_rad)) if each is not None]
        return cls(*numbers) if len(numbers) == 3 else None

    def after(self, metres: float, turn: float) -> Place:
        """As ``along``."""
        return Place(*along(self.x, self.y, self.yaw_rad, metres, turn))

    def away_m(self, other: Place) -> float:
        return math.hypot(self.x - other.x, self.y - other.y)


@dataclass(frozen=True)
class MotionSpeeds:
    """``straight``: m/s ahead. ``arc``: m/s along an arc that turns ``turn`` rad/s."""

    straight: float
    arc: float
    turn: float

    @property
    def radius_m(self) -> float:
        return self.arc / self.turn

    def way_of(self, tool: str, arguments: Mapping[str, Any]) -> tuple[float, float] | None:
        """Metres and turn, as of ``along``, of a call that drives one line or arc; None: it drives
        none, or lacks its number.
        """
        seconds, metres, degrees = (
            finite_float(arguments.get(key)) for key in ('duration_s', 'distance_m', 'angle_deg')
        )
        if tool in DIRECTIONS and seconds is not None:
            side, seconds = DIRECTIONS[tool], max(0.0, seconds)
            return (self.arc if side else self.straight) * seconds, side * self.turn * seconds
        if tool == 'drive_distance' and metres is not None:
            return max(0.0, metres), 0.0
        if tool == 'turn_angle' and degrees is not None:
            turn = math.radians(degrees)
            return abs(turn) * self.radius_m, turn
        return None


def along(
    x: float, y: float, yaw: float, metres: float, turn: float
) -> tuple[float, float, float]:
    """x, y and heading after ``metres`` along an arc that turns by ``turn`` radians, left above 0.

    The chord of an arc is its length times sin(turn / 2) / (turn / 2), in the middle's direction.
    """
    half = turn / 2.0
    chord = metres * (math.sin(half) / half if half else 1.0)
    return x + chord * math.cos(yaw + half), y + chord * math.sin(yaw + half), yaw + turn


def yaw_of(quaternion: Any) -> float:
    """As ``yaw``, of a geometry_msgs/Quaternion."""
    return yaw(quaternion.x, quaternion.y, quaternion.z, quaternion.w)


def yaw(x: float, y: float, z: float, w: float) -> float:
    """Heading in radians: rotation about +Z (REP 103), the Z angle of the Z-Y-X Euler angles."""
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def roll_pitch(x: float, y: float, z: float, w: float) -> tuple[float, float]:
    """The X and Y angles of the Z-Y-X Euler angles of a unit quaternion, in radians (REP 103): a
    nose that points up has a negative pitch.
    """
    roll = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    return roll, math.asin(max(-1.0, min(1.0, 2.0 * (w * y - z * x))))
