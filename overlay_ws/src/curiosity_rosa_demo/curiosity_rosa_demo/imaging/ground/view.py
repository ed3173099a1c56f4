# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The camera's view of the ground: which pixels show it, and where each of them lies.

A pinhole camera over a level plane (Hartley and Zisserman, Multiple View Geometry, section 8.2).
Frames: ``base`` is the rover's base with x ahead, y left, z up (REP 103); the level frame has the
base's place and heading without its roll and pitch. The ground is at ``z = 0`` here. The camera's
axes are x along the view, y left, z up. Metres and radians.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Matrix = tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]


@dataclass(frozen=True)
class Lens:
    """A pinhole: focal lengths and principal point in pixels."""

    fx: float
    fy: float
    cx: float
    cy: float

    @classmethod
    def of_field_of_view(cls, width: int, height: int, horizontal_rad: float) -> Lens:
        focal = width / 2 / math.tan(horizontal_rad / 2)
        return cls(focal, focal, (width - 1) / 2, (height - 1) / 2)

    def scaled(self, factor: float) -> Lens:
        """The lens of the picture scaled by ``factor``; pixel (0, 0) is a pixel's middle."""
        half = 0.5 * factor - 0.5
        return Lens(
            self.fx * factor,
            self.fy * factor,
            self.cx * factor + half,
            self.cy * factor + half,
        )


@dataclass(frozen=True)
class Attitude:
    """Of the base in the level frame (REP 103): a nose that points up has a negative pitch."""

    roll: float
    pitch: float


LEVEL = Attitude(0.0, 0.0)


@dataclass(frozen=True)
class CameraPose:
    """Position in the base frame or in the level one, z above the ground, and the rotation of the
    camera's axes (its columns) into that frame.
    """

    x: float
    y: float
    height: float
    rotation: Matrix

    @classmethod
    def level(cls, height: float, tilt_rad: float) -> CameraPose:
        """Above the base, looking ahead and ``tilt_rad`` below the horizontal."""
        c, s = math.cos(tilt_rad), math.sin(tilt_rad)
        return cls(0.0, 0.0, height, ((c, 0.0, s), (0.0, 1.0, 0.0), (-s, 0.0, c)))

    def levelled(self, attitude: Attitude, base_height: float) -> CameraPose:
        """This pose of the base frame in the level frame. The base, ``base_height`` above the
        ground, is the centre of the turn.
        """
        cp, sp = math.cos(attitude.pitch), math.sin(attitude.pitch)
        cr, sr = math.cos(attitude.roll), math.sin(attitude.roll)
        turn = np.array([[cp, sp * sr, sp * cr], [0.0, cr, -sr], [-sp, cp * sr, cp * cr]])
        x, y, z = turn @ (self.x, self.y, self.height - base_height)
        first, second, third = (turn @ np.array(self.rotation)).tolist()
        rotation = tuple(first), tuple(second), tuple(third)
        return CameraPose(float(x), float(y), float(z) + base_height, rotation)


@dataclass(frozen=True)
class Body:
    """A box of the rover itself in the base frame, from the ground up to ``top``."""

    x_min: float
    x_max: float
    y_min: float
    y_max: float
    top: float

    def hides(self, mount: CameraPose, ahead: Floats, left: Floats) -> Mask:
        """The rays from ``mount`` to these points of the ground that pass through the box.

        Slabs: the shares of a ray between its limits in z, x and y overlap.
        """
        if mount.height <= self.top:
            return np.zeros(ahead.shape, np.bool_)
        first = np.full(ahead.shape, (mount.height - self.top) / mount.height, np.float32)
        last = np.ones(ahead.shape, np.float32)
        with np.errstate(invalid='ignore', divide='ignore'):
            for points, at, low, high in (
                (ahead, mount.x, self.x_min, self.x_max),
                (left, mount.y, self.y_min, self.y_max),
            ):
                way = points - np.float32(at)
                ends = np.float32(low - at) / way, np.float32(high - at) / way
                first = np.maximum(first, np.minimum(*ends))
                last = np.minimum(last, np.maximum(*ends))
            return np.asarray(first <= last)


@dataclass(frozen=True)
class GroundView:
    """Arrays of the picture's size. ``ahead`` and ``left`` are metres in the level frame,
    ``distance`` metres from the base; all are infinite at and above the horizon.
    ``metres_per_pixel``: across the view. ``mask``: the ground within ``farthest``.
    """

    ahead: Floats
    left: Floats
    distance: Floats
    metres_per_pixel: Floats
    mask: Mask
    horizon: Mask  # pixels at and above the horizon
    rover: Mask  # pixels that may show the rover itself


def ground_view(
    width: int,
    height: int,
    lens: Lens,
    pose: CameraPose,
    *,
    farthest: float,
    bodies: Sequence[Body] = (),
    mount: CameraPose | None = None,
) -> GroundView:
    """Where each pixel's ray meets the ground. ``pose``: of the camera in the level frame. Rays
    that meet one of the rover's ``bodies`` show no ground; ``mount``: the pose in the base frame,
    if that is not level.
    """
    ahead, left, reach = _ground_points(width, height, lens, pose)
    above = ~np.isfinite(reach)
    distance = np.hypot(ahead, left)
    rover = np.zeros(above.shape, np.bool_)
    mount = mount or pose
    own = (ahead, left) if mount == pose else _ground_points(width, height, lens, mount)[:2]
    for body in bodies:
        rover |= body.hides(mount, *own)
    return GroundView(
        ahead,
        left,
        distance,
        reach / np.float32(lens.fx),
        (distance <= farthest) & ~rover,
        above,
        rover,
    )


def _ground_points(
    width: int, height: int, lens: Lens, pose: CameraPose
) -> tuple[Floats, Floats, Floats]:
    """Metres ahead and to the left of the base, and along the view; infinite above the horizon."""
    right = (np.arange(width, dtype=np.float32) - lens.cx) / lens.fx
    down = (np.arange(height, dtype=np.float32) - lens.cy) / lens.fy
    along, aside, up = (
        row[0] - np.float32(row[1]) * right[None, :] - np.float32(row[2]) * down[:, None]
        for row in pose.rotation
    )
    sinks = up < -1e-6
    reach = np.where(sinks, pose.height / np.where(sinks, -up, 1.0), np.inf).astype(np.float32)
    with np.errstate(invalid='ignore'):
        ahead = np.where(sinks, pose.x + reach * along, np.inf).astype(np.float32)
        left = np.where(sinks, pose.y + reach * aside, np.inf).astype(np.float32)
    return ahead, left, reach
