# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Who is let in by name, origin, token and session; what one client may take; and the server's
thread before the smallest app: its address, its limits, its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, ExitStack, nullcontext, suppress
import logging
import os
from pathlib import Path
import socket
import string
import subprocess
import sys
import threading
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http import acceptor, guard, server_thread
from curiosity_rosa_demo.agent.interfaces.http.access import (
    AllowedHosts,
    client_address,
    cookie_name,
    host_name_of,
    IN_TOTAL,
    IN_TOTAL_S,
    is_loopback,
    PER_ADDRESS,
    PER_ADDRESS_S,
    SESSION_LIFETIME_S,
    Sessions,
    TokenBuckets,
    WrongTokens,
)
from curiosity_rosa_demo.agent.interfaces.http.metrics import Metrics
from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.http.server_thread import HttpThread, HttpUnavailable
from curiosity_rosa_demo.agent.startup.web import check_address, WebServer
from curiosity_rosa_demo.agent.tasks import SkillRunner
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from examples import examples
from fake_robot import FakeRobot
from fastapi import WebSocket
from harness import wait_until
from http_world import alone, by_http, client, HOST, settings, URL, Wire
import httpx
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
import pytest
from runtime_world import CONFIG, RobotBench, RuntimeBench
from skill_world import in_loop
from starlette.applications import Starlette

TOKEN = 'correct horse battery staple'
BEARER = {'Authorization': f'Bearer {TOKEN}'}
OWN = {'Origin': URL, 'Sec-Fetch-Site': 'same-origin'}
PAGE = {'Accept': 'text/html,*/*', 'Sec-Fetch-Site': 'none', 'Sec-Fetch-Mode': 'navigate'}
JOB = {'name': 'mast_close'}


def app_with_page(token: str = '') -> Any:
    app = create_app(SkillRunner(':memory:'), token=token)

    @app.get('/')
    async def page() -> str:
        return 'the page'

    @app.websocket('/ws')
    async def websocket(socket: WebSocket) -> None:
        await socket.accept()
        await socket.close()

    return app


def app_of(robot: FakeRobot, token: str = '', **changes: Any) -> Any:
    return create_app(robot, settings=settings(**changes), token=token)


async def opens(app: Any, **headers: str) -> bool:
    """Whether a websocket is accepted."""
    sent: list[str] = []
    messages = [{'type': 'websocket.disconnect', 'code': 1000}, {'type': 'websocket.connect'}]

    async def receive() -> dict[str, Any]:
        return messages.pop()

    async def send(message: Any) -> None:
        sent.append(message['type'])

    kind = {'type': 'websocket', 'scheme': 'ws', 'subprotocols': []}
    await app({**Wire(app, '', '/ws', **headers).scope, **kind}, receive, send)
    return sent[0] == 'websocket.accept'


HOSTS = {
    200: ['localhost', 'LOCALHOST:1', HOST, '127.9.9.9', '[::1]:8765', 'localhost.:80'],
    421: ['evil.example', '192.168.1.5:8765', 'localhost.evil.example', '0.0.0.0', '[::2]'],
    400: ['', 'a b', 'a@localhost', 'localhost:x', '[::1', 'localhost/x'],
}


@in_loop
async def test_the_loopback_is_asked_by_its_names_and_no_other():
    async with alone() as http:
        for status, host in ((status, each) for status, hosts in HOSTS.items() for each in hosts):
            for path in ('/health', '/healthz', *['/stop'] * (status == 421)):
                answer = await http.get(path, headers={'Host': host})
                assert answer.status_code == status, (host, path)
            assert status != 421 or not await opens(app_with_page(), host=host)
        two = [('Host', 'localhost'), ('Host', 'evil.example')]
        assert (await http.get('/health', headers=two)).status_code == 400


def test_names_that_are_configured_count_and_addresses_where_it_listens_on_all():
    for host, named, ours, foreign in (
        ('192.168.1.5', ['Rover.local'], ['rover.local', '192.168.1.5'], '192.168.1.6'),
        ('0.0.0.0', [], ['192.168.1.5', 'fe80::1'], 'evil.example'),
        ('::', [], ['192.168.1.5', 'fe80::1'], 'evil.example'),
    ):
        names = AllowedHosts(settings(host=host, hosts=named))
        assert [each in names for each in (*ours, foreign)] == [True, True, False]


