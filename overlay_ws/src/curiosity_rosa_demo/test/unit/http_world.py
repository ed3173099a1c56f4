# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The app before a client in the same loop, and one connection at the level of ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
import functools
import inspect
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.access import cookie_name
from curiosity_rosa_demo.agent.interfaces.http.server import create_app, shipped_settings
from curiosity_rosa_demo.agent.interfaces.http.server_thread import HttpThread
from curiosity_rosa_demo.agent.interfaces.mcp.server import add_mcp
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.agent.tasks import SkillRunner
from curiosity_rosa_demo.infra.config.agent import HttpConfig
from curiosity_rosa_demo.infra.config.topics import Config
from fake_robot import FakeRobot
from fastapi import FastAPI
import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from skill_world import LONG_S

HOST = '127.0.0.1:8765'
URL = f'http://{HOST}'


def settings(**changes: Any) -> HttpConfig:
    return HttpConfig(**{**shipped_settings().model_dump(), **changes})


def client(app: FastAPI, **options: Any) -> httpx.AsyncClient:
    """Without the app's lifespan."""
    transport = httpx.ASGITransport(app, client=options.pop('address', ('127.0.0.1', 123)))
    return httpx.AsyncClient(**{'transport': transport, 'base_url': URL, **options})


def as_page(http: httpx.AsyncClient, app: FastAPI) -> httpx.AsyncClient:
    """``http`` with the session of a page that ``app`` has served."""
    http.cookies.set(cookie_name(http.base_url.netloc.decode()), app.state.sessions.create())
    return http


@asynccontextmanager
async def alone(runner: SkillRunner | None = None) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the tasks alone; their runner is not running."""
    runner = runner or SkillRunner(':memory:')
    async with client(create_app(runner)) as http:
        yield http
    await runner.stop()


@asynccontextmanager
async def running(
    behind: SkillRunner | FakeRobot,
) -> AsyncIterator[httpx.AsyncClient]:
    """A client within the app's lifespan."""
    app = create_app(behind)
    async with app.router.lifespan_context(app), client(app) as http:
        yield http


def by_http(test: Callable[..., Any]) -> Callable[..., None]:
    """The coroutine of the test gets a FakeRobot and a client of it before other arguments."""

    @functools.wraps(test)
    def run(**given: Any) -> None:
        async def before_robot() -> None:
            with FakeRobot() as robot:
                async with running(robot) as http:
                    await asyncio.wait_for(test(robot, http, **given), LONG_S * 2)

        asyncio.run(before_robot())

    _, _, *others = inspect.signature(test).parameters.values()
    run.__signature__ = inspect.Signature(others)  # type: ignore[attr-defined]
    return run


async def wrong_answers(http: httpx.AsyncClient, rows: list[Any]) -> list[Any]:
    """Which of ``(method, path, body, status, words of the detail)`` are answered otherwise."""
    wrong = []
    for method, path, body, status, words in rows:
        told = {'content': body} if isinstance(body, bytes) else {'json': body}
        headers = {'Content-Type': 'application/json'}
        answer = await http.request(method, path, headers=headers, **told)
        if answer.status_code != status or words not in str(answer.json().get('detail')):
            wrong.append((method, path, str(body)[:80], answer.status_code, answer.text[:200]))
    return wrong


@contextmanager
def served(make: Callable[[], Any], config: HttpConfig, port: int = 0) -> Iterator[str]:
    """The app of ``make`` behind the server of an agent; 0: on a free port. Its address."""
    with closing(HttpThread(make, config.model_copy(update={'port': port}))) as server:
        yield server.start().rstrip('/')


