# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Draws an analysis into its picture: horizon, range, rocks, the texture's patch, and a legend."""

from __future__ import annotations

from dataclasses import dataclass

from curiosity_rosa_demo.domain.ground import ground_figures, GroundAnalysis, MEASURED
from curiosity_rosa_demo.imaging.ground.view import GroundView, Mask
from curiosity_rosa_demo.imaging.pixels import Pixels
import cv2
import numpy as np

_FONT = cv2.FONT_HERSHEY_SIMPLEX
_ROCK, _LARGEST, _PATCH, _LINE = (96, 220, 255), (64, 120, 255), (255, 200, 90), (230, 230, 230)
_DARK, _WHITE = (24, 24, 24), (240, 240, 240)
RINGS_M = (5.0, 10.0, 15.0)
_RING_LABELS = 12  # places along a ring at which its label is tried, from the right

Box = tuple[int, int, int, int]  # x, y, width, height


def annotated(
    pixels: Pixels,
    view: GroundView,
    rocks: Mask,
    analysis: GroundAnalysis,
    patch: tuple[slice, slice],
) -> Pixels:
    """A copy of the BGR picture with the findings drawn in."""
    out = pixels.copy()
    size = max(0.4, out.shape[1] / 1600)
    out[rocks] = (0.65 * out[rocks] + 0.35 * np.array(_ROCK)).astype(np.uint8)
    lines = [
        f'{name}: {value}' + ('' if sure == MEASURED else f' ({sure})')
        for name, value, sure in ground_figures(analysis)
    ]
    step, pad = round(44 * size), round(20 * size)
    width = max(cv2.getTextSize(line, _FONT, size, 1)[0][0] for line in lines) + 2 * pad
    legend = (0, 0, width, step * len(lines) + pad)
    largest = analysis.largest_rock
    boxes = {_around(rock.box_px): (_ROCK, 1) for rock in analysis.nearest_rocks}
    if largest is not None:
        boxes[_around(largest.box_px)] = _LARGEST, 2
    labels = _Labels(out, size, [legend, *boxes])
    rows, columns = patch
    labels.draw('texture', [(columns.start + 4, rows.stop - 6)], _PATCH)
    for (x, y, wide, tall), (colour, thickness) in boxes.items():
        end = x + wide - 1, y + tall - 1
        cv2.rectangle(out, (x, y), end, colour, thickness, cv2.LINE_AA)
    corners = (columns.start, rows.start), (columns.stop - 1, rows.stop - 1)
    cv2.rectangle(out, *corners, _PATCH, 1, cv2.LINE_AA)
    if largest is not None:
        x, y, wide, tall = largest.box_px
        left, below = x + wide // 2 - round(160 * size), y + tall + round(28 * size)
        label = f'{largest.width_m:.1f} m at {largest.distance_m:.1f} m'
        labels.draw(label, [(left, y - 8), (left, below), (x + wide + 8, y + tall)], _LARGEST)
    for metres in (*(ring for ring in RINGS_M if ring < analysis.range_m), analysis.range_m):
        places = _ring(out, view, metres)
        margin = round(80 * size)
        far = [(x, y - 4) for x, y in places if x <= places[-1][0] - margin][::-1]
        labels.draw(f'{metres:g} m', far[:: max(1, len(far) // _RING_LABELS)], _LINE)
    corner = out[: legend[3], : legend[2]]
    corner[:] = (0.35 * corner + 0.65 * np.array(_DARK)).astype(np.uint8)
    for number, line in enumerate(lines, 1):
        cv2.putText(out, line, (pad, number * step), _FONT, size, _WHITE, 1, cv2.LINE_AA)
    return out


@dataclass
class _Labels:
    """Draws texts where they hide neither each other nor one of ``taken``."""

    out: Pixels
    size: float
    taken: list[Box]

    def draw(self, text: str, places: list[tuple[int, int]], colour: tuple[int, int, int]) -> None:
        """At the first free one of ``places`` (left end of the base line), else at the one that
        hides least.
        """
        (wide, tall), _ = cv2.getTextSize(text, _FONT, self.size, 1)
        height, width = self.out.shape[:2]
        boxes = []
        for x, y in places:
            left = min(max(0, x), max(0, width - wide - 2))
            boxes.append((left, min(max(tall + 2, y), height - 4) - tall - 2, wide, tall + 6))
        if not boxes:
            return
        box = min(boxes, key=lambda box: sum(_shared(box, each) for each in self.taken))
        self.taken.append(box)
        at = box[0], box[1] + tall + 2
        for ink, thickness in ((_DARK, 3), (colour, 1)):
            cv2.putText(self.out, text, at, _FONT, self.size, ink, thickness, cv2.LINE_AA)


def _shared(one: Box, other: Box) -> int:
    """The pixels that both have."""
    wide = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    tall = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    return max(0, wide) * max(0, tall)


def _ring(out: Pixels, view: GroundView, metres: float) -> list[tuple[int, int]]:
    """Draw the line of equal distance on the ground, dotted; its pixels, from the left."""
    inside = (view.distance <= metres) & ~view.rover
    columns = np.flatnonzero(inside.any(axis=0))
    tops = inside[:, columns].argmax(axis=0)
    places = [(int(x), int(y)) for x, y in zip(columns, tops, strict=True)][::8]
    for place in places:
        cv2.circle(out, place, 1, _LINE, -1)
    return places


def _around(box: Box) -> Box:
    x, y, wide, tall = box
    return x - 2, y - 2, wide + 4, tall + 4
