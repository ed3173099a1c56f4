# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page in a headless Chromium, for the tests: of a robot in memory, and of the whole demo.

STATE_IMAGES names a folder for what the page of the robot in memory looks like in each state,
PAGE_IMAGES one for the pictures of the documents, which are of the demo: docs/images.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import socket
import time
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.http.server_thread import HttpThread
from curiosity_rosa_demo.agent.interfaces.page.page import add_page
from curiosity_rosa_demo.domain.brain_state import Json
from demo_bench import Api, Bench
from fake_robot import CONFIG, FakeRobot
from playwright.sync_api import Browser, ConsoleMessage, expect, Page, Request, sync_playwright

CHROMIUM = '/usr/bin/chromium'
WAIT_MS, DEMO_WAIT_MS = 20_000, 60_000
DRIVE = {'skill': 'move_forward', 'arguments': {'duration_s': 9.0}}
TO_LIGHT = {'parameters': {'x': 6.5, 'y': 0.0}, 'description': 'into the light'}
PLAN = {
    'goal': 'a picture of bright ground',
    'steps': [
        {'step_id': 1, 'action': 'mast_close', 'status': 'success'},
        {'step_id': 2, 'action': 'navigate_to_pose', 'status': 'running', **TO_LIGHT},
        {'step_id': 3, 'action': 'mast_open'},
        {'step_id': 4, 'action': 'capture_and_score'},
    ],
}
expect.set_options(timeout=WAIT_MS)
# What is cut at the right, and drawn text that is smaller than 12 pixels; what scrolls by itself
# may be wider.
MISPLACED = """() => {
  const wrong = [];
  if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page is too wide');
  for (const each of document.querySelectorAll('.page *')) {
    const box = each.getBoundingClientRect();
    if (box.width && box.right > innerWidth + 1 && !each.closest('.table, .captures'))
      wrong.push(`cut: ${each.outerHTML.slice(0, 80)}`);
  }
  const live = document.documentElement.dataset.link === 'live'; // else nothing is drawn anew
  for (const each of live ? document.querySelectorAll('svg text') : []) {
    const pixels = parseFloat(getComputedStyle(each).fontSize) * each.getScreenCTM().a;
    if (pixels < 11.9) wrong.push(`${pixels} px: ${each.textContent}`);
  }
  const meet = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const panels = [...document.querySelectorAll('.panel')];
  const boxes = panels.map((each) => each.getBoundingClientRect());
  boxes.forEach((one, place) => {
    if (boxes.slice(place + 1).some((other) => meet(one, other))) wrong.push('panels overlap');
  });
  return wrong;
}"""


class Site:
    """The robot's server, which can be taken away and brought back at the same address."""

    def __init__(self, robot: FakeRobot, port: int, files: Path) -> None:
        """``files``: for what outlives the agent, and for recordings."""
        self.robot, self.files = robot, files
        self._settings = CONFIG.agent.http.model_copy(update={'port': port})
        self.begin()

    def begin(self) -> None:
        def make() -> Any:
            robot = self.robot
            app = create_app(robot, settings=self._settings)
            kept = {'history': self.files / 'view.jsonl', 'recordings': self.files}
            add_page(app, robot, CONFIG, **kept)
            return app

        self._thread = HttpThread(make, self._settings)
        self.url = self._thread.start()

    def end(self) -> None:
        self._thread.close()


class Tab:
    """A browser tab, and what it complained of or asked another server for."""

    def __init__(self, page: Page, site: Any) -> None:
        self.page, self.site = page, site
        self.faults: list[str] = []
        self.foreign: list[str] = []
        page.set_default_timeout(WAIT_MS)
        page.on('console', self._console)
        page.on('pageerror', lambda error: self.faults.append(str(error)))
        page.on('request', self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ('error', 'warning'):
            self.faults.append(message.text)

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.site.url, 'blob:', 'data:')):
            self.foreign.append(request.url)

    def open(self) -> Tab:
        self.page.goto(self.site.url)
        self.is_live()
        return self

    def is_live(self) -> None:
        expect(self.page.locator('html[data-link=live]')).to_be_attached()
        expect(self.page.locator('header.status')).to_be_visible()

    def say(self, text: str) -> None:
        self.page.get_by_label('A goal, a question or a command').fill(text)
        self.page.keyboard.press('Enter')

    def picture(self, name: str) -> None:
        picture(self.page, name, 'STATE_IMAGES')


def picture(page: Page, name: str, into: str = 'PAGE_IMAGES') -> None:
    """Into the folder that the environment variable ``into`` names, if it is set."""
    if folder := os.environ.get(into):
        page.screenshot(path=Path(folder) / f'page_{name}.png')


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=['--no-sandbox'])
        yield browser
        browser.close()


def free_port() -> int:
    with socket.create_server(('127.0.0.1', 0)) as listener:
        return int(listener.getsockname()[1])


def fits(tab: Tab) -> None:
    """Nothing is cut or overlaps once the drawings have come in the sizes of their panels."""
    end, wrong = time.monotonic() + WAIT_MS / 1000, ['not looked at']
    while wrong and time.monotonic() < end:
        wrong = tab.page.evaluate(MISPLACED)
    assert not wrong, wrong


def stowed(page: Page) -> None:
    """The mast_close that was asked for last has stowed the mast."""
    task = page.locator('tr.task').first
    expect(task).to_contain_text('mast_close')
    expect(task).to_contain_text('completed')


@contextmanager
def big_page() -> Iterator[Page]:
    """For the page of the whole demo, which takes longer than that of a robot in memory."""
    with chromium() as browser:
        expect.set_options(timeout=DEMO_WAIT_MS)
        yield browser.new_page(viewport={'width': 1280, 'height': 900})


def demo_with_page(bench: Bench, page: Page, **contracts: Json) -> Api:
    """The agent has the same port after a restart. ``contracts``: as of Sandbox.config_dir."""
    config = bench.box.config_dir(agent={'http': {'port': free_port()}}, **contracts)
    api = Api(bench.run('--config-dir', config)).ready()
    page.goto(api.url)
    expect(page.locator('.camera .frame img')).to_be_visible()  # the rover's nodes are up
    return api
