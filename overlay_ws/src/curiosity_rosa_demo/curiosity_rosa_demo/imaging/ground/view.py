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
base's place and heading without its roll and pitch. The camera's axes are x along the view, y
left, z up. Metres and radians.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

from curiosity_rosa_demo.infra.config.limits import PartConfig
from curiosity_rosa_demo.infra.tf import Transform
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Lens:
    """A pinhole, for pictures of any size. In widths of the picture: focal lengths, and how far to
    the right of the picture's middle and below it the principal point lies.
    """

    fx: float
    fy: float
    right: float = 0.0
    below: float = 0.0

    @classmethod
    def of_field_of_view(cls, horizontal_rad: float) -> Lens:
        focal = 0.5 / math.tan(horizontal_rad / 2)
        return cls(focal, focal)


def leaning(roll: float, pitch: float, height: float = 0.0) -> Transform:
    """A frame with this attitude (REP 103: a nose that points up has a negative pitch) so far
    above another.
    """
    cp, sp, cr, sr = (f(angle / 2) for angle in (pitch, roll) for f in (math.cos, math.sin))
    return Transform((0.0, 0.0, height), (cp * sr, sp * cr, -sp * sr, cp * cr))


@dataclass(frozen=True)
class Scene:
    """How a picture was taken. ``mount``: the camera in the base frame, in which the ground lies
    at ``ground_z``. ``bodies``: of the rover itself. ``attitude``: roll and pitch of the base.
    ``note``: why lens, mount or attitude are estimates; empty: they are measured.
    """

    lens: Lens
    mount: Transform
    bodies: Sequence[PartConfig]
    farthest: float
    note: str = ''
    attitude: tuple[float, float] = (0.0, 0.0)
    ground_z: float = 0.0

    @property
    def pose(self) -> Transform:
        """Of the camera in the level frame."""
        return leaning(*self.attitude) @ self.mount


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


def ground_view(scene: Scene, width: int, height: int) -> GroundView:
    """Where each pixel's ray meets the ground. Rays that meet the rover itself show none."""
    ahead, left, reach = own = _ground_points(scene, scene.pose, width, height)
    above = ~np.isfinite(reach)
    distance = np.hypot(ahead, left)
    rover = np.zeros(above.shape, np.bool_)
    if any(scene.attitude):
        own = _ground_points(scene, scene.mount, width, height)
    for body in scene.bodies:
        rover |= hidden(body, scene, *own[:2])
    return GroundView(
        ahead,
        left,
        distance,
        reach / np.float32(width * scene.lens.fx),
        (distance <= scene.farthest) & ~rover,
        above,
        rover,
    )


def hidden(body: PartConfig, scene: Scene, ahead: Floats, left: Floats) -> Mask:
    """The rays from the camera to these points of the ground, in the base frame, that pass through
    a box of the rover.

    Slabs: the shares of a ray between its limits in z, x and y overlap.
    """
    x, y, z = scene.mount.translation
    height = z - scene.ground_z
    if height <= body.height_m:
        return np.zeros(ahead.shape, np.bool_)
    first = np.full(ahead.shape, (height - body.height_m) / height, np.float32)
    last = np.ones(ahead.shape, np.float32)
    with np.errstate(invalid='ignore', divide='ignore', over='ignore'):
        for points, at, low, high in (
            (ahead, x, body.x_min, body.x_max),
            (left, y, body.y_min, body.y_max),
        ):
            way = points - np.float32(at)
            ends = np.float32(low - at) / way, np.float32(high - at) / way
            first = np.maximum(first, np.minimum(*ends))
            last = np.minimum(last, np.maximum(*ends))
        return np.asarray(first <= last)


def _ground_points(
    scene: Scene, pose: Transform, width: int, height: int
) -> tuple[Floats, Floats, Floats]:
    """Metres ahead and to the left of the base, and along the view; infinite above the horizon."""
    lens = scene.lens
    right, down = (
        (np.arange(size, dtype=np.float32) - (size - 1) / 2 - width * middle) / (width * focal)
        for size, middle, focal in ((width, lens.right, lens.fx), (height, lens.below, lens.fy))
    )
    along, aside, up = (
        forward - np.float32(leftward) * right[None, :] - np.float32(upward) * down[:, None]
        for forward, leftward, upward in zip(*map(pose.rotate, AXES), strict=True)
    )
    x, y, z = pose.translation
    sinks = up < -1e-6
    reach = np.where(sinks, (z - scene.ground_z) / np.where(sinks, -up, 1.0), np.inf).astype(
        np.float32
    )
    with np.errstate(invalid='ignore'):
        ahead = np.where(sinks, x + reach * along, np.inf).astype(np.float32)
        left = np.where(sinks, y + reach * aside, np.inf).astype(np.float32)
    return ahead, left, reach
