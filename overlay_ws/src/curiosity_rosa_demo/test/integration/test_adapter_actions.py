# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An arm whose poses are goals of FollowJointTrajectory, and its controller's ways to fail."""

from __future__ import annotations

from action_profile import ACTION, NAME, write_action_profile
from arm_world import ARM, ArmWorld, EXTENDED
from control_msgs.action import FollowJointTrajectory
from curiosity_rosa_demo.adapter.adapter_rules import STOPPED_WHILE_STARTING
from curiosity_rosa_demo.adapter.joint_commands import trajectory
from curiosity_rosa_demo.domain.models import E_STOP_PRESSED, service_unavailable
from curiosity_rosa_demo.infra.ros_io import history_qos
from harness import Sandbox, wait_until
import pytest
from rclpy.action import ActionServer, GoalResponse
from std_msgs.msg import Bool, String

pytestmark = pytest.mark.ros
LATE = '/no_such/action'


def world_of(sandbox: Sandbox) -> ArmWorld:
    folder = write_action_profile(sandbox.config_dir())
    return ArmWorld(sandbox, robot=NAME, config_dir=folder, speed=2.0)


def test_the_arm_takes_its_poses_by_goals_and_a_stop_holds_it(sandbox: Sandbox) -> None:
    world_of(sandbox).takes_its_poses_and_is_held()


def test_an_arm_that_must_rest_is_held_whoever_sent_the_goal(sandbox: Sandbox) -> None:
    world = world_of(sandbox)
    button = sandbox.node.create_publisher(Bool, '/e_stop', history_qos(1))
    stranger = sandbox.action_client(FollowJointTrajectory, ACTION)
    world.does('arm_stow')
    assert stranger.wait_for_server(timeout_sec=20.0)
    goal = FollowJointTrajectory.Goal(trajectory=trajectory(ARM.joints, EXTENDED, 8.0))
    stranger.send_goal_async(goal)
    world.wait_for_posture('unknown')
    wait_until(world.arm_stands, 'the arm to stand')
    assert not world.is_at(EXTENDED)

    answer = world.ask_later('arm_stow')
    world.wait_for_posture('moving')
    button.publish(Bool(data=True))
    wait_until(answer.done, 'the answer of arm_stow')
    assert not answer.result().success
    wait_until(world.arm_stands, 'the arm to stand')
    assert world.refuses('arm_stow') == E_STOP_PRESSED
    button.publish(Bool(data=False))
    world.wait_for_status(e_stop=False)

    world.ask_later('arm_extend')
    wait_until(world.extends, 'the arm to move')
    world.adapter.kill()
    world.start_adapter()
    wait_until(world.arm_stands, 'the arm to stand, held by the next adapter')
    world.wait_for_posture('unknown')
    world.does('arm_stow')


def test_a_goal_that_the_controller_aborts_is_refused_with_its_reason(sandbox: Sandbox) -> None:
    world = world_of(sandbox)
    world.does('arm_stow')
    answer = world.ask_later('arm_extend')
    wait_until(world.extends, 'the arm to move')
    world.fault(fault_stuck=True)
    wait_until(answer.done, 'the answer of arm_extend')
    assert answer.result().message == (
        f'{ACTION}: aborted: PATH_TOLERANCE_VIOLATED (-4): the joints have left their path'
    )
    world.wait_for_posture('unknown')
    world.fault(fault_stuck=False)
    world.does('arm_stow')


def test_a_stop_ends_a_command_that_waits_for_its_server(sandbox: Sandbox) -> None:
    world = world_of(sandbox)
    inputs = sandbox.collect(String, '/adapter/inputs', history_qos(10))
    wait_until(lambda: world.joints, 'joint states')
    world.adapter.end()
    patient = sandbox.config_dir(thresholds={'motion': {'service_timeout_s': 15.0}})
    world.start_adapter(config_dir=write_action_profile(patient, LATE))
    world.wait_for_posture('unknown')
    answer = world.ask_later('arm_extend')
    wait_until(lambda: any('check_appendage' in each.data for each in inputs), 'the command')
    world.does('move_stop')
    server = ActionServer(
        sandbox.node,
        FollowJointTrajectory,
        LATE,
        lambda _: FollowJointTrajectory.Result(),
        goal_callback=lambda _: GoalResponse.REJECT,  # which the answer would tell
    )
    try:
        wait_until(answer.done, 'the answer of arm_extend')
    finally:
        server.destroy()
    assert answer.result().message == STOPPED_WHILE_STARTING


@pytest.mark.parametrize(
    ('action', 'joints', 'told'),
    [
        (LATE, 7, service_unavailable(LATE)),
        (ACTION, 6, f'{ACTION}: the controller rejected the goal'),
    ],
    ids=['no_server', 'other_joints'],
)
def test_a_goal_that_nobody_takes_is_refused_with_the_reason(
    sandbox: Sandbox, action: str, joints: int, told: str
) -> None:
    world = world_of(sandbox)
    wait_until(lambda: world.joints, 'joint states')
    world.adapter.end()
    world.start_adapter(config_dir=write_action_profile(sandbox.config_dir(), action, joints))
    world.wait_for_posture('unknown')
    assert world.refuses('arm_extend') == told
    world.wait_for_posture('unknown')
