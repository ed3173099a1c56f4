# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page in a headless Chromium, before a robot in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
import http.client
import re
from typing import Any

from axe_playwright_python.sync_playwright import Axe
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
from curiosity_rosa_demo.trace.events import (
    ModelCalled,
    QuestionAnswered,
    QuestionAsked,
    TurnStarted,
    with_task,
)
from fake_robot import FakeRobot
from page_site import DRIVE, fits, PLAN, Site, Tab, until
from playwright.sync_api import (
    expect,
    Locator,
)
import pytest

# It has the machine for itself, as what starts the whole product does.
pytestmark = pytest.mark.browser

HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>${7*7}{{7*7}}`'


def settings_of(tab: Tab) -> Locator:
    settings = tab.page.locator('.browser-settings')
    settings.locator('summary').click()
    return settings


# --- the robot at work -----------------------------------------------------------------------


def test_a_goal_is_typed_and_the_rover_reaches_the_light(tab: Tab, robot: FakeRobot) -> None:
    page = tab.page
    tab.say('go to the light')
    expect(page.locator('.talk .mine')).to_have_text('go to the light')
    expect(page.locator('.fact', has_text='Place')).to_contain_text('x 8.0 m')
    expect(page.locator('.captures li')).to_have_count(1)
    expect(page.locator('figcaption')).to_contain_text('score 0.90 ✓ good')
    expect(page.locator('.lines')).to_contain_text('captured: score 0.9')
    expect(page.locator('tr.task')).to_contain_text('completed')
    expect(page.locator('.plot svg [data-event]')).to_have_count(1)
    expect(page.locator('.camera .frame img')).to_be_visible()
    assert robot.lines == ['go to the light']
    tab.picture('goal_reached')


def test_the_time_line_has_the_time_of_day_of_the_browser(new_tab: Callable[..., Tab]) -> None:
    """As the trace has it, wherever the agent runs."""
    zone = timezone(timedelta(hours=5, minutes=45))
    tab = new_tab(timezone_id='Asia/Kathmandu').open()
    tab.say('go to the light')
    expect(tab.page.locator('tr.task').first).to_contain_text('completed')
    label = tab.page.locator('.tasks svg text[data-at]').last
    at, shown = label.evaluate('(each) => [each.dataset.at, each.textContent]')
    assert shown == datetime.fromtimestamp(float(at), zone).strftime('%H:%M:%S')


def test_the_state_of_the_rover_is_told_in_full(tab: Tab, robot: FakeRobot) -> None:
    show_off(robot)
    page = tab.page
    facts = page.locator('.status')
    for text in ('EXEC', '17 % low', 'closed', 'moving', 'x 3.0 m', 'PRESSED'):
        expect(facts).to_contain_text(text)
    expect(page.locator('.ages .bad')).to_contain_text(['simulator', 'scan'])
    expect(page.locator('.troubles')).to_contain_text('simulator: not heard yet')
    expect(page.locator('[data-stale=never]')).to_have_attribute('data-age', 'node:simulator')
    expect(page.locator('[data-stale=stale]')).to_have_attribute('data-age', 'scan')
    expect(page.locator('.step.running')).to_contain_text('navigate_to_pose')
    expect(page.locator('.map svg.cr-map')).to_contain_text('drives to x 6.50 m')


def show_off(robot: FakeRobot) -> None:
    robot.where = RoverPose(x=3.0, y=0.5, yaw_rad=0.2, frame_id='odom')
    robot.nodes[1] = NodeStatus('simulator', ok=False, age_s=None, text='not heard yet')
    robot.brain_state = BrainState(
        tasks=TasksState(mode=Mode.EXEC, mode_reason='a task runs'),
        robot=RobotState(
            battery_pct=17.0,
            battery_state=BatteryLevel.LOW,
            mast='closed',
            moving=True,
            estop=True,
            safety_latch='the e-stop is pressed',
            ages_s={'odometry': 0.1, 'scan': 4.2, 'battery': 1.0},
            silent=['scan'],
        ),
        react=ReactState(plan=PLAN),
    )
    robot.trace(TraceKind.DECIDE, 'The ground is dark here; the bright zone begins at x = 5')
    robot.trace(TraceKind.ACT, 'navigate_to_pose(x=6.5, y=0.0)', tool_name='navigate_to_pose')


def test_the_trace_is_filtered_and_shows_the_raw_event(tab: Tab, robot: FakeRobot) -> None:
    page = tab.page
    for number in range(3):
        robot.trace(TraceKind.ACT, f'act {number}', data={'deep': [number]})
        robot.trace(TraceKind.RESULT, f'result {number}', ok=True)
    lines = page.locator('.lines li')
    expect(lines).to_have_count(6)
    page.get_by_role('button', name='result', exact=True).click()
    expect(lines).to_have_count(3)
    page.get_by_role('button', name='act 1').click()
    expect(page.locator('pre.raw')).to_contain_text('"deep": [\n      1\n    ]')
    page.get_by_role('button', name='result', exact=True).click()
    expect(lines).to_have_count(6)


def test_the_trace_stays_at_its_newest_line_until_somebody_scrolls_back(
    tab: Tab, robot: FakeRobot
) -> None:
    for number in range(100):
        robot.trace(TraceKind.ACT, f'act {number}')
    lines, jump = (
        tab.page.locator('.lines li'),
        tab.page.get_by_role('button', name='Jump to latest'),
    )
    expect(lines.last).to_be_in_viewport()
    expect(jump).to_have_count(0)
    tab.page.locator('.lines').hover()
    tab.page.mouse.wheel(0, -400)
    expect(jump).to_be_visible()
    robot.trace(TraceKind.ACT, 'the newest')
    expect(lines.last).to_contain_text('the newest')
    expect(lines.last).not_to_be_in_viewport()
    jump.click()
    expect(lines.last).to_be_in_viewport()
    expect(jump).to_have_count(0)


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


def test_many_tasks_are_folded_and_the_page_does_not_grow(
    new_tab: Callable[..., Tab], robot: FakeRobot
) -> None:
    tab = new_tab(1280, 800).open()
    for _ in range(12):
        task = robot.do(robot.runner.submit(robot.make_task('mast_open', {})))
        robot.do(robot.runner.wait(task.id, 10.0))
    tasks = tab.page.locator('tr.task')
    more = tab.page.get_by_role('button', name='11 more ended')
    expect(more).to_be_visible()
    expect(tasks).to_have_count(1)
    more.click()
    expect(tasks).to_have_count(12)
    assert tab.page.evaluate('document.querySelector(".page").scrollHeight') <= 800


def test_panels_are_enlarged_and_hidden_and_the_browser_remembers_it(
    new_tab: Callable[..., Tab],
) -> None:
    tab = new_tab().open()
    page = tab.page
    page.get_by_role('button', name='Hide Map').click()
    expect(page.locator('.panel.map')).to_be_hidden()
    page.get_by_role('button', name='Enlarge Camera').click()
    expect(page.locator('.panel.thought')).to_be_hidden()
    expect(page.locator('.panel.camera')).to_be_visible()
    page.reload()
    tab.is_live()
    expect(page.locator('.panel.map')).to_be_hidden()
    expect(page.locator('.panel.thought')).to_be_hidden()
    page.get_by_role('button', name='Enlarge Camera').click()
    expect(page.locator('.panel.thought')).to_be_visible()
    page.get_by_role('button', name='Show Map').click()
    expect(page.locator('.panel.map')).to_be_visible()


def test_safe_is_a_banner_with_its_cause_the_way_out_and_a_button(
    tab: Tab, robot: FakeRobot
) -> None:
    page, banner = tab.page, tab.page.locator('.banner.safe')
    expect(page.locator('.status')).to_contain_text('IDLE')
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
    robot.ask('Drive?', DRIVE)
    expect(page).to_have_title('(1?) SAFE: Curiosity ROSA')
    tab.picture('safe')
    banner.get_by_role('button', name='Clear').click()
    until(lambda: robot.lines == [':clear'], 'the line')
    expect(banner).to_contain_text('There is no command :clear')  # what came of it, here too
    robot.brain_state = BrainState()
    expect(banner).to_have_count(0)
    expect(page).to_have_title('(1?) Curiosity ROSA')
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


def test_a_failed_task_is_told_at_the_top_until_it_is_dismissed(
    tab: Tab, robot: FakeRobot
) -> None:
    robot.fault = 'the wheel is stuck'
    tab.say('go to the light')
    told = tab.page.locator('.troubles li', has_text='failed: go to the light')
    expect(told).to_be_visible()
    told.get_by_role('button', name='Dismiss').click()
    expect(told).to_have_count(0)


def test_the_delay_of_the_connection_is_one_number(tab: Tab) -> None:
    delay = tab.page.locator('#delay')
    expect(delay).to_contain_text('delay')
    assert float(delay.inner_text().split()[2]) >= 0.0


def test_a_flood_of_events_leaves_500_lines(tab: Tab, robot: FakeRobot) -> None:
    for batch in (range(400), range(400, 800)):
        for number in batch:
            robot.trace(TraceKind.ACT, f'act {number}')
        expect(tab.page.locator('.lines li').last).to_contain_text(f'act {batch[-1]}')
    expect(tab.page.locator('.lines li')).to_have_count(500)


def a_conversation(robot: FakeRobot) -> None:
    """A turn of the task t1 with a thought, a folded act, a question and an answer, and an act of
    another task.
    """
    one, other = (with_task({}, task) for task in ('t1' * 8, 't2' * 8))
    said = TurnStarted(0, 'action').trace_fields('User (action): find bright ground')
    robot.trace(**{**said, 'data': with_task(said['data'], 't1' * 8)})
    robot.trace(TraceKind.HYPOTHESIZE, 'It is dark here.', data=one)
    robot.trace(TraceKind.DECIDE, 'I drive on.', data=one)
    for _ in range(3):
        robot.trace(TraceKind.ACT, 'turn_left(s=1)', tool_name='turn_left', data=one)
        robot.trace(TraceKind.RESULT, 'turn_left: done', tool_name='turn_left', ok=True, data=one)
    robot.trace(TraceKind.ACT, 'speak("hi")', tool_name='speak', data=other)
    robot.trace(TraceKind.ACT, 'mast_open()', tool_name='mast_open', data=one)
    robot.trace(TraceKind.ERROR, 'mast_open: stuck', tool_name='mast_open', ok=False, data=one)
    asked = QuestionAsked('q1').trace_fields('Asking: Drive for 9 s?')
    robot.trace(**asked)
    robot.trace(**QuestionAnswered('q1', 'approve').trace_fields())
    robot.trace(TraceKind.RESULT, 'The ground is bright.', ok=True, data=one)


def test_the_conversation_stands_in_order(new_tab: Callable[..., Tab], robot: FakeRobot) -> None:
    a_conversation(robot)
    for name, size in (('conversation', (1920, 1080)), ('conversation_phone', (390, 844))):
        tab = new_tab(*size).open()
        items = tab.page.locator('.talk-lines > li')
        expect(items).to_have_text(
            [
                'User (action): find bright ground',
                re.compile('^2 thoughts I drive on.'),
                '✓ turn_left(s=1) × 3 done',
                '► speak("hi") …',
                re.compile(r'^▲\s+mast_open\(\)\s+0\.\d s\s+stuck$'),
                'Asking: Drive for 9 s? Answer: q1 approve',
                'The ground is bright.',
            ]
        )
        thought = items.nth(1).get_by_text('It is dark here.')
        expect(thought).to_be_hidden()
        tab.page.locator('.talk-lines').focus()
        for key in ('ArrowUp',) * 6 + ('Enter',):  # from the newest to the thoughts
            tab.page.keyboard.press(key)
        expect(thought).to_be_visible()
        robot.ask('Drive for 9 s?', DRIVE, ['GEOFENCE: it may leave the fence'])
        tab.page.get_by_role('button', name='Show', exact=True).first.click()
        expect(tab.page.get_by_role('button', name='Approve').first).to_be_focused()
        tab.picture(name)
        tab.page.get_by_role('button', name='Reject', exact=True).click()
        expect(tab.page.locator('.approval')).to_have_count(0)
        assert tab.faults == []


def test_the_trace_is_filtered_by_tool_and_task(tab: Tab, robot: FakeRobot) -> None:
    a_conversation(robot)
    lines = tab.page.locator('.lines li')
    expect(lines).to_have_count(11)
    tab.page.get_by_label('Tool of the trace').select_option('mast_open')
    expect(lines).to_have_count(2)
    tab.page.get_by_label('Tool of the trace').select_option('')
    tab.page.get_by_label('Task of the trace').select_option('t2t2t2t2')
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text('speak')
    tab.page.get_by_label('Text of the trace').fill('nothing has this')
    expect(tab.page.locator('.trace')).to_contain_text('The filter hides all events.')


def test_the_tab_key_completes_a_command_and_moves_on_elsewhere(tab: Tab) -> None:
    line, page = tab.page.locator('input[name=say]'), tab.page
    line.fill(':mast')
    expect(page.locator('.hints')).to_contain_text('raise the camera mast')
    for typed, completed in (('', ':mast_'), ('o', ':mast_open ')):
        page.keyboard.type(typed)
        page.keyboard.press('Tab')
        expect(line).to_have_value(completed)
        expect(line).to_be_focused()
    page.keyboard.press('Tab')
    expect(page.get_by_role('button', name='Say', exact=True)).to_be_focused()


def test_a_capture_opens_from_the_map(tab: Tab, robot: FakeRobot) -> None:
    tab.say('go to the light')
    spot = tab.page.locator('.map svg.cr-map [data-event]')
    expect(spot).to_have_count(1)
    robot.where = RoverPose(x=0.0, frame_id='odom')  # it stood upon the spot
    spot.focus()
    spot.evaluate('spot => spot.setAttribute("data-old", "")')
    robot.where = RoverPose(x=4.0, frame_id='odom')
    expect(tab.page.locator('.map [data-old]')).to_have_count(0)  # a new map
    expect(spot).to_be_focused()
    tab.page.keyboard.press('Enter')
    image = tab.page.locator('.capture img')
    expect(image).to_be_visible()
    assert 'score 0.90 at x 8.0 m' in (image.get_attribute('alt') or '')
    assert image.evaluate('image => image.naturalWidth') == 320


def at_the_map(tab: Tab, across: float, down: float) -> tuple[float, float]:
    """A place on the screen; ``across`` and ``down`` are parts of the map."""
    box = tab.page.locator('.world .terrain').bounding_box()
    assert box is not None
    return box['x'] + box['width'] * across, box['y'] + box['height'] * down


def test_the_map_is_zoomed_dragged_and_follows_the_rover(tab: Tab, robot: FakeRobot) -> None:
    page = tab.page
    rover = page.locator('.cr-rover polygon')

    def size() -> float:
        box = rover.bounding_box()
        return 0.0 if box is None else box['width']

    def middle() -> tuple[float, float]:
        box = rover.bounding_box() or {'x': 0, 'y': 0, 'width': 0, 'height': 0}
        return box['x'] + box['width'] / 2, box['y'] + box['height'] / 2

    expect(rover).to_be_visible()
    whole = size()
    page.mouse.move(*middle())
    page.mouse.wheel(0, -100)
    page.mouse.wheel(0, -100)
    until(lambda: size() > 1.4 * whole, 'a larger rover')
    before = middle()
    x, y = at_the_map(tab, 0.5, 0.8)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y - 40, steps=4)
    page.mouse.up()
    until(lambda: middle()[0] < before[0] - 50 and middle()[1] < before[1] - 30, 'the drag')
    expect(page.locator('.goal-card')).to_have_count(0)
    page.get_by_role('button', name='Follow').click()
    robot.where = RoverPose(x=90.0, y=20.0, frame_id='odom')
    centre = at_the_map(tab, 0.5, 0.5)
    until(
        lambda: all(abs(a - b) < 40 for a, b in zip(middle(), centre, strict=True)),
        'the rover in the middle',
    )
    page.locator('.world .terrain').focus()
    page.keyboard.press('0')
    until(lambda: size() < whole, 'all of the map')


@pytest.mark.parametrize('what', ['drive', 'face'])
def test_a_goal_on_the_map_is_rehearsed_and_ordered_by_enter(
    tab: Tab, robot: FakeRobot, what: str
) -> None:
    page = tab.page
    expect(page.locator('.cr-rover')).to_be_visible()
    page.mouse.click(*at_the_map(tab, 0.8, 0.3))
    card = page.locator('.goal-card')
    card.get_by_role('button', name=f'{what.capitalize()} here').click()
    expect(card).to_contain_text('Rehearsal:')
    expect(page.locator('.overlay .cr-forecast')).to_have_count(1)
    assert robot.do(runner_tasks(robot)) == []  # a proposal orders nothing
    expect(card.get_by_role('button', name='Enter')).to_be_focused()
    tab.picture(f'map_{what}')
    page.keyboard.press('Enter')
    expect(card).to_have_count(0)
    expect(page.locator('tr.task')).to_contain_text('navigate_to_pose')
    [task] = robot.do(runner_tasks(robot))
    assert task.metadata['origin'] == 'page'
    assert (task.metadata['arguments']['yaw_rad'] is not None) is (what == 'face')


async def runner_tasks(robot: FakeRobot) -> list[Any]:
    return list(robot.runner.list_tasks())


def test_a_goal_is_set_by_the_keyboard_alone(tab: Tab, robot: FakeRobot) -> None:
    page = tab.page
    expect(page.locator('.cr-rover')).to_be_visible()
    page.locator('.world .terrain').focus()
    for key in ('+', 'ArrowRight', 'ArrowRight', 'Enter'):
        page.keyboard.press(key)
    expect(page.get_by_role('button', name='Drive here')).to_be_focused()
    page.keyboard.press('Enter')
    expect(page.get_by_role('button', name='Drive there')).to_be_focused()
    page.keyboard.press('Enter')
    expect(page.locator('tr.task')).to_contain_text('navigate_to_pose')


def test_a_goal_that_is_refused_cannot_be_ordered(tab: Tab, robot: FakeRobot) -> None:
    robot.refusal = 'SAFE_MODE: refused, nothing may move.'
    expect(tab.page.locator('.cr-rover')).to_be_visible()
    tab.page.mouse.click(*at_the_map(tab, 0.8, 0.3))
    tab.page.get_by_role('button', name='Drive here').click()
    expect(tab.page.locator('.goal-card')).to_contain_text('SAFE_MODE: refused')
    expect(tab.page.get_by_role('button', name='Drive there')).to_be_disabled()
    tab.page.get_by_role('button', name='Cancel').last.click()
    expect(tab.page.locator('.goal-card')).to_have_count(0)


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


def test_a_task_opens_in_full(new_tab: Callable[..., Tab], robot: FakeRobot) -> None:
    robot.paused = True
    plan = {'plan_id': 'p1', 'goal': 'a picture', 'steps': [{'step_id': 1, 'action': 'speak'}]}
    usage = ModelCalled('p', 'm', 1200, 80, 0, 0, False, 0.0125, 'USD', '')
    tab = new_tab(1920, 1080).open()
    tab.say('go to the light')
    opener = tab.page.get_by_role('button', name='Open task')
    expect(opener).to_have_count(1)
    task_id = opener.get_attribute('data-opens') or ''
    robot.trace(TraceKind.HYPOTHESIZE, 'Plan: a picture', data=with_task(plan, task_id))
    failed = {'plan_id': 'p1', 'step_id': 1, 'status': 'failed', 'message': 'the speaker is mute'}
    data = with_task(failed, task_id)
    robot.trace(TraceKind.ERROR, 'plan step 1', tool_name='plan', ok=False, data=data)
    robot.trace(**replace(usage, task_id=task_id).trace_fields('m: a call'))
    opener.focus()
    tab.page.keyboard.press('Enter')
    drawer = tab.page.get_by_role('dialog')
    expect(drawer.get_by_role('button', name='Close')).to_be_focused()
    expect(drawer.locator('.step.failed')).to_contain_text('the speaker is mute')
    expect(drawer).to_contain_text('1 call: 1200 tokens in, 80 out, 0.012500 USD')
    robot.paused = False  # it goes on, and the drawer with it
    expect(drawer.locator('.past').first).to_contain_text('completed')
    expect(drawer.locator('.shot img')).to_have_js_property('naturalWidth', 320)
    expect(drawer.locator('.past').last).to_contain_text('captured: score 0.9')
    tab.picture('task')
    drawer.get_by_role('button', name='Show it in the trace table').click()
    expect(tab.page.get_by_label('Task of the trace')).to_have_value(task_id)
    drawer.get_by_role('button', name='Close').click()
    expect(drawer).to_have_count(0)
    expect(opener).to_be_focused()
    assert tab.faults == []


def two_that_wait(tab: Tab, robot: FakeRobot) -> list[str]:
    """The IDs of two tasks that wait behind a third one."""
    robot.paused = True
    for text in ('go to the light', 'first', 'second'):
        tab.say(text)
        expect(tab.page.locator('tr.task', has_text=text).first).to_be_visible()
    return [row.id for row in robot.do(runner_tasks(robot))[1:]]


def waiting(tab: Tab) -> Locator:
    return tab.page.locator('tr.task.pending td.text')


def test_the_order_of_tasks_is_changed_by_keys(tab: Tab, robot: FakeRobot) -> None:
    _, second = two_that_wait(tab, robot)
    expect(waiting(tab)).to_contain_text(['first', 'second'])
    tab.page.locator(f'[data-opens="{second}"]').focus()
    tab.page.keyboard.press('+')
    expect(waiting(tab)).to_contain_text([re.compile('second *priority 4'), 'first'])
    tab.page.keyboard.press('-')
    expect(waiting(tab)).to_contain_text(['first', 'second'])
    tab.page.keyboard.press('p')
    row = tab.page.locator('tr.task', has_text='second')
    expect(row).to_contain_text('(held)')
    tab.page.keyboard.press('p')
    expect(row).not_to_contain_text('(held)')
    tab.page.keyboard.press('Delete')
    expect(row).to_contain_text('cancelled')
    expect(tab.page.locator('.talk-lines > li').last).to_contain_text('cancelled')


def test_the_order_of_tasks_is_changed_by_dragging(tab: Tab, robot: FakeRobot) -> None:
    two_that_wait(tab, robot)
    for moved, onto in (('second', 'first'), ('second', 'first')):  # up, then down
        before = waiting(tab).all_inner_texts()
        source = tab.page.locator('tr.task.pending', has_text=moved)
        source.locator('td.text').drag_to(
            tab.page.locator('tr.task.pending', has_text=onto).locator('td.text')
        )
        until(
            lambda before=before: (
                [text.split()[0] for text in waiting(tab).all_inner_texts()]
                == [text.split()[0] for text in reversed(before)]
            ),
            'the other order',
        )


# Pairs that would not run in the order that the drop asks for.
MISORDERED = """async () => {
  const { inOrder, actOfDrop } = await import('curiosity/task_acts.js');
  const rows = [];
  for (const priority of [-1000, 2, 3, 4, 1000])
    for (const seq of [1, 2, 3]) rows.push({ priority, seq, urgent: false });
  const wrong = [];
  for (const row of rows) for (const target of rows) {
    if (row.seq === target.seq) continue; // no two tasks have the same
    const down = inOrder(row, target) < 0;
    const moved = { ...row, priority: actOfDrop(row, target).priority };
    if ((down ? inOrder(target, moved) : inOrder(moved, target)) >= 0) wrong.push([row, target]);
  }
  return wrong;
}"""


def test_a_dropped_task_runs_on_the_other_side_of_the_task_below_it(tab: Tab) -> None:
    assert tab.page.evaluate(MISORDERED) == []


# Four rows of every role in every order, of which the conversation loses one or changes the order.
LOST_OR_MISPLACED = """async () => {
  const { conversation } = await import('curiosity/conversation.js');
  const roles = ['said', 'thought', 'act', 'result', 'asks', 'answered', 'answer', 'failure'];
  const wrong = [];
  for (let number = 0; number < roles.length ** 4; number += 1) {
    const rows = [0, 1, 2, 3].map((place) => ({
      id: `${place}`, ts: place % 3, text: `${place}`, kind: 'ACT', tool: 'speak', task: 't',
      role: roles[Math.floor(number / roles.length ** place) % roles.length],
      question: 'q', ok: true, earlier: false,
    }));
    const items = conversation(rows);
    const told = items.flatMap((item) =>
      [item.row.id, ...(item.rows ?? []).map((row) => row.id), item.result?.id, item.words]);
    const lost = rows.filter((row) => !told.includes(row.id));
    const sorted = items.every((item, place) => !place || items[place - 1].at <= item.at);
    if (lost.length || !sorted) wrong.push(rows.map((row) => row.role));
  }
  return wrong;
}"""


def test_a_conversation_keeps_every_row_and_the_order(tab: Tab) -> None:
    assert tab.page.evaluate(LOST_OR_MISPLACED) == []


@pytest.mark.parametrize('size', [(360, 740), (390, 844), (2560, 1440)], ids=str)
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


def test_the_line_remembers_what_was_typed_also_after_a_reload(tab: Tab) -> None:
    for text in (':one', ':two'):
        tab.say(text)
        expect(tab.page.locator('.talk .mine').last).to_have_text(text)
    expect(tab.page.locator('.talk .warning').last).to_contain_text('There is no command :two')
    tab.page.reload()
    tab.is_live()
    line = tab.page.locator('input[name=say]')
    line.focus()
    for key, text in (('ArrowUp', ':two'), ('ArrowUp', ':one'), ('ArrowDown', ':two')):
        tab.page.keyboard.press(key)
        expect(line).to_have_value(text)


# --- approvals -------------------------------------------------------------------------------


def test_a_question_is_rejected_with_a_reason(tab: Tab, robot: FakeRobot) -> None:
    question = robot.ask('Drive for 9 s?', DRIVE)
    tab.page.get_by_label('Why not').fill('too far')
    tab.page.get_by_role('button', name='Reject', exact=True).click()
    expect(tab.page.locator('.approval')).to_have_count(0)
    assert robot.answers == [(question.id, ApprovalAction.REJECT, None, 'too far')]


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


def test_the_others_see_the_name_that_the_browser_remembers(
    new_tab: Callable[..., Tab], robot: FakeRobot
) -> None:
    tab = new_tab().open()
    name = settings_of(tab).get_by_label('Your name')
    name.fill(' Anna & Ben? ')
    name.press('Enter')
    expect(tab.page.locator('.browser-settings summary')).to_have_text('This browser: Anna & Ben?')
    again = Tab(tab.page.context.new_page(), tab.site).open()
    expect(again.page.locator('.browser-settings summary')).to_contain_text('Anna & Ben?')
    robot.ask('Drive 9 s?', DRIVE, [])
    again.page.get_by_role('button', name='Approve').click()
    until(lambda: robot.callers[-1:] == ['Anna & Ben? (page)'], 'the answer')
    again.page.locator('#stop').click()
    expect(again.page.locator('#stop-status')).to_contain_text('Stopped after')
    assert robot.stops == ['Anna & Ben? (page)']
    assert again.faults == again.foreign == []


LISTEN = """
window.told = [];
window.AudioContext = class {
  state = 'running'; currentTime = 0; destination = {};
  createOscillator() {
    const frequency = {};
    const start = () => window.told.push(frequency.value);
    return { frequency, connect: (to) => to, start, stop() {} };
  }
  createGain() {
    const gain = { setValueAtTime() {}, exponentialRampToValueAtTime() {} };
    return { gain, connect: (to) => to };
  }
};
window.Notification = class {
  static permission = sessionStorage.may ?? 'default';
  static async requestPermission() {
    return (Notification.permission = sessionStorage.may = window.may ?? 'granted');
  }
  constructor(title, { body }) { window.told.push(body); }
};
"""


def test_a_sound_and_a_notification_call_a_person_who_wants_them(
    new_tab: Callable[..., Tab], robot: FakeRobot
) -> None:
    tab = new_tab()

    def told(what: str) -> list[object]:
        heard: list[object] = tab.page.evaluate('window.told.splice(0)')
        assert heard, what
        return heard

    tab.page.add_init_script(LISTEN)
    tab.open()
    robot.ask('Drive?', DRIVE, [])
    expect(tab.page).to_have_title('(1?) Curiosity ROSA')
    assert tab.page.evaluate('window.told') == []  # both are off at first
    settings = settings_of(tab)
    settings.get_by_label('Sound for a question').check()
    assert told('how it sounds') == [660, 880]
    settings.get_by_label('Notification for a question').check()
    expect(settings.get_by_label('Notification for a question')).to_be_checked()
    tab.open()  # the browser remembers both, and what is known already calls nobody
    expect(tab.page).to_have_title('(1?) Curiosity ROSA')
    assert tab.page.evaluate('window.told') == []
    robot.ask('And then?', DRIVE, [])
    expect(tab.page).to_have_title('(2?) Curiosity ROSA')
    assert told('a question') == [660, 880, 'The rover asks a question.']
    settings_of(tab).get_by_label('Sound for a question').uncheck()
    robot.ask('And now?', DRIVE, [])
    expect(tab.page).to_have_title('(3?) Curiosity ROSA')
    assert told('without a sound') == ['The rover asks a question.']
    settings.get_by_label('Sound for a question').check()
    told('how it sounds')
    safe = TasksState(mode=Mode.SAFE, mode_reason='e-stop pressed')
    robot.brain_state = BrainState(tasks=safe)
    expect(tab.page).to_have_title('(3?) SAFE: Curiosity ROSA')
    assert told('SAFE') == [440, 330, 440, 330, 'SAFE: nothing may move.']


def test_a_browser_that_forbids_notifications_says_so(new_tab: Callable[..., Tab]) -> None:
    tab = new_tab()
    tab.page.add_init_script(LISTEN + "window.may = 'denied';")
    tab.open()
    settings = settings_of(tab)
    settings.get_by_label('Notification for a question').click()
    expect(settings.get_by_role('status')).to_contain_text('does not allow notifications')
    expect(settings.get_by_label('Notification for a question')).not_to_be_checked()


def test_stop_works_while_a_camera_gives_nothing(tab: Tab, robot: FakeRobot) -> None:
    robot.camera = False
    expect(tab.page.locator('.camera .words')).to_contain_text('No picture of the camera')
    tab.page.locator('#stop').click()
    expect(tab.page.locator('#stop-status')).to_contain_text('Stopped after')


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
