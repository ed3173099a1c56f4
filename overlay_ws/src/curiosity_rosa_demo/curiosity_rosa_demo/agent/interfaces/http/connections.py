# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Hands connections that the acceptor has accepted to uvicorn's protocol, in a loop.

Imports uvicorn, which is slow.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Annotated

from curiosity_rosa_demo.agent.interfaces.http import limits
from curiosity_rosa_demo.agent.interfaces.http.acceptor import Acceptor
from curiosity_rosa_demo.agent.interfaces.http.limits import TimeoutProtocol
from curiosity_rosa_demo.agent.interfaces.http.session import PAGE_SESSION
from curiosity_rosa_demo.domain.origin import caller_text, Origin
from fastapi import Depends, Query, Request
import uvicorn
from uvicorn.server import ServerState

MAX_STOPS = 256  # connections whose stop waits for its answer
CLOSE_HEADER = (b'connection', b'close')


class ConnectionPool:
    """The connections of ``server`` that ``loop`` serves, at most ``limit``. add() and has_room()
    are for the acceptor's thread.
    """

    def __init__(
        self,
        server: uvicorn.Server,
        loop: asyncio.AbstractEventLoop,
        *,
        limit: int,
        once: bool = False,
    ) -> None:
        """``once``: a connection is closed after its first response."""
        self._server, self._loop, self._limit, self._once = server, loop, limit, once
        self._state = ServerState() if once else server.server_state
        self._waiting: set[socket.socket] = set()  # added, and not yet in the loop
        self._jobs: set[asyncio.Task[None]] = set()

    def has_room(self) -> bool:
        return len(self._state.connections) + len(self._waiting) < self._limit

    def add(self, connection: socket.socket, received: bytes) -> None:
        """Serve ``connection``, from which ``received`` has been read."""
        self._waiting.add(connection)
        try:
            self._loop.call_soon_threadsafe(self._start, connection, received)
        except RuntimeError:  # the loop has ended
            self._waiting.discard(connection)
            connection.close()

    def close(self) -> None:
        """Disconnect all clients. In the loop, or after its end."""
        for protocol in list(self._state.connections):
            if protocol.transport is not None:
                protocol.transport.abort()
        for connection in list(self._waiting):
            connection.close()

    def _start(self, connection: socket.socket, received: bytes) -> None:
        job = self._loop.create_task(self._serve(connection, received))
        self._jobs.add(job)  # the loop itself holds only a weak reference
        job.add_done_callback(self._jobs.discard)

    async def _serve(self, connection: socket.socket, received: bytes) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: self._protocol(received), connection)
        except OSError:  # the client has disconnected
            connection.close()
        finally:
            self._waiting.discard(connection)

    def _protocol(self, received: bytes) -> TimeoutProtocol:
        if self._once:
            self._state.default_headers = [
                *self._server.server_state.default_headers,
                CLOSE_HEADER,
            ]
        return TimeoutProtocol(
            config=self._server.config,
            server_state=self._state,
            app_state=self._server.lifespan.state,
            _loop=self._loop,
            received=received,
        )


def make_acceptor(
    listener: socket.socket, server: uvicorn.Server, *, max_connections: int
) -> Acceptor:
    """For ``server``, which has started in the running loop without listeners."""
    loop = asyncio.new_event_loop()
    return Acceptor(
        listener,
        loop,
        stops=ConnectionPool(server, loop, limit=MAX_STOPS, once=True),
        others=ConnectionPool(server, asyncio.get_running_loop(), limit=max_connections),
        max_head_bytes=server.config.h11_max_incomplete_event_size or 0,
        head_timeout_s=limits.HEAD_TIMEOUT_S,
    )


# --- Who makes a request, as its query says: for display only ----------------------------------


OPERATOR = Query(description='your name, for the others to see; at most 40 characters are shown')
CLIENT = Query(description='what you use, such as page; lower-case letters, digits and hyphens')


async def _caller(
    operator: Annotated[str, OPERATOR] = '', client: Annotated[str, CLIENT] = ''
) -> str:
    """No value is refused: that could block a stop. A coroutine, since others need a thread."""
    return caller_text(client, operator)


async def _operator(operator: Annotated[str, OPERATOR] = '') -> str:
    return operator


async def _door(request: Request) -> Origin:
    """An order of a page, which has the session, is the page's, not that of a script."""
    return Origin.PAGE if request.scope.get(PAGE_SESSION) else Origin.HTTP


Caller = Annotated[str, Depends(_caller)]
Door = Annotated[Origin, Depends(_door)]
Operator = Annotated[str, Depends(_operator)]
