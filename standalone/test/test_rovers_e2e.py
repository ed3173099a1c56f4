# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Several rovers of one scripts/run_demo.sh, each with its overlay."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from functools import partial
import json
import math
import os
from pathlib import Path
import re
import signal
import socket
import subprocess
from typing import Any

from demo_bench import Bench, ODOMETRY, Terminal, wait_until
from harness import ROOT, Sandbox
import httpx
from nav_msgs.msg import Odometry
from page_site import big_page, picture
from playwright.sync_api import expect, Locator
import psutil
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]
NODES = {
    'adapter',
    'agent',
    'simulator',
    'visualizer',
    'curiosity_stand_in',
    'run_node',
    'mast_node',
}
FIRST_PORT, LAST_PORT = 19_000, 20_000
WAIT_S = 20.0
STARTS_S = 120.0  # two rovers and a server start together
SHARED = ('/rosout', '/parameter_events')


class Watch:
    """What a rover's odometry tells from now on."""

    def __init__(self, box: Sandbox, name: str) -> None:
        self.name = name
        self.odometry: list[Odometry] = box.collect(Odometry, f'/{name}{ODOMETRY}')

    @property
    def moving(self) -> bool:
        return bool(self.odometry) and abs(self.odometry[-1].twist.twist.linear.x) > 0.02

    @property
    def standing(self) -> bool:
        return bool(self.odometry) and not self.moving

    @property
    def metres(self) -> float:
        """From where it began."""
        first, last = self.odometry[0].pose.pose.position, self.odometry[-1].pose.pose.position
        return math.hypot(last.x - first.x, last.y - first.y)

    def drives(self, timeout_s: float = 30.0) -> None:
        wait_until(lambda: self.moving, f'{self.name} to drive', timeout_s)

    def stands(self, timeout_s: float = 10.0) -> None:
        wait_until(lambda: self.standing, f'{self.name} to stand still', timeout_s)

    def tells(self, count: int) -> None:
        """Wait for so many more messages."""
        wanted = len(self.odometry) + count
        wait_until(lambda: len(self.odometry) >= wanted, f'odometry of {self.name}')


def nodes_of(box: Sandbox, name: str) -> set[str]:
    found = box.node.get_node_names_and_namespaces()
    return {node for node, namespace in found if namespace == f'/{name}'}


def names_of(box: Sandbox, node: str, namespace: str) -> set[str]:
    """Every topic and service that the node has or wants."""
    graph = box.node
    asked: list[Any] = [
        graph.get_publisher_names_and_types_by_node,
        graph.get_subscriber_names_and_types_by_node,
        graph.get_service_names_and_types_by_node,
        graph.get_client_names_and_types_by_node,
    ]
    return {name for ask in asked for name, _ in ask(node, namespace)}


def strays(box: Sandbox, rover: str) -> set[str]:
    """What the nodes of one rover have to do with outside of its namespace."""
    found: set[str] = set()
    for node in nodes_of(box, rover):
        names = names_of(box, node, f'/{rover}')
        assert names, f'/{rover}/{node} has no names'
        found |= {name for name in names if not name.startswith((f'/{rover}/', *SHARED))}
    return found


def free_pair() -> int:
    """The first of two free ports that follow each other."""
    for first in range(FIRST_PORT, LAST_PORT, 2):
        with ExitStack() as stack, suppress(OSError):
            for port in (first, first + 1):
                stack.enter_context(socket.create_server(('127.0.0.1', port)))
            return first
    raise AssertionError(f'no two free ports from {FIRST_PORT} to {LAST_PORT}')


def agent_of(pid: int, rover: str) -> psutil.Process:
    for process in psutil.Process(pid).children(recursive=True):
        line = process.cmdline()
        if f'__ns:=/{rover}' in line and any(each.endswith('/agent_node') for each in line[:3]):
            return process
    raise AssertionError(f'no agent of {rover}')


def both_drive(console: Terminal, first: Watch, second: Watch, robots: list[Locator]) -> None:
    """As the page shows it, too. On a busy machine an adapter may miss its agent for longer than
    the lease, and then ends the drive: a person orders it again.
    """
    for _ in range(3):
        console.enter(':forward 20')
        first.drives()
        second.drives()
        with suppress(AssertionError):
            for robot in robots:
                expect(robot).to_contain_text('moving', timeout=6_000)
            return
    raise AssertionError('no drive of both rovers lasted until the page showed it')


