# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page in a headless Chromium, before a robot in memory: what only a browser shows. In each
state that an operator meets nothing is cut or overlaps in six sizes, and axe-core finds nothing in
two themes. STATE_IMAGES names a folder for the pictures.
"""

from __future__ import annotations

from collections.abc import Callable
import http.client
import re
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from curiosity_rosa_demo.agent.interfaces.page import feed
from curiosity_rosa_demo.domain.adapter_status import NodeStatus
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BatteryLevel,
    BrainState,
    Mode,
    ReactState,
    RobotState,
    TasksState,
)
from curiosity_rosa_demo.domain.models import RoverPose, TraceKind
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.trace.events import QuestionAnswered, QuestionAsked
from fake_robot import FakeRobot
from page_site import DRIVE, fits, PLAN, Site, Tab, until
from playwright.sync_api import expect, Locator
import pytest

# It has the machine for itself, as what starts the whole product does.
pytestmark = pytest.mark.browser

HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>${7*7}{{7*7}}`'


def test_the_trace_is_one_tab_stop(tab: Tab, robot: FakeRobot) -> None:
    for number in range(3):
        robot.trace(TraceKind.ACT, f'act {number}')
    expect(tab.page.locator('.lines li')).to_have_count(3)
    assert tab.page.locator('.lines button:not([tabindex="-1"])').count() == 0
    tab.page.locator('.lines').focus()
    for key, text in (('ArrowUp', 'act 2'), ('ArrowUp', 'act 1'), ('ArrowDown', 'act 2')):
        tab.page.keyboard.press(key)
        expect(tab.page.get_by_role('button', name=text)).to_be_focused()
    tab.page.keyboard.press('Enter')
    expect(tab.page.locator('pre.raw')).to_contain_text('act 2')


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
    until(lambda: robot.lines == [':clear'], 'the line')
    expect(banner).to_contain_text('There is no command :clear')  # what came of it, here too
    robot.brain_state = BrainState()
    expect(banner).to_have_count(0)
    expect(page).to_have_title('Curiosity ROSA')
    assert icon.get_attribute('href') not in (None, in_safe)


def test_what_is_old_does_not_look_live(tab: Tab, robot: FakeRobot) -> None:
    wheels = tab.page.locator('.fact', has_text='Wheels').locator('dd')
    frame, state = tab.page.locator('.age-of-frame'), robot.state
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


def test_a_goal_is_rehearsed_and_ordered_by_the_keyboard_alone(tab: Tab, robot: FakeRobot) -> None:
    page, card = tab.page, tab.page.locator('.goal-card')
    expect(page.locator('.cr-rover')).to_be_visible()
    page.locator('.world .terrain').focus()
    for key in ('+', 'ArrowRight', 'ArrowRight', 'Enter'):
        page.keyboard.press(key)
    expect(page.get_by_role('button', name='Drive here')).to_be_focused()
    page.keyboard.press('Enter')
    expect(card).to_contain_text('Rehearsal:')
    expect(page.locator('.overlay .cr-forecast')).to_have_count(1)
    expect(page.locator('tr.task')).to_have_count(0)  # a proposal orders nothing
    expect(page.get_by_role('button', name='Drive there')).to_be_focused()
    page.keyboard.press('Enter')
    expect(page.locator('tr.task')).to_contain_text('navigate_to_pose')
    expect(card).to_have_count(0)


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
    until(lambda: robot.stops == ['the page', 'the page'], 'both ways')
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
        until(lambda n=number: robot.stops == ['the page'] * n, 'the stop')  # type: ignore[misc]
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
    until(lambda: robot.stops == ['the page'], 'the stop')
    line.fill('half a sen')
    page.keyboard.press('Escape')
    until(lambda: robot.stops == ['the page'] * 2, 'the second stop')
    expect(page.locator('#stop-status')).to_contain_text('Stopped after')
    expect(line).to_have_value('half a sen')


def test_stop_works_where_nothing_else_does(new_tab: Callable[..., Tab], robot: FakeRobot) -> None:
    """No script of the library comes, no socket opens."""
    tab = new_tab()
    tab.page.route('**/_nicegui/**', lambda route: route.abort())
    tab.page.route('**/_nicegui_ws/**', lambda route: route.abort())
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


def test_with_a_token_it_is_asked_for_first(
    new_tab: Callable[..., Tab], robot: FakeRobot, site: Site
) -> None:
    site.end()
    site.token = 'a long secret'
    site.begin()
    tab = new_tab()
    page = tab.page
    page.goto(site.url)
    page.get_by_label('Token').fill('a guess')
    page.keyboard.press('Enter')
    expect(page.get_by_role('alert')).to_contain_text('not the token')
    page.get_by_label('Token').fill('a long secret')
    page.keyboard.press('Enter')
    tab.is_live()
    tab.say('go to the light')
    expect(page.locator('tr.task')).to_contain_text('completed')
    page.locator('#stop').click()
    expect(page.locator('#stop-status')).to_contain_text('Stopped after')
    tab.faults.clear()  # the browser itself reports the 401


def test_no_other_page_gets_a_socket(site: Site) -> None:
    """Not another site's, and not our own without a session."""
    host = site.url.removeprefix('http://').rstrip('/')
    key = {'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ=='}
    upgrade = {'Connection': 'Upgrade', 'Upgrade': 'websocket', **key}
    path = '/_nicegui_ws/socket.io/?EIO=4&transport=websocket'
    for origin in ('http://evil.example', 'null', f'http://{host}'):
        connection = http.client.HTTPConnection(host, timeout=10)
        connection.request('GET', path, headers={**upgrade, 'Origin': origin})
        assert connection.getresponse().status == 403, origin
        connection.close()


