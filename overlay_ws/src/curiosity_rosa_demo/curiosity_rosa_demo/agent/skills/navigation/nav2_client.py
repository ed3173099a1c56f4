# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Client of Nav2's NavigateToPose action. Its node is spun only in the thread of the caller.

This module imports nav2_msgs.
"""

from __future__ import annotations

import math
import time
from typing import Any

from action_msgs.msg import GoalStatus
from nav2_msgs.action import NavigateToPose
import rclpy
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor

ANSWER_TIMEOUT_S = 5.0
SPIN_PERIOD_S = 0.05


class Nav2Client:
    def __init__(self, action: str) -> None:
        self._node = rclpy.create_node('curiosity_rosa_nav2')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._client = ActionClient(self._node, NavigateToPose, action)
        self._action = action
        self._handle: Any = None
        self._result: Any = None
        self._left_m: float | None = None

    def send(self, frame: str, x: float, y: float, yaw_rad: float) -> str:
        if not self._client.wait_for_server(ANSWER_TIMEOUT_S):
            return f'Service unavailable: {self._action}'
        goal = NavigateToPose.Goal()
        goal.pose.header.frame_id = frame
        goal.pose.pose.position.x, goal.pose.pose.position.y = x, y
        goal.pose.pose.orientation.z = math.sin(yaw_rad / 2)
        goal.pose.pose.orientation.w = math.cos(yaw_rad / 2)
        goal_future = self._client.send_goal_async(goal, feedback_callback=self._on_feedback)
        self._spin_until(goal_future, ANSWER_TIMEOUT_S)
        if not goal_future.done():
            return f'Service timeout: {self._action}'
        self._handle = goal_future.result()
        if not self._handle.accepted:
            return 'Nav2 does not take this goal'
        self._result = self._handle.get_result_async()
        return ''

    def wait_for_result(self, seconds: float) -> tuple[bool | None, float | None]:
        self._spin_until(self._result, seconds)
        if not self._result.done():
            return None, self._left_m
        return self._result.result().status == GoalStatus.STATUS_SUCCEEDED, self._left_m

    def cancel(self) -> None:
        self._spin_until(self._handle.cancel_goal_async(), ANSWER_TIMEOUT_S)

    def close(self) -> None:
        self._executor.shutdown()
        self._client.destroy()
        self._node.destroy_node()

    def _on_feedback(self, message: Any) -> None:
        self._left_m = float(message.feedback.distance_remaining)

    def _spin_until(self, future: Any, seconds: float) -> None:
        """Spin until ``future`` is done or ``seconds`` of steady time have passed.

        Simulated time may stand still, so it cannot limit the wait.
        """
        deadline = time.monotonic() + seconds
        while not future.done() and time.monotonic() < deadline:
            self._executor.spin_once(timeout_sec=SPIN_PERIOD_S)
