# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The adapter's rules over real services: what it allows, what it refuses, what it says."""

from __future__ import annotations

import time
from typing import Any

from adapter_world import AdapterWorld, CLOSED, MASTS, MOVES, near, RAISED_P, TURN_RADPS
from curiosity_rosa_demo.domain.models import (
    MOVE_IN_PROGRESS,
    NEED_TO_CLOSE_MAST,
    NEED_TO_OPEN_MAST,
)
from geometry_msgs.msg import Twist
from harness import Sandbox, wait_until
import pytest
from std_msgs.msg import String
from std_srvs.srv import Empty

pytestmark = pytest.mark.ros

SERVICES = {*MOVES, *MASTS, 'move_stop', 'get_status'}
STATUS: dict[str, type | tuple[type, ...]] = {
    'mast_is_open': (bool, type(None)),
    'move_allowed': bool,
    'moving': bool,
    'last_error_reason': str,
    'rover_x': (float, type(None)),
    'mast_yaw_rad': (float, type(None)),
}


def trigger_services(sandbox: Sandbox) -> set[str]:
    found = sandbox.node.get_service_names_and_types()
    return {name for name, types in found if types == ['std_srvs/srv/Trigger']}


def well_formed(status: dict[str, Any]) -> dict[str, Any]:
    for key, types in STATUS.items():
        assert isinstance(status[key], types), f'{key} is {status[key]!r}'
    return status


def test_it_offers_the_eight_trigger_services(world: AdapterWorld) -> None:
    wanted = {f'/adapter/{name}' for name in SERVICES}
    wait_until(lambda: trigger_services(world.box) == wanted, 'exactly the eight services')


@pytest.mark.parametrize('move', MOVES)
def test_a_closed_mast_lets_the_rover_move_and_a_stop_ends_it(
    world: AdapterWorld, move: str
) -> None:
    world.drive(move)
    wait_until(lambda: world.x > 0.2, 'the rover to get along')
    turn = world.odometry[-1].twist.twist.angular.z
    half = TURN_RADPS / 2
    assert (turn > half, turn < -half) == (move == 'turn_left', move == 'turn_right')
    assert near(world.mast(), *CLOSED)

    world.does('move_stop')
    assert world.stands()
    world.wait_for_status(moving=False, move_allowed=True)
    world.does(move)
    wait_until(world.moves, 'the rover to move again')


def test_mast_calls_answer_when_the_joints_have_arrived(world: AdapterWorld) -> None:
    world.does('mast_open')
    assert near(world.mast(), RAISED_P, -0.5)
    world.does('mast_close')
    assert near(world.mast(), *CLOSED)
    world.does('mast_open')
    assert near(world.mast(), RAISED_P, -0.5)
    world.does('mast_rotate')
    assert near(world.mast(), RAISED_P, -6.28)
    status = world.status()
    assert status['mast_is_open'] is True
    assert status['mast_yaw_rad'] == pytest.approx(-6.28, abs=0.15)


def test_the_mast_stays_closed_while_the_rover_moves(world: AdapterWorld) -> None:
    world.drive()
    assert world.refuses('mast_open') == MOVE_IN_PROGRESS
    assert world.refuses('mast_rotate') == MOVE_IN_PROGRESS
    assert world.mast_stays()
    assert near(world.mast(), *CLOSED)
    assert world.moves()


def test_a_closed_mast_is_not_rotated(world: AdapterWorld) -> None:
    assert world.refuses('mast_rotate') == NEED_TO_OPEN_MAST
    assert world.status()['last_error_reason'] == NEED_TO_OPEN_MAST
    assert world.mast_stays()
    assert near(world.mast(), *CLOSED)


def test_a_rover_whose_joint_states_are_lost_is_stopped(world: AdapterWorld) -> None:
    world.drive()
    world.fault(fault_joint_states=True)
    world.wait_until_it_stands()
    status = world.wait_for_status(moving=False)
    assert status['mast_is_open'] is None
    assert status['last_error_reason'] == 'Stopped: mast is unknown'
    assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST
    world.fault(fault_joint_states=False)
    heard = len(world.joints)
    wait_until(lambda: len(world.joints) > heard + 10, 'joint states again')
    assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST
    world.does('mast_close')
    world.does('move_forward')


def test_a_mast_that_opens_by_itself_stops_the_rover(world: AdapterWorld) -> None:
    world.drive()
    world.box.call(Empty, '/mast_open')  # behind the adapter's back
    world.wait_until_it_stands()
    status = world.wait_for_status(moving=False, mast_is_open=True)
    assert status['last_error_reason'].startswith('Stopped: mast is ')
    assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST


def test_the_status_has_its_keys_and_types_whatever_is_known(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox, fault_joint_states=True, fault_odometry=True)
    status = well_formed(world.wait_for_status(moving=False))
    assert status['mast_is_open'] is None
    assert status['rover_x'] is None
    assert status['mast_yaw_rad'] is None
    assert not status['move_allowed']

    world.fault(fault_joint_states=False, fault_odometry=False)
    status = well_formed(world.wait_for_status(mast_is_open=True, rover_x=0.0))
    assert status['mast_yaw_rad'] == pytest.approx(0.0, abs=0.01)
    assert not status['move_allowed']

    world.does('mast_close')
    status = well_formed(world.status())
    assert (status['mast_is_open'], status['move_allowed']) == (False, True)
    assert not status['moving']

    world.does('move_forward')
    wait_until(lambda: well_formed(world.status())['rover_x'] > 0.1, 'the status to follow x')
    assert well_formed(world.status())['moving']