NAMES = st.text(string.ascii_letters + string.digits + '.-', min_size=1, max_size=30)


@given(st.binary(max_size=40).map(lambda host: host.decode('latin-1')) | NAMES)
def test_no_other_name_is_ours_and_no_host_header_breaks_the_check(host: str):
    name = host_name_of(host)
    if name is not None:
        assert name != ''
        assert name in host.lower()
        assert (name in AllowedHosts(settings())) is (name == 'localhost' or is_loopback(name))


FOREIGN = (
    {'Origin': 'http://evil.example'},
    {'Origin': 'http://127.0.0.1:3000'},  # another program of this machine
    {'Origin': 'null'},
    {'Origin': f'{URL}.evil.example'},
    {'Origin': URL, 'Sec-Fetch-Site': 'cross-site'},
    {'Sec-Fetch-Site': 'cross-site'},
    {'Sec-Fetch-Site': 'same-site'},
    {'Sec-Fetch-Site': 'nonsense'},
)


ACTS = (('POST', '/stop'), ('POST', '/tasks'), ('DELETE', '/tasks/x'))


@in_loop
async def test_another_site_changes_nothing_and_may_link_to_us_but_embed_nothing():
    with FakeRobot() as robot:
        async with client(app_of(robot, TOKEN), headers=BEARER) as http:
            for headers in FOREIGN:
                for method, path in ACTS:
                    answer = await http.request(method, path, headers=headers, json=JOB)
                    assert answer.status_code == 403, headers
            assert (robot.stops, (await http.get('/tasks')).json()) == ([], [])
        async with client(app_of(robot)) as http:
            foreign = {'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors'}
            for path in ('/camera.jpg', '/events'):
                assert (await http.get(path, headers=foreign)).status_code == 403
            link = await http.get('/health', headers={**foreign, 'Sec-Fetch-Mode': 'navigate'})
            assert (link.status_code, link.headers['x-frame-options']) == (200, 'DENY')
            preflight = await http.options('/tasks', headers={'Origin': 'http://evil.example'})
            for each in (link, preflight):
                assert 'access-control-allow-origin' not in each.headers


@in_loop
async def test_a_page_of_ours_needs_its_session_for_what_acts_but_the_stop():
    with FakeRobot() as robot:
        app = app_of(robot)
        async with client(app, headers=OWN) as http:
            assert (await http.post('/tasks', json=JOB)).status_code == 403
            assert (await http.get('/tasks')).json() == []
            assert (await http.post('/stop')).status_code == 200
            http.cookies.set(cookie_name(HOST), app.state.sessions.create())
            assert (await http.post('/tasks', json=JOB)).status_code == 201
    app = app_with_page()
    cookie = f'{cookie_name(HOST)}={app.state.sessions.create()}'
    assert await opens(app, origin=URL, cookie=cookie)
    assert not await opens(app, origin=URL)
    for foreign in ('http://evil.example', 'http://127.0.0.1:3000'):
        assert not await opens(app, origin=foreign, cookie=cookie)
    assert not await opens(app_with_page(TOKEN))
    assert await opens(app_with_page(TOKEN), authorization=f'Bearer {TOKEN}')


@in_loop
async def test_with_a_token_nothing_but_healthz_answers_without():
    with FakeRobot() as robot:
        async with client(app_of(robot, TOKEN)) as http:
            described = (await http.get('/openapi.json', headers=BEARER)).json()['paths']
            routes = [(m.upper(), path) for path, each in described.items() for m in each]
            assert ('GET', '/camera.jpg') in routes
            for method, path in [*routes, ('GET', '/openapi.json'), ('GET', '/nowhere')]:
                answer = await http.request(method, path)
                assert answer.status_code == (200 if path == '/healthz' else 401), path
                if path != '/healthz':
                    assert answer.headers['www-authenticate'].startswith('Bearer')
                    assert answer.json()['status'] == 401
            assert robot.stops == []


