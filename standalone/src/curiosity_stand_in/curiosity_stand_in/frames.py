# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The frames between the rover's base and its sensors, as in the demo's robot description.

Camera and lidar sit on the head of the mast. The foot of the mast is turned by 0.52 rad, so an
open mast looks straight ahead. Stowed, the camera looks straight up, and the lidar scans a
vertical plane whose angle 0 is up. The parameter ``lidar`` can put the lidar low on the rover's
front instead, looking ahead.
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
CAMERA_FRAME = 'camera_link'  # x along the view, y left, z up
LIDAR_FRAME = 'lidar_link'
BEAMS, BEAM_LIMIT_RAD = 640, 3.1416  # of the lidar, to either side
SCAN_MAX_M = 20.0
SCAN_MIN_M = {'mast': 1.0, 'body': 0.1}  # the demo's, and that of a lidar that looks ahead
_ANGLES = np.linspace(-BEAM_LIMIT_RAD, BEAM_LIMIT_RAD, BEAMS)
RAYS = np.column_stack((np.cos(_ANGLES), np.sin(_ANGLES), np.zeros(BEAMS)))  # in LIDAR_FRAME
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
CAMERA = Link('mast_cameras', CAMERA_FRAME, (0.13642, -0.218683, 0.222314), turn=-math.pi / 2)
LIDARS = {
    'mast': Link('mast_cameras', LIDAR_FRAME, (0.0, 0.0, 0.325), turn=-math.pi / 2),
    # A suspension holds the body nose up: this one looks level on a rover between standing and
    # driving.
    'body': Link('base_link', LIDAR_FRAME, (1.3, 0.0, -0.5), axis='y', turn=0.1),
}


def links(lidar: str) -> tuple[Link, ...]:
    """Each link of the tree with the lidar at this place."""
    return (*MAST, CAMERA, LIDARS[lidar])


def camera_pose(pose: Pose, joints: Joints) -> tuple[Floats, Floats]:
    """Place and 3 x 3 rotation of the camera in the odometry frame, with the ground at z = 0."""
    return _pose_of(CAMERA, pose, joints)


def lidar_pose(pose: Pose, joints: Joints, lidar: str) -> tuple[Floats, Floats]:
    """The same of the lidar."""
    return _pose_of(LIDARS[lidar], pose, joints)


def _pose_of(sensor: Link, pose: Pose, joints: Joints) -> tuple[Floats, Floats]:
    rotation = _rotation('z', pose.yaw) @ _rotation('y', pose.pitch) @ _rotation('x', pose.roll)
    place = np.array((pose.x, pose.y, pose.z))
    for link in _chain(sensor):
        place = place + rotation @ np.array(link.place)
        rotation = rotation @ _rotation(link.axis, link.angle(joints))
    return place, rotation


def _chain(sensor: Link) -> Iterator[Link]:
    """From the base to the sensor."""
    parents = {link.child: link for link in MAST}
    chain, frame = [sensor], sensor.parent
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
