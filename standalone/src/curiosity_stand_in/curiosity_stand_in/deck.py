# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A scale drawing of the rover's deck, for the view from the mast."""

from __future__ import annotations

import math

from curiosity_stand_in.camera import Camera, FOCAL, mast_camera, SIZE
from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.mast import Joints
from curiosity_stand_in.textures import Floats, Image, tiling_noise
import cv2
import numpy as np
from numpy.typing import NDArray

# The deck in the body frame, metres: x forward, y left.
REAR, FRONT = -1.25, 0.95
RIGHT, LEFT = -0.85, 0.85
HEIGHT = 0.15
PIXELS_PER_METRE = 400


def draw_size() -> tuple[int, int]:
    """Rows and columns of the drawing."""
    return _rows(REAR), _columns(RIGHT)


def draw_deck() -> Image:
    """The deck from above, RGB; rows go from the front to the rear, columns from left to right."""
    picture = np.full((*draw_size(), 3), (198, 196, 190), np.uint8)
    _panel(picture, (FRONT, LEFT), (REAR, RIGHT), (182, 180, 176), edge=(84, 82, 80))
    for front, rear, left, right, colour in (
        (0.85, 0.25, 0.75, 0.05, (206, 203, 196)),
        (0.85, 0.25, -0.03, -0.78, (214, 211, 203)),
        (0.17, -0.42, 0.75, -0.25, (201, 199, 192)),
        (0.17, -0.42, -0.33, -0.78, (92, 94, 100)),
        (-0.50, -1.18, 0.40, -0.40, (66, 66, 70)),
        (-0.50, -1.18, 0.78, 0.46, (210, 207, 200)),
        (-0.50, -1.18, -0.46, -0.78, (210, 207, 200)),
    ):
        _panel(picture, (front, left), (rear, right), colour)
    for x in np.arange(-1.12, -0.52, 0.075):  # cooling fins of the power source
        cv2.line(picture, _at(x, 0.36), _at(x, -0.36), (40, 40, 44), 7, cv2.LINE_AA)
        cv2.line(
            picture, _at(x + 0.012, 0.36), _at(x + 0.012, -0.36), (122, 120, 118), 2, cv2.LINE_AA
        )
    for y in np.arange(-0.74, -0.36, 0.05):
        cv2.line(picture, _at(0.13, y), _at(-0.38, y), (116, 119, 126), 3, cv2.LINE_AA)
    _antenna(picture)
    _sundial(picture)
    for start, end in (((0.80, 0.01), (-0.46, 0.01)), ((0.21, 0.70), (0.21, 0.01))):
        cv2.line(picture, _at(*start), _at(*end), (150, 112, 58), 9, cv2.LINE_AA)  # cable runs
        cv2.line(picture, _at(*start), _at(*end), (206, 166, 92), 3, cv2.LINE_AA)
    for x in np.arange(-1.2, 0.95, 0.13):
        for y in (-0.815, 0.815):
            cv2.circle(picture, _at(x, y), 6, (110, 108, 106), -1, cv2.LINE_AA)
            cv2.circle(picture, _at(x + 0.003, y + 0.003), 3, (222, 220, 216), -1, cv2.LINE_AA)
    _label(picture, 'CURIOSITY', 0.70, 0.68, 1.25)
    _label(picture, 'STAND-IN ROVER', 0.61, 0.68, 0.75)
    _label(picture, 'NO STEP', -0.47, 0.72, 0.7)
    _details(picture)
    return _dusty(picture)


def _panel(
    picture: Image,
    front_left: tuple[float, float],
    rear_right: tuple[float, float],
    colour: tuple[int, int, int],
    *,
    edge: tuple[int, int, int] = (112, 110, 106),
) -> None:
    cv2.rectangle(picture, _at(*front_left), _at(*rear_right), colour, -1)
    cv2.rectangle(picture, _at(*front_left), _at(*rear_right), edge, 5)
    for x in (front_left[0] - 0.03, rear_right[0] + 0.03):
        for y in (front_left[1] - 0.03, rear_right[1] + 0.03):
            cv2.circle(picture, _at(x, y), 5, edge, -1, cv2.LINE_AA)


def _details(picture: Image) -> None:
    for i in range(9):  # hazard stripes along the hatch
        y = 0.70 - 0.066 * i
        stripe = [_at(0.29, y), _at(0.29, y - 0.033), _at(0.335, y - 0.063), _at(0.335, y - 0.03)]
        cv2.fillPoly(picture, [np.array(stripe, np.int32)], (200, 150, 40), cv2.LINE_AA)
    for x, y, size in ((0.46, 0.60, 0.05), (0.46, 0.44, 0.05), (0.46, 0.24, 0.09)):
        cv2.circle(
            picture, _at(x, y), round(size * PIXELS_PER_METRE), (96, 94, 92), -1, cv2.LINE_AA
        )
        inner = round(0.72 * size * PIXELS_PER_METRE)
        cv2.circle(picture, _at(x + 0.004, y + 0.004), inner, (168, 166, 160), -1, cv2.LINE_AA)
        for a in np.arange(6) * np.pi / 3:
            bolt = _at(x + 0.85 * size * np.cos(a), y + 0.85 * size * np.sin(a))
            cv2.circle(picture, bolt, 2, (214, 212, 206), -1, cv2.LINE_AA)
    for i, black in enumerate('1011010011101'):  # a bar code, as on the real wheels
        if black == '1':
            front_left, rear_right = _at(0.40, -0.10 - 0.02 * i), _at(0.32, -0.12 - 0.02 * i)
            cv2.rectangle(picture, front_left, rear_right, (60, 60, 62), -1)


