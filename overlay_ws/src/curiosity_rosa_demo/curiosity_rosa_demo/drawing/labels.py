# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Labels that do not cover each other. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from curiosity_rosa_demo.drawing.svg import label, label_width, Svg

ASCENT, DESCENT = 11.0, 3.0  # of a line of 12 units, from its baseline


class LabelPlace(NamedTuple):
    """Where a label may stand: as ``label`` takes it. ``anchor`` None: it begins at ``x``."""

    x: float
    y: float
    anchor: str | None = None


class LabelPlacer:
    """Gives each label the first of its places that is free and inside the drawing."""

    def __init__(self, width: float, height: float) -> None:
        self._width, self._height = width, height
        self._taken: list[tuple[float, float, float, float]] = []

    def place(
        self, words: str, places: Iterable[LabelPlace], class_: str | None = None
    ) -> list[Svg]:
        """The label, or none when no place is free."""
        for each in places:
            box = self._box(words, each)
            if self._is_inside(box) and not any(_overlap(box, other) for other in self._taken):
                self._taken.append(box)
                return [label(words, each.x, each.y, each.anchor, class_)]
        return []

    def _box(self, words: str, place: LabelPlace) -> tuple[float, float, float, float]:
        width = label_width(words)
        shift = {'middle': width / 2, 'end': width}.get(place.anchor or '', 0.0)
        left = place.x - shift
        return left, place.y - ASCENT, left + width, place.y + DESCENT

    def _is_inside(self, box: tuple[float, float, float, float]) -> bool:
        left, top, right, bottom = box
        return left >= 0.0 and top >= 0.0 and right <= self._width and bottom <= self._height


def _overlap(
    one: tuple[float, float, float, float], other: tuple[float, float, float, float]
) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
