# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The tasks by HTTP: the nine scenarios of the first design, and what came to them."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone
from pathlib import Path

from curiosity_rosa_demo.agent.interfaces.http import cursor
from curiosity_rosa_demo.agent.interfaces.http.task_routes import MAX_PAGE_BYTES
from curiosity_rosa_demo.agent.tasks import SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.errors import StoreFull
from curiosity_rosa_demo.domain.models import json_object
from examples import examples
from fake_robot import FakeRobot
from http_world import alone, quick_skills, running, state_of, with_robot
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from skill_world import in_loop, Stage, staged

JOB = {'name': 'job', 'priority': 5, 'metadata': {'target': 'kitchen'}}


def plain(text: str = 'a', **fields: object) -> dict[str, object]:
    return {'name': 'job', 'metadata': {'title': text}, **fields}


# --- the nine --------------------------------------------------------------------------------


@in_loop
async def test_health_tells_that_all_is_well_and_that_nothing_runs():
    async with alone() as http:
        answer = await http.get('/health')
        assert answer.status_code == 200
        assert answer.json()['status'] == 'ok'
        assert answer.json()['active_task'] is None


@in_loop
async def test_a_task_is_submitted_with_201_and_comes_back_as_it_was_given():
    async with alone() as http:
        answer = await http.post('/tasks', json=JOB)
        assert answer.status_code == 201
        task = answer.json()
        assert list(task)[:5] == ['id', 'name', 'state', 'priority', 'metadata']
        assert {key: task[key] for key in JOB} == JOB
        assert task['state'] == 'pending'
        assert answer.headers['location'] == f'/tasks/{task["id"]}'


@in_loop
async def test_all_tasks_are_listed_in_order_of_submission():
    async with alone() as http:
        ids = [(await http.post('/tasks', json=plain(name))).json()['id'] for name in 'abc']
        assert [task['id'] for task in (await http.get('/tasks')).json()] == ids


@in_loop
async def test_a_task_is_found_by_its_id_at_once_without_a_lifespan():
    async with alone() as http:
        task = (await http.post('/tasks', json=JOB)).json()
        answer = await http.get(f'/tasks/{task["id"]}')
        assert (answer.status_code, answer.json()) == (200, task)


@in_loop
async def test_an_unknown_task_is_a_404_that_names_it():
    async with alone() as http:
        answer = await http.get('/tasks/nobody')
        assert answer.status_code == 404
        assert answer.headers['content-type'] == 'application/problem+json'
        assert answer.json() == {
            'type': 'about:blank',
            'title': 'Not Found',
            'status': 404,
            'detail': "There is no task 'nobody'",
            'instance': '/tasks/nobody',
        }


@in_loop
async def test_a_task_is_cancelled_and_stays_so():
    async with alone() as http:
        task = (await http.post('/tasks', json=JOB)).json()
        answer = await http.delete(f'/tasks/{task["id"]}')
        assert (answer.status_code, answer.json()['state']) == (200, 'cancelled')
        assert (await http.get(f'/tasks/{task["id"]}')).json()['state'] == 'cancelled'
        again = await http.delete(f'/tasks/{task["id"]}')
        assert (again.status_code, again.json()['state']) == (200, 'cancelled')


@in_loop
async def test_to_cancel_an_unknown_task_is_a_404():
    async with alone() as http:
        assert (await http.delete('/tasks/nobody')).status_code == 404


@in_loop
async def test_an_interruption_is_an_urgent_task_of_priority_10():
    async with alone() as http:
        await http.post('/tasks', json=JOB)
        answer = await http.post('/interrupt', json={'name': 'avoid_obstacle'})
        assert answer.status_code == 201
        task = answer.json()
        assert (task['name'], task['priority'], task['urgent']) == ('avoid_obstacle', 10, True)
        assert task['id'] in [each['id'] for each in (await http.get('/tasks')).json()]


@in_loop
async def test_metadata_goes_to_the_skill_and_what_it_adds_comes_back():
    runner = quick_skills(SkillRunner(':memory:'), 'job')
    async with running(runner) as http:
        task = (await http.post('/tasks', json=JOB)).json()
        task = await state_of(http, task['id'], 'completed')
        assert task['metadata'] == {'target': 'kitchen', 'done': True}


# --- the lifespan of the app ------------------------------------------------------------------


@in_loop
async def test_the_lifespan_runs_the_tasks_and_stops_the_runner():
    stage = Stage()
    runner = staged(':memory:', stage)
    async with running(runner) as http:
        await http.post('/tasks', json=plain('a'))
        await stage.until('begin a')
        health = (await http.get('/health')).json()
        assert health['active_task']['metadata'] == {'title': 'a'}
        assert len(health['active_tasks']) == 1
    assert stage.log == ['begin a', 'cleanup a']


