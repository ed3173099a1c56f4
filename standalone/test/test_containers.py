# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The demo's containers with the overlay: whatever is killed in mid-drive, the rover stands.

It runs where the demo's two images are, whoever made them: ``pytest -m container``.
"""

from __future__ import annotations

from collections.abc import Iterator
import subprocess
import time

from harness import wait_until
import pexpect
import pytest
from rover_containers import Containers, DEMO, GAZEBO, HEADLESS, ROOT, Witness

pytestmark = [pytest.mark.container, pytest.mark.timeout(1200)]
STANDS_WITHIN_S = 3.0
DRIVE = (':mast_close', ':forward 20')
OVERLAY, ROVER = 'lib/curiosity_rosa_demo', 'lib/curiosity_rover_demo'
# False: the drive goes on, and a stop works. Without move_wheel only the adapter speaks to the
# wheels' controller, which knows no time-out.
STOPS = {
    'bin/ros2 launch curiosity_rosa_demo': True,
    'bin/ros2 launch curiosity_rover_demo': True,
    f'{OVERLAY}/adapter_node': True,
    f'{OVERLAY}/agent_node': True,
    f'{OVERLAY}/simulator_node': False,
    f'{OVERLAY}/visualizer_node': False,
    f'{ROVER}/run_demo': True,
    f'{ROVER}/move_wheel': False,
    f'{ROVER}/move_mast': False,
    f'{ROVER}/move_arm': False,
}


@pytest.fixture(scope='module')
def containers() -> Iterator[Containers]:
    containers = Containers()
    containers.compose('down', '--volumes')
    containers.up(DEMO, GAZEBO)
    containers.wait_healthy()
    yield containers
    containers.compose('down', '--volumes')


@pytest.fixture
def rover(containers: Containers) -> Iterator[Containers]:
    """All nodes live, nothing latched, no task from the test before."""
    containers.up(DEMO, GAZEBO)
    containers.wait_healthy()
    containers.console(':stop', ':clear')
    yield containers
    containers.compose('restart', DEMO)


@pytest.fixture
def witness(rover: Containers) -> Iterator[Witness]:
    with rover.witness() as witness:
        yield witness


def test_the_rover_finds_the_light(rover: Containers) -> None:
    assert 'score' in rover.console(':demo')


@pytest.mark.parametrize('pattern', STOPS)
def test_whatever_is_killed_in_mid_drive_the_rover_can_be_stopped(
    rover: Containers, witness: Witness, pattern: str
) -> None:
    rover.start_console(*DRIVE)
    witness.wait_driving()
    killed_s = time.time()
    rover.kill(pattern)
    if not STOPS[pattern]:
        killed_s = time.time()
        rover.console(':stop')
    took_s = witness.wait_standing(killed_s, timeout_s=30.0)
    print(f'{pattern}: {took_s:.1f} s, {witness.driven_m(killed_s):.2f} m')
    assert took_s < STANDS_WITHIN_S


def test_down_in_mid_drive_stops_the_rover_first(rover: Containers, witness: Witness) -> None:
    rover.start_console(*DRIVE)
    witness.wait_driving()
    logs = rover.start_logs()
    status = subprocess.Popen(['docker', 'wait', rover.id], stdout=subprocess.PIPE, text=True)
    rover.compose('stop')
    said, _ = logs.communicate(timeout=30)
    assert status.communicate(timeout=30)[0].strip() == '0'
    assert 'not confirmed' not in said
    assert 'Joint states lost' not in said
    assert 'move_stop: done' in said
    rover.compose('down')
    assert rover.left() == []


def test_the_first_terminal_is_the_agent_where_none_starts(containers: Containers) -> None:
    alone = Containers(CURIOSITY_AGENT='none')
    alone.up(DEMO, GAZEBO)
    alone.wait_healthy()
    terminal = pexpect.spawn(
        str(ROOT / 'scripts/console.sh'), env=alone.env, encoding='utf-8', timeout=60
    )
    terminal.expect('rover> ')
    assert 'mast' in alone.console(':status')  # it attaches to that agent
    terminal.sendline(':quit')
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0


def test_down_leaves_no_gazebo_without_a_screen(containers: Containers) -> None:
    containers.compose('down')
    containers.up(DEMO, HEADLESS)
    containers.wait_healthy()
    containers.compose('down')
    wait_until(lambda: not containers.left(), 'the end of all containers')
