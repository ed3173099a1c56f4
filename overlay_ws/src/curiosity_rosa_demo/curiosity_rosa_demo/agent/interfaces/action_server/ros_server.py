# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The ROS action server of ``run_task`` and its goal handles.

A separate node and thread spin the server, so that its failure does not end the agent. Only that
thread uses rclpy's goal handles: they are not thread-safe.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
import math
import threading
import time
from typing import Any

from curiosity_rosa_demo.agent.interfaces.action_server.goal import GoalResult
from curiosity_rosa_demo.domain.text import valid_unicode
from curiosity_rosa_demo.infra.ros_io import SpinThread
from curiosity_rosa_interfaces.action import RunTask
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.task import Future

MAX_GOALS = 32  # active goals; the server rejects further ones
MAX_FEEDBACK = 1000  # queued feedback messages; further ones are dropped
FEEDBACK_QOS = QoSProfile(depth=100)  # events come in bursts
RESULT_KEPT_S = 60  # so long a client can still request a result
CLOSE_WAIT_S = 2.0
# DDS drops a response that arrives after the notice that its writer is gone.
RESULT_LINGER_S = 1.0
CLIENT_GONE = (rclpy_implementation.RCLError, rclpy_implementation.InvalidHandle)


@dataclass(eq=False)
class GoalHandle:
    """One accepted goal. ``result`` is an rclpy future; its value is a GoalResult."""

    ros: Any
    result: Future = field(default_factory=Future)
    executing: bool = False

    @property
    def key(self) -> bytes:
        return bytes(self.ros.goal_id.uuid)

    @property
    def request(self) -> RunTask.Goal:
        return self.ros.request


class GoalHandles:
    """The public methods are thread-safe.

    The spin thread calls ``begin`` for an accepted goal and ``cancel`` for a cancel request; both
    must return quickly. It calls ``failed`` when it ends because of an exception.
    """

    def __init__(
        self,
        name: str,
        *,
        begin: Callable[[GoalHandle], None],
        cancel: Callable[[GoalHandle], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._begin_callback, self._cancel_callback = begin, cancel
        self._lock = threading.Lock()
        self._all_ended = threading.Condition(self._lock)
        self._live: dict[bytes, GoalHandle] = {}
        self._last_end_s = -math.inf
        self._closing = False
        self._jobs: deque[Callable[[], object]] = deque()
        self._wake_guard = False
        self._node = Node('agent_run_task')
        self._server = ActionServer(
            self._node,
            RunTask,
            name,
            self._execute,
            goal_callback=self._goal_response,
            handle_accepted_callback=self._on_goal,
            cancel_callback=self._cancel,
            feedback_pub_qos_profile=FEEDBACK_QOS,
            result_timeout=RESULT_KEPT_S,
        )
        self._spin = SpinThread('agent_run_task', self._node, on_crash=failed)

    def execute(self, handle: GoalHandle) -> None:
        """Set the goal to executing."""
        self._in_ros(lambda: self._set_executing(handle))

    def feedback(self, handle: GoalHandle, text: str, kind: str, step: int) -> None:
        if len(self._jobs) < MAX_FEEDBACK:
            feedback = RunTask.Feedback(trace_text=_without_nulls(text), kind=kind, step=step)
            self._in_ros(lambda: handle.ros.publish_feedback(feedback))

    def finish(self, handle: GoalHandle, goal_result: GoalResult) -> None:
        self._in_ros(lambda: self._set_ended(handle, goal_result))

    def refuse(self) -> None:
        """Reject every further goal."""
        self._closing = True

    def close(self) -> None:
        """Destroy the server, after the results of all goals were sent and had time to arrive.

        Call ``finish`` for every goal first. Waits CLOSE_WAIT_S plus RESULT_LINGER_S at most.
        """
        with self._lock:
            self._all_ended.wait_for(lambda: not self._live, CLOSE_WAIT_S)
            linger_s = self._last_end_s + RESULT_LINGER_S - time.monotonic()
        if linger_s > 0:
            time.sleep(linger_s)
        self._spin.close()
        self._server.destroy()
        self._node.destroy_node()

    def _in_ros(self, work: Callable[[], object]) -> None:
        """Queue ``work`` for the spin thread, in the order of the calls.

        The order in which an executor runs its own tasks is not defined.
        """
        with self._lock:
            self._jobs.append(work)
            wake, self._wake_guard = not self._wake_guard, True
        if wake:
            self._node.executor.create_task(self._run_jobs)

    # --- in the spin thread ------------------------------------------------------------------

    def _run_jobs(self) -> None:
        while True:
            with self._lock:
                if not self._jobs:
                    self._wake_guard = False
                    return
                work = self._jobs.popleft()
            with suppress(*CLIENT_GONE):  # the transport is saturated
                work()

    def _goal_response(self, _: RunTask.Goal) -> GoalResponse:
        free = not self._closing and len(self._live) < MAX_GOALS
        return GoalResponse.ACCEPT if free else GoalResponse.REJECT

    def _on_goal(self, ros: Any) -> None:
        handle = GoalHandle(ros)
        with self._lock:
            self._live[handle.key] = handle
        self._begin_callback(handle)

    def _cancel(self, ros: Any) -> CancelResponse:
        handle = self._live.get(GoalHandle(ros).key)
        if handle is None:
            return CancelResponse.REJECT
        self._cancel_callback(handle)
        return CancelResponse.ACCEPT

    def _set_executing(self, handle: GoalHandle) -> None:
        if handle.executing:
            return
        handle.executing = True
        try:
            handle.ros.execute()
        except CLIENT_GONE:  # the goal executes; only its status could not be published
            self._server.notify_execute(handle.ros, self._execute)

    def _set_ended(self, handle: GoalHandle, goal_result: GoalResult) -> None:
        self._set_executing(handle)  # rclpy gives a result only to an executing goal
        handle.result.set_result(goal_result)

    async def _execute(self, ros: Any) -> RunTask.Result:
        key = GoalHandle(ros).key
        goal_result: GoalResult = await self._live[key].result
        with suppress(*CLIENT_GONE):
            if goal_result.cancelled and ros.is_cancel_requested:
                ros.canceled()
            elif goal_result.ok:
                ros.succeed()
            else:
                ros.abort()
        with self._lock:
            del self._live[key]
            self._last_end_s = time.monotonic()
            self._all_ended.notify_all()
        return RunTask.Result(
            ok=goal_result.ok,
            answer=_without_nulls(goal_result.answer),
            score=goal_result.score,
            task_id=goal_result.task_id,
        )


def _without_nulls(text: str) -> str:
    """``text`` without lone surrogates and NUL, which a ROS string cannot hold."""
    return valid_unicode(text).replace('\0', ' ')
