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
from typing import Any

from curiosity_rosa_demo.domain.models import RoverPose
from curiosity_rosa_demo.drawing.map_ground import bright_zone, geofence, grid, scale_bar, Zone
from curiosity_rosa_demo.drawing.markers import CaptureMarker, marker_svg, newest_markers
from curiosity_rosa_demo.drawing.svg import (
    drawing,
    element,
    is_drawable,
    label,
    LabelPlace,
    LabelPlacer,
    line,
    MAX_COORDINATE_M,
    points_attribute,
    Svg,
    title,
)
from curiosity_rosa_demo.drawing.trail import MOST_KEPT, MOST_READ, sampled, simplified, TrailPoint
from curiosity_rosa_demo.drawing.view import bounds_of, fit_view, Frame, View
from curiosity_rosa_demo.infra.config.limits import Geofence

WIDTH_M = 2.0  # of the rover, as in RViz
HULL_M = ((1.5, 0.0), (0.6, 0.75), (-1.5, 0.75), (-1.5, -0.75), (0.6, -0.75))
WHEELS_M = (-1.15, 0.0, 1.0)  # ahead of the middle, on both sides
MIN_SCALE = 10.0  # units a metre for the rover, which is never drawn smaller
TRAIL_ERROR = 0.3  # of the drawing's units
EDGE = 26.0  # an obstacle nearer to the edge is not drawn
MAX_LABELLED = 6  # captures, the newest; more numbers hide the map
MAX_OBSTACLES = 16
WHOLE_READ, WHOLE_KEPT = 20_000, 5_000  # places of the trail of a whole run


@dataclass(frozen=True)
class MapScene:
    """``zone``, ``pose`` None: unknown. ``obstacles``: as in WorldState. ``goal``: where it drives
    to. ``whole``: all of a run, not only the newest of it; where it began is marked.
    ``forecast``: the path that a rehearsal predicts.
    """

    zone: Zone | None = None
    fence: Geofence | None = None
    pose: RoverPose | None = None
    trail: Sequence[TrailPoint] = ()
    spots: Sequence[CaptureMarker] = ()
    obstacles: Sequence[Mapping[str, Any]] = ()
    goal: TrailPoint | None = None
    whole: bool = False
    forecast: Sequence[TrailPoint] = ()


def view_of(scene: MapScene, last: View | None = None) -> View:
    """What ``render`` shows; ``last`` for as long as it will do, so that the map seldom jumps."""
    return _view(_drawable_scene(scene), last)


def render(scene: MapScene, last: View | None = None) -> Svg:
    """``last``: as of ``view_of``."""
    return render_in(scene, Frame(view_of(scene, last)))


def render_in(scene: MapScene, frame: Frame) -> Svg:
    """The part of the world that ``frame`` shows."""
    scene, labels = _drawable_scene(scene), LabelPlacer(frame.width, frame.height)
    return drawing(
        'map',
        frame.width,
        frame.height,
        _description(scene),
        *bright_zone(scene.zone, frame, labels),
        *grid(frame),
        *geofence(scene.fence, frame, labels),
        *_trail(scene, frame),
        *_forecast(scene, frame),
        *_goal(scene, frame),
        *_obstacles(scene, frame, labels),
        _rover(scene.pose, frame),
        *_markers(scene, frame, labels),
        scale_bar(frame),
    )


def _drawable_scene(scene: MapScene) -> MapScene:
    """Only what can be drawn."""
    zone, pose, goal = scene.zone, scene.pose, scene.goal
    return replace(
        scene,
        zone=zone if zone is not None and is_drawable(*zone) else None,
        pose=pose if pose is not None and is_drawable(pose.x, pose.y, pose.yaw_rad) else None,
        trail=[
            place
            for place in sampled(scene.trail, WHOLE_READ if scene.whole else MOST_READ)
            if -MAX_COORDINATE_M <= place[0] <= MAX_COORDINATE_M
            and -MAX_COORDINATE_M <= place[1] <= MAX_COORDINATE_M
        ],
        forecast=[place for place in scene.forecast if is_drawable(*place)],
        spots=newest_markers(scene.spots, whole=scene.whole),
        goal=goal if goal is not None and is_drawable(*goal) else None,
    )


def _view(scene: MapScene, last: View | None) -> View:
    zone, pose = scene.zone, scene.pose
    places = [
        *([(zone.x_min, -zone.half_width), (zone.x_max, zone.half_width)] if zone else []),
        *scene.trail,
        *((marker.x, marker.y) for marker in scene.spots),
        *([(pose.x, pose.y)] if pose is not None else []),
        *([scene.goal] if scene.goal is not None else []),
        *scene.forecast,
    ]
    return fit_view(bounds_of(places or [(0.0, 0.0)]), last)


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
    way = simplified([frame.at(x, y) for x, y in scene.trail], TRAIL_ERROR, most)
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