@in_loop
async def test_a_runner_that_somebody_else_has_started_is_left_to_him():
    stage = Stage()
    runner = staged(':memory:', stage)
    await runner.start()
    loop = asyncio.create_task(runner.run_loop())
    async with running(runner) as http:
        task = (await http.post('/tasks', json=plain('a'))).json()
        await stage.until('begin a')
    known = runner.get_task(task['id'])
    assert known is not None
    assert known.state.value == 'active'
    await runner.stop()
    await loop


@in_loop
async def test_a_file_that_cannot_be_opened_is_a_503_that_says_why(tmp_path: Path):
    runner = SkillRunner(str(tmp_path))  # a folder
    async with alone(runner) as http:
        answer = await http.post('/tasks', json=JOB)
        assert answer.status_code == 503
        assert str(tmp_path) in answer.json()['detail']
        assert (await http.get('/readyz')).status_code == 503
        assert (await http.get('/healthz')).status_code == 200


@in_loop
async def test_an_interruption_pauses_what_runs():
    stage = Stage()
    runner = staged(':memory:', stage)
    async with running(runner) as http:
        task = (await http.post('/tasks', json=plain('a'))).json()
        await stage.until('begin a')
        urgent = await http.post('/interrupt', json=plain('b'))
        assert urgent.status_code == 201
        await stage.until('cleanup a', 'begin b')
        assert (await http.get(f'/tasks/{task["id"]}')).json()['state'] == 'paused'


# --- beyond -----------------------------------------------------------------------------------


@in_loop
async def test_a_task_waits_for_others_for_its_time_and_for_approval():
    at = (datetime.now(timezone.utc) + timedelta(hours=1)).isoformat()
    async with alone() as http:
        first = (await http.post('/tasks', json=plain('a'))).json()
        for fields in (
            {'blocked_by': [first['id']], 'deadline_s': 9.5, 'max_retries': 2},
            {'not_before': at},
            {'needs_approval': True},
        ):
            answer = await http.post('/tasks', json=plain('b', **fields))
            assert answer.status_code == 201
            assert answer.json()['state'] == 'waiting'
            given = {**fields}
            if 'not_before' in given:
                given['not_before'] = given['not_before'].replace('+00:00', 'Z')
            assert {key: answer.json()[key] for key in given} == given


@in_loop
@pytest.mark.parametrize(
    ('fields', 'named'),
    [
        ({'name': ' '}, 'name'),
        ({'priority': 1001}, 'priority'),
        ({'priority': '5'}, 'priority'),
        ({'blocked_by': ['nobody']}, 'nobody'),
        ({'deadline_s': 0}, 'deadline_s'),
        ({'not_before': '2026-01-01T00:00:00'}, 'not_before'),
        ({'max_retries': -1}, 'max_retries'),
        ({'metadata': [1]}, 'metadata'),
        ({'idempotency_key': 'x'}, 'idempotency_key'),
    ],
)
async def test_what_is_wrong_with_a_task_is_a_422_that_names_it(fields: dict, named: str):
    async with alone() as http:
        answer = await http.post('/tasks', json=plain(**fields))
        assert answer.status_code == 422
        assert named in answer.json()['detail']
        assert (await http.get('/tasks')).json() == []


@in_loop
@pytest.mark.parametrize('body', [b'{', b'\xff', b'[' * 20_000, b'{"name": "a", "priority": NaN}'])
async def test_a_body_that_is_no_json_is_refused(body: bytes):
    async with alone() as http:
        headers = {'Content-Type': 'application/json'}
        answer = await http.post('/tasks', content=body, headers=headers)
        assert answer.status_code in (400, 422)
        assert answer.json()['status'] == answer.status_code


@in_loop
@pytest.mark.parametrize('kind', ['text/plain', 'application/x-www-form-urlencoded', None])
async def test_a_body_that_does_not_say_it_is_json_is_none(kind: str | None):
    async with alone() as http:
        headers = {} if kind is None else {'Content-Type': kind}
        answer = await http.post('/tasks', content=b'{"name": "job"}', headers=headers)
        assert answer.status_code == 422
        assert (await http.get('/tasks')).json() == []


@in_loop
async def test_what_json_cannot_carry_is_refused_also_within_the_metadata():
    async with alone() as http:
        for value in ('NaN', '"\\ud800"', '1e999'):
            body = f'{{"name": "a", "metadata": {{"b": [{value}]}}}}'
            headers = {'Content-Type': 'application/json'}
            answer = await http.post('/tasks', content=body, headers=headers)
            assert answer.status_code == 422, value


