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

KEPT = 1000

_log = logging.getLogger('curiosity_rosa.events')

Hear = Callable[[TraceEvent], None]


class EventFeed:
    """From any thread. An event that comes twice, as our own do by the topic, counts once."""

    def __init__(self) -> None:
        # Held while the followers are told, so that all of them see the order of ``last``.
        self._lock = threading.RLock()
        self._events = TraceBuffer(KEPT)
        self._followers: list[Hear] = []

    def hear(self, event: TraceEvent) -> None:
        with self._lock:
            if not self._events.append(event):
                return
            for follower in list(self._followers):
                try:
                    follower(event)
                except Exception:  # it must not keep an event from the others
                    _log.exception('event=follower_failed')
                    self._leave(follower)

    def last(self, count: int | None = None) -> list[TraceEvent]:
        """The newest ``count`` events (all when None), oldest first."""
        with self._lock:
            return self._events.last(count)

    def follow(self, hear: Hear) -> Callable[[], None]:
        """``hear`` is called for every event from now on, from any thread, and must be quick; the
        result ends it.
        """

        def follower(event: TraceEvent) -> None:  # one of its own for each call
            hear(event)

        with self._lock:
            self._followers.append(follower)
        return lambda: self._leave(follower)

    def _leave(self, follower: Hear) -> None:
        with self._lock:
            if follower in self._followers:
                self._followers.remove(follower)
