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
from typing import Any

from action_msgs.msg import GoalStatus
from action_profile import ACTION, action_profile
from control_msgs.action import FollowJointTrajectory
from curiosity_rosa_demo.adapter.joint_commands import AppendageCommands, trajectory
from curiosity_rosa_demo.adapter.trajectory_action import failure, TrajectoryAction
from curiosity_rosa_demo.infra.config.robot import RobotProfile
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from curiosity_rosa_demo.infra.loss_counter import LossCounter
from examples import examples
from guard_world import CONFIG, RESTS_S, World
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from rclpy.task import Future

ROBOTS = {
    'topic': load_config(robot='canadarm2').robot,
    'action': RobotProfile.model_validate(action_profile()),
}
CHANNELS = pytest.mark.parametrize('channel', ROBOTS)
COMMANDS = sorted(ROBOTS['topic'].commands)
ENDS_S = 4.0 + CONFIG.mast.confirm_margin_s + 1.0


def world_of_the_arm(channel: str = 'topic') -> World:
    world = World(ROBOTS[channel])
    world.step(RESTS_S)
    return world


def is_held(world: World) -> bool:
    """Nothing moves the arm, nobody knows where it is, and it can be stowed."""
    world.step(RESTS_S)
    arm = world.guard.appendages['arm']
    assert (world.part_motions, arm.posture.value, world.guard.holding) == ({}, 'unknown', False)
    assert world.ask_appendage('arm', 'arm_stow') == ''
    world.step(ENDS_S)
    return arm.reached('arm_stow')


@given(history=st.lists(st.sampled_from((*COMMANDS, 'stop')), max_size=20))
@settings(max_examples=examples(50))
def test_the_grapple_pose_is_left_for_and_reached_from_the_extended_arm_only(
    history: list[str],
) -> None:
    world = world_of_the_arm()
    last = ''
    for what in history:
        refused = world.ask_appendage('arm', what) if what in COMMANDS else ''
        if what == 'arm_grapple' and last != 'arm_extend':
            assert refused == 'arm must first be where arm_extend leads'
        else:
            assert refused == ''
        if what == 'stop':
            world.ask_stop()
        elif not refused:
            last = what
        world.step(ENDS_S)


@CHANNELS
def test_an_arm_that_is_stopped_aborted_moved_by_others_or_left_moving_is_held(
    channel: str,
) -> None:
    for seconds in (0.1, 1.0, 3.9):
        world = world_of_the_arm(channel)
        assert world.ask_appendage('arm', 'arm_extend') == ''
        world.step(seconds)
        number = world.ask_stop()
        assert is_held(world)
        assert world.guard.stop_problem(number) == ''
    world.follow('arm', [1.0] * 7, 30.0)
    assert is_held(world)
    assert world.ask_appendage('arm', 'arm_extend') == ''
    world.step(1.0)
    if channel == 'action':
        world.abort_goal('arm')
        assert world.guard.last_error == 'aborted'
        assert is_held(world)
    world = World(ROBOTS[channel])
    world.follow('arm', [1.0] * 7, 30.0)
    assert is_held(world)


@CHANNELS
def test_a_stop_that_the_joints_do_not_confirm_says_so(channel: str) -> None:
    world = world_of_the_arm(channel)
    world.ask_appendage('arm', 'arm_extend')
    world.joints_on = False
    world.step(CONFIG.mast.joint_max_age_s + 0.5)
    number = world.ask_stop()
    world.step(1.0)
    assert bool(world.part_motions) == (channel == 'topic')  # a goal is cancelled all the same
    assert world.guard.stop_problem(number) == 'sent and not confirmed: arm: no joint states'
    told = 'arm: no joint states, so a stop could not hold it'
    assert world.ask_appendage('arm', 'arm_stow') == told


HOLD = trajectory(['elbow'], [0.5], 0.1)
POSE = trajectory(['elbow'], [1.5], 4.0)
Result = FollowJointTrajectory.Result


