# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Rocks: parts of the picture that differ from the ground around them, large enough in metres."""

from __future__ import annotations

import math

from curiosity_rosa_demo.domain.ground import RockResult
from curiosity_rosa_demo.imaging.ground.view import Floats, GroundView, Mask
import cv2
import numpy as np
import numpy.typing as npt

SMALLEST_M = 0.20  # width; smaller ones belong to the texture
SMALLEST_PX = 5
STRONG, WEAK = 19.0, 15.0  # difference from the ground around: about CIE L* units
LEAST_FILL = 0.35  # of the bounding box
WIDEST_TO_TALL = 3.0  # a flatter patch is a shadow or dust
BRIGHTER = 0.2  # weight of a brighter pixel: dust is bright, a rock and its shadow are dark
HUE_WEIGHT = 330.0  # L* units for each unit of the blue share, which light and shade leave alone
HUE_OF_ROCK = 6.0  # of these units; less is the rock's shadow
SHADOW_FROM_PX = 24  # a narrower rock is too small to part from its shadow
ROWS_AROUND = 9  # the ground's own look is the median of a row, smoothed over so many rows


def find_rocks(
    pixels: npt.NDArray[np.uint8], view: GroundView, *, farthest: float
) -> tuple[list[RockResult], Mask]:
    """The rocks in a BGR picture within ``farthest``, the nearest first, and their pixels. Places
    are those of a rock's foot; the box is x, y, width, height.
    """
    hue, differs = _differences(pixels, view)
    weak = ((differs > WEAK) & ~view.horizon & ~view.rover).astype(np.uint8)
    closed = cv2.morphologyEx(weak, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(closed, connectivity=4)
    rocks: list[RockResult] = []
    found = np.zeros(differs.shape, np.bool_)
    for label in range(1, count):
        x, y, wide, tall, area = (int(value) for value in stats[label])
        if min(wide, tall) < SMALLEST_PX or area < LEAST_FILL * wide * tall:
            continue
        box = (slice(y, y + tall), slice(x, x + wide))
        part, corner = labels[box] == label, (0, 0)
        if wide >= SHADOW_FROM_PX:
            part, corner = _without_shadow(part, hue[box])
        rock = _rock(differs, part, (x + corner[0], y + corner[1]), view)
        if rock is None or rock.distance_m > farthest:
            continue
        rocks.append(rock)
        left, top, wide, tall = rock.box_px
        found[top : top + tall, left : left + wide] |= part
    return sorted(rocks, key=lambda rock: rock.distance_m), found


def _differences(pixels: npt.NDArray[np.uint8], view: GroundView) -> tuple[Floats, Floats]:
    """How far each pixel lies from the ground around it: in hue, and in hue and lightness."""
    lightness = cv2.cvtColor(pixels, cv2.COLOR_BGR2LAB)[..., 0].astype(np.float32) / 2.55
    lightness = np.asarray(cv2.GaussianBlur(lightness, (3, 3), 0), np.float32)
    summed = cv2.blur(pixels.astype(np.float32), (5, 5)) + 1.0
    share = summed[..., 0] / summed.sum(axis=2)
    hue = HUE_WEIGHT * np.abs(share - _around(share, view))
    lighter = lightness - _around(lightness, view)
    lighter = np.where(lighter > 0.0, BRIGHTER * lighter, lighter)
    return hue.astype(np.float32), np.hypot(hue, lighter).astype(np.float32)


def _around(values: Floats, view: GroundView) -> Floats:
    """The median of the ground in each row: light, haze and scale change with the row."""
    ground = np.where(view.mask, values, np.nan)
    rows = np.flatnonzero(view.mask.any(axis=1))
    medians = np.nanmedian(ground[rows], axis=1)
    every = np.interp(np.arange(len(values)), rows, medians).astype(np.float32)
    return np.asarray(cv2.blur(every[:, None], (1, ROWS_AROUND)), np.float32)


def _without_shadow(part: Mask, hue: Floats) -> tuple[Mask, tuple[int, int]]:
    """The rock without its shadow, which has the hue of the ground, and its corner in the box."""
    body = (part & (hue > HUE_OF_ROCK)).astype(np.uint8)
    kernel = np.ones((3, 3), np.uint8)
    body = np.asarray(cv2.morphologyEx(body, cv2.MORPH_OPEN, kernel), np.uint8)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(body, connectivity=8)
    if count < 2:
        return part, (0, 0)
    largest = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
    x, y, wide, tall, area = (int(value) for value in stats[largest])
    if area < 0.4 * np.count_nonzero(part) or min(wide, tall) < SMALLEST_PX:
        return part, (0, 0)
    return labels[y : y + tall, x : x + wide] == largest, (x, y)


def _rock(
    differs: Floats, part: Mask, corner: tuple[int, int], view: GroundView
) -> RockResult | None:
    (x, y), (tall, wide) = corner, part.shape
    foot_y, foot_x = y + tall - 1, x + wide // 2
    scale = float(view.metres_per_pixel[foot_y, foot_x])
    if not np.isfinite(scale) or wide * scale < SMALLEST_M or wide > WIDEST_TO_TALL * tall:
        return None
    strength = float(np.percentile(differs[y : y + tall, x : x + wide][part], 75))
    if strength < STRONG:
        return None
    ahead, left = float(view.ahead[foot_y, foot_x]), float(view.left[foot_y, foot_x])
    return RockResult(
        box_px=(x, y, wide, tall),
        distance_m=round(math.hypot(ahead, left), 2),
        bearing_deg=round(math.degrees(math.atan2(left, ahead)), 1),
        width_m=round(wide * scale, 2),
        height_m=round(tall * scale, 2),
        confidence=round(min(0.95, 0.4 + (strength - STRONG) / 40.0), 2),
    )
