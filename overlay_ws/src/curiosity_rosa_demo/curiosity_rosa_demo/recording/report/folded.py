# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Equal neighbours of the trace as one line, and long tables as pages. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from curiosity_rosa_demo.domain.models import TraceEvent

PAGE_ROWS = 200
T = TypeVar('T')


@dataclass(frozen=True)
class FoldedEvent:
    """``count`` equal events from ``at_s`` to ``last_s``; ``event`` is the first."""

    at_s: float
    event: TraceEvent
    count: int
    last_s: float


def folded(events: Sequence[tuple[float, TraceEvent]]) -> list[FoldedEvent]:
    """Neighbours that differ in no more than time and data are one. A scored event stays alone."""
    found: list[FoldedEvent] = []
    for at_s, event in events:
        if found and event.score is None and _shown(found[-1].event) == _shown(event):
            found[-1] = replace(found[-1], count=found[-1].count + 1, last_s=at_s)
        else:
            found.append(FoldedEvent(at_s, event, 1, at_s))
    return found


def pages(rows: Sequence[T]) -> list[Sequence[T]]:
    """PAGE_ROWS rows each, the last one fewer."""
    return [rows[first : first + PAGE_ROWS] for first in range(0, len(rows), PAGE_ROWS)]


def _shown(event: TraceEvent) -> tuple[object, ...]:
    reason, score = event.error_reason, event.score
    return event.kind, event.tool_name, event.message, event.ok, reason, score
