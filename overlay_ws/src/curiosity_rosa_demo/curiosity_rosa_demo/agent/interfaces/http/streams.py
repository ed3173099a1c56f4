# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Endless answers: events and the console's texts as server-sent events, the camera as pictures.

The id of an event is ``<process>-<number>``, with the number of the event bus. A client that
reconnects with its last id gets the events that it has missed. Where the bus no longer has some,
also for a client that reads too slowly, an event ``gap`` stands for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from functools import partial
import json
import secrets
import time
from typing import Annotated, Any

from curiosity_rosa_demo.agent.interfaces.http.problems import (
    no_json,
    Problem,
    refuse,
)
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.agent.tasks import Event
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.pictures import Picture, WHOLE
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.trace.trace_buffer import EventBus, Subscription
from curiosity_rosa_demo.trace.trace_codec import encode
from fastapi import APIRouter, Header, Query, Response
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.types import Receive, Scope, Send

SEND_TIMEOUT_S = 10.0  # longest wait for a client that reads nothing
HEARTBEAT_S, NEVER_S = 15.0, 1e9
RETRY_MS = 2000
GAP = 'Some events before these are not kept any more'
MAX_BATCH = 50  # events that a client takes from the bus at once
MAX_REASON_CHARS = 2000
STATUS_PERIOD_S = 1.0
MAX_LAST_TEXTS = 200
FIRST_FRAME_TIMEOUT_S = 2.0  # the first request switches the camera on
MAX_FRAME_AGE_S = 2.0
POLL_PERIOD_S = 0.05
BOUNDARY = 'frame'
MJPEG_TYPE = f'multipart/x-mixed-replace; boundary={BOUNDARY}'

LastEventId = Annotated[str | None, Header(max_length=100)]
Stream = AsyncGenerator[Any, None]


class Streams:
    """The open streams, at most ``limit``, so that other requests always get a connection."""

    def __init__(self, limit: int) -> None:
        self.limit, self.open = limit, 0


class StreamResponse(EventSourceResponse):
    """Closes ``chunks`` at its end, whoever ends it. A client that is gone or slow is no error."""

    def __init__(
        self,
        chunks: Stream,
        streams: Streams,
        media_type: str = 'text/event-stream',
        *,
        ping: float = HEARTBEAT_S,
    ) -> None:
        super().__init__(
            chunks,
            media_type=media_type,
            sep='\n',
            ping=ping,
            ping_message_factory=partial(ServerSentEvent, comment='still here', sep='\n'),
            send_timeout=SEND_TIMEOUT_S,
        )
        self._chunks, self._streams = chunks, streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._streams.open >= self._streams.limit:
            detail = f'{self._streams.limit} streams are open, and there may be no more; close one'
            await refuse(scope, receive, send, Problem(503, detail, headers={'Retry-After': '5'}))
            return
        self._streams.open += 1
        try:
            with suppress(OSError):  # among them a send that was too slow
                await super().__call__(scope, receive, send)
        finally:
            self._streams.open -= 1
            await self._chunks.aclose()


# --- Events ------------------------------------------------------------------------------------


class EventFeed:
    """The events of ``bus`` for clients. Use it in the server's loop only. ``status``: a text that
    is sent whenever it changes.
    """

    def __init__(self, bus: EventBus, status: Callable[[], str] | None = None) -> None:
        self.bus, self._status = bus, status
        self.process = secrets.token_hex(4)
        self._clients: set[asyncio.Event] = set()  # wakes each of them
        self._closed = False

    @property
    def client_count(self) -> int:
        return len(self._clients)

    def close(self) -> None:
        """End the streams of all clients."""
        self._closed = True
        for wakeup in self._clients:
            wakeup.set()

    async def events(self, last_id: str | None, last: int = 0) -> Stream:
        """From now on, or the events after ``last_id``, or else the ``last`` ones first."""
        wakeup, loop = asyncio.Event(), asyncio.get_running_loop()

        def wake() -> None:
            with suppress(RuntimeError):  # the server's loop has ended
                loop.call_soon_threadsafe(wakeup.set)

        after = max(self.bus.last_number - last, 0) if last_id is None else self._number(last_id)
        reader = Subscription(self.bus, 'HTTP event stream', object, after=after, wake=wake)
        self._clients.add(wakeup)
        shown = None
        try:
            yield ServerSentEvent(retry=RETRY_MS, sep='\n')
            while True:
                wakeup.clear()
                while (batch := reader.read(MAX_BATCH)).events or batch.lost:
                    if batch.lost:
                        yield _message('gap', detail=GAP)
                    for each in batch.events:
                        if (message := _message_of(each.event)) is not None:
                            message.id = f'{self.process}-{each.number}'
                            yield message
                if self._status is not None and (status := self._status()) != shown:
                    shown = status
                    yield _message('status', text=status)
                if self._closed:
                    return
                period_s = None if self._status is None else STATUS_PERIOD_S
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(wakeup.wait(), period_s)
        finally:
            reader.close()
            self._clients.discard(wakeup)

    def _number(self, last_id: str) -> int:
        """The number in ``last_id``; -1 if it is no id of this process."""
        process, _, number = last_id.partition('-')
        if process != self.process or not (number.isascii() and number.isdigit()):
            return -1
        return int(number) if len(number) < 20 and int(number) <= self.bus.last_number else -1


