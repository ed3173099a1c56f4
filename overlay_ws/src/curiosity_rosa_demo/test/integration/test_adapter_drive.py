# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The adapter stops a drive whose wheels slip or turn in vain, and a rover that leans too far."""

from __future__ import annotations

from collections.abc import Iterator
import re

from adapter_world import AdapterWorld, METRES_PER_S, SharedAdapter
from harness import wait_until
import pytest

pytestmark = pytest.mark.ros

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
