# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The panels of the page: the head, alarms, rows, the lines of the talk, and a task in full."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta, timezone
import json
from typing import Any

from curiosity_rosa_demo.agent.interfaces.page import status_rows, task_detail, timeline
from curiosity_rosa_demo.agent.interfaces.page.controller import PageController
from curiosity_rosa_demo.agent.interfaces.page.head_rows import sensor_ages, status_data
from curiosity_rosa_demo.agent.interfaces.page.task_detail import TaskEvents
from curiosity_rosa_demo.agent.interfaces.page.task_history import TaskHistories, TaskHistory
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.domain.adapter_status import NodeStatus
from curiosity_rosa_demo.domain.brain_state import (
    BatteryLevel,
    BrainState,
    Mode,
    Question,
    ReactState,
    Reading,
    RobotState,
    RunningSkill,
    SkillsState,
    TasksState,
)
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.pictures import Capture, Picture
from curiosity_rosa_demo.trace.events import (
    ModelCalled,
    QuestionAnswered,
    QuestionAsked,
    SkillProgressed,
    TurnAnswered,
    TurnStarted,
    with_task,
)
from curiosity_rosa_demo.trace.reporter import status_text
from curiosity_rosa_demo.trace.trace_codec import new_event
from fake_robot import FakeRobot, jpeg
from ground_world import analyzed, FIGURES
from hypothesis import given
from hypothesis import strategies as st
import orjson
import pytest
from strategies import events, json_objects, json_values, text

NOW = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
seconds = st.floats(0.0, 1e6)
NODES = [
    NodeStatus('kernel', ok=True, age_s=0.1),
    NodeStatus('adapter', ok=False, age_s=None, text='gone'),
]
NOTHING: dict[str, Any] = {'auto': 'off', 'auto_on': False, 'replay': False, 'limits': {}}
S = LifecycleState


def value(facts: dict[str, Any], name: str) -> str:
    [row] = [row for row in (*facts['motion'], *facts['power']) if row['name'] == name]
    return str(row['text'])


def status(state: BrainState, **changes: Any) -> dict[str, Any]:
    return status_data(state, None, NODES, **{**NOTHING, **changes})


def test_the_head_tells_the_mode_and_what_is_wrong() -> None:
    ages = {'odometry': 3.0, 'estop': 70.0, 'scan': 0.1}
    low = {'battery_state': BatteryLevel.LOW, 'battery_pct': 19.6}
    state = BrainState(
        tasks=TasksState(mode=Mode.SAFE, mode_reason='the e-stop is pressed'),
        robot=RobotState(estop=True, silent=['odometry'], ages_s=ages, **low),
    )
    facts = status(state, limits={'odometry': 2.0}, body='mujoco')
    assert (facts['mode'], facts['why']) == ('SAFE', 'the e-stop is pressed')
    assert (value(facts, 'Battery'), value(facts, 'E-stop')) == ('20 % low', 'PRESSED')
    wheels = {'name': 'Wheels', 'text': 'still', 'from': 'odometry', 'limit': 2.0, 'bad': False}
    assert facts['motion'][0] == wheels
    assert facts['sources'] == [
        {'name': 'odometry', 'silent': True, 'limit': 2.0},
        {'name': 'scan', 'silent': False, 'limit': None},
    ]
    assert facts['nodes'][1] == {'name': 'adapter', 'ok': False, 'aged': True, 'text': 'gone'}
    unknown = status_data(BrainState(), None, [NodeStatus('tasks', True, None)], **NOTHING)
    assert (facts['body'], unknown['body']) == ('mujoco', '')
    assert {value(unknown, name) for name in ('Battery', 'Place', 'Wheels')} == {'unknown'}
    assert unknown['nodes'] == [{'name': 'tasks', 'ok': True, 'aged': False, 'text': ''}]
    pose = RoverPose(x=5.25, y=-1.0, frame_id='odom')
    moved = status_data(BrainState(), pose, (), **NOTHING)
    assert value(moved, 'Place') == 'x 5.2 m, y -1.0 m'


