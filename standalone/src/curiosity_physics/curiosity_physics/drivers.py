# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""What the demo's move_wheel makes of a Twist: wheel speeds, steering angles, suspension."""

from __future__ import annotations

from collections.abc import Mapping
import math

from curiosity_physics.controllers import Controllers, STANDING, STEER
from curiosity_stand_in.body import WHEELS
from curiosity_stand_in.kinematics import STEER_LIMIT_RAD, turn_radius
from curiosity_stand_in.trajectory import Angles

PERIOD_S = 0.1
STEER_S = 1.0
LENGTH_M, WIDTH_M = 2.08157, 1.53774  # of the chassis, as move_wheel has them


class WheelDriver:
    """``tick`` it every PERIOD_S of the simulation. It repeats its Twist without a time-out."""

    def __init__(self, controllers: Controllers) -> None:
        self._controllers = controllers
        self._units = self._turn = self._steered = 0.0
        self._should_steer = False

    def drive(self, linear_x: float, angular_z: float) -> None:
        """move_wheel compares the Twist before this one, so it steers from the second on."""
        if abs(self._steered - self._turn) > 0.01 and not self._should_steer:
            self._steered, self._should_steer = self._turn, True
        self._units, self._turn = linear_x, angular_z

    def tick(self, now: float, actual: Mapping[str, float]) -> None:
        speeds = [self._units * factor for factor in WHEELS.values()]
        self._controllers.wheels.command(speeds)
        self._controllers.suspension.command(STANDING)
        if self._should_steer:
            angles = steering(turn_radius(self._turn))
            self._controllers.steer.follow(STEER, [(STEER_S, angles)], now=now, actual=actual)
            self._should_steer = False


def steering(radius: float) -> Angles:
    """The angles of the steered wheels in the order of STEER (Ackermann)."""
    inner, outer = (
        round(min(STEER_LIMIT_RAD, math.atan(LENGTH_M / (abs(radius) + side))), 2)
        for side in (-WIDTH_M / 2, WIDTH_M / 2)
    )
    if radius > 0.0:
        return inner, -inner, outer, -outer
    return -outer, outer, -inner, inner
