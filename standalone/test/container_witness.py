# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A program beside the rover, in a container of its own. Ten times a second it prints a line of
JSON: the time, seconds since the epoch, where the rover is, and whether its wheels turn. It ends
with its standard input.
"""

from __future__ import annotations

import json
import math
import sys
import threading
import time

from curiosity_rosa_demo.infra.config_loader import load_config, shipped_config_dir
from nav_msgs.msg import Odometry
import rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

PERIOD_S = 0.1
TURNING_RPS = 0.2  # radians a second; a commanded wheel turns at 1 and more
ROLLING_MPS = 0.1  # without the wheels' joints; a body that rocks after a stop is slower


class Witness(Node):
    def __init__(self) -> None:
        super().__init__('container_witness')
        rover = load_config(str(shipped_config_dir())).topics.rover
        self._place, self._speed = (math.nan, math.nan), math.nan
        self._wheels: dict[str, float] = {}
        self._before: tuple[float, dict[str, float]] | None = None
        qos = qos_profile_sensor_data
        self.create_subscription(Odometry, rover.odometry, self._on_odometry, qos)
        self.create_subscription(JointState, rover.joint_states, self._on_joints, qos)
        self.create_timer(PERIOD_S, self._tell)

    def _on_odometry(self, message: Odometry) -> None:
        at, twist = message.pose.pose.position, message.twist.twist.linear
        self._place, self._speed = (at.x, at.y), math.hypot(twist.x, twist.y)

    def _on_joints(self, message: JointState) -> None:
        for name, position in zip(message.name, message.position, strict=False):
            if 'wheel' in name and 'steer' not in name:
                self._wheels[name] = position

    def _tell(self) -> None:
        now_s, wheels = time.time(), dict(self._wheels)
        turning = self._speed > ROLLING_MPS
        if wheels:
            before_s, before = self._before or (now_s, wheels)
            most = max(abs(wheels[name] - before.get(name, wheels[name])) for name in wheels)
            turning = most > TURNING_RPS * (now_s - before_s)
            self._before = now_s, wheels
        line = {'at_s': now_s, 'place': self._place, 'turning': turning}
        print(json.dumps(line), flush=True)


def main() -> None:
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    rclpy.init()
    node = Witness()
    while not ended.is_set():
        rclpy.spin_once(node, timeout_sec=PERIOD_S)
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    main()