@contextmanager
def serving_mcp(
    robot: Robot, config: Config, token: str = '', port: int = 0, requests_per_s: float = 1e6
) -> Iterator[dict[str, Any]]:
    """The app with /mcp: its ``url``, its tool ``calls`` and the ``statuses`` of its answers."""
    made: dict[str, Any] = {'statuses': []}
    http = settings(requests_per_s=requests_per_s)

    def app() -> Any:
        api = create_app(robot, settings=http, token=token)
        made['calls'] = add_mcp(api, robot, config)

        async def counted(scope: Any, receive: Any, send: Any) -> None:
            async def sending(message: Any) -> None:
                if message['type'] == 'http.response.start':
                    made['statuses'].append(message['status'])
                await send(message)

            await api(scope, receive, sending)

        return counted

    with served(app, http, port) as url:
        yield {**made, 'url': f'{url}/mcp'}


@asynccontextmanager
async def mcp_client(url: str, token: str = '', **options: Any) -> AsyncIterator[Client]:
    """A client of the SDK."""
    headers = {'Authorization': f'Bearer {token}'} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=30.0) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, **options) as session:
            yield session


async def until(condition: Callable[[], Any], what: str) -> Any:
    """The first true value of ``condition``."""

    async def wait() -> Any:
        while not (value := condition()):
            await asyncio.sleep(0.005)
        return value

    try:
        return await asyncio.wait_for(wait(), LONG_S)
    except asyncio.TimeoutError:
        raise AssertionError(f'waited {LONG_S} s for {what}') from None


async def state_of(http: httpx.AsyncClient, task_id: str, *states: str) -> dict[str, Any]:
    """The task once it is in one of ``states``."""
    for _ in range(int(LONG_S / 0.01)):
        task = (await http.get(f'/tasks/{task_id}')).json()
        if task['state'] in states:
            return task
        await asyncio.sleep(0.01)
    raise AssertionError(f'waited {LONG_S} s for {states}: {task}')


class Wire:
    """One request at the level of ASGI. The client takes what comes while ``taking`` is set."""

    def __init__(self, app: Any, method: str, path: str, **headers: str) -> None:
        path, _, query = path.partition('?')
        pairs = {'host': HOST, **{key.replace('_', '-'): headers[key] for key in headers}}
        self.scope = {
            'type': 'http',
            **{'asgi': {'version': '3.0', 'spec_version': '2.3'}, 'http_version': '1.1'},
            **{'method': method, 'scheme': 'http', 'path': path, 'raw_path': path.encode()},
            **{'query_string': query.encode(), 'root_path': ''},
            'headers': [(name.encode(), value.encode('utf-8')) for name, value in pairs.items()],
            'client': ('127.0.0.1', 4711),
            'server': ('127.0.0.1', 8765),
        }
        self.app = app
        self.status = 0
        self.body = b''
        self.taking = asyncio.Event()
        self.taking.set()
        self.sends = 0  # that were begun
        self.input: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.done: asyncio.Task[None] | None = None

    async def _send(self, message: dict[str, Any]) -> None:
        self.sends += 1
        await self.taking.wait()
        if message['type'] == 'http.response.start':
            self.status = message['status']
        self.body += message.get('body', b'')

    def body_of(self, *parts: bytes) -> None:
        for index, part in enumerate(parts):
            more = index + 1 < len(parts)
            self.input.put_nowait({'type': 'http.request', 'body': part, 'more_body': more})

    async def __aenter__(self) -> Wire:
        if self.scope['method'] in ('GET', 'HEAD'):
            self.body_of(b'')
        self.done = asyncio.create_task(self.app(self.scope, self.input.get, self._send))
        return self

    def leave(self) -> None:
        self.input.put_nowait({'type': 'http.disconnect'})

    async def ended(self) -> None:
        """Until the app is done with the request."""
        assert self.done is not None
        await asyncio.wait_for(asyncio.shield(self.done), LONG_S)

    async def __aexit__(self, *error: object) -> None:
        self.taking.set()
        self.leave()
        await self.ended()

    async def got(self, text: str) -> None:
        await until(lambda: text.encode() in self.body, f'{text!r} in {self.body[-300:]!r}')
