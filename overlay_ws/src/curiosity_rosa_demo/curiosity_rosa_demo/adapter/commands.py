# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the adapter sends to the robot, and how: calls of services, trajectories of joints to the
topic of a controller (ros2_control) or to its action (trajectory_action.py), zeros for the wheels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import math
import threading
import time
from typing import Any, NamedTuple

from curiosity_rosa_demo.adapter.part import MAST, MAST_COMMANDS
from curiosity_rosa_demo.adapter.steps import MotionRefused
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.config.robot import AppendageCommand
from curiosity_rosa_demo.infra.config.topics import Config, RoverService, RoverTopics
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.infra.ros_io import GuardedPublisher, LossCounter, TRANSPORT_ERRORS
from geometry_msgs.msg import Twist
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Empty, SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

HOLD_S = 0.1  # simulated seconds in which joints that move come to rest
DEPTH = 10
SERVICE_TYPES: dict[str, Any] = {
    'std_srvs/srv/Empty': Empty,
    'std_srvs/srv/SetBool': SetBool,
    'std_srvs/srv/Trigger': Trigger,
}
CHECK_S = 0.05


class Channel:
    """``name``: of the service, the topic or the action. The defaults are those of a topic, from
    which nothing comes back.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def is_ready(self) -> bool:
        raise NotImplementedError

    def wait_until_ready(self, timeout_s: float) -> bool:
        deadline, pause = time.monotonic() + timeout_s, threading.Event()
        while not self.is_ready():
            if time.monotonic() >= deadline:
                return False
            pause.wait(CHECK_S)
        return True

    def send(self, message: Any) -> Future:
        """The future of the response. Raises MotionRefused when the transport rejects it."""
        raise NotImplementedError

    def forget(self, future: Future) -> None:
        """Nobody waits for this response any more."""

    def refusal(self, response: Any) -> str:
        """Why the robot refused; '' if it did not."""
        return ''

    def watch(self, on_failed: Callable[[str], None]) -> None:
        """Call ``on_failed`` with the reason if the robot ends early what it has accepted."""

    def hold(self, message: JointTrajectory | None) -> None:
        """Command the joints to these angles at once, and cancel what moves them. None: only
        cancel. A lost message is sent again: the rules repeat what has no effect.
        """


class ServiceChannel(Channel):
    """A service of std_srvs."""

    def __init__(self, node: Node, name: str, kind: str) -> None:
        self._client = node.create_client(SERVICE_TYPES[kind], name)
        super().__init__(self._client.srv_name)

    def is_ready(self) -> bool:
        return bool(self._client.service_is_ready())

    def send(self, message: Any) -> Future:
        try:
            return self._client.call_async(message)
        except TRANSPORT_ERRORS:
            raise MotionRefused(RefusalCode.NO_SERVICE.text(name=self.name)) from None

    def forget(self, future: Future) -> None:
        self._client.remove_pending_request(future)

    def refusal(self, response: Any) -> str:
        if getattr(response, 'success', True):  # an Empty never refuses
            return ''
        return f'{self.name}: {response.message.strip() or "refused without a reason"}'


class TopicChannel(Channel):
    """The future is done once the trajectory is published."""

    def __init__(self, node: Node, name: str, losses: LossCounter) -> None:
        super().__init__(name)
        self._publisher = GuardedPublisher.create(node, JointTrajectory, name, DEPTH, losses)

    def is_ready(self) -> bool:
        return self._publisher.get_subscription_count() > 0

    def send(self, message: JointTrajectory) -> Future:
        if not self._publisher.publish(message):
            raise MotionRefused(RefusalCode.NO_SERVICE.text(name=self.name))
        future = Future()
        future.set_result(None)
        return future

    def hold(self, message: JointTrajectory | None) -> None:
        if message is not None:
            self._publisher.publish(message)


class StandstillCommand:
    """A zero Twist asks the node that drives the wheels. When that node is dead, the controller of
    the wheels keeps its last command: so the zeros go to the topic of that controller too, unless
    the robot has none. ``wheels``: how many values it takes; it rejects any other number.
    """

    def __init__(
        self, node: Node, topics: RoverTopics, *, wheels: int, losses: LossCounter
    ) -> None:
        self._zeros = Float64MultiArray(data=[0.0] * wheels)
        self._cmd_vel = GuardedPublisher.create(node, Twist, topics.cmd_vel, DEPTH, losses)
        self._wheel_commands: GuardedPublisher[Float64MultiArray] | None = None
        if wheels and (topic := topics.wheel_commands):
            self._wheel_commands = GuardedPublisher.create(
                node, Float64MultiArray, topic, DEPTH, losses
            )

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
