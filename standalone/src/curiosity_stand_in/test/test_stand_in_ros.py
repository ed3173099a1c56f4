# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The stand-in as a process, seen from outside: one for most tests of this module."""

from __future__ import annotations

from collections.abc import Iterator
import math
import signal
from typing import Any

from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_stand_in.parts import INITIAL
from curiosity_stand_in.settings import PARAMETERS
import cv2
from geometry_msgs.msg import Twist
from harness import Process, Sandbox, wait_until
from nav_msgs.msg import Odometry
import numpy as np
import pytest
from sensor_msgs.msg import BatteryState, CompressedImage, Image, JointState, LaserScan
from std_srvs.srv import Empty
from tf2_msgs.msg import TFMessage

pytestmark = pytest.mark.ros

BODY = load_config().thresholds.body
TIME_SCALE = 5.0
ODOMETRY = '/model/curiosity_mars_rover/odometry'
SOUND = {
    name: each.default
    for name, each in PARAMETERS.items()
    if name.startswith(('fault_', 'battery')) or name == 'e_stop'
}


def set_parameters(sandbox: Sandbox, **values: Any) -> list[str]:
    """Change parameters of the stand-in; the reasons of those that were refused."""
    return sandbox.set_parameters('curiosity_stand_in', **values)


def call(sandbox: Sandbox, name: str) -> None:
    sandbox.call(Empty, name)


def call_later(sandbox: Sandbox, name: str) -> Any:
    """A future of a call that need not be answered."""
    client = sandbox.client(Empty, name)
    assert client.wait_for_service(timeout_sec=20.0), f'{name} did not appear'
    return client.call_async(Empty.Request())


def watch(sandbox: Sandbox, msg_type: type, topic: str, qos: Any = 10) -> list[Any]:
    """Messages of a topic, once the first has arrived."""
    messages: list[Any] = sandbox.collect(msg_type, topic, qos)
    wait_until(lambda: messages, f'a message on {topic}')
    return messages


def next_ones(messages: list[Any], count: int, what: str = 'more messages') -> list[Any]:
    seen = len(messages)
    wait_until(lambda: len(messages) >= seen + count, what)
    return messages[seen : seen + count]


def wait_until_none_comes(messages: list[Any], others: list[Any], count: int = 15) -> None:
    """Until no message arrives while ``count`` of the others do; some were on their way."""

    def none_comes() -> bool:
        before = len(messages)
        next_ones(others, count)
        return len(messages) == before

    wait_until(none_comes, 'the messages to end while others go on')


def fold_of(message: JointState) -> float:
    return float(message.position[message.name.index('mast_p_joint')])


def decoded(message: CompressedImage) -> Any:
    return cv2.imdecode(np.frombuffer(bytes(message.data), np.uint8), cv2.IMREAD_COLOR)


def stops(twist: Twist) -> bool:
    return not (twist.linear.x or twist.angular.z)


def wait_until_still(odometry: list[Odometry]) -> None:
    """Until the rover stands: for longer than it rocks, at 10 messages per second of its time."""
    wait_until(
        lambda: all(stops(each.twist.twist) for each in odometry[-6:]), 'the rover to stand'
    )


class Way:
    """How far the rover is ahead of where it stood before, metres."""

    def __init__(self, odometry: list[Odometry]) -> None:
        self._odometry = odometry
        pose = odometry[-1].pose.pose
        self._start = pose.position
        self._yaw = 2 * math.atan2(pose.orientation.z, pose.orientation.w)

    @property
    def ahead(self) -> float:
        here = self._odometry[-1].pose.pose.position
        x, y = here.x - self._start.x, here.y - self._start.y
        return float(x * math.cos(self._yaw) + y * math.sin(self._yaw))


class Running:
    """The module's rover. A test that ends it starts another."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.process = self.start()

    def start(self) -> Process:
        self.process = self.sandbox.stand_in(
            time_scale=TIME_SCALE, publish_clock=True, initial_mast='open'
        )
        return self.process


@pytest.fixture(scope='module')
def running() -> Iterator[Running]:
    with Sandbox() as sandbox:
        yield Running(sandbox)


@pytest.fixture
def box(running: Running) -> Iterator[Sandbox]:
    """The module's rover, sound and standing somewhere with its mast open."""
    sandbox, process = running.sandbox, running.process
    assert process.alive, process.output()
    assert set_parameters(sandbox, **SOUND) == []
    call(sandbox, '/move_stop')
    call(sandbox, '/mast_open')
    with sandbox.lent():
        odometry = watch(sandbox, Odometry, ODOMETRY)
        joints = watch(sandbox, JointState, '/joint_states')
        next_ones(odometry, 6)
        wait_until_still(odometry)
        wait_until(lambda: fold_of(joints[-1]) == INITIAL['open'].fold, 'the mast to open')
        yield sandbox


