# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Analyzes the ground in one picture. Pure: equal pictures and geometry, equal results but for the
duration.
"""

from __future__ import annotations

import math
import time

from curiosity_rosa_demo.domain.ground import (
    Geometry,
    GROUND_UNKNOWN,
    GroundAnalysis,
    RockResult,
)
from curiosity_rosa_demo.imaging.ground.annotate import annotated
from curiosity_rosa_demo.imaging.ground.rocks import find_rocks
from curiosity_rosa_demo.imaging.ground.texture import texture_of
from curiosity_rosa_demo.imaging.ground.view import ground_view, GroundView, Mask, Scene
from curiosity_rosa_demo.imaging.image_header import ImageError
from curiosity_rosa_demo.imaging.pixels import Pixels
import cv2
import numpy as np

DARKEST_LUMA = 28.0  # 0 to 255; a median below shows no texture in 8 bits
BRIGHTEST_LUMA = 243.0
LEAST_SHARPNESS = 0.45
FLAT_DEVIATION = 1.0  # grey levels; ground without any texture is not called blurred but flat
DARK_CLIP, BRIGHT_CLIP = 5, 250
LARGEST_SIDE = 1000  # pixels; a larger picture is analyzed at this size
LEAST_SHARE = 0.04  # of the picture, that must show ground within reach
LEAST_PATCH = 64  # pixels, both ways
LARGEST_PATCH = 400
SCALE_RATIO = 1.5  # of the first and last row of the patch
ESTIMATE_TRUST = 0.5  # factor of confidences that rest on configured geometry
KEPT_ROCKS = 40


class GroundRefused(ImageError):
    """The picture says nothing reliable about the ground. The message is the reason."""

    what = GROUND_UNKNOWN


def analyze(pixels: Pixels, scene: Scene) -> tuple[GroundAnalysis, Pixels]:
    """The analysis of a BGR or grey picture, and the picture with its findings drawn in.

    Raises GroundRefused.
    """
    began = time.perf_counter()
    if pixels.ndim == 2:
        pixels = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_GRAY2BGR), np.uint8)
    if (factor := LARGEST_SIDE / max(pixels.shape[:2])) < 1.0:
        small = cv2.resize(pixels, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        pixels = np.asarray(small, np.uint8)
    height, width = pixels.shape[:2]
    view = ground_view(scene, width, height)
    if np.count_nonzero(view.mask) < LEAST_SHARE * view.mask.size:
        raise GroundRefused(
            f'less than {100 * LEAST_SHARE:g} % of the picture shows ground within '
            f'{scene.farthest:g} m'
        )
    luma = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY), np.uint8)
    shown = luma[view.mask]
    middle = float(np.median(shown))
    clipped = float(np.count_nonzero((shown < DARK_CLIP) | (shown > BRIGHT_CLIP)) / shown.size)
    if middle < DARKEST_LUMA:
        raise GroundRefused(f'too dark, median brightness {middle:.0f} of 255')
    if middle > BRIGHTEST_LUMA:
        raise GroundRefused(f'overexposed, median brightness {middle:.0f} of 255')
    rocks, rock_mask = find_rocks(pixels, view, farthest=scene.farthest)
    area = _patch(view, rock_mask)
    patch = luma[area]
    texture, deviation = texture_of(patch, float(np.median(view.metres_per_pixel[area])))
    sharp = _sharpness(patch)
    if deviation > FLAT_DEVIATION and sharp < LEAST_SHARPNESS:
        raise GroundRefused(f'blurred, sharpness {sharp:.2f}, {LEAST_SHARPNESS:g} is needed')
    trust = ESTIMATE_TRUST if scene.note else 1.0
    told = [rock.model_copy(update={'confidence': round(rock.confidence * trust, 2)})
            for rock in rocks]  # fmt: skip
    covered = np.count_nonzero(rock_mask & view.mask) / shown.size
    analysis = GroundAnalysis(
        texture=texture,
        rocks=len(rocks),
        rock_coverage_pct=round(100.0 * covered, 2),
        largest_rock=max(told, key=lambda rock: rock.width_m * rock.height_m, default=None),
        nearest_rocks=tuple(told[:KEPT_ROCKS]),
        rocks_confidence=round(trust * _rocks_confidence(rocks, sharp, clipped), 2),
        range_m=scene.farthest,
        sharpness=round(sharp, 2),
        exposure_luma=round(middle, 1),
        clipped_pct=round(100 * clipped, 2),
        camera_height_m=round(scene.pose.translation[2] - scene.ground_z, 3),
        body_roll_deg=round(math.degrees(scene.attitude[0]), 2),
        body_pitch_deg=round(-math.degrees(scene.attitude[1]), 2),
        geometry=Geometry.ESTIMATED if scene.note else Geometry.MEASURED,
        geometry_note=scene.note,
        took_ms=0.0,
    )
    picture = annotated(pixels, view, rock_mask, analysis, area)
    took = round(1e3 * (time.perf_counter() - began), 1)
    return analysis.model_copy(update={'took_ms': took}), picture


def _patch(view: GroundView, rocks: Mask) -> tuple[slice, slice]:
    """The nearest part of the ground without rover and rocks in which the scale changes little.

    Of windows of falling size, the one with the most free pixels; the nearest of equals. Raises
    GroundRefused.
    """
    free = (view.mask & ~rocks).astype(np.float32)
    height, width = free.shape
    sums = cv2.integral(free)
    side = min(LARGEST_PATCH, width, height)
    while side >= LEAST_PATCH:
        tall = max(LEAST_PATCH, side // 2)
        ys = np.arange(height - tall, -1, -max(4, tall // 8))
        xs = np.arange(0, width - side + 1, max(4, side // 8))
        if len(ys) and len(xs):
            y, x = np.meshgrid(ys, xs, indexing='ij')
            inside = sums[y + tall, x + side] - sums[y, x + side] - sums[y + tall, x] + sums[y, x]
            share = inside / (tall * side)
            middle = x + side // 2
            scale = view.metres_per_pixel
            even = scale[y, middle] <= SCALE_RATIO * scale[y + tall - 1, middle]
            good = (share > 0.97) & even
            if good.any():
                row = int(np.flatnonzero(good.any(axis=1))[0])
                columns = np.flatnonzero(good[row])
                column = int(columns[np.argmin(np.abs(xs[columns] + side / 2 - width / 2))])
                return (
                    slice(int(ys[row]), int(ys[row]) + tall),
                    slice(int(xs[column]), int(xs[column]) + side),
                )
        side = side * 3 // 4
    raise GroundRefused('no free patch of ground: rocks or the rover cover what is near')


def _sharpness(patch: Pixels) -> float:
    """0 (blurred) to 1 (sharp): one minus the perceptual blur of Crete et al., 2007 (The blur
    effect: perception and estimation with a new no-reference perceptual blur metric).
    """
    from skimage.measure import blur_effect  # takes a second

    if float(patch.std()) < FLAT_DEVIATION:
        return 0.0
    blur = blur_effect(patch, h_size=11)  # type: ignore[no-untyped-call]
    return float(np.clip(1.0 - blur, 0.0, 1.0))


def _rocks_confidence(rocks: list[RockResult], sharp: float, clipped: float) -> float:
    """The mean of the rocks' own; lower in a soft picture or one with clipped pixels."""
    own = sum(rock.confidence for rock in rocks) / len(rocks) if rocks else 0.7
    return float(np.clip(own * min(1.0, sharp / 0.7) * (1.0 - min(0.5, clipped)), 0.0, 1.0))
