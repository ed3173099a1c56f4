# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Parts that trajectories move, and the clients of FollowJointTrajectory."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

from action_msgs.msg import GoalStatus
from action_profile import ACTION, action_profile
from control_msgs.action import FollowJointTrajectory
from curiosity_rosa_demo.adapter.joint_commands import AppendageCommands, trajectory
from curiosity_rosa_demo.adapter.trajectory_action import failure, TrajectoryAction
from curiosity_rosa_demo.infra.config.robot import RobotProfile
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from curiosity_rosa_demo.infra.loss_counter import LossCounter
import pytest
from rclpy.task import Future

ROBOTS = {
    'topic': load_config(robot='canadarm2').robot,
    'action': RobotProfile.model_validate(action_profile()),
}


HOLD = trajectory(['elbow'], [0.5], 0.1)
POSE = trajectory(['elbow'], [1.5], 4.0)
Result = FollowJointTrajectory.Result


class Line:
    """The three clients of a server that answers when the test says so, in the order of calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any, Future]] = []
        self.forgotten: list[Future] = []
        self.is_there = True
        node: Any = self
        self.action = TrajectoryAction(node, ACTION)

    def create_client(self, _: Any, name: str) -> SimpleNamespace:
        def call_async(request: Any) -> Future:
            self.calls.append((name.rpartition('/')[2], request, Future()))
            return self.calls[-1][2]

        return SimpleNamespace(
            service_is_ready=lambda: self.is_there,
            call_async=call_async,
            remove_pending_request=self.forgotten.append,
        )

    def sent(self) -> list[str]:
        return [name for name, _, _ in self.calls]

    def answer(self, index: int, response: Any = None) -> None:
        self.calls[index][2].set_result(response)


def test_a_hold_cancels_every_goal_and_then_sends_its_own() -> None:
    line = Line()
    line.action.hold(HOLD)
    assert line.sent() == ['cancel_goal']
    _, request, _ = line.calls[0]
    assert not any(request.goal_info.goal_id.uuid)  # zeros and no time: all goals
    assert request.goal_info.stamp.sec == request.goal_info.stamp.nanosec == 0
    line.action.hold(HOLD)  # a lost cancellation is not waited for
    assert line.sent() == ['cancel_goal', 'cancel_goal', 'send_goal']
    assert line.forgotten == [line.calls[0][2]]
    line.answer(1)
    assert line.sent()[2:] == ['send_goal', 'send_goal']
    assert line.calls[2][1].goal.trajectory == HOLD
    line = Line()
    line.action.hold(None)  # without angles it only cancels
    line.answer(0)
    line.is_there = False
    line.action.hold(HOLD)
    assert not line.action.is_ready()
    assert line.sent() == ['cancel_goal']


def test_a_goal_waits_for_the_cancellation_and_a_late_one_is_cancelled() -> None:
    line = Line()
    assert line.action.is_ready()
    line.action.hold(HOLD)
    assert not line.action.is_ready()
    line.action.send(POSE)
    line.answer(0)
    assert line.sent() == ['cancel_goal', 'send_goal']  # and no late hold replaces it
    assert line.calls[1][1].goal.trajectory == POSE
    assert line.action.is_ready()
    answer = FollowJointTrajectory.Impl.SendGoalService.Response
    for accepted in (True, False):  # after the time-out
        line = Line()
        line.action.forget(line.action.send(POSE))
        late = line.calls[0][1].goal_id
        line.action.send(POSE)
        line.answer(0, answer(accepted=accepted))
        cancelled = [each.goal_info.goal_id for name, each, _ in line.calls if 'cancel' in name]
        assert cancelled == ([late] if accepted else [])


FAILURES = [
    (GoalStatus.STATUS_SUCCEEDED, 0, 'done', ''),
    (GoalStatus.STATUS_SUCCEEDED, -5, '', 'ended with an error: GOAL_TOLERANCE_VIOLATED (-5)'),
    (GoalStatus.STATUS_ABORTED, 0, '', 'aborted'),
    (GoalStatus.STATUS_ABORTED, -7, 'x', 'aborted: unknown error (-7): x'),
    (GoalStatus.STATUS_CANCELED, 0, '', 'canceled, and not by the adapter'),
    (GoalStatus.STATUS_UNKNOWN, 0, '', 'ended with status 0'),
]


def test_the_result_of_the_last_goal_is_reported_with_the_name_of_the_action() -> None:
    line, told = Line(), list[str]()
    line.action.send(POSE)
    line.action.watch(told.append)
    assert line.calls[1][1].goal_id == line.calls[0][1].goal_id
    result = Result(error_code=Result.GOAL_TOLERANCE_VIOLATED, error_string='elbow:\n0.3 rad off')
    kind = FollowJointTrajectory.Impl.GetResultService.Response
    line.answer(1, kind(status=GoalStatus.STATUS_ABORTED, result=result))
    assert told == [f'{ACTION}: aborted: GOAL_TOLERANCE_VIOLATED (-5): elbow: 0.3 rad off']
    for status, code, text, reason in FAILURES:
        assert failure(status, Result(error_code=code, error_string=text)) == reason


def test_a_ros_without_the_type_refuses_the_profile_and_names_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, 'curiosity_rosa_demo.adapter.trajectory_action', None)
    node: Any = Line()
    told = rf'{ACTION}.*control_msgs is not installed.*install ros'
    with pytest.raises(ConfigError, match=told):
        AppendageCommands(node, ROBOTS['action'], LossCounter())
