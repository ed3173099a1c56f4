# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Builds the RViz markers of a scene. Pure, except for the ROS message classes. Lengths are metres
(REP 103).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import math
import unicodedata

from builtin_interfaces.msg import Time
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent, TraceKind
from curiosity_rosa_demo.infra.config.limits import ObstaclesConfig, VizConfig
from curiosity_rosa_demo.trace.events import CaptureTaken
from geometry_msgs.msg import Point, Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

# -----------------------------------------------------------------------------------------------
# The scene to draw: the rover's pose and trail, the last trace events, the last capture.


VISIBLE_STEP_M = 0.01  # metres or radians; a smaller change is not visible


@dataclass(frozen=True)
class Capture:
    """The result of a capture_and_score. ``score`` is None when it failed, with ``reason``."""

    score: float | None
    is_good: bool
    reason: str = ''


@dataclass(frozen=True)
class Scene:
    """One moment. ``pose`` is None while TF is unavailable. Events are oldest first."""

    pose: RoverPose | None = None
    trail: Sequence[tuple[float, float]] = ()
    events: Sequence[TraceEvent] = ()
    capture: Capture | None = None


def capture_in(event: TraceEvent, score_threshold: float) -> Capture | None:
    """The capture that ``event`` reports, or None."""
    taken = CaptureTaken.of(event)
    if taken is None:
        return None
    if taken.ok is False:
        return Capture(None, False, taken.error_reason or event.message)
    if taken.score is None or not 0.0 <= taken.score <= 1.0:
        return None
    return Capture(taken.score, taken.is_good(score_threshold))


def has_visibly_moved(before: RoverPose | None, now: RoverPose | None) -> bool:
    """Whether the two poses differ by more than VISIBLE_STEP_M, or only one is known."""
    if before is None or now is None:
        return before is not now
    steps = (now.x - before.x, now.y - before.y, now.yaw_rad - before.yaw_rad)
    return any(abs(step) > VISIBLE_STEP_M for step in steps)


Colour = tuple[float, float, float, float]
VisibleMarkers = frozenset[tuple[str, int]]  # namespace and id of markers

GREEN: Colour = (0.20, 0.85, 0.35, 1.0)
AMBER: Colour = (1.00, 0.70, 0.10, 1.0)
RED: Colour = (1.00, 0.25, 0.20, 1.0)
KIND_COLOURS: dict[TraceKind, Colour] = {
    TraceKind.OBSERVE: (0.45, 0.80, 1.00, 1.0),
    TraceKind.HYPOTHESIZE: (0.80, 0.65, 1.00, 1.0),
    TraceKind.DECIDE: (1.00, 0.90, 0.40, 1.0),
    TraceKind.ACT: (1.00, 0.70, 0.40, 1.0),
    TraceKind.RESULT: (0.60, 0.95, 0.60, 1.0),
    TraceKind.ERROR: RED,
}

HULL_HEIGHT_M = 0.6  # of the drawn body: from its top down to the wheels
LINE_COLUMNS = 90
LINE_HEIGHT = 0.35  # of a letter
LINE_STEP = 0.5
LOWEST_LINE_HEIGHT_M = 3.0  # clears the rover
SCORE_HEIGHT = 1.0


