# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Server-sent events: numbered, resumed where a client left off, and nobody is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import json
import socket
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http import event_stream
from curiosity_rosa_demo.agent.interfaces.http.event_stream import EventHub
from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.trace.bus import EventBus, MAX_EVENTS
from curiosity_rosa_demo.trace.trace_codec import new_event
from fake_robot import FakeRobot
from http_world import client, served, settings, Wire
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
import pytest
from skill_world import in_loop, LONG_S


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


async def missed(bus: EventBus, last_id: Callable[[EventHub], str]) -> list[dict[str, Any]]:
    """What a client gets at once that comes back with ``last_id``."""
    events = EventHub(bus, heartbeat_s=0.0)
    chunks = events.subscribe(last_id(events)).chunks()
    assert await anext(chunks) == b'retry: 2000\n\n'
    found = b''
    while (chunk := await anext(chunks)) != b': still here\n\n':
        found += chunk
    return read(found)


# --- what comes --------------------------------------------------------------------------------


@in_loop
async def test_trace_events_and_task_events_come_as_they_happen():
    with FakeRobot() as robot:
        app = create_app(robot.runner, robot=robot)
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


@hypothesis_settings(deadline=None)
@given(st.integers(1, 20), st.integers(0, 40), st.integers(0, 45))
def test_what_is_missed_is_what_is_kept_after_the_last_id(kept: int, told: int, seen: int):
    bus = EventBus(max_events=kept)
    for _ in range(told):
        bus.publish(new_event(TraceKind.ACT, 'x'))
    events = asyncio.run(missed(bus, lambda hub: f'{hub.process}-{seen}'))
    expected = range(max(seen, told - kept) + 1, told + 1) if seen <= told else range(1, told + 1)
    numbers = [int(each['id'].rpartition('-')[2]) for each in events if 'id' in each]
    assert numbers == list(expected)[-kept:]
    lost = seen > told or seen < told - kept
    assert [each['event'] for each in events].count('gap') == lost
    if lost:
        assert events[0]['event'] == 'gap'


@hypothesis_settings(deadline=None)
@given(st.text(max_size=30) | st.from_regex(r'[0-9a-f]{8}-[0-9]{1,25}', fullmatch=True))
def test_any_other_last_id_gets_all_that_is_kept_and_is_told_of_the_gap(last_id: str):
    bus = EventBus(max_events=2)
    for _ in range(3):
        bus.publish(new_event(TraceKind.ACT, 'x'))
    events = asyncio.run(missed(bus, lambda hub: last_id))
    assert [each['event'] for each in events] == ['gap', 'trace', 'trace']


# --- who is slow, or gone ----------------------------------------------------------------------


@in_loop
async def test_a_client_that_takes_nothing_loses_events_and_the_others_get_everything(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(event_stream, 'SEND_TIMEOUT_S', 1000.0)  # it is not disconnected
    with FakeRobot() as robot:
        app = create_app(robot.runner, robot=robot)
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
async def test_a_client_that_is_gone_is_forgotten():
    with FakeRobot() as robot:
        app = create_app(robot.runner, robot=robot)
        async with client(app) as http:
            async with Wire(app, 'GET', '/events') as wire:
                await wire.got('retry')
                assert 'curiosity_event_clients 1.0' in (await http.get('/metrics')).text
                wire.leave()
                await wire.ended()
            assert 'curiosity_event_clients 0.0' in (await http.get('/metrics')).text


@in_loop
async def test_a_send_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(event_stream, 'SEND_TIMEOUT_S', 0.05)
    with FakeRobot() as robot:
        app = create_app(robot.runner, robot=robot)
        async with Wire(app, 'GET', '/camera.mjpg') as wire:
            await wire.got('--frame')
            wire.taking.clear()
            await wire.ended()


@in_loop
async def test_streams_leave_room_for_requests():
    with FakeRobot() as robot:
        config = settings(max_connections=4)
        app = create_app(robot.runner, robot=robot, settings=config)
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
            async with Wire(app, 'GET', '/events') as wire:  # a seat is free again
                await wire.got('retry')


@in_loop
async def test_the_end_of_the_app_ends_the_streams():
    with FakeRobot() as robot:
        app = create_app(robot.runner, robot=robot)
        wire = Wire(app, 'GET', '/events')
        async with app.router.lifespan_context(app):
            await wire.__aenter__()
            await wire.got('retry')
        await wire.ended()
        robot.trace(TraceKind.OBSERVE, 'late')
        assert b'late' not in wire.body


# --- over a socket -----------------------------------------------------------------------------


def test_a_stop_is_answered_before_its_body_has_come() -> None:
    with FakeRobot() as robot:
        with served(lambda: create_app(robot.runner, robot=robot), settings()) as url:
            port = int(url.rpartition(':')[2])
            with socket.create_connection(('127.0.0.1', port), LONG_S) as line:
                head = f'POST /stop HTTP/1.1\r\nHost: {url[7:]}\r\nContent-Length: 5\r\n\r\n'
                line.sendall(head.encode())
                assert line.recv(65536).startswith(b'HTTP/1.1 200')
        assert robot.stops == ['HTTP']
