# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""``/mcp``: streamable HTTP within the agent's HTTP server, behind its checks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
import logging
from typing import Any

import anyio
from curiosity_rosa_demo.agent.interfaces.http import problems
from curiosity_rosa_demo.agent.interfaces.mcp.calls import GONE_KEY, ToolCalls
from curiosity_rosa_demo.agent.interfaces.mcp.server import make_server
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.agent.tasks import SkillRunner
from curiosity_rosa_demo.infra.config.contracts import Config
from fastapi import FastAPI
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

PATH = '/mcp'
MAX_SESSIONS = 16
IDLE_S = 1800.0
SESSION_ENDED = 'The MCP session has ended; initialize a new one.'


class McpEndpoint:
    """The ASGI application of ``/mcp``. Token, Host, Origin, rate and size are checked outside."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.Event()
        scope[GONE_KEY] = gone  # a call whose response can reach nobody ends its task
        started = complete = False

        async def once(message: Message) -> None:
            # When a session closes just after a notification was accepted, the SDK answers again.
            nonlocal started, complete
            if complete:
                return
            started = True
            complete = message['type'] == 'http.response.body' and not message.get('more_body')
            await send(message)

        try:
            await self._manager.handle_request(scope, receive, once)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            # The session has ended while its request was on the way.
            if not started:
                await problems.refuse(scope, receive, send, 404, SESSION_ENDED)
        finally:
            gone.set()


def add_mcp(app: FastAPI, robot: Robot, runner: SkillRunner, config: Config) -> ToolCalls:
    """Serve MCP in ``app``, within its lifespan. Call it before a page takes the other paths."""
    # The SDK logs each session and request, which tells an operator nothing.
    logging.getLogger('mcp').setLevel(logging.WARNING)
    calls = ToolCalls(robot, runner)
    manager = StreamableHTTPSessionManager(
        make_server(robot, runner, config, calls),
        max_request_body_size=config.agent.http.max_body_bytes,
        session_idle_timeout=IDLE_S,
        max_sessions=MAX_SESSIONS,
    )
    app.router.routes.append(Route(PATH, endpoint=McpEndpoint(manager)))
    around = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(inner: Any) -> AsyncIterator[Any]:
        async with around(inner) as state, manager.run():
            try:
                yield state
            finally:
                await calls.close()

    app.router.lifespan_context = lifespan
    return calls