def test_the_head_says_what_the_scan_shows_and_who_publishes_beside_the_rover() -> None:
    for view, robot, shown in (
        (None, {}, 'no scan'),
        (True, {'silent': ['scan']}, 'no scan'),
        (False, {}, 'no view ahead while stowed'),
        (False, {'mast': 'open'}, 'no view ahead'),
        (True, {}, 'free'),
        (True, {'scan_min_m': 1.55}, 'free for 1.6 m'),
    ):
        heard = {} if view is None else {'scan': Reading(value={'view': view}, received_s=1.0)}
        ages_s = dict.fromkeys((*heard, 'adapter'), 0.1)
        state = RobotState(**{'mast': 'closed', **robot}, heard=heard, ages_s=ages_s)
        assert value(status(BrainState(robot=state)), 'Way ahead') == shown
    both = {'/clock': ['/gazebo', '/stand_in'], '/joint_states': ['/stand_in (2 times)']}
    for rivals in (None, {}, 'no table', {'/clock': 'no list'}, both):
        told = {'mast': 'closed', 'rival_publishers': rivals}
        state = RobotState(heard={'adapter': Reading(value=told, received_s=1.0)})
        rows = status(BrainState(robot=state))['motion']
        warnings = [row for row in rows if row['name'] == 'Warning']
        assert [row['bad'] for row in warnings] == [True] * (2 if rivals is both else 0)
        assert all(row['text'] in status_text(told) for row in warnings)
        assert status_text(told).count('several publishers of') == len(warnings)
        assert all('own ROS_DOMAIN_ID' in row['text'] for row in warnings)


@given(st.dictionaries(text, seconds, max_size=4), st.none() | seconds)
def test_nothing_the_kernel_knows_is_younger_than_its_last_tick(
    heard: dict[str, float], kernel: float | None
) -> None:
    state = BrainState(robot=RobotState(ages_s=heard))
    shown = sensor_ages(state, [NodeStatus('kernel', ok=True, age_s=kernel)])
    assert shown['node:kernel'] == kernel
    for name, age in heard.items():
        assert shown[name] == pytest.approx(age + (kernel or 0.0))


@given(json_objects)
def test_what_is_approved_is_seen_in_full(arguments: dict[str, Any]) -> None:
    op = {'skill': 'move_forward', 'arguments': arguments}
    long = 'why\u202e ' * status_rows.MAX_TEXT_CHARS
    facts = status_rows.question_data(
        Question(id='q1', text=long, op=op, reasons=[long]), until=None
    )
    assert json.loads(facts['arguments']) == arguments
    assert all(line.isprintable() for line in facts['arguments'].split('\n'))
    assert [facts['text'], *facts['reasons']] == 2 * ['why\\u202e ' * status_rows.MAX_TEXT_CHARS]
    assert facts['editable']
    assert not status_rows.question_data(Question(id='q1', text='go on?'), until=5.0)['editable']


def test_tasks_and_captures_are_told_newest_first_and_the_ground_with_units() -> None:
    old = Task('react', seq=1, held=True, state=S.CANCELLED, metadata={'origin': '<b>'})
    look = {'text': 'look  at\n<b>it</b>', 'origin': 'action'}
    new = Task('react', seq=2, held=True, metadata=look)
    rows = status_rows.task_data([old, new])['rows']
    assert [(row['id'], row['by']) for row in rows] == [(new.id, 'action'), (old.id, '')]
    assert [(row['held'], row['live']) for row in rows] == [(True, True), (False, False)]
    assert rows[0]['what'] == 'look at <b>it</b>'
    picture, pose = Picture(jpeg(1.0), 0.0, 0.0), RoverPose(x=6.0, frame_id='odom')
    taken = [Capture('a', picture, 0.2, False, None), Capture('b', picture, 0.91234, True, pose)]
    rows = status_rows.capture_data(taken)['rows']
    assert [tuple(row[name] for name in ('id', 'score', 'good', 'place')) for row in rows] == [
        ('b', 0.912, True, 'x 6.0 m, y 0.0 m'),
        ('a', 0.2, False, 'unknown'),
    ]
    assert status_rows.ground_data(None)['rows'] == []
    ground = status_rows.ground_data(analyzed('g7'))
    assert [tuple(row.values()) for row in ground['rows']] == FIGURES
    assert (ground['id'], ground['picture']) == ('g7', True)
    assert status_rows.ground_data(replace(analyzed(), picture=None))['picture'] is False


