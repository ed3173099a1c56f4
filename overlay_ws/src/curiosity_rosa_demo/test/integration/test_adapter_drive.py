# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What ends a drive: slip, tilt, a rock, a lost view, a second adapter. Two rovers are named."""

from __future__ import annotations

from collections.abc import Iterator
import re
import signal

from adapter_world import AdapterWorld, METRES_PER_S, ODOMETRY, SharedAdapter, THRESHOLDS
from curiosity_rosa_demo.domain.models import OBSTACLE_AHEAD, OTHER_ADAPTER, VIEW_LOST
from curiosity_rosa_demo.infra.ros_io import history_qos
from harness import Sandbox, wait_until
import pytest
from std_msgs.msg import String

pytestmark = pytest.mark.ros

# 5.8 m before a boulder of the stand-in's field, so far to the right of the rover's middle that
# its left turn leads past.
FACING_A_BOULDER = {'initial_x': 11.44, 'initial_y': -30.8}
BOULDER_FROM_X = 18.6
FRONT_M = THRESHOLDS.obstacles.front_m
SOON = {'drive': {'slip_s': 1.0, 'stuck_s': 1.5}}


@pytest.fixture
def world(shared_adapter: SharedAdapter) -> Iterator[AdapterWorld]:
    with shared_adapter.lend(thresholds=SOON) as world:
        yield world


def stopped(world: AdapterWorld) -> str:
    """Why it was stopped, once it stands."""
    return str(world.wait_for_status(moving=False)['last_error_reason'])


def test_slip_of_30_percent_is_noticed_and_stopped(world: AdapterWorld) -> None:
    world.drive()
    wait_until(lambda: world.x > 8.0, 'a drive whose speed is known')
    assert world.moves()
    world.fault(fault_slip=0.3)
    # Noticed at 25 % or later, as the window fills.
    slip = rf'Slip of (2[5-9]|30)%: 0\.3\d instead of {METRES_PER_S:.2f} m/s'
    assert re.match(slip, stopped(world))
    world.fault(fault_slip=0.0)
    world.drive()


def test_wheels_that_turn_in_vain_are_stopped(world: AdapterWorld) -> None:
    world.fault(fault_slip=1.0)
    world.settle().does('move_forward')
    assert stopped(world).startswith('Stuck: odometry shows no motion for 1.5 s of move_forward')


def test_a_tilted_rover_is_stopped_and_does_not_start(world: AdapterWorld) -> None:
    world.drive()
    world.fault(fault_tilt=0.6)
    reason = 'Tilt of 34 degrees, limit 26: no motion until the rover stands more level'
    assert stopped(world) == f'{reason}; the rover was stopped'
    refused = world.ask('move_forward')
    assert (refused.success, refused.message) == (False, reason)
    world.does('mast_open')
    world.does('mast_close')
    world.fault(fault_tilt=0.0)
    wait_until(lambda: world.ask('move_forward').success, 'a rover that may drive again')


def test_the_rover_stops_before_a_rock_and_may_only_turn_away_from_it(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox, lidar='body', **FACING_A_BOULDER)
    trace = sandbox.collect(String, '/trace/events', history_qos(30))
    world.close_mast()
    world.wait_for_status('a scan that sees the way', obstacle_view='ahead')
    assert world.status()['obstacle_ahead_m'] == pytest.approx(5.8, abs=0.1)

    world.drive()
    world.wait_until_it_stands(30.0)
    assert world.x > FACING_A_BOULDER['initial_x'] + 1.0
    assert world.x + FRONT_M < BOULDER_FROM_X
    assert any(f'{OBSTACLE_AHEAD} at ' in event.data for event in trace)

    refused = world.refuses('move_forward')
    assert refused.startswith(OBSTACLE_AHEAD)
    assert refused.endswith('turn_left leads past it')
    assert world.status()['last_error_reason'] == refused
    assert world.refuses('turn_right').startswith(OBSTACLE_AHEAD)
    assert world.stands()

    world.does('turn_left')
    wait_until(world.moves, 'the rover to turn away')


def test_a_rover_that_loses_its_view_is_stopped_until_it_sees_again(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox, lidar='body')
    world.close_mast()
    world.wait_for_status('a scan that sees the way', obstacle_view='ahead')
    world.drive()
    world.fault(fault_scan=True)
    world.wait_until_it_stands(30.0)
    assert world.refuses('turn_left') == VIEW_LOST
    world.fault(fault_scan=False)
    world.wait_for_status('the scan again', obstacle_view='ahead')
    world.does('move_forward')
    wait_until(world.moves, 'the rover to move')


def test_the_adapter_of_a_second_overlay_stops_the_rover_until_it_leaves(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox).drive()
    second = sandbox.start('curiosity_rosa_demo', 'adapter_node', '-r', '__ns:=/r2')
    world.wait_until_it_stands()
    status = world.wait_for_status(other_adapters=['/r2/adapter'], moving=False)
    assert not status['move_allowed']
    reason = f'{OTHER_ADAPTER}: /r2/adapter'
    assert world.refuses('move_forward') == world.refuses('mast_open') == reason
    world.namespace = 'r2'
    assert world.refuses('move_forward') == f'{OTHER_ADAPTER}: /adapter'
    world.namespace = ''
    second.kill(signal.SIGKILL)
    world.wait_for_status(other_adapters=[], move_allowed=True)
    world.does('move_forward')
    world.does('move_stop')

    assert world.status()['rival_publishers'] is None
    rover = sandbox.stand_in()  # a second one, which is named until it leaves
    both = ['/curiosity_stand_in (2 times)']  # named a moment later than seen
    expected = dict.fromkeys((ODOMETRY, '/joint_states'), both)
    wait_until(lambda: world.status()['rival_publishers'] == expected, 'the topics of two rovers')
    rover.kill(signal.SIGTERM)
    wait_until(lambda: not world.status()['rival_publishers'], 'one rover alone')
