# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page before the whole running demo, and an operator's walk over it by the keyboard alone.
What it does in every state stands in test_page_browser.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import re

from demo_bench import Api, Bench
from geometry_msgs.msg import Twist
from page_site import big_page, demo_with_page, picture, stowed
from playwright.sync_api import expect, Locator, Page
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]


@pytest.fixture
def page() -> Iterator[Page]:
    with big_page() as page:
        yield page


def say(page: Page, text: str) -> None:
    page.locator('input[name=say]').fill(text)
    page.keyboard.press('Enter')


def test_the_rover_reaches_the_light_and_is_stopped_in_mid_drive(bench: Bench, page: Page) -> None:
    commands = bench.box.collect(Twist, '/cmd_vel')
    faults: list[str] = []
    page.on('pageerror', lambda error: faults.append(str(error)))
    page.on('console', lambda each: faults.append(each.text) if each.type == 'error' else None)
    api = demo_with_page(bench, page)
    an_agent_killed_in_mid_goal_leaves_its_story(bench, api, page)
    approval_of_a_task_stands_in_the_conversation_and_in_the_trace(api.ready(), page)
    faults.clear()  # the agent was away

    say(page, ':demo')
    expect(page.locator('figcaption')).to_contain_text('✓ good')
    expect(page.locator('.map svg .cr-good')).not_to_have_count(0)
    expect(page.locator('tr.task').first).to_contain_text('completed')
    expect(page.locator('.camera .frame img')).to_be_visible()
    for node in ('adapter', 'simulator', 'visualizer', 'kernel'):
        age = page.locator(f"[data-age='node:{node}']")
        expect(age).not_to_have_attribute('data-stale', 'stale')
    picture(page, 'demo')
    page.get_by_role('button', name='Open task').first.click()
    drawer = page.get_by_role('dialog')
    expect(drawer.locator('.past').first).to_contain_text('completed')
    expect(drawer.locator('.shot img').first).to_be_visible()
    picture(page, 'task')
    drawer.get_by_role('button', name='Close').click()
    images = page.evaluate("[...document.querySelectorAll('.captures img')].map((i) => i.src)")
    assert len(images) >= 1

    say(page, ':mast_close')
    expect(page.locator('tr.task').first).to_contain_text('mast_close')
    expect(page.locator('tr.task').first).to_contain_text('completed')
    say(page, ':forward 20')
    api.run.until(lambda: bench.moving, 'the rover to drive')
    page.emulate_media(color_scheme='dark')
    picture(page, 'dark')
    page.emulate_media(color_scheme='light')
    page.locator('#stop').click()
    expect(page.locator('#stop-status')).to_contain_text('Stopped after')
    picture(page, 'stopped')
    api.run.until(lambda: not bench.moving, 'the rover to stand still')
    api.run.until(lambda: commands[-1].linear.x == 0.0, 'the zero that /move_stop publishes')
    expect(page.locator('tr.task').first).to_contain_text('cancelled')
    assert faults == []

    bench.turn(e_stop=True)
    expect(page.get_by_text('SAFE: e-stop pressed').first).to_be_visible()
    picture(page, 'safe')


def an_agent_killed_in_mid_goal_leaves_its_story(bench: Bench, api: Api, page: Page) -> None:
    slider = page.get_by_role('slider', name='Time that the page shows')
    place, task = page.locator('.fact', has_text='Place'), page.locator('tr.task').first
    talk, banner = page.locator('.talk-lines'), page.locator('.time-bar .banner')
    say(page, ':mast_close')
    stowed(page)
    beginning = page.evaluate('window.curiosity.now()')
    say(page, ':forward 20')
    api.run.until(lambda: bench.moving, 'the rover to drive')
    expect(place).not_to_contain_text('x 0.0 m')
    expect(task).to_contain_text('active')
    # The second before the kill may be lost: it comes after the drive is in the file.
    (view,) = Path(bench.env['XDG_STATE_HOME']).rglob('view.jsonl')

    def drive_is_recorded() -> bool:
        recorded = view.read_text()
        return 'move_forward' in recorded and bool(re.search(r'"x": ?(?!0\.0)[\d.]+', recorded))

    api.run.until(drive_is_recorded, 'the drive, in the file')
    driving = page.evaluate('window.curiosity.now()')
    old = bench.kill('agent_node')
    expect(page.locator('#link')).to_contain_text('Connection lost')
    picture(page, 'lost')
    bench.back('agent_node', old)

    expect(talk).to_contain_text('The agent was restarted')  # the page has loaded itself anew
    expect(talk.locator('.earlier').first).to_be_visible()
    expect(page.locator('.marks .kind-restart')).to_have_count(1)
    lines = page.locator('.lines')
    for told in ('mast_close', 'move_forward', 'The agent was restarted'):
        expect(lines).to_contain_text(told)
    say(page, ':status')
    expect(talk.locator('.is-line').last).not_to_contain_text('…')

    slider.fill(str(driving))
    expect(banner).to_contain_text('Looking back')
    expect(task).to_contain_text('active')
    expect(task.get_by_role('button', name='Cancel')).to_have_count(0)
    expect(lines).to_contain_text('move_forward')
    expect(lines).not_to_contain_text('The agent was restarted')
    expect(place).not_to_contain_text('x 0.0 m')
    assert page.locator('.map svg .cr-trail').count() >= 1
    slider.fill(str(beginning))
    expect(lines).not_to_contain_text('move_forward')
    expect(lines).to_contain_text('mast_close')
    expect(place).to_contain_text('x 0.0 m')
    picture(page, 'time')

    page.locator('body').press('l')
    expect(banner).to_have_count(0)
    expect(lines).to_contain_text('The agent was restarted')
    page.locator('#stop').click()
    expect(page.locator('#stop-status')).to_contain_text('Stopped after')


