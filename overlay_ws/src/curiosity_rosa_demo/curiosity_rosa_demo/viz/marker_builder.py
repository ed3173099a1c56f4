# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The trace, the rover and its trail as RViz markers. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import math

from curiosity_rosa_demo.domain.geometry import Place, XY
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.drawing.columns import clip_columns
from curiosity_rosa_demo.infra.config.limits import Thresholds
from curiosity_rosa_demo.trace.events import CaptureTaken
from geometry_msgs.msg import Point, Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

Colour = tuple[float, float, float, float]

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
LINE_COLUMNS, FAILURE_COLUMNS = 90, 40
LINE_HEIGHT = 0.35  # of a letter
LINE_STEP = 0.5
LOWEST_LINE_HEIGHT_M = 3.0  # clears the rover
SCORE_HEIGHT = 1.0


def capture_in(event: TraceEvent) -> CaptureTaken | None:
    """The capture that ``event`` reports, with its score or as a failure; else None."""
    taken = CaptureTaken.of(event)
    if taken is None or taken.ok is False:
        return taken
    return taken if taken.score is not None and 0.0 <= taken.score <= 1.0 else None


class MarkerBuilder:
    """Draws in ``frame_id``, the world frame.

    Each array holds the whole scene after a DELETEALL, so that a late RViz needs only the newest
    array. The stamps are zero, which RViz reads as "the newest transform": no marker depends on
    another node's clock.
    """

    def __init__(self, thresholds: Thresholds, frame_id: str) -> None:
        self._config, self._body = thresholds.viz, thresholds.obstacles
        self._good_from = thresholds.quality.score_threshold
        self._frame_id = frame_id.lstrip('/')

    def build(
        self,
        pose: Place | None = None,
        trail: Sequence[XY] = (),
        events: Sequence[TraceEvent] = (),
        capture: CaptureTaken | None = None,
    ) -> MarkerArray:
        """``pose`` None: unknown. The events are the oldest first."""
        shown = events[-(self._config.trace_lines or len(events)) :]
        markers = [Marker(action=Marker.DELETEALL), self._bright_zone()]
        if pose is not None:
            markers += self._rover(pose)
        if len(trail) > 1:  # RViz rejects a line strip with one point
            strip = self._marker('trail', 0, Marker.LINE_STRIP, (0.20, 0.55, 1.00, 0.9))
            strip.scale.x = 0.08
            newest = trail[-self._config.trail_points :]
            strip.points = [Point(x=x, y=y, z=0.05) for x, y in newest]
            markers.append(strip)
        markers += self._lines(shown)
        if capture is not None:
            markers.append(self._score(capture, len(shown)))
        return MarkerArray(markers=markers)

    def _bright_zone(self) -> Marker:
        low, high = self._config.bright_zone_x_min, self._config.bright_zone_x_max
        marker = self._marker('bright_zone', 0, Marker.CUBE, (1.0, 0.95, 0.55, 0.25))
        marker.pose.position = Point(x=low + (high - low) / 2.0, y=0.0, z=0.01)
        width = 2.0 * self._config.bright_zone_half_width
        marker.scale = Vector3(x=high - low, y=width, z=0.02)
        return marker

    def _rover(self, pose: Place) -> Iterator[Marker]:
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

    def _lines(self, events: Sequence[TraceEvent]) -> Iterator[Marker]:
        """One text marker per event, the newest lowest, as on a terminal: kind, tool, message, and
        the reason of a failure.
        """
        for slot, event in enumerate(reversed(events)):
            colour = RED if event.ok is False else KIND_COLOURS[event.kind]
            height = LOWEST_LINE_HEIGHT_M + slot * LINE_STEP
            tool = f' {event.tool_name}:' if event.tool_name else ''
            reason = event.error_reason or ''
            suffix = f' ({reason})' if reason and reason not in event.message else ''
            line = f'{event.kind.value}{tool} {event.message}{suffix}'
            text = clip_columns(line, LINE_COLUMNS)
            yield self._text('trace', slot, text, colour, height, LINE_HEIGHT)

    def _score(self, capture: CaptureTaken, lines: int) -> Marker:
        if capture.ok is False:
            why = f'capture failed: {capture.error_reason or "no reason given"}'
            text, colour = clip_columns(why, FAILURE_COLUMNS), RED
        else:
            good = capture.is_good(self._good_from)
            verdict, colour = ('GOOD', GREEN) if good else ('DARK', AMBER)
            text = f'score {capture.score:.2f} {verdict}'
        height = LOWEST_LINE_HEIGHT_M + lines * LINE_STEP + SCORE_HEIGHT
        return self._text('score', 0, text, colour, height, SCORE_HEIGHT)

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
        red, green, blue, alpha = colour
        marker.color = ColorRGBA(r=red, g=green, b=blue, a=alpha)
        marker.pose.orientation.w = 1.0
        return marker
