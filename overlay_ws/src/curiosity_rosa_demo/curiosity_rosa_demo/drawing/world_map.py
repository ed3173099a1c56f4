# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The top-down map: world frame, metres, X to the right and Y up (REP 103). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
import math
from typing import Any, NamedTuple

from curiosity_rosa_demo.domain.geometry import Place, XY
from curiosity_rosa_demo.drawing.plots import (
    CaptureMarker,
    marker_svg,
    newest_markers,
    round_step,
    tick_text,
    ticks,
)
from curiosity_rosa_demo.drawing.svg import (
    drawing,
    element,
    is_drawable,
    label,
    label_width,
    LabelPlacer,
    line,
    points_attribute,
    Svg,
    title,
)
from curiosity_rosa_demo.drawing.trail import MOST_KEPT, simplified
from curiosity_rosa_demo.infra.config.limits import (
    Geofence,
    ObstaclesConfig,
    Thresholds,
    VizConfig,
)

WIDTH, HEIGHT, MARGIN = 480.0, 400.0, 26.0  # of the drawing; the margin has room for numbers
PADDING_M = 3.0
MAX_PARTS = 12  # into which the longer side is divided
MAX_GRID_LINES = 12  # of the grid along the longer side
EDGE = 12.0  # twice that at the top and the bottom without numbers
LABEL_MARGIN = 1.5  # of the numbers at the left: no line shows before them, like a minus
ZONE, FENCE = 'bright zone', 'geofence'
X, Y = 'x (m)', 'y (m)'
# Shares of the body's front or rear, and of its half width.
HULL = ((1.0, 0.0), (0.4, 0.6), (-0.9, 0.6), (-0.9, -0.6), (0.4, -0.6))
WHEELS = (-0.7, 0.0, 0.8)  # on both sides
UNKNOWN_BODY = (15.0, 15.0, 10.0)  # front, rear and half width, of the drawing's units
MIN_SCALE = 10.0  # units a metre for the rover, which is never drawn smaller
TRAIL_ERROR = 0.3  # of the drawing's units
MAX_LABELLED = 6  # captures, the newest; more numbers hide the map
MAX_OBSTACLES = 16
WHOLE_KEPT = 5_000  # places of the trail of a whole run

# --- Which part of the world the map shows, and where on it a place is -------------------------


class View(NamedTuple):
    x_min: float
    x_max: float
    y_min: float
    y_max: float

    def grown(self, by: float) -> View:
        return View(self.x_min - by, self.x_max + by, self.y_min - by, self.y_max + by)

    @property
    def longest(self) -> float:
        return max(self.x_max - self.x_min, self.y_max - self.y_min)


class Frame:
    """From metres to a drawing of ``width`` by ``height``, the same scale both ways, in the
    middle.
    """

    def __init__(self, view: View, width: float = WIDTH, height: float = HEIGHT) -> None:
        self.width, self.height = width, height
        wide, high = view.x_max - view.x_min, view.y_max - view.y_min
        self.scale = min((width - 2 * MARGIN) / wide, (height - 2 * MARGIN) / high)
        self._x = width / 2 - self.scale * (view.x_min + wide / 2)
        self._y = height / 2 + self.scale * (view.y_min + high / 2)
        (left, top), (right, bottom) = self.metres(0.0, 0.0), self.metres(width, height)
        self.shown = View(left, right, bottom, top)

    def at(self, x: float, y: float) -> XY:
        return self._x + self.scale * x, self._y - self.scale * y

    def metres(self, across: float, down: float) -> XY:
        return (across - self._x) / self.scale, (self._y - down) / self.scale


# --- What is drawn under all: grid, bright zone, geofence, scale -------------------------------


def _corners(viz: VizConfig) -> tuple[XY, XY]:
    """Of the bright zone, the upper left one first."""
    half = viz.bright_zone_half_width
    return (viz.bright_zone_x_min, half), (viz.bright_zone_x_max, -half)


def _bright_zone(viz: VizConfig, frame: Frame, labels: LabelPlacer) -> Iterator[Svg]:
    (left, top), (right, bottom) = (frame.at(*corner) for corner in _corners(viz))
    size = {'width': right - left, 'height': bottom - top}
    yield element('rect', title(ZONE), class_='cr-zone', x=left, y=top, **size)
    if right - left > label_width(ZONE):
        place = (left + right) / 2, max(top - 5.0, 12.0), 'middle'
        yield from labels.place(ZONE, (place,))


