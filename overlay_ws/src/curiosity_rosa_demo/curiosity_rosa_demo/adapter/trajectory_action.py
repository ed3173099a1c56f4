# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The action FollowJointTrajectory of a joint trajectory controller (ros2_control), and of MoveIt.

This module imports control_msgs.

An action is three services and two topics (design.ros2.org/articles/actions.html). rclpy's
ActionClient is not used: it cannot cancel the goals of other clients, which a stop must, and it
takes the feedback, whose fields differ between the versions of control_msgs.
"""

from __future__ import annotations

from collections.abc import Callable
import threading
import time
from typing import Any
import uuid

from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from control_msgs.action import FollowJointTrajectory
from curiosity_rosa_demo.adapter.channels import Channel
from curiosity_rosa_demo.adapter.steps import MotionRefused
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.text import clip, printable
from curiosity_rosa_demo.infra.ros_io import TRANSPORT_ERRORS
from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory
from unique_identifier_msgs.msg import UUID

CANCEL_S = 2.0  # in which a cancellation is answered, or is lost
Services = FollowJointTrajectory.Impl
Result = FollowJointTrajectory.Result
STATUS_TEXTS = {
    GoalStatus.STATUS_CANCELED: 'canceled, and not by the adapter',
    GoalStatus.STATUS_ABORTED: 'aborted',
    GoalStatus.STATUS_SUCCEEDED: 'ended with an error',
}
ERROR_NAMES = {
    getattr(Result, name): name
    for name in (
        'INVALID_GOAL',
        'INVALID_JOINTS',
        'OLD_HEADER_TIMESTAMP',
        'PATH_TOLERANCE_VIOLATED',
        'GOAL_TOLERANCE_VIOLATED',
    )
}


class TrajectoryAction(Channel):
    """The clients of one action. One lock of the caller is around ``hold`` and ``send``."""

    def __init__(self, node: Node, name: str) -> None:
        super().__init__(name)
        self._goals = node.create_client(Services.SendGoalService, f'{name}/_action/send_goal')
        self._results = node.create_client(Services.GetResultService, f'{name}/_action/get_result')
        self._cancels = node.create_client(CancelGoal, f'{name}/_action/cancel_goal')
        self._goal_id = _new_goal_id()  # of the last goal that was sent by ``send``
        self._lock = threading.Lock()  # of the next three: the spin thread takes the answers
        self._cancel: Future | None = None  # unanswered
        self._cancelled_at = 0.0
        self._hold: Future | None = None
        self._result: Future | None = None

    def is_ready(self) -> bool:
        """Whether the server is there, and no cancellation under way can end the next goal."""
        settled = self._cancel is None or time.monotonic() - self._cancelled_at > CANCEL_S
        clients = (self._goals, self._results, self._cancels)
        return settled and all(client.service_is_ready() for client in clients)

    def send(self, message: JointTrajectory) -> Future:
        with self._lock:
            self._cancel = None
        self._goal_id = _new_goal_id()
        future = _call(self._goals, _goal_request(self._goal_id, message))
        if future is None:
            raise MotionRefused(RefusalCode.NO_SERVICE.text(name=self.name))
        return future

    def forget(self, future: Future) -> None:
        """Nobody waits for this answer any more. A goal that the server takes later is cancelled:
        the stop that follows a time-out may have ended by then.
        """
        request = CancelGoal.Request()
        request.goal_info.goal_id = self._goal_id

        def cancel(done: Future) -> None:
            if done.result().accepted:
                _call(self._cancels, request)

        future.add_done_callback(cancel)

    def refusal(self, response: Any) -> str:
        return '' if response.accepted else f'{self.name}: the controller rejected the goal'

    def watch(self, on_failed: Callable[[str], None]) -> None:
        _forget(self._results, self._result)
        request = Services.GetResultService.Request(goal_id=self._goal_id)
        self._result = _call(self._results, request)
        if self._result is not None:
            self._result.add_done_callback(lambda done: self._report(done.result(), on_failed))

    def _report(self, response: Any, on_failed: Callable[[str], None]) -> None:
        if reason := failure(response.status, response.result):
            on_failed(f'{self.name}: {reason}')

    def hold(self, message: JointTrajectory | None) -> None:
        """Cancel every goal, whoever sent it, and then send this one. None: only cancel."""
        if not self._cancels.service_is_ready():
            return
        with self._lock:
            lost = self._cancel
            self._cancelled_at = time.monotonic()
            self._cancel = future = _call(self._cancels, CancelGoal.Request())  # zeros: all goals
            _forget(self._cancels, lost)
            if lost is not None and message is not None:
                self._replace_goal(message)  # it does not wait for a server that answers nothing
        if future is not None:
            future.add_done_callback(lambda _: self._cancelled(future, message))

    def _cancelled(self, future: Future, message: JointTrajectory | None) -> None:
        with self._lock:
            if self._cancel is not future:
                return  # a later call has taken its place
            if message is not None:
                self._replace_goal(message)
            self._cancel = None

    def _replace_goal(self, message: JointTrajectory) -> None:
        """Nobody waits for the answer: the rules look at the joints, and hold again. The caller
        holds the lock.
        """
        _forget(self._goals, self._hold)
        self._hold = _call(self._goals, _goal_request(_new_goal_id(), message))


def failure(status: int, result: Any) -> str:
    """Why a goal ended without success; '' if it succeeded. Success is no proof of the motion."""
    code = int(result.error_code)
    if status == GoalStatus.STATUS_SUCCEEDED and code == Result.SUCCESSFUL:
        return ''
    ended = STATUS_TEXTS.get(status, f'ended with status {status}')
    name = f'{ERROR_NAMES.get(code, "unknown error")} ({code})' if code else ''
    return ': '.join(filter(None, (ended, name, clip(printable(result.error_string)))))


def _new_goal_id() -> UUID:
    return UUID(uuid=list(uuid.uuid4().bytes))


def _goal_request(goal_id: UUID, message: JointTrajectory) -> Any:
    goal = FollowJointTrajectory.Goal(trajectory=message)
    return Services.SendGoalService.Request(goal_id=goal_id, goal=goal)


def _call(client: Client, request: Any) -> Future | None:
    try:
        return client.call_async(request)
    except TRANSPORT_ERRORS:
        return None


def _forget(client: Client, future: Future | None) -> None:
    if future is not None and not future.done():
        client.remove_pending_request(future)
