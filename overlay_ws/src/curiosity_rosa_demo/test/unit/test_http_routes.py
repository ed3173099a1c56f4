# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The routes of the rover and its tasks: what schemathesis (test_http_api.py) cannot know; and
server-sent events: numbered, resumed where a client left off, and nobody is waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import json
from pathlib import Path
import time
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http import streams
from curiosity_rosa_demo.agent.interfaces.http.problems import add_handlers
from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.http.streams import camera_routes, EventFeed, Streams
from curiosity_rosa_demo.agent.interfaces.http.task_routes import MAX_PAGE_BYTES
from curiosity_rosa_demo.agent.tasks import SkillRunner, Task
from curiosity_rosa_demo.agent.tasks.task import StoreError
from curiosity_rosa_demo.domain.adapter_status import NodeStatus
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, BrainState, ReactState
from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.trace.events import ModelCalled
from curiosity_rosa_demo.trace.trace_buffer import EventBus, MAX_EVENTS
from curiosity_rosa_demo.trace.trace_codec import new_event
import cv2
from fake_robot import FakeRobot
from fastapi import FastAPI
from http_world import (
    alone,
    as_page,
    by_http,
    client,
    running,
    settings,
    state_of,
    until,
    Wire,
    wrong_answers,
)
import httpx
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
import numpy as np
import pytest
from runtime_world import RobotBench, RuntimeBench
from skill_world import in_loop, LONG_S, Stage, staged

OP = {'skill': 'move_forward', 'arguments': {'duration_s': 2.0}}
JOB = {'name': 'job', 'priority': 5, 'metadata': {'target': 'kitchen'}}
JSON = {'Content-Type': 'application/json'}
MAST = {'name': 'mast_close'}


@by_http
async def test_a_stop_answers_when_the_rover_was_told_and_needs_neither_the_runtime_nor_a_body(
    robot: FakeRobot, http: Any
):
    robot.stop_gate.clear()
    stopping = asyncio.create_task(http.post('/stop'))
    await until(lambda: robot.stops == ['HTTP'], 'the stop')
    assert (await http.get('/healthz')).status_code == 200  # meanwhile nothing waits
    assert not stopping.done()
    robot.stop_gate.set()
    answer = await asyncio.wait_for(stopping, LONG_S)
    assert (answer.status_code, answer.json()) == (200, {'ok': True, 'answer': 'stopped'})
    robot.deaf = True
    app = create_app(robot)
    async with Wire(app, 'POST', '/stop', content_length='1000') as stop:  # nothing ever comes
        await stop.ended()
    assert stop.status == 200
    robot.deaf = False
    unheard = 'Service unavailable: /adapter/move_stop'
    robot.stop_outcome = Outcome(False, unheard)
    assert await wrong_answers(http, [('POST', '/stop', None, 503, unheard)]) == []


@in_loop
async def test_a_stop_overtakes_a_task_that_was_posted_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    posted = asyncio.Event()
    with RuntimeBench(tmp_path) as bench:
        robot = RobotBench(bench).robot
        call = robot.call

        def told(work: Any) -> Any:
            posted.set()
            return call(work)

        monkeypatch.setattr(robot, 'call', told)
        async with client(create_app(robot)) as http:
            with bench.blocked_loop():
                posting = asyncio.ensure_future(http.post('/tasks', json=MAST))
                await asyncio.wait_for(posted.wait(), LONG_S)
                assert (await http.post('/stop')).status_code == 200
            answer = await asyncio.wait_for(posting, LONG_S)
        assert (answer.status_code, bench.tasks()) == (409, {})
        assert 'A stop came first' in answer.json()['detail']


