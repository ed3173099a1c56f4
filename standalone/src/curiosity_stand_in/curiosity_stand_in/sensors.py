# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rover's state as ROS messages."""

from __future__ import annotations

import array
from collections.abc import Iterable, Mapping
import math

from builtin_interfaces.msg import Time
from curiosity_rosa_demo.infra.tf import Transform
from curiosity_stand_in import camera, frames
from curiosity_stand_in.body import Battery, State, WHEELS
from curiosity_stand_in.kinematics import Pose
from curiosity_stand_in.robot import Joint, Placement
from curiosity_stand_in.terrain import scan_ranges
import cv2
from geometry_msgs.msg import TransformStamped
from nav_msgs.msg import Odometry
import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import (
    BatteryState,
    CameraInfo,
    CompressedImage,
    Image,
    JointState,
    LaserScan,
)
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

# The leading slashes are the demo's own: its frames come from Gazebo's odometry plugin.
WORLD_FRAME = '/odom'
BASE_FRAME = '/base_footprint'
JPEG_QUALITY = 80


def time_message(seconds: float) -> Time:
    whole = math.floor(seconds)
    return Time(sec=whole, nanosec=min(999_999_999, int((seconds - whole) * 1e9)))


def odometry(state: State, stamp: Time) -> Odometry:
    """Pose in the world frame, in two dimensions as the demo's OdometryPublisher has it: z is 0,
    roll and pitch are there. Velocity in the body frame.
    """
    header = Header(stamp=stamp, frame_id=WORLD_FRAME)
    message = Odometry(header=header, child_frame_id=BASE_FRAME)
    message.pose.pose.position.x = state.pose.x
    message.pose.pose.position.y = state.pose.y
    turn = message.pose.pose.orientation
    turn.x, turn.y, turn.z, turn.w = _attitude(state.pose)
    message.twist.twist.linear.x = state.velocity.forward
    message.twist.twist.angular.z = state.velocity.turn
    return message


def transforms(state: State, stamp: Time, *, nan: bool = False) -> TFMessage:
    """The transform from world to base; ``nan`` replaces each of its numbers with NaN."""
    pose = state.pose
    at = Transform((pose.x, pose.y, 0.0), _attitude(pose))
    return TFMessage(transforms=[_stamped(WORLD_FRAME, BASE_FRAME, at, stamp, nan=nan)])


def joint_frames(
    joints: Iterable[Joint],
    angles: Mapping[str, float],
    stamp: Time,
    *,
    moving: bool,
    nan: bool = False,
) -> TFMessage:
    """The moving joints as a robot_state_publisher publishes them on /tf, or the fixed ones as it
    publishes them on /tf_static. ``angles``: radians by the joint's name.
    """
    return TFMessage(
        transforms=[
            _stamped(each.parent, each.child, each.at(angles.get(each.name, 0.0)), stamp, nan=nan)
            for each in joints
            if each.moves is moving
        ]
    )


def _stamped(
    parent: str, child: str, at: Transform, stamp: Time, *, nan: bool = False
) -> TransformStamped:
    header = Header(stamp=stamp, frame_id=parent)
    message = TransformStamped(header=header, child_frame_id=child)
    place, turn = message.transform.translation, message.transform.rotation
    place.x, place.y, place.z = (math.nan,) * 3 if nan else at.translation
    turn.x, turn.y, turn.z, turn.w = (math.nan,) * 4 if nan else at.rotation
    return message


def camera_info(stamp: Time) -> CameraInfo:
    """The pinhole model of the pictures."""
    focal, centre = camera.FOCAL, camera.CENTRE
    return CameraInfo(
        header=Header(stamp=stamp, frame_id=frames.CAMERA_FRAME),
        height=camera.SIZE,
        width=camera.SIZE,
        distortion_model='plumb_bob',
        d=[0.0] * 5,
        k=[focal, 0.0, centre, 0.0, focal, centre, 0.0, 0.0, 1.0],
        r=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p=[focal, 0.0, centre, 0.0, 0.0, focal, centre, 0.0, 0.0, 0.0, 1.0, 0.0],
    )


