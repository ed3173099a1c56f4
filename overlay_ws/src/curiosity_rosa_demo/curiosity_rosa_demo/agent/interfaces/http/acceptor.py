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
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
import errno
import json
import re
import socket
import threading
from typing import Protocol

MAX_INCOMPLETE_HEADS = 256  # connections
ACCEPTS_PER_TURN = 64  # less than MAX_INCOMPLETE_HEADS: a new one is read before it may be dropped
BACKLOG = 1024  # connections that the kernel holds; beyond, it makes clients wait for 1 s
READ_BYTES = 65_536
NO_DESCRIPTOR_S = 0.1  # wait after the process had no file descriptor left
HEAD_END = re.compile(rb'\n\r?\n')
STOP_LINE = re.compile(rb'POST (/fleet)?/stop(\?[^ ]*)? HTTP/1\.[01]\r?\n')
FIRST_PRINTABLE = 0x21  # a request begins with a byte not below


class Connections(Protocol):
    """Those that one loop serves. It owns each connection that is added."""

    def has_room(self) -> bool: ...

    def add(self, connection: socket.socket, received: bytes) -> None: ...

    def close(self) -> None: ...


class Acceptor:
    """Runs ``loop`` in its thread. ``stops`` are served in this loop; it is closed with it."""

    def __init__(
        self,
        listener: socket.socket,
        loop: asyncio.AbstractEventLoop,
        *,
        stops: Connections,
        others: Connections,
        max_head_bytes: int,
        head_timeout_s: float,
    ) -> None:
        self._listener, self._loop = listener, loop
        self._stops, self._others = stops, others
        self._max_head, self._head_timeout_s = max_head_bytes, head_timeout_s
        self._heads: dict[socket.socket, _Head] = {}  # the oldest first
        self._addresses: Counter[str] = Counter()  # incomplete heads by client address
        self._thread = threading.Thread(target=self._run, name='http-accept', daemon=True)

    def start(self) -> None:
        self._listener.setblocking(False)
        self._listener.listen(BACKLOG)
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
            self._heads[connection] = _Head(
                str(address[0]),
                self._loop.call_later(self._head_timeout_s, self._drop, connection),
            )
            self._addresses[str(address[0])] += 1
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
            or len(received) > self._max_head
            or received[0] < FIRST_PRINTABLE  # no HTTP: the server answers it at once
        )
        if is_complete:
            self._release(connection)
            self._pass_on(connection, bytes(received))

    def _pass_on(self, connection: socket.socket, received: bytes) -> None:
        connections = self._stops if STOP_LINE.match(received) else self._others
        if connections.has_room():
            connections.add(connection, received)
        else:
            _refuse(connection)

    def _release(self, connection: socket.socket) -> None:
        head = self._heads.pop(connection)
        head.timeout.cancel()
        self._addresses[head.address] -= 1
        if not self._addresses[head.address]:
            del self._addresses[head.address]
        self._loop.remove_reader(connection)

    def _drop(self, connection: socket.socket) -> None:
        if connection in self._heads:
            self._release(connection)
            connection.close()

    def _drop_one(self) -> None:
        """Drop the oldest incomplete head of the address that has most of them."""
        [(greediest, _)] = self._addresses.most_common(1)
        self._drop(next(each for each, head in self._heads.items() if head.address == greediest))


class _Head:
    """An incomplete head."""

    def __init__(self, address: str, timeout: asyncio.TimerHandle) -> None:
        self.address, self.timeout = address, timeout
        self.received = bytearray()


def _refuse(connection: socket.socket) -> None:
    detail = 'All connections of the server are in use; close one.'
    body = json.dumps(
        {'type': 'about:blank', 'title': 'Service Unavailable', 'status': 503, 'detail': detail}
    ).encode()
    head = (
        'HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n'
        f'Content-Length: {len(body)}\r\nConnection: close\r\nRetry-After: 5\r\n\r\n'
    )
    with connection, suppress(OSError):
        connection.send(head.encode() + body)
        connection.shutdown(socket.SHUT_WR)