@by_http
async def test_no_name_blocks_a_stop_and_what_is_done_is_told_with_it(robot: FakeRobot, http: Any):
    for name in ('x' * 5000, '\x00\n\u202e', '(the watchdog)', '%', ''):
        both = {'operator': name, 'client': name}
        assert (await http.post('/stop', params=both)).status_code == 200
    for query in ('operator=a&operator=b&more', 'operator=%ff%fe'):
        assert (await http.post(f'/stop?{query}')).status_code == 200
    assert all(each.isprintable() and len(each) < 60 for each in robot.stops)
    assert robot.stops[1:3] == ['HTTP', 'the watchdog (HTTP)']
    question = robot.ask('Drive 2 s?', OP, [])
    anna = {'operator': 'Anna', 'client': 'page'}
    await http.post('/stop', params=anna)
    assert robot.stops[-1] == 'Anna (page)'
    await http.post('/say', params=anna, json={'text': 'look', 'client': 'console-1'})
    await http.post(f'/approvals/{question.id}', params=anna, json={'action': 'approve'})
    task_id = (await http.post('/tasks', params=anna, json=MAST)).json()['id']
    ended = await http.delete(f'/tasks/{task_id}', params=anna)
    assert ended.json()['reason'] == 'cancelled by Anna (page)'
    assert robot.callers == ['Anna', 'Anna (page)', 'Anna (page)']


@in_loop
async def test_the_console_is_told_who_orders_resumes_and_sets_a_priority(tmp_path: Path):
    anna = {'operator': 'Anna', 'client': 'page'}
    with RuntimeBench(tmp_path) as bench:
        bench.session.release.set()
        app = create_app(RobotBench(bench).robot)
        async with client(app, params=anna) as http:
            as_page(http, app)
            for path in ('/interrupt', '/tasks'):
                bench.said.clear()
                body = {**MAST, 'priority': 1}
                later = {'not_before': '2999-01-01T00:00:00Z'} if path == '/tasks' else {}
                task = (await http.post(path, json={**body, **later})).json()
                asked = (task['asked_by'], task['metadata']['origin'])
                assert asked == ('Anna (page)', 'page'), path
                assert '(page) mast_close, by Anna (page)' in bench.said, path
            url, short = f'/tasks/{task["id"]}', task['id'][:8]
            assert (await http.patch(url, json={'priority': 7})).json()['priority'] == 7
            for change in ('pause', 'resume'):
                assert (await http.post(f'{url}/{change}')).status_code == 200
            assert bench.said[-2:] == [
                f'(http) priority 7 for {short}, by Anna (page)',
                f'(http) resume {short}, by Anna (page)',
            ]


@by_http
async def test_questions_are_listed_with_their_end_and_answered_once(robot: FakeRobot, http: Any):
    question = robot.ask('Drive 2 s?', OP, ['it is near the fence'])
    [shown] = (await http.get('/approvals')).json()
    known = question.model_dump(mode='json', exclude={'op', 'leaves_fence', 'task_id'})
    assert shown == {**known, 'op': OP, 'until': question.asked_at + 300.0}
    plain = robot.ask('Which way?')
    url, other = f'/approvals/{question.id}', f'/approvals/{plain.id}'
    body = {'action': 'edit', 'arguments': {'duration_s': 1.0}, 'why': 'slowly'}
    unfit: list[Any] = [
        ('POST', url[:-1], body, 404, ''),  # a part of its ID
        ('POST', other, {'action': 'edit'}, 422, ''),
        ('POST', other, {'action': 'approve', 'arguments': {}}, 422, ''),
        ('POST', other, {'action': 'APPROVE'}, 422, ''),
        ('POST', other, {}, 422, ''),
        ('POST', other, {'action': 'edit', 'arguments': {}}, 409, ''),  # a plain one has none
    ]
    assert await wrong_answers(http, unfit) == []
    robot.answer_outcome = Outcome(False, 'It is not open any more')
    late = [('POST', url, body, 409, 'It is not open any more')]
    assert await wrong_answers(http, late) == []
    assert robot.answers == []
    robot.answer_outcome = None
    answer = await http.post(url, json=body)
    assert (answer.status_code, answer.json()['ok']) == (200, True)
    await http.post(other, json={'action': 'reject', 'why': 'no'})
    assert robot.answers == [
        (question.id, ApprovalAction.EDIT, {'duration_s': 1.0}, 'slowly'),
        (plain.id, ApprovalAction.REJECT, None, 'no'),
    ]
    again = [('POST', url, {'action': 'approve'}, 404, question.id)]
    assert await wrong_answers(http, again) == []


