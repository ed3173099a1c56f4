# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page of several robots in a headless Chromium, with simulated robots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
import re
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from curiosity_rosa_demo.agent.interfaces.fleet.fleet_page import add_fleet
from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.http.server_thread import HttpThread
from curiosity_rosa_demo.agent.interfaces.page.images import image_routes
from curiosity_rosa_demo.agent.interfaces.page.page import add_page
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Mode,
    QueuedTask,
    RobotState,
    TasksState,
)
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.infra.config.fleet import FleetRobot
from curiosity_rosa_demo.infra.config.topics import Config
from fake_robot import CONFIG, FakeRobot
import page_site
from playwright.sync_api import Browser, expect, Locator
import pytest

pytestmark = pytest.mark.browser

TOKEN = 'a long token of the fleet'


class Fleet:
    """The robots ``r1``, ``r2``, ..., each with a server of its own; the first one serves the page
    and /fleet: there is one page in a process.
    """

    def __init__(self, robots: Sequence[FakeRobot], token: str = '') -> None:
        self.robots, self.token = robots, token
        ports = [page_site.free_port() for _ in robots]
        urls = [f'http://127.0.0.1:{port}' for port in ports]
        fleet = [FleetRobot(name=f'r{n}', url=url) for n, url in enumerate(urls, 1)]
        http = CONFIG.agent.http.model_copy(update={'fleet': fleet})
        agent = CONFIG.agent.model_copy(update={'http': http})
        self._config: Config = CONFIG.model_copy(update={'agent': agent})
        self._threads = [self._serve(n, port) for n, port in enumerate(ports)]
        self.url = f'{urls[0]}/'

    def _serve(self, number: int, port: int) -> HttpThread:
        settings = self._config.agent.http.model_copy(update={'port': port})

        def make() -> Any:
            robot = self.robots[number]
            app = create_app(robot.runner, robot=robot, settings=settings, token=self.token)
            if number == 0:
                add_page(app, robot, robot.runner, self._config)
                add_fleet(app, self._config)
            else:
                app.include_router(image_routes(robot))
            return app

        thread = HttpThread(make, settings)
        thread.start()
        return thread

    def close(self) -> None:
        for each in self._threads:
            each.close()


@pytest.fixture
def robots() -> Iterator[list[FakeRobot]]:
    """One drives, one waits for an answer, one is in SAFE."""
    with ExitStack() as stack:
        driving, asking, safe = (stack.enter_context(FakeRobot()) for _ in range(3))
        drive = QueuedTask(task_id='t1', goal='go to the light', status='ACTIVE')
        tasks = TasksState(mode=Mode.EXEC, queue=[drive], active_task_id='t1')
        driving.brain_state = BrainState(tasks=tasks)
        asking.ask('May I drive 4 m past the crater?', {'skill': 'move_forward', 'arguments': {}})
        pressed = TasksState(mode=Mode.SAFE, mode_reason='the e-stop is pressed')
        safe.brain_state = BrainState(robot=RobotState(estop=True), tasks=pressed)
        yield [driving, asking, safe]


@pytest.fixture
def fleet(robots: list[FakeRobot]) -> Iterator[Fleet]:
    fleet = Fleet(robots)
    yield fleet
    fleet.close()


class Tab(page_site.Tab):
    """Of the page of the fleet."""

    def open(self) -> Tab:
        self.page.goto(f'{self.site.url}fleet')
        self.is_live()
        return self

    def is_live(self) -> None:
        expect(self.page.locator('html[data-link=live]')).to_be_attached()
        expect(self.page.locator('.fleet-head')).to_contain_text('3 of 3 connected')

    def robot(self, name: str) -> Locator:
        return self.page.get_by_role('article', name=f'Robot {name}')


@pytest.fixture
def tab(browser: Browser, fleet: Fleet) -> Iterator[Tab]:
    tab = Tab(browser.new_page(), fleet).open()
    yield tab
    tab.page.close()


def test_each_robot_has_its_state_its_question_and_its_picture(tab: Tab) -> None:
    for name, text in (
        ('r1', 'go to the light'),
        ('r2', 'May I drive 4 m past the crater?'),
        ('r3', 'the e-stop is pressed'),
    ):
        expect(tab.robot(name)).to_contain_text(text)
        expect(tab.robot(name).get_by_role('img')).to_be_visible()
    expect(tab.robot('r2').get_by_role('link', name='Answer on the page of r2')).to_be_visible()
    expect(tab.page).to_have_title(re.compile(r'\(1\?\) SAFE'))
    overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    for width in (360, 1280, 2560):
        tab.page.set_viewport_size({'width': width, 'height': 900})
        assert tab.page.evaluate(overflow) <= 0
    for scheme in ('light', 'dark'):
        tab.page.emulate_media(color_scheme=scheme)
        found = Axe().run(tab.page)
        assert found.violations_count == 0, found.generate_report()
    assert tab.faults == []


def test_stop_all_tells_what_came_of_it_for_each(tab: Tab, robots: list[FakeRobot]) -> None:
    page = tab.page
    page.locator('.browser-settings summary').click()
    page.get_by_label('Your name, for the others to see').fill('Anna')
    page.keyboard.press('Tab')
    page.keyboard.press('Escape')
    expect(page.locator('#stop-status')).to_contain_text('Stopped after')
    for name in ('r1', 'r2', 'r3'):
        expect(tab.robot(name).locator('.stopped')).to_contain_text(
            re.compile(r'stopped \(\d+ ms')
        )
    assert [robot.stops[0] for robot in robots] == ['Anna (fleet)'] * 3
    robots[1].stop_outcome = Outcome(False, 'sent and not confirmed')
    page.get_by_role('button', name='Stop all robots now (Escape)').click()
    expect(page.locator('#stop-status')).to_contain_text(
        'NOT CONFIRMED: r2: sent and not confirmed'
    )
    expect(tab.robot('r2').locator('.stopped.failed')).to_contain_text('sent and not confirmed')
    expect(tab.robot('r3').locator('.stopped')).to_contain_text('stopped')


def test_with_a_token_the_form_leads_to_the_fleet_and_the_token_stays_on_the_server(
    browser: Browser, robots: list[FakeRobot], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('CURIOSITY_HTTP_TOKEN', TOKEN)
    fleet = Fleet(robots, TOKEN)
    tab = Tab(browser.new_page(), fleet)
    tab.page.goto(f'{fleet.url}fleet')
    tab.page.get_by_label('Token').fill(TOKEN)
    tab.page.keyboard.press('Enter')
    expect(tab.page).to_have_url(f'{fleet.url}fleet')
    tab.is_live()
    assert TOKEN not in tab.page.content()
    tab.page.keyboard.press('Escape')
    expect(tab.page.locator('#stop-status')).to_contain_text('Stopped after')
    assert all(robot.stops for robot in robots)
    tab.page.close()
    fleet.close()