def _antenna(picture: Image) -> None:
    centre = _at(-0.10, 0.30)
    cv2.circle(picture, (centre[0] + 12, centre[1] + 12), 92, (128, 126, 122), -1, cv2.LINE_AA)
    corners = [
        (centre[0] + round(92 * np.cos(a)), centre[1] + round(92 * np.sin(a)))
        for a in np.arange(6) * np.pi / 3
    ]
    cv2.fillPoly(picture, [np.array(corners, np.int32)], (226, 222, 212), cv2.LINE_AA)
    cv2.polylines(picture, [np.array(corners, np.int32)], True, (96, 92, 88), 4, cv2.LINE_AA)
    cv2.circle(picture, centre, 16, (120, 116, 110), -1, cv2.LINE_AA)


def _sundial(picture: Image) -> None:
    """Draw the colour target, whose post casts a shadow."""
    centre = _at(0.66, -0.42)
    cv2.rectangle(
        picture,
        (centre[0] - 62, centre[1] - 62),
        (centre[0] + 62, centre[1] + 62),
        (64, 62, 60),
        -1,
    )
    for radius, grey in ((50, 226), (36, 168), (23, 108)):
        cv2.circle(picture, centre, radius, (grey, grey, grey - 4), -1, cv2.LINE_AA)
    for colour, dx, dy in (
        ((176, 52, 40), -50, -50),
        ((58, 128, 72), 50, -50),
        ((52, 84, 160), -50, 50),
        ((212, 172, 58), 50, 50),
    ):
        cv2.circle(picture, (centre[0] + dx, centre[1] + dy), 11, colour, -1, cv2.LINE_AA)
    cv2.line(picture, centre, (centre[0] + 30, centre[1] - 34), (50, 48, 46), 6, cv2.LINE_AA)
    cv2.circle(picture, centre, 6, (236, 232, 226), -1, cv2.LINE_AA)


def _label(picture: Image, text: str, x: float, y: float, scale: float) -> None:
    cv2.putText(
        picture,
        text,
        _at(x, y),
        cv2.FONT_HERSHEY_SIMPLEX,
        scale,
        (70, 68, 70),
        2 + round(scale),
        cv2.LINE_AA,
    )


def _dusty(picture: Image) -> Image:
    """Years of red dust, thicker in patches; fixed seed."""
    height, width = picture.shape[:2]
    patches = tiling_noise(1024, slope=1.0, seed=51)[:height, :width]
    cover = np.clip(0.24 + 0.11 * patches, 0.03, 0.75)[..., None]
    dusted = picture + (np.array((168, 108, 72), np.float32) - picture) * cover
    return np.clip(dusted, 0, 255).astype(np.uint8)


def _rows(x: float) -> int:
    return round((FRONT - x) * PIXELS_PER_METRE)


def _columns(y: float) -> int:
    return round((LEFT - y) * PIXELS_PER_METRE)


def _at(x: float, y: float) -> tuple[int, int]:
    return _columns(y), _rows(x)


def camera_on_body(joints: Joints) -> Camera:
    """The mast camera in the body frame."""
    return mast_camera(Pose(z=0.0), joints)


def area_in_view(camera: Camera) -> tuple[slice, slice] | None:
    """Rows and columns of the picture that contain every visible part of the deck; None: none.
    ``camera``: in the body frame.
    """
    x, y = np.meshgrid(np.linspace(REAR, FRONT, 24), np.linspace(RIGHT, LEFT, 24))
    column, row, depth = camera.project(x, y, HEIGHT)
    seen = (
        (depth > 0.05) & (abs(column - camera.centre) < SIZE) & (abs(row - camera.centre) < SIZE)
    )
    if not seen.any():
        return None
    # The grid is coarse: an edge lies within one grid step of a visible point.
    margin = 0.12 * FOCAL / float(depth[seen].min())
    rows, columns = _span(row[seen], margin), _span(column[seen], margin)
    return None if rows.start >= rows.stop or columns.start >= columns.stop else (rows, columns)


def places(camera: Camera, rows: slice, columns: slice) -> tuple[Floats, Floats]:
    """For each pixel of the area: row and column of the drawing; they may lie outside it.
    ``camera``: in the body frame.
    """
    up = (camera.centre - np.arange(rows.start, rows.stop)) / FOCAL
    left = (camera.centre - np.arange(columns.start, columns.stop)) / FOCAL
    along, aside, above = (
        (axis[0] + axis[2] * up)[:, None].astype(np.float32)
        + (axis[1] * left)[None, :].astype(np.float32)
        for axis in camera.axes
    )
    drop = HEIGHT - camera.place[2]
    meets = above * math.copysign(1.0, drop) > 1e-6
    reach = np.where(meets, np.float32(drop) / np.where(meets, above, 1.0), np.float32(1e4))
    x, y = camera.place[0] + reach * along, camera.place[1] + reach * aside
    return (
        ((FRONT - x) * PIXELS_PER_METRE).astype(np.float32),
        ((LEFT - y) * PIXELS_PER_METRE).astype(np.float32),
    )


def _span(values: NDArray[np.floating], margin: float) -> slice:
    first = max(0, math.floor(float(values.min()) - margin))
    return slice(first, min(SIZE, math.ceil(float(values.max()) + margin) + 1))
