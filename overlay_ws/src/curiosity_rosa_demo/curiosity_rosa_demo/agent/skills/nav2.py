# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The skill ``navigate_to_pose`` through Nav2's action; needs nav2_msgs and its configuration.

Nav2 publishes on cmd_vel and bypasses the adapter: set motion.stop_unexpected of thresholds.yaml
to off.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from importlib.util import find_spec
import math
import time
from typing import Any

from curiosity_rosa_demo.agent.skills.drive import drive_failure, Heading, Metres, NO_POSE_TEXT
from curiosity_rosa_demo.agent.skills.skill import part_done, SkillCall
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.config_loader import ConfigError

POLL_PERIOD_S = 0.2
ANSWER_TIMEOUT_S = 5.0
CANCEL_TIMEOUT_S = 1.0  # the adapter's stop waits for it, twice at most
SPIN_PERIOD_S = 0.05
NAV2_MISSING_TEXT = (
    "agent.yaml: navigation.provider = 'nav2': the package nav2_msgs is missing; install "
    'ros-$ROS_DISTRO-nav2-msgs and source ROS, or set provider: motions'
)


class Nav2Goal:
    """One goal of Nav2's action. The calls block; its node is spun only in their thread.
    ``is_sent``: Nav2 may carry it out.
    """

    def __init__(self, action: str) -> None:
        from action_msgs.srv import CancelGoal
        from nav2_msgs.action import NavigateToPose
        import rclpy
        from rclpy.action import ActionClient
        from rclpy.executors import SingleThreadedExecutor

        self._node = rclpy.create_node('curiosity_rosa_nav2')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._client = ActionClient(self._node, NavigateToPose, action)
        self._cancel_service = self._node.create_client(
            CancelGoal, f'{action}/_action/cancel_goal'
        )
        self._goal, self._action = NavigateToPose.Goal(), action
        self._all_goals = CancelGoal.Request()  # without ID and time it means all
        self.is_sent = False
        self._sent: Any = None
        self._handle: Any = None
        self._result: Any = None
        self._left_m: float | None = None

    def send(
        self, frame: str, x: float, y: float, yaw_rad: float, cancellation: Cancellation
    ) -> str:
        """Send the goal. Returns the reason of a rejection; empty if Nav2 accepted it. Raises
        TurnCancelled, and sends none, after a stop.
        """
        if not self._client.wait_for_server(ANSWER_TIMEOUT_S):
            return f'Service unavailable: {self._action}'
        pose = self._goal.pose
        pose.header.frame_id = frame
        pose.pose.position.x, pose.pose.position.y = x, y
        pose.pose.orientation.z = math.sin(yaw_rad / 2)
        pose.pose.orientation.w = math.cos(yaw_rad / 2)
        with cancellation.hold_back():
            self.is_sent = True
            self._sent = self._client.send_goal_async(
                self._goal, feedback_callback=self._on_feedback
            )
        if not self._is_accepted(ANSWER_TIMEOUT_S):
            is_late = self._handle is None
            return (
                f'Service timeout: {self._action}' if is_late else 'Nav2 does not take this goal'
            )
        self._result = self._handle.get_result_async()
        return ''

    def wait_for_result(self, seconds: float) -> tuple[bool | None, float | None]:
        """Wait up to ``seconds``. Returns whether the goal succeeded (None: it is still active)
        and the remaining metres (None: unknown).
        """
        from action_msgs.msg import GoalStatus

        self._spin_until(self._result, seconds)
        if not self._result.done():
            return None, self._left_m
        return self._result.result().status == GoalStatus.STATUS_SUCCEEDED, self._left_m

    def cancel(self) -> None:
        """Cancel the goal. Without an answer to it cancel all goals: Nav2 may have taken it, or
        take it late.
        """
        if self._handle is None:
            self._cancel_service.call_async(self._all_goals)
        if self._is_accepted(CANCEL_TIMEOUT_S):
            self._spin_until(self._handle.cancel_goal_async(), CANCEL_TIMEOUT_S)

    def close(self) -> None:
        self._executor.shutdown()
        self._client.destroy()
        self._node.destroy_node()

    def _is_accepted(self, seconds: float) -> bool:
        """Wait for Nav2's answer to the goal."""
        self._spin_until(self._sent, seconds)
        if not self._sent.done():
            return False
        self._handle = self._sent.result()
        self.is_sent = self._handle.accepted
        return self.is_sent

    def _on_feedback(self, message: Any) -> None:
        self._left_m = float(message.feedback.distance_remaining)

    def _spin_until(self, future: Any, seconds: float) -> None:
        """Spin until ``future`` is done or ``seconds`` of steady time have passed.

        Simulated time may stand still, so it cannot limit the wait.
        """
        deadline = time.monotonic() + seconds
        while not future.done() and time.monotonic() < deadline:
            self._executor.spin_once(timeout_sec=SPIN_PERIOD_S)


def make_navigate_skill(
    action: str, open_goal: Callable[[str], Any] | None = None
) -> Callable[..., ToolResult]:
    """Make the skill for the action ``action``. ``open_goal`` makes a Nav2Goal. Raises ConfigError
    if nav2_msgs is missing.
    """
    if open_goal is None and find_spec('nav2_msgs') is None:
        raise ConfigError(NAV2_MISSING_TEXT)

    def navigate_to_pose(
        call: SkillCall, x: Metres, y: Metres, yaw_rad: Heading | None = None
    ) -> ToolResult:
        """Drive to a place in the world frame with Nav2, around obstacles. Needs a closed mast."""
        with closing((open_goal or Nav2Goal)(action)) as nav2:
            return _run_goal(call, nav2, x, y, yaw_rad)

    return navigate_to_pose


def _run_goal(
    call: SkillCall, nav2: Nav2Goal, x: float, y: float, yaw_rad: float | None
) -> ToolResult:
    """Run one goal. Nav2 needs a heading; the default is the direction from start to goal."""
    rejected, start = RefusalCode.NAV_GOAL_REJECTED, call.world.pose()
    if start is None:
        return drive_failure(rejected, NO_POSE_TEXT)
    yaw = math.atan2(y - start.y, x - start.x) if yaw_rad is None else yaw_rad
    if why := call.world.may_drive('move_forward', POLL_PERIOD_S):
        return drive_failure(rejected, why)
    reached: bool | None = None
    whole_m = math.hypot(x - start.x, y - start.y)
    try:
        if why := nav2.send(start.frame_id, x, y, yaw, call.cancellation):
            return drive_failure(rejected, why)
        while reached is None and not why:
            call.cancellation.check()
            reached, left_m = nav2.wait_for_result(POLL_PERIOD_S)
            done = None if left_m is None else part_done(whole_m, left_m)
            call.progress({'fraction': done, 'distance_m': left_m})
            why = call.world.may_drive('move_forward', POLL_PERIOD_S) if reached is None else ''
    finally:
        if nav2.is_sent and not reached:  # after some failures of Nav2 the rover keeps driving
            nav2.cancel()
            call.world.tool('move_stop', Cancellation())
    end = call.world.pose() or start
    data = {'x': end.x, 'y': end.y, 'yaw_rad': end.yaw_rad}
    if reached:
        return ToolResult.success(**data)
    return drive_failure(RefusalCode.NAV_BLOCKED, why or 'Nav2 gave up', **data)
