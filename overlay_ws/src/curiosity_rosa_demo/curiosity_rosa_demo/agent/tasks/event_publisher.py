# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Report committed changes to the log, the counters and the event bus."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
import logging

from curiosity_rosa_demo.agent.tasks.entry import PendingChange
from curiosity_rosa_demo.agent.tasks.events import Event, EventType
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.trace.trace_buffer import EventBus

# --- The task events of the event bus, for a reader in the runner's loop -----------------------


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


_COUNTED_EVENTS = {
    LifecycleState.COMPLETED: 'completed',
    LifecycleState.FAILED: 'failed',
    LifecycleState.CANCELLED: 'cancelled',
}
_SUBMIT_EVENTS = (EventType.TASK_SUBMIT, EventType.INTERRUPT)

_log = logging.getLogger('curiosity_rosa.tasks')


class TaskEventPublisher:
    def __init__(self, bus: EventBus) -> None:
        self.bus = bus
        self.counters: Counter[str] = Counter()
        self._subscriptions: set[Subscription] = set()

    def subscribe(self) -> Subscription:
        """The task events from now on, until ``close``."""
        subscription = Subscription(self.bus, self._subscriptions.discard)
        self._subscriptions.add(subscription)
        return subscription

    def close(self) -> None:
        """End all subscriptions: the runner has stopped."""
        for subscription in tuple(self._subscriptions):
            subscription.close()

    def publish_change(self, step: PendingChange) -> None:
        stored, kind = step.change.task, step.event
        if kind is None:  # a Save
            return
        if kind in _SUBMIT_EVENTS:
            self.counters['submitted'] += 1
        elif (counted := _COUNTED_EVENTS.get(stored.state)) is not None:
            self.counters[counted] += 1
        if _log.isEnabledFor(logging.INFO):
            _log.info(
                'event=%s task=%s name=%s state=%s reason=%r',
                *(kind.value, stored.id, stored.name, stored.state.value, stored.reason),
            )
        self.bus.publish(Event(kind, stored.id, _payload(step), stored.updated_at))


def _payload(step: PendingChange) -> dict[str, object]:
    stored = step.change.task
    if step.event in _SUBMIT_EVENTS:
        return {'name': stored.name, 'priority': stored.priority}
    if step.event is EventType.TASK_FAIL:
        return {'error': stored.reason}
    before = getattr(step.change, 'before', None)
    return {'before': before, 'after': stored.state, 'reason': stored.reason}
