# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rover by HTTP: stop, say, approvals, plan, state, trace, camera, figures."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http import server
from curiosity_rosa_demo.agent.interfaces.http.camera import camera_routes
from curiosity_rosa_demo.agent.interfaces.http.event_stream import ConnectionSlots
from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.tasks import SkillRunner
from curiosity_rosa_demo.domain.adapter_status import NodeStatus
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, BrainState, ReactState
from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.outcome import Outcome
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.trace.events import ModelCalled
import cv2
from fake_robot import FakeRobot
from fastapi import FastAPI
from http_world import alone, client, settings, state_of, until, Wire, with_robot
import numpy as np
import pytest
from skill_world import in_loop, LONG_S

OP = {'skill': 'move_forward', 'arguments': {'duration_s': 2.0}}


# --- stop and say ------------------------------------------------------------------------------


@in_loop
async def test_a_stop_answers_only_when_the_rover_was_told():
    with FakeRobot() as robot:
        async with with_robot(robot) as http:
            robot.stop_gate.clear()
            stopping = asyncio.create_task(http.post('/stop'))
            await until(lambda: robot.stops == ['HTTP'], 'the stop')
            assert (await http.get('/healthz')).status_code == 200  # meanwhile nothing waits
            assert not stopping.done()
            robot.stop_gate.set()
            answer = await asyncio.wait_for(stopping, LONG_S)
            assert (answer.status_code, answer.json()) == (200, {'ok': True, 'answer': 'stopped'})


@in_loop
async def test_what_is_done_is_told_with_the_name_of_who_did_it():
    with FakeRobot() as robot:
        question = robot.ask('Drive 2 s?', OP, [])
        anna = {'operator': 'Anna', 'client': 'page'}
        async with with_robot(robot) as http:
            await http.post('/stop', params=anna)
            assert robot.stops == ['Anna (page)']
            await http.post('/say', params=anna, json={'text': 'look', 'client': 'console-1'})
            answer = {'action': 'approve'}
            await http.post(f'/approvals/{question.id}', params=anna, json=answer)
            task = {'name': 'mast_close'}
            task_id = (await http.post('/tasks', params=anna, json=task)).json()['id']
            ended = await http.delete(f'/tasks/{task_id}', params=anna)
            assert ended.json()['reason'] == 'cancelled by Anna (page)'
        assert robot.callers == ['Anna', '', 'Anna (page)', 'Anna (page)']


@in_loop
async def test_no_name_blocks_a_stop():
    names = ['x' * 5000, '\x00\n\u202e', '(the watchdog)', '%', '']
    with FakeRobot() as robot:
        async with with_robot(robot) as http:
            for name in names:
                both = {'operator': name, 'client': name}
                assert (await http.post('/stop', params=both)).status_code == 200
            assert (await http.post('/stop?operator=a&operator=b&more')).status_code == 200
            assert (await http.post('/stop?operator=%ff%fe')).status_code == 200
        assert all(each.isprintable() and len(each) < 60 for each in robot.stops)
        assert robot.stops[1:3] == ['HTTP', 'the watchdog (HTTP)']


@in_loop
async def test_a_stop_that_the_rover_did_not_hear_is_no_success():
    with FakeRobot() as robot:
        robot.stop_outcome = Outcome(False, 'Service unavailable: /adapter/move_stop')
        async with with_robot(robot) as http:
            answer = await http.post('/stop')
            assert answer.status_code == 503
            assert answer.json()['detail'] == 'Service unavailable: /adapter/move_stop'


@in_loop
async def test_a_stop_needs_neither_the_runtime_nor_a_body_that_ends():
    with FakeRobot() as robot:
        app = create_app(robot.runner, robot=robot)
        robot.deaf = True
        stop = Wire(app, 'POST', '/stop', content_length='1000')  # of which nothing ever comes
        async with stop:
            await stop.ended()
        assert stop.status == 200
        robot.deaf = False


@in_loop
async def test_what_is_said_is_answered_as_at_the_console():
    with FakeRobot() as robot:
        async with with_robot(robot) as http:
            said = await http.post('/say', json={'text': ':nonsense'})
            assert said.status_code == 200
            assert said.json() == {
                'ok': False,
                'words': 'There is no command :nonsense; :help shows them',
                'task': None,
            }
            assert (await http.post('/say', json={'text': ' '})).status_code == 422
            assert robot.lines == [':nonsense']
            stop = await http.post('/say', json={'text': ':stop'})
            assert stop.json() == {'ok': True, 'words': 'stopped', 'task': None}
            robot.deaf_to.add('read_task')  # no failure of what was said
            said = await http.post('/say', json={'text': 'go to the light'})
            assert (said.status_code, said.json()['task']) == (200, None)
            robot.deaf_to.clear()
            assert len((await http.get('/tasks')).json()) == 1


