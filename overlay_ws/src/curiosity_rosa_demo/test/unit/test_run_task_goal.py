# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a goal of run_task asks for, and how it ends."""

from __future__ import annotations

from dataclasses import dataclass
import json
import math
from typing import Any

from curiosity_rosa_demo.agent.interfaces.action_server.goal import (
    goal_result_of,
    GoalArguments,
    GoalResult,
    MAX_TEXT_CHARS,
    parse_goal,
)
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.task import BadTask
from hypothesis import given
from hypothesis import strategies as st
import pytest
from strategies import json_objects


@dataclass
class Request:
    text: str = ''
    skill: str = ''
    arguments_json: str = ''


@given(json_objects)
def test_a_skill_gets_its_arguments_as_they_are(arguments: dict[str, Any]) -> None:
    request = Request(skill=' speak ', arguments_json=json.dumps(arguments))
    assert parse_goal(request) == GoalArguments(skill='speak', arguments=arguments)


@pytest.mark.parametrize('nothing', ['', ' ', '\n'])
def test_no_arguments_are_none(nothing: str) -> None:
    request = Request(skill='move_stop', arguments_json=nothing)
    assert parse_goal(request) == GoalArguments(skill='move_stop', arguments={})


def test_a_text_is_taken_as_it_is_said() -> None:
    assert parse_goal(Request(text=' :demo\n')) == GoalArguments(text=':demo')


@pytest.mark.parametrize(
    ('request_', 'words'),
    [
        (Request(), 'The goal is empty; give either text or skill'),
        (Request(text='   '), 'The goal is empty'),
        (Request(text='go', skill='speak'), 'give either text or skill'),
        (Request(text='go', arguments_json='{}'), 'arguments_json goes with skill'),
        (Request(skill='speak', arguments_json='{'), 'cannot be read'),
        (Request(skill='speak', arguments_json='[1]'), 'is no JSON object'),
        (Request(skill='speak', arguments_json='null'), 'is no JSON object'),
        (Request(skill='speak', arguments_json='{"a": NaN}'), 'NaN is no JSON'),
        (Request(skill='speak', arguments_json='{"a": 1e999}'), 'cannot be read'),
        (Request(skill='speak', arguments_json='[' * 20_000), 'cannot be read'),
        (Request(skill='speak', arguments_json='{"a":' * 150 + '1' + '}' * 150), 'nested'),
        (Request(skill='speak', arguments_json='{"a": "\\ud800"}'), 'cannot be read'),
        (Request(text='x' * (MAX_TEXT_CHARS + 1)), f'{MAX_TEXT_CHARS} are allowed'),
        (Request(skill='x' * (MAX_TEXT_CHARS + 1)), 'skill has'),
    ],
)
def test_what_is_no_task_is_refused_with_what_would_be_right(
    request_: Request, words: str
) -> None:
    with pytest.raises(BadTask) as refused:
        parse_goal(request_)
    assert words in str(refused.value)
    assert len(str(refused.value)) < 500


@given(st.text(max_size=200), st.text(max_size=20), st.text(max_size=200))
def test_any_goal_is_a_task_or_refused(text: str, skill: str, arguments: str) -> None:
    try:
        wanted = parse_goal(Request(text, skill, arguments))
    except BadTask:
        return
    assert bool(wanted.text) != bool(wanted.skill)


def ended(state: LifecycleState, reason: str = '', outcome: Any = None) -> GoalResult:
    metadata = {} if outcome is None else {'outcome': outcome}
    task = Task('react', metadata=metadata)
    task.state, task.reason = state, reason
    return goal_result_of(task)


def test_a_task_that_is_done_answers_with_its_score() -> None:
    outcome = {'ok': True, 'answer': 'Here it is bright.', 'score': 0.9}
    assert ended(LifecycleState.COMPLETED, outcome=outcome) == GoalResult(
        True, 'Here it is bright.', 0.9
    )


@pytest.mark.parametrize('outcome', [None, [], {}, {'score': None}, {'score': True, 'answer': 3}])
def test_what_left_no_score_has_none(outcome: Any) -> None:
    ending = ended(LifecycleState.COMPLETED, outcome=outcome)
    assert ending.ok
    assert ending.answer
    assert math.isnan(ending.score)


def test_a_task_that_failed_says_why() -> None:
    ending = ended(LifecycleState.FAILED, 'Need to close mast', {'score': 0.2})
    assert (ending.ok, ending.answer, ending.score) == (False, 'Need to close mast', 0.2)
    assert not ending.cancelled


def test_a_task_that_was_cancelled_says_by_whom() -> None:
    ending = ended(LifecycleState.CANCELLED, 'Stopped by HTTP')
    assert (ending.ok, ending.answer, ending.cancelled) == (False, 'Stopped by HTTP', True)
