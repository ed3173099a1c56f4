# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Trace events and task events as numbered server-sent events.

An id is ``<process>-<number>``, with the number of the event bus. A client that reconnects with
its last id gets the events that it has missed. Where the bus no longer has some, also for a client
that reads too slowly, an event ``gap`` stands for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
import json
import secrets
from typing import Protocol

from curiosity_rosa_demo.agent.interfaces.http import problems
from curiosity_rosa_demo.agent.tasks import Event
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.trace.trace_buffer import Batch, EventBus
from curiosity_rosa_demo.trace.trace_codec import encode
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

# --- Endless streaming responses to clients that may be slow or disconnect ---------------------


SEND_TIMEOUT_S = 10.0  # longest wait for a client that reads nothing
CANCEL_AGAIN_S = 0.1
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
            left = set(jobs)
            while left:  # before Python 3.12 wait_for swallows a cancel that meets its result
                for job in left:
                    job.cancel()
                _, left = await asyncio.wait(left, timeout=CANCEL_AGAIN_S)
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


MAX_BATCH = 50  # events that a client takes from the bus at once
MAX_REASON_CHARS = 2000
HEARTBEAT_S, RETRY_MS = 15.0, 2000


class StreamListener:
    """One client: the source of a StreamingResponse. Use it in the server's loop only."""

    def __init__(self, hub: EventHub, after: int | None) -> None:
        self.is_closed = asyncio.Event()
        self._hub = hub
        self._wakeup = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._events = hub.bus.subscribe(
            'HTTP event stream', object, after=after, wake=self._wake_soon
        )

    async def chunks(self) -> AsyncIterator[bytes]:
        yield f'retry: {RETRY_MS}\n\n'.encode()
        while True:
            self._wakeup.clear()
            while (batch := self._events.read(MAX_BATCH)).events or batch.lost:
                for text in self._hub.messages(batch):
                    yield text
            try:
                await asyncio.wait_for(self._wakeup.wait(), self._hub.heartbeat_s)
            except asyncio.TimeoutError:
                yield b': still here\n\n'

    def close(self) -> None:
        self._events.close()
        self._hub.listeners.discard(self)

    def _wake_soon(self) -> None:
        with suppress(RuntimeError):  # the server's loop has ended
            self._loop.call_soon_threadsafe(self._wakeup.set)


class EventHub:
    """The clients of ``bus``. Use it in the server's loop only."""

    def __init__(self, bus: EventBus, *, heartbeat_s: float = HEARTBEAT_S) -> None:
        self.bus, self.heartbeat_s = bus, heartbeat_s
        self.listeners: set[StreamListener] = set()
        self.process = secrets.token_hex(4)

    def close(self) -> None:
        """Disconnect all clients."""
        for listener in self.listeners:
            listener.is_closed.set()

    def subscribe(self, last_id: str | None) -> StreamListener:
        """Add a client. ``last_id``: the last event that it has; None: only new events."""
        listener = StreamListener(self, None if last_id is None else self._number(last_id))
        self.listeners.add(listener)
        return listener

    def messages(self, batch: Batch[object]) -> list[bytes]:
        """The events of ``batch``, as they are sent."""
        found = []
        if batch.lost:
            gap = json.dumps({'detail': 'Some events before these are not kept any more'})
            found.append(f'event: gap\ndata: {gap}\n\n'.encode())
        for number, event in ((each.number, each.event) for each in batch.events):
            if isinstance(event, TraceEvent):
                text = f'event: trace\ndata: {encode(event)}'
            elif isinstance(event, Event):
                text = f'event: task\ndata: {task_json(event)}'
            else:
                continue
            found.append(f'id: {self.process}-{number}\n{text}\n\n'.encode())
        return found

    def _number(self, last_id: str) -> int:
        """The number in ``last_id``; -1 if it is no id of this process."""
        process, _, number = last_id.partition('-')
        if process != self.process or not (number.isascii() and number.isdigit()):
            return -1
        return int(number) if len(number) < 20 and int(number) <= self.bus.last_number else -1


def task_json(event: Event) -> str:
    """A task event as one line of JSON."""
    payload = event.payload
    details: dict[str, object] = {
        key: clip(str(payload[key]), MAX_REASON_CHARS)
        for key in ('error', 'reason')
        if key in payload
    }
    for key in ('before', 'after'):
        if payload.get(key) is not None:
            details[key] = payload[key].value
    details |= {key: payload[key] for key in ('name', 'priority') if key in payload}
    return json.dumps(
        {
            'task_id': event.task_id,
            'type': event.type.value,
            'at': event.at.isoformat(),
            **details,
        },
        default=str,
    )
