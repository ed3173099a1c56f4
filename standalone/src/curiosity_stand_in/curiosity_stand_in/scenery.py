# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What surrounds the rover in truth: light and rocks. Pure.

Metres and radians in the world frame (REP 103).
"""

from __future__ import annotations

from dataclasses import dataclass
import math


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


@dataclass(frozen=True)
class Disc:
    """An obstacle: a round rock."""

    x: float
    y: float
    radius: float