@in_loop
async def test_the_same_idempotency_key_makes_one_task():
    async with alone() as http:
        key = {'Idempotency-Key': 'k-1'}
        first = await http.post('/tasks', json=JOB, headers=key)
        second = await http.post('/tasks', json=JOB, headers=key)
        assert (first.status_code, second.status_code) == (201, 200)
        assert first.json() == second.json()
        other = await http.post('/tasks', json={**JOB, 'name': 'other'}, headers=key)
        assert other.status_code == 422
        assert first.json()['id'] in other.json()['detail']
        assert len((await http.get('/tasks')).json()) == 1


@in_loop
async def test_a_client_cannot_meet_a_key_of_the_agent_itself():
    runner = SkillRunner(':memory:')
    async with alone(runner) as http:
        await http.get('/tasks')
        own = await runner.submit(Task('job', idempotency_key='k'))
        answer = await http.post('/tasks', json=JOB, headers={'Idempotency-Key': 'k'})
        assert answer.status_code == 201
        assert answer.json()['id'] != own.id


@in_loop
async def test_pause_resume_and_priority():
    async with alone() as http:
        task = (await http.post('/tasks', json=JOB)).json()
        url = f'/tasks/{task["id"]}'
        assert (await http.post(f'{url}/pause')).json()['held'] is True
        assert (await http.post(f'{url}/resume')).json()['held'] is False
        assert (await http.patch(url, json={'priority': 7})).json()['priority'] == 7
        history = (await http.get(f'{url}/history')).json()
        assert [(row['before'], row['after']) for row in history] == [(None, 'pending')]
        await http.delete(url)
        for answer in (
            await http.post(f'{url}/pause'),
            await http.post(f'{url}/resume'),
            await http.patch(url, json={'priority': 7}),
        ):
            assert answer.status_code == 409
            assert 'CANCELLED' in answer.json()['detail']
        for answer in (
            await http.post('/tasks/x/pause'),
            await http.post('/tasks/x/resume'),
            await http.patch('/tasks/x', json={'priority': 1}),
            await http.get('/tasks/x/history'),
        ):
            assert answer.status_code == 404


@in_loop
async def test_a_task_that_has_ended_otherwise_cannot_be_cancelled():
    runner = quick_skills(SkillRunner(':memory:'), 'job')
    async with running(runner) as http:
        task = (await http.post('/tasks', json=JOB)).json()
        await state_of(http, task['id'], 'completed')
        answer = await http.delete(f'/tasks/{task["id"]}')
        assert answer.status_code == 409
        assert 'COMPLETED' in answer.json()['detail']


@in_loop
async def test_the_list_is_filtered():
    async with alone() as http:
        ids = [(await http.post('/tasks', json=plain(each))).json()['id'] for each in 'ab']
        other = (await http.post('/tasks', json={'name': 'other'})).json()['id']
        await http.delete(f'/tasks/{ids[0]}')

        async def found(query: str) -> list[str]:
            return [task['id'] for task in (await http.get(f'/tasks?{query}')).json()]

        assert await found('live=true') == [ids[1], other]
        assert await found('live=false') == [ids[0]]
        assert await found('name=job') == ids
        assert await found('state=cancelled&state=failed') == [ids[0]]
        assert await found('state=pending&name=other') == [other]
        assert (await http.get('/tasks?state=nowhere')).status_code == 422


@in_loop
async def test_pages_follow_each_other_and_miss_nothing():
    async with alone() as http:
        ids = [(await http.post('/tasks', json=plain(str(n)))).json()['id'] for n in range(7)]
        url, found = '/tasks?limit=3&name=job', []
        while url:
            answer = await http.get(url)
            page = [task['id'] for task in answer.json()]
            found.append(page)
            url = answer.links.get('next', {}).get('url', '')
        assert found == [ids[:3], ids[3:6], ids[6:]]
        assert (await http.get('/tasks?cursor=xyz')).status_code == 422


@in_loop
async def test_a_page_ends_before_it_has_too_many_bytes():
    async with alone() as http:
        new = {**plain('large'), 'metadata': {'text': '火' * 80_000}}
        ids = [(await http.post('/tasks', json=new)).json()['id'] for _ in range(20)]
        url, found = '/tasks', []
        while url:
            answer = await http.get(url)
            assert len(answer.content) < MAX_PAGE_BYTES + 1000
            found.append([task['id'] for task in answer.json()])
            url = answer.links.get('next', {}).get('url', '')
        assert [each for page in found for each in page] == ids
        assert len(found) == 2


@in_loop
async def test_metadata_that_would_take_much_more_memory_than_its_text_is_refused():
    async with alone() as http:
        new = {**plain('nested'), 'metadata': {'x': [[[]]] * 30_000}}
        answer = await http.post('/tasks', json=new)
        assert answer.status_code == 422
        assert 'bytes of memory, at most 1000000' in answer.text
        assert (await http.get('/tasks')).json() == []