def _grid(frame: Frame) -> Iterator[Svg]:
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


def _geofence(fence: Geofence, frame: Frame, labels: LabelPlacer) -> Iterator[Svg]:
    """Its sides, as far as they are to be seen."""
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
            yield from labels.place(FENCE, ((across, down, None),), 'cr-alarm')


def _scale_bar(frame: Frame) -> Svg:
    metres = round_step(60.0 / frame.scale, 1)
    right, down = frame.width - 12.0, frame.height - 24.0
    left = right - metres * frame.scale
    corners = [(left, down - 4.0), (left, down), (right, down), (right, down - 4.0)]
    bar = element('polyline', points=points_attribute(corners))
    words = label(f'{tick_text(metres, metres)} m', (left + right) / 2, down - 5.0, 'middle')
    return element('g', bar, words, class_='cr-scale')


# --- The scene ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class MapScene:
    """``limits``, with the bright zone and the size of the rover, and ``pose`` None: unknown.
    ``obstacles``: as in WorldState. ``whole``: all of a run, not only the newest of it; where it
    began is marked. ``forecast``: the path of a rehearsal.
    """

    limits: Thresholds | None = None
    fence: Geofence | None = None
    pose: Place | None = None
    trail: Sequence[XY] = ()
    spots: Sequence[CaptureMarker] = ()
    obstacles: Sequence[Mapping[str, Any]] = ()
    whole: bool = False
    forecast: Sequence[XY] = ()


def view_of(scene: MapScene) -> View:
    """What ``render`` shows."""
    scene = _drawable_scene(scene)
    pose = scene.pose
    places = [
        *(_corners(scene.limits.viz) if scene.limits else ()),
        *scene.trail,
        *((marker.x, marker.y) for marker in scene.spots),
        *([(pose.x, pose.y)] if pose is not None else []),
        *scene.forecast,
    ]
    xs, ys = zip(*(places or [(0.0, 0.0)]), strict=True)
    bounds = View(min(xs), max(xs), min(ys), max(ys))
    step = round_step(bounds.longest + 2 * PADDING_M, MAX_PARTS)
    padded = bounds.grown(max(PADDING_M, step))
    outward = math.floor, math.ceil, math.floor, math.ceil
    return View(*(way(edge / step) * step for way, edge in zip(outward, padded, strict=True)))


def render(scene: MapScene, frame: Frame | None = None) -> Svg:
    """The part of the world that ``frame`` shows; None: all that is in the scene."""
    frame = frame or Frame(view_of(scene))
    scene, labels = _drawable_scene(scene), LabelPlacer(frame.width, frame.height)
    fence, limits = scene.fence, scene.limits
    return drawing(
        'map',
        frame.width,
        frame.height,
        _description(scene),
        *(_bright_zone(limits.viz, frame, labels) if limits else ()),
        *_grid(frame),
        *(_geofence(fence, frame, labels) if fence and fence.enabled else ()),
        *_trail(scene, frame),
        *_forecast(scene, frame),
        *_obstacles(scene, frame, labels),
        _rover(scene.pose, limits.obstacles if limits else None, frame),
        *_markers(scene, frame, labels),
        _scale_bar(frame),
    )


def _drawable_scene(scene: MapScene) -> MapScene:
    """Only what can be drawn."""
    pose = scene.pose
    return replace(
        scene,
        pose=pose if pose is not None and is_drawable(pose.x, pose.y, pose.yaw_rad) else None,
        trail=[place for place in scene.trail if is_drawable(*place)],
        forecast=[place for place in scene.forecast if is_drawable(*place)],
        spots=newest_markers(scene.spots, whole=scene.whole),
    )


def _description(scene: MapScene) -> str:
    where = 'position unknown'
    if (pose := scene.pose) is not None:
        heading = f'{math.degrees(math.remainder(pose.yaw_rad, math.tau)):.0f} degrees'
        where = f'rover at x {pose.x:.2f} m, y {pose.y:.2f} m, heading {heading}'
    scores = [marker.score for marker in scene.spots if marker.score is not None]
    best = f', the best scored {max(scores):.2f}' if scores else ''
    return f'Map: {where}; captures: {len(scene.spots)}{best}'


