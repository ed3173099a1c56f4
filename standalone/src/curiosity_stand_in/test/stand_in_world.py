# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a test asks of the stand-in's process, and what it sees of it."""

from __future__ import annotations

import math
import time
from typing import Any

from curiosity_stand_in.battery import CHARGE_PER_S, DRAIN_PER_S
from curiosity_stand_in.mast import INITIAL
import cv2
from geometry_msgs.msg import Twist
from harness import Sandbox, wait_until
from nav_msgs.msg import Odometry
import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import CompressedImage, JointState
from std_srvs.srv import Empty

ODOMETRY = '/model/curiosity_mars_rover/odometry'
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SOUND: dict[str, Any] = {
    'battery': 1.0,
    'battery_drain_per_s': DRAIN_PER_S,
    'battery_charge_per_s': CHARGE_PER_S,
    'e_stop': False,
    'fault_tf_lost': False,
    'fault_tf_nan': False,
    'fault_image': 'none',
    'fault_joint_states': False,
    'fault_odometry': False,
    'fault_slip': 0.0,
    'fault_tilt': 0.0,
    'fault_sag': 0.0,
    'fault_wheel_node': False,
    'fault_battery': False,
    'fault_scan': False,
    'fault_services': [''],
}


def set_parameters(sandbox: Sandbox, **values: Any) -> list[str]:
    """Change parameters of the stand-in; the reasons of those that were refused."""
    return sandbox.set_parameters('curiosity_stand_in', **values)


def call(sandbox: Sandbox, name: str) -> float:
    """Call one of the rover's services; the seconds it took to answer."""
    client = sandbox.node.create_client(Empty, name)
    assert client.wait_for_service(timeout_sec=20.0), f'{name} did not appear'
    started = time.monotonic()
    sandbox.call(Empty, name)
    took = time.monotonic() - started
    sandbox.node.destroy_client(client)
    return took


def call_later(sandbox: Sandbox, name: str) -> Any:
    """A future of a call that need not be answered."""
    client = sandbox.node.create_client(Empty, name)
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


def wait_until_frozen(twists: list[Any], odometry: list[Any]) -> None:
    """Until no Twist is repeated any more while the odometry, which is as frequent, goes on."""

    def frozen() -> bool:
        count = len(twists)
        next_ones(odometry, 10)
        return len(twists) == count

    wait_until(frozen, 'the repeated Twist to end')


def seconds(stamp: Any) -> float:
    return float(stamp.sec + stamp.nanosec * 1e-9)


def angle(message: JointState, name: str) -> float:
    return float(message.position[message.name.index(name)])


def decoded(message: CompressedImage) -> Any:
    return cv2.imdecode(np.frombuffer(bytes(message.data), np.uint8), cv2.IMREAD_COLOR)


def stops(twist: Twist) -> bool:
    return not (twist.linear.x or twist.angular.z)


def wait_until_still(odometry: list[Odometry]) -> None:
    """Until the rover stands: for longer than it rocks, at 10 messages per second of its time."""
    wait_until(
        lambda: all(stops(each.twist.twist) for each in odometry[-6:]), 'the rover to stand'
    )


def pitch_of(odometry: Odometry) -> float:
    """Radians, nose up."""
    turn = odometry.pose.pose.orientation
    return math.asin(2.0 * (turn.x * turn.z - turn.w * turn.y))


def has_mast(message: JointState, state: str) -> bool:
    joints = INITIAL[state]
    wanted = {'mast_p_joint': joints.fold, 'mast_02_joint': joints.yaw}
    return all(angle(message, name) == value for name, value in wanted.items())


def reset(sandbox: Sandbox) -> None:
    """The rover as it starts with an open mast, but for its place: sound, and it stands."""
    assert set_parameters(sandbox, **SOUND) == []
    call(sandbox, '/move_stop')
    call(sandbox, '/mast_open')
    with sandbox.lent():
        odometry = watch(sandbox, Odometry, ODOMETRY)
        joints = watch(sandbox, JointState, '/joint_states')
        next_ones(odometry, 6)
        wait_until_still(odometry)
        wait_until(lambda: has_mast(joints[-1], 'open'), 'the mast to open')
