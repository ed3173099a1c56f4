# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The report's timeline: one lane per kind of event. The length of an ACT bar is its duration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.drawing.scale import Axis, ticks
from curiosity_rosa_demo.drawing.svg import clip_columns, drawing, element, label, line, Svg, title
from curiosity_rosa_demo.drawing.time_axis import time_step
from curiosity_rosa_demo.recording.report.drawings import tick_clock
from curiosity_rosa_demo.recording.report.text import clock

WIDTH, LANE, TOP, BOTTOM = 960.0, 26.0, 6.0, 24.0
LEFT, RIGHT = 110.0, 930.0  # of the time axis
DOT, BAR = 10.0, 14.0  # heights
MIN_BAR_WIDTH, COLUMN = 3.0, 2.0
MAX_TICKS = 9
MAX_TITLE_COLUMNS = 200
LANE_KINDS = list(TraceKind)
KIND_STYLES = {
    TraceKind.OBSERVE: 'checking',
    TraceKind.HYPOTHESIZE: 'thinking',
    TraceKind.DECIDE: 'thinking',
    TraceKind.ACT: 'acting',
    TraceKind.RESULT: 'completed',
    TraceKind.ERROR: 'failed',
}


def timeline_svg(events: Sequence[tuple[float, TraceEvent]]) -> str:
    """Draw ``events``, pairs of seconds and event, oldest first."""
    if not events:
        return ''
    begin, end = events[0][0], events[-1][0]
    across = Axis(begin, max(end, begin + 1.0), LEFT, RIGHT)
    bottom = TOP + LANE * len(LANE_KINDS)
    lines = [line(LEFT, _lane(kind), RIGHT, _lane(kind)) for kind in LANE_KINDS]
    labels = [label(kind.value, LEFT - 12.0, _lane(kind) + 4.0, 'end') for kind in LANE_KINDS]
    for tick in ticks(across.low, across.high, time_step(across.high - across.low, MAX_TICKS)):
        x = across.at(tick)
        lines.append(line(x, TOP, x, bottom))
        labels.append(label(tick_clock(tick), x, bottom + 16.0, 'middle'))
    ends = act_ends(events)
    return drawing(
        'events',
        WIDTH,
        bottom + BOTTOM,
        f'Time line: {count_text(len(events), "event")}',
        element('g', *lines, class_='cr-grid', aria_hidden='true'),
        element('g', *labels, class_='cr-numbers'),
        *(_mark(across, each) for each in _marks(across, events, ends)),
    )


def act_ends(events: Sequence[tuple[float, TraceEvent]]) -> dict[int, float]:
    """End time of each ACT event by its index. An act ends with the next result of its tool."""
    ends: dict[int, float] = {}
    running: dict[str, int] = {}
    for number, (at_s, event) in enumerate(events):
        if event.tool_name is None:
            continue
        if event.kind is TraceKind.ACT:
            running[event.tool_name] = number
        elif event.kind in (TraceKind.RESULT, TraceKind.ERROR) and event.tool_name in running:
            ends[running.pop(event.tool_name)] = at_s
    return ends


def _lane(kind: TraceKind) -> float:
    return TOP + LANE * (LANE_KINDS.index(kind) + 0.5)


@dataclass
class _Mark:
    """Events that would be drawn in one place: of one kind and style, from the same COLUMN on."""

    begin_s: float
    end_s: float | None  # of the longest
    event: TraceEvent  # the first
    last_s: float
    count: int = 1

    @property
    def failed(self) -> bool:
        return self.event.ok is False or self.event.kind is TraceKind.ERROR

    def add(self, other: _Mark) -> None:
        self.count += 1
        self.last_s = other.last_s
        if self.end_s is not None and other.end_s is not None:
            self.end_s = max(self.end_s, other.end_s)


def _marks(
    across: Axis, events: Sequence[tuple[float, TraceEvent]], ends: Mapping[int, float]
) -> list[_Mark]:
    """So few that their number depends on the width, not on the length of the run. The failures
    are last, so that nothing covers them.
    """
    found: dict[tuple[object, ...], _Mark] = {}
    for number, (at_s, event) in enumerate(events):
        mark = _Mark(at_s, ends.get(number), event, at_s)
        column = round(across.at(at_s) / COLUMN)
        first = found.setdefault((event.kind, mark.failed, mark.end_s is None, column), mark)
        if first is not mark:
            first.add(mark)
    return sorted(found.values(), key=lambda mark: mark.failed)


def _mark(across: Axis, mark: _Mark) -> Svg:
    """A bar if the event has an end, else a dot. The dot of a failure is square."""
    event, end_s = mark.event, mark.end_s
    x, y = across.at(mark.begin_s), _lane(event.kind)
    if end_s is None:
        x, width, height, rx = x - DOT / 2, DOT, DOT, 0.0 if mark.failed else DOT / 2
    else:
        width, height, rx = max(MIN_BAR_WIDTH, across.at(end_s) - x), BAR, 2.0
    when = clock(mark.begin_s)
    if mark.count > 1:
        when = f'{count_text(mark.count, "event")}, {when} to {clock(mark.last_s)}; the first:'
    text = clip_columns(f'{when} {event.tool_name or ""} {event.message}', MAX_TITLE_COLUMNS)
    box = element('rect', x=x, y=y - height / 2, width=width, height=height, rx=rx)
    style = 'failed' if mark.failed else KIND_STYLES[event.kind]
    return element('g', title(text), box, class_=f'cr-bar cr-{style}')