@given(events, st.none() | seconds)
def test_every_event_is_a_line_that_can_be_sent(event: TraceEvent, before: float | None) -> None:
    facts = status_rows.trace_data(event, before)
    orjson.dumps(facts)
    assert facts['id'] == event.event_id
    assert facts['took'] is None or facts['took'] >= 0.0


PLAIN = {'tool_name': 'move_stop'}
ROLES: tuple[tuple[dict[str, Any], str], ...] = (
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
)


def test_an_event_has_a_place_in_the_conversation() -> None:
    for fields, role in ROLES:
        facts = status_rows.trace_data(new_event(**fields), None)
        assert facts['role'] == role
        assert (facts['question'] == 'q1') is (role in ('asks', 'answered'))


def alarms(
    state: BrainState | None = None, nodes: Any = (), tasks: Any = (), waits_for: str = ''
) -> dict[str, Any]:
    state = state or BrainState()
    return status_rows.alarm_data(state, nodes, tasks, NOW, waits_for=waits_for, replay=False)


def task(text: str, state: LifecycleState, *, held: bool = False, minutes: float = 0.0) -> Task:
    made = Task('react', metadata={'text': text}, state=state, held=held)
    made.updated_at = NOW - timedelta(minutes=minutes)
    return made


def test_every_failure_is_told_and_safe_has_its_cause_and_the_way_out() -> None:
    calm = alarms(nodes=NODES[:1])
    assert (calm['safe'], calm['rows'], calm['replay']) == (None, [], False)
    latched = {'safety_latch': 'e-stop'}
    for robot, way_out in (
        ({'estop': True, **latched}, 'Release the e-stop, then press Clear.'),
        (latched, 'Look at the rover, then press Clear.'),
        ({}, 'SAFE ends when it is back.'),
    ):
        tasks = TasksState(mode=Mode.SAFE, mode_reason='e-stop pressed')
        safe = alarms(BrainState(tasks=tasks, robot=RobotState(**robot)))['safe']
        told = {'cause': 'e-stop pressed', 'way_out': way_out, 'latched': bool(robot)}
        assert safe == told
    low = {'battery_state': BatteryLevel.LOW, 'battery_pct': 11.6}
    state = BrainState(robot=RobotState(silent=['odometry'], estop=True, **low))
    nodes = [NODES[1], NodeStatus('kernel', ok=False, age_s=1.0)]
    held = [task('a', S.PAUSED, held=True)]
    rows = alarms(state, nodes, held, waits_for='no database')['rows']
    assert [row['text'] for row in rows] == [
        'Nothing can run yet: no database',
        'The e-stop is pressed',
        'odometry is silent',
        'The battery is low: 12 %',
        'adapter: gone',
        'kernel: not well',
        '1 task held until a person resumes',
    ]
    assert rows[-1]['line'] == ':resume'
    old = status_rows.FAILURE_SHOWN.total_seconds() / 60 + 1  # failed tasks, for a while
    ended = {'long ago': old, 'third': 3.0, 'second': 2.0, 'first': 1.0}
    tasks = [task(text, S.FAILED, minutes=minutes) for text, minutes in ended.items()]
    rows = alarms(tasks=[*tasks, task('done', S.COMPLETED)])['rows']
    assert [row['text'].split('failed: ')[1] for row in rows] == ['first', 'second']
    assert all(row['dismissable'] for row in rows)


def test_a_task_that_waits_its_turn_says_behind_what_and_the_head_counts_it() -> None:
    runs, waits = task('drive', S.ACTIVE), task('look', S.PENDING)
    held, ended = task('later', S.PENDING, held=True), task('over', S.COMPLETED)
    tasks = [runs, waits, held, ended]
    rows = {row['what']: row['behind'] for row in status_rows.task_data(tasks)['rows']}
    behind = f'queued behind {runs.id[:8]} drive'
    assert rows == {'drive': '', 'look': behind, 'later': '', 'over': ''}
    assert status_rows.behind_text(waits, [waits, held]) == ''  # nothing runs
    for shown, head in (
        (tasks, ('drive', '1 queued, 1 held', True, True)),
        (tasks[2:], ('', '1 held', False, True)),
    ):
        facts = status(BrainState(), tasks=shown)
        assert tuple(facts[name] for name in ('task', 'queued', 'pausable', 'held')) == head


