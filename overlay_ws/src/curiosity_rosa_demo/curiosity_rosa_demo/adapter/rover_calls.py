# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the adapter sends to the robot, and how: calls of services, trajectories of joints on the
topic or to the action of a controller (ros2_control, MoveIt), zeros for the wheels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
import threading
import time
from typing import Any, NamedTuple
import uuid

from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from curiosity_rosa_demo.adapter.part import MAST_COMMANDS
from curiosity_rosa_demo.domain.geometry import DIRECTIONS
from curiosity_rosa_demo.domain.text import clip, printable
from curiosity_rosa_demo.infra.config.robot import AppendageCommand
from curiosity_rosa_demo.infra.config.topics import Config, RoverService, RoverTopics
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.infra.ros_io import GuardedPublisher, LossCounter, TRANSPORT_ERRORS
from geometry_msgs.msg import Twist
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import Float64MultiArray
from std_srvs import srv
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from unique_identifier_msgs.msg import UUID

DEPTH = 10
HOLD_S = 0.1  # simulated seconds in which joints that move come to rest
CANCEL_S = 2.0  # in which a cancellation is answered, or is lost
STATUS_TEXTS = {
    GoalStatus.STATUS_CANCELED: 'canceled, and not by the adapter',
    GoalStatus.STATUS_ABORTED: 'aborted',
    GoalStatus.STATUS_SUCCEEDED: 'ended with an error',
}
ERROR_NAMES = {  # of FollowJointTrajectory.Result
    -1: 'INVALID_GOAL',
    -2: 'INVALID_JOINTS',
    -3: 'OLD_HEADER_TIMESTAMP',
    -4: 'PATH_TOLERANCE_VIOLATED',
    -5: 'GOAL_TOLERANCE_VIOLATED',
}


class Channel:
    """``name``: of the service, the topic or the action. The defaults are those of a topic, from
    which nothing comes back.
    """

    name: str

    def is_ready(self) -> bool:
        raise NotImplementedError

    def send(self, message: Any) -> Future | None:
        """The future of the response; None when nobody is there to take the message."""
        raise NotImplementedError

    def forget(self, future: Future | None) -> None:
        """Nobody waits for this response any more. Nothing happens to one that has come."""

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
    """A service of the type ``kind``."""

    def __init__(self, node: Node, name: str, kind: type[Any]) -> None:
        self._client = node.create_client(kind, name)
        self.name = self._client.srv_name

    def is_ready(self) -> bool:
        return bool(self._client.service_is_ready())

    def send(self, message: Any) -> Future | None:
        with suppress(*TRANSPORT_ERRORS):
            if self._client.service_is_ready():
                return self._client.call_async(message)
        return None

    def forget(self, future: Future | None) -> None:
        if future is not None and not future.done():
            self._client.remove_pending_request(future)

    def refusal(self, response: Any) -> str:
        if getattr(response, 'success', True):  # an Empty never refuses
            return ''
        return f'{self.name}: {response.message.strip() or "refused without a reason"}'


class TopicChannel(Channel):
    """The future is done once the trajectory is published."""

    def __init__(self, node: Node, name: str, losses: LossCounter) -> None:
        self.name = name
        self._publisher = GuardedPublisher(node, JointTrajectory, name, DEPTH, losses)

    def is_ready(self) -> bool:
        return self._publisher.get_subscription_count() > 0

    def send(self, message: JointTrajectory) -> Future | None:
        if not self._publisher.publish(message):
            return None
        future = Future()
        future.set_result(None)
        return future

    def hold(self, message: JointTrajectory | None) -> None:
        if message is not None:
            self._publisher.publish(message)


