# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Captures as the drawings show them: marks that can be chosen. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from curiosity_rosa_demo.drawing.svg import (
    clip_columns,
    element,
    is_drawable,
    line,
    MAX_TITLE_COLUMNS,
    points_attribute,
    Svg,
    title,
)

MAX_MARKERS = 60  # are drawn, the newest


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
    """The last MOST that can be drawn, the oldest first; ``whole``: all of them."""
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
        look, reach = 'failed', 5.0
        shapes = [
            line(x - reach, y - reach, x + reach, y + reach),
            line(x - reach, y + reach, x + reach, y - reach),
        ]
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
    how = {
        'data_event': clip_columns(marker.event_id, MAX_TITLE_COLUMNS),
        'tabindex': '0',
        'role': 'button',
    }
    return element(
        'a' if marker.link else 'g',
        title(marker.label),
        element('circle', class_='cr-hit', cx=x, cy=y, r=12.0),
        *shapes,
        *more,
        class_=f'cr-spot cr-{look}',
        **({'href': marker.link} if marker.link else how),
        aria_label=marker.label,
    )
