# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The tasks by HTTP."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone
import json
from pathlib import Path

from curiosity_rosa_demo.agent.interfaces.http import cursor
from curiosity_rosa_demo.agent.interfaces.http.task_routes import MAX_PAGE_BYTES
from curiosity_rosa_demo.agent.tasks import SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.task import StoreFull
from curiosity_rosa_demo.domain.models import json_object
from examples import examples
from fake_robot import FakeRobot
from http_world import alone, quick_skills, running, state_of, with_robot
import httpx
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from skill_world import in_loop, Stage, staged

JOB = {'name': 'job', 'priority': 5, 'metadata': {'target': 'kitchen'}}
JSON = {'Content-Type': 'application/json'}


def plain(text: str = 'a', **fields: object) -> dict[str, object]:
    return {'name': 'job', 'metadata': {'title': text}, **fields}


async def submitted(http: httpx.AsyncClient, *names: str) -> list[str]:
    """Their IDs."""
    return [(await http.post('/tasks', json=plain(name))).json()['id'] for name in names]


async def pages(http: httpx.AsyncClient, url: str) -> list[list[str]]:
    """The IDs of a list, page by page."""
    found = []
    while url:
        answer = await http.get(url)
        assert len(answer.content) < MAX_PAGE_BYTES + 1000
        found.append([task['id'] for task in answer.json()])
        url = answer.links.get('next', {}).get('url', '')
    return found


@in_loop
async def test_a_task_is_submitted_found_and_cancelled_without_a_lifespan():
    async with alone() as http:
        answer = await http.post('/tasks', json=JOB)
        task, url = answer.json(), answer.headers['location']
        assert (answer.status_code, url) == (201, f'/tasks/{task["id"]}')
        assert list(task)[:5] == ['id', 'name', 'state', 'priority', 'metadata']
        assert {key: task[key] for key in (*JOB, 'state')} == {**JOB, 'state': 'pending'}
        assert (await http.get(url)).json() == task
        for _ in range(2):
            answer = await http.delete(url)
            assert (answer.status_code, answer.json()['state']) == (200, 'cancelled')
        assert (await http.get(url)).json()['state'] == 'cancelled'


@in_loop
async def test_an_unknown_task_is_a_404_that_names_it():
    async with alone() as http:
        for method, path in (('GET', ''), ('DELETE', ''), ('GET', '/history'), ('POST', '/pause')):
            answer = await http.request(method, f'/tasks/nobody{path}')
            assert answer.headers['content-type'] == 'application/problem+json'
            assert answer.json() == {
                'type': 'about:blank',
                'title': 'Not Found',
                'status': 404,
                'detail': "There is no task 'nobody'",
                'instance': f'/tasks/nobody{path}',
            }


@in_loop
async def test_metadata_goes_to_the_skill_and_what_it_adds_comes_back():
    async with running(quick_skills(SkillRunner(':memory:'), 'job')) as http:
        task = (await http.post('/tasks', json=JOB)).json()
        task = await state_of(http, task['id'], 'completed')
        assert task['metadata'] == {'target': 'kitchen', 'done': True}
        answer = await http.delete(f'/tasks/{task["id"]}')
        assert (answer.status_code, 'COMPLETED' in answer.json()['detail']) == (409, True)


@in_loop
async def test_a_cancellation_says_so_and_a_function_can_be_registered():
    runner = SkillRunner(':memory:')

    async def job(task: Task) -> None:
        await asyncio.Event().wait()

    runner.register('job', job, resources=())
    with pytest.raises(ValueError, match='job'):
        runner.register('job', job)
    async with running(runner) as http:
        task = (await http.post('/tasks', json=JOB)).json()
        await state_of(http, task['id'], 'active')
        answer = (await http.delete(f'/tasks/{task["id"]}')).json()
        assert (answer['id'], answer['state'], answer['cancelled']) == (
            task['id'],
            'cancelled',
            True,
        )


@in_loop
async def test_the_lifespan_runs_the_tasks_and_an_interruption_pauses_them():
    stage = Stage()
    async with running(staged(':memory:', stage)) as http:
        assert (await http.get('/health')).json()['active_task'] is None
        [first] = await submitted(http, 'a')
        await stage.until('begin a')
        health = (await http.get('/health')).json()
        assert (health['status'], health['active_task']['id']) == ('ok', first)
        assert len(health['active_tasks']) == 1
        urgent = await http.post('/interrupt', json=plain('b'))
        assert urgent.status_code == 201
        assert (urgent.json()['priority'], urgent.json()['urgent']) == (10, True)
        await stage.until('cleanup a', 'begin b')
        assert (await http.get(f'/tasks/{first}')).json()['state'] == 'paused'
    assert stage.log == ['begin a', 'cleanup a', 'begin b', 'cleanup b']


@in_loop
async def test_a_runner_that_somebody_else_has_started_is_left_to_him():
    stage = Stage()
    runner = staged(':memory:', stage)
    await runner.start()
    loop = asyncio.create_task(runner.run_loop())
    async with running(runner) as http:
        [task] = await submitted(http, 'a')
        await stage.until('begin a')
    known = runner.get_task(task)
    assert known is not None
    assert known.state.value == 'active'
    await runner.stop()
    await loop