def test_move_services_answer_at_once_and_the_rover_drives_until_the_stop(box: Sandbox) -> None:
    odometry = watch(box, Odometry, ODOMETRY)
    way = Way(odometry)
    twists = box.collect(Twist, '/cmd_vel')
    call(box, '/move_forward')
    wait_until(lambda: way.ahead > 3.0, 'the rover to come far without another call')
    assert odometry[-1].twist.twist.linear.x == pytest.approx(BODY.forward_mps)
    call(box, '/move_stop')
    wait_until_still(odometry)
    wait_until(lambda: twists[-1].linear.x == 0.0, 'the zero')
    count = len(twists)
    rest = next_ones(odometry, 10)
    assert rest[0].pose.pose == rest[-1].pose.pose
    assert len(twists) == count  # the zero came once
    assert [twist.linear.x for twist in twists[-2:]] == [2.0, 0.0]


def test_a_missing_topic_comes_back(box: Sandbox) -> None:
    """Those that no test of the adapter takes away."""
    others = watch(box, LaserScan, '/scan')
    messages = [watch(box, TFMessage, '/tf'), watch(box, BatteryState, '/battery_state')]
    assert set_parameters(box, fault_tf_lost=True, fault_battery=True) == []
    for each in messages:
        wait_until_none_comes(each, others)
    assert set_parameters(box, fault_tf_lost=False, fault_battery=False) == []
    for each in messages:
        next_ones(each, 1, 'it to come back')


def test_pictures_can_be_corrupt_or_stop(box: Sandbox) -> None:
    set_parameters(box, fault_image='corrupt')
    pictures = watch(box, CompressedImage, '/image_raw/compressed')
    wait_until(lambda: decoded(pictures[-1]) is None, 'a corrupt picture')
    raw = watch(box, Image, '/image_raw')
    assert len(raw[-1].data) < raw[-1].step * raw[-1].height
    set_parameters(box, fault_image='none')
    wait_until(lambda: decoded(pictures[-1]) is not None, 'a sound picture')
    set_parameters(box, fault_image='stopped')
    wait_until_none_comes(pictures, watch(box, LaserScan, '/scan'), 20)


def test_a_bad_parameter_later_is_refused_with_a_reason_and_changes_nothing(box: Sandbox) -> None:
    assert set_parameters(box, battery_drain_per_s=0.0, battery=0.75) == []
    assert 'Min: 0.0, Max: 1.0, value: 2.0' in set_parameters(box, battery=2.0)[0]
    assert 'from 0 to 1' in set_parameters(box, battery=2)[0]  # a range binds one type
    assert 'hang, late, absent' in set_parameters(box, fault_services=['move_stop:no'])[0]
    assert 'read-only' in set_parameters(box, time_scale=2.0)[0]
    battery = watch(box, BatteryState, '/battery_state')
    next_ones(battery, 2)
    assert battery[-1].percentage == 0.75


def test_a_call_on_its_way_to_a_service_that_goes_does_not_end_the_node(
    box: Sandbox, running: Running
) -> None:
    stop = box.client(Empty, '/move_stop')
    for _ in range(2):
        assert stop.wait_for_service(timeout_sec=20.0)
        set_parameters(box, fault_services=['move_forward:hang'])
        forward = call_later(box, '/move_forward')
        set_parameters(box, fault_services=['move_forward:hang', 'move_stop:absent'])
        stop.call_async(Empty.Request())  # the node hangs: the service is still there
        set_parameters(box, fault_services=['move_stop:absent'])
        wait_until(lambda: not stop.service_is_ready(), 'the service to be gone')
        wait_until(forward.done, 'the answer to a call that hung')
        call(box, '/turn_left')
        set_parameters(box, fault_services=[])
    call(box, '/move_stop')
    assert running.process.alive, running.process.output()


@pytest.mark.parametrize('signum', [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly_on_a_signal_although_it_hangs(
    box: Sandbox, running: Running, signum: int
) -> None:
    set_parameters(box, fault_services=['move_stop:hang', 'mast_open:late:300'])
    twists = box.collect(Twist, '/cmd_vel')
    call(box, '/move_forward')
    wait_until(lambda: len(twists) > 2, 'the rover to drive')
    call_later(box, '/move_stop')
    call_later(box, '/mast_open')
    wait_until_none_comes(twists, watch(box, Odometry, ODOMETRY), 10)
    process = running.process
    try:
        assert process.kill(signum) == 0
        assert 'Traceback' not in process.output()
    finally:
        running.start()
