# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Canadarm2 by its profile: no base, poses by joint trajectory, a stand-in from that profile."""

from __future__ import annotations

from arm_world import ARM, ArmWorld, EXTENDED
from curiosity_rosa_demo.adapter.joint_commands import trajectory
from curiosity_rosa_demo.domain.models import E_STOP_PRESSED
from curiosity_rosa_demo.infra.ros_io import history_qos
from harness import Sandbox, wait_until
import pytest
from std_msgs.msg import Bool
from trajectory_msgs.msg import JointTrajectory

pytestmark = pytest.mark.ros
(TOPIC,) = ARM.names('topic')


def test_the_arm_takes_its_poses_in_their_order_and_a_stop_holds_it(sandbox: Sandbox) -> None:
    ArmWorld(sandbox, robot='canadarm2', speed=2.0).takes_its_poses_and_is_held()


def test_an_arm_that_must_rest_is_held_whoever_moves_it(sandbox: Sandbox) -> None:
    world = ArmWorld(sandbox, robot='canadarm2', speed=2.0)
    stranger = sandbox.node.create_publisher(JointTrajectory, TOPIC, 10)
    button = sandbox.node.create_publisher(Bool, '/e_stop', history_qos(1))
    world.does('arm_stow')
    wait_until(lambda: stranger.get_subscription_count() > 0, 'the controller')

    stranger.publish(trajectory(ARM.joints, EXTENDED, 8.0))
    world.wait_for_posture('unknown')
    wait_until(lambda: world.arm_stands(), 'the arm to stand')
    assert not world.is_at(EXTENDED)

    answer = world.ask_later('arm_stow')
    world.wait_for_posture('moving')
    button.publish(Bool(data=True))
    wait_until(answer.done, 'the answer of arm_stow')
    assert not answer.result().success
    wait_until(lambda: world.arm_stands(), 'the arm to stand')
    assert world.refuses('arm_stow') == E_STOP_PRESSED
    button.publish(Bool(data=False))
    world.wait_for_status(e_stop=False)

    world.ask_later('arm_extend')
    wait_until(lambda: world.extends(), 'the arm to move')
    world.adapter.kill()
    world.start_adapter()
    wait_until(lambda: world.arm_stands(), 'the arm to stand, held by the next adapter')
    world.wait_for_posture('unknown')
    world.does('arm_stow')
    assert world.is_at(ARM.stowed_rad)
