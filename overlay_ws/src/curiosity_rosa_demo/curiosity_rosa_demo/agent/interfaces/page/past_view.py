# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a page shows that looks back: the view of a time, as the snapshot that a live page gets."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
import threading

from curiosity_rosa_demo.agent.interfaces.page.drawings import DrawingCache
from curiosity_rosa_demo.agent.interfaces.page.history import History
from curiosity_rosa_demo.agent.interfaces.page.status_rows import (
    PanelData,
    plan_data,
    pose_text,
    trace_data,
)
from curiosity_rosa_demo.agent.interfaces.page.task_history import TaskHistory
from curiosity_rosa_demo.agent.interfaces.page.view_model import (
    last_turn,
    MAX_LINES,
    PageSnapshot,
    TURN_EVENTS,
    turn_steps,
)
from curiosity_rosa_demo.agent.runtime.session_recorder import MAX_PLACES
from curiosity_rosa_demo.domain.geometry import Place, XY
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.pictures import MAX_CAPTURES
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.recording.file import NotARecording
from curiosity_rosa_demo.recording.run import read_run, RecordedRun, RunCapture

# What calls for a person now, whatever time is shown.
LIVE_PARTS = ('about', 'alarms', 'approvals', 'talk', 'time')
NO_SCENE: PanelData = {'pose': None, 'spots': [], 'obstacles': [], 'goal': None, 'forecast': []}
UNKNOWN_MODE = 'UNKNOWN'


@dataclass(frozen=True)
class Story:
    """A history, and what belongs to it. ``name``: of a recording; '': this robot. ``pictures``:
    the IDs of the captures whose pictures are kept. ``note``: what is missing of it; '': nothing.
    """

    name: str
    history: History
    events: Callable[[], Sequence[TraceEvent]]
    histories: Callable[[], Sequence[TaskHistory]] = lambda: ()
    pictures: Callable[[], Collection[str]] = lambda: ()
    note: str = ''

    def view(self, at: float, live: PageSnapshot, drawings: DrawingCache) -> PageSnapshot:
        """What was shown at ``at``, or at the nearest time that is known: ``live`` has what is
        unknown of that time.
        """
        end = max(self.history.end, live.now)
        at = min(max(at, self.history.start or 0.0), end)
        view = self.history.view(at, MAX_PLACES)
        parts = past_parts(view.parts or _unknown_parts(live.parts), self.pictures())
        count = self.history.lines.count_until(at)
        events = [event for event in self.events() if event.ts <= at][-TURN_EVENTS:]
        shown = {
            'map': drawings.map(parts['scene'], view.trail),
            'plot': drawings.plot(parts['scene']),
            'times': drawings.timeline(histories_until(self.histories(), at), at),
            'steps': drawings.phase_bar(last_turn(turn_steps(events))),
        }
        lines = self.history.lines.newest(MAX_LINES, count)
        return replace(live, parts=parts, drawings=shown, lines=lines, count=count)


def past_parts(parts: Mapping[str, PanelData], pictures: Collection[str]) -> dict[str, PanelData]:
    """``parts`` as those of another time: without ages, and without buttons for what was. Captures
    whose picture is no longer kept are left out.
    """
    status, ground = parts['status'], parts['ground']
    captures = [row for row in parts['captures']['rows'] if row['id'] in pictures]
    return {
        **{name: {**facts, 'past': True} for name, facts in parts.items() if name != 'scene'},
        'scene': parts['scene'],
        'status': {
            **status,
            'past': True,
            'replay': True,
            'pausable': False,
            'held': False,
            'nodes': [{**node, 'aged': False} for node in status['nodes']],
        },
        'captures': {**parts['captures'], 'rows': captures, 'past': True},
        'ground': {**ground, 'picture': False, 'past': True},
    }


def histories_until(histories: Sequence[TaskHistory], at: float) -> list[TaskHistory]:
    """The changes of state up to ``at``."""
    moment = datetime.fromtimestamp(at, timezone.utc)
    cut = [
        TaskHistory(each.task, tuple(row for row in each.rows if row.at <= moment))
        for each in histories
    ]
    return [each for each in cut if each.rows]


def _unknown_parts(live: Mapping[str, PanelData]) -> dict[str, PanelData]:
    """Of a time of which only the trace is known."""
    status = live['status']
    return {
        **{name: {'rows': []} for name in ('progress', 'tasks', 'triggers', 'ground')},
        'captures': {'rows': [], 'replay': False},
        'plan': plan_data(None),
        'scene': NO_SCENE,
        'status': {
            **status,
            **dict.fromkeys(('why', 'auto', 'task', 'queued', 'usage'), ''),
            'mode': UNKNOWN_MODE,
            'auto_on': False,
            'motion': [{**row, 'text': 'unknown', 'bad': False} for row in status['motion']],
            'power': [{**row, 'text': 'unknown', 'bad': False} for row in status['power']],
            'sources': [],
            'nodes': [],
        },
    }


# -----------------------------------------------------------------------------------------------
# A recording as the story that a page shows: the same history as that of this robot. Pure
#
# A recording has no state of the agent, so mode, tasks and nodes are unknown.


PERIOD_S = 1.0  # of the changes, as of the history of this robot


