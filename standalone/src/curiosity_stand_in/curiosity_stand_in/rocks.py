# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Rocks as sprites: shapes made once, lit for a viewing direction, painted at any size."""

from __future__ import annotations

from dataclasses import dataclass
import math

from curiosity_stand_in.textures import Floats, Image, smooth, SUN, tiling_noise
import cv2
import numpy as np
from numpy.typing import NDArray

SIZE = 96  # pixels of a shape; its sprite is WIDE times as wide, for the shadow
WIDE = 2.5
TONE = np.array((146, 103, 80), np.float32)
HEADING_STEP = 0.02  # radians; the rocks are lit again after a turn of this angle


@dataclass(frozen=True)
class Shape:
    """A rock seen from the side: unit normals (right, up, to the viewer), brightness, coverage."""

    normals: Floats
    albedo: Floats
    cover: Floats


class RockPainter:
    """Paints sunlit rocks for a camera with a given heading. Call ``face`` before ``paint``."""

    def __init__(self, count: int = 6) -> None:
        self._shapes = [_shape(seed) for seed in range(40, 40 + count)]
        self._key: int | None = None
        self._lit: list[list[Floats]] = []

    def face(self, heading: float) -> None:
        """Light the rocks for this heading, in radians."""
        key = round(heading / HEADING_STEP)
        if key == self._key:
            return
        heading = key * HEADING_STEP
        c, s = math.cos(heading), math.sin(heading)
        light = np.array([SUN[0] * s - SUN[1] * c, SUN[2], -(SUN[0] * c + SUN[1] * s)], np.float32)
        self._lit = [_levels(_picture(shape, light)) for shape in self._shapes]
        self._key = key

    def paint(
        self,
        picture: Image,
        *,
        look: float,
        column: float,
        row: float,
        width: float,
        haze: float,
        haze_colour: Floats,
    ) -> None:
        """Paint one rock at (column, row) of its foot; ``look`` in [0, 1) selects the shape."""
        which = look * len(self._lit)
        tall = width * (0.7 + 0.3 * (which % 1))
        levels = self._lit[int(which)]
        level = min(len(levels) - 1, max(0, round(math.log2(SIZE / width))))
        left, top = column - WIDE * width / 2, row - 0.86 * tall
        _blend(picture, levels[level], (left, top, WIDE * width, tall), haze, haze_colour)

    def silhouette(
        self, size: int, look: float, column: float, row: float, width: float
    ) -> NDArray[np.bool_]:
        """The pixels of a square picture that ``paint`` covers at least half, without shadow."""
        which = look * len(self._shapes)
        tall = width * (0.7 + 0.3 * (which % 1))
        canvas = np.zeros((size, size, 3), np.uint8)
        cover = self._shapes[int(which)].cover[..., None]
        sprite = np.concatenate([np.repeat(255.0 * cover, 3, axis=2), cover], axis=2)
        box = (column - width / 2, row - 0.86 * tall, width, tall)
        levels = _levels(sprite.astype(np.float32))
        level = min(len(levels) - 1, max(0, round(math.log2(SIZE / width))))
        _blend(canvas, levels[level], box, 0.0, np.zeros(3, np.float32))
        return canvas[..., 0] > 127


def _shape(seed: int) -> Shape:
    random = np.random.default_rng(seed)
    axis = np.linspace(-1.08, 1.08, SIZE, dtype=np.float32)
    x, y = np.meshgrid(axis, -axis)
    # A boulder is an ellipsoid cut by planes: the least depth at each pixel gives its face.
    depth = np.sqrt(np.maximum(0.0, 1.0 - x**2 - (0.8 * y + 0.1) ** 2))
    normals = np.stack([x, 0.8 * (0.8 * y + 0.1), np.maximum(depth, 0.05)], -1)
    for _ in range(9):
        cut = random.normal(size=3)
        cut[2] = abs(cut[2]) + 0.3
        cut /= np.linalg.norm(cut)
        plane = (random.uniform(0.62, 0.86) - cut[0] * x - cut[1] * y) / cut[2]
        nearer = plane < depth
        depth = np.where(nearer, plane, depth)
        normals[nearer] = cut
    rough = tiling_noise(SIZE, slope=1.0, seed=seed + 100)
    normals = normals + 0.16 * np.stack([rough, np.roll(rough, 31, 0), 0 * rough], -1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    cover = cv2.GaussianBlur((depth > 0.0).astype(np.float32), (3, 3), 0)
    cover *= np.clip((y + 0.88) * 9 + 0.5 * rough, 0.0, 1.0)  # its foot is in the sand
    albedo = 1.0 + 0.10 * rough + 0.20 * np.clip(0.2 - y, -0.5, 0.3)
    return Shape(normals.astype(np.float32), albedo.astype(np.float32), cover)


def _picture(shape: Shape, light: Floats) -> Floats:
    """The lit sprite with its shadow, as RGB premultiplied by coverage, and coverage."""
    wide = round(SIZE * WIDE)
    x = (np.arange(wide, dtype=np.float32) - wide / 2) / (SIZE / 2)
    y = (np.arange(SIZE, dtype=np.float32) - 0.84 * SIZE) / (SIZE / 2)
    away = np.hypot((x[None, :] + 0.75 * light[0]) / 1.35, y[:, None] / 0.3)
    picture = np.zeros((SIZE, wide, 4), np.float32)
    picture[..., 3] = 0.6 * smooth(1.0 - away, 0.0, 0.6)
    shade = (0.30 + 0.95 * np.maximum(shape.normals @ light, 0.0)) * shape.albedo
    middle = picture[:, (wide - SIZE) // 2 : (wide + SIZE) // 2]
    cover = shape.cover[..., None]
    middle *= 1 - cover
    middle[..., :3] += shade[..., None] * TONE * cover
    middle[..., 3:] += cover
    return picture


def _levels(picture: Floats) -> list[Floats]:
    """The picture at full, half, quarter ... size, for rocks far away."""
    out = [picture]
    while out[-1].shape[0] > 6:
        height, width = out[-1].shape[0] // 2, out[-1].shape[1] // 2
        out.append(np.asarray(cv2.resize(out[-1], (width, height), interpolation=cv2.INTER_AREA)))
    return out


def _blend(
    picture: Image,
    sprite: Floats,
    box: tuple[float, float, float, float],
    haze: float,
    haze_colour: Floats,
) -> None:
    """Blend the visible part of a sprite into a box (left, top, width, height in pixels)."""
    left, top, wide, tall = box
    x0, y0 = max(0, math.floor(left)), max(0, math.floor(top))
    x1 = min(picture.shape[1], math.ceil(left + wide))
    y1 = min(picture.shape[0], math.ceil(top + tall))
    if x0 >= x1 or y0 >= y1:
        return
    scale_x, scale_y = sprite.shape[1] / wide, sprite.shape[0] / tall
    matrix = np.array(
        [
            [scale_x, 0, (x0 - left + 0.5) * scale_x - 0.5],
            [0, scale_y, (y0 - top + 0.5) * scale_y - 0.5],
        ]
    )
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    scaled = cv2.warpAffine(sprite, matrix, (x1 - x0, y1 - y0), flags=flags)
    cover = scaled[..., 3:]
    part = picture[y0:y1, x0:x1]
    # Both terms stay below 256: coverage is at most 1 and no rock is brighter than 255.
    mixed = part * (1 - cover) + scaled[..., :3] * (1 - haze) + haze_colour * (cover * haze)
    part[:] = np.minimum(mixed, 255.0)