@by_http
async def test_plan_state_and_a_trace_that_is_bounded_by_its_bytes(robot: FakeRobot, http: Any):
    plan = {'goal': 'look', 'steps': [{'step_id': 1, 'status': 'pending'}]}
    turn = {'goal': 'look', 'plan': plan, 'answer': '', 'ok': False}
    rehearsal = Rehearsal(end=Place(2.0, 0.0, 0.0), metres=2.0, text='2 m')
    for each, shown in ((None, None), (rehearsal, rehearsal.model_dump(mode='json'))):
        robot.brain_state = BrainState(react=ReactState(goal='look', plan=plan, rehearsal=each))
        assert (await http.get('/plan')).json() == {**turn, 'rehearsal': shown}
    state = (await http.get('/state')).json()
    assert BrainState.model_validate(state['brain_state']) == robot.brain_state
    assert [node['name'] for node in state['nodes']] == [each.name for each in robot.nodes]
    for n in range(5):
        robot.trace(TraceKind.ACT if n % 2 else TraceKind.RESULT, f'event {n}')
    for query, numbers in (
        ('count=2', [3, 4]),
        ('kind=ACT', [1, 3]),
        ('kind=ACT&kind=RESULT&count=1', [4]),
    ):
        told = (await http.get(f'/trace?{query}')).json()
        assert [each['message'] for each in told] == [f'event {n}' for n in numbers]
    for n in range(600):
        robot.trace(TraceKind.ACT, f'event {n}', data={'text': '火' * 5_000})
    robot.trace(TraceKind.ACT, 'huge', data={'text': 'x' * 5_000_000})
    answer = await http.get('/trace?count=1000')
    assert 3_900_000 < len(answer.content) < 4_010_000
    assert [each['message'] for each in answer.json()[-3:]] == ['event 598', 'event 599', 'huge']
    assert 'dropped' in answer.json()[-1]['data']


SAFE = BrainState.model_validate({'tasks': {'mode': 'SAFE', 'mode_reason': 'a collision'}})
LATCHED = BrainState.model_validate({'robot': {'safety_latch': 'the e-stop was pressed'}})
SILENT = BrainState.model_validate({'robot': {'silent': ['odometry']}})
GONE = 'Service unavailable: /move_stop'
READY: tuple[tuple[str, Any, str | None], ...] = (
    ('brain_state', SAFE, 'SAFE: a collision'),
    ('brain_state', LATCHED, 'latched until :clear: the e-stop was pressed'),
    ('brain_state', SILENT, 'silent: odometry'),
    ('nodes', [NodeStatus('adapter', False, None)], 'adapter: was never heard'),
    ('nodes', [NodeStatus('adapter', False, 0.1, GONE)], f'adapter: {GONE}'),
    ('nodes', [NodeStatus('simulator', False, 9.0)], 'simulator: is not ok'),
    ('nodes', [NodeStatus('visualizer', False, None)], None),  # only RViz needs it
    ('replay', 'run.mcap, 1 s of 60 s', 'a recording is played: run.mcap, 1 s of 60 s'),
    ('not_ready', 'the kernel has not begun', 'the kernel has not begun'),
)  # fmt: skip


