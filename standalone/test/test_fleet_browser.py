# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page of several robots in a headless Chromium, with simulated robots."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
import re
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Mode,
    QueuedTask,
    RobotState,
    TasksState,
)
from curiosity_rosa_demo.domain.outcome import Outcome
from fake_robot import FakeRobot
from fleet_world import Fleet
from page_site import WAIT_MS
from playwright.sync_api import Browser, expect, Page
import pytest

pytestmark = pytest.mark.browser

TOKEN = 'a long token of the fleet'


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


class Tab:
    def __init__(self, browser: Browser, url: str, **options: Any) -> None:
        self.context = browser.new_context(
            **{'viewport': {'width': 1280, 'height': 800}} | options
        )
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(WAIT_MS)
        self.faults: list[str] = []
        self.page.on('console', self._on_console)
        self.page.on('pageerror', lambda error: self.faults.append(str(error)))
        self.url = url

    def _on_console(self, message: Any) -> None:
        if message.type in ('error', 'warning'):
            self.faults.append(message.text)

    def open(self) -> Page:
        self.page.goto(f'{self.url}fleet')
        self.is_live()
        return self.page

    def is_live(self) -> None:
        expect(self.page.locator('html[data-link=live]')).to_be_attached()
        expect(self.page.locator('.fleet-head')).to_contain_text('3 of 3 connected')

    def robot(self, name: str) -> Any:
        return self.page.get_by_role('article', name=f'Robot {name}')


@pytest.fixture
def tab(browser: Browser, fleet: Fleet) -> Iterator[Tab]:
    tab = Tab(browser, fleet.url)
    tab.open()
    yield tab
    tab.context.close()


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


def test_a_robot_that_is_gone_is_lost_and_the_others_stay(tab: Tab, fleet: Fleet) -> None:
    fleet.end('r2')
    lost = tab.robot('r2')
    expect(lost.locator('.connection')).to_contain_text(re.compile(r'lost\s+\d'))
    expect(lost).to_contain_text('no agent answers')
    expect(lost.locator('.age[data-stale=stale]')).to_be_visible()
    expect(tab.robot('r1').locator('.connection')).to_contain_text('live')
    expect(tab.page.locator('.fleet-head')).to_contain_text('1 lost')


def test_a_click_and_enter_lead_to_the_page_of_the_robot(tab: Tab, fleet: Fleet) -> None:
    page = tab.page
    tab.robot('r1').click()  # in its middle, which is the picture
    expect(page).to_have_url(fleet.url)
    expect(page.locator('header.status')).to_be_visible()
    page.get_by_role('link', name='All robots').click()
    expect(page).to_have_url(f'{fleet.url}fleet')
    tab.is_live()
    page.get_by_role('link', name='r1', exact=True).focus()
    page.keyboard.press('Enter')
    expect(page).to_have_url(fleet.url)


def test_with_a_token_the_form_leads_to_the_fleet_and_the_token_stays_on_the_server(
    browser: Browser, robots: list[FakeRobot], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('CURIOSITY_HTTP_TOKEN', TOKEN)
    fleet = Fleet(robots, TOKEN)
    tab = Tab(browser, fleet.url)
    tab.page.goto(f'{fleet.url}fleet')
    tab.page.get_by_label('Token').fill(TOKEN)
    tab.page.keyboard.press('Enter')
    expect(tab.page).to_have_url(f'{fleet.url}fleet')
    tab.is_live()
    assert TOKEN not in tab.page.content()
    tab.page.keyboard.press('Escape')
    expect(tab.page.locator('#stop-status')).to_contain_text('Stopped after')
    assert all(robot.stops for robot in robots)
    tab.context.close()
    fleet.close()