class MarkerBuilder:
    """Draws scenes in ``frame_id``, the world frame.

    Each array holds the whole scene, so that a late RViz needs only the newest array. The stamps
    are zero, which RViz reads as "the newest transform": no marker depends on another node's
    clock.
    """

    def __init__(self, config: VizConfig, body: ObstaclesConfig, frame_id: str) -> None:
        self._config, self._body = config, body
        self._frame_id = frame_id.lstrip('/')

    def build(self, scene: Scene, shown: VisibleMarkers = frozenset()) -> MarkerArray:
        """The markers of the scene, after deletions of the ``shown`` markers that it lacks."""
        markers = [self._bright_zone()]
        markers += self._rover(scene.pose)
        markers += self._trail(scene.trail)
        count = self._config.trace_lines or len(scene.events)
        markers += self._lines(scene.events[-count:])
        markers += self._score(scene.capture, min(count, len(scene.events)))
        stale = shown - {(marker.ns, marker.id) for marker in markers}
        return MarkerArray(markers=[self._deletion(*key) for key in sorted(stale)] + markers)

    def _bright_zone(self) -> Marker:
        low, high = self._config.bright_zone_x_min, self._config.bright_zone_x_max
        marker = self._marker('bright_zone', 0, Marker.CUBE, (1.0, 0.95, 0.55, 0.25))
        marker.pose.position = Point(x=low + (high - low) / 2.0, y=0.0, z=0.01)
        width = 2.0 * self._config.bright_zone_half_width
        marker.scale = Vector3(x=high - low, y=width, z=0.02)
        return marker

    def _rover(self, pose: RoverPose | None) -> Iterator[Marker]:
        if pose is None:
            return
        shape = self._body
        length, top = shape.front_m + shape.rear_m, shape.rover_height_m
        body = self._marker('rover', 0, Marker.CUBE, (0.85, 0.85, 0.90, 0.8))
        body.scale = Vector3(x=length, y=2.0 * shape.half_width_m, z=HULL_HEIGHT_M)
        heading = self._marker('rover', 1, Marker.ARROW, (0.20, 0.55, 1.00, 1.0))
        heading.scale = Vector3(x=length, y=0.25, z=0.25)  # length, width, height
        ahead = (shape.front_m - shape.rear_m) / 2.0  # of the base frame: the body's middle
        middle = (
            pose.x + ahead * math.cos(pose.yaw_rad),
            pose.y + ahead * math.sin(pose.yaw_rad),
            top - HULL_HEIGHT_M / 2.0,
        )
        for marker, (x, y, z) in ((body, middle), (heading, (pose.x, pose.y, top))):
            marker.pose.position = Point(x=x, y=y, z=z)
            marker.pose.orientation.z = math.sin(pose.yaw_rad / 2.0)
            marker.pose.orientation.w = math.cos(pose.yaw_rad / 2.0)
            yield marker

    def _trail(self, trail: Sequence[tuple[float, float]]) -> Iterator[Marker]:
        points = trail[-self._config.trail_points :]
        if len(points) < 2:  # RViz rejects a line strip with one point
            return
        marker = self._marker('trail', 0, Marker.LINE_STRIP, (0.20, 0.55, 1.00, 0.9))
        marker.scale.x = 0.08
        marker.points = [Point(x=x, y=y, z=0.05) for x, y in points]
        yield marker

    def _lines(self, events: Sequence[TraceEvent]) -> Iterator[Marker]:
        """One text marker per event, the newest lowest, as on a terminal."""
        for slot, event in enumerate(reversed(events)):
            colour = RED if event.ok is False else KIND_COLOURS[event.kind]
            height = LOWEST_LINE_HEIGHT_M + slot * LINE_STEP
            yield self._text('trace', slot, event_line(event), colour, height, LINE_HEIGHT)

    def _score(self, capture: Capture | None, lines: int) -> Iterator[Marker]:
        if capture is None:
            return
        height = LOWEST_LINE_HEIGHT_M + lines * LINE_STEP + SCORE_HEIGHT
        text, colour = score_verdict(capture)
        yield self._text('score', 0, text, colour, height, SCORE_HEIGHT)

    def _text(
        self, ns: str, id_: int, text: str, colour: Colour, height: float, size: float
    ) -> Marker:
        marker = self._marker(ns, id_, Marker.TEXT_VIEW_FACING, colour)
        marker.text = text
        # Above the far edge of the bright zone, readable for a viewer who looks along +X.
        marker.pose.position = Point(x=self._config.bright_zone_x_max, y=0.0, z=height)
        marker.scale.z = size
        return marker

    def _marker(self, ns: str, id_: int, type_: int, colour: Colour) -> Marker:
        marker = Marker(ns=ns, id=id_, type=type_, action=Marker.ADD)
        marker.header.frame_id = self._frame_id
        marker.header.stamp = Time()
        red, green, blue, alpha = colour
        marker.color = ColorRGBA(r=red, g=green, b=blue, a=alpha)
        marker.pose.orientation.w = 1.0
        return marker

    def _deletion(self, ns: str, id_: int) -> Marker:
        marker = Marker(ns=ns, id=id_, action=Marker.DELETE)
        marker.header.frame_id = self._frame_id
        return marker


def visible_markers(array: MarkerArray) -> VisibleMarkers:
    """The markers that RViz shows after it has received ``array``."""
    return frozenset((m.ns, m.id) for m in array.markers if m.action == Marker.ADD)


def event_line(event: TraceEvent) -> str:
    """The event in one line: kind, tool, message, and the reason of a failure."""
    tool = f' {event.tool_name}:' if event.tool_name else ''
    reason = event.error_reason or ''
    suffix = f' ({reason})' if reason and reason not in event.message else ''
    return one_line(f'{event.kind.value}{tool} {event.message}{suffix}', LINE_COLUMNS)


def score_verdict(capture: Capture) -> tuple[str, Colour]:
    """Text and colour of the large score."""
    if capture.score is None:
        return one_line(f'capture failed: {capture.reason}', 40), RED
    verdict, colour = ('GOOD', GREEN) if capture.is_good else ('DARK', AMBER)
    return f'score {capture.score:.2f} {verdict}', colour


def one_line(text: str, columns: int) -> str:
    """``text`` without control characters, at most ``columns`` wide. Wide letters count twice."""
    # Cut a very long text before the per-character pass; folded blanks may shorten it further.
    words = ''.join(_shown(character) for character in text[: 10 * columns]).split()
    line = ' '.join(words)
    width = 0
    for index, character in enumerate(line):
        width += 2 if unicodedata.east_asian_width(character) in 'WF' else 1
        if width > columns - 1 and (len(line) > index + 1 or width > columns):
            return line[:index].rstrip() + '…'
    return line


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category in ('Cc', 'Zl', 'Zp'):
        return ' '
    return (
        '' if category.startswith('C') else character
    )  # direction marks, surrogates, private use
