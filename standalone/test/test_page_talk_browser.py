# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The conversation of the page: the forms of its questions, and what all browsers share."""

from __future__ import annotations

from collections.abc import Callable

from curiosity_rosa_demo.domain.brain_state import ApprovalAction
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.trace.events import QuestionAnswered, QuestionAsked
from fake_robot import FakeRobot
from page_site import DRIVE, Tab
from playwright.sync_api import expect
import pytest

pytestmark = pytest.mark.browser


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


def test_a_question_that_the_trace_does_not_tell_of_stands_at_the_end(
    tab: Tab, robot: FakeRobot
) -> None:
    entries = tab.page.locator('.talk-lines > li')
    thinks(robot, 'before')
    expect(entries).to_have_count(1)
    robot.ask('Drive for 9 s?', DRIVE)
    expect(entries).to_have_count(2)
    expect(entries.nth(1).locator('.approval')).to_contain_text('Drive for 9 s?')


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


def test_a_question_with_more_entries_after_it_than_are_shown_can_be_answered(
    tab: Tab, robot: FakeRobot
) -> None:
    asked(robot, 'Drive for 9 s?')
    for number in range(220):
        thinks(robot, f'{number}')
    expect(tab.page.locator('.talk-lines > li')).to_have_count(201)
    tab.page.get_by_role('button', name='Show', exact=True).first.click()
    tab.page.keyboard.press('Enter')  # on Approve, which has the focus
    expect(tab.page.locator('.approval')).to_have_count(0)
    assert [answer[1] for answer in robot.answers] == [ApprovalAction.APPROVE]


def test_lines_and_replies_outlive_the_page_and_stand_in_every_browser(
    new_tab: Callable[..., Tab],
) -> None:
    first = new_tab().open()
    second = new_tab().open()
    settings = first.page.locator('.browser-settings')
    settings.locator('summary').click()
    settings.get_by_label('Your name').fill('Anna')
    settings.get_by_label('Your name').press('Enter')
    first.say(':nonsense')
    reply = 'There is no command :nonsense'
    for tab in (first, second, new_tab().open()):
        line = tab.page.locator('.talk-lines > .is-line')
        expect(line).to_have_count(1)
        expect(line.locator('.mine')).to_have_text(':nonsense by Anna')
        expect(line.locator('.warning')).to_contain_text(reply)
    first.page.reload()
    first.is_live()
    expect(first.page.locator('.is-line .warning')).to_contain_text(reply)
    second.say('go to the light')
    for tab in (first, second):
        expect(tab.page.locator('.talk-lines .mine').last).to_have_text('go to the light')
        expect(tab.page.locator('.talk-lines .is-said')).to_have_count(0)  # the same sentence
        assert tab.faults == []