tokens = st.sampled_from(['a', 'b', '', 'x' * (timeline.MAX_TOKEN_CHARS + 1), None, 7])


def test_what_came_of_a_button_stands_among_the_lines_and_each_text_is_bounded() -> None:
    for extra in (0, 1):
        lines = timeline.TalkLines()
        words = 'y' * (timeline.MAX_TALK_CHARS + extra)
        first = lines.add(words)
        lines.reply(first, True, words)
        lines.add_result(False, 'refused')
        line, result = lines.rows()
        assert len(str(line['text'])) == len(str(line['words'])) == timeline.MAX_TALK_CHARS
        assert (line['text'] == words) is (not extra)
        assert (result['text'], result['ok'], result['words']) == ('', False, 'refused')
        for _ in range(timeline.MAX_TALK_LINES):
            lines.add('another')
        lines.reply(first, True, 'done')  # it is forgotten
        assert all(row['words'] == '' for row in lines.rows())


@given(st.lists(st.tuples(st.text(max_size=3), tokens), max_size=3 * timeline.MAX_TALK_LINES))
def test_the_newest_lines_stay_and_no_two_have_the_same_token(
    typed: list[tuple[str, object]],
) -> None:
    lines = timeline.TalkLines()
    for words, token in typed:
        lines.add(words, '', token)
    rows = lines.rows()
    assert [row['text'] for row in rows] == [words for words, _ in typed][
        -timeline.MAX_TALK_LINES :
    ]
    assert [row['id'] for row in rows] == list(range(1, len(typed) + 1))[
        -timeline.MAX_TALK_LINES :
    ]
    kept = [row['token'] for row in rows if row['token']]
    assert len(kept) == len(set(kept))
    assert set(kept) <= {'a', 'b'}


STEPS = [{'step_id': 1, 'action': 'mast_close'}, {'step_id': 2, 'action': 'mast_open'}]
PLAN = {'plan_id': 'p1', 'goal': 'look', 'status': 'executing', 'steps': STEPS}


def event_of(task_id: str, kind: TraceKind, **fields: Any) -> TraceEvent:
    data = with_task(fields.pop('data', None), task_id)
    return new_event(kind, fields.pop('message', 'words'), data=data, **fields)


def detail(events: TaskEvents, state: BrainState | None = None, **fields: Any) -> dict[str, Any]:
    task = Task('react', id='t1', metadata={'text': 'look'}, **fields)
    pose_less = [
        Capture(each, Picture(jpeg(1.0), 5.0, 5.0), 0.9, True, None) for each in ('mine', 'other')
    ]
    return task_detail.task_detail(TaskHistory(task, ()), events, state or BrainState(), pose_less)


def test_the_steps_of_a_plan_have_their_state_and_what_came_of_them() -> None:
    told = TaskEvents()
    told.add(event_of('t1', TraceKind.HYPOTHESIZE, data=PLAN))
    for plan, step, status, why in (('p1', 1, 'failed', 'stuck'), ('p2', 2, 'success', 'other')):
        data = {'plan_id': plan, 'step_id': step, 'status': status, 'message': why}
        told.add(event_of('t1', TraceKind.RESULT, tool_name='plan', data=data))
    running = {**PLAN, 'steps': [STEPS[0], {**STEPS[1], 'status': 'running'}]}
    for plan, second in (
        (None, 'pending'),
        (running, 'running'),
        ({**running, 'plan_id': 'p9'}, 'pending'),
    ):
        steps = detail(told, BrainState(react=ReactState(plan=plan)))['plan']['steps']
        assert [(s['status'], s['why']) for s in steps] == [('failed', 'stuck'), (second, '')]


