# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

import dataclasses
import math

from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.obstacles import ObstacleView, RoverShape, view_of
from curiosity_rosa_demo.infra.ros.scan import scan_of
from curiosity_rosa_demo.infra.tf.tree import composed, FrameTree, Transform
from curiosity_stand_in import arm, sensors
from curiosity_stand_in.battery import Battery
from curiosity_stand_in.body import State, WHEELS
from curiosity_stand_in.frames import camera_pose, lidar_pose, LIDARS
from curiosity_stand_in.kinematics import Pose, Velocity
from curiosity_stand_in.mast import CLOSED, Joints
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from sensor_msgs.msg import BatteryState

STATE = State(12.5, Pose(1.0, -2.0, 0.5), Velocity(0.5, 0.2), Joints(1.57, -1.5, 0.1), Battery())
THRESHOLDS = load_config().thresholds
BOULDER = (18.6 - THRESHOLDS.obstacles.front_m, -31.36)  # the rover's place when it touches it
STAMP = sensors.time_message(12.5)


def test_odometry_and_transform_say_the_same_with_the_demos_frames() -> None:
    odometry = sensors.odometry(STATE, STAMP)
    (transform,) = sensors.transforms(STATE, STAMP).transforms
    assert odometry.header.frame_id == transform.header.frame_id == '/odom'
    assert odometry.child_frame_id == transform.child_frame_id == '/base_footprint'
    assert (odometry.pose.pose.position.x, odometry.pose.pose.position.y) == (1.0, -2.0)
    assert transform.transform.translation.x == 1.0
    turn = transform.transform.rotation
    assert 2 * math.atan2(turn.z, turn.w) == pytest.approx(0.5)
    assert odometry.pose.pose.orientation == turn
    assert (odometry.twist.twist.linear.x, odometry.twist.twist.angular.z) == (0.5, 0.2)
    assert (odometry.header.stamp.sec, odometry.header.stamp.nanosec) == (12, 500_000_000)


def test_joints_go_by_name() -> None:
    state = dataclasses.replace(STATE, wheels=2.0, wheels_turned=3.0, mast_speeds=(0.1, 0.2, 0.3))
    message = sensors.joint_states(state, STAMP)
    assert list(message.name) == sorted(message.name)
    assert dict(zip(message.name, message.position, strict=True)) == {
        'mast_p_joint': 1.57,
        'mast_02_joint': -1.5,
        'mast_cameras_joint': 0.1,
        **dict.fromkeys(arm.NAMES, 0.0),
        **{name: 3.0 * factor for name, factor in WHEELS.items()},
    }
    assert dict(zip(message.name, message.velocity, strict=True)) == {
        'mast_p_joint': 0.1,
        'mast_02_joint': 0.2,
        'mast_cameras_joint': 0.3,
        **dict.fromkeys(arm.NAMES, 0.0),
        **{name: 2.0 * factor for name, factor in WHEELS.items()},
    }


@given(st.floats(-3.1, 3.1), st.floats(-0.5, 0.5), st.floats(-1.5, 1.5))
def test_the_attitude_on_odometry_is_the_bodys_and_its_height_is_left_out(
    yaw: float, roll: float, pitch: float
) -> None:
    state = dataclasses.replace(STATE, pose=Pose(1.0, 2.0, yaw, 0.95, roll, pitch))
    pose = sensors.odometry(state, STAMP).pose.pose
    at, turn = pose.position, pose.orientation
    frame = Transform((at.x, at.y, at.z), (turn.x, turn.y, turn.z, turn.w))
    ahead = (math.cos(pitch) * math.cos(yaw), math.cos(pitch) * math.sin(yaw), -math.sin(pitch))
    assert frame.rotate((1.0, 0.0, 0.0)) == pytest.approx(ahead, abs=1e-9)
    left, up = frame.rotate((0.0, 1.0, 0.0))[2], frame.rotate((0.0, 0.0, 1.0))[2]
    assert left == pytest.approx(math.cos(pitch) * math.sin(roll), abs=1e-9)
    assert up == pytest.approx(math.cos(pitch) * math.cos(roll), abs=1e-9)
    assert pose.position.z == 0.0


def test_the_scan_is_the_demos() -> None:
    message = sensors.scan(STATE, STAMP, 'mast')
    assert (len(message.ranges), message.header.frame_id) == (640, 'lidar_link')
    assert (message.range_min, message.range_max) == (1.0, 20.0)
    end = message.angle_min + 639 * message.angle_increment
    assert end == pytest.approx(message.angle_max, abs=1e-4)


