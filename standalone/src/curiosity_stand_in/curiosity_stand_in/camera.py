# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The projection of the mast camera: a pinhole camera at its place in the frame tree.

Pixel columns go right, rows go down; (0, 0) is the middle of the top-left pixel.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

from curiosity_stand_in.frames import CAMERA_FRAME, sensor_pose
from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.parts import Joints
import numpy as np
from numpy.typing import NDArray

SIZE = 800  # pixels, both ways
FIELD_OF_VIEW = 1.3962634  # radians, the demo's camera
FOCAL = SIZE / 2 / math.tan(FIELD_OF_VIEW / 2)
CENTRE = (SIZE - 1) / 2
SIZE_STEP = 8  # the ground is sampled in blocks of pixels
LEAST_ROLL = 1e-4  # radians; less moves no pixel
FARTHEST_HORIZON = 1e6  # pixels from the centre, for a camera that looks straight up or down

Floats = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Camera:
    """``place`` in metres. The columns of ``axes`` point along the view, to the left and up. Its
    picture is ``size`` pixels wide and tall.
    """

    place: Floats
    axes: Floats
    size: int = SIZE

    @property
    def centre(self) -> float:
        return (self.size - 1) / 2

    @property
    def heading(self) -> float:
        return math.atan2(self.axes[1, 0], self.axes[0, 0])

    @property
    def tilt(self) -> float:
        """Radians below the horizontal."""
        return -math.asin(max(-1.0, min(1.0, float(self.axes[2, 0]))))

    @property
    def roll(self) -> float:
        """Radians about the view; positive lowers the right-hand side of the camera."""
        return math.atan2(self.axes[2, 1], self.axes[2, 2])

    def level(self) -> Camera:
        """The camera without roll. The picture of this one, turned by the roll about its centre,
        is a part of that one's picture.
        """
        c, s = math.cos(self.heading), math.sin(self.heading)
        ct, st = math.cos(self.tilt), math.sin(self.tilt)
        axes = np.array([[c * ct, -s, c * st], [s * ct, c, s * st], [-st, 0.0, ct]])
        roll = self.roll
        if abs(roll) < LEAST_ROLL:
            return Camera(self.place, axes, self.size)
        reach = self.size * (abs(math.cos(roll)) + abs(math.sin(roll)))
        wider = SIZE_STEP * math.ceil((reach - self.size) / SIZE_STEP)
        return Camera(self.place, axes, self.size + wider)

    def turned_from(self, level: Camera) -> Floats:
        """The 2 x 3 matrix from the pixels of ``level`` to those of this camera."""
        c, s = math.cos(self.roll), math.sin(self.roll)
        turn = np.array([[c, s], [-s, c]])
        offset = np.full(2, self.centre) - turn @ np.full(2, level.centre)
        return np.column_stack([turn, offset])

    def project(self, x: Floats, y: Floats, z: Floats | float) -> tuple[Floats, Floats, Floats]:
        """Column, row and depth along the view axis; the depth is negative for points behind."""
        dx, dy, dz = x - self.place[0], y - self.place[1], z - self.place[2]
        depth, left, up = (a[0] * dx + a[1] * dy + a[2] * dz for a in self.axes.T)
        scale = FOCAL / np.where(depth > 1e-6, depth, np.inf)
        return self.centre - left * scale, self.centre - up * scale, depth

    def horizon(self) -> float:
        """The row of the horizon, which may lie outside the picture; without roll."""
        below = FOCAL * math.tan(self.tilt)
        return self.centre - max(-FARTHEST_HORIZON, min(FARTHEST_HORIZON, below))

    def rays_to_ground(self, rows: Floats) -> tuple[Floats, Floats]:
        """For rows below the horizon: metres ahead to the ground, and metres to the left per
        pixel.

        Without roll, the points of a horizontal plane in one row lie on a straight line across
        the heading.
        """
        up = (self.centre - rows) / FOCAL
        sink = math.sin(self.tilt) - up * math.cos(self.tilt)
        reach = self.place[2] / sink
        ahead = reach * (math.cos(self.tilt) + up * math.sin(self.tilt))
        return ahead, reach / FOCAL


def mast_camera(pose: Pose, joints: Joints) -> Camera:
    """The camera in the odometry frame, with the ground at z = 0."""
    return Camera(*sensor_pose(CAMERA_FRAME, pose, joints))
