# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Renders the view of the mast camera on Mars from the pose and the joints.

Equal poses and joints always give equal pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
import math

from curiosity_stand_in import deck, textures
from curiosity_stand_in.camera import Camera, FOCAL, mast_camera, SIZE
from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.parts import Joints
from curiosity_stand_in.rocks import RockPainter
from curiosity_stand_in.signs import draw_sign, Sign
from curiosity_stand_in.terrain import rocks_near
from curiosity_stand_in.textures import Floats, Image
import cv2
import numpy as np
from numpy.typing import NDArray

Relief = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
Phase = NDArray[np.integer]  # a position in a tile in units of 2 ** -32: integer overflow wraps it

HAZE_M = 70.0  # the ground loses 63 % of its contrast over this distance
HAZE_FROM_M = 6.0
RELIEF_TO_M = 40.0  # grains and pebbles farther away are smaller than a pixel
ROCKS_TO_M = 50.0
NEAREST_ROCK_M = 0.4
SMALLEST_ROCK_PX = 3.0
SKY_SIZE = 2 * SIZE  # more than any picture of a camera without roll
RELIEF_SHIFT = round(math.log2(textures.GROUND_TILE_M / textures.RELIEF_TILE_M))


@dataclass(frozen=True)
class RockInView:
    """A rock of the field as the camera sees it: its foot and width in pixels, its centre and
    radius in metres of the odometry frame, the depth along the view axis in metres.
    """

    column: float
    row: float
    width: float
    depth: float
    x: float
    y: float
    radius: float
    look: float


def rocks_in_view(camera: Camera, relief: Relief | None = None) -> list[RockInView]:
    """The rocks that are painted, the farthest first, for a camera without roll."""
    rocks = rocks_near(camera.place[0], camera.place[1], ROCKS_TO_M)
    feet = 0.0 if relief is None else relief(rocks.x, rocks.y)
    column, row, depth = camera.project(rocks.x, rocks.y, feet)
    width = 2 * FOCAL * rocks.radius / np.maximum(depth, NEAREST_ROCK_M)
    seen = (depth > NEAREST_ROCK_M) & (width > SMALLEST_ROCK_PX)
    seen &= abs(column - camera.centre) < 1.3 * width + camera.size / 2
    fields = (column, row, width, depth, rocks.x, rocks.y, rocks.radius, rocks.look)
    return [
        RockInView(*(float(field[i]) for field in fields))
        for i in sorted(np.flatnonzero(seen), key=lambda i: -depth[i])
    ]


class Renderer:
    """Holds the textures and draws. The constructor makes them, which takes most of a second.
    ``relief``: heights on which the rocks stand; the sand between them is drawn flat.
    """

    def __init__(self, signs: Sequence[Sign] = (), relief: Relief | None = None) -> None:
        self._signs, self._relief_of_rocks = signs, relief
        self._colours = textures.ground_colours()
        self._relief = textures.ground_relief()
        self._sky = textures.sky(SKY_SIZE)
        self._ridges = textures.sky_ridges()
        self._rocks = RockPainter()
        self._deck = deck.draw_deck()

    def render(self, pose: Pose, joints: Joints) -> Image:
        """An 800 x 800 RGB picture."""
        camera = mast_camera(pose, joints)
        level = camera.level()
        picture = np.empty((level.size, level.size, 3), np.uint8)
        horizon = math.ceil(level.horizon() + 0.5)
        if horizon > 0:
            self._draw_sky(picture[:horizon], horizon, level)
        if horizon < level.size:
            self._draw_ground(picture[max(0, horizon) :], max(0, horizon), level)
            self._draw_rocks(picture, level)
        for sign in self._signs:
            draw_sign(picture, sign, level)
        picture = _turned(picture, camera, level)
        self._draw_deck(picture, joints)
        return picture

    def _draw_sky(self, sky: Image, horizon: int, camera: Camera) -> None:
        """``horizon``: its row, maybe below the picture."""
        first = max(0, SKY_SIZE - horizon)
        sky[:] = self._sky[first : first + len(sky), : camera.size]
        tall, around = self._ridges.shape[:2]
        top = max(0, horizon - tall)  # of the ridges
        azimuth = camera.heading - np.arctan((np.arange(camera.size) - camera.centre) / FOCAL)
        columns = (azimuth * (around / math.tau)).astype(np.int64) % around
        skyline = self._ridges[tall - (horizon - top) :][: max(0, len(sky) - top)]
        sky[top:] = skyline.take(columns, axis=1)

    def _draw_ground(self, ground: Image, horizon: int, camera: Camera) -> None:
        rows = np.arange(horizon, camera.size, dtype=np.float32)
        ahead, per_pixel = camera.rays_to_ground(rows)
        c, s = math.cos(camera.heading), math.sin(camera.heading)
        left = camera.centre * per_pixel
        x = _phases(camera.place[0] + ahead * c - left * s, per_pixel * s, camera.size)
        y = _phases(camera.place[1] + ahead * s + left * c, -per_pixel * c, camera.size)
        # A pixel covers per_pixel sideways and more in depth: the mean selects the texture level.
        footprint = per_pixel * np.sqrt(np.maximum(1.0, per_pixel * FOCAL / camera.place[2]))
        _tile(ground, self._colours, x, y, footprint / textures.GROUND_TILE_M)
        near = int(np.searchsorted(-ahead, -RELIEF_TO_M))
        if near < len(ground):
            relief = np.empty(ground[near:].shape[:2], np.uint8)
            _tile(
                relief,
                self._relief,
                x[near:] << RELIEF_SHIFT,
                y[near:] << RELIEF_SHIFT,
                footprint[near:] / textures.RELIEF_TILE_M,
            )
            shade = cv2.cvtColor(relief, cv2.COLOR_GRAY2RGB)
            cv2.multiply(ground[near:], shade, dst=ground[near:], scale=1 / 128)
        hazy = int(np.searchsorted(-ahead, -HAZE_FROM_M))
        if hazy:
            part = _haze(ahead[:hazy])[:, None, None]
            ground[:hazy] = ground[:hazy] * (1 - part) + textures.HAZE * part

    def _draw_rocks(self, picture: Image, camera: Camera) -> None:
        self._rocks.face(camera.heading)
        for rock in rocks_in_view(camera, self._relief_of_rocks):
            self._rocks.paint(
                picture,
                look=rock.look,
                column=rock.column,
                row=rock.row,
                width=rock.width,
                haze=float(_haze(np.array(rock.depth))),
                haze_colour=textures.HAZE,
            )

    def rock_masks(self, pose: Pose, joints: Joints) -> list[tuple[RockInView, NDArray[np.bool_]]]:
        """The rocks in the picture, the farthest first, each with the pixels that show it and no
        nearer rock: the truth behind ``render``, without shadows.
        """
        camera = mast_camera(pose, joints)
        level = camera.level()
        found: list[tuple[RockInView, NDArray[np.bool_]]] = []
        for rock in rocks_in_view(level, self._relief_of_rocks):
            shape = (rock.look, rock.column, rock.row, rock.width)
            drawn = np.where(self._rocks.silhouette(level.size, *shape), 255, 0).astype(np.uint8)
            mask = _turned(drawn, camera, level) > 127
            rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
            if len(rows):
                box = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
                for _, farther in found:
                    farther[box] &= ~mask[box]
            found.append((rock, mask))
        return found

    def _draw_deck(self, picture: Image, joints: Joints) -> None:
        camera = deck.camera_on_body(joints)
        area = deck.area_in_view(camera)
        if area is None:
            return
        rows, columns = area
        x, y = deck.places(camera, rows, columns)
        part = np.ascontiguousarray(picture[rows, columns])
        cv2.remap(self._deck, y, x, cv2.INTER_LINEAR, dst=part, borderMode=cv2.BORDER_TRANSPARENT)
        picture[rows, columns] = part


