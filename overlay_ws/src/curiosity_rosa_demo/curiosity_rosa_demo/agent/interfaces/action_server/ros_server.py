# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The ROS action server of ``run_task`` and its goal handles.

The thread that spins the agent's node spins this node too. A failure of the server ends in
``failed`` and never reaches the executor, where it would end the agent. Only that thread uses
rclpy's goal handles: they are not thread-safe.
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

from curiosity_rosa_demo.agent.interfaces.terminal.commands import is_short_stop
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.domain.skills import CANCELLED, Outcome
from curiosity_rosa_demo.domain.text import valid_unicode
from curiosity_rosa_interfaces.action import RunTask
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.task import Future

MAX_GOALS = 32  # active goals; the server rejects further ones, but no stop
MAX_FEEDBACK = 1000  # queued feedback messages; further ones are dropped
FEEDBACK_QOS = QoSProfile(depth=100)  # events come in bursts
RESULT_KEPT_S = 60  # so long a client can still request a result
CLOSE_WAIT_S = 2.0
MAX_JOBS_AT_ONCE = 50  # messages in a row; then the other callbacks of the thread have their turn
# DDS drops a response that arrives after the notice that its writer is gone.
RESULT_LINGER_S = 1.0
CLIENT_GONE = (rclpy_implementation.RCLError, rclpy_implementation.InvalidHandle)


@dataclass(eq=False)
class Goal:
    """One accepted goal. ``result`` is an rclpy future; its value is an Outcome. ``task``: None
    until it is known. ``runs``: the task, by its events. ``stops``: of the robot, when the goal
    was accepted.
    """

    ros: Any
    result: Future = field(default_factory=Future)
    executing: bool = False
    task: Task | None = None
    runs: bool = False
    cancelled: bool = False
    stops: int = 0


class GuardedActionServer(ActionServer):
    """An action server whose exceptions go to ``failed``, such as those of a client that is gone
    while rclpy answers it.
    """

    def __init__(self, failed: Callable[[Exception], None], *given: Any, **named: Any) -> None:
        self._failed = failed
        super().__init__(*given, **named)

    def take_data(self) -> Any:
        try:
            return super().take_data()
        except Exception as error:
            self._failed(error)
            return {}

    async def execute(self, taken_data: Any) -> None:
        try:
            await super().execute(taken_data)
        except Exception as error:
            self._failed(error)


