# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page in each state that an operator meets: in six sizes nothing is cut or overlaps, and
axe-core finds nothing in two themes. STATE_IMAGES names a folder for the pictures.
"""

from __future__ import annotations

from collections.abc import Callable

from axe_playwright_python.sync_playwright import Axe
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Mode,
    ReactState,
    RobotState,
    TasksState,
)
from curiosity_rosa_demo.domain.models import RoverPose, TraceKind
from fake_robot import FakeRobot
from page_site import DRIVE, fits, PLAN, Tab
from playwright.sync_api import expect
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

SIZES = [(2560, 1440), (1920, 1080), (1280, 800), (820, 1180), (390, 844), (360, 740)]
JAPANESE = '地面のテクスチャを調査して、明るい場所まで安全に移動し、報告してください。' * 4
DRIVING = BrainState(
    tasks=TasksState(mode=Mode.EXEC, mode_reason='a task runs'),
    robot=RobotState(battery_pct=64.0, mast='closed', moving=True, ages_s={'odometry': 0.1}),
    react=ReactState(plan=PLAN),
)


def order(robot: FakeRobot, text: str) -> None:
    robot.do(robot.runner.submit(robot.make_task('react', {'text': text})))


def driving(tab: Tab, robot: FakeRobot) -> None:
    robot.paused, robot.brain_state = True, DRIVING
    robot.where = RoverPose(x=3.0, y=0.5, yaw_rad=0.2, frame_id='odom')
    order(robot, 'find the light')
    robot.trace(TraceKind.HYPOTHESIZE, 'The ground is dark here; the bright zone begins at x = 5')
    robot.trace(TraceKind.ACT, 'navigate_to_pose(x=6.5, y=0.0)', tool_name='navigate_to_pose')
    tab.open()
    expect(tab.page.locator('tr.task').first).to_contain_text('active')


def edit(tab: Tab, robot: FakeRobot) -> None:
    driving(tab, robot)
    robot.ask('Drive for 9 s?', DRIVE, ['GEOFENCE: it may leave the fence'])
    tab.page.get_by_role('button', name='Edit').click()
    expect(tab.page.locator('.approval textarea')).to_be_visible()


def safe(tab: Tab, robot: FakeRobot) -> None:
    driving(tab, robot)
    tasks = TasksState(mode=Mode.SAFE, mode_reason='e-stop pressed')
    stopped_robot = RobotState(mast='unknown', estop=True, safety_latch='e-stop pressed')
    robot.brain_state = BrainState(tasks=tasks, robot=stopped_robot)
    expect(tab.page.locator('.banner.safe')).to_contain_text('e-stop pressed')


def replay(tab: Tab, robot: FakeRobot) -> None:
    robot.replay = 'night.mcap, 2026-11-20, 12 min'
    robot.trace(TraceKind.ACT, 'mast_open()', tool_name='mast_open', data={'replay': True})
    driving(tab, robot)
    expect(tab.page.locator('.replay')).to_contain_text('REPLAY')


def looking_back(tab: Tab, robot: FakeRobot) -> None:
    tab.open()
    tab.say('go to the light')
    expect(tab.page.locator('.captures img')).to_be_visible()
    before = tab.page.evaluate('window.curiosity.now()')
    tab.page.wait_for_function('(at) => window.curiosity.now() > at + 1', arg=before)
    tab.page.get_by_role('slider', name='Time that the page shows').press('ArrowLeft')
    expect(tab.page.locator('.time-bar .banner')).to_contain_text('Looking back')


def goal_on_the_map(tab: Tab, robot: FakeRobot) -> None:
    tab.open()
    tab.page.locator('.browser-settings summary').click()
    expect(tab.page.locator('.cr-rover')).to_be_visible()
    tab.page.locator('.world .terrain').focus()
    tab.page.keyboard.press('Enter')
    tab.page.get_by_role('button', name='Drive here').click()
    expect(tab.page.locator('.goal-card')).to_contain_text('Rehearsal')


def many_tasks(tab: Tab, robot: FakeRobot) -> None:
    for _ in range(194):
        task = robot.do(robot.runner.submit(robot.make_task('mast_open', {})))
        robot.do(robot.runner.wait(task.id, 10.0))
    driving(tab, robot)
    for number in range(5):
        order(robot, f'waiting {number}')
    expect(tab.page.locator('.panel.tasks')).to_contain_text('more ended')


def long_japanese(tab: Tab, robot: FakeRobot) -> None:
    driving(tab, robot)
    order(robot, JAPANESE)
    robot.trace(TraceKind.HYPOTHESIZE, JAPANESE)
    robot.trace(TraceKind.ERROR, JAPANESE, ok=False)
    robot.ask(JAPANESE, DRIVE, [JAPANESE])
    expect(tab.page.locator('.approval')).to_contain_text('地面')


def lost(tab: Tab, robot: FakeRobot) -> None:
    driving(tab, robot)
    fits(tab)
    assert tab.faults == []
    tab.site.end()
    expect(tab.page.locator('#link')).to_contain_text('Connection lost')
    expect(tab.page.locator('.time-bar .time')).to_have_text('not live')


STATES = (
    *(driving, edit, safe, replay, looking_back),
    *(goal_on_the_map, many_tasks, long_japanese, lost),
)


@pytest.mark.parametrize('state', STATES, ids=lambda state: state.__name__)
def test_a_state_fits_in_every_size_and_is_accessible_in_both_themes(
    state: Callable[[Tab, FakeRobot], None], new_tab: Callable[..., Tab], robot: FakeRobot
) -> None:
    robot.step_s = 0.005
    tab = new_tab()
    state(tab, robot)
    for width, height in SIZES:
        tab.page.set_viewport_size({'width': width, 'height': height})
        fits(tab)
        if width >= 1280:  # a grid of the window's size: its cards scroll inside
            assert tab.page.evaluate('document.querySelector(".page").scrollHeight') <= height
        tab.picture(f'{state.__name__}_{width}')
    for scheme in ('dark', 'light'):
        tab.page.emulate_media(color_scheme=scheme)
        result = Axe().run(tab.page)
        assert result.violations_count == 0, result.generate_report()
    assert state is lost or tab.faults == []
    robot.paused = False
