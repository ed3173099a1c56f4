# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Canadarm2 by its profile: no base, poses by joint trajectory, a stand-in from that profile."""

from __future__ import annotations

from collections.abc import Sequence

from adapter_world import AdapterWorld, TOLERANCE
from curiosity_rosa_demo.adapter.joint_commands import trajectory
from curiosity_rosa_demo.domain.models import E_STOP_PRESSED
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.ros_io import history_qos
from harness import Sandbox, wait_until
import pytest
from std_msgs.msg import Bool
from trajectory_msgs.msg import JointTrajectory

pytestmark = pytest.mark.ros
PROFILE = load_config(robot='canadarm2').robot
ARM = PROFILE.appendages['arm']
(TOPIC,) = ARM.trajectory_topics
EXTENDED = ARM.commands['arm_extend'].target_rad


def angles(world: AdapterWorld) -> list[float]:
    """Radians, in the order of the profile."""
    wait_until(lambda: world.joints, 'joint states')
    message = world.joints[-1]
    measured = dict(zip(message.name, message.position, strict=True))
    return [measured[name] for name in ARM.joints]


def is_at(world: AdapterWorld, target: Sequence[float]) -> bool:
    return angles(world) == pytest.approx(target, abs=TOLERANCE)


def is_on_its_way(world: AdapterWorld) -> bool:
    return 0.3 < abs(angles(world)[3]) < 2.8


def stands(world: AdapterWorld) -> bool:
    """Whether the newest ten joint states, half a second of the robot's, are the same."""
    newest = [tuple(message.position) for message in world.joints[-10:]]
    return len(newest) == 10 and len(set(newest)) == 1


def wait_for_posture(world: AdapterWorld, posture: str) -> None:
    wait_until(lambda: world.status()['appendages'] == {'arm': posture}, f'the arm {posture}')


def test_the_arm_takes_its_poses_in_their_order_and_a_stop_holds_it(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox, robot='canadarm2', speed=2.0)
    wait_until(lambda: world.joints, 'joint states')
    assert world.refuses('arm_grapple') == 'arm must first be where arm_extend leads'
    world.does('arm_extend')
    assert is_at(world, EXTENDED)
    world.does('arm_grapple')
    assert is_at(world, ARM.commands['arm_grapple'].target_rad)
    world.does('arm_stow')

    answer = world.ask_later('arm_extend')
    wait_until(lambda: is_on_its_way(world), 'the arm to move')
    world.does('move_stop')
    assert stands(world)
    assert is_on_its_way(world)
    wait_until(answer.done, 'the answer of arm_extend')
    assert not answer.result().success
    assert world.status()['appendages'] == {'arm': 'unknown'}
    world.does('arm_stow')


def test_an_arm_that_must_rest_is_held_whoever_moves_it(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox, robot='canadarm2', speed=2.0)
    stranger = sandbox.node.create_publisher(JointTrajectory, TOPIC, 10)
    button = sandbox.node.create_publisher(Bool, '/e_stop', history_qos(1))
    world.does('arm_stow')
    wait_until(lambda: stranger.get_subscription_count() > 0, 'the controller')

    stranger.publish(trajectory(ARM.joints, EXTENDED, 8.0))
    wait_for_posture(world, 'unknown')
    wait_until(lambda: stands(world), 'the arm to stand')
    assert not is_at(world, EXTENDED)

    answer = world.ask_later('arm_stow')
    wait_for_posture(world, 'moving')
    button.publish(Bool(data=True))
    wait_until(answer.done, 'the answer of arm_stow')
    assert not answer.result().success
    wait_until(lambda: stands(world), 'the arm to stand')
    assert world.refuses('arm_stow') == E_STOP_PRESSED
    button.publish(Bool(data=False))
    world.wait_for_status(e_stop=False)

    world.ask_later('arm_extend')
    wait_until(lambda: is_on_its_way(world), 'the arm to move')
    world.adapter.kill()
    world.start_adapter()
    wait_until(lambda: stands(world), 'the arm to stand, held by the next adapter')
    wait_for_posture(world, 'unknown')
    world.does('arm_stow')
    assert is_at(world, ARM.stowed_rad)