class GoalHandles:
    """The public methods are thread-safe. Whoever makes it spins ``node``.

    The spin thread calls ``begin`` for an accepted goal and ``cancel`` for a cancel request; both
    must return quickly. It calls ``failed`` with each exception of the server.
    """

    def __init__(
        self,
        name: str,
        *,
        begin: Callable[[Goal], None],
        cancel: Callable[[Goal], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._begin_callback, self._cancel_callback = begin, cancel
        self._failed = failed
        self._lock = threading.Lock()
        self._all_ended = threading.Condition(self._lock)
        self._live: dict[bytes, Goal] = {}
        self._last_end_s = -math.inf
        self._closing = False
        self._jobs: deque[Callable[[], object]] = deque()
        self._wake_guard = False
        self.node = Node('agent_run_task')
        self._server = GuardedActionServer(
            failed,
            self.node,
            RunTask,
            name,
            self._execute,
            goal_callback=self._goal_response,
            handle_accepted_callback=self._on_goal,
            cancel_callback=self._cancel,
            feedback_pub_qos_profile=FEEDBACK_QOS,
            result_timeout=RESULT_KEPT_S,
        )

    def execute(self, goal: Goal) -> None:
        """Set the goal to executing."""
        self._in_ros(lambda: self._set_executing(goal))

    def feedback(self, goal: Goal, text: str, kind: str, step: int) -> None:
        if len(self._jobs) < MAX_FEEDBACK:
            feedback = RunTask.Feedback(trace_text=_without_nulls(text), kind=kind, step=step)
            self._in_ros(lambda: goal.ros.publish_feedback(feedback))

    def finish(self, goal: Goal, outcome: Outcome) -> None:
        """End the goal; without effect on one that has ended."""
        self._in_ros(lambda: self._set_ended(goal, outcome))

    def refuse(self) -> None:
        """Reject every further goal."""
        self._closing = True

    def close(self) -> None:
        """Wait until the results of all goals were sent and had time to arrive. The node spins on.

        Call ``finish`` for every goal first. Waits CLOSE_WAIT_S plus RESULT_LINGER_S at most.
        """
        with self._lock:
            self._all_ended.wait_for(lambda: not self._live, CLOSE_WAIT_S)
            linger_s = self._last_end_s + RESULT_LINGER_S - time.monotonic()
        if linger_s > 0:
            time.sleep(linger_s)

    def destroy(self) -> None:
        """Destroy the server, once nothing spins its node: rclpy cannot do it meanwhile."""
        self._server.destroy()
        self.node.destroy_node()

    def _in_ros(self, work: Callable[[], object]) -> None:
        """Queue ``work`` for the spin thread, in the order of the calls.

        The order in which an executor runs its own tasks is not defined.
        """
        with self._lock:
            self._jobs.append(work)
            wake, self._wake_guard = not self._wake_guard, True
        if wake:
            self.node.executor.create_task(self._run_jobs)

    # --- in the spin thread ------------------------------------------------------------------

    def _run_jobs(self) -> None:
        for _ in range(MAX_JOBS_AT_ONCE):
            with self._lock:
                if not self._jobs:
                    self._wake_guard = False
                    return
                work = self._jobs.popleft()
            try:
                work()
            except CLIENT_GONE:  # or the transport is saturated
                pass
            except Exception as error:
                self._failed(error)
        self.node.executor.create_task(self._run_jobs)

    def _goal_response(self, goal: RunTask.Goal) -> GoalResponse:
        has_room = len(self._live) < MAX_GOALS or is_short_stop(goal.text)
        is_taken = has_room and not self._closing
        return GoalResponse.ACCEPT if is_taken else GoalResponse.REJECT

    def _on_goal(self, ros: Any) -> None:
        goal = Goal(ros)
        with self._lock:
            self._live[_key(ros)] = goal
        self._begin_callback(goal)

    def _cancel(self, ros: Any) -> CancelResponse:
        goal = self._live.get(_key(ros))
        if goal is None:
            return CancelResponse.REJECT
        self._cancel_callback(goal)
        return CancelResponse.ACCEPT

    def _set_executing(self, goal: Goal) -> None:
        if goal.executing:
            return
        goal.executing = True
        try:
            goal.ros.execute()
        except CLIENT_GONE:  # the goal executes; only its status could not be published
            self._server.notify_execute(goal.ros, self._execute)

    def _set_ended(self, goal: Goal, outcome: Outcome) -> None:
        self._set_executing(goal)  # rclpy gives a result only to an executing goal
        if not goal.result.done():
            goal.result.set_result(outcome)

    async def _execute(self, ros: Any) -> RunTask.Result:
        goal = self._live[_key(ros)]
        outcome: Outcome = await goal.result
        with suppress(*CLIENT_GONE):
            if outcome.code == CANCELLED and ros.is_cancel_requested:
                ros.canceled()
            elif outcome.ok:
                ros.succeed()
            else:
                ros.abort()
        with self._lock:
            del self._live[_key(ros)]
            self._last_end_s = time.monotonic()
            self._all_ended.notify_all()
        return RunTask.Result(
            ok=outcome.ok,
            answer=_without_nulls(outcome.answer),
            score=math.nan if outcome.score is None else outcome.score,
            task_id='' if goal.task is None else goal.task.id,
        )


def _key(ros: Any) -> bytes:
    return bytes(ros.goal_id.uuid)


def _without_nulls(text: str) -> str:
    """``text`` without lone surrogates and NUL, which a ROS string cannot hold."""
    return valid_unicode(text).replace('\0', ' ')
