# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A stand-in for a robot without a mobile base, made from its profile alone: its joints, services
and joint trajectory controllers. No forces, no collisions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import sys
import time
from typing import Any, TYPE_CHECKING

from curiosity_rosa_demo.infra.config.robot import AppendageCommand, AppendageProfile, RobotProfile
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from curiosity_rosa_demo.infra.process import Process, run_app, SpinThread
from curiosity_rosa_demo.infra.ros_io import STEADY_CLOCK
from curiosity_stand_in.sensors import time_message
from curiosity_stand_in.trajectory import Angles, Trajectory, Waypoint
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_srvs.srv import Empty, SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

if TYPE_CHECKING:
    from curiosity_stand_in.follow_server import Course, FollowServer

JOINTS_S, CLOCK_S = 0.05, 0.02  # simulated seconds between two messages
LEAST_S = 0.01  # steady
LEAST_MOVE_S = 0.001  # the robot's time
TYPES: dict[str, Any] = {
    f'std_srvs/srv/{kind.__name__}': kind for kind in (Empty, Trigger, SetBool)
}
SECOND_NS = 1_000_000_000


class ProfileNode(Node):
    """Parameters: robot and config_dir as the overlay has them, time_scale, publish_clock;
    fault_stuck, which can be changed: no joint moves.
    """

    def __init__(self) -> None:
        super().__init__('curiosity_stand_in')
        folder = self.declare_parameter('config_dir', '').value
        robot = self.declare_parameter('robot', '').value
        self._scale = float(self.declare_parameter('time_scale', 1.0).value)
        self._has_clock = bool(self.declare_parameter('publish_clock', False).value)
        profile: RobotProfile = load_config(folder, robot=robot).robot
        self._began = time.monotonic()
        self._lines: dict[str, tuple[float, Trajectory]] = {}  # when it began, by appendage
        self.declare_parameter('fault_stuck', False)
        self._servers: list[FollowServer] = []
        self._joints = {name: tuple(part.joints) for name, part in profile.appendages.items()}
        for name, part in profile.appendages.items():
            rest: Angles = (0.0,) * len(part.joints)
            self._lines[name] = (0.0, Trajectory(rest))
            self._serve(name, part)
        self._states = self.create_publisher(JointState, 'joint_states', 10)
        self.create_timer(max(JOINTS_S / self._scale, LEAST_S), self._publish, clock=STEADY_CLOCK)
        if self._has_clock:
            self._clock_topic = self.create_publisher(Clock, 'clock', 10)
            period = max(CLOCK_S / self._scale, LEAST_S / 2)
            self.create_timer(period, self._publish_clock, clock=STEADY_CLOCK)
        self.get_logger().info(
            f'This is a stand-in for {robot}, made from its profile: joints without forces'
        )

    def _serve(self, name: str, part: AppendageProfile) -> None:
        for topic in part.names('topic'):
            follow = partial(self._follow, name)
            self.create_subscription(JointTrajectory, topic.lstrip('/'), follow, 10)
        for action in part.names('action'):
            self._servers.append(self._follow_server(name, action))
        for command in part.commands.values():
            if command.service is not None:
                kind, service = TYPES[command.type], command.service.lstrip('/')
                self.create_service(kind, service, self._service(name, command))

    def _service(self, name: str, command: AppendageCommand) -> Callable[[Any, Any], Any]:
        def callback(_: Any, response: Any) -> Any:
            self._move(name, tuple(command.target_rad), command.duration_s)
            if command.type != 'std_srvs/srv/Empty':
                response.success = True
            return response

        return callback

    def _follow(self, name: str, message: JointTrajectory) -> None:
        """As a joint trajectory controller: the newest trajectory replaces the one before."""
        if problem := self._problem(name, message):
            self.get_logger().error(f'Trajectory rejected: {problem}')
        else:
            self._begin(name, message)

    def _problem(self, name: str, message: JointTrajectory) -> str:
        """Why a controller rejects this trajectory; '' if it does not."""
        joints = self._joints[name]
        if not message.points or set(message.joint_names) != set(joints):
            return 'it is empty or has other joints'
        if len(message.points[-1].positions) != len(joints):
            return 'it has not one position for each joint'
        return ''

    def _begin(self, name: str, message: JointTrajectory) -> Trajectory:
        last = message.points[-1]
        angles = dict(zip(message.joint_names, last.positions, strict=True))
        seconds = last.time_from_start.sec + last.time_from_start.nanosec / SECOND_NS
        return self._move(name, tuple(angles[joint] for joint in self._joints[name]), seconds)

    def _follow_server(self, name: str, action: str) -> FollowServer:
        try:
            from curiosity_stand_in.follow_server import Course, FollowServer
        except ImportError as error:
            why = f'its server needs the ROS package control_msgs: {error}'
            raise ConfigError(f'action {action} of the robot profile: {why}') from None

        def course(line: Trajectory) -> Course:
            began, newest = self._lines[name]
            if newest is not line:
                return Course.LEFT
            is_over = self._seconds() - began >= line.duration_s
            return Course.ENDED if is_over else Course.UNDER_WAY

        return FollowServer(
            self,
            action.lstrip('/'),
            check=partial(self._problem, name),
            begin=lambda message: partial(course, self._begin(name, message)),
            hold=lambda: self._stand(name),
        )

    def _stand(self, name: str) -> None:
        """Hold these joints where they are."""
        self._move(name, self._angles(name), 0.0)

    def _move(self, name: str, target: Angles, seconds: float) -> Trajectory:
        waypoints = (Waypoint(max(seconds, LEAST_MOVE_S), target),)
        line = Trajectory(self._angles(name), waypoints, lag_s=0.0)
        self._lines[name] = (self._seconds(), line)
        return line

    def _angles(self, name: str) -> Angles:
        began, line = self._lines[name]
        return line.at(self._seconds() - began)

    def _seconds(self) -> float:
        """The robot's time."""
        return (time.monotonic() - self._began) * self._scale

    def _publish(self) -> None:
        if self.get_parameter('fault_stuck').value:
            for name in self._lines:
                self._stand(name)
        for server in self._servers:
            server.advance()
        message = JointState()
        seconds = self._seconds() if self._has_clock else time.time()
        message.header.stamp = time_message(seconds)
        for name, joints in self._joints.items():
            message.name = [*message.name, *joints]
            message.position = [*message.position, *self._angles(name)]
        self._states.publish(message)

    def _publish_clock(self) -> None:
        self._clock_topic.publish(Clock(clock=time_message(self._seconds())))


class ProfileStandIn:
    """The node and its thread."""

    def __init__(self, process: Process) -> None:
        self._thread = SpinThread('profile', ProfileNode(), on_crash=process.crash)

    def close(self) -> None:
        self._thread.close()


def main() -> None:
    sys.exit(run_app('profile_node', ProfileStandIn))
