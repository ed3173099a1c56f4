# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The adapter's rules over real services: what it allows, what it refuses, what it says."""

from __future__ import annotations

from adapter_world import (
    AdapterWorld,
    CLOSED,
    MASTS,
    MOVES,
    near,
    ODOMETRY,
    RAISED_P,
    SharedAdapter,
    TURN_RADPS,
)
from curiosity_rosa_demo.domain.models import (
    MOVE_IN_PROGRESS,
    NEED_TO_CLOSE_MAST,
    NEED_TO_OPEN_MAST,
)
from geometry_msgs.msg import Twist
from harness import Sandbox, wait_until
from nav_msgs.msg import Odometry
import pytest
from std_msgs.msg import String
from std_srvs.srv import Empty, Trigger

pytestmark = pytest.mark.ros

SERVICES = {f'/adapter/{name}' for name in (*MOVES, *MASTS, 'move_stop', 'get_status')}


def trigger_services(sandbox: Sandbox) -> set[str]:
    found = sandbox.node.get_service_names_and_types()
    return {name for name, types in found if types == ['std_srvs/srv/Trigger']}


def test_a_closed_mast_lets_the_rover_move_and_a_stop_ends_it(world: AdapterWorld) -> None:
    wait_until(lambda: trigger_services(world.box) == SERVICES, 'exactly the eight services')
    for move, sign in zip(MOVES, (0, 1, -1), strict=True):
        world.drive(move)
        start = world.x
        wait_until(lambda start=start: world.x != start, 'the rover to get along')
        turn = world.odometry[-1].twist.twist.angular.z
        assert (turn > TURN_RADPS / 2) - (turn < -TURN_RADPS / 2) == sign, move
        assert near(world.mast(), *CLOSED)
        world.does('move_stop')
        assert world.stands()
        world.wait_for_status(moving=False, move_allowed=True)


def test_mast_calls_answer_when_the_joints_have_arrived(world: AdapterWorld) -> None:
    for name, pose in (
        ('mast_open', (RAISED_P, -0.5)),
        ('mast_close', CLOSED),
        ('mast_open', (RAISED_P, -0.5)),
        ('mast_rotate', (RAISED_P, -6.28)),
    ):
        world.does(name)
        assert near(world.mast(), *pose), name
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


def test_a_rover_that_moves_unasked_is_stopped_unless_told_otherwise(world: AdapterWorld) -> None:
    """Told otherwise it is in test_monitor_ros.py."""
    teleop = world.box.node.create_publisher(Twist, '/cmd_vel', 10)
    wait_until(lambda: teleop.get_subscription_count() == 2, 'the wheels, and this test')
    forward = Twist()
    forward.linear.x = 1.0
    teleop.publish(forward)  # the wheels keep it
    wait_until(world.moves, 'the wheels to take it')
    world.wait_until_it_stands()
    assert world.status()['last_error_reason'] == 'Stopped: the rover moved unasked'
    world.box.node.destroy_publisher(teleop)


def test_no_motion_while_the_mast_is_on_its_way_or_up(shared_adapter: SharedAdapter) -> None:
    with shared_adapter.lend(speed=1.0) as world:
        for action in ('mast_open', 'mast_rotate'):
            answer = world.ask_later(action)
            wait_until(lambda: world.status()['mast'] == 'opening', 'the mast to set off')
            assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST
            assert not answer.done()
            wait_until(answer.done, 'the mast to arrive')
            assert answer.result().success
            assert world.refuses('turn_left') == NEED_TO_CLOSE_MAST
        assert world.never_drove()


def test_after_a_failed_mast_call_nothing_moves(shared_adapter: SharedAdapter) -> None:
    with shared_adapter.lend(thresholds={'motion': {'service_timeout_s': 0.5}}) as world:
        for fault, problem in (('absent', 'unavailable'), ('hang', 'timeout')):
            world.does('mast_open')
            world.fault(fault_services=[f'mast_close:{fault}'])
            reason = f'Service {problem}: /mast_close'
            # That a service has gone is discovered after a while.
            wait_until(lambda: world.refuses('mast_close') == reason, reason)  # noqa: B023
            assert world.status()['last_error_reason'] == reason
            assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST
            world.fault(fault_services=[''])
        # Thawed, the service closes the mast after all: nobody has confirmed it.
        wait_until(lambda: near(world.mast(), *CLOSED), 'the late mast')
        assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST
        assert world.never_drove()
        wait_until(lambda: world.ask('mast_close').success, 'the mast to be confirmed')
        world.does('move_forward')


def test_an_adapter_drives_the_rover_of_its_rover_namespace_alone(sandbox: Sandbox) -> None:
    """Ours and the rover's namespace need not be the same."""
    sandbox.start('curiosity_stand_in', 'stand_in_node', '-r', '__ns:=/mars')
    sandbox.stand_in()
    sandbox.start(
        'curiosity_rosa_demo', 'adapter_node', '-r', '__ns:=/ours', '-p', 'rover_namespace:=mars/'
    )
    mars, other = (sandbox.collect(Odometry, f'{each}{ODOMETRY}') for each in ('/mars', ''))
    for name in ('mast_close', 'move_forward'):
        answer = sandbox.call(Trigger, f'/ours/adapter/{name}')
        assert answer.success, answer.message
    wait_until(lambda: mars and mars[-1].twist.twist.linear.x > 0.1, 'the rover in /mars to drive')
    heard = len(other)
    wait_until(lambda: len(other) >= heard + 10, 'the odometry of the other one')
    assert {each.twist.twist.linear.x for each in other} == {0.0}
    assert sandbox.call(Trigger, '/ours/adapter/move_stop').success
