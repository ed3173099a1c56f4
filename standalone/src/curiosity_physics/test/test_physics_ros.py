# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The physics node as a process: what it publishes, and how it drives with our own drivers."""

from __future__ import annotations

import math

from harness import Sandbox, wait_until
from nav_msgs.msg import Odometry
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CompressedImage, JointState, LaserScan
from std_srvs.srv import Empty
from tf2_msgs.msg import TFMessage

pytestmark = pytest.mark.ros

ODOMETRY = '/model/curiosity_mars_rover/odometry'
READY_S = 60.0


def test_our_own_rover_drives_looks_and_stops(sandbox: Sandbox) -> None:
    sandbox.start('curiosity_physics', 'physics_node', world='rocks', time_scale=2.0)
    odometry = sandbox.collect(Odometry, ODOMETRY)
    joints = sandbox.collect(JointState, '/joint_states')
    scans = sandbox.collect(LaserScan, '/scan')
    frames = sandbox.collect(TFMessage, '/tf')
    clock = sandbox.collect(Clock, '/clock')
    pictures = sandbox.collect(CompressedImage, '/image_raw/compressed')
    sandbox.call(Empty, '/mast_close', timeout_s=READY_S)
    sandbox.call(Empty, '/move_forward')
    wait_until(lambda: odometry and odometry[-1].pose.pose.position.x > 1.0, 'a metre', READY_S)
    sandbox.call(Empty, '/move_stop')
    wait_until(lambda: abs(odometry[-1].twist.twist.linear.x) < 0.02, 'the rover to stand')
    wait_until(lambda: scans and pictures and clock, 'scan, picture and clock', READY_S)

    last = odometry[-1]
    assert (last.header.frame_id, last.child_frame_id) == ('/odom', '/base_footprint')
    assert last.pose.pose.position.z == 0.0
    assert last.pose.pose.orientation.y < 0.0  # nose up
    at = dict(zip(joints[-1].name, joints[-1].position, strict=True))
    rates = dict(zip(joints[-1].name, joints[-1].velocity, strict=True))
    assert at['mast_p_joint'] == pytest.approx(1.57, abs=0.02)
    assert at['front_wheel_L_joint'] > 3.0
    assert at['front_wheel_R_joint'] < -3.0
    assert math.isnan(rates['front_wheel_L_joint'])  # the URDF declares no velocity for it
    assert rates['mast_p_joint'] == pytest.approx(0.0, abs=0.05)
    assert (scans[-1].header.frame_id, len(scans[-1].ranges)) == ('lidar_link', 640)
    assert {each.child_frame_id for each in frames[-1].transforms} >= {
        '/base_footprint', 'mast_p', 'mast_02', 'mast_cameras', 'front_wheel_L',
    }  # fmt: skip
    assert bytes(pictures[-1].data[:2]) == b'\xff\xd8'
