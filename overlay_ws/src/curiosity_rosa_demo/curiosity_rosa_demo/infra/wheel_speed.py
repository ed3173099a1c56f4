# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How fast the wheels turn, from joint states. Pure.

The demo's wheels have a position interface and no velocity interface, so the broadcaster fills
their velocity with NaN. The speed is then the difference of two positions over that of the stamps.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any

WINDOW_S = 0.05  # between two results: at most twenty a second


class WheelSpeed:
    def __init__(self, joints: Sequence[str]) -> None:
        """``joints``: the names of the wheels' joints; none: nothing is ever measured."""
        self._joints = tuple(joints)
        self._since_s: float | None = None  # stamp of the first message of this window
        self._positions: list[float] = []  # in that message
        self._fastest = 0.0  # of the velocities in this window

    def measure(self, message: Any) -> float | None:
        """The greatest speed of a wheel, rad/s without sign, since the last result.

        NaN: not known. None: the message shows no wheels, or the window is not over.
        """
        positions = dict(zip(message.name, message.position, strict=False))
        if not self._joints or not positions.keys() >= set(self._joints):
            return None
        velocities = dict(zip(message.name, message.velocity, strict=False))
        now_s = message.header.stamp.sec + message.header.stamp.nanosec * 1e-9
        places = [float(positions[joint]) for joint in self._joints]
        speeds = [abs(float(velocities.get(joint, math.nan))) for joint in self._joints]
        elapsed_s = math.nan if self._since_s is None else now_s - self._since_s
        if not elapsed_s > 0.0:  # the first message, or stamps that stand or go back
            self._begin(now_s, places)
            return math.nan
        self._fastest = max([self._fastest, *filter(math.isfinite, speeds)])
        if elapsed_s < WINDOW_S:
            return None
        pairs = zip(places, self._positions, strict=True)
        by_position = [abs(new - old) / elapsed_s for new, old in pairs]
        known = [any(map(math.isfinite, two)) for two in zip(speeds, by_position, strict=True)]
        fastest = max([self._fastest, *filter(math.isfinite, by_position)])
        self._begin(now_s, places)
        return fastest if all(known) else math.nan

    def _begin(self, now_s: float, positions: list[float]) -> None:
        self._since_s, self._positions, self._fastest = now_s, positions, 0.0