@in_loop
async def test_only_the_token_itself_is_the_token():
    for token in (TOKEN, '火星の車'):
        fine, wrong = f'Bearer {token}', ('wrong', f'{token}x', token[:-1], '', 'é')
        bad = [[f'Bearer {each}'] for each in wrong]
        bad += [[f'Basic {token}'], [token], [fine, 'Bearer wrong']]
        async with client(app_with_page(token)) as http:
            for status, rows in ((401, bad), (200, [[fine], [f'{fine} ']])):
                for row in rows:
                    headers = [('Authorization', each.encode()) for each in row]
                    assert (await http.get('/health', headers=headers)).status_code == status, row


@in_loop
async def test_wrong_tokens_are_slowed_and_the_right_one_never():
    wrong, own = {'Authorization': 'Bearer wrong'}, {**OWN, 'Sec-Fetch-Mode': 'navigate'}
    with FakeRobot() as robot:
        app = app_of(robot, TOKEN)
        async with client(app) as http, client(app, address=('127.0.0.2', 1)) as other:
            answers = [await http.get('/state', headers=wrong) for _ in range(15)]
            codes = [answer.status_code for answer in answers]
            assert codes == [401] * PER_ADDRESS + [429] * (15 - PER_ADDRESS)
            assert 1 <= int(answers[-1].headers['retry-after']) <= 1.0 / PER_ADDRESS_S
            assert answers[-1].headers['connection'] == 'close'
            assert answers[-1].json()['title'] == 'Too Many Requests'
            guess = await http.post('/', data={'token': 'wrong'}, headers=own)
            assert guess.status_code == 429
            assert int(guess.headers['retry-after']) >= 1
            assert 'Too many wrong tokens.' in guess.text
            assert (await http.get('/', params={'token': 'wrong'})).status_code == 429
            # Neither the right token, nor a stop, nor a request without one, nor another address.
            for who, method, path, headers, status in (
                (http, 'GET', '/state', BEARER, 200),
                (http, 'POST', '/stop', BEARER, 200),
                (http, 'POST', '/stop', wrong, 401),
                (http, 'GET', '/state', {}, 401),
                (other, 'GET', '/state', wrong, 401),
            ):
                answer = await who.request(method, path, headers=headers)
                assert answer.status_code == status, (method, path, headers)
            login = await http.post('/', data={'token': TOKEN}, headers=own)
            assert login.status_code == 303
            assert (await http.get('/state')).status_code == 200
        assert len(robot.stops) == 1


@given(st.lists(st.tuples(st.integers(0, 5000), st.floats(0.0, 5.0)), max_size=200))
def test_wrong_tokens_are_limited_by_address_and_in_total(guesses: list[tuple[int, float]]):
    now = 0.0
    wrong = WrongTokens(clock=lambda: now)
    within: list[int] = []
    for address, pause in guesses:
        now += pause
        if wrong.record(str(address)) == 0.0:
            within.append(address)
    assert len(within) <= IN_TOTAL + IN_TOTAL_S * now + 1e-6
    most = max(map(within.count, within), default=0)
    assert most <= PER_ADDRESS + PER_ADDRESS_S * now + 1e-6
    many = WrongTokens(clock=lambda: 0.0)
    assert [many.record(str(n)) for n in range(IN_TOTAL)] == [0.0] * IN_TOTAL
    assert many.record('another') > 0.0


@in_loop
async def test_the_page_gets_a_session_that_no_script_and_no_other_site_sees():
    async with client(app_with_page(), headers=PAGE) as http:
        answer = await http.get('/')
        assert answer.status_code == 200
        cookie = answer.headers['set-cookie']
        assert cookie.startswith('curiosity_8765=')
        assert 'HttpOnly' in cookie
        assert 'SameSite=Strict' in cookie
        assert 'set-cookie' not in (await http.get('/')).headers  # it has one
        assert 'set-cookie' not in (await http.get('/health')).headers


