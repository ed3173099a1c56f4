# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The action of a stand-in's joint trajectory controller. It treats goals as ros2_control does: a
goal for other joints is rejected, the newest goal replaces the one before, a cancellation holds
the joints where they are, and joints off their path abort the goal.

This module imports control_msgs.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

Result = FollowJointTrajectory.Result


class Course(Enum):
    """Where a motion of the joints has got to."""

    UNDER_WAY = 'under way'
    ENDED = 'at its end'
    LEFT = 'the joints have left their path'


Motion = Callable[[], Course]


class FollowServer:
    """``check``: why a trajectory is rejected, or ''. ``begin``: starts one, and tells from then
    on where it has got to. ``hold``: holds the joints where they are. The caller calls
    ``advance`` often, in the thread of the node.
    """

    def __init__(
        self,
        node: Node,
        name: str,
        *,
        check: Callable[[JointTrajectory], str],
        begin: Callable[[JointTrajectory], Motion],
        hold: Callable[[], None],
    ) -> None:
        self._log = node.get_logger()
        self._check, self._begin, self._hold = check, begin, hold
        self._running: tuple[Any, Motion] | None = None  # the goal and its motion
        self._server = ActionServer(
            node,
            FollowJointTrajectory,
            name,
            _refuse_to_run,
            goal_callback=self._take_goal,
            handle_accepted_callback=self._start,
            cancel_callback=self._take_cancel,
        )

    def _take_goal(self, goal: Any) -> GoalResponse:
        if problem := self._check(goal.trajectory):
            self._log.error(f'Goal rejected: {problem}')
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _start(self, goal: Any) -> None:
        if self._running is not None:
            replaced = 'Current goal cancelled due to new incoming action.'
            self._end('abort', Result.INVALID_GOAL, replaced)
        self._running = goal, self._begin(goal.request.trajectory)

    def _take_cancel(self, goal: Any) -> CancelResponse:
        if self._running is not None and goal.goal_id == self._running[0].goal_id:
            self._hold()
        return CancelResponse.ACCEPT

    def advance(self) -> None:
        if self._running is None:
            return
        goal, course = self._running
        if goal.is_cancel_requested:
            self._end('canceled', Result.SUCCESSFUL, '')
        elif course() is Course.LEFT:
            self._end('abort', Result.PATH_TOLERANCE_VIOLATED, Course.LEFT.value)
        elif course() is Course.ENDED:
            self._end('succeed', Result.SUCCESSFUL, '')

    def _end(self, transition: str, code: int, text: str) -> None:
        """Bring the running goal to its end. rclpy sends the result of a goal that it executes, so
        the execution is its last moment.
        """
        if self._running is None:
            return
        goal, self._running = self._running[0], None

        def execute(handle: Any) -> Any:
            if handle.is_cancel_requested:
                handle.canceled()
            else:
                getattr(handle, transition)()
            return Result(error_code=code, error_string=text)

        goal.execute(execute)


def _refuse_to_run(_: Any) -> Any:
    raise AssertionError('each goal is executed with a callback of its own')