def _goal(scene: MapScene, frame: Frame) -> Iterator[Svg]:
    if scene.goal is None:
        return
    x, y = frame.at(*scene.goal)
    if scene.pose is not None:
        yield line(*frame.at(scene.pose.x, scene.pose.y), x, y, 'cr-way')
    words = f'drives to x {scene.goal[0]:.2f} m, y {scene.goal[1]:.2f} m'
    cross = [line(x - 12.0, y, x + 12.0, y), line(x, y - 12.0, x, y + 12.0)]
    ring = element('circle', cx=x, cy=y, r=7.0)
    yield element('g', title(words), ring, *cross, class_='cr-goal')


def _obstacles(scene: MapScene, frame: Frame, labels: LabelPlacer) -> Iterator[Svg]:
    """A wall across the direction in which something is near."""
    pose = scene.pose
    if pose is None:
        return
    for obstacle in scene.obstacles[:MAX_OBSTACLES]:
        distance, bearing = obstacle.get('distance_m'), obstacle.get('bearing_rad')
        if distance is None or bearing is None or not is_drawable(distance, bearing):
            continue
        cosine, sine = math.cos(pose.yaw_rad + bearing), math.sin(pose.yaw_rad + bearing)
        x, y = frame.at(pose.x + distance * cosine, pose.y + distance * sine)
        if EDGE <= x <= frame.width - EDGE and EDGE <= y <= frame.height - EDGE:
            wall = line(x - 9.0 * sine, y - 9.0 * cosine, x + 9.0 * sine, y + 9.0 * cosine)
            beyond, before = (
                LabelPlace(x + 20.0 * side * cosine, y - 20.0 * side * sine + 4.0, 'middle')
                for side in (1.0, -1.0)
            )
            far = labels.place(f'{distance:.1f} m', (beyond, before))
            about = title(f'obstacle {distance:.1f} m away')
            yield element('g', about, wall, *far, class_='cr-obstacle')


def _markers(scene: MapScene, frame: Frame, labels: LabelPlacer) -> Iterator[Svg]:
    first_labelled, told = max(0, len(scene.spots) - MAX_LABELLED), {}
    for place in range(len(scene.spots) - 1, first_labelled - 1, -1):  # the newest first
        marker = scene.spots[place]
        x, y = frame.at(marker.x, marker.y)
        words = 'failed' if marker.score is None else f'{marker.score:.2f}'
        told[place] = labels.place(words, _places_around(x, y))
    for place, marker in enumerate(scene.spots):
        yield marker_svg(marker, *frame.at(marker.x, marker.y), *told.get(place, ()))


def _places_around(x: float, y: float) -> tuple[LabelPlace, ...]:
    return (
        LabelPlace(x, y - 9.0, 'middle'),
        LabelPlace(x, y + 19.0, 'middle'),
        LabelPlace(x + 10.0, y + 4.0),
        LabelPlace(x - 10.0, y + 4.0, 'end'),
    )


def _rover(pose: RoverPose | None, frame: Frame) -> Svg:
    if pose is None:
        middle = frame.width / 2
        box = element('rect', x=middle - 85.0, y=8.0, width=170.0, height=24.0, rx=4.0)
        words = label('position unknown', middle, 25.0, 'middle')
        return element('g', box, words, class_='cr-unknown')
    size = max(frame.scale, MIN_SCALE)
    x, y = frame.at(pose.x, pose.y)
    cosine, sine = size * math.cos(pose.yaw_rad), size * math.sin(pose.yaw_rad)

    def at(ahead: float, left: float) -> TrailPoint:
        return x + ahead * cosine - left * sine, y - ahead * sine - left * cosine

    wheels = [
        line(*at(ahead - 0.22, side), *at(ahead + 0.22, side))
        for ahead in WHEELS_M
        for side in (-WIDTH_M / 2, WIDTH_M / 2)
    ]
    rolling = element('g', *wheels, class_='cr-wheels', stroke_width=0.18 * size)
    hull = element('polygon', points=points_attribute(at(*corner) for corner in HULL_M))
    mast = element('circle', class_='cr-mast', cx=x, cy=y, r=0.2 * size)
    about = title(f'rover: x {pose.x:.2f} m, y {pose.y:.2f} m')
    return element('g', about, rolling, hull, mast, class_='cr-rover')
