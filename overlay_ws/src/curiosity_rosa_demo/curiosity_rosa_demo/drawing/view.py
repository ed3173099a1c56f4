# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Which part of the world the map shows, and where on it a place is. Pure; metres, world frame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
import math

from curiosity_rosa_demo.drawing.plots import round_step

WIDTH, HEIGHT, MARGIN = 480.0, 400.0, 26.0  # of the drawing; the margin has room for numbers
CLEARANCE_M = 2.0  # around everything; the rover's corners are 1.8 m from its middle
PADDING_M = 3.0
MAX_PARTS = 12  # into which the longer side is divided: the view grows by whole ones
MAX_WIDTH_RATIO = 2.5  # a kept view may be so many times longer than a fresh one


@dataclass(frozen=True)
class View:
    x_min: float
    x_max: float
    y_min: float
    y_max: float

    def contains(self, other: View) -> bool:
        return (
            self.x_min <= other.x_min
            and self.x_max >= other.x_max
            and self.y_min <= other.y_min
            and self.y_max >= other.y_max
        )

    def grown(self, by: float) -> View:
        return View(self.x_min - by, self.x_max + by, self.y_min - by, self.y_max + by)

    @property
    def longest(self) -> float:
        return max(self.x_max - self.x_min, self.y_max - self.y_min)


def bounds_of(places: Iterable[tuple[float, float]]) -> View:
    """The bounds of the places, of which there must be one."""
    xs, ys = zip(*places, strict=True)
    return View(min(xs), max(xs), min(ys), max(ys))


def fit_view(bounds: View, last: View | None = None) -> View:
    """A view with ``bounds`` inside; ``last`` as long as that will do, so that it seldom jumps."""
    step = round_step(bounds.longest + 2 * PADDING_M, MAX_PARTS)
    padded = bounds.grown(max(PADDING_M, step))
    fresh = View(
        math.floor(padded.x_min / step) * step,
        math.ceil(padded.x_max / step) * step,
        math.floor(padded.y_min / step) * step,
        math.ceil(padded.y_max / step) * step,
    )
    if last is not None and last.contains(bounds.grown(CLEARANCE_M)):
        return last if last.longest <= MAX_WIDTH_RATIO * fresh.longest else fresh
    return fresh


class Frame:
    """From metres to a drawing of ``width`` by ``height``, the same scale both ways, in the
    middle.
    """

    def __init__(self, view: View, width: float = WIDTH, height: float = HEIGHT) -> None:
        self.width, self.height = width, height
        wide, high = view.x_max - view.x_min, view.y_max - view.y_min
        self.scale = min((width - 2 * MARGIN) / wide, (height - 2 * MARGIN) / high)
        self._x = width / 2 - self.scale * (view.x_min + wide / 2)
        self._y = height / 2 + self.scale * (view.y_min + high / 2)
        (left, top), (right, bottom) = self.metres(0.0, 0.0), self.metres(width, height)
        self.shown = View(left, right, bottom, top)

    @classmethod
    def centred(
        cls, centre: tuple[float, float], scale: float, width: float, height: float
    ) -> Frame:
        """``centre`` in metres, ``scale`` in units a metre, above 0."""
        (x, y), half = centre, (max(1.0, width / 2 - MARGIN), max(1.0, height / 2 - MARGIN))
        across, down = half[0] / scale, half[1] / scale
        return cls(View(x - across, x + across, y - down, y + down), width, height)

    def at(self, x: float, y: float) -> tuple[float, float]:
        return self._x + self.scale * x, self._y - self.scale * y

    def metres(self, across: float, down: float) -> tuple[float, float]:
        return (across - self._x) / self.scale, (self._y - down) / self.scale