@by_http
async def test_readyz_says_why_no_task_can_be_carried_out(robot: FakeRobot, http: Any):
    for name, value, reason in READY:
        before = getattr(robot, name)
        setattr(robot, name, value)
        answer = await http.get('/readyz')
        assert answer.status_code == (200 if reason is None else 503), name
        assert answer.json().get('reasons') == (None if reason is None else [reason])
        assert (await http.get('/healthz')).status_code == 200
        setattr(robot, name, before)
    assert (await http.get('/readyz')).status_code == 200


@by_http
async def test_a_picture_is_waited_for_and_not_kept_and_an_old_one_is_a_503(
    robot: FakeRobot, http: Any
):
    robot.camera = False
    asking = asyncio.create_task(http.get('/camera.jpg'))
    await asyncio.sleep(0)
    robot.camera = True
    answer = await asyncio.wait_for(asking, LONG_S)
    assert answer.headers['content-type'] == 'image/jpeg'
    assert answer.headers['cache-control'] == 'no-store'
    assert abs(float(answer.headers['x-timestamp']) - time.time()) < LONG_S
    pixels = cv2.imdecode(np.frombuffer(answer.content, np.uint8), cv2.IMREAD_COLOR)
    assert pixels.shape == (240, 320, 3)
    app = FastAPI()
    add_handlers(app)
    app.include_router(camera_routes(robot, Streams(2), 10.0, wait_s=0.0))
    robot.picture_age_s = 60.0
    async with client(app) as impatient:
        for robot.camera, words in ((False, 'No picture of the camera has'), (True, '60 s old')):
            late = [('GET', path, None, 503, words) for path in ('/camera.jpg', '/camera.mjpg')]
            assert await wrong_answers(impatient, late) == []


@in_loop
async def test_each_picture_comes_whole_and_once_and_a_slow_client_gets_fewer():
    with FakeRobot() as robot:
        app = create_app(robot, settings=settings(camera_hz=30.0))
        slow, quick = Wire(app, 'GET', '/camera.mjpg'), Wire(app, 'GET', '/camera.mjpg')

        def pictures(wire: Wire) -> int:
            return wire.body.count(b'--frame')

        async with slow, quick:
            await until(lambda: pictures(slow) >= 3, 'three pictures')
            slow.taking.clear()
            sends, taken = slow.sends, pictures(quick)
            await until(lambda: pictures(quick) > taken + 4, 'four pictures of the other')
            assert slow.sends == sends + 1  # what waits is not heaped up
            slow.taking.set()
            await until(lambda: slow.sends > sends + 2, 'more pictures')
            asked, last = [0], robot.picture()

            def picture(longest_px: int) -> Any:
                asked[0] += 1
                return last

            robot.picture = picture  # type: ignore[method-assign]
            await until(lambda: asked[0] > 2, 'the same picture for both')
            shown = pictures(slow) + pictures(quick)
            await until(lambda: asked[0] > 8, 'the same picture again')
            assert pictures(slow) + pictures(quick) == shown
        for each in slow.body.split(b'--frame\r\n')[1:]:
            head, jpeg = each.split(b'\r\n\r\n', 1)
            assert b'Content-Length: %d\r\n' % (len(jpeg) - 2) in head
            assert jpeg.startswith(b'\xff\xd8')


FIGURES = {
    'curiosity_http_requests_total{code="404",method="GET",route="/tasks/{task_id}"}': 2,
    'curiosity_http_requests_total{code="404",method="GET",route="other"}': 1,
    'curiosity_http_requests_total{code="404",method="other",route="other"}': 1,
    'curiosity_stop_seconds_count': 1,
    'curiosity_trace_events_total{kind="OBSERVE"}': 2,
    'curiosity_model_tokens_total{direction="input",model="m"}': 900,
    'curiosity_model_tokens_total{direction="output",model="m"}': 80,
    'curiosity_model_cost_total{currency="USD",model="m"}': 0.5,
    'curiosity_battery_percent': 42.5,
    'curiosity_mode{mode="IDLE"}': 1,
    'curiosity_mode{mode="EXEC"}': 0,
    'curiosity_event_clients': 0,
    'curiosity_task_events_total{event="submitted"}': 1,
}