@in_loop
async def test_the_token_opens_the_page_once_and_leaves_the_address():
    async with client(app_with_page(TOKEN), headers=PAGE) as http:
        assert (await http.get('/')).status_code == 401
        assert 'form method="post"' in (await http.get('/')).text
        assert (await http.get('/', params={'token': 'wrong'})).status_code == 401
        for value in (f'{"0" * 32}.aSg.{"0" * 43}', '', '"é"', '\x01'):
            cookie = f'{cookie_name(HOST)}={value}'.encode('latin-1')
            assert (await http.get('/health', headers={'Cookie': cookie})).status_code == 401
        assert not http.cookies
        answer = await http.get('/', params={'token': TOKEN, 'view': 'map'})
        assert (answer.status_code, answer.headers['location']) == (303, '/?view=map')
        assert TOKEN not in str(answer.headers)
        assert (await http.get('/')).text == '"the page"'
        assert (await http.get('/tasks')).status_code == 200


@in_loop
async def test_the_form_opens_the_page():
    own, foreign = {**OWN, 'Sec-Fetch-Mode': 'navigate'}, {'Origin': 'null'}
    async with client(app_with_page(TOKEN), headers=PAGE) as http:
        for data, headers, status, words in (
            ({'token': 'wrong'}, own, 401, 'This is not the token.'),
            ({}, own, 401, ''),
            ({'token': TOKEN}, foreign, 403, ''),
            ({'token': TOKEN}, own, 303, ''),
        ):
            answer = await http.post('/', data=data, headers=headers)
            assert answer.status_code == status
            assert words in answer.text
        assert answer.headers['location'] == '/'
        assert (await http.get('/')).text == '"the page"'
        assert (await http.post('/tasks', json=JOB, headers=OWN)).status_code == 201


def test_a_session_ends_and_belongs_to_one_token():
    at = [1_000_000.0]
    sessions, restarted, other, none = (
        Sessions(token, clock=lambda: at[0]) for token in (TOKEN, TOKEN, 'other', '')
    )
    every = (sessions, restarted, other, none, Sessions())
    session = sessions.create()
    assert [each.is_valid(session) for each in every] == [True, True, False, False, False]
    at[0] += SESSION_LIFETIME_S
    assert not sessions.is_valid(session)
    one = Sessions()
    assert one.is_valid(one.create())
    assert not one.is_valid(Sessions().create())


SESSIONS = Sessions(TOKEN, clock=lambda: 0.0)
SESSION = SESSIONS.create()


# Of the last letter of the signature only some bits count.
@given(st.integers(0, len(SESSION) - 2), st.sampled_from('0123456789abcdef.x'), st.text())
def test_no_other_text_is_a_session(index: int, letter: str, text: str):
    changed = SESSION[:index] + letter + SESSION[index + 1 :]
    assert SESSIONS.is_valid(changed) is (changed == SESSION)
    assert not SESSIONS.is_valid(text)


@by_http
async def test_an_unexpected_error_is_a_plain_problem(
    robot: FakeRobot, http: Any, caplog: pytest.LogCaptureFixture
):
    robot.state = 'secret of the house'  # type: ignore[assignment,method-assign]
    answer = await http.get('/plan')
    kind = answer.headers['content-type']
    assert (answer.status_code, kind) == (500, 'application/problem+json')
    assert 'not callable' not in answer.text
    assert 'not callable' in caplog.text


def test_a_network_of_ipv6_is_one_client_and_few_clients_are_remembered():
    for one, other, same in (
        ('10.0.0.1', '10.0.0.2', False),
        ('2001:db8::1', '2001:db8::ffff:1', True),
        ('2001:db8::1', '2001:db8:0:1::1', False),
        ('somewhere', 'elsewhere', False),
    ):
        assert (client_address(one) == client_address(other)) is same
    assert client_address('') == ''
    buckets = TokenBuckets(1.0, 1.0, clients=8, clock=lambda: 0.0)
    for each in range(100):
        buckets.seconds_until_granted(str(each))
        assert len(buckets) <= 8
        # the one that was seen last is not forgotten
        assert buckets.seconds_until_granted(str(each)) > 0.0


