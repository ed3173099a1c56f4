# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A robot behind a real HTTP server with /mcp, and clients of the SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.http.server_thread import HttpThread
from curiosity_rosa_demo.agent.interfaces.mcp.server import add_mcp
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.agent.tasks import SkillRunner
from curiosity_rosa_demo.infra.config.topics import Config
from http_world import settings
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


@contextmanager
def serving(robot: Robot, runner: SkillRunner, config: Config, token: str = '') -> Iterator[Any]:
    """The server's thread and its tool calls, as ``url`` and ``calls``."""
    made: dict[str, Any] = {'statuses': []}

    def app() -> Any:
        http = settings(port=0, requests_per_s=1e6)
        api = create_app(runner, robot=robot, settings=http, token=token)
        made['calls'] = add_mcp(api, robot, runner, config)

        async def counted(scope: Any, receive: Any, send: Any) -> None:
            async def sending(message: Any) -> None:
                if message['type'] == 'http.response.start':
                    made['statuses'].append(message['status'])
                await send(message)

            await api(scope, receive, sending)

        return counted

    thread = HttpThread(app, settings(port=0, requests_per_s=1e6))
    thread.start()
    made['url'] = f'{thread.url.rstrip("/")}/mcp'
    try:
        yield made
    finally:
        thread.close()


@asynccontextmanager
async def connected(url: str, token: str = '', **options: Any) -> AsyncIterator[Client]:
    headers = {'Authorization': f'Bearer {token}'} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=30.0) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, **options) as client:
            yield client