def approval_of_a_task_stands_in_the_conversation_and_in_the_trace(api: Api, page: Page) -> None:
    say(page, ':mode')
    expect(page.locator('.is-line p[role=status]').last).to_contain_text('IDLE')
    task = api.post('/tasks', {'name': 'mast_open', 'needs_approval': True})
    entry = page.locator('.talk-lines > .is-asks')
    expect(entry.locator('.approval')).to_contain_text(task['id'][:8])
    page.reload()
    expect(page.locator('.is-line p[role=status]').last).to_contain_text('IDLE')
    entry.get_by_role('button', name='Approve').click()
    expect(page.locator('.approval')).to_have_count(0)
    expect(entry).to_contain_text('Asking: mast_open')
    expect(entry).to_contain_text('Answer to mast_open(origin="http"): approve')
    expect(page.locator('tr.task').first).to_contain_text('completed')
    page.get_by_label('Task of the trace that is shown').select_option(task['id'])
    lines = page.locator('.lines .text')
    expect(lines.first).to_contain_text('Asking: mast_open')


MOST_TABS = 8  # from a place that a key leads to


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def leave_line(page: Page) -> None:
    """Out of the input, where a letter would be typed."""
    press(page, 'Tab')


def types(page: Page, line: str) -> None:
    press(page, '/')
    expect(page.locator('input[name=say]')).to_be_focused()
    page.keyboard.type(line)
    press(page, 'Enter')
    leave_line(page)


def tab_to(page: Page, goal: Locator, key: str = 'Tab') -> None:
    expect(goal).to_be_enabled()
    for _ in range(MOST_TABS):
        press(page, key)
        if goal.evaluate('(each) => each === document.activeElement'):
            return
    raise AssertionError(f'{goal} is more than {MOST_TABS} tab stops away')


def order_on_map(page: Page, *moves: str) -> None:
    press(page, 'm')
    expect(page.locator('.world .terrain')).to_be_focused()
    press(page, *moves, 'Enter')
    expect(page.get_by_role('button', name='Drive here')).to_be_focused()
    press(page, 'Enter')
    expect(page.get_by_role('button', name='Drive there')).to_be_focused()
    picture(page, 'map_drive')
    press(page, 'Enter')


def answer_edited(page: Page, arguments: str) -> None:
    form = page.locator('.approval')
    expect(form).to_contain_text('navigate_to_pose')
    press(page, '/')
    tab_to(page, form.get_by_role('button', name='Edit'), 'Shift+Tab')
    press(page, 'Enter')
    expect(form.locator('textarea')).to_be_focused()
    press(page, 'Control+a')
    page.keyboard.type(arguments)
    tab_to(page, form.get_by_role('button', name='Approve with changes'))
    press(page, 'Enter')
    expect(form).to_have_count(0)


def test_an_operator_needs_no_mouse(bench: Bench, page: Page) -> None:
    api = demo_with_page(
        bench,
        page,
        guardrails={'approval': {'skills': ['navigate_to_pose']}, 'origins': {'page': 'ask'}},
    )
    task, talk = page.locator('tr.task').first, page.locator('.talk-lines')
    banner = page.locator('.time-bar .banner')

    types(page, ':cap')
    expect(page.locator('.captures li')).to_have_count(1)
    types(page, ':mast_close')
    stowed(page)

    order_on_map(page, '+', 'ArrowRight', 'ArrowRight')
    expect(page.locator('.approval')).to_contain_text('navigate_to_pose')
    picture(page, 'conversation')
    answer_edited(page, '{"x": 7.0, "y": 0.0}')
    api.run.until(lambda: bench.moving, 'the rover to drive')
    press(page, 'Escape')
    expect(page.locator('#stop-status')).to_contain_text('Stopped after')
    bench.stands(20.0)
    expect(task).to_contain_text('cancelled')
    types(page, 'why did you stop?')
    expect(talk).to_contain_text('The rover stands still.')

    press(page, 't', 'Shift+C')
    expect(banner).to_contain_text('Looking back')
    expect(page.locator('.lines')).to_contain_text('capture_and_score: score')
    expect(page.locator('.lines')).not_to_contain_text('navigate_to_pose')
    press(page, 'l')
    expect(banner).to_have_count(0)

    order_on_map(page)  # a stop has ended the task: the same place again
    expect(page.locator('.approval')).to_contain_text('navigate_to_pose')
    types(page, ':pause')
    expect(task).to_contain_text('paused')
    types(page, ':resume')
    answer_edited(page, '{"x": 7.0, "y": 0.0}')
    api.run.until(lambda: bench.moving, 'the rover to drive again')
    page.set_viewport_size({'width': 390, 'height': 844})
    expect(page.locator('#stop')).to_be_in_viewport()
    picture(page, 'phone')
    expect(task).to_contain_text('completed')
    bench.stands(20.0)
