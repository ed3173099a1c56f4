# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An operator's walk over the page of the real demo, by the keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator

from demo_bench import Bench
from page_site import big_page, demo_with_page, picture, stowed
from playwright.sync_api import expect, Locator, Page
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

MOST_TABS = 8  # from a place that a key leads to


@pytest.fixture
def page() -> Iterator[Page]:
    with big_page() as page:
        yield page


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def leave_line(page: Page) -> None:
    """Out of the input, where a letter would be typed."""
    press(page, 'Tab')


def say(page: Page, line: str) -> None:
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

    say(page, ':cap')
    expect(page.locator('.captures li')).to_have_count(1)
    say(page, ':mast_close')
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
    say(page, 'why did you stop?')
    expect(talk).to_contain_text('The rover stands still.')

    press(page, 't', 'Shift+C')
    expect(banner).to_contain_text('Looking back')
    expect(page.locator('.lines')).to_contain_text('capture_and_score: score')
    expect(page.locator('.lines')).not_to_contain_text('navigate_to_pose')
    press(page, 'l')
    expect(banner).to_have_count(0)

    order_on_map(page)  # a stop has ended the task: the same place again
    expect(page.locator('.approval')).to_contain_text('navigate_to_pose')
    say(page, ':pause')
    expect(task).to_contain_text('paused')
    say(page, ':resume')
    answer_edited(page, '{"x": 7.0, "y": 0.0}')
    api.run.until(lambda: bench.moving, 'the rover to drive again')
    page.set_viewport_size({'width': 390, 'height': 844})
    expect(page.locator('#stop')).to_be_in_viewport()
    picture(page, 'phone')
    expect(task).to_contain_text('completed')
    bench.stands(20.0)
