# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page /fleet of a real `run_demo.sh --rovers 2` in a headless Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
import os
import re
import signal
import socket

from demo_bench import Bench
from playwright.sync_api import Browser, expect, sync_playwright
import psutil
import pytest
from test_rovers_e2e import Watch

pytestmark = [pytest.mark.e2e, pytest.mark.browser, pytest.mark.timeout(300)]

CHROMIUM = '/usr/bin/chromium'
START_MS, WAIT_MS = 120_000, 30_000
FIRST_PORT, LAST_PORT = 19_000, 20_000
FORWARD_S = 20


def free_pair() -> int:
    """The first of two free ports that follow each other."""
    for first in range(FIRST_PORT, LAST_PORT, 2):
        with ExitStack() as stack, suppress(OSError):
            for port in (first, first + 1):
                stack.enter_context(socket.create_server(('127.0.0.1', port)))
            return first
    raise AssertionError(f'no two free ports from {FIRST_PORT} to {LAST_PORT}')


@pytest.fixture
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=['--no-sandbox'])
        yield browser
        browser.close()


def agent_of(pid: int, rover: str) -> psutil.Process:
    for process in psutil.Process(pid).children(recursive=True):
        line = process.cmdline()
        if f'__ns:=/{rover}' in line and any(each.endswith('/agent_node') for each in line[:3]):
            return process
    raise AssertionError(f'no agent of {rover}')


def test_one_page_shows_and_stops_both_rovers_and_a_stopped_agent_is_lost(
    bench: Bench, browser: Browser
) -> None:
    first, second = Watch(bench.box, 'r1'), Watch(bench.box, 'r2')
    port = free_pair()
    folder = bench.box.config_dir(agent={'http': {'port': port}})
    console = bench.terminal('--rovers', '2', '--config-dir', folder)
    console.expect('@r2 text')
    console.enter(':mast_close')
    done = (rf'(?=.*\[{name}\]   \[RESULT\] mast_close)' for name in ('r1', 'r2'))
    console.expect(''.join(done))  # in any order
    page = browser.new_page()
    page.goto(f'http://127.0.0.1:{port}/fleet', timeout=START_MS)
    for name in ('r1', 'r2'):
        robot = page.get_by_role('article', name=f'Robot {name}')
        expect(robot.locator('.connection')).to_contain_text('live', timeout=START_MS)
        expect(robot.locator('.mode')).to_be_visible(timeout=WAIT_MS)
    console.enter(f':forward {FORWARD_S}')  # once the page is open, which may take long
    first.drives(60.0)
    second.drives(60.0)

    page.keyboard.press('Escape')
    first.stands()
    second.stands()
    for name in ('r1', 'r2'):
        robot = page.get_by_role('article', name=f'Robot {name}')
        expect(robot.locator('.stopped')).to_contain_text(
            re.compile(r'stopped.* \(\d+ ms\)'), timeout=WAIT_MS
        )
    expect(page.locator('#stop-status')).to_contain_text('Stopped after', timeout=WAIT_MS)

    # Frozen, not killed: the runner restarts an agent that has died.
    frozen = agent_of(console.child.pid, 'r2')
    os.kill(frozen.pid, signal.SIGSTOP)
    try:
        lost = page.get_by_role('article', name='Robot r2')
        expect(lost.locator('.connection')).to_contain_text(
            re.compile(r'lost\s+\d'), timeout=WAIT_MS
        )
        live = page.get_by_role('article', name='Robot r1')
        expect(live.locator('.connection')).to_contain_text('live')
    finally:
        os.kill(frozen.pid, signal.SIGCONT)
    page.get_by_role('link', name='r2', exact=True).click()
    expect(page).to_have_url(f'http://127.0.0.1:{port + 1}/', timeout=WAIT_MS)
    expect(page.locator('header.status')).to_be_visible(timeout=START_MS)