STEPS = st.lists(st.tuples(st.sampled_from('ab'), st.floats(0.0, 3.0)), max_size=60)


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


@in_loop
async def test_a_client_that_asks_too_often_waits_but_never_with_the_stop():
    with FakeRobot() as robot:
        app = app_of(robot, requests_per_s=0.5)  # a burst of five
        async with client(app) as http, client(app, address=('127.0.0.2', 1)) as other:
            codes = [(await http.get('/healthz')).status_code for _ in range(7)]
            assert (codes[:5], codes[-1]) == ([200] * 5, 429)
            answer = await http.get('/healthz')
            assert 1 <= int(answer.headers['retry-after']) <= 2
            assert answer.json()['title'] == 'Too Many Requests'
            assert (await http.post('/stop')).status_code == 200
            texts = {'Stop!': 200, ':stop': 200, '停下': 200, 'go on': 429, 'x' * 2000: 429}
            said = [await http.post('/say', json={'text': each}) for each in texts]
            assert [each.status_code for each in said] == list(texts.values())
            assert (await other.get('/healthz')).status_code == 200


@in_loop
async def test_a_body_that_is_too_large_or_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch):
    with FakeRobot() as robot:
        app = app_of(robot, max_body_bytes=1024)
        for length in ('1025', '9' * 400):
            async with Wire(app, 'POST', '/say', content_length=length) as wire:
                await wire.ended()  # nothing of it was sent
            assert wire.status == 413
            assert b'1024 bytes' in wire.body
        for path in ('/say', '/tasks', '/', '/nowhere'):
            wire = Wire(app, 'POST', path, transfer_encoding='chunked')
            wire.body_of(*[b'x' * 100] * 11, b'')
            async with wire:
                await wire.ended()
            assert wire.status == 413
        async with client(app, headers={'Content-Type': 'application/json'}) as http:
            text = 'x' * (1024 - len('{"text":""}'))  # just the limit
            for each, status in ((f'{text}x', 413), (text, 200)):
                answer = await http.post('/say', content=f'{{"text":"{each}"}}')
                assert answer.status_code == status
            assert robot.lines == [text]
        monkeypatch.setattr(guard, 'BODY_TIMEOUT_S', 0.05)
        wire = Wire(app, 'POST', '/tasks', content_length='10')
        wire.input.put_nowait({'type': 'http.request', 'body': b'{', 'more_body': True})
        async with wire:
            await wire.ended()
        assert wire.status == 408


@hypothesis_settings(max_examples=examples(30))
@given(st.lists(st.binary(max_size=400), min_size=1, max_size=8))
def test_a_body_arrives_whole_or_not_at_all(parts: list[bytes]):
    seen: list[bytes] = []

    async def app(scope, receive, send) -> None:
        message = await receive()
        assert not message['more_body']
        seen.append(message['body'])

    async def send_it() -> int:
        guarded = guard.Guard(
            app,
            settings=settings(max_body_bytes=1024),
            token='',
            sessions=Sessions(),
            requests=Metrics().counters['http_requests'],
            in_process=False,
        )
        wire = Wire(guarded, 'POST', '/x', transfer_encoding='chunked')
        wire.body_of(*parts)
        async with wire:
            await wire.ended()
        return wire.status

    status = asyncio.run(send_it())
    body = b''.join(parts)
    assert (seen, status) == (([body], 0) if len(body) <= 1024 else ([], 413))


WAIT_S = 20.0
SETTINGS = load_config().agent.http.model_copy(update={'port': 0})


async def small_app(scope: Any, receive: Any, send: Any) -> None:
    """/ and /stop answer, /stream never ends, /body reads first, anything else raises."""
    if scope['type'] == 'lifespan':
        await receive()
        await send({'type': 'lifespan.startup.complete'})
        await receive()
        await send({'type': 'lifespan.shutdown.complete'})
        return
    if scope['path'] not in ('/', '/stop', '/stream', '/body'):
        raise RuntimeError('a bug')
    while scope['path'] == '/body' and (await receive()).get('more_body'):
        pass
    await send({'type': 'http.response.start', 'status': 200, 'headers': []})
    await send({'type': 'http.response.body', 'body': b'hello', 'more_body': True})
    if scope['path'] == '/stream':
        await asyncio.Event().wait()
    await send({'type': 'http.response.body', 'body': b''})