@by_http
async def test_the_figures_count_what_happened(robot: FakeRobot, http: Any):
    task = (await http.post('/tasks', json=MAST)).json()
    for method, path in (
        ('GET', '/tasks/one'),
        ('GET', '/tasks/two'),
        ('GET', '/nowhere'),
        ('BREW', '/coffee'),
        ('POST', '/stop'),
    ):
        await http.request(method, path)
    await state_of(http, task['id'], 'completed', 'cancelled')
    robot.trace(TraceKind.OBSERVE, 'seen')
    called = ModelCalled('openai', 'm', 900, 80, 0, 0, False, 0.5, 'USD', '')
    robot.trace(**called.trace_fields('called'))
    robot.brain_state = BrainState.model_validate({'robot': {'battery_pct': 42.5}})
    await http.get('/metrics')  # a second look counts nothing twice
    text = (await http.get('/metrics')).text
    pairs = (line.rsplit(' ', 1) for line in text.splitlines() if not line.startswith('#'))
    found = {name: float(value) for name, value in pairs}
    assert {name: found.get(name) for name in FIGURES} == FIGURES
    ended = [found[f'curiosity_tasks{{state="{each}"}}'] for each in ('completed', 'cancelled')]
    assert sum(ended) == 1


@in_loop
async def test_the_lifespan_runs_the_tasks_and_an_interruption_pauses_them():
    stage = Stage()
    async with running(staged(':memory:', stage)) as http:
        [first] = await submitted(http, 'a')
        await stage.until('begin a')
        health = (await http.get('/health')).json()
        assert (health['status'], health['active_task']['id']) == ('ok', first)
        urgent = (await http.post('/interrupt', json=plain('b'))).json()
        assert (urgent['priority'], urgent['urgent']) == (10, True)
        await stage.until('cleanup a', 'begin b')
        assert (await http.get(f'/tasks/{first}')).json()['state'] == 'paused'
    assert stage.log == ['begin a', 'cleanup a', 'begin b', 'cleanup b']


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
async def test_a_task_is_submitted_found_changed_and_cancelled_without_a_lifespan():
    async with alone() as http:
        answer = await http.post('/tasks', json=JOB)
        task, url = answer.json(), answer.headers['location']
        assert (answer.status_code, url) == (201, f'/tasks/{task["id"]}')
        assert list(task)[:5] == ['id', 'name', 'state', 'priority', 'metadata']
        assert {key: task[key] for key in (*JOB, 'state')} == {**JOB, 'state': 'pending'}
        assert (await http.get(url)).json() == task
        changes = [
            ('POST', f'{url}/pause', None, ('held', True)),
            ('POST', f'{url}/resume', None, ('held', False)),
            ('PATCH', url, {'priority': 7}, ('priority', 7)),
        ]
        for method, path, body, (field, value) in changes:
            assert (await http.request(method, path, json=body)).json()[field] == value
        history = (await http.get(f'{url}/history')).json()
        assert [(row['before'], row['after']) for row in history] == [(None, 'pending')]
        for _ in range(2):
            answer = await http.delete(url)
            assert (answer.status_code, answer.json()['state']) == (200, 'cancelled')
        ended = [(method, path, body, 409, 'CANCELLED') for method, path, body, _ in changes]
        assert await wrong_answers(http, ended) == []


@in_loop
async def test_a_file_that_cannot_be_opened_is_a_503_that_says_why(tmp_path: Path):
    async with alone(SkillRunner(str(tmp_path))) as http:  # a folder
        why = [('POST', '/tasks', JOB, 503, str(tmp_path)), ('GET', '/readyz', None, 503, '')]
        assert await wrong_answers(http, why) == []
        assert (await http.get('/healthz')).status_code == 200
        paths = (await http.get('/openapi.json')).json()['paths']
        for method, path in (('POST', '/stop'), ('GET', '/state'), ('GET', '/camera.jpg')):
            assert path not in paths  # nor is there a robot
            assert (await http.request(method, path)).status_code == 404


