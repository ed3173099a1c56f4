# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The adapter stops the rover before a rock, and says when the scan shows nothing."""

from __future__ import annotations

from adapter_world import AdapterWorld, THRESHOLDS
from curiosity_rosa_demo.domain.models import OBSTACLE_AHEAD, VIEW_LOST
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
