# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The ring of events: the newest ones, numbered, within a number and an amount of memory."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, TypeVar

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.text import memory_size
from curiosity_rosa_demo.trace.trace_codec import event_memory

MAX_EVENTS, MAX_BYTES = 2000, 16 * 1024 * 1024

T = TypeVar('T')


@dataclass(frozen=True)
class Published(Generic[T]):
    """``number``: from 1, in the order of publication. ``own``: of this agent, not of another
    node. ``size``: bytes of memory.
    """

    number: int
    event: T
    own: bool
    size: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Batch(Generic[T]):
    """``events``, oldest first. ``lost``: how many events, of any type, the ring has dropped just
    before them.
    """

    lost: int
    events: list[Published[T]]


class TraceBuffer:
    """The newest ``max_events``, trace events and others; fewer if they would take more than
    ``max_bytes``, but at least one. Not thread-safe.
    """

    def __init__(self, max_events: int = MAX_EVENTS, max_bytes: int = MAX_BYTES) -> None:
        self._max_events, self._max_bytes = max_events, max_bytes
        self._ring: deque[Published[Any]] = deque()
        self._bytes = 0
        self._trace_ids: set[str] = set()  # of the trace events in the ring
        self.last_number = 0

    def append(self, event: object, *, own: bool = True) -> Published[Any] | None:
        """The stored event; None for a trace event that is here already: late histories repeat
        events, and our own come back from the topic.
        """
        if isinstance(event, TraceEvent):
            if event.event_id in self._trace_ids:
                return None
            self._trace_ids.add(event.event_id)
        size = event_memory(event) if isinstance(event, TraceEvent) else memory_size(event)
        self.last_number += 1
        published = Published(self.last_number, event, own, size)
        self._ring.append(published)
        self._bytes += size
        while len(self) > self._max_events or (self._bytes > self._max_bytes and len(self) > 1):
            dropped = self._ring.popleft()
            self._bytes -= dropped.size
            if isinstance(dropped.event, TraceEvent):
                self._trace_ids.discard(dropped.event.event_id)
        return published

    def after(self, number: int) -> Batch[Any]:
        """All events after ``number`` that are still here."""
        first = self.last_number - len(self) + 1
        skipped = max(0, number + 1 - first)
        return Batch(max(0, first - 1 - number), list(islice(self._ring, skipped, None)))

    def last(self, count: int | None = None, *, own_only: bool = False) -> list[TraceEvent]:
        """The newest ``count`` trace events (all when None), oldest first."""
        found = [
            each.event
            for each in self._ring
            if isinstance(each.event, TraceEvent) and (each.own or not own_only)
        ]
        return found if count is None else found[max(0, len(found) - max(0, count)) :]

    def __len__(self) -> int:
        return len(self._ring)
