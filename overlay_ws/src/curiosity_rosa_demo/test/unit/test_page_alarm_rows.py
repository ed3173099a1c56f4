# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the page shows at its top: SAFE with the way out, failures, and what waits for a person."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from curiosity_rosa_demo.agent.interfaces.page.alarm_rows import alarm_data, FAILURE_SHOWN
from curiosity_rosa_demo.agent.interfaces.page.head_rows import status_data
from curiosity_rosa_demo.agent.interfaces.page.panels import read_look
from curiosity_rosa_demo.agent.interfaces.page.status_rows import behind_text, task_data
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    BrainState,
    Mode,
    RobotState,
    TasksState,
)
from curiosity_rosa_demo.domain.health import NodeStatus
from hypothesis import given
from hypothesis import strategies as st
import pytest
from strategies import json_values

NOW = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)


def alarms(
    state: BrainState | None = None,
    nodes: list[NodeStatus] | None = None,
    tasks: list[Task] | None = None,
    waits_for: str = '',
) -> dict[str, Any]:
    return alarm_data(
        state or BrainState(), nodes or [], tasks or [], NOW, waits_for=waits_for, replay=False
    )


def texts(data: dict[str, Any]) -> list[str]:
    return [row['text'] for row in data['rows']]


def task(text: str, state: LifecycleState, *, held: bool = False, minutes: float = 0.0) -> Task:
    made = Task('react', metadata={'text': text}, state=state, held=held)
    made.updated_at = NOW - timedelta(minutes=minutes)
    return made


def in_safe(**robot: Any) -> BrainState:
    tasks = TasksState(mode=Mode.SAFE, mode_reason='e-stop pressed')
    return BrainState(tasks=tasks, robot=RobotState(**robot))


def test_a_calm_rover_has_no_alarm() -> None:
    data = alarms(nodes=[NodeStatus('adapter', ok=True, age_s=0.1)])
    assert (data['safe'], data['rows'], data['replay']) == (None, [], False)


@pytest.mark.parametrize(
    ('robot', 'way_out', 'latched'),
    [
        ({'estop': True, 'safety_latch': 'e-stop'}, 'Release the e-stop, then press Clear.', True),
        ({'safety_latch': 'e-stop'}, 'Look at the rover, then press Clear.', True),
        ({}, 'SAFE ends when it is back.', False),
    ],
)
def test_safe_has_its_cause_and_the_way_out(
    robot: dict[str, Any], way_out: str, latched: bool
) -> None:
    safe = alarms(in_safe(**robot))['safe']
    assert safe == {'cause': 'e-stop pressed', 'way_out': way_out, 'latched': latched}


def test_every_failure_is_told() -> None:
    state = BrainState(
        robot=RobotState(
            silent=['odometry'], battery_state=BatteryLevel.LOW, battery_pct=11.6, estop=True
        )
    )
    nodes = [
        NodeStatus('adapter', ok=False, age_s=None, text='gone'),
        NodeStatus('kernel', ok=False, age_s=1.0),
    ]
    assert texts(alarms(state, nodes, waits_for='no database')) == [
        'Nothing can run yet: no database',
        'The e-stop is pressed',
        'odometry is silent',
        'The battery is low: 12 %',
        'adapter: gone',
        'kernel: not well',
    ]


def test_the_newest_failed_tasks_are_told_for_a_while() -> None:
    old = FAILURE_SHOWN.total_seconds() / 60 + 1
    S = LifecycleState
    tasks = [
        task('long ago', S.FAILED, minutes=old),
        task('third', S.FAILED, minutes=3),
        task('second', S.FAILED, minutes=2),
        task('first', S.FAILED, minutes=1),
        task('done', S.COMPLETED),
    ]
    rows = alarms(tasks=tasks)['rows']
    assert [row['text'].split('failed: ')[1] for row in rows] == ['first', 'second']
    assert all(row['dismissable'] for row in rows)


def test_held_tasks_wait_for_a_person_who_has_a_button() -> None:
    [row] = alarms(tasks=[task('a', LifecycleState.PAUSED, held=True)])['rows']
    assert (row['text'], row['line']) == ('1 task held until a person resumes', ':resume')


# --- queued tasks ----------------------------------------------------------------------------


def test_a_task_that_waits_its_turn_says_behind_what() -> None:
    S = LifecycleState
    runs, waits = task('drive', S.ACTIVE), task('look', S.PENDING)
    held, ended = task('later', S.PENDING, held=True), task('over', S.COMPLETED)
    rows = {row['what']: row['behind'] for row in task_data([runs, waits, held, ended])['rows']}
    assert rows == {
        'drive': '',
        'look': f'queued behind {runs.id[:8]} drive',
        'later': '',
        'over': '',
    }
    assert behind_text(waits, [waits, held]) == ''  # nothing runs


def test_the_head_names_the_task_and_counts_those_that_wait() -> None:
    S = LifecycleState
    tasks = [
        task('drive', S.ACTIVE),
        task('look', S.PENDING),
        task('later', S.PENDING, held=True),
        task('over', S.COMPLETED),
    ]
    no = {'auto': 'off', 'auto_on': False, 'replay': False, 'limits': {}}
    head = status_data(BrainState(), None, (), tasks=tasks, **no)
    shown = (head['task'], head['queued'], head['pausable'], head['held'])
    assert shown == ('drive', '1 queued, 1 held', True, True)
    idle = status_data(BrainState(), None, (), tasks=tasks[2:], **no)
    assert (idle['task'], idle['queued'], idle['pausable']) == ('', '1 held', False)


# --- the size of a drawing -------------------------------------------------------------------


@given(json_values | st.fixed_dictionaries({'width': json_values, 'height': json_values}))
def test_whatever_size_a_browser_reports_is_one_that_can_be_drawn(args: Any) -> None:
    look = read_look(args)
    assert look is None or (120.0 <= look.width <= 2560.0 and 120.0 <= look.height <= 2560.0)


def test_pages_of_about_the_same_size_share_a_drawing() -> None:
    assert read_look({'width': 441, 'height': 300.5}) == read_look({'width': 447, 'height': 303})
    assert read_look({'width': 441, 'height': 300}) != read_look({'width': 449, 'height': 300})
