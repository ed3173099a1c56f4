# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The scrubber of the page, in a headless Chromium before a robot in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
import re

from axe_playwright_python.sync_playwright import Axe
from curiosity_rosa_demo.agent.interfaces.page import feed
from curiosity_rosa_demo.domain.brain_state import BrainState, Mode, TasksState
from curiosity_rosa_demo.domain.models import RoverPose, TraceKind
from curiosity_rosa_demo.trace.events import QuestionAsked
from fake_robot import FakeRobot, jpeg
from mcap_world import a_drive, write_run
from page_site import Site, Tab, until
from playwright.sync_api import expect, Locator
import pytest

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def recorded_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, 'RECORD_PERIOD_S', 0.1)


@pytest.fixture
def site(robot: FakeRobot, port: int, tmp_path: Path) -> Iterator[Site]:
    """A robot that keeps what its page shows."""
    site = Site(robot, port, tmp_path)
    yield site
    site.end()


def slider(tab: Tab) -> Locator:
    return tab.page.get_by_role('slider', name='Time that the page shows')


def place(tab: Tab) -> Locator:
    return tab.page.locator('.fact', has_text='Place')


def a_run(tab: Tab, robot: FakeRobot) -> None:
    """A rover that drives, asks and fails."""
    tab.say('go to the light')
    expect(place(tab)).to_contain_text('x 8.0 m')
    expect(tab.page.locator('.captures li')).to_have_count(1)
    robot.trace(**QuestionAsked('q1').trace_fields('Drive to x = 9?'))
    expect(tab.page.locator('.lines')).to_contain_text('Drive to x = 9?')
    robot.trace(TraceKind.ERROR, 'The wheel slips', ok=False)
    expect(tab.page.locator('.lines')).to_contain_text('The wheel slips')


def test_the_page_looks_back_and_is_live_again_by_one_key(tab: Tab, robot: FakeRobot) -> None:
    page, bar = tab.page, tab.page.locator('.time-bar')
    a_run(tab, robot)
    robot.where = RoverPose(x=9.0, frame_id='odom')
    expect(place(tab)).to_contain_text('x 9.0 m')
    slider(tab).press('Home')
    expect(bar.locator('.banner')).to_contain_text(re.compile(r'Looking back: .+, \d+ s ago'))
    expect(bar.locator('.banner')).to_contain_text('Live again: L')
    expect(place(tab)).to_contain_text('x 0.0 m')
    expect(page.locator('.lines')).not_to_contain_text('The wheel slips')
    expect(page.locator('.captures li')).to_have_count(0)
    page.get_by_role('button', name='Next capture').click()
    expect(page.locator('.captures li')).to_have_count(1)
    expect(page.locator('.lines')).to_contain_text('captured: score')
    expect(page.locator('.lines')).not_to_contain_text('The wheel slips')
    slider(tab).press('e')
    expect(page.locator('.lines')).to_contain_text('The wheel slips')
    slider(tab).press('Shift+Q')
    expect(page.locator('.lines')).to_contain_text('Drive to x = 9?')
    expect(page.locator('.lines')).not_to_contain_text('The wheel slips')
    assert Axe().run(page).response['violations'] == []
    tab.picture('time')
    page.locator('body').press('l')
    expect(bar.locator('.banner')).to_have_count(0)
    expect(place(tab)).to_contain_text('x 9.0 m')
    expect(page.locator('.lines')).to_contain_text('The wheel slips')


