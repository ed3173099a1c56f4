# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The frames between the rover's base and its lidar, as in the demo's robot description.

The lidar sits on the head of the mast: stowed, it scans a vertical plane, and angle 0 looks
straight up. The parameter ``lidar`` can put it low on the rover's front instead, looking ahead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import math

from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.mast import Joints
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Vector = tuple[float, float, float]

BASE = 'base_footprint'
LIDAR_FRAME = 'lidar_link'
BASE_HEIGHT = 0.9  # metres; the demo's base_footprint lies at the chassis, not on the ground
AXES: dict[str, Vector] = {'x': (1.0, 0.0, 0.0), 'y': (0.0, 1.0, 0.0), 'z': (0.0, 0.0, 1.0)}


@dataclass(frozen=True)
class Link:
    """A frame in its parent: metres, and a turn about one axis, fixed or by a field of Joints."""

    parent: str
    child: str
    place: Vector = (0.0, 0.0, 0.0)
    axis: str = 'z'
    turn: float = 0.0
    joint: str = ''

    def angle(self, joints: Joints) -> float:
        return float(getattr(joints, self.joint)) if self.joint else self.turn

    def quaternion(self, joints: Joints) -> tuple[float, float, float, float]:
        half = self.angle(joints) / 2
        x, y, z = (math.sin(half) * part for part in AXES[self.axis])
        return x, y, z, math.cos(half)


MAST = (
    Link(BASE, 'base_link'),
    Link('base_link', 'chassis', turn=1.57),
    Link('chassis', 'chassis_to_mast_p', (-0.55456, -0.722499, 0.331395), turn=0.523599),
    Link('chassis_to_mast_p', 'mast_p', axis='y', joint='fold'),
    Link('mast_p', 'mast_p_to_mast_02', (0.0, 0.0, 0.473641)),
    Link('mast_p_to_mast_02', 'mast_02', joint='yaw'),
    Link('mast_02', 'mast_02_to_mast_cameras', (0.0, 0.0, 0.20859)),
    Link('mast_02_to_mast_cameras', 'mast_cameras', axis='x', joint='tilt'),
)
LIDARS = {
    'mast': Link('mast_cameras', LIDAR_FRAME, (0.0, 0.0, 0.325), turn=-math.pi / 2),
    'body': Link('base_link', LIDAR_FRAME, (1.3, 0.0, -0.5)),
}


def links(lidar: str) -> tuple[Link, ...]:
    """Each link of the tree with the lidar at this place."""
    return (*MAST, LIDARS[lidar])


def lidar_pose(pose: Pose, joints: Joints, lidar: str) -> tuple[Floats, Floats]:
    """Place and 3 x 3 rotation of the lidar in the odometry frame, with the ground at z = 0."""
    place, rotation = np.zeros(3), np.eye(3)
    for link in _chain(lidar):
        place = place + rotation @ np.array(link.place)
        rotation = rotation @ _rotation(link.axis, link.angle(joints))
    heading = _rotation('z', pose.yaw)
    return heading @ place + (pose.x, pose.y, BASE_HEIGHT), heading @ rotation


def _chain(lidar: str) -> Iterator[Link]:
    """From the base to the lidar."""
    parents = {link.child: link for link in links(lidar)}
    chain, frame = [], LIDAR_FRAME
    while frame in parents:
        chain.append(parents[frame])
        frame = parents[frame].parent
    return reversed(chain)


def _rotation(axis: str, angle: float) -> Floats:
    c, s = math.cos(angle), math.sin(angle)
    i, j = {'x': (1, 2), 'y': (2, 0), 'z': (0, 1)}[axis]
    rotation = np.eye(3)
    rotation[i, i] = rotation[j, j] = c
    rotation[i, j], rotation[j, i] = -s, s
    return rotation
