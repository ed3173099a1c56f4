# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Trace events and task events as numbered server-sent events.

An id is ``<process>-<number>``. A client that reconnects with its last id gets the events that it
has missed. If some are no longer stored, an event ``gap`` comes first. A client that falls
``MAX_PENDING_MESSAGES`` events behind is disconnected, and may reconnect.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
import json
import logging
import secrets
from typing import NamedTuple

from curiosity_rosa_demo.agent.interfaces.http.access import RunnerAccess
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.agent.tasks import Event, SkillRunner
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.trace.trace_codec import encode

MAX_KEPT_MESSAGES, MAX_PENDING_MESSAGES = 1000, 250  # of at most 16 kB each
MAX_REASON_CHARS = 2000
HEARTBEAT_S, RETRY_MS = 15.0, 2000

_log = logging.getLogger('curiosity_rosa.http')


class StreamMessage(NamedTuple):
    number: int
    text: bytes


class StreamListener:
    """One client: the source of a StreamingResponse. Use it in the server's loop only."""

    def __init__(self, hub: EventHub, missed: list[bytes]) -> None:
        self.is_closed = asyncio.Event()
        self._hub, self._missed = hub, missed
        self._pending: deque[bytes] = deque()
        self._wakeup = asyncio.Event()

    def enqueue(self, text: bytes) -> None:
        if len(self._pending) >= self._hub.pending:
            self.is_closed.set()
        else:
            self._pending.append(text)
            self._wakeup.set()

    async def chunks(self) -> AsyncIterator[bytes]:
        yield f'retry: {RETRY_MS}\n\n'.encode()
        for text in self._missed:
            yield text
        self._missed = []
        while True:
            while self._pending:
                yield self._pending.popleft()
            self._wakeup.clear()
            try:
                await asyncio.wait_for(self._wakeup.wait(), self._hub.heartbeat_s)
            except asyncio.TimeoutError:
                yield b': still here\n\n'

    def close(self) -> None:
        self._hub.listeners.discard(self)


class EventHub:
    """Use it in the server's loop only. ``on_trace_event`` is called with each trace event."""

    def __init__(
        self,
        access: RunnerAccess,
        robot: Robot | None,
        *,
        on_trace_event: Callable[[TraceEvent], None] = lambda event: None,
        kept: int = MAX_KEPT_MESSAGES,
        pending: int = MAX_PENDING_MESSAGES,
        heartbeat_s: float = HEARTBEAT_S,
    ) -> None:
        self.pending, self.heartbeat_s = pending, heartbeat_s
        self.listeners: set[StreamListener] = set()
        self.process = secrets.token_hex(4)
        self._access, self._robot, self._on_trace_event = access, robot, on_trace_event
        self._ring: deque[StreamMessage] = deque(maxlen=kept)
        self._count = 0
        self._start_future: asyncio.Task[None] | None = None
        self._unsubscribe_callbacks: list[Callable[[], None]] = []

    def start_in_background(self) -> None:
        """Run start() in the background: the server does not wait for the runtime."""
        if self._start_future is None:
            self._start_future = asyncio.get_running_loop().create_task(self._start())
            self._start_future.add_done_callback(_succeeded)

    async def start(self) -> None:
        """Subscribe to the events, once. A failed start is repeated. Raises TaskError."""
        if (
            self._start_future is not None
            and self._start_future.done()
            and not _succeeded(self._start_future)
        ):
            self._start_future = None
        self.start_in_background()
        assert self._start_future is not None
        await asyncio.shield(self._start_future)

    async def _start(self) -> None:
        loop = asyncio.get_running_loop()

        def on_task_event(event: Event) -> None:
            with suppress(RuntimeError):  # the server's loop has ended
                loop.call_soon_threadsafe(self.publish, 'task', task_json(event))

        def on_trace_event(event: TraceEvent) -> None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._publish_trace, event)

        async def follow(runner: SkillRunner) -> Callable[[], None]:
            events = runner.subscribe()

            async def forward() -> None:
                async for event in events:
                    on_task_event(event)

            job = asyncio.get_running_loop().create_task(forward())

            def unsubscribe() -> None:
                with suppress(RuntimeError):  # the runner's loop has ended
                    job.get_loop().call_soon_threadsafe(events.close)

            return unsubscribe

        if self._robot is not None and not self._unsubscribe_callbacks:
            self._unsubscribe_callbacks.append(
                self._robot.subscribe('HTTP event stream', on_trace_event)
            )
        self._unsubscribe_callbacks.append(await self._access.call(follow))

    def close(self) -> None:
        """End the subscriptions and disconnect all clients."""
        if self._start_future is not None:
            self._start_future.cancel()
        for unsubscribe in self._unsubscribe_callbacks:
            unsubscribe()
        self._unsubscribe_callbacks.clear()
        for listener in self.listeners:
            listener.is_closed.set()

    def _publish_trace(self, event: TraceEvent) -> None:
        self._on_trace_event(event)
        self.publish('trace', encode(event))

    def publish(self, kind: str, data: str) -> None:
        """Send an event to all clients and store it. ``data`` is one line."""
        self._count += 1
        text = f'id: {self.process}-{self._count}\nevent: {kind}\ndata: {data}\n\n'.encode()
        self._ring.append(StreamMessage(self._count, text))
        for listener in self.listeners:
            listener.enqueue(text)

    def subscribe(self, last_id: str | None) -> StreamListener:
        """Add a client. ``last_id``: the last event that it has; None: only new events."""
        listener = StreamListener(self, [] if last_id is None else self._messages_after(last_id))
        self.listeners.add(listener)
        return listener

    def _messages_after(self, last_id: str) -> list[bytes]:
        seen = self._number(last_id)
        first = self._ring[0].number if self._ring else self._count + 1
        missed = [message.text for message in self._ring if message.number > seen]
        if seen < first - 1 or seen < 0:
            gap = json.dumps({'detail': 'Some events before these are not kept any more'})
            missed.insert(0, f'event: gap\ndata: {gap}\n\n'.encode())
        return missed

    def _number(self, last_id: str) -> int:
        """The number in ``last_id``; -1 if it is no id of this process."""
        process, _, number = last_id.partition('-')
        if process != self.process or not (number.isascii() and number.isdigit()):
            return -1
        return int(number) if len(number) < 20 and int(number) <= self._count else -1


def _succeeded(started: asyncio.Task[None]) -> bool:
    """Whether the start has succeeded. A failure is logged."""
    if started.cancelled():
        return False
    if (error := started.exception()) is not None:
        _log.warning('event=no_task_events error=%r', str(error))
    return error is None


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
    task = payload.get('task')
    if task is not None:
        details |= {'name': task.name, 'priority': task.priority}
    return json.dumps(
        {
            'task_id': event.task_id,
            'type': event.type.value,
            'at': event.at.isoformat(),
            **details,
        },
        default=str,
    )
