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

from curiosity_stand_in.drivers import arm_effects, Effects, mast_effects, REPEAT_S, RunDemo
from curiosity_stand_in.faults import ServiceFaults
from curiosity_stand_in.rover import FASTEST_DRIVE, Rover
from curiosity_stand_in.spin import STEADY
from curiosity_stand_in.trajectory import Waypoint
from geometry_msgs.msg import Twist
from rclpy.node import Node
from rclpy.service import Service
from std_srvs.srv import Empty


class EmptyServices:
    """The std_srvs/Empty services of one node, with injected faults."""

    def __init__(self, node: Node, effects: Effects, faults: ServiceFaults) -> None:
        self._node = node
        self._effects = effects
        self._faults = faults
        self._services: dict[str, Service] = {}
        self.create_or_destroy()

    def create_or_destroy(self) -> None:
        """Create or destroy services, so that all exist except the absent ones.

        Call it in the node's own thread.
        """
        for name in self._effects:
            if self._faults.absent(name):
                if name in self._services:
                    self._node.destroy_service(self._services.pop(name))
            elif name not in self._services:
                self._services[name] = self._node.create_service(Empty, name, self._callback(name))

    def _callback(self, name: str) -> Callable[[Empty.Request, Empty.Response], Empty.Response]:
        def callback(_: Empty.Request, response: Empty.Response) -> Empty.Response:
            if self._faults.hold(name):
                self._effects[name]()
            return response

        return callback


class RunNode(Node):
    """The demo's run_demo: its Twists go to /cmd_vel."""

    def __init__(
        self, faults: ServiceFaults, *, time_scale: float, start_parameter_services: bool = True
    ) -> None:
        super().__init__(
            'run_node',
            cli_args=['--ros-args', '-r', '__node:=run_node'],  # a launch file sets another name
            start_parameter_services=start_parameter_services,
        )
        self._publisher = self.create_publisher(Twist, 'cmd_vel', 10)
        run_demo = RunDemo(self._publish)
        self.empty_services = EmptyServices(self, run_demo.effects, faults)
        # REPEAT_S is in the rover's time.
        period = REPEAT_S / min(time_scale, FASTEST_DRIVE)
        self.create_timer(period, run_demo.repeat, clock=STEADY)

    def _publish(self, linear_x: float, angular_z: float) -> None:
        twist = Twist()
        twist.linear.x, twist.angular.z = linear_x, angular_z
        self._publisher.publish(twist)


class MastNode(Node):
    """Serves the mast services, which start trajectories."""

    def __init__(
        self, rover: Rover, faults: ServiceFaults, *, start_parameter_services: bool = True
    ) -> None:
        super().__init__(
            'mast_node',
            cli_args=['--ros-args', '-r', '__node:=mast_node'],
            start_parameter_services=start_parameter_services,
        )

        def move(waypoints: tuple[Waypoint, ...]) -> None:
            with rover.body() as body:
                body.move_mast(waypoints)

        self.empty_services = EmptyServices(self, mast_effects(move), faults)


class ArmNode(Node):
    """Serves the arm services, which start trajectories."""

    def __init__(
        self, rover: Rover, faults: ServiceFaults, *, start_parameter_services: bool = True
    ) -> None:
        super().__init__(
            'arm_node',
            cli_args=['--ros-args', '-r', '__node:=arm_node'],
            start_parameter_services=start_parameter_services,
        )

        def move(waypoints: tuple[Waypoint, ...]) -> None:
            with rover.body() as body:
                body.move_arm(waypoints)

        self.empty_services = EmptyServices(self, arm_effects(move), faults)
