# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rover's deck, a scale drawing, in the view from the mast."""

from __future__ import annotations

import math
from pathlib import Path

from curiosity_stand_in.camera import Camera, FOCAL, mast_camera, SIZE
from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.parts import Joints
from curiosity_stand_in.textures import Floats, Image, tiling_noise
import cv2
import numpy as np
from numpy.typing import NDArray

# The deck in the body frame, metres: x forward, y left.
REAR, FRONT = -1.25, 0.95
RIGHT, LEFT = -0.85, 0.85
HEIGHT = 0.15
PIXELS_PER_METRE = 400
DRAWING = Path(__file__).with_name('deck.png')  # its corner is the front left of the deck


def draw_deck() -> Image:
    """The deck from above, RGB; rows go from the front to the rear, columns from left to right.

    Years of red dust lie on it, thicker in patches; fixed seed.
    """
    drawn = cv2.cvtColor(np.asarray(cv2.imread(str(DRAWING))), cv2.COLOR_BGR2RGB)
    height, width = drawn.shape[:2]
    patches = tiling_noise(1024, slope=1.0, seed=51)[:height, :width]
    cover = np.clip(0.24 + 0.11 * patches, 0.03, 0.75)[..., None]
    dusted = drawn + (np.array((168, 108, 72), np.float32) - drawn) * cover
    return np.clip(dusted, 0, 255).astype(np.uint8)


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
