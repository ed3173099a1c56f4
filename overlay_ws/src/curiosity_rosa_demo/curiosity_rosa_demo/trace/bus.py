# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""All trace events that the agent knows of, its own and the other nodes', for whoever follows."""

from __future__ import annotations

from collections.abc import Callable
import logging
import threading

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.trace.trace_buffer import TraceBuffer

MAX_KEPT_EVENTS = 1000

_log = logging.getLogger('curiosity_rosa.events')

EventListener = Callable[[TraceEvent], None]


class TraceBus:
    """From any thread. An event that comes twice, as our own do by the topic, counts once."""

    def __init__(self) -> None:
        # Held while the followers are told, so that all of them see the order of ``last``.
        self._lock = threading.RLock()
        self._events = TraceBuffer(MAX_KEPT_EVENTS)
        self._subscribers: list[EventListener] = []

    def publish(self, event: TraceEvent) -> None:
        with self._lock:
            if not self._events.append(event):
                return
            for follower in list(self._subscribers):
                try:
                    follower(event)
                except Exception:  # it must not keep an event from the others
                    _log.exception('event=follower_failed')
                    self._unsubscribe(follower)

    def recent(self, count: int | None = None) -> list[TraceEvent]:
        """The newest ``count`` events (all when None), oldest first."""
        with self._lock:
            return self._events.last(count)

    def subscribe(self, listener: EventListener) -> Callable[[], None]:
        """``listener`` is called for every event from now on, from any thread, and must be
        quick; the result ends it.
        """

        def follower(event: TraceEvent) -> None:  # one of its own for each call
            listener(event)

        with self._lock:
            self._subscribers.append(follower)
        return lambda: self._unsubscribe(follower)

    def _unsubscribe(self, follower: EventListener) -> None:
        with self._lock:
            if follower in self._subscribers:
                self._subscribers.remove(follower)