def test_a_page_that_looks_back_stops_the_live_rover_and_does_nothing_else(
    new_tab: Callable[..., Tab], robot: FakeRobot
) -> None:
    one, other = new_tab().open(), new_tab().open()
    a_run(one, robot)
    slider(one).press('Home')
    expect(place(one)).to_contain_text('x 0.0 m')
    robot.brain_state = BrainState(tasks=TasksState(mode=Mode.SAFE, mode_reason='tilt'))
    expect(one.page.locator('.banner.safe')).to_contain_text('SAFE: tilt')
    robot.ask('May I?')
    expect(one.page.locator('.asking')).to_contain_text('A question waits')
    one.page.locator('#stop').click()
    expect(one.page.locator('#stop-status')).to_contain_text('Stopped after')
    assert len(robot.stops) == 1
    one.say(':stop')  # as words
    until(lambda: len(robot.stops) == 2, 'the stop')
    lines = [*robot.lines]
    one.say('look around')
    expect(one.page.locator('.talk .mine').last).to_have_text('look around')
    refused = 'Not sent: this page looks back. Press L for the live view, then try again.'
    expect(one.page.locator('.talk .is-line').last).to_contain_text(refused)
    assert robot.lines == lines
    yes = one.page.get_by_role('button', name='Approve', exact=True)
    expect(yes).to_be_disabled()
    expect(one.page.locator('.approval')).to_contain_text('Answer it in the live view: press L')
    yes.evaluate('(button) => { button.disabled = false; button.click(); }')
    expect(one.page.locator('.approval')).to_contain_text(refused)
    assert robot.answers == []
    expect(one.page.locator('.quick button').first).to_be_disabled()
    one.page.locator('.terrain').click()
    expect(one.page.locator('.goal-card')).to_have_count(0)
    expect(place(one)).to_contain_text('x 0.0 m')
    expect(other.page.locator('.time-bar .banner')).to_have_count(0)
    expect(place(other)).not_to_contain_text('x 0.0 m')
    expect(other.page.locator('.talk-lines')).not_to_contain_text('this page looks back')
    one.page.locator('body').press('l')
    yes.click()
    until(lambda: len(robot.answers) == 1, 'the answer')


def test_a_task_is_not_changed_from_the_past(tab: Tab, robot: FakeRobot) -> None:
    robot.paused = True
    tab.say('go to the light')
    row = tab.page.locator('tr.task')
    expect(row).to_contain_text('active')
    expect(row.get_by_role('button', name='Cancel')).to_be_visible()
    robot.trace(TraceKind.ERROR, 'The wheel slips', ok=False)
    expect(tab.page.locator('.lines')).to_contain_text('The wheel slips')
    slider(tab).press('Shift+E')
    expect(tab.page.locator('.time-bar .banner')).to_be_visible()
    expect(row).to_contain_text('active')
    expect(row.get_by_role('button', name='Cancel')).to_have_count(0)
    row.get_by_role('button', name='Open task').press('Delete')
    row.get_by_role('button', name='Open task').click()
    drawer = tab.page.get_by_role('dialog')
    expect(drawer).to_contain_text('this is the task as it is now')
    expect(drawer.get_by_role('button', name='Cancel task')).to_have_count(0)
    drawer.press('Delete')
    drawer.press('l')
    expect(drawer.get_by_role('button', name='Cancel task')).to_be_visible()
    assert [task.state.running for task in robot.runner.list_tasks()] == [True]
    robot.paused = False


def test_a_recording_is_shown_beside_what_calls_for_a_person_now(
    tab: Tab, robot: FakeRobot, site: Site
) -> None:
    write_run(site.files / 'drive.mcap', a_drive(jpeg(4.0)))
    stories = tab.page.get_by_label('What the time line shows')
    stories.focus()
    expect(stories.locator('option')).to_have_count(2)
    stories.select_option('drive.mcap')
    banner = tab.page.locator('.time-bar .banner')
    expect(banner).to_contain_text('Looking back at drive.mcap')
    slider(tab).press('End')
    expect(place(tab)).to_contain_text('x 10.0 m')
    expect(tab.page.locator('.captures li')).to_have_count(1)
    expect(tab.page.locator('.lines')).to_contain_text('The wheel slips')
    robot.brain_state = BrainState(tasks=TasksState(mode=Mode.SAFE, mode_reason='tilt'))
    expect(tab.page.locator('.banner.safe')).to_contain_text('SAFE: tilt')
    expect(tab.page).to_have_title(re.compile('^SAFE: '))
    expect(place(tab)).to_contain_text('x 10.0 m')
    assert Axe().run(tab.page).response['violations'] == []
    tab.picture('time_recording')
    tab.page.locator('body').press('l')
    expect(banner).to_have_count(0)
    expect(place(tab)).to_contain_text('x 0.0 m')
    expect(tab.page.locator('.lines')).not_to_contain_text('The wheel slips')
