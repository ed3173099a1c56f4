# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Boards with text in front of the rover's first pose: what people, or attackers, may put up.

A board shows its text as a QR code, for programs, and in letters. It has no body: neither wheels
nor laser notice it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
import textwrap

from curiosity_stand_in.camera import Camera
from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.textures import Image
import cv2
import numpy as np
from numpy.typing import NDArray

AHEAD_M = 4.0  # from the first pose to the boards
WIDTH_M, HEIGHT_M, FOOT_M = 1.45, 1.85, 0.15
SPACING_M = 1.5
NEAREST_M = 0.3
MODULE_PX = 16  # of a code's module on the board
QUIET_MODULES = 2
LINE_CHARS, LINE_PX = 20, 60
PAPER, INK, BACK = 235, 20, 120


@dataclass(frozen=True)
class Sign:
    """``corners``: x, y, z in metres of the odometry frame, from the top left as read, clockwise.
    ``facing``: the direction in which its front looks, in radians.
    """

    texture: Image
    corners: NDArray[np.floating]
    facing: float


def signs_before(pose: Pose, texts: Sequence[str]) -> tuple[Sign, ...]:
    """A board for each text, side by side ahead of ``pose``, facing it."""
    return tuple(
        _sign(text, pose, ((len(texts) - 1) / 2 - place) * SPACING_M)
        for place, text in enumerate(texts)
    )


def draw_sign(picture: Image, sign: Sign, camera: Camera) -> None:
    """Draw one board; not at all while a corner of it is behind the camera."""
    x, y, z = sign.corners.T
    seen = [camera.project(x[i : i + 1], y[i : i + 1], float(z[i])) for i in range(len(z))]
    if min(float(depth[0]) for _, _, depth in seen) < NEAREST_M:
        return
    corners = np.array([(column[0], row[0]) for column, row, _ in seen], np.float32)
    tall, wide = sign.texture.shape[:2]
    edges = np.array([(0, 0), (wide, 0), (wide, tall), (0, tall)], np.float32)
    matrix = cv2.getPerspectiveTransform(edges, corners)
    towards = np.arctan2(camera.place[1] - y.mean(), camera.place[0] - x.mean())
    is_front = math.cos(towards - sign.facing) > 0.0
    texture = sign.texture if is_front else np.full_like(sign.texture, BACK)
    size = (picture.shape[1], picture.shape[0])
    # Averaged over the pixels of the board that a pixel of the picture covers.
    step = max(1, int(wide / max(1.0, float(np.ptp(corners[:, 0])))))
    if step > 1:
        texture = np.asarray(cv2.blur(texture, (step, step)), np.uint8)
    drawn = cv2.warpPerspective(texture, matrix, size, flags=cv2.INTER_LINEAR)
    cover = cv2.warpPerspective(np.full((tall, wide), 255, np.uint8), matrix, size)
    picture[cover > 127] = drawn[cover > 127]


def board_texture(text: str) -> Image:
    """The board in RGB: the code above, the letters below. Raises ValueError for a text that fits
    no code.
    """
    try:
        code = cv2.QRCodeEncoder.create().encode(text)
    except cv2.error as error:
        raise ValueError(f'{text!r} fits no QR code') from error
    # The encoder's own border differs between versions of OpenCV.
    dark = np.argwhere(code < 128)
    (top, left), (bottom, right) = dark.min(0), dark.max(0) + 1
    code = np.pad(code[top:bottom, left:right], QUIET_MODULES, constant_values=255)
    side = len(code) * MODULE_PX
    board = np.full((round(side * HEIGHT_M / WIDTH_M), side), PAPER, np.uint8)
    code = cv2.resize(code, (side, side), interpolation=cv2.INTER_NEAREST)
    board[:side] = np.where(code < 128, INK, PAPER)
    scale = side / (LINE_CHARS * 20)
    for number, line in enumerate(textwrap.wrap(text, LINE_CHARS)):
        row = side + round((number + 0.8) * LINE_PX * scale * 0.7)
        cv2.putText(
            board, line, (round(12 * scale), row), cv2.FONT_HERSHEY_SIMPLEX, scale, (INK,),
            max(1, round(2 * scale)), cv2.LINE_AA,
        )  # fmt: skip
    return np.asarray(cv2.cvtColor(board, cv2.COLOR_GRAY2RGB), np.uint8)


def _sign(text: str, pose: Pose, left_m: float) -> Sign:
    c, s = math.cos(pose.yaw), math.sin(pose.yaw)

    def at(left: float, z: float) -> tuple[float, float, float]:
        return pose.x + AHEAD_M * c - left * s, pose.y + AHEAD_M * s + left * c, z

    edge, low, high = WIDTH_M / 2, FOOT_M, FOOT_M + HEIGHT_M
    corners = (
        at(left_m + edge, high),
        at(left_m - edge, high),
        at(left_m - edge, low),
        at(left_m + edge, low),
    )
    return Sign(board_texture(text), np.array(corners), pose.yaw + math.pi)
