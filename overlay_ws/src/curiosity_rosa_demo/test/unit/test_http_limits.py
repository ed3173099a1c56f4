# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What one client may take."""

from __future__ import annotations

import asyncio

from curiosity_rosa_demo.agent.interfaces.http import limits
from curiosity_rosa_demo.agent.interfaces.http.limits import client_address, TokenBuckets
from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.tasks import SkillRunner
from examples import examples
from fake_robot import FakeRobot
from http_world import client, settings, Wire, with_robot
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
import pytest
from skill_world import in_loop

SMALL = settings(max_body_bytes=1024)
STEPS = st.lists(st.tuples(st.sampled_from('ab'), st.floats(0.0, 3.0)), max_size=60)


# --- requests ----------------------------------------------------------------------------------


@hypothesis_settings(deadline=None)
@given(st.floats(0.1, 20.0), st.integers(1, 10), STEPS)
def test_a_client_gets_its_burst_and_its_rate_whatever_others_do(
    rate: float, burst: int, steps: list[tuple[str, float]]
):
    """Against a model: a client's level, counted on its own."""
    now = 0.0
    buckets = TokenBuckets(rate, burst, clock=lambda: now)
    levels, seen = dict.fromkeys('ab', float(burst)), dict.fromkeys('ab', 0.0)
    for name, pause in steps:
        now += pause
        level = min(float(burst), levels[name] + (now - seen[name]) * rate)
        wait_s = buckets.seconds_until_granted(name)
        seen[name] = now
        if wait_s == 0.0:
            assert level >= 1.0 - 1e-9
            level -= 1.0
        else:
            assert level < 1.0 + 1e-9
            assert wait_s == pytest.approx((1.0 - level) / rate)
        levels[name] = level


@hypothesis_settings(deadline=None)
@given(st.floats(0.1, 20.0), st.integers(1, 5))
def test_whoever_waits_as_long_as_he_was_told_is_served(rate: float, burst: int):
    now = 100.0
    buckets = TokenBuckets(rate, burst, clock=lambda: now)
    for _ in range(burst):
        assert buckets.seconds_until_granted('a') == 0.0
    now += buckets.seconds_until_granted('a') + 1e-6
    assert buckets.seconds_until_granted('a') == 0.0
    assert buckets.seconds_until_granted('a') > 0.0


@hypothesis_settings(deadline=None)
@given(st.lists(st.integers(0, 30), max_size=100))
def test_no_more_clients_are_remembered_than_may_be(clients: list[int]):
    buckets = TokenBuckets(1.0, 1.0, clients=8, clock=lambda: 0.0)
    for each in clients:
        buckets.seconds_until_granted(str(each))
        assert len(buckets) <= 8
        # the one that was seen last is not forgotten
        assert buckets.seconds_until_granted(str(each)) > 0.0


@pytest.mark.parametrize(
    ('one', 'other', 'same'),
    [
        ('10.0.0.1', '10.0.0.2', False),
        ('2001:db8::1', '2001:db8::ffff:1', True),
        ('2001:db8::1', '2001:db8:0:1::1', False),
        ('somewhere', 'elsewhere', False),
    ],
)
def test_a_network_of_ipv6_is_one_client(one: str, other: str, same: bool):
    assert (client_address({'client': (one, 1)}) == client_address({'client': (other, 2)})) is same
    assert client_address({'client': None}) == ''


@in_loop
async def test_a_client_that_asks_too_often_waits_but_never_with_the_stop():
    with FakeRobot() as robot:
        config = settings(requests_per_s=0.5)  # a burst of five
        app = create_app(robot.runner, robot=robot, settings=config)
        async with client(app) as http, client(app, address=('127.0.0.2', 1)) as other:
            codes = [(await http.get('/healthz')).status_code for _ in range(7)]
            assert codes[:5] == [200] * 5
            assert codes[-1] == 429
            answer = await http.get('/healthz')
            assert 1 <= int(answer.headers['retry-after']) <= 2
            assert answer.json()['title'] == 'Too Many Requests'
            assert (await http.post('/stop')).status_code == 200
            assert (await other.get('/healthz')).status_code == 200


# --- bodies ------------------------------------------------------------------------------------


@in_loop
async def test_a_body_that_is_too_large_is_refused_by_its_length_alone():
    with FakeRobot() as robot:
        app = create_app(robot.runner, robot=robot, settings=SMALL)
        for length in ('1025', '9' * 400):
            wire = Wire(app, 'POST', '/say', content_length=length)
            async with wire:
                await wire.ended()  # nothing of it was sent
            assert wire.status == 413
            assert b'1024 bytes' in wire.body


@in_loop
@pytest.mark.parametrize('path', ['/say', '/tasks', '/login', '/nowhere'])
async def test_a_body_that_is_too_large_is_refused_when_it_comes_in_pieces(path: str):
    with FakeRobot() as robot:
        app = create_app(robot.runner, robot=robot, settings=SMALL)
        wire = Wire(app, 'POST', path, transfer_encoding='chunked')
        wire.body_of(*[b'x' * 100] * 11, b'')
        async with wire:
            await wire.ended()
        assert wire.status == 413
        assert robot.lines == []


@in_loop
async def test_a_body_of_just_the_limit_is_read():
    with FakeRobot() as robot:
        async with with_robot(robot, config=SMALL) as http:
            text = 'x' * (1024 - len('{"text":""}'))
            assert (await http.post('/say', content=f'{{"text":"{text}x"}}')).status_code == 413
            headers = {'Content-Type': 'application/json'}
            answer = await http.post('/say', content=f'{{"text":"{text}"}}', headers=headers)
            assert answer.status_code == 200
            assert robot.lines == [text]


@in_loop
async def test_a_body_that_never_ends_is_not_waited_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, 'BODY_TIMEOUT_S', 0.05)
    app = create_app(SkillRunner(':memory:'))
    wire = Wire(app, 'POST', '/tasks', content_length='10')
    wire.input.put_nowait({'type': 'http.request', 'body': b'{', 'more_body': True})
    async with wire:
        await wire.ended()
    assert wire.status == 408


@hypothesis_settings(deadline=None, max_examples=examples(30))
@given(st.lists(st.binary(max_size=400), min_size=1, max_size=8))
def test_a_body_arrives_whole_or_not_at_all(parts: list[bytes]):
    seen: list[bytes] = []

    async def app(scope, receive, send) -> None:
        message = await receive()
        assert not message['more_body']
        seen.append(message['body'])

    async def send_it() -> int:
        wire = Wire(limits.BodyLimit(app, 1024), 'POST', '/x', transfer_encoding='chunked')
        wire.body_of(*parts)
        async with wire:
            await wire.ended()
        return wire.status

    status = asyncio.run(send_it())
    body = b''.join(parts)
    assert (seen, status) == (([body], 0) if len(body) <= 1024 else ([], 413))
