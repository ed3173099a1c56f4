# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The server's thread, before the smallest app: its address, its limits, its end; and what an
agent tells of its address.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, ExitStack, nullcontext, suppress
import os
from pathlib import Path
import socket
import subprocess
import sys
import threading
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http import acceptor, limits, server_thread
from curiosity_rosa_demo.agent.interfaces.http.server_thread import HttpThread, HttpUnavailable
from curiosity_rosa_demo.agent.startup.web import check_address, WebServer
from curiosity_rosa_demo.infra.config.agent import HttpConfig
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from harness import wait_until
import httpx
import pytest
from runtime_world import CONFIG, RobotServiceBench, RuntimeBench
from starlette.applications import Starlette

WAIT_S = 20.0
SETTINGS = load_config().agent.http.model_copy(update={'port': 0})


async def app(scope: Any, receive: Any, send: Any) -> None:
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
    server = HttpThread(lambda: app, SETTINGS)
    yield server
    server.close()


def settings(**changes: Any) -> HttpConfig:
    return SETTINGS.model_copy(update=changes)


async def cannot_start(scope: Any, receive: Any, send: Any) -> None:
    assert scope['type'] == 'lifespan'
    await receive()
    await send({'type': 'lifespan.startup.failed', 'message': 'no'})


def cannot_be_made() -> Any:
    raise ImportError("No module named 'fastapi'")


def test_what_cannot_be_served_is_told_and_nobody_waits_for_it() -> None:
    for host in ('203.0.113.7', 'no.such.host.invalid'):
        with pytest.raises(HttpUnavailable, match=rf'^{host}:0 .*set http\.host in agent\.yaml$'):
            HttpThread(lambda: app, settings(host=host))
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
    server.close()
    assert not imported.is_set()  # else it would have waited
    imported.set()
    wait_until(lambda: set(threading.enumerate()) <= before, 'the end of both threads')
    assert caplog.records == []  # late, it finds its address given up, and says nothing


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
    monkeypatch.setattr(limits, 'HEAD_TIMEOUT_S', 0.3)
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
    with closing(HttpThread(lambda: app, settings(max_connections=1))) as server:
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
        await app(scope, receive, send)

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
from test_http_server import SETTINGS, app
log = LogFile(pathlib.Path(sys.argv[1]))
server = HttpThread(lambda: app, SETTINGS)
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
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, '', '')
    written = log.read_text(encoding='utf-8')
    assert 'a bug' in written
    assert 'secret' not in written


def config_with(**changes: object) -> Config:
    http = CONFIG.agent.http.model_copy(update={'port': 0, **changes})
    return CONFIG.model_copy(update={'agent': CONFIG.agent.model_copy(update={'http': http})})


def web_of(bench: RobotServiceBench, config: Config) -> tuple[WebServer, list[str]]:
    told: list[str] = []
    return WebServer(bench.service, bench.bench.runtime.runner, config, told.append), told


def test_the_api_and_the_page_are_at_one_address_or_nowhere(tmp_path: Path) -> None:
    with RuntimeBench(tmp_path) as runtime:
        bench = RobotServiceBench(runtime)
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
    late = {'fastapi', 'starlette', 'uvicorn', 'nicegui', 'cv2', 'langchain'}
    for code, names in ((CHECKED, late), (CONSOLE, {*late, 'rclpy', 'rosa', 'langgraph'})):
        code = f'{code}import sys\nprint([name for name in {names} if name in sys.modules])\n'
        ended = subprocess.run(
            [sys.executable, '-c', code], capture_output=True, text=True, timeout=60
        )
        assert ended.stdout == '[]\n', ended.stderr
