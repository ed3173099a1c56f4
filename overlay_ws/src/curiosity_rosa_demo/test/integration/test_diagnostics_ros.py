# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What each node says of itself on /diagnostics, from real processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from curiosity_rosa_demo.infra.diagnostics import HARDWARE_ID, Level
from curiosity_rosa_demo.infra.ros_io import STEADY_CLOCK
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from harness import Sandbox, wait_until
import pytest
from rcl_interfaces.srv import DescribeParameters
from rosgraph_msgs.msg import Clock
from std_srvs.srv import Trigger

pytestmark = pytest.mark.ros


class Board:
    """The last status of each name."""

    def __init__(self, sandbox: Sandbox, topic: str = '/diagnostics') -> None:
        self.arrays: list[DiagnosticArray] = sandbox.collect(DiagnosticArray, topic)

    def status(self, name: str) -> DiagnosticStatus | None:
        found = [each for array in self.arrays for each in array.status if each.name == name]
        return found[-1] if found else None

    def wait(
        self, name: str, right: Callable[[DiagnosticStatus], bool], what: str
    ) -> DiagnosticStatus:
        def look() -> DiagnosticStatus | None:
            status = self.status(name)
            return status if status is not None and right(status) else None

        return wait_until(look, f'{name} to say {what}', 40.0)


def level(status: DiagnosticStatus) -> Level:
    return Level(status.level[0])


def values(status: DiagnosticStatus) -> dict[str, str]:
    return {each.key: each.value for each in status.values}


def describes_its_parameters(sandbox: Sandbox, node: str) -> None:
    request = DescribeParameters.Request(names=['config_dir'])
    answer = sandbox.call(DescribeParameters, f'/{node}/describe_parameters', request)
    (descriptor,) = answer.descriptors
    assert 'YAML' in descriptor.description
    assert descriptor.read_only


def test_the_adapter_tells_what_it_lacks_and_when_it_is_there(sandbox: Sandbox) -> None:
    board = Board(sandbox)
    sandbox.overlay('adapter_node')
    alone = board.wait(
        'adapter: rover', lambda status: '/move_stop' in status.message, 'what it lacks'
    )
    assert level(alone) is Level.ERROR
    assert 'Service unavailable: /move_stop' in alone.message
    assert alone.hardware_id == HARDWARE_ID
    assert values(alone)['odometry_age_s'] == 'unknown'
    describes_its_parameters(sandbox, 'adapter')

    sandbox.stand_in()
    board.wait('adapter: rover', lambda status: level(status) is Level.OK, 'it lacks nothing')
    assert sandbox.call(Trigger, '/adapter/mast_close').success
    well = board.wait(
        'adapter: rover', lambda status: values(status)['mast'] == 'closed', 'the mast is closed'
    )
    assert well.message == 'standing still'
    told = values(well)
    assert (told['mast'], told['moving'], told['move_allowed']) == ('closed', 'false', 'true')
    assert float(told['odometry_age_s']) < 2.0
    assert float(told['joint_states_age_s']) < 2.0

    assert sandbox.call(Trigger, '/adapter/move_forward').success
    board.wait('adapter: rover', lambda status: status.message == 'moving', 'it moves')
    assert sandbox.call(Trigger, '/adapter/move_stop').success


def test_the_stamp_is_of_the_simulated_time_and_the_pace_is_not(sandbox: Sandbox) -> None:
    board = Board(sandbox)
    clock = sandbox.node.create_publisher(Clock, '/clock', 10)
    message = Clock()
    message.clock.sec = 1234  # it stands still: the messages come all the same

    def tick() -> None:
        clock.publish(message)

    sandbox.node.create_timer(0.1, tick, clock=STEADY_CLOCK)
    sandbox.overlay('visualizer_node', use_sim_time=True)

    def stamped() -> list[Any]:
        return [each for each in board.arrays if each.header.stamp.sec == 1234]

    wait_until(lambda: len(stamped()) >= 3, 'three messages of a clock that stands still', 40.0)
