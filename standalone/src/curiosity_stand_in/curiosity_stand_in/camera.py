# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pose and the projection of the mast camera: a pinhole camera without roll.

Pixel columns go right, rows go down; (0, 0) is the middle of the top-left pixel.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.mast import Joints
import numpy as np
from numpy.typing import NDArray

SIZE = 800  # pixels, both ways
FIELD_OF_VIEW = 1.3962634  # radians, the demo's camera
FOCAL = SIZE / 2 / math.tan(FIELD_OF_VIEW / 2)
CENTRE = (SIZE - 1) / 2

# The position of the mast's foot and its length; the mast folds to the left, across the deck.
FOOT = (0.62, -0.45, 1.10)
LENGTH = 1.0
HEAD = 0.75  # least height of the head above the foot, also when folded
RAISED_TILT = 0.20  # radians below the horizontal
STOWED_TILT = 1.15
TILT_LIMIT = 1.45

Floats = NDArray[np.floating]


@dataclass(frozen=True)
class Camera:
    """Position in the odometry frame in metres; heading and downward tilt in radians."""

    x: float
    y: float
    z: float
    heading: float
    tilt: float

    def project(self, x: Floats, y: Floats, z: float) -> tuple[Floats, Floats, Floats]:
        """Column, row and depth along the view axis; the depth is negative for points behind."""
        c, s = math.cos(self.heading), math.sin(self.heading)
        ahead = (x - self.x) * c + (y - self.y) * s
        left = (y - self.y) * c - (x - self.x) * s
        up = z - self.z
        depth = ahead * math.cos(self.tilt) - up * math.sin(self.tilt)
        height = ahead * math.sin(self.tilt) + up * math.cos(self.tilt)
        scale = FOCAL / np.where(depth > 1e-6, depth, np.inf)
        return CENTRE - left * scale, CENTRE - height * scale, depth

    def horizon(self) -> float:
        """The row of the horizon; it may lie outside the picture."""
        return CENTRE - FOCAL * math.tan(self.tilt)

    def rays_to_plane(self, rows: Floats, z: float) -> tuple[Floats, Floats]:
        """For rows below the horizon: metres ahead to the plane, and metres to the left per pixel.

        Without roll, the points of a horizontal plane in one row lie on a straight line across
        the heading.
        """
        up = (CENTRE - rows) / FOCAL
        sink = math.sin(self.tilt) - up * math.cos(self.tilt)
        reach = (self.z - z) / sink
        ahead = reach * (math.cos(self.tilt) + up * math.sin(self.tilt))
        return ahead, reach / FOCAL


def mast_camera(pose: Pose, joints: Joints) -> Camera:
    """The camera for a pose of the body and the mast's joints."""
    x = FOOT[0]
    y = FOOT[1] + LENGTH * math.sin(joints.fold)
    z = FOOT[2] + max(HEAD, LENGTH * math.cos(joints.fold))
    tilt = RAISED_TILT + (STOWED_TILT - RAISED_TILT) * joints.fold / 1.57 + joints.tilt
    c, s = math.cos(pose.yaw), math.sin(pose.yaw)
    return Camera(
        pose.x + c * x - s * y,
        pose.y + s * x + c * y,
        z,
        pose.yaw + joints.yaw,
        max(-TILT_LIMIT, min(TILT_LIMIT, tilt)),
    )
