# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Ring buffer of trace events."""

from __future__ import annotations

from collections import deque

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.trace.trace_codec import event_memory

MAX_BUFFER_BYTES = 16 * 1024 * 1024


class TraceBuffer:
    """The newest ``size`` events, oldest first, without duplicates; fewer if they would take more
    than ``max_bytes`` of memory, but at least one. Not thread-safe.
    """

    def __init__(self, size: int, max_bytes: int = MAX_BUFFER_BYTES) -> None:
        if size < 1:
            raise ValueError(f'size must be at least 1, not {size}')
        self._size, self._max_bytes = size, max_bytes
        self._events: deque[TraceEvent] = deque()
        self._sizes: deque[int] = deque()  # bytes of each event
        self._bytes = 0

    def append(self, event: TraceEvent) -> bool:
        """Append the event. False for a duplicate: a late history repeats events."""
        if any(known.event_id == event.event_id for known in self._events):
            return False
        self._events.append(event)
        self._sizes.append(event_memory(event))
        self._bytes += self._sizes[-1]
        while len(self) > self._size or (self._bytes > self._max_bytes and len(self) > 1):
            self._events.popleft()
            self._bytes -= self._sizes.popleft()
        return True

    def last(self, count: int | None = None) -> list[TraceEvent]:
        """The newest ``count`` events (all when None), oldest first."""
        events = list(self._events)
        return events if count is None else events[max(0, len(events) - max(0, count)) :]

    def __len__(self) -> int:
        return len(self._events)