# --- approvals ---------------------------------------------------------------------------------


@in_loop
async def test_questions_are_listed_with_their_end_and_answered_once():
    with FakeRobot() as robot:
        question = robot.ask('Drive 2 s?', OP, ['it is near the fence'])
        async with with_robot(robot) as http:
            [shown] = (await http.get('/approvals')).json()
            assert shown == {
                **question.model_dump(mode='json', exclude={'op', 'leaves_fence'}),
                'op': OP,
                'until': question.asked_at + 300.0,
            }
            url = f'/approvals/{question.id}'
            body = {'action': 'edit', 'arguments': {'duration_s': 1.0}, 'why': 'slowly'}
            assert (await http.post(url[:-1], json=body)).status_code == 404  # a part of its ID
            robot.answer_outcome = Outcome(False, 'It is not open any more')
            late = await http.post(url, json=body)
            assert (late.status_code, late.json()['detail']) == (409, 'It is not open any more')
            assert robot.answers == []
            robot.answer_outcome = None
            answer = await http.post(url, json=body)
            assert (answer.status_code, answer.json()['ok']) == (200, True)
            edited = (question.id, ApprovalAction.EDIT, {'duration_s': 1.0}, 'slowly')
            assert robot.answers == [edited]
            again = await http.post(url, json={'action': 'approve'})
            assert again.status_code == 404
            assert question.id in again.json()['detail']


@in_loop
async def test_an_answer_that_does_not_fit_changes_nothing():
    with FakeRobot() as robot:
        plain = robot.ask('Which way?')
        async with with_robot(robot) as http:
            for body, status in (
                ({'action': 'edit'}, 422),
                ({'action': 'approve', 'arguments': {}}, 422),
                ({'action': 'APPROVE'}, 422),
                ({}, 422),
                ({'action': 'edit', 'arguments': {}}, 409),  # a plain question has none
            ):
                answer = await http.post(f'/approvals/{plain.id}', json=body)
                assert answer.status_code == status, body
            assert robot.answers == []
            await http.post(f'/approvals/{plain.id}', json={'action': 'reject', 'why': 'no'})
            assert robot.answers == [(plain.id, ApprovalAction.REJECT, None, 'no')]


# --- what is known -----------------------------------------------------------------------------


@in_loop
async def test_the_trace_is_bounded_by_its_bytes_and_the_newest_events_remain():
    with FakeRobot() as robot:
        for n in range(600):
            robot.trace(TraceKind.ACT, f'event {n}', data={'text': '火' * 5_000})
        robot.trace(TraceKind.ACT, 'huge', data={'text': 'x' * 5_000_000})
        async with with_robot(robot) as http:
            answer = await http.get('/trace?count=1000')
            assert 3_900_000 < len(answer.content) < 4_010_000
            found = answer.json()
            assert found[-1]['message'] == 'huge'
            assert 'dropped' in found[-1]['data']
            assert [each['message'] for each in found[-3:-1]] == ['event 598', 'event 599']


SAFE_STATE = BrainState.model_validate({'tasks': {'mode': 'SAFE', 'mode_reason': 'a collision'}})
LATCHED = BrainState.model_validate({'robot': {'safety_latch': 'the e-stop was pressed'}})
SILENT = BrainState.model_validate({'robot': {'silent': ['odometry']}})


@pytest.mark.parametrize(
    ('change', 'reason'),
    [
        ({'brain_state': SAFE_STATE}, 'SAFE: a collision'),
        ({'brain_state': LATCHED}, 'latched until :clear: the e-stop was pressed'),
        ({'brain_state': SILENT}, 'silent: odometry'),
        ({'nodes': [NodeStatus('adapter', False, None)]}, 'adapter: was never heard'),
        (
            {'nodes': [NodeStatus('adapter', False, 0.1, 'Service unavailable: /move_stop')]},
            'adapter: Service unavailable: /move_stop',
        ),
        ({'nodes': [NodeStatus('simulator', False, 9.0)]}, 'simulator: is not ok'),
        ({'nodes': [NodeStatus('visualizer', False, None)]}, None),  # only RViz needs it
        ({'replay': 'run.mcap, 1 s of 60 s'}, 'a recording is played: run.mcap, 1 s of 60 s'),
        ({'not_ready': 'the kernel has not begun'}, 'the kernel has not begun'),
        ({}, None),
    ],
)
def test_readyz_says_why_no_task_can_be_carried_out(change: dict[str, Any], reason: str | None):
    async def ask() -> None:
        with FakeRobot() as robot:
            vars(robot).update(change)
            async with with_robot(robot) as http:
                answer = await http.get('/readyz')
                assert answer.status_code == (200 if reason is None else 503)
                assert answer.json().get('reasons') == (None if reason is None else [reason])
                assert (await http.get('/healthz')).status_code == 200

    asyncio.run(ask())


