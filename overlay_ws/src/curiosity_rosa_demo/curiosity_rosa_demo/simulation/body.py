# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The truth about a rover and its surroundings: body, light and rocks. Pure.

Metres, radians and seconds in the world frame (REP 103).
"""

from __future__ import annotations

from dataclasses import dataclass
import math

from curiosity_rosa_demo.domain.dead_reckoning import along


@dataclass(frozen=True)
class Light:
    """Brightness along ``heading_rad``: 0 up to ``dark_m``, 1 from ``bright_m`` on, both measured
    from the origin along the heading. ``bright_m`` infinite: there is no light.
    """

    bright_m: float = 5.0
    dark_m: float = 0.0
    heading_rad: float = 0.0

    def along(self, x: float, y: float) -> float:
        return x * math.cos(self.heading_rad) + y * math.sin(self.heading_rad)

    def score(self, x: float, y: float) -> float:
        if not math.isfinite(self.bright_m):
            return 0.0
        score = (self.along(x, y) - self.dark_m) / (self.bright_m - self.dark_m)
        return min(1.0, max(0.0, score))


CLOSED_P, CLOSED_TURN = 1.57, -1.57  # the joints of the demo's stowed mast
RAISED_P = 0.0


@dataclass(frozen=True)
class Disc:
    """An obstacle: a round rock."""

    x: float
    y: float
    radius: float


@dataclass
class Body:
    """The truth about the rover."""

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0
    joints: tuple[float, float] = (RAISED_P, 0.0)  # mast_p_joint, mast_02_joint
    target: tuple[float, float] = (RAISED_P, 0.0)
    mast_left_s: float = 0.0  # until the joints reach their target
    drive: str = ''  # the motion service that repeats its Twist
    speed: float = 0.0
    turn_rate: float = 0.0

    def mast_is_closed(self, tolerance_rad: float) -> bool:
        closed = zip(self.joints, (CLOSED_P, CLOSED_TURN), strict=True)
        return all(abs(joint - target) <= tolerance_rad for joint, target in closed)

    def integrate(self, seconds: float) -> None:
        metres, turn = self.speed * seconds, self.turn_rate * seconds
        self.x, self.y, yaw = along(self.x, self.y, self.yaw, metres, turn)
        self.yaw = math.remainder(yaw, math.tau)
        if self.mast_left_s > 0.0:
            share = min(1.0, seconds / self.mast_left_s)
            p, turn = (a + (b - a) * share for a, b in zip(self.joints, self.target, strict=True))
            self.joints, self.mast_left_s = (p, turn), self.mast_left_s - seconds
            if self.mast_left_s <= 1e-9:
                self.joints, self.mast_left_s = self.target, 0.0
