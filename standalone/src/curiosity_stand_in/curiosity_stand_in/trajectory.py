# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What changes in straight lines: joints, each behind by its servo's lag, and a quantity. Pure.

The demo's position interface sets the velocity of a joint to 10/s times its error, so a joint
follows 0.1 s behind its trajectory and ends exponentially; it never overshoots.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
import math

Angles = tuple[float, ...]  # radians
SERVO_LAG_S = 0.1
ARRIVED_RAD = 1e-9


@dataclass(frozen=True)
class Waypoint:
    """Target joints at a time in seconds from the start of the trajectory."""

    seconds: float
    joints: Angles


@dataclass(frozen=True)
class Trajectory:
    """From ``start`` through ``waypoints``, then hold the last. ``lag_s`` 0: an ideal servo."""

    start: Angles
    waypoints: tuple[Waypoint, ...] = ()
    lag_s: float = SERVO_LAG_S

    def __post_init__(self) -> None:
        times = [0.0, *(point.seconds for point in self.waypoints)]
        if any(later <= earlier for earlier, later in pairwise(times)):
            raise ValueError(f'waypoint times must rise from 0: {times}')

    @property
    def duration_s(self) -> float:
        """The time of the last waypoint. The joints arrive some lags later."""
        return self.waypoints[-1].seconds if self.waypoints else 0.0

    def at(self, seconds: float) -> Angles:
        """The joints ``seconds`` after the start."""
        return tuple(angle for angle, _ in self.followed(seconds))

    def near_from(self, target: Angles, within: float) -> float | None:
        """Seconds from the start until the first joints, as many as ``target`` has, are within
        so many radians of it to the end; None: they do not end there.
        """

        def off(angles: Angles) -> float:
            return max(abs(a - b) for a, b in zip(angles, target, strict=False))

        poses = (self.start, *(point.joints for point in self.waypoints))
        if off(poses[-1]) > within:
            return None
        if all(off(pose) <= within for pose in poses):
            return 0.0
        arrived = self.at(self.duration_s)
        left = [
            self.lag_s * math.log((abs(a - end)) / room)
            for a, end, goal in zip(arrived, poses[-1], target, strict=False)
            if (room := within - abs(end - goal)) > 0.0 and abs(a - end) > room
        ]
        return self.duration_s + max(left, default=0.0)

    def followed(self, seconds: float) -> Iterator[tuple[float, float]]:
        """Each joint's angle and velocity in rad/s: exact for velocity = error / lag."""
        for joint, angle in enumerate(self.start):
            began, target, rate = 0.0, angle, 0.0
            for point in self.waypoints:
                rate = (point.joints[joint] - target) / (point.seconds - began)
                if seconds < point.seconds:
                    break
                angle, _ = self._step(angle, target, rate, point.seconds - began)
                began, target, rate = point.seconds, point.joints[joint], 0.0
            yield self._step(angle, target, rate, max(0.0, seconds - began))

    def _step(
        self, angle: float, target: float, rate: float, seconds: float
    ) -> tuple[float, float]:
        """Angle and velocity after ``seconds`` behind a target that moves at ``rate``."""
        target += rate * seconds
        if self.lag_s == 0.0:
            return target, rate
        behind = rate * self.lag_s  # in the steady state
        first = target - rate * seconds - angle
        error = behind + (first - behind) * math.exp(-seconds / self.lag_s)
        if rate == 0.0 and abs(error) < ARRIVED_RAD:
            return target, 0.0
        return target - error, error / self.lag_s


@dataclass(frozen=True)
class Line:
    """Straight lines through ``knots``, pairs of time and value; constant before and after."""

    knots: tuple[tuple[float, float], ...]

    @property
    def end(self) -> float:
        """The time from which the value stays."""
        return self.knots[-1][0]

    def at(self, seconds: float) -> float:
        if seconds >= self.end:
            return self.knots[-1][1]
        for (t0, v0), (t1, v1) in pairwise(self.knots):
            if seconds < t1:
                return v0 + (v1 - v0) * max(0.0, seconds - t0) / (t1 - t0)
        raise AssertionError('the last knot is the end')

    def areas(self, start: float, end: float) -> tuple[float, float]:
        """The integrals of the value and of its absolute value from ``start`` to ``end``."""
        net = gross = 0.0
        times = [start, *(t for t, _ in self.knots if start < t < end), end]
        for t0, t1 in pairwise(times):
            v0, v1, seconds = self.at(t0), self.at(t1), t1 - t0
            area = (v0 + v1) / 2 * seconds
            net += area
            if v0 * v1 < 0.0:  # two triangles, on both sides of zero
                gross += (v0**2 + v1**2) / (2 * abs(v1 - v0)) * seconds
            else:
                gross += abs(area)
        return net, gross