@settings(deadline=None)
@given(st.integers(0, 10**18))
def test_a_cursor_comes_back_as_it_was(seq: int):
    assert cursor.decode(cursor.encode(seq)) == seq


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_other_text_is_no_cursor(text: str):
    try:
        seq = cursor.decode(text)
    except ValueError:
        return
    assert cursor.encode(seq) == text


# --- with a robot -----------------------------------------------------------------------------


@in_loop
async def test_with_a_robot_the_arguments_are_those_of_the_skill():
    with FakeRobot() as robot:
        async with with_robot(robot) as http:
            for metadata in ({'duration_s': 1.0}, {'arguments': {'duration_s': 1.0}}):
                answer = await http.post(
                    '/tasks', json={'name': 'turn_left', 'metadata': metadata}
                )
                assert answer.status_code == 201
                assert answer.json()['metadata'] == {
                    'arguments': {'duration_s': 1.0},
                    'origin': 'http',
                }
            text = {'text': 'go to the light'}
            answer = await http.post('/tasks', json={'name': 'react', 'metadata': text})
            assert answer.json()['metadata'] == {**text, 'expects': 'answer', 'origin': 'http'}


@in_loop
@pytest.mark.parametrize(
    ('name', 'metadata', 'named'),
    [
        ('nothing', {}, "'nothing'"),
        ('turn_left', {}, 'duration_s'),
        ('turn_left', {'duration_s': 'x'}, 'duration_s'),
        ('turn_left', {'arguments': {'duration_s': 1.0}, 'outcome': {}}, 'arguments'),
        ('turn_left', {'arguments': 1}, 'arguments'),
        ('react', {'txt': 'x'}, 'react takes'),
    ],
)
async def test_with_a_robot_wrong_arguments_are_a_422(name: str, metadata: dict, named: str):
    with FakeRobot() as robot:
        async with with_robot(robot) as http:
            for path in ('/tasks', '/interrupt'):
                answer = await http.post(path, json={'name': name, 'metadata': metadata})
                assert answer.status_code == 422
                assert named in answer.json()['detail']
            assert (await http.get('/tasks')).json() == []


@in_loop
async def test_with_a_robot_an_unknown_blocker_is_a_422_and_a_broken_file_a_503(
    monkeypatch: pytest.MonkeyPatch,
):
    with FakeRobot() as robot:
        async with with_robot(robot) as http:
            body = {'name': 'mast_close', 'blocked_by': ['nobody']}
            answer = await http.post('/tasks', json=body)
            assert answer.status_code == 422
            assert "'nobody'" in answer.json()['detail']
            full = StoreFull('tasks.db cannot be written: disk is full')
            monkeypatch.setattr(type(robot.runner), 'failed', full)
            answer = await http.post('/tasks', json={'name': 'mast_close'})
            assert answer.status_code == 503
            assert 'disk is full' in answer.json()['detail']
            assert 'disk is full' in (await http.get('/readyz')).json()['detail']
            health = (await http.get('/health')).json()
            assert (health['status'], health['detail']) == ('degraded', str(full))


@in_loop
async def test_nothing_is_submitted_before_the_robot_is_ready():
    with FakeRobot() as robot:
        robot.not_ready = 'the kernel has not begun'
        async with with_robot(robot) as http:
            for path in ('/tasks', '/interrupt'):
                answer = await http.post(path, json={'name': 'mast_close'})
                assert answer.status_code == 503
                assert robot.not_ready in answer.json()['detail']
                assert answer.headers['retry-after'] == '1'
            assert robot.not_ready in (await http.get('/readyz')).json()['detail']
            robot.not_ready = ''
            assert (await http.post('/tasks', json={'name': 'mast_close'})).status_code == 201
            assert (await http.get('/readyz')).status_code == 200


@in_loop
async def test_a_robot_that_does_not_answer_in_time_is_a_503():
    with FakeRobot() as robot:
        async with with_robot(robot) as http:
            robot.deaf = True
            answer = await http.get('/tasks')
            assert answer.status_code == 503
            assert answer.headers['retry-after'] == '1'
            assert 'No answer' in answer.json()['detail']


@settings(deadline=None, max_examples=examples(25))
@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=['Cs']), max_size=5),
        st.recursive(
            st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=5,
        ),
        max_size=4,
    ).filter(lambda value: _is_json(value))
)
def test_any_metadata_comes_back_as_it_was(metadata: dict):
    async def there_and_back() -> None:
        async with alone() as http:
            answer = await http.post('/tasks', json={'name': 'a', 'metadata': metadata})
            assert answer.status_code == 201
            assert answer.json()['metadata'] == metadata

    asyncio.run(there_and_back())


def _is_json(value: dict) -> bool:
    try:
        json_object(value)
    except ValueError:
        return False
    return True
