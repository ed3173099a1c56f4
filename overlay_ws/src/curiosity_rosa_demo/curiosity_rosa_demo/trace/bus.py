# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The event bus: trace events to named listeners, and the newest of them on request."""

from __future__ import annotations

from collections.abc import Callable
import logging
import threading

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.trace.trace_buffer import TraceBuffer
from curiosity_rosa_demo.trace.trace_codec import bounded_event

MAX_KEPT_EVENTS = 1000

_log = logging.getLogger('curiosity_rosa.events')

EventListener = Callable[[TraceEvent], None]


class TraceBus:
    """Safe from any thread. An event that is published twice is delivered once: our own events
    come back from the topic.

    A listener that raises hurts neither the publisher nor another listener. ``failed`` gets its
    name and the error, in the publisher's thread. The listener stays subscribed: a write that
    failed for one event, such as to a full disk, may work for the next.

    ``ordered``: one thread delivers at a time, so that all listeners see the order of
    ``recent``. Otherwise threads deliver side by side, and a listener may wait: it delays only
    the publisher of its event.
    """

    def __init__(self, failed: Callable[[str, Exception], None], *, ordered: bool = True) -> None:
        self._failed, self._ordered = failed, ordered
        self._lock = threading.RLock()  # a listener may publish or unsubscribe
        self._events = TraceBuffer(MAX_KEPT_EVENTS)
        self._subscriptions: dict[object, tuple[str, EventListener]] = {}

    def publish(self, event: TraceEvent) -> None:
        """Call the listeners in this thread, in the order of their subscriptions. They get the
        bounded event, so that one of them may keep it.
        """
        event = bounded_event(event)
        with self._lock:
            if not self._events.append(event):
                return
            listeners = tuple(self._subscriptions.values())
            if self._ordered:
                self._deliver(event, listeners)
                return
        self._deliver(event, listeners)

    def recent(self, count: int | None = None) -> list[TraceEvent]:
        """The newest ``count`` events (all when None), oldest first."""
        with self._lock:
            return self._events.last(count)

    def subscribe(self, name: str, listener: EventListener) -> Callable[[], None]:
        """``listener`` is called for every event from now on, from any thread, and must be quick
        on an ordered bus. The result unsubscribes it.
        """
        key = object()  # the same function may subscribe twice
        with self._lock:
            self._subscriptions[key] = (name, listener)
        return lambda: self._unsubscribe(key)

    def _unsubscribe(self, key: object) -> None:
        with self._lock:
            self._subscriptions.pop(key, None)

    def _deliver(
        self, event: TraceEvent, listeners: tuple[tuple[str, EventListener], ...]
    ) -> None:
        for name, listener in listeners:
            try:
                listener(event)
            except Exception as error:  # SystemExit and KeyboardInterrupt still end the process
                self._report(name, error)

    def _report(self, name: str, error: Exception) -> None:
        try:
            self._failed(name, error)
        except Exception:  # the report may fail for the same reason
            _log.exception('event=listener_failed name=%s', name)