@in_loop
async def test_a_file_that_cannot_be_opened_is_a_503_that_says_why(tmp_path: Path):
    async with alone(SkillRunner(str(tmp_path))) as http:  # a folder
        answer = await http.post('/tasks', json=JOB)
        assert answer.status_code == 503
        assert str(tmp_path) in answer.json()['detail']
        assert (await http.get('/readyz')).status_code == 503
        assert (await http.get('/healthz')).status_code == 200


@in_loop
async def test_a_task_waits_for_others_for_its_time_and_for_approval():
    at = (datetime.now(timezone.utc) + timedelta(hours=1)).isoformat().replace('+00:00', 'Z')
    async with alone() as http:
        [first] = await submitted(http, 'a')
        for fields in (
            {'blocked_by': [first], 'deadline_s': 9.5, 'max_retries': 2},
            {'not_before': at},
            {'needs_approval': True},
        ):
            answer = await http.post('/tasks', json=plain('b', **fields))
            assert (answer.status_code, answer.json()['state']) == (201, 'waiting')
            assert {key: answer.json()[key] for key in fields} == fields


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
        ({'metadata': {'x': [[[]]] * 30_000}}, 'bytes of memory, at most 1000000'),
        ({'idempotency_key': 'x'}, 'idempotency_key'),
    ],
    ids=str,
)
async def test_what_is_wrong_with_a_task_is_a_422_that_names_it(fields: dict, named: str):
    async with alone() as http:
        answer = await http.post('/tasks', json=plain(**fields))
        assert answer.status_code == 422
        assert named in answer.json()['detail']
        assert (await http.get('/tasks')).json() == []


@in_loop
@pytest.mark.parametrize(
    ('body', 'headers'),
    [
        (b'{', JSON),
        (b'\xff', JSON),
        (b'[' * 20_000, JSON),
        (b'{"name": "a", "priority": NaN}', JSON),
        (b'{"name": "a", "metadata": {"b": [NaN]}}', JSON),
        (b'{"name": "a", "metadata": {"b": ["\\ud800"]}}', JSON),
        (b'{"name": "a", "metadata": {"b": [1e999]}}', JSON),
        (b'{"name": "job"}', {'Content-Type': 'text/plain'}),
        (b'{"name": "job"}', {'Content-Type': 'application/x-www-form-urlencoded'}),
        (b'{"name": "job"}', {}),
    ],
)
async def test_a_body_that_is_no_json_or_does_not_say_so_is_refused(body: bytes, headers: dict):
    async with alone() as http:
        answer = await http.post('/tasks', content=body, headers=headers)
        nested_or_torn = body in (b'{', b'\xff', b'[' * 20_000)
        assert answer.status_code in ((400, 422) if nested_or_torn else (422,))
        assert answer.json()['status'] == answer.status_code
        assert (await http.get('/tasks')).json() == []


@in_loop
async def test_an_idempotency_key_makes_one_task_and_none_of_the_agent_itself():
    runner = SkillRunner(':memory:')
    async with alone(runner) as http:
        await http.get('/tasks')
        own = await runner.submit(Task('job', idempotency_key='k'))
        key = {'Idempotency-Key': 'k'}
        first = await http.post('/tasks', json=JOB, headers=key)
        second = await http.post('/tasks', json=JOB, headers=key)
        assert (first.status_code, second.status_code) == (201, 200)
        assert first.json() == second.json()
        other = await http.post('/tasks', json={**JOB, 'name': 'other'}, headers=key)
        assert other.status_code == 422
        assert first.json()['id'] in other.json()['detail']
        assert await pages(http, '/tasks') == [[own.id, first.json()['id']]]


@in_loop
async def test_pause_resume_and_priority_until_it_has_ended():
    async with alone() as http:
        [task] = await submitted(http, 'a')
        url = f'/tasks/{task}'
        changes = [
            ('POST', f'{url}/pause', None, ('held', True)),
            ('POST', f'{url}/resume', None, ('held', False)),
            ('PATCH', url, {'priority': 7}, ('priority', 7)),
        ]
        for method, path, body, (field, value) in changes:
            assert (await http.request(method, path, json=body)).json()[field] == value
        history = (await http.get(f'{url}/history')).json()
        assert [(row['before'], row['after']) for row in history] == [(None, 'pending')]
        await http.delete(url)
        for method, path, body, _ in changes:
            answer = await http.request(method, path, json=body)
            assert (answer.status_code, 'CANCELLED' in answer.json()['detail']) == (409, True)


@in_loop
async def test_the_list_is_filtered():
    async with alone() as http:
        ids = await submitted(http, 'a', 'b')
        other = (await http.post('/tasks', json={'name': 'other'})).json()['id']
        await http.delete(f'/tasks/{ids[0]}')
        for query, found in (
            ('', [*ids, other]),
            ('live=true', [ids[1], other]),
            ('live=false', [ids[0]]),
            ('name=job', ids),
            ('state=cancelled&state=failed', [ids[0]]),
            ('state=pending&name=other', [other]),
        ):
            assert await pages(http, f'/tasks?{query}') == [found], query
        for wrong in ('state=nowhere', 'cursor=xyz', 'order=any'):
            assert (await http.get(f'/tasks?{wrong}')).status_code == 422