class Line:
    """The three clients of a server that answers when the test says so, in the order of calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any, Future]] = []
        self.forgotten: list[Future] = []
        self.is_there = True

    def create_client(self, _: Any, name: str) -> Client:
        return Client(self, name.rpartition('/')[2])

    def sent(self) -> list[str]:
        return [name for name, _, _ in self.calls]

    def answer(self, index: int, response: Any = None) -> None:
        self.calls[index][2].set_result(response)


class Client:
    def __init__(self, line: Line, name: str) -> None:
        self._line, self._name = line, name

    def service_is_ready(self) -> bool:
        return self._line.is_there

    def call_async(self, request: Any) -> Future:
        self._line.calls.append((self._name, request, Future()))
        return self._line.calls[-1][2]

    def remove_pending_request(self, future: Future) -> None:
        self._line.forgotten.append(future)


@pytest.fixture
def line() -> Line:
    return Line()


@pytest.fixture
def action(line: Line) -> TrajectoryAction:
    return TrajectoryAction(line, ACTION)


def test_a_hold_cancels_every_goal_and_then_sends_its_own(
    line: Line, action: TrajectoryAction
) -> None:
    action.hold(HOLD)
    assert line.sent() == ['cancel_goal']
    _, request, _ = line.calls[0]
    assert not any(request.goal_info.goal_id.uuid)  # zeros and no time: all goals
    assert request.goal_info.stamp.sec == request.goal_info.stamp.nanosec == 0
    action.hold(HOLD)  # a lost cancellation is not waited for
    assert line.sent() == ['cancel_goal', 'cancel_goal', 'send_goal']
    assert line.forgotten == [line.calls[0][2]]
    line.answer(1)
    assert line.sent()[2:] == ['send_goal', 'send_goal']
    assert line.calls[2][1].goal.trajectory == HOLD


def test_a_hold_without_angles_only_cancels_and_asks_no_server_that_is_not_there(
    line: Line, action: TrajectoryAction
) -> None:
    action.hold(None)
    line.answer(0)
    assert line.sent() == ['cancel_goal']
    line.is_there = False
    action.hold(HOLD)
    assert not action.is_ready()
    assert line.sent() == ['cancel_goal']


def test_a_goal_waits_for_the_cancellation_and_is_not_replaced_by_a_late_hold(
    line: Line, action: TrajectoryAction
) -> None:
    assert action.is_ready()
    action.hold(HOLD)
    assert not action.is_ready()
    action.send(POSE)
    line.answer(0)
    assert line.sent() == ['cancel_goal', 'send_goal']
    assert line.calls[1][1].goal.trajectory == POSE
    assert action.is_ready()


@pytest.mark.parametrize('accepted', [True, False])
def test_a_goal_that_is_taken_after_the_time_out_is_cancelled(
    line: Line, action: TrajectoryAction, accepted: bool
) -> None:
    action.forget(action.send(POSE))
    late = line.calls[0][1].goal_id
    action.send(POSE)
    line.answer(0, FollowJointTrajectory.Impl.SendGoalService.Response(accepted=accepted))
    cancelled = [each.goal_info.goal_id for name, each, _ in line.calls if name == 'cancel_goal']
    assert cancelled == ([late] if accepted else [])


def test_the_result_of_the_last_goal_is_reported_with_the_name_of_the_action(
    line: Line, action: TrajectoryAction
) -> None:
    told: list[str] = []
    action.send(POSE)
    action.watch(told.append)
    assert line.calls[1][1].goal_id == line.calls[0][1].goal_id
    result = Result(error_code=Result.GOAL_TOLERANCE_VIOLATED, error_string='elbow:\n0.3 rad off')
    kind = FollowJointTrajectory.Impl.GetResultService.Response
    line.answer(1, kind(status=GoalStatus.STATUS_ABORTED, result=result))
    assert told == [f'{ACTION}: aborted: GOAL_TOLERANCE_VIOLATED (-5): elbow: 0.3 rad off']


@pytest.mark.parametrize(
    ('status', 'code', 'text', 'told'),
    [
        (GoalStatus.STATUS_SUCCEEDED, 0, 'done', ''),
        (GoalStatus.STATUS_SUCCEEDED, -5, '', 'ended with an error: GOAL_TOLERANCE_VIOLATED (-5)'),
        (GoalStatus.STATUS_ABORTED, 0, '', 'aborted'),
        (GoalStatus.STATUS_ABORTED, -7, 'x', 'aborted: unknown error (-7): x'),
        (GoalStatus.STATUS_CANCELED, 0, '', 'canceled, and not by the adapter'),
        (GoalStatus.STATUS_UNKNOWN, 0, '', 'ended with status 0'),
    ],
)
def test_only_success_without_an_error_is_no_failure(
    status: int, code: int, text: str, told: str
) -> None:
    assert failure(status, Result(error_code=code, error_string=text)) == told


def test_a_ros_without_the_type_refuses_the_profile_and_names_the_package(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, 'curiosity_rosa_demo.adapter.trajectory_action', None)
    robot = RobotProfile.model_validate(action_profile())
    with pytest.raises(
        ConfigError, match=rf'{ACTION}.*control_msgs is not installed.*install ros'
    ):
        AppendageCommands(line, robot, LossCounter())
