# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The task events of the event bus, for a reader in the runner's loop."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from curiosity_rosa_demo.agent.tasks.events import Event
from curiosity_rosa_demo.trace.bus import EventBus


class Subscription:
    """Iterate with ``async for event in subscription``, from one reader. Ends after close().

    A slow reader delays nobody: ``dropped`` counts the events that the bus no longer has.
    """

    def __init__(self, bus: EventBus, on_close: Callable[[Subscription], None]) -> None:
        self.dropped = 0
        self._on_close = on_close
        self._events: deque[Event] = deque()
        self._wakeup = asyncio.Event()
        self._closed = False
        # Task events are published in the runner's loop, in which the reader waits as well.
        self._source = bus.subscribe('task events', Event, wake=self._wakeup.set)

    def close(self) -> None:
        """Receive no more events. Earlier ones can still be read."""
        if not self._closed:
            self._read(None)
            self._closed = True
            self._source.close()
            self._on_close(self)
            self._wakeup.set()

    def _read(self, limit: int | None) -> None:
        batch = self._source.read(limit)
        self.dropped += batch.lost
        self._events.extend(each.event for each in batch.events)

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Event:
        while not self._events:
            if self._closed:
                raise StopAsyncIteration
            self._wakeup.clear()
            self._read(1)
            if not self._events:
                await self._wakeup.wait()
        return self._events.popleft()
