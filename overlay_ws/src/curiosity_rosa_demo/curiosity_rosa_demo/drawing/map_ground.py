# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the map lies on: the bright zone, the grid, the geofence, the scale. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from curiosity_rosa_demo.drawing.plots import round_step, tick_text, ticks
from curiosity_rosa_demo.drawing.svg import (
    element,
    label,
    label_width,
    LabelPlace,
    LabelPlacer,
    line,
    points_attribute,
    Svg,
    title,
)
from curiosity_rosa_demo.drawing.view import Frame
from curiosity_rosa_demo.infra.config.limits import Geofence

MAX_GRID_LINES = 12  # of the grid along the longer side
EDGE = 12.0  # twice that at the top and the bottom without numbers
LABEL_MARGIN = 1.5  # of the numbers at the left: no line shows before them, like a minus
ZONE, FENCE = 'bright zone', 'geofence'
X, Y = 'x (m)', 'y (m)'


class Zone(NamedTuple):
    """Where it is bright: from x to x, and so far to each side of the X axis, metres."""

    x_min: float
    x_max: float
    half_width: float


def bright_zone(zone: Zone | None, frame: Frame, labels: LabelPlacer) -> Iterator[Svg]:
    if zone is None:
        return
    left, top = frame.at(zone.x_min, zone.half_width)
    right, bottom = frame.at(zone.x_max, -zone.half_width)
    yield element(
        'rect',
        title(ZONE),
        class_='cr-zone',
        x=left,
        y=top,
        width=right - left,
        height=bottom - top,
    )
    if right - left > label_width(ZONE):
        place = LabelPlace((left + right) / 2, max(top - 5.0, 12.0), 'middle')
        yield from labels.place(ZONE, (place,))


def grid(frame: Frame) -> Iterator[Svg]:
    shown = frame.shown
    step = round_step(shown.longest, MAX_GRID_LINES)
    lines, labels = [], []
    for x in ticks(shown.x_min, shown.x_max, step):
        across = min(frame.width, max(0.0, frame.at(x, 0.0)[0]))
        lines.append(line(across, 0.0, across, frame.height, 'cr-axis' if x == 0.0 else None))
        number = tick_text(x, step)
        if label_width(number) / 2 <= across <= frame.width - label_width(X) - label_width(number):
            labels.append(label(number, across, frame.height - 5.0, 'middle'))
    for y in ticks(shown.y_min, shown.y_max, step):
        down = min(frame.height, max(0.0, frame.at(0.0, y)[1]))
        lines.append(line(0.0, down, frame.width, down, 'cr-axis' if y == 0.0 else None))
        if 2 * EDGE < down < frame.height - 2 * EDGE:
            labels.append(label(tick_text(y, step), LABEL_MARGIN, down + 4.0))
    labels += [
        label(X, frame.width - 4.0, frame.height - 5.0, 'end'),
        label(Y, LABEL_MARGIN, 13.0),
    ]
    yield element('g', *lines, class_='cr-grid', aria_hidden='true')
    yield element('g', *labels, class_='cr-numbers', aria_hidden='true')


def geofence(fence: Geofence | None, frame: Frame, labels: LabelPlacer) -> Iterator[Svg]:
    """Its sides, as far as they are to be seen."""
    if fence is None or not fence.enabled:
        return
    left, top = frame.at(fence.x_min, fence.y_max)
    right, bottom = frame.at(fence.x_max, fence.y_min)
    low, high = max(0.0, left), min(frame.width, right)
    first, last = max(0.0, top), min(frame.height, bottom)
    sides = [
        line(x, first, x, last, 'cr-fence', FENCE) for x in (left, right) if 0 <= x <= frame.width
    ]
    sides += [
        line(low, y, high, y, 'cr-fence', FENCE) for y in (top, bottom) if 0 <= y <= frame.height
    ]
    if low < high and first < last:
        yield from sides
        across, down = max(low, label_width(Y)) + 8.0, max(first, 2 * EDGE) + 14.0
        if sides and across + label_width(FENCE) <= high and down <= last:
            yield from labels.place(FENCE, (LabelPlace(across, down),), 'cr-alarm')


def scale_bar(frame: Frame) -> Svg:
    metres = round_step(60.0 / frame.scale, 1)
    right, down = frame.width - 12.0, frame.height - 24.0
    left = right - metres * frame.scale
    corners = [(left, down - 4.0), (left, down), (right, down), (right, down - 4.0)]
    bar = element('polyline', points=points_attribute(corners))
    words = label(f'{tick_text(metres, metres)} m', (left + right) / 2, down - 5.0, 'middle')
    return element('g', bar, words, class_='cr-scale')
