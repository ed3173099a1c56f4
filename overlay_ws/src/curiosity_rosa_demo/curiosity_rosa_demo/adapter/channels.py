# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Ways to the robot: a service, or the topic of a joint trajectory controller (ros2_control). The
action of one is in trajectory_action.py.
"""

from __future__ import annotations

from collections.abc import Callable
import threading
import time
from typing import Any

from curiosity_rosa_demo.adapter.steps import MotionRefused
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.ros_io import GuardedPublisher, LossCounter, TRANSPORT_ERRORS
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Empty, SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

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
        self._publisher = GuardedPublisher(node, JointTrajectory, name, DEPTH, losses)

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
