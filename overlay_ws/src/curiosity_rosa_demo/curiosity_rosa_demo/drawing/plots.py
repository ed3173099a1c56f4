# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How bright it was where, and how full the battery was when. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
import math

from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.drawing.columns import clip_columns
from curiosity_rosa_demo.drawing.svg import (
    drawing,
    element,
    is_drawable,
    label,
    label_width,
    line,
    MAX_TITLE_COLUMNS,
    points_attribute,
    Svg,
    title,
)
from curiosity_rosa_demo.drawing.trail import simplified

WIDTH, HEIGHT = 480.0, 220.0
LEFT, TOP = 40.0, 18.0  # of the axes
RIGHT_MARGIN, BOTTOM_MARGIN = 16.0, 40.0  # of the axes
PARTS, MOST_TICKS, MOST_TIMES = 6, 9, 6
EMPTY_SPAN_M = (0.0, 5.0)
SCORE_LEVELS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
LEVEL_ERROR = 0.3  # of the drawing's units
MAX_MARKERS = 60  # are drawn, the newest

# --- Axes, and round numbers for them ----------------------------------------------------------


@dataclass(frozen=True)
class Axis:
    """Values from ``low`` to ``high``, which is more, onto ``start`` to ``end`` of a drawing."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Never beyond the ends."""
        part = (value - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * min(1.0, max(0.0, part))


def round_step(span: float, most: int) -> float:
    """The smallest of 1, 2, 5, 10, ... that divides ``span`` (above 0) into ``most`` or fewer."""
    least = span / most
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0, 20.0) if step * power >= least)


def ticks(low: float, high: float, step: float) -> list[float]:
    """The multiples of ``step`` from ``low`` to ``high``."""
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def tick_text(value: float, step: float) -> str:
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    shown = f'{value:.{decimals}f}'
    return shown.removeprefix('-') if float(shown) == 0.0 else shown.replace('-', '−')


# --- Ticks at round times ----------------------------------------------------------------------


STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200)
DAY_S = 86400


def time_step(span_s: float, most: int) -> int:
    """Seconds between ticks, so that there are ``most`` or fewer steps in ``span_s``."""
    least = span_s / most
    return next((step for step in STEPS_S if step >= least), DAY_S * math.ceil(least / DAY_S))


# --- Captures as marks, on a plot and on the map -----------------------------------------------


@dataclass(frozen=True)
class CaptureMarker:
    """A capture: its trace event, where the rover stood (metres, world frame), how bright; None:
    it failed. ``link``: to where the document shows it; '' makes a button of it.
    """

    event_id: str
    x: float
    y: float
    score: float | None
    is_good: bool
    link: str = ''

    @property
    def label(self) -> str:
        where = f'capture at x {self.x:.2f} m, y {self.y:.2f} m'
        if self.score is None:
            return f'{where}: failed'
        return f'{where}: score {self.score:.2f}, {"good" if self.is_good else "dark"}'


def newest_markers(spots: Iterable[CaptureMarker], *, whole: bool = False) -> list[CaptureMarker]:
    """The last MAX_MARKERS that can be drawn, the oldest first; ``whole``: all of them."""
    kept = [
        marker
        for marker in spots
        if is_drawable(marker.x, marker.y) and (marker.score is None or 0.0 <= marker.score <= 1.0)
    ]
    return kept if whole else kept[-MAX_MARKERS:]


def marker_svg(marker: CaptureMarker, x: float, y: float, *more: Svg) -> Svg:
    """At (x, y) of the drawing: a disc with a tick when it is good, a cross when it failed, else
    a square, the fuller the brighter. A link, or a button whose data-event is its trace event.
    """
    if marker.score is None:
        look = 'failed'
        shapes = [line(x - 5.0, y + end, x + 5.0, y - end) for end in (-5.0, 5.0)]
    elif marker.is_good:
        look = 'good'
        tick = [(x - 2.8, y), (x - 0.8, y + 2.4), (x + 3.0, y - 2.4)]
        shapes = [
            element('circle', cx=x, cy=y, r=6.0),
            element('polyline', class_='cr-tick', points=points_attribute(tick)),
        ]
    else:
        look = 'dark'
        square = {'x': x - 4.5, 'y': y - 4.5, 'width': 9.0, 'height': 9.0}
        shapes = [element('rect', **square, fill_opacity=marker.score)]
    event = clip_columns(marker.event_id, MAX_TITLE_COLUMNS)
    button = {'data_event': event, 'tabindex': '0', 'role': 'button'}
    return element(
        'a' if marker.link else 'g',
        title(marker.label),
        element('circle', class_='cr-hit', cx=x, cy=y, r=12.0),
        *shapes,
        *more,
        class_=f'cr-spot cr-{look}',
        **({'href': marker.link} if marker.link else button),
        aria_label=marker.label,
    )