@pytest.mark.parametrize('initial', ['zero', 'closed'])
def test_no_motion_before_the_mast_was_closed_through_the_adapter(
    sandbox: Sandbox, initial: str
) -> None:
    # Joints that look closed are not enough at the start: something may move them just then.
    world = AdapterWorld(sandbox, initial_mast=initial).settle()
    for move in MOVES:
        assert world.refuses(move) == NEED_TO_CLOSE_MAST
    assert world.status()['last_error_reason'] == NEED_TO_CLOSE_MAST
    assert world.never_drove()


def test_no_motion_while_the_mast_is_on_its_way_or_up(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox, speed=1.0).close_mast()
    for action in ('mast_open', 'mast_rotate'):
        answer = world.ask_later(action)
        wait_until(lambda: world.status()['mast'] == 'opening', 'the mast to set off')
        assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST
        assert not answer.done()
        wait_until(answer.done, 'the mast to arrive')
        assert answer.result().success
        assert world.refuses('turn_left') == NEED_TO_CLOSE_MAST
    assert world.never_drove()


@pytest.mark.parametrize(
    ('fault', 'reason'),
    [
        ('mast_close:hang', 'Service timeout: /mast_close'),
        ('mast_close:absent', 'Service unavailable: /mast_close'),
    ],
)
def test_after_a_failed_mast_call_nothing_moves(sandbox: Sandbox, fault: str, reason: str) -> None:
    quick = {'motion': {'service_timeout_s': 0.5}}
    world = AdapterWorld(sandbox, thresholds=quick, fault_services=[fault]).settle()
    assert world.refuses('mast_close') == reason
    assert world.status()['last_error_reason'] == reason
    assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST
    # Thawed, the service may close the mast after all: nobody has confirmed it.
    world.fault(fault_services=[''])
    if fault.endswith('hang'):
        wait_until(lambda: near(world.mast(), *CLOSED), 'the late mast')
    assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST
    assert world.never_drove()
    world.does('mast_close')
    world.does('move_forward')


def test_joints_that_do_not_arrive_in_time_leave_the_mast_unknown(sandbox: Sandbox) -> None:
    quick = {'mast': {'close_duration_s': 0.3, 'confirm_margin_s': 0.3}}
    world = AdapterWorld(sandbox, thresholds=quick, speed=0.2).settle()  # it needs 5 s
    world.wait_for_status(mast_is_open=True)  # before its joints are heard, time alone confirms
    reason = 'Mast not confirmed by joint states: mast_close'
    assert world.refuses('mast_close') == reason
    assert world.status()['last_error_reason'] == reason
    assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST
    wait_until(lambda: near(world.mast(), *CLOSED), 'the slow mast')
    status = world.status()
    assert (status['mast_is_open'], status['move_allowed']) == (None, False)
    assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST
    assert world.never_drove()


def test_without_joint_states_the_known_duration_confirms_the_mast(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox, speed=1.0, fault_joint_states=True).settle()
    assert world.status()['mast_is_open'] is None
    assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST
    asked = time.monotonic()
    world.does('mast_close')
    assert time.monotonic() - asked >= 1.0, 'the rover itself needs a second'
    assert world.status()['mast_is_open'] is False
    world.does('move_forward')
    wait_until(world.moves, 'the rover to move')
    world.does('move_stop')
    world.does('mast_open')
    assert world.status()['mast_is_open'] is True
    assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST


@pytest.mark.parametrize('stopped', [True, False])
def test_a_rover_that_moves_unasked_is_stopped_unless_told_otherwise(
    sandbox: Sandbox, stopped: bool
) -> None:
    thresholds = {'motion': {'stop_unexpected': stopped, 'settle_s': 0.3}}
    world = AdapterWorld(sandbox, thresholds=thresholds).settle()
    teleop = sandbox.node.create_publisher(Twist, '/cmd_vel', 10)
    wait_until(lambda: teleop.get_subscription_count() == 2, 'the wheels, and this test')
    forward = Twist()
    forward.linear.x = 1.0
    teleop.publish(forward)  # the wheels keep it
    wait_until(world.moves, 'the wheels to take it')
    if stopped:
        world.wait_until_it_stands()
        assert world.status()['last_error_reason'] == 'Stopped: the rover moved unasked'
    else:
        began = world.x
        wait_until(lambda: world.x > began + 2.0, 'a rover that goes its way')
        assert world.status()['last_error_reason'] == ''


def test_a_rover_whose_odometry_falls_silent_is_warned_of_and_stopped(world: AdapterWorld) -> None:
    events = world.box.collect(String, '/trace/events')
    world.drive()
    world.fault(fault_odometry=True)
    reason = 'No odometry for 3 s; the rover was stopped'
    assert world.wait_for_status(moving=False)['last_error_reason'] == reason
    wait_until(lambda: any(reason in each.data for each in events), 'the alarm')
    assert any('No odometry for 1 s of a motion' in each.data for each in events)
    world.fault(fault_odometry=False)
    wait_until(world.stands, 'a rover that stands')
    world.drive()