def _turned(picture: Image, camera: Camera, level: Camera) -> Image:
    """The picture of the camera, from that of itself without roll."""
    if level.size == camera.size:
        return picture
    matrix = camera.turned_from(level)
    return np.asarray(cv2.warpAffine(picture, matrix, (camera.size, camera.size)), np.uint8)


def _haze(metres: NDArray[np.floating]) -> Floats:
    return (1 - np.exp(-np.maximum(metres - HAZE_FROM_M, 0.0) / HAZE_M)).astype(np.float32)


def _phases(start: Floats, step: Floats, columns: int) -> Phase:
    """start + step * column, in metres, as positions in a ground tile."""
    per_metre = 2.0**32 / textures.GROUND_TILE_M

    def wrapped(metres: Floats) -> Phase:
        return np.rint(metres.astype(np.float64) * per_metre).astype(np.int64).astype(np.uint32)

    return wrapped(start)[:, None] + wrapped(step)[:, None] * np.arange(columns, dtype=np.uint32)


def _tile(out: Image, pyramid: list[Image], x: Phase, y: Phase, footprint: Floats) -> None:
    """Fill ``out`` with a repeating texture; a pixel of a row covers ``footprint`` of the tile."""
    # 0 where a pixel of the finest level covers a pixel of the picture
    fineness = np.log2(footprint * len(pyramid[0]))
    levels = np.where(fineness < 0, np.ceil(np.maximum(fineness, -2)), np.rint(fineness))
    levels = np.minimum(levels, len(pyramid) - 1).astype(int)
    edges = [0, *(np.flatnonzero(np.diff(levels)) + 1), len(levels)]
    for first, last in pairwise(edges):
        level, band = int(levels[first]), out[first:last]
        # A magnified texture has fewer pixels than the picture: sample those and enlarge.
        step = 2 ** max(0, -level)
        rows = slice(first, last, step)
        sampled = _sample(pyramid[max(0, level)], x[rows, ::step], y[rows, ::step])
        if step > 1:
            size = (sampled.shape[1] * step, sampled.shape[0] * step)
            sampled = np.asarray(cv2.resize(sampled, size), np.uint8)
        band[:] = sampled[: len(band)]


def _sample(texture: Image, x: Phase, y: Phase) -> Image:
    """The texture at these positions, bilinear, with OpenCV's fixed-point maps."""
    bits = len(texture).bit_length() - 1
    x, y = x >> (27 - bits), y >> (27 - bits)  # whole pixels, and 5 bits of fraction
    whole = np.empty((*x.shape, 2), np.int16)
    np.right_shift(x, 5, out=whole[..., 0], casting='unsafe')
    np.right_shift(y, 5, out=whole[..., 1], casting='unsafe')
    fraction = ((y & 31) << 5 | (x & 31)).astype(np.uint16)
    return np.asarray(
        cv2.remap(texture, whole, fraction, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)
    )