def asked(robot: FakeRobot, text: str) -> str:
    question = robot.ask(text, DRIVE)
    robot.trace(**QuestionAsked(question.id).trace_fields(f'Asking: {text}'))
    return question.id


def thinks(robot: FakeRobot, text: str) -> None:
    """An entry of the conversation that no neighbour takes in."""
    robot.trace(TraceKind.ACT, text, tool_name=f'tool_{text}')


def test_the_form_of_a_question_stands_where_it_was_asked(tab: Tab, robot: FakeRobot) -> None:
    entries, approve = tab.page.locator('.talk-lines > li'), tab.page.get_by_text('Approve')
    thinks(robot, 'before')
    question_id = asked(robot, 'Drive for 9 s?')
    thinks(robot, 'after')
    expect(entries).to_have_count(3)
    expect(entries.nth(1).locator('.approval')).to_contain_text('Drive for 9 s?')
    expect(tab.page.locator('.approval')).to_have_count(1)
    tab.page.locator('.talk-lines').focus()
    for key in ('ArrowUp', 'ArrowUp', 'Enter'):  # a key in the conversation answers no question
        tab.page.keyboard.press(key)
    expect(approve).to_be_focused()
    assert robot.answers == []
    robot.answer_outcome = Outcome(False, 'q1 is not open any more.')  # answered elsewhere
    approve.click()
    expect(tab.page.locator('.approval .warning')).to_contain_text('is not open any more')
    robot.answer_outcome = None
    approve.click()
    expect(tab.page.locator('.approval')).to_have_count(0)
    assert robot.answers[-1] == (question_id, ApprovalAction.APPROVE, None, '')
    robot.trace(**QuestionAnswered(question_id, 'approve').trace_fields())
    answered = f'Asking: Drive for 9 s? Answer: {question_id} approve'
    expect(entries.nth(1)).to_have_text(answered)


def test_an_edit_keeps_its_text_focus_and_place_while_entries_arrive(
    tab: Tab, robot: FakeRobot
) -> None:
    page = tab.page
    asked(robot, 'Drive for 9 s?')
    page.get_by_role('button', name='Edit').click()
    editor = page.locator('.approval textarea')
    expect(editor).to_be_focused()
    page.get_by_role('button', name='Cancel edit').click()
    expect(page.get_by_role('button', name='Edit')).to_be_focused()
    page.keyboard.press('Enter')
    editor.fill('{"duration_s": 2')
    for number in range(60):
        thinks(robot, f'{number}')
    asked(robot, 'Another one?')
    expect(page.locator('.talk-lines > li')).to_have_count(62)
    expect(editor).to_be_focused()
    expect(editor).to_be_in_viewport()
    page.keyboard.type('}')
    expect(editor).to_have_value('{"duration_s": 2}')
    page.get_by_role('button', name='Approve with changes').click()
    expect(page.locator('.approval')).to_have_count(1)
    expect(page.locator('.talk-lines > li').first).to_be_focused()  # where the question stood
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
    until(lambda: len(robot.stops) == 2, 'the stop')
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
    until(lambda: len(robot.answers) == 1, 'the answer')


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
