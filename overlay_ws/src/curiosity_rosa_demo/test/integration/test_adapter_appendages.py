# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The arm of today's demo, by its profile: the adapter, the stand-in and what is between them."""

from __future__ import annotations

from adapter_world import AdapterWorld, TOLERANCE
from curiosity_rosa_demo.domain.models import E_STOP_PRESSED, MOVE_IN_PROGRESS, need_to_stow
from harness import Sandbox, wait_until
import pytest
from std_srvs.srv import Empty

pytestmark = pytest.mark.ros
ARM = {'open': (0.0, -0.5, 3.0, 1.0, 0.0), 'closed': (-1.57, -0.4, -1.1, -1.57, -1.57)}
NAMES = ('arm_01_joint', 'arm_02_joint', 'arm_03_joint', 'arm_04_joint', 'arm_tools_joint')
NEED_TO_STOW_ARM = need_to_stow('arm', 'arm_close')


def arm_of(world: AdapterWorld) -> tuple[float, ...]:
    """Radians, in the order of NAMES."""
    wait_until(lambda: world.joints, 'joint states')
    message = world.joints[-1]
    angles = dict(zip(message.name, message.position, strict=True))
    return tuple(angles[name] for name in NAMES)


def test_the_rover_drives_only_with_its_arm_stowed(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox, robot='curiosity').close_mast()
    assert world.status()['appendages'] == {'arm': 'unknown'}
    assert world.refuses('move_forward') == NEED_TO_STOW_ARM
    world.does('arm_open')
    assert arm_of(world) == pytest.approx(ARM['open'], abs=TOLERANCE)
    assert world.refuses('move_forward') == NEED_TO_STOW_ARM
    assert world.never_drove()

    world.does('arm_close')
    assert arm_of(world) == pytest.approx(ARM['closed'], abs=TOLERANCE)
    assert world.wait_for_status(move_allowed=True)['appendages'] == {'arm': 'stowed'}
    world.does('move_forward')
    wait_until(world.moves, 'the rover to move')
    assert world.refuses('arm_open') == MOVE_IN_PROGRESS
    assert world.moves()

    sandbox.call(Empty, '/open_arm')  # by somebody who does not ask the adapter
    world.wait_until_it_stands()
    assert world.wait_for_status(moving=False)['last_error_reason'] == 'Stopped: arm is unknown'
    assert world.refuses('turn_left') == NEED_TO_STOW_ARM

    world.fault(e_stop=True)
    world.wait_for_status(e_stop=True)
    assert world.refuses('arm_close') == E_STOP_PRESSED
    world.fault(e_stop=False)
    world.wait_for_status(e_stop=False)
    world.does('arm_close')
    world.does('move_forward')
    wait_until(world.moves, 'the rover to move again')


def test_an_arm_that_does_not_answer_or_arrive_keeps_the_rover_still(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox, robot='curiosity', fault_services=['close_arm:absent'])
    world.close_mast()
    assert 'close_arm' in world.refuses('arm_close')
    world.fault(fault_services=['close_arm:hang'])
    assert world.refuses('arm_close') == 'Service timeout: /close_arm'
    assert world.status()['appendages'] == {'arm': 'unknown'}
    assert world.refuses('move_forward') == NEED_TO_STOW_ARM
    world.fault(fault_services=[''])
    world.does('arm_close')
    world.does('move_forward')
    wait_until(world.moves, 'the rover to move')
