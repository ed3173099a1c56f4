# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Two adapters in front of one rover, as processes: both say so, and neither drives. Two rovers
behind one adapter are named.
"""

from __future__ import annotations

import signal

from adapter_world import AdapterWorld, ODOMETRY
from curiosity_rosa_demo.domain.models import OTHER_ADAPTER
from harness import Sandbox, wait_until
import pytest

pytestmark = pytest.mark.ros


def test_the_adapter_of_a_second_overlay_stops_the_rover_until_it_leaves(
    sandbox: Sandbox,
) -> None:
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


def test_a_second_rover_in_the_domain_is_named_until_it_leaves(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox, publish_clock=True).settle()
    assert world.status()['rival_publishers'] is None
    second = sandbox.stand_in(publish_clock=True)
    topics = {ODOMETRY, '/joint_states', '/clock'}

    def rivals() -> dict[str, list[str]]:
        return world.status()['rival_publishers'] or {}

    wait_until(lambda: set(rivals()) == topics, 'the topics of two rovers')
    assert set(map(tuple, rivals().values())) == {('/curiosity_stand_in (2 times)',)}
    second.kill(signal.SIGTERM)
    wait_until(lambda: not rivals(), 'one rover alone')
