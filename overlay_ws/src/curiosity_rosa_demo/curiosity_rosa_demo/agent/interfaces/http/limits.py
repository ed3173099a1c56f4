# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Limits for one client: its rate of requests, and the size of a body."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
import ipaddress
import math
import time
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.host_check import headers
from curiosity_rosa_demo.agent.interfaces.http.problems import refuse
import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

BURST_WINDOW_S = 10.0  # the burst is the number of requests in this time
MAX_CLIENTS = 4096  # clients with a stored bucket
BODY_TIMEOUT_S = 10.0
FLEET_STOP_PATH = '/fleet/stop'
STOP_PATHS = ('/stop', FLEET_STOP_PATH)  # never limited, and no session is needed
PAGE_FILES_PREFIX = '/static/'  # many files, which browsers cache


class TokenBuckets:
    """A token bucket per client. ``rate``: tokens per second. The least recently seen client is
    removed first; a removed client gets a full bucket again.
    """

    def __init__(
        self,
        rate: float,
        burst: float,
        *,
        clients: int = MAX_CLIENTS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rate, self._burst, self._clients, self._clock = rate, burst, clients, clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()  # level, time

    def seconds_until_granted(self, client: str) -> float:
        """0.0: the request is granted; otherwise the seconds until the next one is."""
        now = self._clock()
        level, at = self._levels.pop(client, (self._burst, now))
        level = min(self._burst, level + max(0.0, now - at) * self._rate)
        granted = level >= 1.0
        self._levels[client] = (level - 1.0 if granted else level, now)
        if len(self._levels) > self._clients:
            self._levels.popitem(last=False)
        return 0.0 if granted else (1.0 - level) / self._rate

    def __len__(self) -> int:
        return len(self._levels)


def client_address(scope: Scope) -> str:
    """The address of the client. For IPv6 its network, as one client has many addresses there."""
    host = (scope.get('client') or ('', 0))[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return str(host)
    if address.version == 4:
        return str(address)
    return str(ipaddress.ip_network((int(address), 64), strict=False))


class RateLimit:
    """Middleware. The stop is never limited."""

    def __init__(self, app: ASGIApp, per_s: float) -> None:
        self._app = app
        self._buckets = TokenBuckets(per_s, max(1.0, per_s * BURST_WINDOW_S))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wait_s = (
            0.0
            if _is_unlimited(scope)
            else self._buckets.seconds_until_granted(client_address(scope))
        )
        if wait_s == 0.0:
            await self._app(scope, receive, send)
            return
        again_s = math.ceil(wait_s)
        detail = f'Too many requests; try again in {again_s} s.'
        await refuse(scope, receive, send, 429, detail, {'Retry-After': str(again_s)})


class BodyLimit:
    """Middleware. Reads the whole body, or refuses it, before the application runs."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app, self._max = app, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope['type'] != 'http' or not _has_body(scope) or scope['path'] in STOP_PATHS:
            await self._app(scope, receive, send)
            return
        length = headers(scope, b'content-length')
        if length and length[0].isdigit() and _exceeds(length[0], self._max):
            await self._refuse(scope, receive, send)
            return
        try:
            body = await asyncio.wait_for(self._read(receive), BODY_TIMEOUT_S)
        except asyncio.TimeoutError:
            detail = f'The body did not come within {BODY_TIMEOUT_S:g} s.'
            await refuse(scope, receive, send, 408, detail, {'Connection': 'close'})
            return
        if body is None:
            await self._refuse(scope, receive, send)
            return
        rest: list[Message] = [{'type': 'http.request', 'body': body, 'more_body': False}]

        async def replay() -> Message:
            return rest.pop() if rest else await receive()

        await self._app(scope, replay, send)

    async def _read(self, receive: Receive) -> bytes | None:
        """The body; None: it is too large."""
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message['type'] == 'http.disconnect':
                return b''.join(parts)
            parts.append(message.get('body', b''))
            size += len(parts[-1])
            if size > self._max:
                return None
            if not message.get('more_body', False):
                return b''.join(parts)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        detail = f'The body is larger than {self._max} bytes.'
        await refuse(scope, receive, send, 413, detail, {'Connection': 'close'})


def _is_unlimited(scope: Scope) -> bool:
    if scope['type'] not in ('http', 'websocket'):
        return True
    return scope['path'] in STOP_PATHS or scope['path'].startswith(PAGE_FILES_PREFIX)


def _has_body(scope: Scope) -> bool:
    return bool(headers(scope, b'content-length') or headers(scope, b'transfer-encoding'))


def _exceeds(digits: bytes, limit: int) -> bool:
    return len(digits) > 18 or int(digits) > limit


# -----------------------------------------------------------------------------------------------
# HTTP/1.1 with a time-out for the head of a request, against slow hostile clients. uvicorn itself
# waits for ever.


HEAD_TIMEOUT_S = 10.0  # from the connection, or a head's first byte, to the end of the head


class TimeoutProtocol(H11Protocol):
    """``received``: bytes that were read from the connection before this protocol got it."""

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
