# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page in a headless Chromium, before a robot in memory: what only a browser shows."""

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
from curiosity_rosa_demo.domain.outcome import Outcome
from curiosity_rosa_demo.trace.events import QuestionAnswered, QuestionAsked
from fake_robot import FakeRobot
from page_site import DRIVE, fits, Site, Tab, until
from playwright.sync_api import expect, Locator
import pytest

# It has the machine for itself, as what starts the whole product does.
pytestmark = pytest.mark.browser

HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>${7*7}{{7*7}}`'


# --- the robot at work -----------------------------------------------------------------------


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


def test_an_old_value_in_the_head_does_not_look_live(tab: Tab, robot: FakeRobot) -> None:
    wheels = tab.page.locator('.fact', has_text='Wheels').locator('dd')
    robot.brain_state = BrainState(robot=RobotState(ages_s={'odometry': 0.1}))
    expect(wheels).to_have_text('still')
    expect(wheels).not_to_have_attribute('data-old', '')
    state = RobotState(ages_s={'odometry': 18.0}, silent=['odometry'])
    robot.brain_state = BrainState(robot=state)
    expect(wheels).to_have_attribute('data-old', '18 s old')
    expect(tab.page.locator('.troubles')).to_contain_text('odometry is silent')


async def runner_tasks(robot: FakeRobot) -> list[Any]:
    return list(robot.runner.list_tasks())


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
    assert robot.do(runner_tasks(robot)) == []  # a proposal orders nothing
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
    expect(recorded.first).to_contain_text('Wheels (recorded)')
    expect(tab.page.locator('.power .recorded')).to_contain_text('Battery (recorded)')
    expect(tab.page.locator('.status .fact.bad')).to_have_count(0)
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
    *_, second = robot.do(runner_tasks(robot))
    waiting = tab.page.locator('tr.task.pending td.text')
    row = tab.page.locator('tr.task', has_text='second')
    expect(waiting).to_contain_text(['first', 'second'])
    tab.page.locator(f'[data-opens="{second.id}"]').focus()
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


# --- approvals -------------------------------------------------------------------------------


def test_a_question_that_was_answered_elsewhere_is_told(tab: Tab, robot: FakeRobot) -> None:
    robot.ask('Drive?', DRIVE)
    robot.answer_outcome = Outcome(False, 'q1 is not open any more.')
    tab.page.get_by_role('button', name='Approve').click()
    expect(tab.page.locator('.approval .warning')).to_contain_text('is not open any more')


# --- stop ------------------------------------------------------------------------------------


def test_stop_in_mid_drive(tab: Tab, robot: FakeRobot) -> None:
    robot.step_s = 0.5
    tab.say('go to the light')
    expect(tab.page.locator('.fact', has_text='Place')).to_contain_text('x 1.0 m')
    tab.page.get_by_role('button', name='Stop the rover now').click()
    expect(tab.page.locator('#stop-status')).to_contain_text('Stopped after')
    expect(tab.page.locator('tr.task')).to_contain_text('cancelled')
    assert robot.stops == ['the page']
    tab.picture('stopped')


def test_stopped_stands_there_only_when_the_robot_has_said_so(tab: Tab, robot: FakeRobot) -> None:
    robot.stop_gate.clear()
    said = tab.page.locator('#stop-status')
    tab.page.locator('#stop').click()
    expect(said).to_have_text('Stopping …')
    # Without an answer it goes the second way, too.
    until(lambda: robot.stops == ['the page', 'the page'], 'both ways')
    expect(said).to_have_text('Stopping …')
    robot.stop_gate.set()
    expect(said).to_contain_text('Stopped after')


def test_a_stop_that_failed_says_so(tab: Tab, robot: FakeRobot) -> None:
    robot.stop_outcome = Outcome(False, 'Service timeout: /adapter/move_stop')
    tab.page.locator('#stop').click()
    said = tab.page.locator('#stop-status[data-state=failed]')
    expect(said).to_have_text('NOT CONFIRMED: Service timeout: /adapter/move_stop')
    tab.faults.clear()  # the browser itself reports the 503


@pytest.mark.parametrize(
    'answer',
    [
        lambda route: route.fulfill(status=503, body='no connection is left'),
        lambda route: route.fulfill(status=200, body='no JSON'),
        lambda route: route.abort(),
    ],
    ids=['503', 'no confirmation', 'no answer'],
)
def test_a_stop_whose_request_fails_goes_through_the_socket(
    tab: Tab, robot: FakeRobot, answer: Callable[[Any], None]
) -> None:
    tab.page.route('**/stop?*', answer)
    tab.page.locator('#stop').click()
    expect(tab.page.locator('#stop-status[data-state=done]')).to_contain_text('Stopped after')
    assert robot.stops == ['the page']
    tab.faults.clear()  # the browser itself reports the failed request


def test_a_stop_is_confirmed_by_the_request_where_the_socket_says_no(
    tab: Tab, robot: FakeRobot
) -> None:
    held: list[Any] = []
    tab.page.route('**/stop?*', lambda route: held.append(route))
    robot.stop_outcome = Outcome(False, 'Service timeout: /adapter/move_stop')
    tab.page.locator('#stop').click()
    said = tab.page.locator('#stop-status')
    expect(said).to_contain_text('Not confirmed yet: Service timeout')
    robot.stop_outcome = Outcome(True, 'stopped')
    held[0].continue_()
    expect(said).to_contain_text('Stopped after')
    assert robot.stops == ['the page', 'the page']


def test_escape_stops_also_while_somebody_types(tab: Tab, robot: FakeRobot) -> None:
    tab.page.locator('input[name=say]').fill('half a sen')
    tab.page.keyboard.press('Escape')
    expect(tab.page.locator('#stop-status')).to_contain_text('Stopped after')
    expect(tab.page.locator('input[name=say]')).to_have_value('half a sen')
    assert robot.stops == ['the page']


def test_stop_is_the_first_that_the_keyboard_reaches(tab: Tab, robot: FakeRobot) -> None:
    tab.page.keyboard.press('Tab')
    expect(tab.page.locator('#stop')).to_be_focused()
    tab.page.keyboard.press('Enter')
    until(lambda: robot.stops == ['the page'], 'the stop')


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


# --- connection and age ----------------------------------------------------------------------


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


def test_an_agent_that_is_silent_does_not_look_live(tab: Tab, robot: FakeRobot) -> None:
    state = robot.state

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


def test_an_old_frame_does_not_look_live(tab: Tab, robot: FakeRobot) -> None:
    frame = tab.page.locator('.age-of-frame')
    expect(frame).to_be_visible()
    expect(frame).not_to_have_attribute('data-stale', '')
    robot.picture_age_s = 60.0
    expect(tab.page.locator('.age-of-frame[data-stale]')).to_be_visible()


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


@pytest.mark.parametrize('origin', ['http://evil.example', 'null', ''])
def test_no_other_page_gets_a_socket(site: Site, origin: str) -> None:
    """Not another site's, and not our own without a session."""
    host = site.url.removeprefix('http://').rstrip('/')
    connection = http.client.HTTPConnection(host, timeout=10)
    headers = {
        'Connection': 'Upgrade',
        'Upgrade': 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
        'Origin': origin or f'http://{host}',
    }
    path = '/_nicegui_ws/socket.io/?EIO=4&transport=websocket'
    connection.request('GET', path, headers=headers)
    assert connection.getresponse().status == 403
    connection.close()


# --- the forms of questions, and what all browsers share ----------------------------------------


def asked(robot: FakeRobot, text: str) -> str:
    """Put a question, of which the trace tells, too. Its ID."""
    question = robot.ask(text, DRIVE)
    robot.trace(**QuestionAsked(question.id).trace_fields(f'Asking: {text}'))
    return question.id


def thinks(robot: FakeRobot, text: str) -> None:
    """An entry of the conversation that no neighbour takes in."""
    robot.trace(TraceKind.ACT, text, tool_name=f'tool_{text}')


def test_the_form_of_a_question_stands_where_it_was_asked(tab: Tab, robot: FakeRobot) -> None:
    entries = tab.page.locator('.talk-lines > li')
    thinks(robot, 'before')
    question_id = asked(robot, 'Drive for 9 s?')
    thinks(robot, 'after')
    expect(entries).to_have_count(3)
    expect(entries.nth(1).locator('.approval')).to_contain_text('Drive for 9 s?')
    expect(entries.nth(1).get_by_role('button', name='Approve')).to_be_enabled()
    expect(entries.nth(0).locator('.approval')).to_have_count(0)
    expect(entries.nth(2).locator('.approval')).to_have_count(0)
    entries.nth(1).get_by_role('button', name='Approve').click()
    expect(tab.page.locator('.approval')).to_have_count(0)
    assert robot.answers == [(question_id, ApprovalAction.APPROVE, None, '')]
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


def test_a_key_in_the_conversation_answers_no_question(tab: Tab, robot: FakeRobot) -> None:
    asked(robot, 'Drive for 9 s?')
    approve = tab.page.get_by_role('button', name='Approve')
    expect(approve).to_be_visible()
    tab.page.locator('.talk-lines').focus()
    for key in ('ArrowUp', 'Enter'):
        tab.page.keyboard.press(key)
    expect(approve).to_be_focused()
    assert robot.answers == []


# --- looking back ------------------------------------------------------------------------------


@pytest.fixture
def recorded_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, 'RECORD_PERIOD_S', 0.1)


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


@pytest.mark.usefixtures('recorded_often')
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


@pytest.mark.usefixtures('recorded_often')
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
