# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Shared geometry functions. Pure."""

from __future__ import annotations

import math
from typing import Protocol


class Quaternion(Protocol):
    """The interface of geometry_msgs/Quaternion."""

    x: float
    y: float
    z: float
    w: float


def yaw_of(quaternion: Quaternion) -> float:
    """Heading in radians: rotation about +Z (REP 103), the Z angle of the Z-Y-X Euler angles."""
    return yaw(quaternion.x, quaternion.y, quaternion.z, quaternion.w)


def yaw(x: float, y: float, z: float, w: float) -> float:
    """Like ``yaw_of``, from the components."""
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def roll_pitch(x: float, y: float, z: float, w: float) -> tuple[float, float]:
    """The X and Y angles of the Z-Y-X Euler angles of a unit quaternion, in radians (REP 103): a
    nose that points up has a negative pitch.
    """
    roll = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    return roll, math.asin(max(-1.0, min(1.0, 2.0 * (w * y - z * x))))
