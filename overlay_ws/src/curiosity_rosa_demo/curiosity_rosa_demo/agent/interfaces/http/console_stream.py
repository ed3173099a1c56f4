# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the agent's console prints, as server-sent events for the consoles that are attached.

``text`` is a printed text, ``status`` the line below the prompt whenever it changes. The ids, and
``gap``, are those of ``/events``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
import json
import time
from typing import Annotated

from curiosity_rosa_demo.agent.interfaces.http.event_stream import (
    ConnectionSlots,
    EventHub,
    HEARTBEAT_S,
    MAX_BATCH,
    RETRY_MS,
    StreamingResponse,
    StreamListener,
)
from curiosity_rosa_demo.agent.interfaces.http.openapi import media_type_response, problems
from curiosity_rosa_demo.domain.text import ConsoleText
from curiosity_rosa_demo.trace.trace_buffer import Batch, EventBus
from fastapi import APIRouter, Header, Query, Response

STATUS_PERIOD_S = 1.0
MAX_LAST_TEXTS = 200


class ConsoleListener(StreamListener):
    """One console: the texts, and the status line as often as it changes."""

    def __init__(self, hub: ConsoleHub, after: int | None) -> None:
        super().__init__(hub, after)
        self._console_hub = hub

    async def chunks(self) -> AsyncIterator[bytes]:
        yield f'retry: {RETRY_MS}\n\n'.encode()
        shown, sent_at = None, time.monotonic()
        while True:
            self._wakeup.clear()
            while (batch := self._events.read(MAX_BATCH)).events or batch.lost:
                for text in self._hub.messages(batch):
                    yield text
                    sent_at = time.monotonic()
            if (status := self._console_hub.status()) != shown:
                shown, sent_at = status, time.monotonic()
                yield _message('status', status)
            elif time.monotonic() - sent_at >= self._hub.heartbeat_s:
                sent_at = time.monotonic()
                yield b': still here\n\n'
            try:
                await asyncio.wait_for(self._wakeup.wait(), STATUS_PERIOD_S)
            except asyncio.TimeoutError:
                continue


class ConsoleHub(EventHub):
    """The attached consoles. Use it in the server's loop only. ``status``: the status line."""

    def __init__(
        self, texts: EventBus, status: Callable[[], str], *, heartbeat_s: float = HEARTBEAT_S
    ) -> None:
        super().__init__(texts, heartbeat_s=heartbeat_s)
        self.status = status

    def attach(self, last_id: str | None, last: int) -> ConsoleListener:
        """Add a console. It gets the texts after ``last_id``, or the ``last`` ones."""
        after = self.bus.last_number - last if last_id is None else self._number(last_id)
        listener = ConsoleListener(self, max(after, 0) if last_id is None else after)
        self.listeners.add(listener)
        return listener

    def messages(self, batch: Batch[object]) -> list[bytes]:
        found = super().messages(Batch(batch.lost, []))
        for each in batch.events:
            if isinstance(each.event, ConsoleText):
                event_id = f'id: {self.process}-{each.number}\n'.encode()
                found.append(event_id + _message('text', each.event.text))
        return found


def console_routes(hub: ConsoleHub, seats: ConnectionSlots) -> APIRouter:
    router = APIRouter(tags=['console'])

    @router.get(
        '/console',
        response_class=Response,
        responses={**media_type_response('text/event-stream'), **problems(422)},
    )
    async def console(
        last_event_id: Annotated[str | None, Header(max_length=100)] = None,
        last: Annotated[int, Query(ge=0, le=MAX_LAST_TEXTS)] = 0,
    ) -> StreamingResponse:
        """What the console prints from now on, since ``Last-Event-ID``, or from the ``last`` texts
        on: the events ``text``, ``status`` and ``gap``.
        """
        return StreamingResponse(
            lambda: hub.attach(last_event_id, last), 'text/event-stream', seats
        )

    return router


def _message(event: str, text: str) -> bytes:
    return f'event: {event}\ndata: {json.dumps({"text": text})}\n\n'.encode()
