# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Poses and velocities of the body, and how a Twist in wheel units drives and steers it.

Frame: x forward at the start, y left, yaw counter-clockwise; metres and radians.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

from curiosity_rosa_demo.infra.config.limits import Thresholds

STEER_LIMIT_RAD = 0.6
MAX_UNITS = 100.0  # wheel units; the limit of the wheels for any Twist

# linear.x and angular.z of the demo's motions, in wheel units: the thresholds' figures are theirs.
FORWARD, LEFT, RIGHT = (2.0, 0.0), (1.0, 0.4), (1.0, -0.4)


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


@dataclass(frozen=True)
class Course:
    """What a Twist asks of the body: metres per second along an arc of ``curvature``, the radians
    to the left per metre.
    """

    speed: float = 0.0
    curvature: float = 0.0


def course(linear_x: float, angular_z: float, thresholds: Thresholds) -> Course:
    """The course that the demo's move_wheel drives for a Twist in wheel units.

    ``linear.x`` alone sets the speed and ``angular.z`` alone the steering, so the radius does not
    depend on the speed. Steered wheels cannot turn on the spot: without ``linear.x`` the body
    stands. Raises ValueError for a value that is not finite.
    """
    if not (math.isfinite(linear_x) and math.isfinite(angular_z)):
        raise ValueError(f'not finite: linear.x = {linear_x}, angular.z = {angular_z}')
    if linear_x == 0.0:
        return Course()
    units = max(-MAX_UNITS, min(MAX_UNITS, linear_x))
    steering = turn_radius(LEFT[1]) / turn_radius(angular_z)
    share = min(1.0, abs(steering))
    ahead = thresholds.body.forward_mps / FORWARD[0]
    turning = thresholds.body.turn_mps / LEFT[0]
    curvature = steering / thresholds.obstacles.turn_radius_m
    return Course(units * (ahead + (turning - ahead) * share), curvature)


def turn_radius(angular_z: float) -> float:
    """The radius that move_wheel steers for, in metres, positive to the left; infinite: straight
    on. The wheels scrub, so the body follows another one, in proportion.
    """
    if abs(angular_z) < 1e-3:
        return math.inf
    return math.copysign(17.5 - 25.0 * min(STEER_LIMIT_RAD, abs(angular_z)), angular_z)
