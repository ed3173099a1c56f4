# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Endless streaming responses to clients that may be slow or disconnect."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Protocol

from curiosity_rosa_demo.agent.interfaces.http import problems
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

SEND_TIMEOUT_S = 10.0  # longest wait for a client that reads nothing
CLIENT_GONE = (OSError, asyncio.TimeoutError)  # the client is gone, or slow


class ChunkSource(Protocol):
    # setting it disconnects the client, also during a pending send
    is_closed: asyncio.Event

    def chunks(self) -> AsyncIterator[bytes]: ...

    def close(self) -> None: ...


class ConnectionSlots:
    """The limit of concurrent streams, so that other requests always get a connection."""

    def __init__(self, limit: int) -> None:
        self.limit, self.taken = limit, 0


class StreamingResponse(Response):
    """Calls ``open_source`` when the response starts, and always closes the source at its end."""

    def __init__(
        self, open_source: Callable[[], ChunkSource], media_type: str, seats: ConnectionSlots
    ) -> None:
        self._open, self._seats = open_source, seats
        super().__init__(media_type=media_type, headers={'Cache-Control': 'no-store'})
        del self.headers['content-length']

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._seats.taken >= self._seats.limit:
            detail = f'{self._seats.limit} streams are open, and there may be no more; close one'
            await problems.refuse(scope, receive, send, 503, detail, {'Retry-After': '5'})
            return
        self._seats.taken += 1
        source = self._open()
        try:
            await self._run(source, receive, send)
        finally:
            self._seats.taken -= 1
            source.close()

    async def _run(self, source: ChunkSource, receive: Receive, send: Send) -> None:
        jobs = [
            asyncio.ensure_future(work)
            for work in (
                self._send_chunks(source, send),
                _wait_for_disconnect(receive),
                source.is_closed.wait(),
            )
        ]
        try:
            await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for job in jobs:
                job.cancel()
            await asyncio.wait(jobs)
        sender = jobs[0]
        error = None if sender.cancelled() else sender.exception()
        if error is not None and not isinstance(error, CLIENT_GONE):
            raise error

    async def _send_chunks(self, source: ChunkSource, send: Send) -> None:
        start = {'type': 'http.response.start', 'status': 200, 'headers': self.raw_headers}
        await send(start)
        async for chunk in source.chunks():
            message: Message = {'type': 'http.response.body', 'body': chunk, 'more_body': True}
            await asyncio.wait_for(send(message), SEND_TIMEOUT_S)
        await send({'type': 'http.response.body', 'body': b'', 'more_body': False})


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())['type'] != 'http.disconnect':
        pass