@in_loop
async def test_plan_state_and_trace():
    with FakeRobot() as robot:
        plan = {'goal': 'look', 'steps': [{'step_id': 1, 'status': 'pending'}]}
        robot.brain_state = BrainState(react=ReactState(goal='look', plan=plan))
        for n in range(5):
            robot.trace(TraceKind.ACT if n % 2 else TraceKind.RESULT, f'event {n}')
        async with with_robot(robot) as http:
            shown = (await http.get('/plan')).json()
            of_the_turn = {'goal': 'look', 'plan': plan, 'answer': '', 'ok': False}
            assert shown == {**of_the_turn, 'rehearsal': None}
            rehearsal = Rehearsal(end=Place(2.0, 0.0, 0.0), metres=2.0, text='2 m')
            react = robot.brain_state.react.model_copy(update={'rehearsal': rehearsal})
            robot.brain_state = BrainState(react=react)
            shown = (await http.get('/plan')).json()
            assert shown == {**of_the_turn, 'rehearsal': rehearsal.model_dump(mode='json')}
            state = (await http.get('/state')).json()
            assert BrainState.model_validate(state['brain_state']) == robot.brain_state
            assert [node['name'] for node in state['nodes']] == [each.name for each in robot.nodes]

            async def traced(query: str) -> list[str]:
                return [each['message'] for each in (await http.get(f'/trace?{query}')).json()]

            assert await traced('count=2') == ['event 3', 'event 4']
            assert await traced('kind=ACT') == ['event 1', 'event 3']
            assert await traced('kind=ACT&kind=RESULT&count=1') == ['event 4']
            assert (await http.get('/trace?kind=act')).status_code == 422
            assert (await http.get('/trace?count=0')).status_code == 422


@in_loop
async def test_without_a_robot_its_routes_are_neither_there_nor_described():
    async with alone() as http:
        paths = (await http.get('/openapi.json')).json()['paths']
        assert '/tasks' in paths
        for method, path in (('POST', '/stop'), ('GET', '/state'), ('GET', '/camera.jpg')):
            assert path not in paths
            assert (await http.request(method, path)).status_code == 404


# --- camera ------------------------------------------------------------------------------------


@in_loop
async def test_a_picture_comes_as_it_is_and_is_not_kept():
    with FakeRobot() as robot:
        async with with_robot(robot) as http:
            answer = await http.get('/camera.jpg')
            assert answer.headers['content-type'] == 'image/jpeg'
            assert answer.headers['cache-control'] == 'no-store'
            assert abs(float(answer.headers['x-timestamp']) - time.time()) < LONG_S
            pixels = cv2.imdecode(np.frombuffer(answer.content, np.uint8), cv2.IMREAD_COLOR)
            assert pixels.shape == (240, 320, 3)


@in_loop
@pytest.mark.parametrize('path', ['/camera.jpg', '/camera.mjpg'])
async def test_no_picture_and_an_old_one_are_both_a_503(path: str):
    with FakeRobot() as robot:
        app = FastAPI()
        server.problems.add_handlers(app)
        app.include_router(camera_routes(robot, ConnectionSlots(2), 10.0, wait_s=0.0))
        async with client(app) as http:
            robot.camera = False
            answer = await http.get(path)
            assert answer.status_code == 503
            assert 'No picture of the camera has come' in answer.json()['detail']
            robot.camera, robot.picture_age_s = True, 60.0
            answer = await http.get(path)
            assert answer.status_code == 503
            assert '60 s old' in answer.json()['detail']


@in_loop
async def test_a_camera_that_is_just_switched_on_is_waited_for():
    with FakeRobot() as robot:
        robot.camera = False
        async with with_robot(robot) as http:
            asking = asyncio.create_task(http.get('/camera.jpg'))
            await asyncio.sleep(0)
            robot.camera = True
            assert (await asyncio.wait_for(asking, LONG_S)).status_code == 200


