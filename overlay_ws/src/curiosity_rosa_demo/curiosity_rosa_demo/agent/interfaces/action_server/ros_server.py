# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The goals of the action ``run_task`` as ROS has them.

A node and a thread of its own spin them: what goes wrong with an action leaves the agent alone.
That thread alone touches the goal handles, which are not made for several.
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

MAX_GOALS = 32  # that have not ended; more are rejected
MAX_FEEDBACK = 1000  # that wait to be sent; a storm loses the rest
FEEDBACK_QOS = QoSProfile(depth=100)  # events come in bursts
RESULT_KEPT_S = 60  # for a client that asks late
CLOSE_WAIT_S = 2.0
# DDS drops an answer that arrives after the news that its writer is gone
RESULT_LINGER_S = 1.0
CLIENT_GONE = (rclpy_implementation.RCLError, rclpy_implementation.InvalidHandle)


@dataclass(eq=False)
class GoalHandle:
    """Of one goal. ``result`` is a future of rclpy: its result is the Ending."""

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
    """``begin`` and ``cancel`` are called for a goal in the thread that spins and must be quick,
    ``failed`` when the action has come to an end that nobody wanted. The methods are for any
    thread.
    """

    def __init__(
        self,
        name: str,
        *,
        begin: Callable[[GoalHandle], None],
        cancel: Callable[[GoalHandle], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._tell_begin, self._tell_cancel = begin, cancel
        self._lock = threading.Lock()
        self._all_ended = threading.Condition(self._lock)
        self._live: dict[bytes, GoalHandle] = {}
        self._last_end_s = -math.inf
        self._closing = False
        self._jobs: deque[Callable[[], object]] = deque()
        self._wake_guard = False
        self._node = Node('agent_run_task', start_parameter_services=False)
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
        """Say that it is being carried out."""
        self._in_ros(lambda: self._set_executing(handle))

    def feedback(self, handle: GoalHandle, text: str, kind: str, step: int) -> None:
        if len(self._jobs) < MAX_FEEDBACK:
            feedback = RunTask.Feedback(trace_text=_without_nulls(text), kind=kind, step=step)
            self._in_ros(lambda: handle.ros.publish_feedback(feedback))

    def finish(self, handle: GoalHandle, ending: GoalResult) -> None:
        self._in_ros(lambda: self._set_ended(handle, ending))

    def refuse(self) -> None:
        """Take no more goals."""
        self._closing = True

    def close(self) -> None:
        """After all goals were ended: once their results are sent and have had time to arrive."""
        with self._lock:
            self._all_ended.wait_for(lambda: not self._live, CLOSE_WAIT_S)
            linger_s = self._last_end_s + RESULT_LINGER_S - time.monotonic()
        if linger_s > 0:
            time.sleep(linger_s)
        self._spin.close()
        self._server.destroy()
        self._node.destroy_node()

    def _in_ros(self, work: Callable[[], object]) -> None:
        """In the order of the calls; an executor's own tasks have none that can be relied on."""
        with self._lock:
            self._jobs.append(work)
            wake, self._wake_guard = not self._wake_guard, True
        if wake:
            self._node.executor.create_task(self._run_jobs)

    # --- in the thread that spins -----------------------------------------------------------

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
        self._tell_begin(handle)

    def _cancel(self, ros: Any) -> CancelResponse:
        handle = self._live.get(GoalHandle(ros).key)
        if handle is None:
            return CancelResponse.REJECT
        self._tell_cancel(handle)
        return CancelResponse.ACCEPT

    def _set_executing(self, handle: GoalHandle) -> None:
        if handle.executing:
            return
        handle.executing = True
        try:
            handle.ros.execute()
        except CLIENT_GONE:  # only the news of it could not be sent
            self._server.notify_execute(handle.ros, self._execute)

    def _set_ended(self, handle: GoalHandle, ending: GoalResult) -> None:
        self._set_executing(handle)  # a result is given by what executes
        handle.result.set_result(ending)

    async def _execute(self, ros: Any) -> RunTask.Result:
        key = GoalHandle(ros).key
        ending: GoalResult = await self._live[key].result
        with suppress(*CLIENT_GONE):
            if ending.cancelled and ros.is_cancel_requested:
                ros.canceled()
            elif ending.ok:
                ros.succeed()
            else:
                ros.abort()
        with self._lock:
            del self._live[key]
            self._last_end_s = time.monotonic()
            self._all_ended.notify_all()
        return RunTask.Result(
            ok=ending.ok,
            answer=_without_nulls(ending.answer),
            score=ending.score,
            task_id=ending.task_id,
        )


def _without_nulls(text: str) -> str:
    """Without what ROS cannot carry: lone surrogates, NUL."""
    return valid_unicode(text).replace('\0', ' ')