# --- The plots ---------------------------------------------------------------------------------


def score_over_position(
    spots: Sequence[CaptureMarker],
    threshold: float | None,
    *,
    whole: bool = False,
) -> Svg:
    """The score, 0 to 1, over X in metres of the world frame. What failed has none.

    ``threshold`` None: unknown. ``whole``: not only the newest captures.
    """
    scored = [
        (each, each.score) for each in newest_markers(spots, whole=whole) if each.score is not None
    ]
    across = _metres([marker for marker, _ in scored])
    levels = Axis(0.0, 1.0, HEIGHT - BOTTOM_MARGIN, TOP)
    step = round_step(across.high - across.low, MOST_TICKS)
    numbers = [(x, tick_text(x, step)) for x in ticks(across.low, across.high, step)]
    empty = [] if scored else [label('no captures yet', WIDTH / 2, HEIGHT / 2 - 10.0, 'middle')]
    good = '' if threshold is None else f', good from {threshold:.2f}'
    return drawing(
        'plot',
        WIDTH,
        HEIGHT,
        f'Score over position: {count_text(len(scored), "capture")}{good}',
        *_scales(across, levels, numbers, 'x (m)', 'score', '{:g}'.format),
        *(_threshold(threshold, across.end, levels) if threshold is not None else ()),
        *(marker_svg(marker, across.at(marker.x), levels.at(score)) for marker, score in scored),
        *empty,
    )


def battery_over_time(levels: Sequence[tuple[float, float]], clock: Callable[[float], str]) -> Svg:
    """``levels``: seconds, of which there is more than one, and the charge from 0 to 1, the oldest
    first. ``clock``: whole seconds in words.
    """
    across = Axis(levels[0][0], levels[-1][0], LEFT, WIDTH - RIGHT_MARGIN)
    step = time_step(across.high - across.low, MOST_TIMES)
    numbers = [(at, clock(at)) for at in ticks(across.low, across.high, step)]
    scale = Axis(0.0, 1.0, HEIGHT - BOTTOM_MARGIN, TOP)
    way = simplified([(across.at(at), scale.at(level)) for at, level in levels], LEVEL_ERROR)
    return drawing(
        'plot',
        WIDTH,
        HEIGHT,
        f'Battery: from {levels[0][1]:.0%} to {levels[-1][1]:.0%}',
        *_scales(across, scale, numbers, 'time', 'battery', '{:.0%}'.format),
        element('polyline', class_='cr-trail', points=points_attribute(way)),
    )


def _metres(spots: Sequence[CaptureMarker]) -> Axis:
    """Whole steps around all that is drawn, so that they seldom change."""
    xs = [marker.x for marker in spots]
    low, high = (min(xs), max(xs)) if xs else EMPTY_SPAN_M
    step = round_step(max(high - low, 1.0), PARTS)
    low, high = math.floor(low / step - 0.2) * step, math.ceil(high / step + 0.2) * step
    return Axis(low, high, LEFT, WIDTH - RIGHT_MARGIN)


def _scales(
    across: Axis,
    levels: Axis,
    numbers: Iterable[tuple[float, str]],
    x_name: str,
    y_name: str,
    level_text: Callable[[float], str],
) -> Iterator[Svg]:
    """``numbers``: where along the axis across, and what they say."""
    lines, labels, right, bottom = [], [], across.end, levels.start
    for value, words in numbers:
        x = across.at(value)
        lines.append(line(x, TOP, x, bottom))
        if x + label_width(words) / 2 <= right + RIGHT_MARGIN:
            labels.append(label(words, x, bottom + 15.0, 'middle'))
    for level in SCORE_LEVELS:
        down = levels.at(level)
        lines.append(line(LEFT, down, right, down))
        labels.append(label(level_text(level), LEFT - 6.0, down + 4.0, 'end'))
    labels.append(label(x_name, right, bottom + BOTTOM_MARGIN - 8.0, 'end'))
    labels.append(label(y_name, LEFT, 12.0))
    yield element('g', *lines, class_='cr-grid', aria_hidden='true')
    corner = points_attribute([(LEFT, TOP), (LEFT, bottom), (right, bottom)])
    yield element('g', element('polyline', points=corner), *labels, class_='cr-ticks cr-numbers')


def _threshold(threshold: float, right: float, levels: Axis) -> Iterator[Svg]:
    down, words = levels.at(threshold), f'good from {threshold:.2f}'
    yield line(LEFT, down, right, down, 'cr-threshold', words)
    yield label(words, LEFT + 5.0, down - 5.0, class_='cr-soft')