@pytest.fixture
def server() -> Iterator[HttpThread]:
    server = HttpThread(lambda: small_app, SETTINGS)
    yield server
    server.close()


async def cannot_start(scope: Any, receive: Any, send: Any) -> None:
    assert scope['type'] == 'lifespan'
    await receive()
    await send({'type': 'lifespan.startup.failed', 'message': 'no'})


def cannot_be_made() -> Any:
    raise ImportError("No module named 'fastapi'")


def test_what_cannot_be_served_is_told_and_nobody_waits_for_it() -> None:
    for host in ('203.0.113.7', 'no.such.host.invalid'):
        with pytest.raises(HttpUnavailable, match=rf'^{host}:0 .*set http\.host in agent\.yaml$'):
            HttpThread(lambda: small_app, SETTINGS.model_copy(update={'host': host}))
    makers: tuple[tuple[Callable[[], Any], str], ...] = (
        (cannot_be_made, '.*fastapi'),
        (lambda: cannot_start, ''),
    )
    for make, why in makers:
        with closing(HttpThread(make, SETTINGS)) as server:
            with pytest.raises(HttpUnavailable, match=f'cannot be served: {why}'):
                server.start()
            with pytest.raises(httpx.ConnectError):
                httpx.get(server.url)


def test_the_end_does_not_wait_for_imports(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, 'uvicorn.error')
    importing, imported = threading.Event(), threading.Event()

    def slow() -> Any:
        importing.set()
        assert imported.wait(WAIT_S)
        return Starlette()

    def start_or_not() -> None:
        with suppress(HttpUnavailable):
            server.start()

    before = set(threading.enumerate())
    server = HttpThread(slow, SETTINGS)
    threading.Thread(target=start_or_not, daemon=True).start()
    assert importing.wait(WAIT_S)
    both = set(threading.enumerate()) - before
    server.close()
    assert not imported.is_set()  # else it would have waited
    imported.set()
    wait_until(lambda: not any(each.is_alive() for each in both), 'the end of both threads')
    # Late, it finds its address given up, and says nothing.
    assert [each for each in caplog.records if each.thread in {one.ident for one in both}] == []


def test_open_streams_do_not_hold_up_its_end(server: HttpThread) -> None:
    before = set(threading.enumerate())
    server.start()
    with httpx.stream('GET', f'{server.url}stream', timeout=WAIT_S) as answer:
        parts = answer.iter_raw()
        assert next(parts) == b'hello'
        server.close()
        assert set(threading.enumerate()) <= before  # else close() gave up waiting
        with pytest.raises(httpx.HTTPError):
            next(parts)
    with pytest.raises(HttpUnavailable, match='given up'):
        server.start()


def test_who_does_not_finish_a_head_loses_the_connection(
    server: HttpThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acceptor, 'HEAD_TIMEOUT_S', 0.3)
    monkeypatch.setattr(server_thread, 'KEEP_ALIVE_S', 1)
    server.start()
    half = b'GET / HTTP/1.1\r\nHost: x\r\n'
    for before, head in ((b'', b''), (b'', half), (half + b'\r\n', b''), (half + b'\r\n', half)):
        with connect(server) as client:
            client.sendall(before)
            received = b''
            while before and not received.endswith(b'0\r\n\r\n'):
                received += client.recv(1000)
            client.sendall(head)
            assert client.recv(1000) == b''  # it times out when the connection is kept


def test_too_many_connections_are_refused_and_told() -> None:
    one = SETTINGS.model_copy(update={'max_connections': 1})
    with closing(HttpThread(lambda: small_app, one)) as server:
        url = server.start()
        with httpx.stream('GET', f'{url}stream', timeout=WAIT_S) as stream:
            parts = stream.iter_raw()
            assert next(parts) == b'hello'
            refused = httpx.get(url)
            assert refused.status_code == 503
            assert refused.headers['content-type'] == 'application/problem+json'
            assert refused.json()['detail'] == (
                'All connections of the server are in use; close one.'
            )
        wait_until(lambda: httpx.get(url).is_success, 'it to answer again')


