# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Event bus: the newest trace events of the agent and of the other nodes, with subscribers."""

from __future__ import annotations

from collections.abc import Callable
import logging
import threading

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.trace.trace_buffer import TraceBuffer

MAX_KEPT_EVENTS = 1000

_log = logging.getLogger('curiosity_rosa.events')

EventListener = Callable[[TraceEvent], None]


class EventBus:
    """Keeps MAX_KEPT_EVENTS events and passes each new one to the subscribers. Thread-safe.

    A duplicate is ignored: the agent's own events also arrive by the topic.
    """

    def __init__(self) -> None:
        # Held while the subscribers run, so that all of them see the order of ``recent``.
        self._lock = threading.RLock()
        self._events = TraceBuffer(MAX_KEPT_EVENTS)
        self._subscribers: list[EventListener] = []

    def publish(self, event: TraceEvent) -> None:
        with self._lock:
            if not self._events.append(event):
                return
            for subscriber in list(self._subscribers):
                try:
                    subscriber(event)
                except Exception:  # one failing subscriber must not affect the others
                    _log.exception('event=follower_failed')
                    self._unsubscribe(subscriber)

    def recent(self, count: int | None = None) -> list[TraceEvent]:
        """The newest ``count`` events (all when None), oldest first."""
        with self._lock:
            return self._events.last(count)

    def subscribe(self, listener: EventListener) -> Callable[[], None]:
        """Call ``listener`` for every later event; return a function that unsubscribes it.

        The listener runs under the bus's lock, on the thread that publishes, and must return
        quickly. A listener that raises is unsubscribed.
        """

        def subscriber(event: TraceEvent) -> None:  # unique: a listener may subscribe twice
            listener(event)

        with self._lock:
            self._subscribers.append(subscriber)
        return lambda: self._unsubscribe(subscriber)

    def _unsubscribe(self, subscriber: EventListener) -> None:
        with self._lock:
            if subscriber in self._subscribers:
                self._subscribers.remove(subscriber)
