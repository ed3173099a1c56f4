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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import math

from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.drawing import plots, world_map
from curiosity_rosa_demo.drawing.columns import clip_columns
from curiosity_rosa_demo.drawing.plots import Axis, CaptureMarker, ticks, time_step
from curiosity_rosa_demo.drawing.svg import (
    drawing,
    element,
    is_drawable,
    label,
    line,
    Svg,
    title,
)
from curiosity_rosa_demo.infra.config.limits import ObstaclesConfig, Thresholds
from curiosity_rosa_demo.recording.file import THRESHOLDS
from curiosity_rosa_demo.recording.run import RecordedRun
from curiosity_rosa_demo.recording.turns import RecordedRehearsal


def clock(seconds: float) -> str:
    """Format as m:ss.t or h:mm:ss.t; negative before the start of the run; ? if not finite."""
    if not math.isfinite(seconds):
        return '?'
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
    trail = [(place.x, place.y) for place in run.trail]
    if not any(is_drawable(*place) for place in trail):
        return ''
    zone = world_map.Zone(*run.zone) if run.zone else None
    markers = _markers(run)
    scene = world_map.MapScene(
        zone, pose=run.pose, trail=trail, spots=markers, whole=True, body=_body(run)
    )
    return world_map.render(scene)


def rehearsal_map(run: RecordedRun, rehearsed: RecordedRehearsal) -> str:
    """Map of the rehearsed path and, until the comparison, the driven one."""
    rehearsal = rehearsed.rehearsal
    if len(rehearsal.path) < 2:
        return ''
    end_s = rehearsed.at_s if rehearsed.ended_s is None else rehearsed.ended_s
    real = None if rehearsed.compared is None else rehearsed.compared.real
    stands = rehearsal.start if real is None else real.end
    pose = None if stands is None else RoverPose(**vars(stands), frame_id='world')
    driven = [(each.x, each.y) for each in run.trail if rehearsed.at_s <= each.at_s <= end_s]
    zone = world_map.Zone(*run.zone) if run.zone else None
    scene = world_map.MapScene(
        zone, pose=pose, trail=driven, forecast=rehearsal.path, body=_body(run)
    )
    return world_map.render(scene)


def _body(run: RecordedRun) -> ObstaclesConfig | None:
    """The size of the rover by the recorded limits. None if unknown."""
    try:
        return Thresholds.model_validate_json(run.info[THRESHOLDS]).obstacles
    except (KeyError, ValueError):
        return None


def run_scores(run: RecordedRun) -> str:
    markers = [marker for marker in _markers(run) if marker.score is not None]
    return plots.score_over_position(markers, run.threshold, whole=True) if markers else ''


def run_battery(run: RecordedRun) -> str:
    levels = [(at_s, min(1.0, max(0.0, level))) for at_s, level in run.battery]
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
            None if each.score is None else min(1.0, max(0.0, each.score)),
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
    """Events that would be drawn in one place: of one kind and style, from the same COLUMN on.
    ``event`` is the first of them; ``end_s``: of the longest.
    """

    begin_s: float
    end_s: float | None
    event: TraceEvent
    last_s: float
    count: int = 0


def _failed(event: TraceEvent) -> bool:
    return event.ok is False or event.kind is TraceKind.ERROR


def _marks(
    across: Axis, events: Sequence[tuple[float, TraceEvent]], ends: Mapping[int, float]
) -> list[_Mark]:
    """So few that their number depends on the width, not on the length of the run. The failures
    are last, so that nothing covers them.
    """
    found: dict[tuple[object, ...], _Mark] = {}
    for number, (at_s, event) in enumerate(events):
        end_s = ends.get(number)
        place = (event.kind, _failed(event), end_s is None, round(across.at(at_s) / COLUMN))
        mark = found.setdefault(place, _Mark(at_s, end_s, event, at_s))
        mark.count += 1
        mark.last_s = at_s
        if mark.end_s is not None and end_s is not None:
            mark.end_s = max(mark.end_s, end_s)
    return sorted(found.values(), key=lambda mark: _failed(mark.event))


def _mark(across: Axis, mark: _Mark) -> Svg:
    """A bar if the event has an end, else a dot. The dot of a failure is square."""
    event, end_s, failed = mark.event, mark.end_s, _failed(mark.event)
    x, y = across.at(mark.begin_s), _lane(event.kind)
    if end_s is None:
        x, width, height, rx = x - DOT / 2, DOT, DOT, 0.0 if failed else DOT / 2
    else:
        width, height, rx = max(MIN_BAR_WIDTH, across.at(end_s) - x), BAR, 2.0
    when = clock(mark.begin_s)
    if mark.count > 1:
        when = f'{count_text(mark.count, "event")}, {when} to {clock(mark.last_s)}; the first:'
    text = clip_columns(f'{when} {event.tool_name or ""} {event.message}', MAX_TITLE_COLUMNS)
    box = element('rect', x=x, y=y - height / 2, width=width, height=height, rx=rx)
    style = 'failed' if failed else KIND_STYLES[event.kind]
    return element('g', title(text), box, class_=f'cr-bar cr-{style}')
