# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The places where the rover was, and a long line of places as a short one. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
import math

from curiosity_rosa_demo.domain.geometry import XY

MOST_KEPT = 300
TRAIL_STEP_M = 0.05  # metres; a rover that stands still adds nothing to its trail
TRAIL_JUMP_M = 5.0  # metres; nobody drives that far between two looks: the world was reset


class Trail:
    """The last ``size`` places of the rover, metres in the world frame, oldest first."""

    def __init__(self, size: int, earlier: Sequence[XY] = ()) -> None:
        self._points: deque[XY] = deque(earlier, maxlen=size)

    def add(self, x: float, y: float) -> bool:
        """The rover is at (x, y); whether the trail changed."""
        if self._points:
            last_x, last_y = self._points[-1]
            gone = math.hypot(x - last_x, y - last_y)
            if gone <= TRAIL_STEP_M:
                return False
            if gone > TRAIL_JUMP_M:
                self._points.clear()
        self._points.append((x, y))
        return True

    def points(self) -> tuple[XY, ...]:
        return tuple(self._points)


def simplified(places: Sequence[XY], tolerance: float, most: int = MOST_KEPT) -> list[XY]:
    """At most so many of the places, with both ends; the time grows with their number only.

    A place is left out when the line to the next that is kept passes within about ``tolerance``:
    the cone of directions that do is narrowed by each (Zhao and Saalfeld 1997). A line that turns
    back ends a stretch, so that its farthest point stays.
    """
    if len(places) < 3:
        return list(places)
    kept, before = [places[0]], places[0]
    towards, half, far = 0.0, math.pi, 0.0  # the cone from the last kept place
    for place in places[1:]:
        step, angle = _polar(kept[-1], place)
        off = math.remainder(angle - towards, math.tau)
        if far > 0.0 and (abs(off) > half or step < far - tolerance):
            kept.append(before)
            far = 0.0
            step, angle = _polar(before, place)
        if step > tolerance:
            own = math.asin(tolerance / step)
            if far == 0.0:
                towards, half = angle, own
            else:
                low, high = max(-half, off - own), min(half, off + own)
                towards, half = towards + (low + high) / 2, (high - low) / 2
            far = max(far, step)
        before = place
    return [*kept[:: math.ceil(len(kept) / (most - 1))], places[-1]]


def _polar(here: XY, there: XY) -> tuple[float, float]:
    dx, dy = there[0] - here[0], there[1] - here[1]
    return math.hypot(dx, dy), math.atan2(dy, dx)
