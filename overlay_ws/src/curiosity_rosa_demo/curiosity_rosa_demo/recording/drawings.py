# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The drawings of a report: those of the page for a whole run, and its time line. Pure.

Each is '' without data to draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.drawing import plots, world_map
from curiosity_rosa_demo.drawing.columns import clip_columns
from curiosity_rosa_demo.drawing.plots import Axis, CaptureMarker, ticks, time_step
from curiosity_rosa_demo.drawing.svg import drawing, element, is_drawable, label, line, Svg, title
from curiosity_rosa_demo.recording.run import RecordedRehearsal, RecordedRun


def clock(seconds: float) -> str:
    """Format as m:ss.t or h:mm:ss.t; negative before the start of the run."""
    sign, tenths = '-' if seconds < 0 else '', round(abs(seconds) * 10)
    whole, tenth = divmod(tenths, 10)
    minutes, second = divmod(whole, 60)
    hours, minute = divmod(minutes, 60)
    text = f'{hours}:{minute:02d}:{second:02d}' if hours else f'{minute}:{second:02d}'
    return f'{sign}{text}.{tenth}'


def tick_clock(seconds: float) -> str:
    """Like ``clock``, without tenths if they are 0; for an axis."""
    return clock(seconds).removesuffix('.0')


def run_map(run: RecordedRun) -> str:
    """Map from above: the trail of the rover and its final pose."""
    trail = [(place.x, place.y) for _, place in run.trail]
    if not any(is_drawable(*place) for place in trail):
        return ''
    return _map(run, pose=run.pose, trail=trail, spots=_markers(run), whole=True)


def rehearsal_map(run: RecordedRun, rehearsed: RecordedRehearsal) -> str:
    """Map of the rehearsed path and, until the comparison, the driven one."""
    rehearsal, compared = rehearsed.rehearsal, rehearsed.compared
    if len(rehearsal.path) < 2:
        return ''
    end_s = rehearsed.at_s if rehearsed.ended_s is None else rehearsed.ended_s
    stands = compared.real.end if compared and compared.real else rehearsal.start
    driven = [(place.x, place.y) for at, place in run.trail if rehearsed.at_s <= at <= end_s]
    return _map(run, pose=stands, trail=driven, forecast=rehearsal.path)


def _map(run: RecordedRun, **shown: Any) -> Svg:
    return world_map.render(world_map.MapScene(run.thresholds, **shown))


def run_scores(run: RecordedRun) -> str:
    markers = [marker for marker in _markers(run) if marker.score is not None]
    limits = run.thresholds
    threshold = limits.quality.score_threshold if limits else None
    return plots.score_over_position(markers, threshold, whole=True) if markers else ''


def run_battery(run: RecordedRun) -> str:
    levels = run.battery
    if len(levels) < 2 or levels[-1][0] <= levels[0][0]:
        return ''
    return plots.battery_over_time(levels, tick_clock)


def _markers(run: RecordedRun) -> list[CaptureMarker]:
    """Of the captures with a known position; each links to its picture."""
    return [
        CaptureMarker(
            each.event_id,
            each.place.x,
            each.place.y,
            each.score,
            each.is_good,
            link=f'#capture-{number}',
        )
        for number, each in enumerate(run.captures, 1)
        if each.place is not None
    ]


# --- The time line: one lane per kind of event. The length of an ACT bar is its duration --------


WIDTH, LANE, TOP, BOTTOM = 960.0, 26.0, 6.0, 24.0
LEFT, RIGHT = 110.0, 930.0  # of the time axis
DOT, BAR = 10.0, 14.0  # heights
MIN_BAR_WIDTH, COLUMN = 3.0, 2.0
MAX_TICKS = 9
MAX_TITLE_COLUMNS = 200
STYLES = {  # of the lanes, from the top
    TraceKind.OBSERVE: 'checking',
    TraceKind.HYPOTHESIZE: 'thinking',
    TraceKind.DECIDE: 'thinking',
    TraceKind.ACT: 'acting',
    TraceKind.RESULT: 'completed',
    TraceKind.ERROR: 'failed',
}
LANES = {kind: TOP + LANE * (number + 0.5) for number, kind in enumerate(STYLES)}
Span = tuple[float, float | None, TraceEvent]  # from, to; None: a moment


def timeline_svg(events: Sequence[tuple[float, TraceEvent]]) -> str:
    """Draw ``events``, pairs of seconds and event, oldest first."""
    if not events:
        return ''
    begin, end = events[0][0], events[-1][0]
    across = Axis(begin, max(end, begin + 1.0), LEFT, RIGHT)
    bottom = TOP + LANE * len(LANES)
    lines = [line(LEFT, y, RIGHT, y) for y in LANES.values()]
    labels = [label(kind.value, LEFT - 12.0, y + 4.0, 'end') for kind, y in LANES.items()]
    for tick in ticks(across.low, across.high, time_step(across.high - across.low, MAX_TICKS)):
        x = across.at(tick)
        lines.append(line(x, TOP, x, bottom))
        labels.append(label(tick_clock(tick), x, bottom + 16.0, 'middle'))
    # So few marks that their number depends on the width, not on the length of the run: of one
    # kind and style, from the same COLUMN on. The failures are last: nothing covers them.
    marks: dict[tuple[object, ...], list[Span]] = {}
    for span in spans(events):
        at_s, end_s, event = span
        place = (event.kind, _failed(event), end_s is None, round(across.at(at_s) / COLUMN))
        marks.setdefault(place, []).append(span)
    return drawing(
        'events',
        WIDTH,
        bottom + BOTTOM,
        f'Time line: {count_text(len(events), "event")}',
        element('g', *lines, class_='cr-grid', aria_hidden='true'),
        element('g', *labels, class_='cr-numbers'),
        *(_mark(across, each) for each in sorted(marks.values(), key=lambda m: _failed(m[0][2]))),
    )


def spans(events: Sequence[tuple[float, TraceEvent]]) -> list[Span]:
    """Each event; an act ends with the next result of its tool."""
    found: list[Span] = []
    running: dict[str, int] = {}
    for at_s, event in events:
        tool = event.tool_name or ''
        if event.kind in (TraceKind.RESULT, TraceKind.ERROR) and tool in running:
            number = running.pop(tool)
            found[number] = (found[number][0], at_s, found[number][2])
        elif tool and event.kind is TraceKind.ACT:
            running[tool] = len(found)
        found.append((at_s, None, event))
    return found


def _failed(event: TraceEvent) -> bool:
    return event.ok is False or event.kind is TraceKind.ERROR


def _mark(across: Axis, those: Sequence[Span]) -> Svg:
    """A bar if these events have an end, else a dot. The dot of a failure is square."""
    (at_s, _, event), last_s = those[0], those[-1][0]
    failed, ends = _failed(event), [end_s for _, end_s, _ in those if end_s is not None]
    x, y = across.at(at_s), LANES[event.kind]
    if ends:
        width, height, rx = max(MIN_BAR_WIDTH, across.at(max(ends)) - x), BAR, 2.0
    else:
        x, width, height, rx = x - DOT / 2, DOT, DOT, 0.0 if failed else DOT / 2
    when = clock(at_s)
    if len(those) > 1:
        when = f'{count_text(len(those), "event")}, {when} to {clock(last_s)}; the first:'
    text = clip_columns(f'{when} {event.tool_name or ""} {event.message}', MAX_TITLE_COLUMNS)
    box = element('rect', x=x, y=y - height / 2, width=width, height=height, rx=rx)
    style = 'failed' if failed else STYLES[event.kind]
    return element('g', title(text), box, class_=f'cr-bar cr-{style}')