# What each of the connections sends, and then nothing.
ATTACKS = {
    'silence': b'',
    'half a head': b'GET / HTTP/1.1\r\nHost: x\r\n',
    'half a stop': b'POST /stop HTTP/1.1\r\nHost: x\r\n',
    'a slow body': b'POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{',
    'a stream': b'GET /stream HTTP/1.1\r\nHost: x\r\n\r\n',
    'no HTTP': b'\x16\x03\x01',
}


@pytest.mark.parametrize('data', ATTACKS.values(), ids=ATTACKS.keys())
def test_no_number_of_other_connections_keeps_a_stop_out(server: HttpThread, data: bytes) -> None:
    url = server.start()
    with ExitStack() as clients:
        for _ in range(acceptor.MAX_INCOMPLETE_HEADS + SETTINGS.max_connections):
            client = clients.enter_context(connect(server))
            with suppress(OSError):  # it may have been dropped
                client.sendall(data)
        for _ in range(5):
            answer = httpx.post(f'{url}stop', timeout=WAIT_S)
            assert (answer.status_code, answer.text) == (200, 'hello')
            assert answer.headers['connection'] == 'close'  # the next stop comes here again


def test_a_stop_does_not_wait_for_the_thread_of_other_requests() -> None:
    freed = threading.Event()

    async def blocking(scope: Any, receive: Any, send: Any) -> None:
        if scope['type'] == 'http' and scope['path'] == '/body':
            assert freed.wait(WAIT_S)
        await small_app(scope, receive, send)

    with closing(HttpThread(lambda: blocking, SETTINGS)) as server, connect(server) as client:
        url = server.start()
        client.sendall(b'GET /body HTTP/1.1\r\nHost: x\r\n\r\n')
        assert httpx.post(f'{url}stop', timeout=WAIT_S).text == 'hello'
        freed.set()
        assert client.recv(1000).startswith(b'HTTP/1.1 200')


