# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A recording as the story that a page shows: the same history as that of this robot. Pure.

A recording has no state of the agent, so mode, tasks and nodes are unknown.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
import math

from curiosity_rosa_demo.agent.interfaces.page.history import History, Place
from curiosity_rosa_demo.agent.interfaces.page.past_view import (
    NO_SCENE,
    Story,
    UNKNOWN_MODE,
)
from curiosity_rosa_demo.agent.interfaces.page.status_rows import (
    PanelData,
    plan_data,
    pose_text,
    trace_data,
)
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.pictures import MAX_CAPTURES
from curiosity_rosa_demo.recording.report.run import RecordedRun, ReportCapture, TimedPlace
from curiosity_rosa_demo.recording.report.summary import warnings_of
from curiosity_rosa_demo.trace.events import CaptureTaken

PERIOD_S = 1.0  # of the changes, as of the history of this robot


def recorded_story(run: RecordedRun) -> Story:
    history, builder = History(), _Parts(run)
    moments = {round(run.began_s + builder.bounded(at), 3) for at in builder.times()}
    for at in sorted(moments):
        history.record(at, builder.parts(at - run.began_s))
    for place in run.trail:
        history.record_trail(run.began_s + place.at_s, [*builder.driven(place)])
    before: float | None = None
    for at_s, event in run.events:
        history.add_line(run.began_s + at_s, trace_data(event, before))
        before = event.ts
    pictures = frozenset(id_ for id_, capture in builder.captures if capture.image)
    events = [event for _, event in run.events]
    return Story(
        run.name,
        history,
        lambda: events,
        pictures=lambda: pictures,
        note=' '.join(warnings_of(run)),
    )


def picture_of(run: RecordedRun, event_id: str) -> bytes | None:
    """The JPEG of the capture of the trace event ``event_id``."""
    found = (capture.image for id_, capture in _captures(run) if id_ == event_id)
    return next(found, None) or None


class _Parts:
    def __init__(self, run: RecordedRun) -> None:
        self._run, self.captures = run, _captures(run)
        self._battery_times = [at_s for at_s, _ in run.battery]
        self._place_times = [place.at_s for place in run.trail]
        self._plans = [
            (at_s, event)
            for at_s, event in run.events
            if event.kind is TraceKind.HYPOTHESIZE and isinstance(_steps(event), list)
        ]

    def bounded(self, at_s: float) -> float:
        """A moment within the recording: latched events may be older."""
        return min(max(at_s, 0.0), self._run.length_s)

    def times(self) -> list[float]:
        """When a part may change, in seconds since the start."""
        run = self._run
        exact = [capture.at_s for _, capture in self.captures] + [at_s for at_s, _ in self._plans]
        sampled = {at_s // PERIOD_S for at_s in [*self._place_times, *self._battery_times]}
        ends = [(second + 1.0) * PERIOD_S for second in sampled]
        return [0.0, *exact, *ends, run.length_s]

    def driven(self, place: TimedPlace) -> Sequence[Place]:
        """The place and the one before, so that it continues the trail."""
        index = bisect_right(self._place_times, place.at_s)
        return [(each.x, each.y) for each in self._run.trail[max(0, index - 2) : index]]

    def parts(self, at_s: float) -> dict[str, PanelData]:
        at_s += 1e-3  # times are rounded to it
        taken = [each for each in self.captures if each[1].at_s <= at_s][-MAX_CAPTURES:]
        plans = [event for at, event in self._plans if at <= at_s]
        pose = self._pose(at_s)
        return {
            **{name: {'rows': []} for name in ('progress', 'tasks', 'triggers', 'ground')},
            'status': self._status(at_s, pose),
            'plan': plan_data(plans[-1].data if plans else None),
            'captures': {
                'rows': [_capture_row(id_, each, self._run) for id_, each in reversed(taken)],
                'replay': True,
            },
            'scene': {
                **NO_SCENE,
                'pose': pose and [round(each, 2) for each in (pose.x, pose.y, pose.yaw_rad)],
                'spots': [
                    [id_, each.place.x, each.place.y, each.score, each.is_good]
                    for id_, each in taken
                    if each.place is not None
                ],
            },
        }

    def _pose(self, at_s: float) -> RoverPose | None:
        """The last place; its heading is that of the way to it."""
        index = bisect_right(self._place_times, at_s)
        if not index:
            return None
        here, before = self._run.trail[index - 1], self._run.trail[max(0, index - 2)]
        yaw = math.atan2(here.y - before.y, here.x - before.x) if here != before else 0.0
        return RoverPose(x=here.x, y=here.y, yaw_rad=yaw, frame_id='world')

    def _status(self, at_s: float, pose: RoverPose | None) -> PanelData:
        index = bisect_right(self._battery_times, at_s)
        level = f'{100.0 * self._run.battery[index - 1][1]:.0f} %' if index else 'unknown'
        return {
            **dict.fromkeys(('why', 'auto', 'task', 'queued', 'usage'), ''),
            'mode': UNKNOWN_MODE,
            'auto_on': False,
            'motion': [_value('Place', pose_text(pose), 'odometry')],
            'power': [_value('Battery', level, 'battery')],
            'sources': [],
            'nodes': [],
        }


def _value(name: str, text: str, source: str) -> PanelData:
    return {'name': name, 'text': text, 'from': source, 'limit': None, 'bad': False}


def _steps(event: TraceEvent) -> object:
    return (event.data or {}).get('steps')


def _captures(run: RecordedRun) -> list[tuple[str, ReportCapture]]:
    """The captures that succeeded, with the IDs of their events."""
    events = [event for _, event in run.events if CaptureTaken.of(event)]
    pairs = zip(events, run.captures, strict=True)
    return [(event.event_id, each) for event, each in pairs if each.score is not None]


def _capture_row(event_id: str, capture: ReportCapture, run: RecordedRun) -> PanelData:
    place = capture.place
    pose = None if place is None else RoverPose(x=place.x, y=place.y, frame_id='world')
    return {
        'id': event_id,
        'score': round(capture.score or 0.0, 3),
        'good': capture.is_good,
        'at': run.began_s + capture.at_s,
        'place': pose_text(pose),
    }
