# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the adapter sends to the robot: calls, trajectories of joints, zeros for the wheels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import Any, NamedTuple

from curiosity_rosa_demo.adapter.channels import (
    Channel,
    DEPTH,
    SERVICE_TYPES,
    ServiceChannel,
    TopicChannel,
)
from curiosity_rosa_demo.adapter.part import MAST, MAST_COMMANDS
from curiosity_rosa_demo.infra.config.robot import AppendageCommand
from curiosity_rosa_demo.infra.config.topics import Config, RoverService, RoverTopics
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.infra.ros_io import GuardedPublisher, LossCounter
from geometry_msgs.msg import Twist
from rclpy.duration import Duration
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

HOLD_S = 0.1  # simulated seconds in which joints that move come to rest


class StandstillCommand:
    """A zero Twist asks the node that drives the wheels. When that node is dead, the controller of
    the wheels keeps its last command: so the zeros go to the topic of that controller too, unless
    the robot has none. ``wheels``: how many values it takes; it rejects any other number.
    """

    def __init__(
        self, node: Node, topics: RoverTopics, *, wheels: int, losses: LossCounter
    ) -> None:
        self._zeros = Float64MultiArray(data=[0.0] * wheels)
        self._cmd_vel = GuardedPublisher(node, Twist, topics.cmd_vel, DEPTH, losses)
        self._wheel_commands: GuardedPublisher[Float64MultiArray] | None = None
        if wheels and (topic := topics.wheel_commands):
            self._wheel_commands = GuardedPublisher(node, Float64MultiArray, topic, DEPTH, losses)

    def publish(self) -> bool:
        """Returns whether the transport accepted all of it."""
        sent = self._cmd_vel.publish(Twist())
        if self._wheel_commands is None:
            return sent
        return self._wheel_commands.publish(self._zeros) and sent


class Command(NamedTuple):
    """``message``: the request of a service, or a trajectory."""

    channel: Channel
    message: Any

    @classmethod
    def of(cls, node: Node, service: RoverService | AppendageCommand, name: str) -> Command:
        """A call of the service ``name``."""
        request = SERVICE_TYPES[service.type].Request()
        if isinstance(request, SetBool.Request):
            request.data = service.data
        return cls(ServiceChannel(node, name, service.type), request)


class PartCommands:
    """The commands of all parts of the robot, by name. ``part_of``: the part of each command.
    ``joints``: the names of its joints, by part.
    """

    def __init__(self, node: Node, config: Config, losses: LossCounter) -> None:
        robot, rover = config.robot, config.topics.curiosity
        self.joints: dict[str, list[str]] = {}
        self.part_of: dict[str, str] = {}
        self._commands: dict[str, Command] = {}
        self._held: dict[str, list[Channel]] = {}  # by part: what a stop must tell
        if robot.has_mast:
            self.joints[MAST] = config.thresholds.mast.joints
            self.part_of = dict.fromkeys(MAST_COMMANDS, MAST)
            for name in MAST_COMMANDS:
                service = getattr(rover, name)
                self._commands[name] = Command.of(node, service, service.name)
        for name, part in robot.appendages.items():
            channels: dict[str, Channel] = {
                **{topic: TopicChannel(node, topic, losses) for topic in part.names('topic')},
                **{action: _action(node, action) for action in part.names('action')},
            }
            self.joints[name], self._held[name] = part.joints, [*channels.values()]
            self.part_of |= dict.fromkeys(part.commands, name)
            for command, settings in part.commands.items():
                if settings.by_trajectory:
                    message = trajectory(part.joints, settings.target_rad, settings.duration_s)
                    self._commands[command] = Command(channels[settings.ros_name], message)
                else:
                    self._commands[command] = Command.of(node, settings, settings.ros_name)

    def __getitem__(self, name: str) -> Command:
        return self._commands[name]

    def missing(self) -> list[str]:
        """The names of the services, topics and actions behind which there is no robot."""
        channels = [each.channel for each in self._commands.values()]
        return list(dict.fromkeys(each.name for each in channels if not each.is_ready()))

    def hold(self, holds: Mapping[str, Sequence[float]]) -> None:
        """As ``Channel.hold``, each part at these angles; no angles: they are not known."""
        for name, angles in holds.items():
            message = trajectory(self.joints[name], angles, HOLD_S) if angles else None
            for channel in self._held[name]:
                channel.hold(message)


def _action(node: Node, name: str) -> Channel:
    """Raises ConfigError where the ROS installation lacks the action's type."""
    try:
        from curiosity_rosa_demo.adapter.trajectory_action import TrajectoryAction
    except ImportError as error:
        raise ConfigError(
            f'action {name} of the robot profile: the ROS package control_msgs is not installed '
            f'({error}); install ros-$ROS_DISTRO-control-msgs, or choose another profile'
        ) from None
    return TrajectoryAction(node, name)


def trajectory(joints: Sequence[str], angles: Sequence[float], seconds: float) -> JointTrajectory:
    """A motion that begins when the controller receives it, and ends at ``angles``, radians."""
    point = JointTrajectoryPoint(positions=list(angles))
    whole = math.floor(seconds)
    point.time_from_start = Duration(
        seconds=whole, nanoseconds=round((seconds - whole) * 1e9)
    ).to_msg()
    return JointTrajectory(joint_names=list(joints), points=[point])
