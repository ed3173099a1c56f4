# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The robot's commands that move joints, as ROS sends them: by a service, or by a trajectory on
the topic or to the action of a joint trajectory controller (ros2_control).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import math
import threading
import time
from typing import Any, Protocol, TYPE_CHECKING

from curiosity_rosa_demo.adapter.part import MAST, MAST_COMMANDS
from curiosity_rosa_demo.adapter.rules import MotionRefused
from curiosity_rosa_demo.domain.models import service_unavailable
from curiosity_rosa_demo.infra.config.robot import AppendageCommand
from curiosity_rosa_demo.infra.config.topics import Config, RoverService, RoverTopics
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.infra.ros_io import GuardedPublisher, LossCounter, TRANSPORT_ERRORS
from geometry_msgs.msg import Twist
from rclpy.client import Client
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Empty, SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

if TYPE_CHECKING:
    from curiosity_rosa_demo.adapter.trajectory_action import TrajectoryAction


# -----------------------------------------------------------------------------------------------
# What the adapter publishes while a stop is not confirmed: zeros for the robot's wheels
#
# A zero Twist asks the node that drives the wheels. When that node is dead, the controller of the
# wheels keeps its last command. So the zeros go to the topic of that controller too.


DEPTH = 10


@dataclass(frozen=True)
class StandstillCommand:
    """``wheel_commands``: None for a robot without that topic. ``wheels``: how many values its
    controller takes; it rejects any other number.
    """

    cmd_vel: GuardedPublisher[Twist]
    wheel_commands: GuardedPublisher[Float64MultiArray] | None
    wheels: int

    @classmethod
    def create(
        cls, node: Node, topics: RoverTopics, *, wheels: int, losses: LossCounter
    ) -> StandstillCommand:
        cmd_vel = GuardedPublisher.create(node, Twist, topics.cmd_vel, DEPTH, losses)
        if not (wheels and topics.wheel_commands):
            return cls(cmd_vel, None, 0)
        wheel_commands = GuardedPublisher.create(
            node, Float64MultiArray, topics.wheel_commands, DEPTH, losses
        )
        return cls(cmd_vel, wheel_commands, wheels)

    def publish(self) -> bool:
        """Returns whether the transport accepted all of it."""
        sent = self.cmd_vel.publish(Twist())
        if self.wheel_commands is None:
            return sent
        zeros = Float64MultiArray(data=[0.0] * self.wheels)
        return self.wheel_commands.publish(zeros) and sent


SERVICE_TYPES: dict[str, Any] = {
    'std_srvs/srv/Empty': Empty,
    'std_srvs/srv/SetBool': SetBool,
    'std_srvs/srv/Trigger': Trigger,
}
HOLD_S = 0.1  # simulated seconds in which joints that move come to rest
CHECK_S = 0.05


class JointCommand(Protocol):
    """``name``: of the service, the topic or the action."""

    name: str

    def is_ready(self) -> bool: ...

    def wait_until_ready(self, timeout_s: float) -> bool: ...

    def send(self) -> Future:
        """The future of the response. Raises MotionRefused when the transport rejects it."""
        ...

    def forget(self, future: Future) -> None:
        """Nobody waits for this response any more."""
        ...

    def refusal(self, response: Any) -> str:
        """Why the robot refused; '' if it did not."""
        ...

    def watch(self, on_failed: Callable[[str], None]) -> None:
        """Call ``on_failed`` with the reason if the robot ends early what it has accepted."""
        ...


class ServiceCommand:
    """A service of std_srvs."""

    def __init__(self, client: Client, request: Any) -> None:
        self._client, self._request = client, request
        self.name: str = client.srv_name

    @classmethod
    def create(cls, node: Node, name: str, kind: str, *, data: bool = True) -> ServiceCommand:
        """``kind``: the ROS type of the service; ``data``: the request of a SetBool."""
        service = SERVICE_TYPES[kind]
        request = service.Request()
        if service is SetBool:
            request.data = data
        return cls(node.create_client(service, name), request)

    @classmethod
    def of(cls, node: Node, service: RoverService) -> ServiceCommand:
        return cls.create(node, service.name, service.type, data=service.data)

    def is_ready(self) -> bool:
        return bool(self._client.service_is_ready())

    def wait_until_ready(self, timeout_s: float) -> bool:
        return bool(self._client.wait_for_service(timeout_s))

    def send(self) -> Future:
        try:
            return self._client.call_async(self._request)
        except TRANSPORT_ERRORS:
            raise MotionRefused(service_unavailable(self.name)) from None

    def forget(self, future: Future) -> None:
        self._client.remove_pending_request(future)

    def refusal(self, response: Any) -> str:
        if getattr(response, 'success', True):  # an Empty never refuses
            return ''
        return f'{self.name}: {response.message.strip() or "refused without a reason"}'

    def watch(self, on_failed: Callable[[str], None]) -> None:
        """A service says nothing after its response."""


