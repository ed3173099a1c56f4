# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page of a robot in memory, and that of a fleet, in a headless Chromium: what only a browser
shows. In each state that an operator meets nothing is cut or overlaps in six sizes, and axe-core
finds nothing in two themes. STATE_IMAGES names a folder for the pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
import http.client
from pathlib import Path
import re
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from curiosity_rosa_demo.agent.interfaces.fleet.fleet_page import add_fleet
from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.http.server_thread import HttpThread
from curiosity_rosa_demo.agent.interfaces.page import feed
from curiosity_rosa_demo.agent.interfaces.page.page import add_page
from curiosity_rosa_demo.agent.interfaces.page.routes import image_routes
from curiosity_rosa_demo.domain.adapter_status import NodeStatus
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    BrainState,
    Mode,
    QueuedTask,
    ReactState,
    RobotState,
    TasksState,
)
from curiosity_rosa_demo.domain.models import RoverPose, TraceKind
from curiosity_rosa_demo.domain.pictures import Picture
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.infra.config.agent import FleetRobot
from curiosity_rosa_demo.trace.events import QuestionAsked
from fake_robot import CONFIG, FakeRobot
from harness import wait_until
from page_site import chromium, DRIVE, fits, free_port, PLAN, Site, Tab
from playwright.sync_api import Browser, BrowserContext, expect, Locator, Route
import pytest

# It has the machine for itself, as what starts the whole product does.
pytestmark = pytest.mark.browser

HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>${7*7}{{7*7}}`'


@pytest.fixture(scope='module')
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def robot() -> Iterator[FakeRobot]:
    with FakeRobot(step_s=0.1) as robot:
        yield robot


@pytest.fixture(scope='module')
def port() -> int:
    """The same for all, so that the browser loads the library once."""
    return free_port()


@pytest.fixture
def site(robot: FakeRobot, port: int, tmp_path: Path) -> Iterator[Site]:
    """A robot that keeps what its page shows."""
    site = Site(robot, port, tmp_path)
    yield site
    site.end()


@pytest.fixture
def new_tab(browser: Browser, site: Site) -> Iterator[Callable[..., Tab]]:
    contexts = []

    def make(width: int = 1280, height: int = 900, **options: Any) -> Tab:
        viewport: Any = {'width': width, 'height': height}
        contexts.append(browser.new_context(viewport=viewport, **options))
        return Tab(contexts[-1].new_page(), site)

    yield make
    for context in contexts:
        context.close()


@pytest.fixture(scope='module')
def profile(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={'width': 1280, 'height': 900})
    yield context
    context.close()


@pytest.fixture
def tab(profile: BrowserContext, site: Site) -> Iterator[Tab]:
    """Open, and without a fault at the end."""
    tab = Tab(profile.new_page(), site).open()
    yield tab
    tab.page.close()
    assert tab.faults == []
    assert tab.foreign == []


def test_safe_is_a_banner_with_its_cause_the_way_out_and_a_button(
    tab: Tab, robot: FakeRobot
) -> None:
    page, banner = tab.page, tab.page.locator('.banner.safe')
    expect(banner).to_have_count(0)
    robot.brain_state = BrainState(
        tasks=TasksState(mode=Mode.SAFE, mode_reason='e-stop pressed'),
        robot=RobotState(estop=True, safety_latch='e-stop pressed'),
    )
    expect(banner).to_contain_text('SAFE: e-stop pressed')
    expect(banner).to_contain_text('Release the e-stop, then press Clear.')
    expect(page).to_have_title('SAFE: Curiosity ROSA')
    icon = page.locator('link[rel=icon]')
    in_safe = icon.get_attribute('href')
    banner.get_by_role('button', name='Clear').click()
    wait_until(lambda: robot.lines == [':clear'], 'the line')
    expect(banner).to_contain_text('There is no command :clear')  # what came of it, here too
    robot.brain_state = BrainState()
    expect(banner).to_have_count(0)
    expect(page).to_have_title('Curiosity ROSA')
    assert icon.get_attribute('href') not in (None, in_safe)


def test_what_is_old_does_not_look_live(tab: Tab, robot: FakeRobot) -> None:
    wheels = tab.page.locator('.fact', has_text='Wheels').locator('dd')
    frame, state, picture = tab.page.locator('.age-of-frame'), robot.state, robot.picture

    def picture_before_the_clock_was_set_back(longest_px: int) -> Picture | None:
        found = picture(longest_px)
        return found and replace(found, at=found.at + 3600.0)

    robot.picture = picture_before_the_clock_was_set_back
    robot.brain_state = BrainState(robot=RobotState(ages_s={'odometry': 0.1}))
    expect(wheels).to_have_text('still')
    expect(wheels).not_to_have_attribute('data-old', '')
    expect(frame).to_be_visible()
    expect(frame).not_to_have_attribute('data-stale', '')
    robot.picture_age_s = 60.0
    old = RobotState(ages_s={'odometry': 18.0}, silent=['odometry'])
    robot.brain_state = BrainState(robot=old)
    expect(wheels).to_have_attribute('data-old', '18 s old')
    expect(tab.page.locator('.troubles')).to_contain_text('odometry is silent')
    expect(tab.page.locator('.age-of-frame[data-stale]')).to_be_visible()

    def broken() -> BrainState:
        raise RuntimeError('no state')

    robot.state = broken
    expect(tab.page.locator('#link')).to_contain_text('No data from the agent')
    expect(tab.page.locator('html[data-link=stale]')).to_be_attached()
    for age in tab.page.locator('.age').all():  # as the browser counts them
        expect(age).to_have_attribute('data-stale', 'stale')
        assert float(age.inner_text().split()[0]) > 2.0
    robot.state = state
    tab.is_live()


def test_a_replay_is_marked(tab: Tab, robot: FakeRobot) -> None:
    robot.brain_state = BrainState(
        robot=RobotState(
            ages_s={'odometry': 0.1, 'battery': 0.2},
            battery_state=BatteryLevel.LOW,
            battery_pct=12.0,
        )
    )
    recorded, frame_age = tab.page.locator('.status .recorded'), tab.page.locator('.age-of-frame')
    expect(tab.page.locator('.status [data-age="battery"]')).to_have_count(1)
    expect(recorded).to_have_count(0)
    expect(frame_age).to_contain_text('s old')
    robot.trace(TraceKind.ACT, 'long ago', data={'replay': True})
    expect(tab.page.locator('.replay')).to_contain_text('REPLAY')
    # Battery, mast, wheels, place and way, and the age of two sources: none looks live.
    expect(recorded).to_have_count(7)
    expect(tab.page.locator('.status [data-age="battery"]')).to_have_count(0)
    expect(frame_age).to_have_text('recorded')
    expect(tab.page.get_by_alt_text('Camera image of a recording')).to_have_count(1)
    expect(tab.page.locator('.lines')).to_contain_text('(replay) long ago')
    tab.picture('replay')
    robot.trace(TraceKind.ACT, 'now')
    expect(tab.page.locator('.replay')).to_have_count(0)
    expect(recorded).to_have_count(0)
    expect(frame_age).to_contain_text('s old')


def test_the_order_of_tasks_is_changed_by_keys(tab: Tab, robot: FakeRobot) -> None:
    robot.paused = True
    for text in ('go to the light', 'first', 'second'):
        tab.say(text)
        expect(tab.page.locator('tr.task', has_text=text).first).to_be_visible()
    waiting = tab.page.locator('tr.task.pending td.text')
    row = tab.page.locator('tr.task', has_text='second')
    expect(waiting).to_contain_text(['first', 'second'])
    row.locator('[data-opens]').first.focus()
    tab.page.keyboard.press('+')
    expect(waiting).to_contain_text([re.compile('second *priority 4'), 'first'])
    tab.page.keyboard.press('-')
    expect(waiting).to_contain_text(['first', 'second'])
    tab.page.keyboard.press('p')
    expect(row).to_contain_text('(held)')
    tab.page.keyboard.press('p')
    expect(row).not_to_contain_text('(held)')
    tab.page.keyboard.press('Delete')
    expect(row).to_contain_text('cancelled')


def test_a_key_that_is_held_acts_once(tab: Tab, robot: FakeRobot) -> None:
    page = tab.page

    def hold(key: str, first: Locator, then: Locator) -> None:
        """Until ``then`` has been there for a while."""
        first.focus()
        page.keyboard.down(key)
        expect(then).to_be_visible()
        for _ in range(20):
            page.keyboard.down(key)
            page.evaluate('new Promise((next) => setTimeout(next, 30))')
        page.keyboard.up(key)

    robot.ask('May I drive?', DRIVE)
    hold('Enter', page.locator('.asking button'), page.locator('.approval'))
    assert robot.answers == []
    hold('Enter', page.locator('.terrain'), page.locator('.goal-card'))
    expect(page.get_by_role('button', name='Drive here')).to_be_focused()
    robot.paused = True
    tab.say('go to the light')
    task = page.locator('tr.task')
    hold('p', task.locator('[data-opens]'), task.filter(has_text='(held)'))
    expect(task).to_contain_text('(held)')


def test_the_second_click_of_a_double_click_presses_no_other_button(
    tab: Tab, robot: FakeRobot
) -> None:
    page, tasks = tab.page, tab.page.locator('tr.task')
    drawer, edit = page.get_by_role('dialog'), page.get_by_role('button', name='Edit')

    def click_twice(button: Locator, then: Locator) -> None:
        """The second time once ``then`` is there."""
        button.hover()
        for count in (1, 2):
            page.mouse.down(click_count=count)
            page.mouse.up(click_count=count)
            expect(then).to_be_visible()
        page.evaluate('new Promise((next) => setTimeout(next, 500))')

    asked(robot, 'Drive for 9 s?')
    click_twice(edit, page.locator('.approval textarea'))
    assert robot.answers == []
    robot.paused = True
    for text in ('go to the light', 'first', 'second'):
        tab.say(text)
        expect(tasks.filter(has_text=text)).to_be_visible()
    first = tasks.filter(has_text='first')
    click_twice(first.get_by_role('button', name='Cancel'), first.filter(has_text='cancelled'))
    tasks.filter(has_text='second').get_by_role('button', name='Open task').click()
    pause, resume = (drawer.get_by_role('button', name=each) for each in ('Pause', 'Resume'))
    click_twice(pause, resume)
    expect(resume).to_be_visible()
    resume.click()
    expect(pause).to_be_visible()


@pytest.mark.parametrize('size', [(360, 740), (2560, 1440)], ids=str)
def test_an_open_task_hides_neither_stop_nor_its_own_end(
    new_tab: Callable[..., Tab], robot: FakeRobot, size: tuple[int, int]
) -> None:
    robot.paused = True
    tab = new_tab(*size).open()
    tab.say('go to the light')
    tab.page.get_by_role('button', name='Open task').click()
    drawer = tab.page.get_by_role('dialog')
    expect(drawer.get_by_role('button', name='Cancel task')).to_be_visible()
    fits(tab)
    result = Axe().run(tab.page)
    assert result.violations_count == 0, result.generate_report()
    tab.picture(f'task_{size[0]}')
    drawer.get_by_role('button', name='Pause').press('p')
    expect(drawer.locator('.inside [role=status]')).to_contain_text('paused')
    tab.page.locator('#stop').click()
    expect(tab.page.locator('#stop-status')).to_contain_text('Stopped after')
    expect(drawer).to_contain_text('cancelled')
    robot.ask('Drive for 9 s?', DRIVE)  # the drawer may cover it
    drawer.get_by_role('button', name='Show the question').click()
    expect(drawer).to_have_count(0)
    expect(tab.page.get_by_role('button', name='Approve')).to_be_focused()
    tab.page.get_by_role('button', name='Open task').click()  # with the question open already
    expect(drawer.get_by_role('button', name='Show the question')).to_be_visible()


# --- stop ------------------------------------------------------------------------------------


def test_stopped_stands_there_only_when_the_robot_has_said_so(tab: Tab, robot: FakeRobot) -> None:
    robot.stop_gate.clear()
    stop, said = tab.page.locator('#stop'), tab.page.locator('#stop-status')
    stop.click()
    expect(said).to_have_text('Stopping …')
    # Without an answer it goes the second way, too.
    wait_until(lambda: robot.stops == ['the page', 'the page'], 'both ways')
    expect(said).to_have_text('Stopping …')
    robot.stop_gate.set()
    expect(said).to_contain_text('Stopped after')
    robot.stop_outcome = Outcome(False, 'Service timeout: /adapter/move_stop')
    stop.click()
    expect(said).to_have_text('NOT CONFIRMED: Service timeout: /adapter/move_stop')
    expect(said).to_have_attribute('data-state', 'failed')
    held: list[Any] = []
    tab.page.route('**/stop?*', lambda route: held.append(route))
    stop.click()
    expect(said).to_contain_text('Not confirmed yet: Service timeout')
    robot.stop_outcome = Outcome(True, 'stopped')
    held[0].continue_()  # the request confirms what the socket did not
    expect(said).to_contain_text('Stopped after')
    tab.faults.clear()  # the browser itself reports the 503


def test_a_stop_whose_request_fails_goes_through_the_socket(tab: Tab, robot: FakeRobot) -> None:
    answers: tuple[Callable[[Any], None], ...] = (
        lambda route: route.fulfill(status=503, body='no connection is left'),
        lambda route: route.fulfill(status=200, body='no JSON'),
        lambda route: route.abort(),
    )
    for number, answer in enumerate(answers, 1):
        tab.page.route('**/stop?*', answer)
        tab.page.locator('#stop').click()
        wait_until(lambda n=number: robot.stops == ['the page'] * n, 'the stop')  # type: ignore[misc]
        expect(tab.page.locator('#stop-status[data-state=done]')).to_contain_text('Stopped after')
        tab.page.unroute('**/stop?*')
    tab.faults.clear()  # the browser itself reports the failed requests


def test_the_keyboard_reaches_stop_first_and_escape_while_one_types(
    tab: Tab, robot: FakeRobot
) -> None:
    page, line = tab.page, tab.page.locator('input[name=say]')
    page.keyboard.press('Tab')
    expect(page.locator('#stop')).to_be_focused()
    page.keyboard.press('Enter')
    wait_until(lambda: robot.stops == ['the page'], 'the stop')
    line.fill('half a sen')
    page.keyboard.press('Escape')
    wait_until(lambda: robot.stops == ['the page'] * 2, 'the second stop')
    expect(page.locator('#stop-status')).to_contain_text('Stopped after')
    expect(line).to_have_value('half a sen')


def test_stop_works_where_nothing_else_does(new_tab: Callable[..., Tab], robot: FakeRobot) -> None:
    """No file of the page comes but the page itself, no socket opens."""
    tab = new_tab()
    tab.page.route('**/static/**', lambda route: route.abort())
    tab.page.route_web_socket('**/view', lambda socket: socket.close())
    tab.page.goto(tab.site.url, wait_until='commit')
    tab.page.locator('#stop').click()
    expect(tab.page.locator('#stop-status')).to_contain_text('Stopped after')
    assert robot.stops == ['the page']


def test_stop_goes_the_second_way_where_the_browser_has_no_connection_left(
    new_tab: Callable[..., Tab], robot: FakeRobot
) -> None:
    tab = new_tab().open()  # a profile of its own: its connections are of no use afterwards
    for number in range(8):  # a browser has six for a server
        tab.page.evaluate(f"void fetch('/events?{number}')")
    tab.page.locator('#stop').click()
    expect(tab.page.locator('#stop-status')).to_contain_text('Stopped after')
    assert 'the page' in robot.stops


def test_stop_is_in_sight_wherever_one_scrolls(new_tab: Callable[..., Tab]) -> None:
    tab = new_tab(390, 844, has_touch=True).open()
    for down in (0, 600, 5000):
        tab.page.mouse.wheel(0, down)
        expect(tab.page.locator('#stop')).to_be_in_viewport(ratio=1.0)
    box = tab.page.locator('#stop').bounding_box()
    assert box is not None
    assert box['width'] > 300
    assert box['height'] >= 44


def test_a_lost_agent_is_seen_at_once_and_found_again(tab: Tab, robot: FakeRobot) -> None:
    page, site = tab.page, tab.site
    site.end()
    expect(page.locator('#link')).to_contain_text('Connection lost', timeout=3000)
    expect(page.locator('html[data-link=lost]')).to_be_attached()
    expect(page.locator('.age').first).to_have_attribute('data-stale', 'stale')
    tab.picture('lost')
    page.locator('#stop').click()
    expect(page.locator('#stop-status[data-state=failed]')).to_contain_text('NOT CONFIRMED')
    site.begin()
    tab.is_live()
    expect(page.locator('#link')).to_be_hidden()
    tab.say('go to the light')
    expect(page.locator('tr.task')).to_contain_text('completed')
    tab.faults.clear()  # the browser itself reports the failed connections


# --- who, and what is shown ------------------------------------------------------------------


def test_no_text_becomes_markup(new_tab: Callable[..., Tab], robot: FakeRobot) -> None:
    before, during = new_tab(), new_tab().open()
    robot.paused = True
    robot.brain_state = BrainState(
        tasks=TasksState(mode_reason=HOSTILE),
        robot=RobotState(mast=HOSTILE, safety_latch=HOSTILE),
        react=ReactState(
            plan={'goal': HOSTILE, 'steps': [{'action': HOSTILE, 'status': HOSTILE}]}
        ),
    )
    robot.nodes = [NodeStatus(HOSTILE, ok=False, age_s=1.0, text=HOSTILE)]
    robot.not_ready = HOSTILE
    robot.ask(HOSTILE, {'skill': HOSTILE, 'arguments': {HOSTILE: HOSTILE}}, [HOSTILE])
    robot.trace(TraceKind.ERROR, HOSTILE, data={'text': HOSTILE})
    robot.trace(TraceKind.RESULT, 'javascript:window.hacked=1', ok=True)
    robot.do(robot.runner.submit(robot.make_task('react', {'text': HOSTILE})))
    before.open()  # it is in the page as it comes; in the other it comes later
    for tab in (before, during):
        page = tab.page
        expect(page.locator('tr.task')).to_contain_text(HOSTILE)
        expect(page.locator('.approval h2')).to_contain_text(HOSTILE)
        expect(page.locator('.panel.plan')).to_contain_text(HOSTILE)
        page.locator('.lines li button').first.click()
        expect(page.locator('pre.raw')).to_contain_text('window.hacked')
        tab.say(HOSTILE)
        expect(page.locator('.talk .mine').last).to_have_text(HOSTILE)
        assert page.evaluate('window.hacked') is None
        assert page.locator('img[src=x]').count() == 0
        assert page.locator('a[href^=javascript]').count() == 0
        assert (tab.faults, tab.foreign) == ([], [])


def test_no_other_page_gets_a_socket(site: Site) -> None:
    """Not another site's, and not our own without a session."""
    host = site.url.removeprefix('http://').rstrip('/')
    key = {'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ=='}
    upgrade = {'Connection': 'Upgrade', 'Upgrade': 'websocket', **key}
    for origin in ('http://evil.example', 'null', f'http://{host}'):
        connection = http.client.HTTPConnection(host, timeout=10)
        connection.request('GET', '/view', headers={**upgrade, 'Origin': origin})
        assert connection.getresponse().status == 403, origin
        connection.close()


def asked(robot: FakeRobot, text: str) -> None:
    robot.trace(**QuestionAsked(robot.ask(text, DRIVE).id).trace_fields(f'Asking: {text}'))


def thinks(robot: FakeRobot, text: str) -> None:
    """An entry of the conversation that no neighbour takes in."""
    robot.trace(TraceKind.ACT, text, tool_name=f'tool_{text}')


def test_a_question_stands_where_it_was_asked_and_its_edit_keeps_text_focus_and_place(
    tab: Tab, robot: FakeRobot
) -> None:
    page, entries = tab.page, tab.page.locator('.talk-lines > li')
    approve, editor = page.get_by_text('Approve'), page.locator('.approval textarea')
    thinks(robot, 'before')
    asked(robot, 'Drive for 9 s?')
    thinks(robot, 'after')
    expect(entries).to_have_count(3)
    expect(entries.nth(1).locator('.approval')).to_contain_text('Drive for 9 s?')
    page.locator('.talk-lines').focus()
    for key in ('ArrowUp', 'ArrowUp', 'Enter'):  # a key in the conversation answers no question
        page.keyboard.press(key)
    expect(approve).to_be_focused()
    assert robot.answers == []
    robot.answer_outcome = Outcome(False, 'q1 is not open any more.')  # answered elsewhere
    approve.click()
    expect(page.locator('.approval .warning')).to_contain_text('is not open any more')
    tab.faults.clear()  # the browser itself reports the 409
    robot.answer_outcome = None
    page.get_by_role('button', name='Edit').click()
    expect(editor).to_be_focused()
    page.get_by_role('button', name='Cancel edit').click()
    expect(page.get_by_role('button', name='Edit')).to_be_focused()
    page.keyboard.press('Enter')
    editor.fill('{"duration_s": 2')
    for number in range(60):
        thinks(robot, f'{number}')
    asked(robot, 'Another one?')
    expect(entries).to_have_count(64)
    expect(editor).to_be_focused()
    expect(editor).to_be_in_viewport()
    page.keyboard.type('}')
    expect(editor).to_have_value('{"duration_s": 2}')
    page.get_by_role('button', name='Approve with changes').click()
    expect(page.locator('.approval')).to_have_count(1)
    expect(entries.nth(1)).to_be_focused()  # where the question stood
    assert robot.answers[0][2] == {'duration_s': 2}


# --- looking back ------------------------------------------------------------------------------


@pytest.fixture
def run(tab: Tab, robot: FakeRobot, monkeypatch: pytest.MonkeyPatch) -> tuple[Locator, Locator]:
    """A rover that has driven and failed: the slider of the times, and the place shown."""
    monkeypatch.setattr(feed, 'RECORD_PERIOD_S', 0.1)
    place = tab.page.locator('.fact', has_text='Place')
    tab.say('go to the light')
    expect(place).to_contain_text('x 8.0 m')
    expect(tab.page.locator('.captures li')).to_have_count(1)
    robot.trace(TraceKind.ERROR, 'The wheel slips', ok=False)
    expect(tab.page.locator('.lines')).to_contain_text('The wheel slips')
    return tab.page.get_by_role('slider', name='Time that the page shows'), place


def test_the_page_looks_back_and_is_live_again_by_one_key(
    tab: Tab, run: tuple[Locator, Locator]
) -> None:
    page, (slider, place) = tab.page, run
    lines, banner = page.locator('.lines'), page.locator('.time-bar .banner')
    slider.press('Home')
    expect(banner).to_contain_text(re.compile(r'Looking back: .+, \d+ s ago'))
    expect(banner).to_contain_text('Live again: L')
    expect(place).to_contain_text('x 0.0 m')
    expect(lines).not_to_contain_text('The wheel slips')
    expect(page.locator('.captures li')).to_have_count(0)
    page.get_by_role('button', name='Next capture').click()
    expect(page.locator('.captures li')).to_have_count(1)
    expect(lines).to_contain_text('captured: score')
    expect(lines).not_to_contain_text('The wheel slips')
    slider.press('e')
    expect(lines).to_contain_text('The wheel slips')
    assert Axe().run(page).response['violations'] == []
    tab.picture('time')
    page.locator('body').press('l')
    expect(banner).to_have_count(0)
    expect(place).to_contain_text('x 8.0 m')


def test_a_page_that_looks_back_stops_the_live_rover_and_does_nothing_else(
    tab: Tab, new_tab: Callable[..., Tab], run: tuple[Locator, Locator], robot: FakeRobot
) -> None:
    page, (slider, place), other = tab.page, run, new_tab().open().page
    slider.press('Home')
    expect(place).to_contain_text('x 0.0 m')
    robot.brain_state = BrainState(tasks=TasksState(mode=Mode.SAFE, mode_reason='tilt'))
    expect(page.locator('.banner.safe')).to_contain_text('SAFE: tilt')
    robot.ask('May I?')
    expect(page.locator('.asking')).to_contain_text('A question waits')
    page.locator('#stop').click()
    expect(page.locator('#stop-status')).to_contain_text('Stopped after')
    assert len(robot.stops) == 1
    tab.say(':stop')  # as words
    wait_until(lambda: len(robot.stops) == 2, 'the stop')
    lines = [*robot.lines]
    tab.say('look around')
    refused = 'Not sent: this page looks back. Press L for the live view, then try again.'
    expect(page.locator('.talk .is-line').last).to_contain_text(refused)
    assert robot.lines == lines
    yes = page.get_by_role('button', name='Approve', exact=True)
    expect(yes).to_be_disabled()
    yes.evaluate('(button) => { button.disabled = false; button.click(); }')
    expect(page.locator('.approval')).to_contain_text(refused)
    assert robot.answers == []
    expect(page.locator('.quick button').first).to_be_disabled()
    page.locator('.terrain').click()
    expect(page.locator('.goal-card')).to_have_count(0)
    expect(other.locator('.time-bar .banner')).to_have_count(0)
    expect(other.locator('.fact', has_text='Place')).not_to_contain_text('x 0.0 m')
    page.locator('body').press('l')
    yes.click()
    wait_until(lambda: len(robot.answers) == 1, 'the answer')


def test_a_goal_on_the_map_shows_what_came_of_no_other_goal(tab: Tab) -> None:
    page, asked = tab.page, list[Route]()
    page.route('**/rehearsals*', lambda route: asked.append(route))
    ground, card = page.locator('.terrain'), page.locator('.goal-card')
    begin = card.get_by_role('button', name='Drive here')
    ground.click(position={'x': 60, 'y': 60})
    begin.click()
    expect(card).to_contain_text('Rehearsing')
    ground.click(position={'x': 60, 'y': 200})
    expect(begin).to_be_visible()
    with page.expect_response('**/rehearsals*'):
        asked.pop().continue_()
    begin.click()
    expect(card).to_contain_text('Rehearsing')
    expect(card.get_by_role('button', name='Drive there')).to_be_disabled()
    expect(page.locator('.cr-forecast')).to_have_count(0)
    asked.pop().continue_()
    expect(card).to_contain_text('Rehearsal')
    expect(card.get_by_role('button', name='Drive there')).to_be_enabled()


def test_a_double_click_orders_no_drive(tab: Tab, robot: FakeRobot) -> None:
    page, card = tab.page, tab.page.locator('.goal-card')
    page.locator('.terrain').click(position={'x': 60, 'y': 60})
    begin, go = (card.get_by_role('button', name=name) for name in ('Drive here', 'Drive there'))
    begin.click()
    expect(go).to_be_enabled()
    go.hover()  # it stands where the button before stood
    page.mouse.down(click_count=2)
    page.mouse.up(click_count=2)
    expect(go).to_be_enabled()
    assert robot.callers == []
    go.click()
    wait_until(lambda: len(robot.callers) == 1, 'the order')


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


@pytest.mark.timeout(300)
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


TOKEN = 'a long token of the fleet'


class Fleet:
    """The robots ``r1``, ``r2``, ..., each with a server of its own; the first one serves the page
    and /fleet: there is one page in a process.
    """

    def __init__(self, robots: Sequence[FakeRobot], token: str = '') -> None:
        self.robots, self.token = robots, token
        ports = [free_port() for _ in robots]
        urls = [f'http://127.0.0.1:{port}' for port in ports]
        fleet = [FleetRobot(name=f'r{n}', url=url) for n, url in enumerate(urls, 1)]
        self._config = CONFIG.changed(agent={'http': {'fleet': fleet}})
        self._threads = [self._serve(n, port) for n, port in enumerate(ports)]
        self.url = f'{urls[0]}/'

    def _serve(self, number: int, port: int) -> HttpThread:
        settings = self._config.agent.http.model_copy(update={'port': port})

        def make() -> Any:
            robot = self.robots[number]
            app = create_app(robot, settings=settings, token=self.token)
            if number == 0:
                add_page(app, robot, self._config)
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


class FleetTab(Tab):
    """Of the page of the fleet."""

    def open(self) -> FleetTab:
        self.page.goto(f'{self.site.url}fleet')
        self.is_live()
        return self

    def is_live(self) -> None:
        expect(self.page.locator('html[data-link=live]')).to_be_attached()
        expect(self.page.locator('.fleet-head')).to_contain_text('3 of 3 connected')

    def robot(self, name: str) -> Locator:
        return self.page.get_by_role('article', name=f'Robot {name}')


@pytest.fixture
def fleet_tab(browser: Browser, fleet: Fleet) -> Iterator[FleetTab]:
    tab = FleetTab(browser.new_page(), fleet).open()
    yield tab
    tab.page.close()


def test_each_robot_has_its_state_its_question_and_its_picture(fleet_tab: FleetTab) -> None:
    for name, text in (
        ('r1', 'go to the light'),
        ('r2', 'May I drive 4 m past the crater?'),
        ('r3', 'the e-stop is pressed'),
    ):
        expect(fleet_tab.robot(name)).to_contain_text(text)
        expect(fleet_tab.robot(name).get_by_role('img')).to_be_visible()
        age = fleet_tab.robot(name).locator('.age-of-frame:not([data-stale])')
        expect(age).to_have_text(re.compile(r'[0-5] s old'))
    expect(
        fleet_tab.robot('r2').get_by_role('link', name='Answer on the page of r2')
    ).to_be_visible()
    expect(fleet_tab.page).to_have_title(re.compile(r'\(1\?\) SAFE'))
    overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    for width in (360, 1280, 2560):
        fleet_tab.page.set_viewport_size({'width': width, 'height': 900})
        assert fleet_tab.page.evaluate(overflow) <= 0
    for scheme in ('light', 'dark'):
        fleet_tab.page.emulate_media(color_scheme=scheme)
        found = Axe().run(fleet_tab.page)
        assert found.violations_count == 0, found.generate_report()
    assert fleet_tab.faults == []


def test_stop_all_tells_what_came_of_it_for_each(
    fleet_tab: FleetTab, robots: list[FakeRobot]
) -> None:
    page = fleet_tab.page
    page.locator('.browser-settings summary').click()
    page.get_by_label('Your name, for the others to see').fill('Anna')
    page.keyboard.press('Tab')
    page.keyboard.press('Escape')
    expect(page.locator('#stop-status')).to_contain_text('Stopped after')
    for name in ('r1', 'r2', 'r3'):
        expect(fleet_tab.robot(name).locator('.stopped')).to_contain_text(
            re.compile(r'stopped \(\d+ ms')
        )
    assert [robot.stops[0] for robot in robots] == ['Anna (fleet)'] * 3
    robots[1].stop_outcome = Outcome(False, 'sent and not confirmed')
    page.get_by_role('button', name='Stop all robots now (Escape)').click()
    expect(page.locator('#stop-status')).to_contain_text(
        'NOT CONFIRMED: r2: sent and not confirmed'
    )
    expect(fleet_tab.robot('r2').locator('.stopped.failed')).to_contain_text(
        'sent and not confirmed'
    )
    expect(fleet_tab.robot('r3').locator('.stopped')).to_contain_text('stopped')


def test_with_a_token_the_form_leads_to_the_fleet_and_the_token_stays_on_the_server(
    browser: Browser, robots: list[FakeRobot], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('CURIOSITY_HTTP_TOKEN', TOKEN)
    fleet = Fleet(robots, TOKEN)
    tab = FleetTab(browser.new_page(), fleet)
    tab.page.goto(f'{fleet.url}fleet')
    tab.page.get_by_label('Token').fill('a guess')
    tab.page.keyboard.press('Enter')
    expect(tab.page.get_by_role('alert')).to_contain_text('not the token')
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