def test_a_task_has_its_own_captures_progress_and_use_of_a_model() -> None:
    told = TaskEvents()
    assert detail(told)['usage'] == ''
    taken = event_of('t1', TraceKind.RESULT, tool_name='capture_and_score', ok=True)
    told.add(taken.model_copy(update={'event_id': 'mine'}))
    half = {'start_time': 0.0, 'timeout_s': 9.0, 'progress': {'fraction': 0.5}}
    runs = [
        RunningSkill(goal_id=f'g{each}', task_id=each, skill_name='wait', **half)
        for each in ('t1', 't2')
    ]
    usage = (100, 20, 0, 0, False)
    costs = (None, 0.25, 0.5)
    free, quarter, dear = (ModelCalled('p', 'm', *usage, cost, 'USD', 't1') for cost in costs)
    for called in (quarter, dear):
        told.add(new_event(**called.trace_fields(called.text())))
    facts = detail(told, BrainState(skills=SkillsState(running=runs)))
    assert facts['usage'] == '2 calls: 200 tokens in, 40 out, 0.750000 USD'
    assert [row['id'] for row in facts['captures']['rows']] == ['mine']
    assert [row['id'] for row in facts['progress']['rows']] == ['gt1']
    for number in range(task_detail.MAX_TASKS):
        told.add(event_of(f'another {number}', TraceKind.ACT))
    assert told.captures('t1') == set()  # old tasks are forgotten
    stored = {'calls': 7, 'input': 9, 'output': 8, 'cost': None, 'currency': 'USD'}
    for kept, call, said in (
        (None, free, '1 call: 100 tokens in, 20 out, cost unknown'),
        (stored, quarter, '7 calls: 9 tokens in, 8 out, cost unknown'),
    ):
        assert task_detail.usage_text(kept, [call]) == said


@given(st.lists(events, max_size=5), json_values, json_values)
def test_whatever_a_model_wrote_can_be_sent(
    given_events: list[TraceEvent], steps: Any, usage: Any
) -> None:
    told = TaskEvents()
    for event in given_events:
        told.add(event.model_copy(update={'data': with_task(event.data, 't1')}))
    plan = {'plan_id': 'p1', 'steps': steps}
    if isinstance(steps, list):
        told.add(event_of('t1', TraceKind.HYPOTHESIZE, data=plan))
    task = Task('react', id='t1', metadata={'plan': plan, 'usage': usage})
    state = BrainState(react=ReactState(plan=plan))
    orjson.dumps(task_detail.task_detail(TaskHistory(task, ()), told, state, []))
    for any_plan in (plan, usage if isinstance(usage, dict) else None):
        facts = status_rows.plan_data(any_plan)
        orjson.dumps(facts)
        assert all(isinstance(value, str) for step in facts['steps'] for value in step.values())


def test_a_task_is_paused_resumed_and_gets_a_priority() -> None:
    with FakeRobot() as robot:
        controller = PageController(robot, robot.runner)
        robot.paused = True
        running, waits = (
            asyncio.run(robot.submit(robot.make_task('mast_open', {}))) for _ in '12'
        )
        short, no = waits.id[:8], 'SAFE_MODE: nothing may move.'
        for act, given, refusal, words, held in (
            ('priority', {'priority': 7}, '', f'{short} has priority 7', False),
            ('priority', {'priority': 9999}, '', None, False),
            ('pause', {}, '', f'{short} paused', True),
            ('resume', {}, no, no, True),
            ('resume', {}, '', f'{short} resumed', False),
            ('cancel', {}, '', f'{short} cancelled', False),
            ('pause', {}, '', None, False),
        ):
            robot.refusal = refusal
            change = {'id': waits.id, 'act': act, **given}
            ok, said = asyncio.run(controller.change_task(change))
            assert ok is (not refusal and words is not None)
            assert words in (None, said)
            assert (waits.priority, waits.held) == (7, held)
        assert waits.state is LifecycleState.CANCELLED
        tasks = robot.do(TaskHistories(robot.runner).read())
        [history] = [each for each in tasks if each.task.id == running.id]
    shown = task_detail.task_detail(history, TaskEvents(), BrainState(), [])
    assert shown['history'][0]['state'] == 'pending'


@given(json_values, json_values, json_values)
def test_a_change_that_is_none_is_answered_in_words(task: Any, act: Any, priority: Any) -> None:
    with FakeRobot() as robot:
        given_ = {'id': task, 'act': act, 'priority': priority}
        ok, words = asyncio.run(PageController(robot, robot.runner).change_task(given_))
    assert (ok, bool(words)) == (False, True)