class TrajectoryCommand:
    """A topic has no response: the future is done once the trajectory is published."""

    def __init__(
        self, publisher: GuardedPublisher[JointTrajectory], name: str, message: JointTrajectory
    ) -> None:
        self._publisher, self.name, self._message = publisher, name, message

    def is_ready(self) -> bool:
        return self._publisher.get_subscription_count() > 0

    def wait_until_ready(self, timeout_s: float) -> bool:
        return _becomes(self.is_ready, timeout_s)

    def send(self) -> Future:
        if not self._publisher.publish(self._message):
            raise MotionRefused(service_unavailable(self.name))
        future = Future()
        future.set_result(None)
        return future

    def forget(self, future: Future) -> None:
        """Nothing waits: the future was done when the trajectory was published."""

    def refusal(self, response: Any) -> str:
        return ''

    def watch(self, on_failed: Callable[[str], None]) -> None:
        """A topic says nothing."""


class ActionCommand:
    """The response is that to the goal; its result comes later."""

    def __init__(self, action: TrajectoryAction, message: JointTrajectory) -> None:
        self._action, self._message = action, message
        self.name = action.name

    def is_ready(self) -> bool:
        return self._action.is_ready()

    def wait_until_ready(self, timeout_s: float) -> bool:
        return _becomes(self.is_ready, timeout_s)

    def send(self) -> Future:
        return self._action.send(self._message)

    def forget(self, future: Future) -> None:
        self._action.forget(future)

    def refusal(self, response: Any) -> str:
        return '' if response.accepted else f'{self.name}: the controller rejected the goal'

    def watch(self, on_failed: Callable[[str], None]) -> None:
        self._action.watch(on_failed)


class PartCommands:
    """The commands of all parts of the robot, by name. ``by_name``: the part of each command.
    ``joints``: the names of its joints, by part.
    """

    def __init__(self, node: Node, config: Config, losses: LossCounter) -> None:
        robot, rover = config.robot, config.topics.curiosity
        self._topics: dict[str, list[GuardedPublisher[JointTrajectory]]] = {}
        self._actions: dict[str, list[TrajectoryAction]] = {}
        self.joints: dict[str, list[str]] = {}
        self.by_name: dict[str, str] = {}
        self._commands: dict[str, JointCommand] = {}
        if robot.has_mast:
            self.joints[MAST] = config.thresholds.mast.joints
            for name in MAST_COMMANDS:
                self.by_name[name] = MAST
                self._commands[name] = ServiceCommand.of(node, getattr(rover, name))
        for name, part in robot.appendages.items():
            topics = {
                topic: GuardedPublisher.create(node, JointTrajectory, topic, DEPTH, losses)
                for topic in part.names('topic')
            }
            actions = {action: _action(node, action) for action in part.names('action')}
            self._topics[name], self._actions[name] = [*topics.values()], [*actions.values()]
            self.joints[name] = part.joints
            for command, settings in part.commands.items():
                self.by_name[command] = name
                self._commands[command] = _command(node, topics, actions, settings, part.joints)

    def __getitem__(self, name: str) -> JointCommand:
        return self._commands[name]

    def missing(self) -> list[str]:
        """The names of the services, topics and actions behind which there is no robot."""
        absent = (each.name for each in self._commands.values() if not each.is_ready())
        return list(dict.fromkeys(absent))

    def hold(self, holds: Mapping[str, Sequence[float]]) -> None:
        """Command each appendage to these angles at once, and cancel its goals; without angles,
        only cancel them. A lost message is sent again: the rules repeat what has no effect.
        """
        for name, angles in holds.items():
            message = trajectory(self.joints[name], angles, HOLD_S) if angles else None
            for action in self._actions[name]:
                action.hold(message)
            for publisher in self._topics[name] if message is not None else ():
                publisher.publish(message)


def _command(
    node: Node,
    topics: Mapping[str, GuardedPublisher[JointTrajectory]],
    actions: Mapping[str, TrajectoryAction],
    command: AppendageCommand,
    joints: Sequence[str],
) -> JointCommand:
    if command.by_trajectory:
        message = trajectory(joints, command.target_rad, command.duration_s)
        if command.channel == 'action':
            return ActionCommand(actions[command.ros_name], message)
        return TrajectoryCommand(topics[command.ros_name], command.ros_name, message)
    return ServiceCommand.create(node, command.ros_name, command.type, data=command.data)


def _action(node: Node, name: str) -> TrajectoryAction:
    """Raises ConfigError where the ROS installation lacks the action's type."""
    try:
        from curiosity_rosa_demo.adapter.trajectory_action import TrajectoryAction
    except ImportError as error:
        raise ConfigError(
            f'action {name} of the robot profile: the ROS package control_msgs is not installed '
            f'({error}); install ros-$ROS_DISTRO-control-msgs, or choose another profile'
        ) from None
    return TrajectoryAction(node, name)


def _becomes(condition: Callable[[], bool], timeout_s: float) -> bool:
    deadline, pause = time.monotonic() + timeout_s, threading.Event()
    while not condition():
        if time.monotonic() >= deadline:
            return False
        pause.wait(CHECK_S)
    return True


def trajectory(joints: Sequence[str], angles: Sequence[float], seconds: float) -> JointTrajectory:
    """A motion that begins when the controller receives it, and ends at ``angles``, radians."""
    point = JointTrajectoryPoint(positions=list(angles))
    whole = math.floor(seconds)
    point.time_from_start = Duration(
        seconds=whole, nanoseconds=round((seconds - whole) * 1e9)
    ).to_msg()
    return JointTrajectory(joint_names=list(joints), points=[point])