MISTAKES: tuple[tuple[dict[str, Any], str], ...] = (
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
)
NO_JSON = (
    b'{"name": "a", "priority": NaN}',
    b'{"name": "a", "metadata": {"b": [NaN]}}',
    b'{"name": "a", "metadata": {"b": ["\\ud800"]}}',
    b'{"name": "a", "metadata": {"b": [1e999]}}',
)
FORM = 'application/x-www-form-urlencoded'


@in_loop
async def test_a_wrong_task_or_list_is_refused_in_words_and_makes_none():
    wrong: list[Any] = [('POST', '/tasks', plain(**row), 422, words) for row, words in MISTAKES]
    wrong += [('POST', '/tasks', body, 422, '') for body in NO_JSON]
    wrong += [
        ('GET', f'/tasks?{query}', None, 422, '')
        for query in ('state=nowhere', 'cursor=xyz', 'order=any')
    ]
    wrong += [
        (method, f'/tasks/nobody{path}', None, 404, "There is no task 'nobody'")
        for method, path in (('GET', ''), ('DELETE', ''), ('GET', '/history'), ('POST', '/pause'))
    ]
    async with alone() as http:
        assert await wrong_answers(http, wrong) == []
        for body in (b'{', b'\xff', b'[' * 20_000):
            answer = await http.post('/tasks', content=body, headers=JSON)
            assert answer.status_code in (400, 422)
        for headers in ({'Content-Type': 'text/plain'}, {'Content-Type': FORM}, {}):
            answer = await http.post('/tasks', content=b'{"name": "job"}', headers=headers)
            assert answer.status_code == answer.json()['status'] == 422
        assert (await http.get('/tasks')).json() == []
        unknown = await http.get('/tasks/nobody')
        assert unknown.headers['content-type'] == 'application/problem+json'
        assert unknown.json() == {
            'type': 'about:blank',
            'title': 'Not Found',
            'status': 404,
            'detail': "There is no task 'nobody'",
            'instance': '/tasks/nobody',
        }


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
        for another in (
            {'name': 'other'},
            {'metadata': {'text': 'Go.'}},
            {'metadata': {'plan': {}}},
        ):
            other = await http.post('/tasks', json={**JOB, **another}, headers=key)
            assert other.status_code == 422
            assert first.json()['id'] in other.json()['detail']
        assert await pages(http, '/tasks') == [[own.id, first.json()['id']]]


@in_loop
async def test_the_list_is_filtered_and_its_pages_follow_each_other_and_have_few_bytes():
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
        ids += await submitted(http, *'34567')
        assert await pages(http, '/tasks?limit=3&name=job') == [ids[:3], ids[3:6], ids[6:]]
        newest = ids[::-1]
        found = await pages(http, '/tasks?limit=3&name=job&order=newest')
        assert found == [newest[:3], newest[3:6], newest[6:]]
        large = {'name': 'large', 'metadata': {'text': '火' * 80_000}}
        ids = [(await http.post('/tasks', json=large)).json()['id'] for _ in range(20)]
        found = await pages(http, '/tasks?name=large')
        assert [each for page in found for each in page] == ids
        assert len(found) == 2


TURN = {'duration_s': 1.0}
OF_SKILLS = (
    ({'name': 'nothing'}, "'nothing'"),
    ({'name': 'turn_left'}, 'duration_s'),
    ({'name': 'turn_left', 'metadata': {'duration_s': 'x'}}, 'duration_s'),
    ({'name': 'turn_left', 'metadata': {'arguments': TURN, 'outcome': {}}}, 'arguments'),
    ({'name': 'turn_left', 'metadata': {'arguments': 1}}, 'arguments'),
    ({'name': 'react', 'metadata': {'txt': 'x'}}, 'react takes'),
)