def recorded_story(run: RecordedRun) -> Story:
    history, builder = History(), _Parts(run)
    moments = {round(run.began_s + builder.bounded(at), 3) for at in builder.times()}
    for at in sorted(moments):
        history.record(at, builder.parts(at - run.began_s))
    for at_s, _ in run.trail:
        history.record_trail(run.began_s + at_s, [*builder.driven(at_s)])
    before: float | None = None
    for at_s, event in run.events:
        history.add_line(run.began_s + at_s, trace_data(event, before))
        before = event.ts
    pictures = frozenset(each.event_id for each in builder.captures if each.image)
    events = [event for _, event in run.events]
    return Story(
        run.name,
        history,
        lambda: events,
        pictures=lambda: pictures,
        note=' '.join(run.warnings),
    )


def picture_of(run: RecordedRun, event_id: str) -> bytes | None:
    """The JPEG of the capture of the trace event ``event_id``."""
    found = (each.image for each in run.captures if each.event_id == event_id)
    return next(found, None) or None


class _Parts:
    def __init__(self, run: RecordedRun) -> None:
        self._run = run
        self.captures = [each for each in run.captures if each.score is not None]
        self._battery_times = [at_s for at_s, _ in run.battery]
        self._place_times = [at_s for at_s, _ in run.trail]
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
        exact = [each.at_s for each in self.captures] + [at_s for at_s, _ in self._plans]
        sampled = {at_s // PERIOD_S for at_s in [*self._place_times, *self._battery_times]}
        ends = [(second + 1.0) * PERIOD_S for second in sampled]
        return [0.0, *exact, *ends, run.length_s]

    def driven(self, at_s: float) -> Sequence[XY]:
        """The place then and the one before, so that it continues the trail."""
        index = bisect_right(self._place_times, at_s)
        return [(each.x, each.y) for _, each in self._run.trail[max(0, index - 2) : index]]

    def parts(self, at_s: float) -> dict[str, PanelData]:
        at_s += 1e-3  # times are rounded to it
        taken = [each for each in self.captures if each.at_s <= at_s][-MAX_CAPTURES:]
        plans = [event for at, event in self._plans if at <= at_s]
        pose = self._pose(at_s)
        return {
            **{name: {'rows': []} for name in ('progress', 'tasks', 'triggers', 'ground')},
            'status': self._status(at_s, pose),
            'plan': plan_data(plans[-1].data if plans else None),
            'captures': {
                'rows': [_capture_row(each, self._run) for each in reversed(taken)],
                'replay': True,
            },
            'scene': {
                **NO_SCENE,
                'pose': pose and [round(each, 2) for each in (pose.x, pose.y, pose.yaw_rad)],
                'spots': [
                    [each.event_id, each.place.x, each.place.y, each.score, each.is_good]
                    for each in taken
                    if each.place is not None
                ],
            },
        }

    def _pose(self, at_s: float) -> Place | None:
        index = bisect_right(self._place_times, at_s)
        return self._run.trail[index - 1][1] if index else None

    def _status(self, at_s: float, pose: Place | None) -> PanelData:
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


def _capture_row(capture: RunCapture, run: RecordedRun) -> PanelData:
    return {
        'id': capture.event_id,
        'score': round(capture.score or 0.0, 3),
        'good': capture.is_good,
        'at': run.began_s + capture.at_s,
        'place': pose_text(capture.place),
    }


# -----------------------------------------------------------------------------------------------
# The recordings that a page can show. Reads them with bounded memory; never plays them.


MAX_NAMES = 50  # the newest
MAX_OPEN = 2  # recordings in memory; each has the limits of a report


class RecordingNotShown(Exception):
    """The message says which recording, and why."""


class RecordingLibrary:
    """Safe from any thread. ``folder`` None: there are none."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._open: OrderedDict[str, tuple[int, RecordedRun, Story]] = OrderedDict()
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """The newest first."""
        if self._folder is None:
            return []
        found = (each.name for each in self._folder.glob('*.mcap') if each.is_file())
        return sorted(found, reverse=True)[:MAX_NAMES]

    def open(self, name: str) -> Story:
        """Blocks while it reads the file, if it is not open. Raises RecordingNotShown."""
        if self._folder is None or name not in self.names():
            raise RecordingNotShown(f'There is no recording {clip(name, 100)!r} any more.')
        path = self._folder / name
        with self._lock:
            try:
                size = path.stat().st_size  # one that is still being recorded is read anew
                if (known := self._open.get(name)) is not None and known[0] == size:
                    return known[2]
                run = read_run(path)
            except (NotARecording, OSError) as error:
                raise RecordingNotShown(f'{name} cannot be shown: {error}') from None
            story = recorded_story(run)
            if story.history.start is None:
                raise RecordingNotShown(f'{name} holds nothing to show.')
            self._open[name] = (size, run, story)
            self._open.move_to_end(name)
            while len(self._open) > MAX_OPEN:
                self._open.popitem(last=False)
            return story

    def picture(self, event_id: str) -> bytes | None:
        """The picture of a capture in an open recording."""
        for _, run, _ in tuple(self._open.values()):
            if (jpeg := picture_of(run, event_id)) is not None:
                return jpeg
        return None

    def events(self) -> list[TraceEvent]:
        """Those of the open recordings."""
        stories = [story for _, _, story in tuple(self._open.values())]
        return [event for story in stories for event in story.events()]
