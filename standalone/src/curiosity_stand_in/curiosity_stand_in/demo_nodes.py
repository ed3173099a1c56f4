# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The three service nodes of the demo as ROS nodes, around the pure drivers.

All respond before the motion starts. Each runs one callback at a time, so a service that hangs
blocks every other callback of its node.
"""

from __future__ import annotations

from collections.abc import Callable

from curiosity_rosa_demo.infra.process import SpinThread
from curiosity_rosa_demo.infra.ros_io import STEADY_CLOCK
from curiosity_stand_in.drivers import Effects, REPEAT_S, RunDemo
from curiosity_stand_in.faults import ServiceFaults
from curiosity_stand_in.parts import Part, PARTS, Waypoints
from curiosity_stand_in.rover import FASTEST_DRIVE
from geometry_msgs.msg import Twist
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.service import Service
from std_srvs.srv import Empty


class ServicesNode(Node):
    """The std_srvs/Empty services of one node, with injected faults."""

    def __init__(self, name: str, effects: Effects, faults: ServiceFaults) -> None:
        # A launch file sets another name.
        super().__init__(name, cli_args=['--ros-args', '-r', f'__node:={name}'])
        self._effects = effects
        self._faults = faults
        self._offered: dict[str, Service] = {}
        self.create_or_destroy()

    def create_or_destroy(self) -> None:
        """Create or destroy services, so that all exist except the absent ones.

        Call it in the node's own thread.
        """
        for name in self._effects:
            if self._faults.absent(name):
                if name in self._offered:
                    self.destroy_service(self._offered.pop(name))
            elif name not in self._offered:
                self._offered[name] = self.create_service(Empty, name, self._callback(name))

    def _callback(self, name: str) -> Callable[[Empty.Request, Empty.Response], Empty.Response]:
        def callback(_: Empty.Request, response: Empty.Response) -> Empty.Response:
            if self._faults.hold(name):
                self._effects[name]()
            return response

        return callback


class RunNode(ServicesNode):
    """The demo's run_demo: its Twists go to /cmd_vel."""

    def __init__(self, faults: ServiceFaults, *, time_scale: float) -> None:
        run_demo = RunDemo(self._publish)
        super().__init__('run_node', run_demo.effects, faults)
        self._twists = self.create_publisher(Twist, 'cmd_vel', 10)
        # REPEAT_S is in the rover's time.
        period = REPEAT_S / min(time_scale, FASTEST_DRIVE)
        self.create_timer(period, run_demo.repeat, clock=STEADY_CLOCK)

    def _publish(self, linear_x: float, angular_z: float) -> None:
        twist = Twist()
        twist.linear.x, twist.angular.z = linear_x, angular_z
        self._twists.publish(twist)


def demo_threads(
    move: Callable[[Part, Waypoints], None],
    faults: ServiceFaults,
    *,
    time_scale: float,
    on_crash: Callable[[Exception], None],
) -> dict[ServicesNode, SpinThread]:
    """All of them, each in its own thread. ``move`` moves a part of the body."""
    drive = RunNode(faults, time_scale=time_scale)
    parts = (ServicesNode(f'{part.name}_node', part.effects(move), faults) for part in PARTS)
    # EventsExecutor raises InvalidHandle when a request waits for a service that was destroyed.
    return {
        node: SpinThread(
            node.get_name(), node, on_crash=on_crash, ignored=(rclpy_implementation.InvalidHandle,)
        )
        for node in (drive, *parts)
    }
