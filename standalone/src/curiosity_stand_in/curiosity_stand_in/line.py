# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A quantity that changes in straight lines over time. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise


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