def joint_states(state: State, stamp: Time) -> JointState:
    """Wheels, mast and arm in alphabetical order: subscribers must match them by name."""
    joints = {
        name: (factor * state.wheels_turned, factor * state.wheels)
        for name, factor in WHEELS.items()
    }
    joints |= {name: (angle, state.rates[name]) for name, angle in state.angles.items()}
    names = sorted(joints)
    return JointState(
        header=Header(stamp=stamp),
        name=names,
        position=[joints[name][0] for name in names],
        velocity=[joints[name][1] for name in names],
    )


def scan(state: State, stamp: Time, lidar: str) -> LaserScan:
    place, rotation = frames.sensor_pose(frames.LIDAR_FRAME, state.pose, state.joints, lidar)
    nearest = frames.SCAN_MIN_M[lidar]
    rays = frames.RAYS @ rotation.T
    ranges = scan_ranges(place, rays, nearest=nearest, farthest=frames.SCAN_MAX_M)
    return scan_message(ranges, stamp, nearest)


def scan_message(ranges: NDArray[np.floating], stamp: Time, nearest: float) -> LaserScan:
    return LaserScan(
        header=Header(stamp=stamp, frame_id=frames.LIDAR_FRAME),
        angle_min=-frames.BEAM_LIMIT_RAD,
        angle_max=frames.BEAM_LIMIT_RAD,
        angle_increment=2 * frames.BEAM_LIMIT_RAD / (len(ranges) - 1),
        range_min=nearest,
        range_max=frames.SCAN_MAX_M,
        ranges=array.array('f', ranges.astype('f4').tobytes()),
    )


def battery(state: Battery, stamp: Time) -> BatteryState:
    """The battery state; unmeasured fields are NaN, as the message definition requires."""
    if state.full:
        supply = BatteryState.POWER_SUPPLY_STATUS_FULL
    elif state.charging:
        supply = BatteryState.POWER_SUPPLY_STATUS_CHARGING
    else:
        supply = BatteryState.POWER_SUPPLY_STATUS_DISCHARGING
    unmeasured = ('voltage', 'temperature', 'current', 'charge', 'capacity', 'design_capacity')
    return BatteryState(
        header=Header(stamp=stamp),
        percentage=state.charge,
        power_supply_status=supply,
        present=True,
        **dict.fromkeys(unmeasured, math.nan),
    )


def raw_image(picture: NDArray[np.uint8], stamp: Time, *, corrupt: bool = False) -> Image:
    """The picture as a message; ``corrupt`` drops half of the pixels."""
    height, width = picture.shape[:2]
    pixels = picture.tobytes()
    return Image(
        header=Header(stamp=stamp, frame_id=frames.CAMERA_FRAME),
        height=height,
        width=width,
        encoding='rgb8',
        step=3 * width,
        data=array.array('B', pixels[: len(pixels) // 2] if corrupt else pixels),
    )


def jpeg(picture: NDArray[np.uint8]) -> bytes:
    bgr = cv2.cvtColor(picture, cv2.COLOR_RGB2BGR)
    return cv2.imencode('.jpg', bgr, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])[1].tobytes()


def compressed_image(data: bytes, stamp: Time, *, corrupt: bool = False) -> CompressedImage:
    """The JPEG as a message; ``corrupt`` truncates it inside the tables, before any pixel."""
    return CompressedImage(
        header=Header(stamp=stamp, frame_id=frames.CAMERA_FRAME),
        format='rgb8; jpeg compressed bgr8',
        data=array.array('B', data[:100] if corrupt else data),
    )


def _attitude(pose: Pose) -> tuple[float, float, float, float]:
    """A quaternion: x, y, z, w."""
    return Placement(rpy=(pose.roll, pose.pitch, pose.yaw)).transform.rotation