def _trail(scene: MapScene, frame: Frame) -> Iterator[Svg]:
    most = WHOLE_KEPT if scene.whole else MOST_KEPT
    way = simplified([frame.at(*place) for place in scene.trail], TRAIL_ERROR, most)
    if len(way) > 1:
        yield element('polyline', class_='cr-trail', points=points_attribute(way))
    if scene.whole and way:
        x, y = way[0]
        yield element('circle', title('began here'), class_='cr-begin', cx=x, cy=y, r=5.0)


def _forecast(scene: MapScene, frame: Frame) -> Iterator[Svg]:
    way = simplified([frame.at(x, y) for x, y in scene.forecast], TRAIL_ERROR, MOST_KEPT)
    if len(way) > 1:
        x, y = way[-1]
        path = element('polyline', points=points_attribute(way))
        end = element('circle', cx=x, cy=y, r=5.0)
        yield element('g', title('rehearsed path'), path, end, class_='cr-forecast')


def _obstacles(scene: MapScene, frame: Frame, labels: LabelPlacer) -> Iterator[Svg]:
    """A wall across the direction in which something is near."""
    pose = scene.pose
    if pose is None:
        return
    for obstacle in scene.obstacles[:MAX_OBSTACLES]:
        distance: Any = obstacle.get('distance_m')
        bearing: Any = obstacle.get('bearing_rad')
        if not is_drawable(distance, bearing):
            continue
        cosine, sine = math.cos(pose.yaw_rad + bearing), math.sin(pose.yaw_rad + bearing)
        x, y = frame.at(pose.x + distance * cosine, pose.y + distance * sine)
        if MARGIN <= x <= frame.width - MARGIN and MARGIN <= y <= frame.height - MARGIN:
            wall = line(x - 9.0 * sine, y - 9.0 * cosine, x + 9.0 * sine, y + 9.0 * cosine)
            beyond, before = (
                (x + 20.0 * side * cosine, y - 20.0 * side * sine + 4.0, 'middle')
                for side in (1.0, -1.0)
            )
            far = labels.place(f'{distance:.1f} m', (beyond, before))
            about = title(f'obstacle {distance:.1f} m away')
            yield element('g', about, wall, *far, class_='cr-obstacle')


def _markers(scene: MapScene, frame: Frame, labels: LabelPlacer) -> Iterator[Svg]:
    told = {}
    for marker in scene.spots[: -MAX_LABELLED - 1 : -1]:  # the newest first
        x, y = frame.at(marker.x, marker.y)
        around = (
            (x, y - 9.0, 'middle'),
            (x, y + 19.0, 'middle'),
            (x + 10.0, y + 4.0, None),
            (x - 10.0, y + 4.0, 'end'),
        )
        words = 'failed' if marker.score is None else f'{marker.score:.2f}'
        told[id(marker)] = labels.place(words, around)
    for marker in scene.spots:
        yield marker_svg(marker, *frame.at(marker.x, marker.y), *told.get(id(marker), ()))


def _rover(pose: Place | None, body: ObstaclesConfig | None, frame: Frame) -> Svg:
    if pose is None:
        middle = frame.width / 2
        box = element('rect', x=middle - 85.0, y=8.0, width=170.0, height=24.0, rx=4.0)
        words = label('position unknown', middle, 25.0, 'middle')
        return element('g', box, words, class_='cr-unknown')
    size = max(frame.scale, MIN_SCALE)
    x, y = frame.at(pose.x, pose.y)
    cosine, sine = math.cos(pose.yaw_rad), math.sin(pose.yaw_rad)
    front, rear, half = UNKNOWN_BODY
    if body is not None:
        front, rear, half = (size * m for m in (body.front_m, body.rear_m, body.half_width_m))

    def at(ahead: float, left: float) -> XY:
        """From shares of the body."""
        ahead, left = ahead * (front if ahead > 0.0 else rear), left * half
        return x + ahead * cosine - left * sine, y - ahead * sine - left * cosine

    wheels = [
        line(*at(ahead - 0.13, side), *at(ahead + 0.13, side))
        for ahead in WHEELS
        for side in (-0.9, 0.9)
    ]
    rolling = element('g', *wheels, class_='cr-wheels', stroke_width=0.18 * size)
    hull = element('polygon', points=points_attribute(at(*corner) for corner in HULL))
    mast = element('circle', class_='cr-mast', cx=x, cy=y, r=0.2 * size)
    about = title(f'rover: x {pose.x:.2f} m, y {pose.y:.2f} m')
    return element('g', about, rolling, hull, mast, class_='cr-rover')
