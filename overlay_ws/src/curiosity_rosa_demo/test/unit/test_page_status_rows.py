# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
import json
from typing import Any

from curiosity_rosa_demo.agent.interfaces.page.head_rows import sensor_ages, status_data
from curiosity_rosa_demo.agent.interfaces.page.status_rows import (
    capture_data,
    ground_data,
    MAX_TEXT_CHARS,
    plan_data,
    question_data,
    task_data,
    trace_data,
)
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    BrainState,
    Mode,
    Question,
    Reading,
    RobotState,
    TasksState,
)
from curiosity_rosa_demo.domain.health import NodeStatus
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.pictures import Capture, Picture
from curiosity_rosa_demo.trace.events import (
    QuestionAnswered,
    QuestionAsked,
    SkillProgressed,
    TurnAnswered,
    TurnStarted,
    with_task,
)
from curiosity_rosa_demo.trace.reporter import status_text
from curiosity_rosa_demo.trace.trace_codec import new_event
from fake_robot import jpeg
from ground_world import analyzed, FIGURES
from hypothesis import given
from hypothesis import strategies as st
import orjson
import pytest
from strategies import events, json_objects, json_values, text

seconds = st.floats(0.0, 1e6)
NODES = [
    NodeStatus('kernel', ok=True, age_s=0.1),
    NodeStatus('adapter', ok=False, age_s=None, text='gone'),
]


NOTHING: dict[str, Any] = {'auto': 'off', 'auto_on': False, 'replay': False, 'limits': {}}


def value(facts: dict[str, Any], name: str) -> str:
    """As the head shows it."""
    [row] = [row for row in (*facts['motion'], *facts['power']) if row['name'] == name]
    return str(row['text'])


def status(state: BrainState, **changes: Any) -> dict[str, Any]:
    return status_data(state, None, NODES, **{**NOTHING, **changes})


def test_the_head_names_the_body_that_it_was_told() -> None:
    assert status(BrainState(), body='mujoco')['body'] == 'mujoco'
    assert status(BrainState())['body'] == ''  # a real rover, or one that nobody has named


def test_the_head_tells_the_mode_and_what_is_wrong() -> None:
    state = BrainState(
        tasks=TasksState(mode=Mode.SAFE, mode_reason='the e-stop is pressed'),
        robot=RobotState(
            estop=True,
            battery_pct=19.6,
            battery_state=BatteryLevel.LOW,
            mast='open',
            ages_s={'odometry': 3.0, 'estop': 70.0, 'scan': 0.1},
            silent=['odometry'],
        ),
    )
    facts = status(state, limits={'odometry': 2.0})
    assert (facts['mode'], facts['why']) == ('SAFE', 'the e-stop is pressed')
    assert (value(facts, 'Battery'), value(facts, 'E-stop')) == ('20 % low', 'PRESSED')
    assert facts['motion'][0] == {
        'name': 'Wheels',
        'text': 'still',
        'from': 'odometry',
        'limit': 2.0,
        'bad': False,
    }
    assert facts['sources'] == [
        {'name': 'odometry', 'silent': True, 'limit': 2.0},
        {'name': 'scan', 'silent': False, 'limit': None},
    ]
    assert facts['nodes'][1] == {'name': 'adapter', 'ok': False, 'aged': True, 'text': 'gone'}
    assert value(facts, 'Place') == 'unknown'


@pytest.mark.parametrize(
    ('view', 'robot', 'text'),
    [
        (None, {}, 'no scan'),
        (True, {'silent': ['scan']}, 'no scan'),
        (False, {}, 'no view ahead while stowed'),
        (False, {'mast': 'open'}, 'no view ahead'),
        (True, {}, 'free'),
        (True, {'scan_min_m': 1.55}, 'free for 1.6 m'),
    ],
)
def test_the_head_says_what_the_scan_shows_of_the_way(
    view: bool | None, robot: dict[str, Any], text: str
) -> None:
    heard = {} if view is None else {'scan': Reading(value={'view': view}, received_s=1.0)}
    ages_s = dict.fromkeys((*heard, 'adapter'), 0.1)
    state = RobotState(**{'mast': 'closed', **robot}, heard=heard, ages_s=ages_s)
    assert value(status(BrainState(robot=state)), 'Way ahead') == text


