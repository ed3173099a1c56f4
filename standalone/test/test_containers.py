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
from contextlib import contextmanager
import json
import math
import os
import subprocess
import threading
import time
from typing import Any

from harness import ROOT, wait_until
import pexpect
import pytest

pytestmark = [pytest.mark.container, pytest.mark.timeout(1200)]
PROJECT, LABEL = 'curiosity_rosa_test', 'com.docker.compose.project'
DEMO, HEADLESS = 'curiosity_demo', 'curiosity_headless'
GAZEBO = 'curiosity_gui' if os.environ.get('DISPLAY') else HEADLESS
# The pattern is a variable, so that this process does not find itself.
KILL = """
for process in /proc/[0-9]*; do
  words=$(tr '\\0' ' ' 2>/dev/null <"$process/cmdline")
  if [[ $words == *"$PATTERN"* ]]; then kill -9 "${process#/proc/}" && echo "${process#/proc/}"; fi
done
"""
STANDS_WITHIN_S = 3.0
DRIVE = (':mast_close', ':forward 20')
OVERLAY, ROVER = 'lib/curiosity_rosa_demo', 'lib/curiosity_rover_demo'
# False: the drive goes on, and a stop works.
STOPS = {
    'bin/ros2 launch curiosity_rosa_demo': True,
    'bin/ros2 launch curiosity_rover_demo': True,
    f'{OVERLAY}/adapter_node': True,
    f'{OVERLAY}/agent_node': True,
    f'{OVERLAY}/simulator_node': False,
    f'{OVERLAY}/visualizer_node': False,
    f'{ROVER}/run_demo': True,
    f'{ROVER}/move_wheel': True,
    f'{ROVER}/move_mast': False,
    f'{ROVER}/move_arm': False,
}


class Containers:
    def __init__(self, **env: str) -> None:
        domain = os.environ.get('ROS_DOMAIN_ID', '97')
        self.env = {
            **os.environ, 'COMPOSE_PROJECT_NAME': PROJECT, 'ROS_DOMAIN_ID': domain, **env
        }  # fmt: skip

    def compose(self, *words: str, timeout_s: float = 90.0, check: bool = True) -> str:
        """What the command printed. Raises AssertionError if it failed, unless not ``check``."""
        done = subprocess.run(
            [str(ROOT / 'scripts/compose.sh'), *words],
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout_s,
        )
        assert not check or done.returncode == 0, f'{words}: {done.stdout}'
        return done.stdout

    def up(self, *services: str) -> None:
        """The first time it builds our two images."""
        self.compose('up', '-d', *services, timeout_s=900.0)

    @property
    def id(self) -> str:
        """The rover's container."""
        return self.compose('ps', '--quiet', DEMO).strip()

    def wait_healthy(self) -> None:
        template = '{{.State.Running}} {{.State.Health.Status}}'

        def healthy() -> bool:
            inspect = ['docker', 'inspect', '--format', template, self.id]
            done = subprocess.run(inspect, capture_output=True, text=True, timeout=30)
            return done.stdout.strip() == 'true healthy'

        wait_until(healthy, 'a healthy container', timeout_s=120.0)

    def console(self, *commands: str) -> str:
        """What the commands printed. Raises AssertionError if the last one failed."""
        console = self.start_console(*commands)
        said, _ = console.communicate(timeout=240.0)
        assert console.returncode == 0, f'{commands}: {said}'
        return said

    def start_console(self, *commands: str) -> subprocess.Popen[str]:
        """Without a terminal, as in a script."""
        words = [word for command in commands for word in ('-c', command)]
        return self._start('console.sh', *words)

    def start_logs(self) -> subprocess.Popen[str]:
        """What the rover's container prints from now until it ends."""
        return self._start('compose.sh', 'logs', '--no-color', '--follow', '--tail', '0', DEMO)

    def _start(self, name: str, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(ROOT / 'scripts' / name), *words],
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def kill(self, pattern: str) -> None:
        """kill -9 of each process of the rover's container whose words have ``pattern``."""
        options = ('--no-TTY', '--env', f'PATTERN={pattern}', DEMO)
        # The container may end before it can answer.
        self.compose('exec', *options, 'bash', '-c', KILL, check=False)

    def left(self) -> list[str]:
        """The containers of the project, running or not."""
        ours = f'label={LABEL}={PROJECT}'
        listed = ['docker', 'ps', '--all', '--filter', ours, '--format', '{{.Names}}']
        return subprocess.run(listed, capture_output=True, text=True, timeout=30).stdout.split()

    @contextmanager
    def witness(self) -> Iterator[Witness]:
        """In a container that is not of the project, or "compose exec" would choose it. The image
        says that it is.
        """
        options = ('--rm', '--interactive', '--no-healthcheck', '--network', 'host')
        options += ('--env', 'ROS_DOMAIN_ID', '--label', f'{LABEL}=')
        mount = ('--volume', f'{ROOT}:/curiosity_rosa:ro')
        program = ('python', '-u', '/curiosity_rosa/standalone/test/container_witness.py')
        process = subprocess.Popen(
            ['docker', 'run', *options, *mount, 'curiosity-rosa', *program],
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            yield Witness(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(timeout=60.0)


class Witness:
    """The lines of container_witness.py."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: list[dict[str, Any]] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith('{'):
                self._lines.append(json.loads(line))

    def wait_driving(self) -> None:
        """Wait until the wheels have turned for a second."""
        wait_until(lambda: self._last(10, turning=True), 'wheels that turn', timeout_s=60.0)

    def wait_standing(self, after_s: float, *, timeout_s: float) -> float:
        """Seconds from ``after_s`` until the wheels stood for half a second."""

        def stood_at() -> float | None:
            lines = [line for line in self._lines if line['at_s'] > after_s]
            for first in range(len(lines) - 4):
                if not any(line['turning'] for line in lines[first : first + 5]):
                    return float(lines[first]['at_s'])
            return None

        return float(wait_until(stood_at, 'wheels that stand', timeout_s=timeout_s)) - after_s

    def driven_m(self, after_s: float) -> float:
        """From the first to the last place since then, as the crow flies."""
        places = [line['place'] for line in self._lines if line['at_s'] > after_s]
        return math.dist(places[0], places[-1]) if places else 0.0

    def _last(self, count: int, *, turning: bool) -> bool:
        newest = self._lines[-count:]
        fresh = bool(newest) and time.time() - newest[-1]['at_s'] < 1.0
        return (
            fresh and len(newest) == count and all(line['turning'] == turning for line in newest)
        )


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
        rover.console(':stop')
        killed_s = time.time()  # not how long a console takes to start
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
    terminal.expect('rover>')
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