def test_a_head_may_come_in_parts(server: HttpThread) -> None:
    server.start()
    for head in (
        b'POST /stop HTTP/1.1\r\nHost: x\r\n\r\n',
        b'POST /stop HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n',  # the body never comes
        b'POST /stop?why=now HTTP/1.1\nHost: x\n\n',
        b'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    ):
        for size in (1, 7, 1000):
            with connect(server) as client:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for start in range(0, len(head), size):
                    client.sendall(head[start : start + size])
                assert client.recv(1000).startswith(b'HTTP/1.1 200')


def test_the_oldest_half_of_a_head_of_the_greediest_address_is_dropped(
    server: HttpThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acceptor, 'MAX_INCOMPLETE_HEADS', 3)
    server.start()
    with ExitStack() as clients:
        other, first, second, third = (
            clients.enter_context(connect(server, host))
            for host in ('127.0.0.2', '127.0.0.1', '127.0.0.1', '127.0.0.1')
        )
        assert first.recv(1) == b''
        for client in (other, second, third):
            client.sendall(b'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
            assert client.recv(1000).startswith(b'HTTP/1.1 200')


def connect(server: HttpThread, source: str = '127.0.0.1') -> socket.socket:
    port = int(server.url.rstrip('/').rsplit(':', 1)[1])
    return socket.create_connection(('127.0.0.1', port), WAIT_S, (source, 0))


QUIET = """
import pathlib, socket, sys
import httpx
from curiosity_rosa_demo.agent.interfaces.http.server_thread import HttpThread
from curiosity_rosa_demo.agent.startup.logs import LogFile
from test_http_guards import SETTINGS, small_app
print('imported', file=sys.stderr, flush=True)  # libraries warn at their import
log = LogFile(pathlib.Path(sys.argv[1]))
server = HttpThread(lambda: small_app, SETTINGS)
server.start()
assert httpx.get(f'{server.url}bug?token=secret').status_code == 500
assert httpx.get(f'{server.url}?token=secret').status_code == 200
with socket.create_connection(('127.0.0.1', int(server.url[:-1].split(':')[-1]))) as raw:
    raw.sendall(b'NONSENSE\\r\\n\\r\\n')
    assert raw.recv(100)
with httpx.stream('GET', f'{server.url}stream'):
    server.close()
log.close()
"""


def test_nothing_is_written_between_the_users_lines(tmp_path: Path) -> None:
    log = tmp_path / 'agent.log'
    ended = subprocess.run(
        [sys.executable, '-c', QUIET, str(log)],
        cwd=Path(__file__).parent,
        env={**os.environ, 'PYTHONPATH': ':'.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    said = ended.stderr.rpartition('imported\n')[2]
    assert (ended.returncode, ended.stdout, said) == (0, '', '')
    written = log.read_text(encoding='utf-8')
    assert 'a bug' in written
    assert 'secret' not in written


def config_with(**changes: object) -> Config:
    return CONFIG.changed(agent={'http': {'port': 0, **changes}})


def web_of(bench: RobotBench, config: Config) -> tuple[WebServer, list[str]]:
    told: list[str] = []
    bench.robot.config = config
    return WebServer(bench.robot, told.append), told


def test_the_api_and_the_page_are_at_one_address_or_nowhere(tmp_path: Path) -> None:
    with RuntimeBench(tmp_path) as runtime:
        bench = RobotBench(runtime)
        web, told = web_of(bench, config_with())
        with closing(web):
            web.start()
            assert httpx.get(f'{web.url}health').json()['status'] == 'ok'
            page = httpx.get(web.url, headers={'Accept': 'text/html'})
            assert page.status_code == 200
            assert '<title>Curiosity ROSA</title>' in page.text
            port = int(web.url[:-1].rsplit(':', 1)[1])
            taken = (
                f'! The page is not available: 127.0.0.1:{port} is taken; '
                'set http.port in agent.yaml'
            )
            for changes, words in (({'port': port}, [taken]), ({'enabled': False}, [])):
                second, why = web_of(bench, config_with(**changes))
                with closing(second):
                    second.start()
                    assert (second.url, why) == ('', words)
        assert told == []


SECRET = 'a-secret-that-is-long'


def test_others_come_in_with_a_token_only_and_it_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    for host, token, fine in (
        ('127.0.0.1', '', True),
        ('::1', SECRET, True),
        ('localhost', 'secret', False),
        ('0.0.0.0', '', False),
        ('192.0.2.7', '  ', False),
        ('127.0.0.1', ' \n', True),
        ('127.0.0.1', ' secret       \n', False),
        ('rover.local', 'fifteen letters', False),
        ('0.0.0.0', SECRET, True),
    ):
        monkeypatch.setenv('CURIOSITY_HTTP_TOKEN', token)
        refused = pytest.raises(ConfigError, match=r'^.*agent\.yaml: http\.host .*HTTP_TOKEN')
        with nullcontext() if fine else refused:
            check_address(config_with(host=host).agent.http)
        check_address(config_with(host=host, enabled=False).agent.http)


CHECKED = (
    'from curiosity_rosa_demo.agent import agent_node\n'
    'from curiosity_rosa_demo.agent.startup.web import check_address\n'
    'from curiosity_rosa_demo.infra.config_loader import load_config\n'
    'check_address(load_config().agent.http)\n'
)
CONSOLE = 'import curiosity_rosa_demo.agent.interfaces.console_client.main\n'


def test_agent_and_console_start_without_what_takes_long_to_import() -> None:
    late = {'fastapi', 'starlette', 'uvicorn', 'cv2', 'langchain'}
    for code, names in ((CHECKED, late), (CONSOLE, {*late, 'rclpy', 'rosa', 'langgraph'})):
        code = f'{code}import sys\nprint([name for name in {names} if name in sys.modules])\n'
        ended = subprocess.run(
            [sys.executable, '-c', code], capture_output=True, text=True, timeout=60
        )
        assert ended.stdout == '[]\n', ended.stderr
