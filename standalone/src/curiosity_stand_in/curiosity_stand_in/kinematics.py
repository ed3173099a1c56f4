# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Kinematics of the body: from a Twist in wheel units to a pose in the plane.

Frame: x forward at the start, y left, yaw counter-clockwise; metres and radians.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import math

MAX_UNITS = 100.0  # wheel units; the limit of the wheels for any Twist


@dataclass(frozen=True)
class Pose:
    """The pose of the body: metres, and radians in [-pi, pi] (REP 103: a nose that points up has a
    negative pitch). ``z`` is the height of the base frame above the ground under it.
    """

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0
    z: float = 0.9
    roll: float = 0.0
    pitch: float = 0.0


@dataclass(frozen=True)
class Velocity:
    """The velocity of the body in its own frame: metres and radians per second."""

    forward: float = 0.0
    turn: float = 0.0


STILL = Velocity()


def body_velocity(linear_x: float, angular_z: float, *, metres_per_unit: float) -> Velocity:
    """The velocity of the body for a Twist in wheel units.

    Both values are scaled alike, so the arc keeps the requested radius ``linear_x / angular_z``.
    Steered wheels cannot turn on the spot: without ``linear_x`` the body stands still. Raises
    ValueError for a value that is not finite.
    """
    if not (math.isfinite(linear_x) and math.isfinite(angular_z)):
        raise ValueError(f'not finite: linear.x = {linear_x}, angular.z = {angular_z}')
    if linear_x == 0.0:
        return STILL
    scale = metres_per_unit * min(1.0, MAX_UNITS / max(abs(linear_x), abs(angular_z)))
    return Velocity(linear_x * scale, angular_z * scale)


def advance(pose: Pose, velocity: Velocity, seconds: float) -> Pose:
    """The pose after ``seconds`` at a constant velocity; exact for a step of any length.

    The body moves on a circle; the chord of an arc of length s and angle a is s * sin(a/2) / (a/2)
    long and points a/2 away from the old heading (unicycle model).
    """
    half = velocity.turn * seconds / 2
    chord = velocity.forward * seconds * (math.sin(half) / half if abs(half) > 1e-9 else 1.0)
    return replace(
        pose,
        x=pose.x + chord * math.cos(pose.yaw + half),
        y=pose.y + chord * math.sin(pose.yaw + half),
        yaw=wrap(pose.yaw + 2 * half),
    )


def wrap(angle: float) -> float:
    """The same direction in [-pi, pi]."""
    return math.remainder(angle, math.tau)
