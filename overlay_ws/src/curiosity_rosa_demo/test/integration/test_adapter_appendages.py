# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Robots by their profiles: a rover with an arm, an arm alone, a rover of other names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from action_profile import ACTION, NAME, write_action_profile
from adapter_world import AdapterWorld, TOLERANCE
from control_msgs.action import FollowJointTrajectory
from curiosity_rosa_demo.adapter.rover_calls import trajectory
from curiosity_rosa_demo.adapter.rules import STOPPED_WHILE_STARTING
from curiosity_rosa_demo.domain.models import (
    E_STOP_PRESSED,
    MOVE_IN_PROGRESS,
)
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.ros_io import history_qos
from harness import Sandbox, wait_until
import pytest
from rclpy.action import ActionServer, GoalResponse
from std_msgs.msg import Bool, String
from std_srvs.srv import Empty, SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory
import yaml

pytestmark = pytest.mark.ros
POSES = {'open': (0.0, -0.5, 3.0, 1.0, 0.0), 'closed': (-1.57, -0.4, -1.1, -1.57, -1.57)}
NAMES = ('arm_01_joint', 'arm_02_joint', 'arm_03_joint', 'arm_04_joint', 'arm_tools_joint')
NEED_TO_STOW_ARM = RefusalCode.NOT_STOWED.text(part='arm', stow='arm_close')
ARM = load_config(robot='canadarm2').robot.appendages['arm']
EXTENDED = ARM.commands['arm_extend'].target_rad
LATE = '/no_such/action'
(TOPIC,) = ARM.names('topic')
TRIGGER, SET_BOOL = 'std_srvs/srv/Trigger', 'std_srvs/srv/SetBool'
OWN = {
    'mast': False,
    'topics': {
        'curiosity': {
            'move_forward': {'name': '/own/go', 'type': TRIGGER},
            'turn_left': {'name': '/own/left', 'type': TRIGGER},
            'turn_right': {'name': '/own/right', 'type': TRIGGER},
            'move_stop': {'name': '/own/go_on', 'type': SET_BOOL, 'data': False},
        }
    },
}


def arm_is(world: AdapterWorld, pose: str) -> bool:
    message = world.measured()[0]
    angles = dict(zip(message.name, message.position, strict=True))
    return [angles[name] for name in NAMES] == pytest.approx(POSES[pose], abs=TOLERANCE)


def test_the_rover_drives_only_with_its_arm_stowed(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox, robot='curiosity').close_mast()
    assert world.status()['appendages'] == {'arm': 'unknown'}
    assert world.refuses('move_forward') == NEED_TO_STOW_ARM
    world.does('arm_open')
    assert arm_is(world, 'open')
    assert world.refuses('move_forward') == NEED_TO_STOW_ARM
    assert world.never_drove()

    world.does('arm_close')
    assert arm_is(world, 'closed')
    assert world.wait_for_status(move_allowed=True)['appendages'] == {'arm': 'stowed'}
    world.does('move_forward')
    wait_until(world.moves, 'the rover to move')
    assert world.refuses('arm_open') == MOVE_IN_PROGRESS
    assert world.moves()

    sandbox.call(Empty, '/open_arm')  # by somebody who does not ask the adapter
    world.wait_until_it_stands()
    assert world.wait_for_status(moving=False)['last_error_reason'] == 'Stopped: arm is unknown'
    assert world.refuses('turn_left') == NEED_TO_STOW_ARM

    world.fault(e_stop=True)
    world.wait_for_status(e_stop=True)
    assert world.refuses('arm_close') == E_STOP_PRESSED
    world.fault(e_stop=False)
    world.wait_for_status(e_stop=False)
    world.does('arm_close')
    world.does('move_forward')
    wait_until(world.moves, 'the rover to move again')


class ArmWorld(AdapterWorld):
    def angles(self) -> list[float]:
        """Radians, in the order of the profile."""
        message = self.measured()[0]
        measured = dict(zip(message.name, message.position, strict=True))
        return [measured[name] for name in ARM.joints]

    def is_at(self, target: Sequence[float]) -> bool:
        return self.angles() == pytest.approx(target, abs=TOLERANCE)

    def extends(self) -> bool:
        """Whether the arm is between its stowed and its extended pose."""
        return 0.3 < abs(self.angles()[3]) < 2.8

    def arm_stands(self) -> bool:
        """Whether the next ten joint states, half a second of the robot's, are the same."""
        return len({tuple(message.position) for message in self.measured(10)}) == 1

    def wait_for_posture(self, posture: str) -> None:
        wait_until(lambda: self.status()['appendages'] == {'arm': posture}, f'the arm {posture}')


def by_actions(sandbox: Sandbox) -> ArmWorld:
    folder = write_action_profile(sandbox.config_dir())
    return ArmWorld(sandbox, robot=NAME, config_dir=folder, speed=2.0)


def by_topic(sandbox: Sandbox) -> ArmWorld:
    return ArmWorld(sandbox, robot='canadarm2', speed=2.0)


