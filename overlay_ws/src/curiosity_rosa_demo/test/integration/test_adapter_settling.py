# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A rover whose suspension sags after a stop: the wheels stand, the body still moves."""

from __future__ import annotations

from collections.abc import Iterator
import math
from typing import Any

from adapter_world import AdapterWorld, CLOSED, ODOMETRY, SharedAdapter
from curiosity_rosa_demo.infra.config_loader import load_config
from geometry_msgs.msg import Twist
from harness import Sandbox, wait_until
from nav_msgs.msg import Odometry
import pytest
from sensor_msgs.msg import JointState

pytestmark = pytest.mark.ros

PERIOD_S = 0.05
SAG_MPS = 0.28
SETTLING_MAX_S = 2.5
WHEELS = load_config().thresholds.motion.wheel_joints


class Body:
    """Publishes odometry and joint states instead of the stand-in, as ros2_control does: the
    wheels have positions and no velocities.
    """

    def __init__(self, world: AdapterWorld) -> None:
        self._node = world.box.node
        self._odometry = self._node.create_publisher(Odometry, ODOMETRY, 10)
        self._joints = self._node.create_publisher(JointState, '/joint_states', 10)
        self.speed_mps = self.wheels_radps = 0.0
        self.published = 0
        self._angle = 0.0
        self._timer = self._node.create_timer(PERIOD_S, self._publish)

    def _publish(self) -> None:
        stamp = self._node.get_clock().now().to_msg()
        odometry, joints = Odometry(), JointState()
        odometry.header.stamp = joints.header.stamp = stamp
        odometry.pose.pose.orientation.w = 1.0
        odometry.twist.twist.linear.x = self.speed_mps
        self._angle += self.wheels_radps * PERIOD_S
        joints.name = ['mast_p_joint', 'mast_02_joint', *WHEELS]
        joints.position = [*CLOSED, *(self._angle for _ in WHEELS)]
        joints.velocity = [0.0, 0.0, *(math.nan for _ in WHEELS)]
        self._odometry.publish(odometry)
        self._joints.publish(joints)
        self.published += 1

    def goes_on_for(self, seconds: float) -> None:
        until = self.published + seconds / PERIOD_S
        wait_until(lambda: self.published >= until, f'{seconds} s of odometry')

    def end(self) -> None:
        self._node.destroy_timer(self._timer)
        self._node.destroy_publisher(self._odometry)
        self._node.destroy_publisher(self._joints)


@pytest.fixture
def world(shared_adapter: SharedAdapter) -> Iterator[AdapterWorld]:
    thresholds = {'motion': {'settling_max_s': SETTLING_MAX_S}}
    with shared_adapter.lend(thresholds=thresholds) as world:
        yield world


@pytest.fixture
def body(world: AdapterWorld) -> Iterator[Body]:
    """It drives, and takes the place of the stand-in's own."""
    world.drive()
    body = Body(world)
    body.speed_mps, body.wheels_radps = 0.5, 2.0
    world.fault(fault_odometry=True, fault_joint_states=True)
    body.goes_on_for(0.5)
    yield body
    body.end()


def zeros(world: AdapterWorld) -> list[Twist]:
    return [twist for twist in list(world.twists) if not twist.linear.x]


def sag(world: AdapterWorld, body: Body) -> Any:
    """The future of a stop after which the body sags."""
    world.twists.clear()
    body.speed_mps, body.wheels_radps = SAG_MPS, 0.0
    return world.ask_later('move_stop')


def test_a_stop_that_settles_is_pending_and_then_confirmed(
    world: AdapterWorld, body: Body
) -> None:
    stop = sag(world, body)
    body.goes_on_for(SETTLING_MAX_S - 0.4)
    assert not stop.done()
    assert len(zeros(world)) < 5  # the rover's own, and no flood
    status = world.status()
    assert (status['moving'], status['move_allowed'], status['violation']) == (True, False, '')
    body.speed_mps = 0.0
    wait_until(stop.done, 'the stop to be confirmed')
    assert (stop.result().success, stop.result().message) == (True, '')
    assert world.wait_for_status(moving=False)['violation'] == ''


def test_a_body_that_never_rests_is_told_from_wheels_that_turn(
    world: AdapterWorld, body: Body
) -> None:
    seen = 'the wheels stand, the body still moves at 0.28 m/s'
    stop = sag(world, body)
    wait_until(stop.done, 'the answer of the stop')
    assert not stop.result().success
    assert seen in stop.result().message
    expected = f'The rover moves on although it was stopped ({seen})'
    world.wait_for_status(violation=expected, moving=True)
    assert len(zeros(world)) > 20  # the flood


def test_the_stand_in_whose_mechanism_folds_is_confirmed(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox, speed=1.0, fault_sag=2.5).drive()
    world.twists.clear()
    world.does('move_stop')
    assert world.stands()
    assert world.wait_for_status(moving=False)['violation'] == ''
    assert len(zeros(world)) < 5
