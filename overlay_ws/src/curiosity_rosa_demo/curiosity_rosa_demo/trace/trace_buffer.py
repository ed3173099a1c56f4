# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The one ring of events of a process: the event bus, with readers at their own pace.

A listener is called at once and must be quick. A reader has a place in the ring and reads when it
likes; what it has missed is counted. infra/event_thread.py reads for a subscriber that may wait.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
import logging
import threading
from typing import Any, Generic, NamedTuple, TypeVar

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.text import memory_size
from curiosity_rosa_demo.trace.trace_codec import event_memory

MAX_EVENTS, MAX_BYTES = 2000, 16 * 1024 * 1024

T = TypeVar('T')

_log = logging.getLogger('curiosity_rosa.events')


class EventsLost(Exception):
    """A subscriber was too slow: the ring has dropped events that it had not read."""

    def __init__(self, count: int) -> None:
        super().__init__(f'{count} events came faster than it could take them')
        self.count = count


@dataclass(frozen=True)
class Published(Generic[T]):
    """``number``: from 1, in the order of publication. ``own``: of this agent, not of another
    node. ``size``: bytes of memory.
    """

    number: int
    event: T
    own: bool
    size: int = field(default=0, compare=False)

    def is_for(self, kind: type[Any], own_only: bool) -> bool:
        return isinstance(self.event, kind) and (self.own or not own_only)


@dataclass(frozen=True)
class Batch(Generic[T]):
    """``events``, oldest first. ``lost``: how many events, of any type, the ring has dropped just
    before them.
    """

    lost: int
    events: list[Published[T]]


class _Listener(NamedTuple):
    name: str
    kind: type[Any]
    own_only: bool
    call: Callable[[Any], None]


class EventBus:
    """Keeps the newest ``max_events``: trace events, texts and dataclasses of others; fewer if
    they would take more than ``max_bytes``, but at least one. Safe from any thread.

    A listener that raises hurts neither the publisher nor another listener. ``failed`` gets its
    name and the error, in the publisher's thread. The listener stays subscribed: a write that
    failed for one event may work for the next.
    """

    def __init__(
        self,
        failed: Callable[[str, Exception], None] | None = None,
        *,
        max_events: int = MAX_EVENTS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._failed, self._max_events, self._max_bytes = failed, max_events, max_bytes
        self._lock = threading.RLock()  # a listener may publish or unsubscribe
        self._ring: deque[Published[Any]] = deque()
        self._bytes = 0
        self._trace_ids: set[str] = set()  # of the trace events in the ring
        self._undelivered: deque[Published[Any]] = deque()
        self._listeners: dict[object, _Listener] = {}
        self.last_number = 0  # of the newest event

    def publish(self, event: object, *, own: bool = True) -> bool:
        """Store the event and call the listeners in this thread, one event at a time, in the order
        of their subscriptions. False for a trace event that is stored already, and is ignored:
        late histories repeat events, and our own come back from the topic.
        """
        with self._lock:
            if isinstance(event, TraceEvent) and event.event_id in self._trace_ids:
                return False
            self._undelivered.append(self._stored(event, own))
            if len(self._undelivered) > 1:  # a listener publishes: this follows the present one
                return True
            try:
                while self._undelivered:
                    for listener in tuple(self._listeners.values()):
                        if self._undelivered[0].is_for(listener.kind, listener.own_only):
                            self._call(listener, self._undelivered[0].event)
                    self._undelivered.popleft()
            finally:
                self._undelivered.clear()  # if the process ends meanwhile
            return True

    def trace_events(
        self, count: int | None = None, *, own_only: bool = False
    ) -> list[TraceEvent]:
        """The newest ``count`` trace events (all when None), oldest first."""
        with self._lock:
            found = [each.event for each in self._ring if each.is_for(TraceEvent, own_only)]
        return found if count is None else found[max(0, len(found) - max(0, count)) :]

    def events_after(self, number: int) -> Batch[Any]:
        """All events after ``number`` that the ring still holds."""
        with self._lock:
            first = self.last_number - len(self._ring) + 1
            skipped = max(0, number + 1 - first)
            return Batch(max(0, first - 1 - number), list(islice(self._ring, skipped, None)))

    def listen(
        self,
        name: str,
        listener: Callable[[T], None],
        kind: type[T],
        *,
        own_only: bool = False,
    ) -> Callable[[], None]:
        """``listener`` is called for every event of ``kind`` from now on, in the publisher's
        thread and under the lock of the bus: it must be quick. The result unsubscribes it.
        """
        key = object()  # the same function may subscribe twice

        def leave() -> None:
            with self._lock:
                self._listeners.pop(key, None)

        with self._lock:
            self._listeners[key] = _Listener(name, kind, own_only, listener)
        return leave

    def report(self, name: str, error: Exception) -> None:
        """Report that the subscriber ``name`` has failed or has lost events."""
        if self._failed is None:
            _log.warning('event=subscriber_failed name=%s error=%r', name, str(error))
            return
        try:
            self._failed(name, error)
        except Exception:  # the report may fail for the same reason
            _log.exception('event=listener_failed name=%s', name)

    def _stored(self, event: object, own: bool) -> Published[Any]:
        if isinstance(event, TraceEvent):
            size = event_memory(event)
            self._trace_ids.add(event.event_id)
        else:
            size = memory_size(event)
        self.last_number += 1
        published = Published(self.last_number, event, own, size)
        self._ring.append(published)
        self._bytes += size
        while len(self._ring) > self._max_events or (
            self._bytes > self._max_bytes and len(self._ring) > 1
        ):
            dropped = self._ring.popleft()
            self._bytes -= dropped.size
            if isinstance(dropped.event, TraceEvent):
                self._trace_ids.discard(dropped.event.event_id)
        return published

    def _call(self, listener: _Listener, event: object) -> None:
        try:
            listener.call(event)
        except Exception as error:  # SystemExit and KeyboardInterrupt still end the process
            self.report(listener.name, error)


class Subscription(Generic[T]):
    """A place in the ring of a bus, of a reader of the events of ``kind`` after number ``after``
    (None: from now on). Use it in one thread. ``wake`` is called after each of them, in the
    publisher's thread, and must be quick; after ``close`` no more, but what is stored can still be
    read. ``lost``: events missed so far.
    """

    def __init__(
        self,
        bus: EventBus,
        name: str,
        kind: type[T],
        *,
        after: int | None = None,
        own_only: bool = False,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self.close = bus.listen(name, lambda _: wake(), kind, own_only=own_only)
        self._after = bus.last_number if after is None else after
        self._bus, self._kind, self._own_only, self.lost = bus, kind, own_only, 0

    def read(self, limit: int | None = None) -> Batch[T]:
        """The next events, ``limit`` at most; without events: there are no more now."""
        batch = self._bus.events_after(self._after)
        found = [each for each in batch.events if each.is_for(self._kind, self._own_only)]
        if limit is not None and len(found) >= limit:
            found = found[:limit]
            self._after = found[-1].number
        else:
            self._after += batch.lost + len(batch.events)
        self.lost += batch.lost
        return Batch(batch.lost, found)