def one_stop_of_the_fleet_stops_both(
    url: str, console: Terminal, first: Watch, second: Watch
) -> None:
    """And a frozen agent keeps no other from its stop; test_page_browser.py has the page."""
    with big_page() as page:
        page.goto(f'{url}/fleet')
        robots = [page.locator('.robot', has_text=name) for name in ('r1', 'r2')]
        for robot in robots:
            expect(robot.get_by_role('img')).to_be_visible()
        both_drive(console, first, second, robots)
        picture(page, 'fleet')
    answer = httpx.post(f'{url}/fleet/stop', timeout=WAIT_S)
    first.stands()
    second.stands()
    assert answer.status_code == 200, answer.text
    assert {each['name']: each['ok'] for each in answer.json()['robots']} == {
        'r1': True,
        'r2': True,
    }

    frozen = agent_of(console.child.pid, 'r2')
    os.kill(frozen.pid, signal.SIGSTOP)
    try:
        answer = httpx.post(f'{url}/fleet/stop', timeout=WAIT_S)
    finally:
        os.kill(frozen.pid, signal.SIGCONT)
    robots = {each['name']: each for each in answer.json()['robots']}
    assert (answer.status_code, robots['r1']['ok'], robots['r2']['ok']) == (503, True, False)
    assert robots['r2']['answer'] == 'did not answer within 8 s'


def test_two_rovers_side_by_side_and_nothing_crosses_over(bench: Bench) -> None:
    first, second = Watch(bench.box, 'r1'), Watch(bench.box, 'r2')
    port = free_pair()
    folder = bench.box.config_dir(agent={'http': {'port': port}})
    console = bench.terminal('--rovers', '2', '--config-dir', folder)
    page = (ROOT / 'docs/howto/several_rovers.md').read_text(encoding='utf-8')
    console.expect(re.escape(page.partition('--rovers 2\n')[2].partition('\n')[0]))
    console.enter('@r1 :mast_close')
    console.enter('@r1 :forward 20')
    first.drives(60.0)
    for watch in (first, second):
        wait_until(lambda watch=watch: nodes_of(bench.box, watch.name) >= NODES, 'its nodes')
        assert strays(bench.box, watch.name) == set()
    before = len(second.odometry)
    wait_until(lambda: first.metres > 0.5, 'half a metre of way')
    assert second.metres == 0.0
    assert len(second.odometry) > before

    console.enter('@r2 :mast_close')
    console.enter('@r2 :forward 20')
    second.drives()
    console.enter('@r1 :stop')
    first.stands()
    second.tells(10)
    assert second.moving

    console.enter('@r1 :forward 20')
    first.drives()
    console.child.sendintr()  # Ctrl-C, once
    first.stands()
    second.stands()
    console.expect(r'\[r2\] \(Ctrl-C: the rover is stopped; press it again to exit\)')

    one_stop_of_the_fleet_stops_both(f'http://127.0.0.1:{port}', console, first, second)

    console.enter(':forward 20')  # the agent that was frozen may have latched SAFE
    first.drives()
    os.kill(console.child.pid, signal.SIGKILL)
    bench.nothing_left()
    assert first.standing
    assert second.standing
    for name in ('r1', 'r2'):
        assert (Path(bench.env['XDG_STATE_HOME']) / f'curiosity_rosa/agent_{name}.log').exists()


def test_two_demos_at_once_that_a_discovery_server_brings_together(
    bench: Bench, tmp_path: Path
) -> None:
    options = ('--rovers', '2', '--speed', '3', '--artifacts', str(tmp_path))
    run = bench.run(*options, '--discovery-server', '-c', ':demo', stdin=subprocess.DEVNULL)
    for name in ('r1', 'r2'):
        run.expect(f'[{name}] > :demo', STARTS_S)
    # All nodes know each other now. Who does not ask the server knows none of them.
    assert bench.box.node.get_node_names() == ['test_client']
    server = wait_until(partial(bench.find, 'fast-discovery-server'), 'the discovery server')
    for process in (server, bench.find('adapter_node'), bench.find('agent_node')):
        assert process is not None
        assert {each.laddr.ip for each in process.net_connections('udp')} == {'127.0.0.1'}
        shared = [each.path for each in process.memory_maps() if each.path.startswith('/dev/shm/')]
        assert [path for path in shared if 'fast' in path] == []
    server.kill()
    run.expect('The discovery process ended (terminated by SIGKILL) and is started again.')
    assert run.end(150.0) == 0, run.output()
    result = json.loads(run.output().splitlines()[-1])
    assert result['ok']
    assert list(result['rovers']) == ['r1', 'r2']
    for name, each in result['rovers'].items():
        assert each['ok']
        assert each['score'] >= 0.8
        assert each['image'] == str(tmp_path / name / 'capture.jpg')
        assert Path(each['image']).stat().st_size > 0
        assert Path(each['trace']).stat().st_size > 0
    bench.nothing_left()
