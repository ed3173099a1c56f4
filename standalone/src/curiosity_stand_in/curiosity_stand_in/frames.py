# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The frames between the rover's base and its sensors, as rover.urdf has them.

Camera and lidar sit on the head of the mast. The foot of the mast is turned by 0.52 rad, so an
open mast looks straight ahead. Stowed, the camera looks straight up, and the lidar scans a
vertical plane whose angle 0 is up. The parameter ``lidar`` can put the lidar low on the rover's
front instead, looking ahead.
"""

from __future__ import annotations

from collections.abc import Mapping
import functools

from curiosity_rosa_demo.infra.tf import IDENTITY, Transform, Vector
from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.parts import Joints, MAST
from curiosity_stand_in.robot import Joint, own, Placement
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CAMERA_FRAME = 'camera_link'  # x along the view, y left, z up
LIDAR_FRAME = 'lidar_link'
BEAMS, BEAM_LIMIT_RAD = 640, 3.1416  # of the lidar, to either side
SCAN_MAX_M = 20.0
SCAN_MIN_M = {'mast': 1.0, 'body': 0.1}  # the demo's, and that of a lidar that looks ahead
_ANGLES = np.linspace(-BEAM_LIMIT_RAD, BEAM_LIMIT_RAD, BEAMS)
RAYS = np.column_stack((np.cos(_ANGLES), np.sin(_ANGLES), np.zeros(BEAMS)))  # in LIDAR_FRAME
AXES: tuple[Vector, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
# A suspension holds the body nose up: this one looks level on a rover between standing and
# driving.
ON_THE_FRONT = Placement((1.3, 0.0, -0.5), (0.0, 0.1, 0.0))
LIDARS = {'mast': None, 'body': Joint('', 'base_link', LIDAR_FRAME, ON_THE_FRONT)}


@functools.cache
def joints(lidar: str) -> tuple[Joint, ...]:
    """Those from the base to camera and lidar, with the lidar at this place."""
    both = (*_chain(CAMERA_FRAME, lidar), *_chain(LIDAR_FRAME, lidar))
    return tuple(dict.fromkeys(both))


@functools.cache
def _chain(sensor: str, lidar: str) -> tuple[Joint, ...]:
    """From the base to the sensor."""
    parents = {joint.child: joint for joint in own().joints}
    parents[LIDAR_FRAME] = LIDARS[lidar] or parents[LIDAR_FRAME]
    if sensor not in parents:
        return ()
    return (*_chain(parents[sensor].parent, lidar), parents[sensor])


def angles(joints: Joints) -> Mapping[str, float]:
    """Radians by the joint's name."""
    return dict(zip(MAST.joints, joints, strict=True))


def mount(sensor: str, joints: Joints, lidar: str = 'mast') -> Transform:
    """The sensor in the base frame."""
    at, turned = IDENTITY, angles(joints)
    for joint in _chain(sensor, lidar):
        at = at @ joint.at(turned.get(joint.name, 0.0))
    return at


def sensor_pose(
    sensor: str, pose: Pose, joints: Joints, lidar: str = 'mast'
) -> tuple[Floats, Floats]:
    """Place and 3 x 3 rotation of a sensor in the odometry frame, with the ground at z = 0."""
    body = Placement((pose.x, pose.y, pose.z), (pose.roll, pose.pitch, pose.yaw)).transform
    at = body @ mount(sensor, joints, lidar)
    return np.array(at.translation), np.column_stack([at.rotate(axis) for axis in AXES])