class TrajectoryAction(Channel):
    """The action FollowJointTrajectory of a controller. One lock of the caller is around ``hold``
    and ``send``.

    An action is three services and two topics (design.ros2.org/articles/actions.html). rclpy's
    ActionClient is not used: it cannot cancel the goals of other clients, which a stop must, and
    it takes the feedback, whose fields differ between the versions of control_msgs.
    """

    def __init__(self, node: Node, name: str) -> None:
        """Raises ConfigError where the ROS installation lacks the action's type."""
        self.name = name
        try:
            from control_msgs.action import FollowJointTrajectory
        except ImportError as error:
            raise ConfigError(
                f'action {name} of the robot profile: the ROS package control_msgs is not '
                f'installed ({error}); install ros-$ROS_DISTRO-control-msgs, or choose another '
                'profile'
            ) from None
        self._goal_type, services = FollowJointTrajectory.Goal, FollowJointTrajectory.Impl
        self._goal_request = services.SendGoalService.Request
        self._result_request = services.GetResultService.Request
        at = f'{name}/_action'
        self._goals = ServiceChannel(node, f'{at}/send_goal', services.SendGoalService)
        self._results = ServiceChannel(node, f'{at}/get_result', services.GetResultService)
        self._cancels = ServiceChannel(node, f'{at}/cancel_goal', CancelGoal)
        self._goal_id = UUID()  # of the last goal that was sent by ``send``
        self._lock = threading.Lock()  # of the next three: the spin thread takes the answers
        self._cancel: Future | None = None  # unanswered
        self._cancelled_at = 0.0
        self._hold: Future | None = None
        self._result: Future | None = None

    def is_ready(self) -> bool:
        """Whether the server is there, and no cancellation under way can end the next goal."""
        settled = self._cancel is None or time.monotonic() - self._cancelled_at > CANCEL_S
        clients = (self._goals, self._results, self._cancels)
        return settled and all(client.is_ready() for client in clients)

    def send(self, message: JointTrajectory) -> Future | None:
        with self._lock:
            self._cancel = None
        self._goal_id = UUID(uuid=list(uuid.uuid4().bytes))
        return self._send_goal(self._goal_id, message)

    def forget(self, future: Future | None) -> None:
        """A goal that the server takes later is cancelled: the stop that follows a time-out may
        have ended by then.
        """
        request = CancelGoal.Request()
        request.goal_info.goal_id = self._goal_id

        def cancel(done: Future) -> None:
            if done.result().accepted:
                self._cancels.send(request)

        if future is not None and not future.done():
            future.add_done_callback(cancel)

    def refusal(self, response: Any) -> str:
        return '' if response.accepted else f'{self.name}: the controller rejected the goal'

    def watch(self, on_failed: Callable[[str], None]) -> None:
        def report(done: Future) -> None:
            if reason := failure(done.result().status, done.result().result):
                on_failed(f'{self.name}: {reason}')

        self._results.forget(self._result)
        self._result = self._results.send(self._result_request(goal_id=self._goal_id))
        if self._result is not None:
            self._result.add_done_callback(report)

    def hold(self, message: JointTrajectory | None) -> None:
        """Cancel every goal, whoever sent it, and then send this one. None: only cancel."""
        if not self._cancels.is_ready():
            return

        def cancelled(done: Future) -> None:
            with self._lock:
                if self._cancel is done:  # else a later call has taken its place
                    self._cancel = None
                    self._replace_goal(message)

        with self._lock:
            lost = self._cancel
            self._cancelled_at = time.monotonic()
            self._cancel = future = self._cancels.send(CancelGoal.Request())  # zeros: all goals
            self._cancels.forget(lost)
            if lost is not None:
                self._replace_goal(message)  # it does not wait for a server that answers nothing
        if future is not None:
            future.add_done_callback(cancelled)

    def _replace_goal(self, message: JointTrajectory | None) -> None:
        """Nobody waits for the answer: the rules look at the joints, and hold again. The caller
        holds the lock.
        """
        if message is not None:
            self._goals.forget(self._hold)
            self._hold = self._send_goal(UUID(uuid=list(uuid.uuid4().bytes)), message)

    def _send_goal(self, goal_id: UUID, message: JointTrajectory) -> Future | None:
        goal = self._goal_type(trajectory=message)
        return self._goals.send(self._goal_request(goal_id=goal_id, goal=goal))