@pytest.mark.parametrize(
    ('rivals', 'warnings'),
    [
        (None, 0),
        ({}, 0),
        ('no table', 0),
        ({'/clock': 'no list'}, 0),
        ({'/clock': ['/gazebo', '/stand_in'], '/joint_states': ['/stand_in (2 times)']}, 2),
    ],
)
def test_head_and_status_line_name_who_publishes_beside_the_rover(
    rivals: object, warnings: int
) -> None:
    value = {'mast': 'closed', 'rival_publishers': rivals}
    robot = RobotState(heard={'adapter': Reading(value=value, received_s=1.0)})
    rows = [row for row in status(BrainState(robot=robot))['motion'] if row['name'] == 'Warning']
    assert [row['bad'] for row in rows] == [True] * warnings
    assert all(row['text'] in status_text(value) for row in rows)
    assert status_text(value).count('several publishers of') == warnings
    assert all('own ROS_DOMAIN_ID' in row['text'] for row in rows)


def test_what_is_unknown_has_no_number_and_what_is_part_of_the_agent_no_age() -> None:
    facts = status_data(BrainState(), None, [NodeStatus('tasks', True, None)], **NOTHING)
    for name in ('Battery', 'Place', 'Wheels'):
        assert value(facts, name) == 'unknown'
    assert facts['nodes'] == [{'name': 'tasks', 'ok': True, 'aged': False, 'text': ''}]
    pose = RoverPose(x=5.25, y=-1.0, frame_id='odom')
    moved = status_data(BrainState(), pose, (), **NOTHING)
    assert value(moved, 'Place') == 'x 5.2 m, y -1.0 m'


@given(st.dictionaries(text, seconds, max_size=4), st.none() | seconds)
def test_nothing_the_kernel_knows_is_younger_than_its_last_tick(
    heard: dict[str, float], kernel: float | None
) -> None:
    state = BrainState(robot=RobotState(ages_s=heard))
    shown = sensor_ages(state, [NodeStatus('kernel', ok=True, age_s=kernel)])
    assert shown['node:kernel'] == kernel
    for name, age in heard.items():
        assert shown[name] == pytest.approx(age + (kernel or 0.0))


@given(st.none() | json_objects | st.fixed_dictionaries({'steps': json_values, 'goal': text}))
def test_whatever_stands_in_a_plan_can_be_sent(plan: dict[str, Any] | None) -> None:
    facts = plan_data(plan)
    orjson.dumps(facts)
    assert all(isinstance(value, str) for step in facts['steps'] for value in step.values())


def test_a_plan_shows_its_steps_and_how_far_it_is() -> None:
    facts = plan_data(
        {
            'goal': 'a picture',
            'status': 'executing',
            'steps': [
                {'step_id': 1, 'action': 'mast_open', 'status': 'success', 'parameters': {}},
                {'step_id': 2, 'action': 'speak', 'parameters': {'text': 'hi'}},
            ],
        }
    )
    assert [(step['action'], step['status']) for step in facts['steps']] == [
        ('mast_open', 'success'),
        ('speak', 'pending'),
    ]
    assert facts['steps'][1]['parameters'] == '{"text": "hi"}'


@given(json_objects)
def test_what_is_approved_is_seen_in_full(arguments: dict[str, Any]) -> None:
    op = {'skill': 'move_forward', 'arguments': arguments}
    long = 'why\u202e ' * MAX_TEXT_CHARS
    facts = question_data(Question(id='q1', text=long, op=op, reasons=[long]), until=None)
    assert json.loads(facts['arguments']) == arguments
    assert all(line.isprintable() for line in facts['arguments'].split('\n'))
    assert [facts['text'], *facts['reasons']] == 2 * ['why\\u202e ' * MAX_TEXT_CHARS]
    assert facts['editable']
    assert not question_data(Question(id='q1', text='go on?'), until=5.0)['editable']


def test_tasks_are_told_newest_first_and_only_those_that_live_can_be_held() -> None:
    old = Task('react', seq=1, held=True, state=LifecycleState.CANCELLED)
    new = Task('react', seq=2, held=True, metadata={'text': 'look  at\n<b>it</b>'})
    rows = task_data([old, new])['rows']
    assert [row['id'] for row in rows] == [new.id, old.id]
    assert [(row['held'], row['live']) for row in rows] == [(True, True), (False, False)]
    assert rows[0]['what'] == 'look at <b>it</b>'