def tree_of(state: State, lidar: str) -> FrameTree:
    """The frames as a reader of /tf and /tf_static knows them."""
    tree = FrameTree(max_age_s=1.0)
    for message, static in (
        (sensors.fixed_frames(STAMP, lidar), True),
        (sensors.moving_frames(state, STAMP, lidar), False),
    ):
        for each in message.transforms:
            place, turn = each.transform.translation, each.transform.rotation
            tree.update(
                each.header.frame_id,
                each.child_frame_id,
                (place.x, place.y, place.z),
                (turn.x, turn.y, turn.z, turn.w),
                stamp_ns=1,
                now_s=0.0,
                static=static,
            )
    return tree


def lidar_axes(
    joints: Joints, lidar: str, pitch: float = 0.0
) -> tuple[list[float], list[list[float]]]:
    """Place above the ground and rotation of the lidar of a rover at the origin."""
    place, rotation = lidar_pose(Pose(pitch=pitch), joints, lidar)
    return place.round(2).tolist(), rotation.round(2).tolist()


def test_the_lidar_on_the_stowed_mast_scans_a_vertical_plane_and_angle_0_is_up() -> None:
    _, rotation = lidar_axes(CLOSED, 'mast')
    forward, left, normal = zip(*rotation, strict=True)
    assert forward == (0.0, 0.0, 1.0)
    assert (left[2], normal[2]) == (0.0, 0.0)


def view(joints: Joints, lidar: str, pitch: float, x: float = 0.0, y: float = 0.0) -> ObstacleView:
    """What the overlay makes of this lidar's scan, posed by TF and turned level. Nose up."""
    state = State(0.0, Pose(x, y, pitch=-pitch), Velocity(), joints, Battery())
    sensor, _ = composed(*tree_of(state, lidar).chain('base_footprint', 'lidar_link', 0.0))
    turn = sensors.odometry(state, STAMP).pose.pose.orientation
    body = Transform((0.0, 0.0, 0.0), (turn.x, turn.y, turn.z, turn.w))
    message = sensors.scan(state, STAMP, lidar)
    return view_of(scan_of(message), body.tilt @ sensor, RoverShape.of(THRESHOLDS))


@pytest.mark.parametrize(
    'pitch', [THRESHOLDS.body.standing_pitch_rad, 0.1, THRESHOLDS.body.driving_pitch_rad]
)
def test_a_rock_ahead_is_seen_by_a_body_that_is_nose_up(pitch: float) -> None:
    for ahead_m in (5.8, 4.0, 2.2):
        seen = view(CLOSED, 'body', pitch, x=BOULDER[0] - ahead_m, y=BOULDER[1])
        assert seen.free_m['move_forward'] == pytest.approx(ahead_m, abs=0.5)


@settings(max_examples=examples(25))
@given(
    st.floats(0.0, 1.57),
    st.floats(-6.28, 0.0),
    st.floats(THRESHOLDS.body.standing_pitch_rad, THRESHOLDS.body.driving_pitch_rad),
)
def test_the_demos_lidar_sees_the_way_ahead_in_no_pose_of_the_mast(
    fold: float, yaw: float, pitch: float
) -> None:
    assert not view(Joints(fold, yaw, 0.0), 'mast', pitch).sees_ahead
    assert view(Joints(fold, yaw, 0.0), 'body', pitch).sees_ahead


@pytest.mark.parametrize(
    ('lidar', 'frame', 'place', 'rotation'),
    [
        *((name, 'lidar_link', *lidar_pose(Pose(z=0.0), STATE.joints, name)) for name in LIDARS),
        ('mast', 'camera_link', *camera_pose(Pose(z=0.0), STATE.joints)),
    ],
)
def test_the_frames_on_tf_lead_to_the_sensor(
    lidar: str, frame: str, place: np.ndarray, rotation: np.ndarray
) -> None:
    transform, _ = composed(*tree_of(STATE, lidar).chain('base_footprint', frame, 0.0))
    assert np.allclose(transform.translation, place)
    assert np.allclose(transform.rotate((1.0, 0.0, 0.0)), rotation[:, 0])
    assert np.allclose(transform.rotate((0.0, 1.0, 0.0)), rotation[:, 1])


@pytest.mark.parametrize(
    ('battery', 'supply'),
    [
        (Battery(1.0), BatteryState.POWER_SUPPLY_STATUS_DISCHARGING),
        (Battery(0.99, charging=True), BatteryState.POWER_SUPPLY_STATUS_CHARGING),
        (Battery(1.0, charging=True), BatteryState.POWER_SUPPLY_STATUS_FULL),
    ],
)
def test_the_battery_says_whether_it_charges(battery: Battery, supply: int) -> None:
    assert sensors.battery(battery, STAMP).power_supply_status == supply