@by_http
async def test_with_a_robot_the_arguments_are_those_of_the_skill(
    robot: FakeRobot, http: Any, monkeypatch: pytest.MonkeyPatch
):
    posts = ('/tasks', '/interrupt')
    wrong: list[Any] = [
        ('POST', path, body, 422, words) for body, words in OF_SKILLS for path in posts
    ]
    wrong += [
        ('POST', '/tasks', {**MAST, 'blocked_by': ['nobody']}, 422, "'nobody'"),
        ('POST', '/say', {'text': ' '}, 422, ''),
        ('GET', '/trace?kind=act', None, 422, ''),
        ('GET', '/trace?count=0', None, 422, ''),
    ]
    assert await wrong_answers(http, wrong) == []
    assert (robot.lines, (await http.get('/tasks')).json()) == ([], [])
    for name, metadata, kept in (
        ('turn_left', TURN, {'arguments': TURN}),
        ('turn_left', {'arguments': TURN}, {'arguments': TURN}),
        ('react', {'text': 'look'}, {'text': 'look', 'expects': 'answer'}),
    ):
        answer = await http.post('/tasks', json={'name': name, 'metadata': metadata})
        assert answer.status_code == 201
        assert answer.json()['metadata'] == {**kept, 'origin': 'http'}
    robot.not_ready = 'the kernel has not begun'
    for path in posts:
        answer = await http.post(path, json=MAST)
        assert (answer.status_code, answer.headers['retry-after']) == (503, '1')
        assert robot.not_ready in answer.json()['detail']
    robot.not_ready, robot.deaf = '', True
    answer = await http.get('/tasks')
    assert (answer.status_code, answer.headers['retry-after']) == (503, '1')
    assert 'No answer' in answer.json()['detail']
    robot.deaf = False
    full = StoreError('tasks.db cannot be written: disk is full')
    monkeypatch.setattr(type(robot.runner), 'failed', full)
    down = [('POST', '/tasks', MAST, 503, str(full)), ('GET', '/readyz', None, 503, str(full))]
    assert await wrong_answers(http, down) == []
    health = (await http.get('/health')).json()
    assert (health['status'], health['detail']) == ('degraded', str(full))


def read(body: bytes) -> list[dict[str, Any]]:
    """The events of a stream; comments and ``retry`` are left out."""
    events = []
    for block in body.decode().split('\n\n')[:-1]:
        fields = dict(
            line.split(': ', 1) for line in block.split('\n') if not line.startswith(':')
        )
        if 'data' in fields:
            events.append({**fields, 'data': json.loads(fields['data'])})
    return events


async def missed(bus: EventBus, last_id: Callable[[EventFeed], str]) -> list[dict[str, Any]]:
    """What a client gets at once that comes back with ``last_id``."""
    feed = EventFeed(bus)
    feed.close()
    return read(b''.join([each.encode() async for each in feed.events(last_id(feed))]))


@in_loop
async def test_trace_events_and_task_events_come_as_they_happen():
    with FakeRobot() as robot:
        app = create_app(robot)
        async with client(app) as http, Wire(app, 'GET', '/events') as wire:
            await wire.got('retry: 2000\n\n')
            told = robot.trace(TraceKind.OBSERVE, 'hello\nworld: \u4f60\u597d')
            await wire.got(told.event_id)
            task = (await http.post('/tasks', json={'name': 'mast_close'})).json()
            await wire.got('task_complete')
        events = read(wire.body)
        assert wire.status == 200
        assert events[0]['event'] == 'trace'
        assert events[0]['data'] == told.model_dump(mode='json')
        states = [
            (each['data']['type'], each['data'].get('after'))
            for each in events
            if each['event'] == 'task' and each['data']['task_id'] == task['id']
        ]
        assert states == [
            ('task_submit', None),
            ('task_state', 'active'),
            ('task_complete', 'completed'),
        ]
        numbers = [int(each['id'].rpartition('-')[2]) for each in events]
        assert numbers == list(range(numbers[0], numbers[0] + len(events)))