def failure(status: int, result: Any) -> str:
    """Why a goal ended without success; '' if it succeeded. Success is no proof of the motion."""
    code = int(result.error_code)
    if status == GoalStatus.STATUS_SUCCEEDED and code == 0:
        return ''
    ended = STATUS_TEXTS.get(status, f'ended with status {status}')
    name = f'{ERROR_NAMES.get(code, "unknown error")} ({code})' if code else ''
    return ': '.join(filter(None, (ended, name, clip(printable(result.error_string)))))


class StandstillCommand:
    """A zero Twist asks the node that drives the wheels. When that node is dead, the controller of
    the wheels keeps its last command: so the zeros go to the topic of that controller too, unless
    the robot has none. ``wheels``: how many values it takes; it rejects any other number.
    """

    def __init__(
        self, node: Node, topics: RoverTopics, *, wheels: int, losses: LossCounter
    ) -> None:
        zeros: dict[str, Any] = {topics.cmd_vel: Twist()}
        if wheels and topics.wheel_commands:
            zeros[topics.wheel_commands] = Float64MultiArray(data=[0.0] * wheels)
        self._zeros = [
            (GuardedPublisher(node, type(zero), topic, DEPTH, losses), zero)
            for topic, zero in zeros.items()
        ]

    def publish(self) -> bool:
        """Returns whether the transport accepted all of it."""
        sent = [publisher.publish(zero) for publisher, zero in self._zeros]
        return all(sent)


class Command(NamedTuple):
    """``message``: the request of a service, or a trajectory."""

    channel: Channel
    message: Any


class Commands(dict[str, Command]):
    """What the robot does, by name: the motions of its base, then the commands of its parts."""

    def __init__(self, node: Node, config: Config, losses: LossCounter) -> None:
        super().__init__()
        robot, rover = config.robot, config.topics.curiosity
        self._appendages = robot.appendages
        self._held: dict[str, list[Channel]] = {}  # by part: what a stop must tell

        def call(service: RoverService | AppendageCommand, name: str) -> Command:
            kind = getattr(srv, service.type.rpartition('/')[2])
            request = kind.Request()
            if isinstance(request, srv.SetBool.Request):
                request.data = service.data
            return Command(ServiceChannel(node, name, kind), request)

        own = [*DIRECTIONS, 'move_stop'] if robot.mobile_base else []
        if robot.has_mast:
            own += MAST_COMMANDS
        for name in own:
            service = getattr(rover, name)
            self[name] = call(service, service.name)
        for name, part in robot.appendages.items():
            channels: dict[str, Channel] = {
                **{topic: TopicChannel(node, topic, losses) for topic in part.names('topic')},
                **{action: TrajectoryAction(node, action) for action in part.names('action')},
            }
            self._held[name] = [*channels.values()]
            for command, settings in part.commands.items():
                if settings.by_trajectory:
                    message = trajectory(part.joints, settings.target_rad, settings.duration_s)
                    self[command] = Command(channels[settings.ros_name], message)
                else:
                    self[command] = call(settings, settings.ros_name)

    def missing(self, names: Iterable[str] | None = None) -> list[str]:
        """The names of the services, topics and actions of these commands, or all, behind which
        there is no robot.
        """
        channels = [self[name].channel for name in (self if names is None else names)]
        return list(dict.fromkeys(each.name for each in channels if not each.is_ready()))

    def hold(self, holds: Mapping[str, Sequence[float]]) -> None:
        """As ``Channel.hold``, each part at these angles; no angles: they are not known."""
        for name, angles in holds.items():
            joints = self._appendages[name].joints
            message = trajectory(joints, angles, HOLD_S) if angles else None
            for channel in self._held[name]:
                channel.hold(message)


def trajectory(joints: Sequence[str], angles: Sequence[float], seconds: float) -> JointTrajectory:
    """A motion that begins when the controller receives it, and ends at ``angles``, radians."""
    point = JointTrajectoryPoint(positions=list(angles))
    point.time_from_start = Duration(nanoseconds=round(seconds * 1e9)).to_msg()
    return JointTrajectory(joint_names=list(joints), points=[point])
