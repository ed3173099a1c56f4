# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Accepts the connections of the HTTP server, in a thread with its own loop.

A connection belongs to this thread until the head of its first request is complete. ``POST /stop``
(and ``/fleet/stop``) is then served in this thread, by the same application and so with the same
checks; every other request goes to the server's loop. So no other request, whether slow, endless
or one of thousands, takes from the stop its listener, its connections or its thread.

Over the limit of incomplete heads, the oldest one of the address with most of them is dropped. A
first request that the server has no connection for is refused with 503.

Imports uvicorn, which is slow.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
import errno
import json
import re
import socket
import threading
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.problems import MEDIA_TYPE, Problem
import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

MAX_INCOMPLETE_HEADS = 256  # connections
MAX_HEAD_BYTES = 32_768  # bytes of a request's line and headers
HEAD_TIMEOUT_S = 10.0  # from the connection, or a head's first byte, to the end of the head
MAX_STOPS = 256  # connections whose stop waits for its answer
ACCEPTS_PER_TURN = 64  # less than MAX_INCOMPLETE_HEADS: a new one is read before it may be dropped
READ_BYTES = 65_536
NO_DESCRIPTOR_S = 0.1  # wait after the process had no file descriptor left
HEAD_END = re.compile(rb'\n\r?\n')
STOP_LINE = re.compile(rb'POST (/fleet)?/stop(\?[^ ]*)? HTTP/1\.[01]\r?\n')
FIRST_PRINTABLE = 0x21  # a request begins with a byte not below
CLOSE_HEADER = (b'connection', b'close')