@pytest.mark.parametrize('start', [by_topic, by_actions])
def test_an_arm_takes_its_poses_and_is_held_whoever_moves_it(
    sandbox: Sandbox, start: Callable[[Sandbox], ArmWorld]
) -> None:
    world = start(sandbox)
    button = sandbox.node.create_publisher(Bool, '/e_stop', history_qos(1))
    wait_until(lambda: world.joints, 'joint states')
    assert world.refuses('arm_grapple') == 'arm must first be where arm_extend leads'
    world.does('arm_extend')
    assert world.is_at(EXTENDED)
    world.does('arm_grapple')
    assert world.is_at(ARM.commands['arm_grapple'].target_rad)
    world.does('arm_stow')

    answer = world.ask_later('arm_extend')
    wait_until(world.extends, 'the arm to move')
    world.does('move_stop')
    assert world.arm_stands()
    assert world.extends()
    wait_until(answer.done, 'the answer of arm_extend')
    assert not answer.result().success
    assert world.status()['appendages'] == {'arm': 'unknown'}
    world.does('arm_stow')
    assert world.is_at(ARM.stowed_rad)

    strangers = trajectory(ARM.joints, EXTENDED, 8.0)
    if start is by_topic:
        stranger = sandbox.node.create_publisher(JointTrajectory, TOPIC, 10)
        wait_until(lambda: stranger.get_subscription_count() > 0, 'the controller')
        stranger.publish(strangers)
    else:
        client = sandbox.action_client(FollowJointTrajectory, ACTION)
        assert client.wait_for_server(timeout_sec=20.0)
        client.send_goal_async(FollowJointTrajectory.Goal(trajectory=strangers))
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
    assert world.is_at(ARM.stowed_rad)


def test_a_goal_that_fails_or_is_not_taken_is_refused_with_the_reason(sandbox: Sandbox) -> None:
    world = by_actions(sandbox)
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

    for action, joints, told in (
        (LATE, 7, RefusalCode.NO_SERVICE.text(name=LATE)),
        (ACTION, 6, f'{ACTION}: the controller rejected the goal'),
    ):
        world.adapter.end()
        world.start_adapter(config_dir=write_action_profile(sandbox.config_dir(), action, joints))
        world.wait_for_posture('unknown')
        assert world.refuses('arm_extend') == told
        world.wait_for_posture('unknown')


def test_a_stop_ends_a_command_that_waits_for_its_server(sandbox: Sandbox) -> None:
    inputs = sandbox.collect(String, '/adapter/inputs', history_qos(10))
    world = by_actions(sandbox)
    wait_until(lambda: world.joints, 'joint states')
    world.adapter.end()
    patient = sandbox.config_dir(thresholds={'motion': {'service_timeout_s': 15.0}})
    world.start_adapter(config_dir=write_action_profile(patient, LATE))
    world.wait_for_posture('unknown')
    answer = world.ask_later('arm_extend')
    wait_until(lambda: any('check_part' in each.data for each in inputs), 'the command')
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


def test_a_robot_of_other_names_and_types_is_started_stopped_and_heard_when_it_refuses(
    sandbox: Sandbox,
) -> None:
    calls: list[tuple[str, bool | None]] = []
    refused: dict[str, str] = {}

    def serve(name: str, request: Any, response: Any) -> Any:
        calls.append((name, getattr(request, 'data', None)))
        response.success = name not in refused
        response.message = refused.get(name, '')
        return response

    for name in ('go', 'left', 'right'):
        sandbox.node.create_service(Trigger, f'/own/{name}', partial(serve, name))
    sandbox.node.create_service(SetBool, '/own/go_on', partial(serve, 'go_on'))
    folder = sandbox.config_dir()
    Path(folder, 'robots').mkdir(exist_ok=True)
    Path(folder, 'robots/own.yaml').write_text(yaml.safe_dump(OWN), encoding='utf-8')
    world = AdapterWorld(sandbox, robot='own', config_dir=folder).settle()
    status = world.wait_for_status(move_allowed=True)
    assert (status['mast'], status['mast_is_open']) == ('none', False)
    served = {name for name, _ in sandbox.node.get_service_names_and_types()}
    assert '/adapter/move_forward' in served
    assert '/adapter/mast_close' not in served

    world.does('move_forward')
    world.does('move_stop')
    assert [call for call in calls if call[0] == 'go'] == [('go', None)]
    assert calls[-1] == ('go_on', False)

    refused['left'] = 'the voltage is low'
    stops = len(calls)
    assert world.refuses('turn_left') == '/own/left: the voltage is low'
    # It may move all the same.
    wait_until(lambda: ('go_on', False) in calls[stops:], 'the stop after the refusal')

    refused['go_on'] = 'stuck'
    twists = len(world.twists)
    world.does('move_forward')
    world.does('move_stop')  # by zero Twists, which the odometry confirms
    assert len(world.twists) > twists
