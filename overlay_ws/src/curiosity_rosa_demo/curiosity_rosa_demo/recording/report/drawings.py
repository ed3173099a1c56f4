# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The report's drawings: the drawings of the page for a whole run; '' without data to draw."""

from __future__ import annotations

from curiosity_rosa_demo.domain.models import RoverPose
from curiosity_rosa_demo.drawing import plots, world_map
from curiosity_rosa_demo.drawing.map_ground import Zone
from curiosity_rosa_demo.drawing.markers import CaptureMarker
from curiosity_rosa_demo.drawing.svg import is_drawable
from curiosity_rosa_demo.recording.report.rehearsals import RecordedRehearsal
from curiosity_rosa_demo.recording.report.run import RecordedRun
from curiosity_rosa_demo.recording.report.text import clock


def run_map(run: RecordedRun) -> str:
    """Map from above: the trail of the rover and its final pose."""
    trail = [(place.x, place.y) for place in run.trail]
    if not any(is_drawable(*place) for place in trail):
        return ''
    zone = Zone(*run.zone) if run.zone else None
    markers = _markers(run)
    return world_map.render(world_map.MapScene(zone, None, run.pose, trail, markers, whole=True))


def rehearsal_map(run: RecordedRun, rehearsed: RecordedRehearsal) -> str:
    """Map of the rehearsed path and, until the comparison, the driven one."""
    rehearsal = rehearsed.rehearsal
    if len(rehearsal.path) < 2:
        return ''
    end_s = rehearsed.at_s if rehearsed.ended_s is None else rehearsed.ended_s
    real = None if rehearsed.compared is None else rehearsed.compared.real
    stands = rehearsal.start if real is None else real.end
    pose = None if stands is None else RoverPose(**stands.model_dump(), frame_id='world')
    driven = [(each.x, each.y) for each in run.trail if rehearsed.at_s <= each.at_s <= end_s]
    zone = Zone(*run.zone) if run.zone else None
    scene = world_map.MapScene(zone, None, pose, driven, forecast=rehearsal.path)
    return world_map.render(scene)


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