class Acceptor:
    """For ``server``, which has started in the running loop without listeners."""

    def __init__(
        self, listener: socket.socket, server: uvicorn.Server, max_connections: int
    ) -> None:
        self._listener, self._loop = listener, asyncio.new_event_loop()
        self._stops = _Pool(server, self._loop, limit=MAX_STOPS, once=True)
        self._others = _Pool(server, asyncio.get_running_loop(), limit=max_connections)
        self._heads: dict[socket.socket, _Head] = {}  # the oldest first
        self._thread = threading.Thread(target=self._run, name='http-accept', daemon=True)

    def start(self) -> None:
        self._listener.setblocking(False)
        self._thread.start()

    def close(self, timeout_s: float) -> None:
        """Accept no more, disconnect the clients of this thread, and wait for its end."""
        if not self._thread.is_alive():
            self._loop.close()  # it was never started
            return
        with suppress(RuntimeError):  # it ends just now
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout_s)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.add_reader(self._listener, self._accept)
        try:
            self._loop.run_forever()
        finally:
            self._loop.remove_reader(self._listener)
            for connection in list(self._heads):
                self._drop(connection)
            self._stops.close()
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.run_until_complete(asyncio.sleep(0))
            self._loop.close()

    def _accept(self) -> None:
        for _ in range(ACCEPTS_PER_TURN):
            try:
                connection, address = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                    raise
                self._on_no_descriptor()
                return
            connection.setblocking(False)
            if len(self._heads) >= MAX_INCOMPLETE_HEADS:
                self._drop_one()
            timeout = self._loop.call_later(HEAD_TIMEOUT_S, self._drop, connection)
            self._heads[connection] = _Head(str(address[0]), timeout)
            self._loop.add_reader(connection, self._read, connection)

    def _on_no_descriptor(self) -> None:
        """Free some; the listener stays readable, so it is left alone for a moment."""
        for _ in range(min(len(self._heads), ACCEPTS_PER_TURN)):
            self._drop_one()
        self._loop.remove_reader(self._listener)
        self._loop.call_later(NO_DESCRIPTOR_S, self._loop.add_reader, self._listener, self._accept)

    def _read(self, connection: socket.socket) -> None:
        try:
            data = connection.recv(READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b''
        if not data:
            self._drop(connection)
            return
        received = self._heads[connection].received
        # A terminator may begin up to two bytes before the new data.
        start = max(0, len(received) - 2)
        received += data
        is_complete = (
            HEAD_END.search(received, start) is not None
            or len(received) > MAX_HEAD_BYTES
            or received[0] < FIRST_PRINTABLE  # no HTTP: the server answers it at once
        )
        if is_complete:
            self._release(connection)
            pool = self._stops if STOP_LINE.match(received) else self._others
            pool.add(connection, bytes(received))

    def _release(self, connection: socket.socket) -> None:
        self._heads.pop(connection).timeout.cancel()
        self._loop.remove_reader(connection)

    def _drop(self, connection: socket.socket) -> None:
        if connection in self._heads:
            self._release(connection)
            connection.close()

    def _drop_one(self) -> None:
        """Drop the oldest incomplete head of the address that has most of them."""
        addresses = Counter(head.address for head in self._heads.values())
        [(greediest, _)] = addresses.most_common(1)
        self._drop(next(each for each, head in self._heads.items() if head.address == greediest))


@dataclass(eq=False)
class _Head:
    """An incomplete head, from the client's ``address``."""

    address: str
    timeout: asyncio.TimerHandle
    received: bytearray = field(default_factory=bytearray)


class _Pool:
    """The connections of ``server`` that ``loop`` serves, at most ``limit``. ``once``: each is
    closed after its first response.
    """

    def __init__(
        self,
        server: uvicorn.Server,
        loop: asyncio.AbstractEventLoop,
        *,
        limit: int,
        once: bool = False,
    ) -> None:
        self._server, self._loop, self._limit, self._once = server, loop, limit, once
        self._state = ServerState() if once else server.server_state
        self._waiting: dict[socket.socket, Future[None]] = {}  # added, and not yet in the loop

    def add(self, connection: socket.socket, received: bytes) -> None:
        """Serve ``connection``, from which ``received`` has been read, or refuse it."""
        if len(self._state.connections) + len(self._waiting) >= self._limit:
            _refuse(connection)
            return
        work = self._serve(connection, received)
        try:
            job = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:  # the loop has ended
            work.close()
            connection.close()
            return
        self._waiting[connection] = job
        job.add_done_callback(lambda _: self._waiting.pop(connection, None))

    def close(self) -> None:
        """Disconnect all clients. In the loop, or after its end."""
        for protocol in list(self._state.connections):
            if protocol.transport is not None:
                protocol.transport.abort()
        for connection in list(self._waiting):
            connection.close()

    async def _serve(self, connection: socket.socket, received: bytes) -> None:
        if self._once:
            headers = self._server.server_state.default_headers
            self._state.default_headers = [*headers, CLOSE_HEADER]
        try:
            await self._loop.connect_accepted_socket(lambda: self._protocol(received), connection)
        except OSError:  # the client has disconnected
            connection.close()

    def _protocol(self, received: bytes) -> TimeoutProtocol:
        return TimeoutProtocol(
            config=self._server.config,
            server_state=self._state,
            app_state=self._server.lifespan.state,
            _loop=self._loop,
            received=received,
        )


def _refuse(connection: socket.socket) -> None:
    problem = Problem(503, 'All connections of the server are in use; close one.')
    body = json.dumps(problem.body('')).encode()
    head = (
        f'HTTP/1.1 503 Service Unavailable\r\nContent-Type: {MEDIA_TYPE}\r\n'
        f'Content-Length: {len(body)}\r\nConnection: close\r\nRetry-After: 5\r\n\r\n'
    )
    with connection, suppress(OSError):
        connection.send(head.encode() + body)
        connection.shutdown(socket.SHUT_WR)


class TimeoutProtocol(H11Protocol):
    """HTTP/1.1 with a time-out for the head of a request, against slow hostile clients; uvicorn
    itself waits for ever. ``received``: bytes that were read from the connection before.
    """

    _deadline: asyncio.TimerHandle | None = None

    def __init__(self, *args: Any, received: bytes = b'', **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._received = received

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._start_timer()
        if self._received:
            # not at once: the transport begins to read after this call, also if it was paused
            self.loop.call_soon(self.data_received, self._received)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        is_http = self.transport.get_protocol() is self  # otherwise it became a websocket
        if is_http and self.conn.their_state is h11.IDLE:
            self._start_timer()
        else:
            self._cancel_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_TIMEOUT_S, self.transport.close)

    def _cancel_timer(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
