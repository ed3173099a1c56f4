# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Draws an analysis into its picture: horizon, range, rocks, the texture's patch, and a legend."""

from __future__ import annotations

from curiosity_rosa_demo.domain.ground import Geometry, GroundAnalysis, RockResult
from curiosity_rosa_demo.imaging.ground.view import GroundView, Mask
import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
_FONT = cv2.FONT_HERSHEY_SIMPLEX
_ROCK, _LARGEST, _PATCH, _LINE = (96, 220, 255), (64, 120, 255), (255, 200, 90), (230, 230, 230)
_DARK, _WHITE = (24, 24, 24), (240, 240, 240)
RINGS_M = (5.0, 10.0, 15.0)


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
    for metres in (*(ring for ring in RINGS_M if ring < analysis.range_m), analysis.range_m):
        _ring(out, view, metres, size)
    rows, columns = patch
    corners = (columns.start, rows.start), (columns.stop - 1, rows.stop - 1)
    cv2.rectangle(out, *corners, _PATCH, 1, cv2.LINE_AA)
    _text(out, 'texture', (columns.start + 4, rows.stop - 6), size, _PATCH)
    largest = analysis.largest_rock
    for rock in analysis.nearest_rocks:
        if largest is None or rock.box_px != largest.box_px:
            _box(out, rock, _ROCK, 1)
    if largest is not None:
        _box(out, largest, _LARGEST, 2)
        x, y, wide, _ = largest.box_px
        label = f'{largest.width_m:.1f} m at {largest.distance_m:.1f} m'
        _text(out, label, (x + wide // 2 - round(160 * size), y - 8), size, _LARGEST)
    return _with_legend(out, _lines(analysis), size)


def _ring(out: Pixels, view: GroundView, metres: float, size: float) -> None:
    """The line of equal distance on the ground, dotted."""
    inside = (view.distance <= metres) & ~view.rover
    columns = np.flatnonzero(inside.any(axis=0))
    tops = inside[:, columns].argmax(axis=0)
    for column, row in list(zip(columns, tops, strict=True))[::8]:
        cv2.circle(out, (int(column), int(row)), 1, _LINE, -1)
    if len(columns):
        at = len(columns) - 1 - round(80 * size)
        if at >= 0:
            _text(out, f'{metres:g} m', (int(columns[at]), int(tops[at]) - 4), size, _LINE)


def _box(out: Pixels, rock: RockResult, colour: tuple[int, int, int], thickness: int) -> None:
    x, y, wide, tall = rock.box_px
    cv2.rectangle(
        out, (x - 2, y - 2), (x + wide + 1, y + tall + 1), colour, thickness, cv2.LINE_AA
    )


def _lines(analysis: GroundAnalysis) -> list[str]:
    texture, largest = analysis.texture, analysis.largest_rock
    estimate = 'about ' if analysis.geometry is Geometry.ESTIMATED else ''
    rocks = f'rocks within {analysis.range_m:g} m: {analysis.rocks}'
    lines = [
        f'texture: {texture.name.value.replace("_", " ")} ({100 * texture.confidence:.0f} %)',
        f'grain: {texture.grain_px:.0f} px = {estimate}{texture.grain_cm:.1f} cm',
        f'{rocks}, {analysis.rock_coverage_pct:.1f} % of the ground',
    ]
    if largest is not None:
        side = 'left' if largest.bearing_deg > 0 else 'right'
        lines.append(
            f'largest: {estimate}{largest.distance_m:.1f} m, {abs(largest.bearing_deg):.0f} deg '
            f'{side}'
        )
    lines.append(f'sharpness {analysis.sharpness:.2f}, brightness {analysis.exposure_luma:.0f}')
    return lines


def _with_legend(out: Pixels, lines: list[str], size: float) -> Pixels:
    step, pad = round(44 * size), round(20 * size)
    wide = max(cv2.getTextSize(line, _FONT, size, 1)[0][0] for line in lines) + 2 * pad
    tall = step * len(lines) + pad
    corner = out[:tall, :wide]
    corner[:] = (0.35 * corner + 0.65 * np.array(_DARK)).astype(np.uint8)
    for index, line in enumerate(lines):
        at = (pad, (index + 1) * step)
        cv2.putText(out, line, at, _FONT, size, _WHITE, 1, cv2.LINE_AA)
    return out


def _text(
    out: Pixels, text: str, at: tuple[int, int], size: float, colour: tuple[int, int, int]
) -> None:
    (wide, tall), _ = cv2.getTextSize(text, _FONT, size, 1)
    x = min(max(0, at[0]), max(0, out.shape[1] - wide - 2))
    y = min(max(tall + 2, at[1]), out.shape[0] - 4)
    for line, thickness in ((_DARK, 3), (colour, 1)):
        cv2.putText(out, text, (x, y), _FONT, size, line, thickness, cv2.LINE_AA)
