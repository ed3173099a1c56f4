# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The fleet of a real `run_demo.sh --rovers 2`; test_fleet_browser.py has its page."""

from __future__ import annotations

from contextlib import ExitStack, suppress
import os
import signal
import socket

from demo_bench import Bench
import httpx
from page_site import big_page, picture
from playwright.sync_api import expect
import psutil
import pytest
from test_rovers_e2e import Watch

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

FIRST_PORT, LAST_PORT = 19_000, 20_000
START_S, WAIT_S = 120.0, 20.0


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


def test_one_stop_stops_both_rovers_and_a_frozen_agent_keeps_no_other_from_its_stop(
    bench: Bench,
) -> None:
    first, second = Watch(bench.box, 'r1'), Watch(bench.box, 'r2')
    port = free_pair()
    folder = bench.box.config_dir(agent={'http': {'port': port}})
    console = bench.terminal('--rovers', '2', '--config-dir', folder)
    console.expect('@r2 text')
    console.enter(':mast_close')
    done = (rf'(?=.*\[{name}\]   \[RESULT\] mast_close)' for name in ('r1', 'r2'))
    console.expect(''.join(done), START_S)  # in any order
    url = f'http://127.0.0.1:{port}'
    assert 'STOP ALL' in httpx.get(f'{url}/fleet', timeout=START_S).text
    assert httpx.get(f'{url}/fleet/r2/frame.jpg', timeout=WAIT_S).status_code in (200, 204)
    console.enter(':forward 20')
    console.until(lambda: first.moving, 'r1 to drive', 60.0)
    console.until(lambda: second.moving, 'r2 to drive', 60.0)

    with big_page() as page:
        page.goto(f'{url}/fleet')
        for name in ('r1', 'r2'):
            robot = page.locator('.robot', has_text=name)
            expect(robot).to_contain_text('moving')
            expect(robot.get_by_role('img')).to_be_visible()
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
    assert robots['r1']['took_ms'] < 5000