LAST_IDS = st.text(max_size=30) | st.from_regex(r'[0-9a-f]{8}-[0-9]{1,25}', fullmatch=True)


@hypothesis_settings(deadline=None)
@given(st.integers(1, 20), st.integers(0, 40), st.integers(0, 45), LAST_IDS)
def test_what_is_missed_is_what_is_kept_after_the_last_id(
    kept: int, told: int, seen: int, foreign: str
):
    bus = EventBus(max_events=kept)
    for _ in range(told):
        bus.publish(new_event(TraceKind.ACT, 'x'))
    if told > kept and foreign:  # any other ID gets all that is kept, and is told of the gap
        events = asyncio.run(missed(bus, lambda feed: foreign))
        assert [each['event'] for each in events] == ['gap', *['trace'] * kept]
    events = asyncio.run(missed(bus, lambda feed: f'{feed.process}-{seen}'))
    expected = range(max(seen, told - kept) + 1, told + 1) if seen <= told else range(1, told + 1)
    numbers = [int(each['id'].rpartition('-')[2]) for each in events if 'id' in each]
    assert numbers == list(expected)[-kept:]
    lost = seen > told or seen < told - kept
    assert [each['event'] for each in events].count('gap') == lost
    if lost:
        assert events[0]['event'] == 'gap'


@in_loop
async def test_a_client_that_takes_nothing_loses_events_and_the_others_get_everything(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(streams, 'SEND_TIMEOUT_S', 1000.0)  # it is not disconnected
    with FakeRobot() as robot:
        app = create_app(robot)
        slow, quick = Wire(app, 'GET', '/events'), Wire(app, 'GET', '/events')
        async with slow, quick:
            await slow.got('retry')
            await quick.got('retry')
            slow.taking.clear()
            for n in range(MAX_EVENTS + 100):
                robot.trace(TraceKind.OBSERVE, f'event {n}.')
                if n % 50 == 0:  # as slow as a quick client reads
                    await quick.got(f'event {n}.')
            last = f'event {MAX_EVENTS + 99}.'
            await quick.got(last)
            slow.taking.set()
            await slow.got(last)
        assert len(read(quick.body)) == MAX_EVENTS + 100
        kinds = [each['event'] for each in read(slow.body)]
        assert kinds.count('gap') == 1
        assert kinds.count('trace') < MAX_EVENTS + 100


@in_loop
async def test_streams_leave_room_for_requests_and_end_with_their_client_or_the_app(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(streams, 'SEND_TIMEOUT_S', 0.05)
    with FakeRobot() as robot:
        app = create_app(robot, settings=settings(max_connections=4))
        last = Wire(app, 'GET', '/events')
        async with app.router.lifespan_context(app):
            async with client(app) as http:
                one, two = Wire(app, 'GET', '/events'), Wire(app, 'GET', '/camera.mjpg')
                async with one, two:
                    await one.got('retry')
                    await two.got('--frame')
                    for path in ('/events', '/camera.mjpg'):
                        answer = await http.get(path)
                        assert answer.status_code == 503
                        assert '2 streams' in answer.json()['detail']
                    assert (await http.post('/stop')).status_code == 200
                    assert 'curiosity_event_clients 1.0' in (await http.get('/metrics')).text
                    one.leave()  # as the event of the stop wakes it
                    await one.ended()
                    assert 'curiosity_event_clients 0.0' in (await http.get('/metrics')).text
                    two.taking.clear()  # a send that hangs is given up
                    await two.ended()
            await last.__aenter__()  # a seat is free again
            await last.got('retry')
        await last.ended()
        robot.trace(TraceKind.OBSERVE, 'late')
        assert b'late' not in last.body