def _message(event: str, **data: str) -> ServerSentEvent:
    return ServerSentEvent(json.dumps(data), event=event, sep='\n')


def _message_of(event: object) -> ServerSentEvent | None:
    """None: the event is for nobody outside."""
    if isinstance(event, str):
        return _message('text', text=event)
    if isinstance(event, TraceEvent):
        return ServerSentEvent(encode(event), event='trace', sep='\n')
    if isinstance(event, Event):
        return ServerSentEvent(_task_json(event), event='task', sep='\n')
    return None


def _task_json(event: Event) -> str:
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
    told = {'task_id': event.task_id, 'type': event.type.value, 'at': event.at.isoformat()}
    return json.dumps({**told, **details}, default=str)


def event_routes(feed: EventFeed, streams: Streams) -> APIRouter:
    router = APIRouter(tags=['events'])

    @router.get('/events', **no_json('text/event-stream'))
    async def events(last_event_id: LastEventId = None) -> StreamResponse:
        """The events ``trace`` and ``task`` from now on, or since ``Last-Event-ID``. An event
        ``gap`` stands for events that are no longer stored.
        """
        return StreamResponse(feed.events(last_event_id), streams)

    return router


def console_routes(feed: EventFeed, streams: Streams) -> APIRouter:
    router = APIRouter(tags=['console'])

    @router.get('/console', **no_json('text/event-stream'))
    async def console(
        last_event_id: LastEventId = None,
        last: Annotated[int, Query(ge=0, le=MAX_LAST_TEXTS)] = 0,
    ) -> StreamResponse:
        """What the console prints from now on, since ``Last-Event-ID``, or from the ``last`` texts
        on: the events ``text``, ``status`` and ``gap``.
        """
        return StreamResponse(feed.events(last_event_id, last), streams)

    return router


# --- The camera --------------------------------------------------------------------------------


async def newest_picture(robot: Robot, longest_px: int = WHOLE) -> Picture | None:
    """In a thread: to make a JPEG takes a while."""
    return await asyncio.to_thread(robot.picture, longest_px)


async def frames(robot: Robot, hz: float) -> Stream:
    """Yields each new picture once, at most ``hz`` per second. Never queues a picture."""
    shown = float('-inf')
    while True:
        picture = await newest_picture(robot)
        if picture is not None and picture.received_s > shown and _is_fresh(picture):
            shown = picture.received_s
            head = (
                f'--{BOUNDARY}\r\nContent-Type: image/jpeg\r\n'
                f'Content-Length: {len(picture.jpeg)}\r\nX-Timestamp: {picture.at:.3f}\r\n\r\n'
            )
            yield head.encode() + picture.jpeg + b'\r\n'
        await asyncio.sleep(1.0 / hz)


async def fresh_picture(robot: Robot, wait_s: float, longest_px: int = WHOLE) -> Picture:
    """A picture that is at most MAX_FRAME_AGE_S old, its longer side at most ``longest_px``.
    Raises Problem after ``wait_s``.
    """
    until = time.monotonic() + wait_s
    while (picture := await newest_picture(robot, longest_px)) is None or not _is_fresh(picture):
        if time.monotonic() >= until:
            why = 'has come'
            if picture is not None:
                why = f'but one that is {time.monotonic() - picture.received_s:.0f} s old'
            detail = f'No picture of the camera {why}; is it switched on?'
            raise Problem(503, detail, headers={'Retry-After': '2'})
        await asyncio.sleep(POLL_PERIOD_S)
    return picture


def _is_fresh(picture: Picture) -> bool:
    return time.monotonic() - picture.received_s <= MAX_FRAME_AGE_S


def jpeg_response(picture: Picture, at: float) -> Response:
    """``at``: its time in seconds since the epoch. Its age is told, too: the clock of another
    machine may differ, and a clock may be set.
    """
    age_s = time.monotonic() - picture.received_s
    told = {'X-Timestamp': f'{at:.3f}', 'X-Age': f'{age_s:.3f}'}
    headers = {'Cache-Control': 'no-store', **told}
    return Response(picture.jpeg, media_type='image/jpeg', headers=headers)


def camera_routes(
    robot: Robot, streams: Streams, hz: float, *, wait_s: float = FIRST_FRAME_TIMEOUT_S
) -> APIRouter:
    router = APIRouter(tags=['camera'])

    @router.get('/camera.jpg', **no_json('image/jpeg'))
    async def jpeg() -> Response:
        """The newest picture. 503: no picture arrived within the last seconds."""
        picture = await fresh_picture(robot, wait_s)
        return jpeg_response(picture, picture.at)

    @router.get('/camera.mjpg', **no_json('multipart/x-mixed-replace'))
    async def mjpeg() -> StreamResponse:
        """A stream of pictures. A slow client gets fewer."""
        await fresh_picture(robot, wait_s)
        return StreamResponse(frames(robot, hz), streams, MJPEG_TYPE, ping=NEVER_S)

    return router