@pytest.mark.parametrize(
    ('metadata', 'by'), [({'origin': 'action'}, 'action'), ({'origin': '<b>'}, ''), ({}, '')]
)
def test_a_task_says_through_which_door_it_came(metadata: dict[str, Any], by: str) -> None:
    assert task_data([Task('react', metadata=metadata)])['rows'][0]['by'] == by


def test_captures_are_told_newest_first() -> None:
    picture = Picture(jpeg(1.0), datetime(2026, 1, 1, tzinfo=timezone.utc).timestamp(), 0.0)
    pose = RoverPose(x=6.0, frame_id='odom')
    captures = [
        Capture('a', picture, 0.2, False, None),
        Capture('b', picture, 0.91234, True, pose),
    ]
    rows = capture_data(captures)['rows']
    assert [(row['id'], row['score'], row['good'], row['place']) for row in rows] == [
        ('b', 0.912, True, 'x 6.0 m, y 0.0 m'),
        ('a', 0.2, False, 'unknown'),
    ]


def test_the_ground_is_told_with_units_and_how_sure_each_figure_is() -> None:
    assert ground_data(None)['rows'] == []
    facts = ground_data(analyzed('g7'))
    assert [tuple(row.values()) for row in facts['rows']] == FIGURES
    assert (facts['id'], facts['picture']) == ('g7', True)
    assert ground_data(replace(analyzed(), picture=None))['picture'] is False


@given(events, st.none() | seconds)
def test_every_event_is_a_line_that_can_be_sent(event: TraceEvent, before: float | None) -> None:
    facts = trace_data(event, before)
    orjson.dumps(facts)
    assert facts['id'] == event.event_id
    assert facts['took'] is None or facts['took'] >= 0.0


@pytest.mark.parametrize(
    ('data', 'replay'), [(None, False), ({'replay': True}, True), ({}, False)]
)
def test_a_line_is_short_and_marked_where_it_is_played_back(
    data: dict[str, Any] | None, replay: bool
) -> None:
    event = TraceEvent(event_id='e', ts=2.5, kind=TraceKind.ACT, message='x' * 99_999, data=data)
    facts = trace_data(event, 1.0)
    assert (len(facts['text']), facts['took'], facts['replay']) == (MAX_TEXT_CHARS, 1.5, replay)


PLAIN = {'tool_name': 'move_stop'}


@pytest.mark.parametrize(
    ('fields', 'role'),
    [
        (TurnStarted(0, 'page').trace_fields('User: go'), 'said'),
        (TurnStarted(2).trace_fields('Going on'), 'thought'),
        (TurnAnswered(True, None).trace_fields('Done.'), 'answer'),
        (QuestionAsked('q1').trace_fields('Asking: drive?'), 'asks'),
        (QuestionAnswered('q1', 'approve').trace_fields(), 'answered'),
        (SkillProgressed('wait', 't1', {'fraction': 0.5}, 0.5).trace_fields('50 %'), 'progress'),
        ({'kind': TraceKind.ACT, 'message': 'move_stop()', **PLAIN}, 'act'),
        ({'kind': TraceKind.RESULT, 'message': 'done', **PLAIN}, 'result'),
        ({'kind': TraceKind.ERROR, 'message': 'late', **PLAIN}, 'result'),
        ({'kind': TraceKind.ERROR, 'message': 'no model'}, 'failure'),
        ({'kind': TraceKind.DECIDE, 'message': 'I drive'}, 'thought'),
        ({'kind': TraceKind.OBSERVE, 'message': 'of a node'}, 'note'),
        ({'kind': TraceKind.OBSERVE, 'message': 'dark', 'data': with_task(None, 't1')}, 'thought'),
    ],
)
def test_an_event_has_a_place_in_the_conversation(fields: dict[str, Any], role: str) -> None:
    facts = trace_data(new_event(**fields), None)
    assert facts['role'] == role
    assert (facts['question'] == 'q1') is (role in ('asks', 'answered'))
