"""The report's time line: a lane for each kind of event; an act is a bar as long as it took."""

from __future__ import annotations

from collections.abc import Sequence

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.trace.report_plot import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    box,
    circle,
    drawing,
    label,
    line,
)
from curiosity_rosa_demo.trace.report_text import clock, escaped, one_line

LANE, BAR = 26.0, 14.0  # heights
NAMES = 60.0  # width of the lanes' names
KINDS = list(TraceKind)


def timeline_svg(events: Sequence[tuple[float, TraceEvent]]) -> str:
    """``events`` with their seconds, the oldest first."""
    if not events:
        return ''
    begin, end = events[0][0], events[-1][0]
    across = Axis(begin, max(end, begin + 1.0), LEFT + NAMES, WIDTH - RIGHT)
    bottom = TOP + LANE * len(KINDS)
    parts = []
    for kind in KINDS:
        y = _lane(kind)
        parts.append(label('lane', LEFT + NAMES - 10, y + 4, kind.value))
        parts.append(line(across.start, y, across.end, y))
    for tick in across.ticks():
        x = across.at(tick)
        parts.append(line(x, TOP, x, bottom))
        parts.append(label('x', x, bottom + 18, clock(tick)))
    ends = act_ends(events)
    parts += [_event(across, at_s, event, ends.get(n)) for n, (at_s, event) in enumerate(events)]
    return drawing('Time line', bottom + BOTTOM, parts)


def act_ends(events: Sequence[tuple[float, TraceEvent]]) -> dict[int, float]:
    """When each act ended, by its place among the events: with the next result of its tool."""
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
    return TOP + LANE * (KINDS.index(kind) + 0.5)


def _event(across: Axis, at_s: float, event: TraceEvent, end_s: float | None) -> str:
    x, y = across.at(at_s), _lane(event.kind)
    look = 'failed' if event.ok is False else event.kind.value.lower()
    title = escaped(one_line(f'{clock(at_s)} {event.tool_name or ""} {event.message}', 200))
    if end_s is None:
        return circle(look, x, y, 5, title)
    return box(look, x, y - BAR / 2, max(3.0, across.at(end_s) - x), BAR, title)
