# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One task in full, and what a person changes of it on the page."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from curiosity_rosa_demo.agent.interfaces.page.controller import PageController
from curiosity_rosa_demo.agent.interfaces.page.task_detail import (
    MAX_TASKS,
    task_detail,
    TaskEvents,
    usage_text,
)
from curiosity_rosa_demo.agent.interfaces.page.task_history import TaskHistories, TaskHistory
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    ReactState,
    RunningSkill,
    SkillsState,
)
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.pictures import Capture, Picture
from curiosity_rosa_demo.trace.events import IN_TASK, ModelCalled, task_of, with_task
from curiosity_rosa_demo.trace.trace_codec import new_event
from fake_robot import FakeRobot, jpeg
from hypothesis import given
from hypothesis import strategies as st
import orjson
import pytest
from strategies import events, json_values

STEPS = [{'step_id': 1, 'action': 'mast_close'}, {'step_id': 2, 'action': 'mast_open'}]
PLAN = {'plan_id': 'p1', 'goal': 'look', 'status': 'executing', 'steps': STEPS}


@pytest.fixture
def robot() -> Iterator[FakeRobot]:
    with FakeRobot() as robot:
        yield robot


def event_of(task_id: str, kind: TraceKind, **fields: Any) -> TraceEvent:
    data = with_task(fields.pop('data', None), task_id)
    return new_event(kind, fields.pop('message', 'words'), data=data, **fields)


def step_result(step: int, status: str, message: str, plan: str = 'p1') -> TraceEvent:
    data = {'plan_id': plan, 'step_id': step, 'status': status, 'message': message}
    return event_of('t1', TraceKind.RESULT, tool_name='plan', data=data)


def detail(events: TaskEvents, state: BrainState | None = None, **fields: Any) -> dict[str, Any]:
    task = Task('react', id='t1', metadata={'text': 'look'}, **fields)
    pose_less = [
        Capture(each, Picture(jpeg(1.0), 5.0, 5.0), 0.9, True, None) for each in ('mine', 'other')
    ]
    return task_detail(TaskHistory(task, ()), events, state or BrainState(), pose_less)


def test_the_steps_of_a_plan_have_their_state_and_what_came_of_them() -> None:
    told = TaskEvents()
    told.add(event_of('t1', TraceKind.HYPOTHESIZE, data=PLAN))
    told.add(step_result(1, 'failed', 'the mast is stuck'))
    told.add(step_result(2, 'success', 'of another plan', plan='p2'))
    rows = [(s['status'], s['why']) for s in detail(told)['plan']['steps']]
    assert rows == [('failed', 'the mast is stuck'), ('pending', '')]

    running = {**PLAN, 'steps': [STEPS[0], {**STEPS[1], 'status': 'running'}]}
    state = BrainState(react=ReactState(plan=running))
    assert [s['status'] for s in detail(told, state)['plan']['steps']] == ['failed', 'running']
    other = BrainState(react=ReactState(plan={**running, 'plan_id': 'p9'}))
    assert [s['status'] for s in detail(told, other)['plan']['steps']] == ['failed', 'pending']


def test_a_task_has_its_own_captures_and_progress_only() -> None:
    told = TaskEvents()
    taken = event_of('t1', TraceKind.RESULT, tool_name='capture_and_score', ok=True)
    told.add(taken.model_copy(update={'event_id': 'mine'}))
    runs = [
        RunningSkill(
            goal_id=f'g{task}',
            task_id=task,
            skill_name='wait',
            start_time=0.0,
            timeout_s=9.0,
            progress={'fraction': 0.5},
        )
        for task in ('t1', 't2')
    ]
    facts = detail(told, BrainState(skills=SkillsState(running=runs)))
    assert [row['id'] for row in facts['captures']['rows']] == ['mine']
    assert [row['id'] for row in facts['progress']['rows']] == ['gt1']


def call(cost: float | None) -> ModelCalled:
    return ModelCalled('p', 'm', 100, 20, 0, 0, False, cost, 'USD', 't1')


def test_the_use_of_a_model_is_told_while_the_turn_runs_and_after_it() -> None:
    told = TaskEvents()
    assert detail(told)['usage'] == ''
    for cost in (0.25, 0.5):
        called = call(cost)
        told.add(new_event(**called.trace_fields(called.text())))
    assert detail(told)['usage'] == '2 calls: 200 tokens in, 40 out, 0.750000 USD'
    assert usage_text(None, [call(None)]) == '1 call: 100 tokens in, 20 out, cost unknown'
    stored = {'calls': 7, 'input': 9, 'output': 8, 'cost': None, 'currency': 'USD'}
    assert usage_text(stored, [call(0.25)]) == '7 calls: 9 tokens in, 8 out, cost unknown'


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
    orjson.dumps(task_detail(TaskHistory(task, ()), told, state, []))


@given(events, st.text(min_size=1))
def test_an_event_tells_the_task_that_it_was_marked_with(event: TraceEvent, task: str) -> None:
    plain = event.model_copy(update={'kind': TraceKind.ACT})
    marked = plain.model_copy(update={'data': with_task(plain.data, task)})
    assert task_of(marked) == task
    assert with_task(plain.data, '') == plain.data
    assert {key: each for key, each in (marked.data or {}).items() if key != IN_TASK} == {
        key: each for key, each in (plain.data or {}).items() if key != IN_TASK
    }


def test_the_events_of_old_tasks_are_forgotten() -> None:
    told = TaskEvents()
    for number in range(MAX_TASKS + 1):
        taken = event_of(f't{number}', TraceKind.RESULT, tool_name='capture_and_score', ok=True)
        told.add(taken)
    assert told.captures('t0') == set()
    assert len(told.captures(f't{MAX_TASKS}')) == 1


def test_a_task_is_paused_resumed_and_gets_a_priority(robot: FakeRobot) -> None:
    controller = PageController(robot, robot.runner)
    robot.paused = True
    running, waits = (asyncio.run(robot.submit(robot.make_task('mast_open', {}))) for _ in '12')

    def change(task: Task, act: str, **given: Any) -> tuple[bool, str]:
        return asyncio.run(controller.change_task({'id': task.id, 'act': act, **given}))

    short = waits.id[:8]
    assert change(waits, 'priority', priority=7) == (True, f'{short} has priority 7')
    assert waits.priority == 7
    assert change(waits, 'priority', priority=9999)[0] is False
    assert change(waits, 'pause') == (True, f'{short} paused')
    assert waits.held
    robot.refusal = 'SAFE_MODE: nothing may move.'
    assert change(waits, 'resume') == (False, robot.refusal)
    assert waits.held
    robot.refusal = ''
    assert change(waits, 'resume') == (True, f'{short} resumed')
    assert not waits.held
    assert change(waits, 'cancel') == (True, f'{short} cancelled')
    assert waits.state is LifecycleState.CANCELLED
    assert change(waits, 'pause')[0] is False
    [history] = [
        each for each in robot.do(TaskHistories(robot.runner).read()) if each.task.id == running.id
    ]
    assert task_detail(history, TaskEvents(), BrainState(), [])['history'][0]['state'] == 'pending'


@given(json_values, json_values, json_values)
def test_a_change_that_is_none_is_answered_in_words(task: Any, act: Any, priority: Any) -> None:
    with FakeRobot() as robot:
        given_ = {'id': task, 'act': act, 'priority': priority}
        ok, words = asyncio.run(PageController(robot, robot.runner).change_task(given_))
    assert (ok, bool(words)) == (False, True)
