# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The figures of a run: what stands at the top of its report, and in its row of an index. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
from curiosity_rosa_demo.recording.mcap.file import THRESHOLDS
from curiosity_rosa_demo.recording.report.run import RecordedRun
from curiosity_rosa_demo.recording.report.text import clock
from curiosity_rosa_demo.recording.report.turns import (
    Costs,
    costs_of,
    recorded_questions,
    recorded_turns,
    RecordedRehearsal,
    RecordedTurn,
)
from curiosity_rosa_demo.trace.events import ModelCalled


@dataclass(frozen=True)
class RunSummary:
    """``began_s``: seconds since the epoch. ``distance_m`` None: the place is unknown.
    ``captures``: those with a score. ``battery``: its first and last level, 0 to 1; None: unknown.
    """

    name: str
    began_s: float
    length_s: float
    distance_m: float | None
    captures: int
    good_captures: int
    best_score: float | None
    acts: int
    failures: int
    turns: tuple[RecordedTurn, ...]
    questions: int
    costs: Costs
    battery: tuple[float, float] | None
    warnings: tuple[str, ...]

    @property
    def driven_text(self) -> str:
        return 'unknown' if self.distance_m is None else f'{self.distance_m:.1f} m'

    @property
    def captures_text(self) -> str:
        return f'{self.captures}, {self.good_captures} good'

    @property
    def best_text(self) -> str:
        return 'none' if self.best_score is None else f'{self.best_score:.2f}'


def summary_of(run: RecordedRun) -> RunSummary:
    kinds = [event.kind for _, event in run.events]
    scores = [capture.score for capture in run.captures if capture.score is not None]
    calls = [call for _, event in run.events if (call := ModelCalled.of(event))]
    return RunSummary(
        name=run.name,
        began_s=run.began_s,
        length_s=run.length_s,
        distance_m=run.distance_m if run.trail else None,
        captures=len(scores),
        good_captures=sum(capture.is_good for capture in run.captures),
        best_score=max(scores, default=None),
        acts=kinds.count(TraceKind.ACT),
        failures=sum(event.ok is False for _, event in run.events),
        turns=tuple(recorded_turns(run.events)),
        questions=len(recorded_questions(run.events)),
        costs=costs_of(calls),
        battery=(run.battery[0][1], run.battery[-1][1]) if run.battery else None,
        warnings=tuple(warnings_of(run)),
    )


def key_figures(summary: RunSummary) -> list[tuple[str, str]]:
    """Names and values for the top of a report. Without calls of a model there is no cost."""
    figures = [
        ('Time', clock(summary.length_s)),
        ('Driven', summary.driven_text),
        ('Captures', summary.captures_text),
        ('Best score', summary.best_text),
        ('Acts', str(summary.acts)),
        ('Failures', str(summary.failures)),
        ('Questions', str(summary.questions)),
    ]
    if summary.costs.calls:
        figures += [
            ('Model calls', str(summary.costs.calls)),
            ('Model tokens', f'{summary.costs.tokens:,}'),
            ('Model cost', summary.costs.money_text),
        ]
    if summary.battery:
        first, last = summary.battery
        figures.append(('Battery', f'{100 * first:.0f} → {100 * last:.0f} %'))
    return figures


def warnings_of(run: RecordedRun) -> list[str]:
    """What is missing in the recording, and so in the report."""
    warnings = []
    dropped = (run.end or {}).get('dropped', '0')
    if run.end_problem:
        warnings.append(f'The file is torn; this is what is whole ({run.end_problem}).')
    elif run.end is None:
        warnings.append('The recording was cut off: up to a second is missing at its end.')
    if dropped != '0':
        noun = 'message' if dropped == '1' else 'messages'
        warnings.append(f'No room was left for {dropped} {noun}.')
    if run.left_out:
        count = count_text(run.left_out, 'message')
        warnings.append(f'The report leaves out {count} beyond its size.')
    if run.unreadable:
        warnings.append(f'{count_text(run.unreadable, "message")} could not be read.')
    return warnings


# -----------------------------------------------------------------------------------------------
# The report's drawings: the drawings of the page for a whole run; '' without data to draw.


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


def tick_clock(seconds: float) -> str:
    """Format as ``clock``, without tenths if they are 0; for an axis."""
    return clock(seconds).removesuffix('.0')


def _markers(run: RecordedRun) -> list[CaptureMarker]:
    """Markers of the captures with a known position; each links to its picture."""
    return [
        CaptureMarker(
            '',
            capture.place.x,
            capture.place.y,
            None if capture.score is None else min(1.0, max(0.0, capture.score)),
            capture.is_good,
            f'#capture-{capture.number}',
        )
        for capture in run.captures
        if capture.place is not None
    ]


# -----------------------------------------------------------------------------------------------
# The report's timeline: one lane per kind of event. The length of an ACT bar is its duration.


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