@in_loop
async def test_each_picture_comes_whole_and_once_and_a_slow_client_gets_fewer():
    with FakeRobot() as robot:
        app = create_app(robot.runner, robot=robot, settings=settings(camera_hz=30.0))
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

            def picture() -> Any:
                asked[0] += 1
                return last

            robot.picture = picture  # type: ignore[method-assign]
            await until(lambda: asked[0] > 2, 'the same picture for both')
            shown = pictures(slow) + pictures(quick)
            await until(lambda: asked[0] > 8, 'the same picture again')
            assert pictures(slow) + pictures(quick) == shown
        head, *parts = slow.body.split(b'--frame\r\n')
        assert head == b''
        for each in parts:
            found = re.match(rb'Content-Type: image/jpeg\r\nContent-Length: (\d+)\r\n', each)
            assert found
            jpeg = each.split(b'\r\n\r\n', 1)[1]
            assert len(jpeg) == int(found[1]) + 2
            assert jpeg.startswith(b'\xff\xd8')


# --- figures -----------------------------------------------------------------------------------


def figures(text: str) -> dict[str, float]:
    pairs = (line.rsplit(' ', 1) for line in text.splitlines() if not line.startswith('#'))
    return {name: float(value) for name, value in pairs}


@in_loop
async def test_the_figures_count_what_happened():
    with FakeRobot() as robot:
        async with with_robot(robot) as http:
            task = (await http.post('/tasks', json={'name': 'mast_close'})).json()
            await http.get('/tasks/one')
            await http.get('/tasks/two')
            await http.get('/nowhere')
            await http.request('BREW', '/coffee')
            await http.post('/stop')
            await state_of(http, task['id'], 'completed', 'cancelled')
            robot.trace(TraceKind.OBSERVE, 'seen')
            called = ModelCalled('openai', 'm', 900, 80, 0, 0, False, 0.5, 'USD', '')
            robot.trace(**called.trace_fields('called'))
            robot.brain_state = robot.brain_state.model_copy(
                update={'robot': robot.brain_state.robot.model_copy(update={'battery_pct': 42.5})}
            )
            await http.get('/metrics')  # a second look counts nothing twice
            text = (await http.get('/metrics')).text
            found = figures(text)
        requests = 'curiosity_http_requests_total{{code="{}",method="{}",route="{}"}}'.format
        assert found[requests(404, 'GET', '/tasks/{task_id}')] == 2
        assert found[requests(404, 'GET', 'other')] == 1
        assert found[requests(404, 'other', 'other')] == 1
        assert found['curiosity_stop_seconds_count'] == 1
        assert found['curiosity_trace_events_total{kind="OBSERVE"}'] == 2
        tokens = 'curiosity_model_tokens_total{{direction="{}",model="m"}}'.format
        assert (found[tokens('input')], found[tokens('output')]) == (900, 80)
        assert found['curiosity_model_cost_total{currency="USD",model="m"}'] == 0.5
        assert found['curiosity_battery_percent'] == 42.5
        assert found['curiosity_mode{mode="IDLE"}'] == 1
        assert found['curiosity_mode{mode="EXEC"}'] == 0
        assert found['curiosity_event_clients'] == 0
        states = [
            found[f'curiosity_tasks{{state="{each}"}}'] for each in ('completed', 'cancelled')
        ]
        assert sum(states) == 1
        assert found['curiosity_task_events_total{event="submitted"}'] == 1
        kinds = dict(re.findall(r'^# TYPE (\S+) (\S+)$', text, re.MULTILINE))
        counted = {name for name, kind in kinds.items() if kind == 'counter'}
        assert counted == {
            *('curiosity_http_requests_total', 'curiosity_trace_events_total'),
            *('curiosity_task_events_total', 'curiosity_model_tokens_total'),
            *('curiosity_model_cost_total', 'curiosity_model_calls_without_price_total'),
            'curiosity_model_budget_refusals_total',
        }
        assert all(name.endswith('_total') for name in counted)


@in_loop
async def test_two_apps_count_for_themselves():
    async with alone(SkillRunner(':memory:')) as one, alone() as other:
        await one.get('/health')
        assert 'route="/health"' in (await one.get('/metrics')).text
        assert 'route="/health"' not in (await other.get('/metrics')).text
