# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Publish events to any number of subscribers. A slow one blocks no other, nor the runner."""

from __future__ import annotations

import asyncio
from collections import deque

from curiosity_rosa_demo.agent.tasks.events import Event


class Subscription:
    """Iterate with ``async for event in subscription``, from one reader. Ends after close().

    The queue holds ``maxlen`` events. When it is full, each new event replaces the oldest, and
    ``dropped`` counts the loss.
    """

    def __init__(self, bus: TaskEventBus, maxlen: int) -> None:
        self.dropped = 0
        self._bus = bus
        self._events: deque[Event] = deque(maxlen=maxlen)
        self._wakeup = asyncio.Event()
        self._closed = False

    def put(self, event: Event) -> None:
        self.dropped += len(self._events) == self._events.maxlen
        self._events.append(event)
        self._wakeup.set()

    def close(self) -> None:
        """Receive no more events. Queued ones can still be read."""
        self._closed = True
        self._bus.remove(self)
        self._wakeup.set()

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Event:
        while not self._events:
            if self._closed:
                raise StopAsyncIteration
            self._wakeup.clear()
            await self._wakeup.wait()
        return self._events.popleft()


class TaskEventBus:
    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []

    def __bool__(self) -> bool:
        return bool(self._subscriptions)

    def subscribe(self, maxlen: int) -> Subscription:
        """Raises ValueError when ``maxlen`` is below 1."""
        if maxlen < 1:
            raise ValueError(f'maxlen is {maxlen}; a subscription keeps at least 1 event')
        subscription = Subscription(self, maxlen)
        self._subscriptions.append(subscription)
        return subscription

    def remove(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)

    def publish(self, event: Event) -> None:
        for subscription in self._subscriptions:
            subscription.put(event)

    def close(self) -> None:
        for subscription in list(self._subscriptions):
            subscription.close()