@in_loop
async def test_pages_follow_each_other_miss_nothing_and_have_few_bytes():
    async with alone() as http:
        ids = await submitted(http, *'1234567')
        assert await pages(http, '/tasks?limit=3&name=job') == [ids[:3], ids[3:6], ids[6:]]
        newest = ids[::-1]
        found = await pages(http, '/tasks?limit=3&name=job&order=newest')
        assert found == [newest[:3], newest[3:6], newest[6:]]
        large = {'name': 'large', 'metadata': {'text': '火' * 80_000}}
        ids = [(await http.post('/tasks', json=large)).json()['id'] for _ in range(20)]
        found = await pages(http, '/tasks?name=large')
        assert [each for page in found for each in page] == ids
        assert len(found) == 2


@given(st.text(max_size=60) | st.integers(0, 10**18).map(cursor.encode))
def test_a_text_is_a_cursor_or_refused(text: str):
    try:
        seq = cursor.decode(text)
    except ValueError:
        return
    assert cursor.encode(seq) == text


@given(st.integers(0, 10**18))
def test_a_cursor_comes_back_as_it_was(seq: int):
    assert cursor.decode(cursor.encode(seq)) == seq


# --- with a robot -----------------------------------------------------------------------------


@in_loop
@pytest.mark.parametrize(
    ('name', 'metadata', 'kept'),
    [
        ('turn_left', {'duration_s': 1.0}, {'arguments': {'duration_s': 1.0}}),
        ('turn_left', {'arguments': {'duration_s': 1.0}}, {'arguments': {'duration_s': 1.0}}),
        ('react', {'text': 'look'}, {'text': 'look', 'expects': 'answer'}),
    ],
)
async def test_with_a_robot_the_arguments_are_those_of_the_skill(
    name: str, metadata: dict, kept: dict
):
    with FakeRobot() as robot:
        async with with_robot(robot) as http:
            answer = await http.post('/tasks', json={'name': name, 'metadata': metadata})
            assert answer.status_code == 201
            assert answer.json()['metadata'] == {**kept, 'origin': 'http'}


@in_loop
@pytest.mark.parametrize(
    ('body', 'named'),
    [
        ({'name': 'nothing'}, "'nothing'"),
        ({'name': 'turn_left'}, 'duration_s'),
        ({'name': 'turn_left', 'metadata': {'duration_s': 'x'}}, 'duration_s'),
        (
            {'name': 'turn_left', 'metadata': {'arguments': {'duration_s': 1.0}, 'outcome': {}}},
            'arguments',
        ),
        ({'name': 'turn_left', 'metadata': {'arguments': 1}}, 'arguments'),
        ({'name': 'react', 'metadata': {'txt': 'x'}}, 'react takes'),
    ],
    ids=str,
)
async def test_with_a_robot_a_wrong_task_is_a_422(body: dict, named: str):
    with FakeRobot() as robot:
        async with with_robot(robot) as http:
            for path in ('/tasks', '/interrupt'):
                answer = await http.post(path, json=body)
                assert answer.status_code == 422
                assert named in answer.json()['detail']
            assert (await http.get('/tasks')).json() == []


@in_loop
async def test_with_a_robot_an_unknown_blocker_is_a_422_and_a_full_disk_a_503(
    monkeypatch: pytest.MonkeyPatch,
):
    with FakeRobot() as robot:
        async with with_robot(robot) as http:
            body = {'name': 'mast_close', 'blocked_by': ['nobody']}
            answer = await http.post('/tasks', json=body)
            assert (answer.status_code, "'nobody'" in answer.json()['detail']) == (422, True)
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
                assert (answer.status_code, answer.headers['retry-after']) == (503, '1')
                assert robot.not_ready in answer.json()['detail']
            robot.not_ready = ''
            assert (await http.post('/tasks', json={'name': 'mast_close'})).status_code == 201


@in_loop
async def test_a_robot_that_does_not_answer_in_time_is_a_503():
    with FakeRobot() as robot:
        async with with_robot(robot) as http:
            robot.deaf = True
            answer = await http.get('/tasks')
            assert (answer.status_code, answer.headers['retry-after']) == (503, '1')
            assert 'No answer' in answer.json()['detail']


letters = st.text(st.characters(exclude_categories=['Cs']), max_size=5)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None, max_examples=examples(25))
@given(st.dictionaries(letters, values, max_size=4))
def test_any_metadata_comes_back_as_it_was_or_is_refused(metadata: dict):
    try:
        json_object(metadata)
        fits = True
    except ValueError:
        fits = False

    async def there_and_back() -> None:
        async with alone() as http:
            body = json.dumps({'name': 'a', 'metadata': metadata})
            answer = await http.post('/tasks', content=body, headers=JSON)
            assert answer.status_code == (201 if fits else 422)
            assert not fits or answer.json()['metadata'] == metadata

    asyncio.run(there_and_back())
