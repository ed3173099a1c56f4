# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A recording as the history that a page shows, and the folder of recordings.

A recording has no state of the agent, so mode, tasks and nodes are unknown.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
import threading

from curiosity_rosa_demo.agent.interfaces.page.document import Document, patched, pose_shown
from curiosity_rosa_demo.agent.interfaces.page.feed import line_of, mark_of
from curiosity_rosa_demo.agent.interfaces.page.history import History
from curiosity_rosa_demo.domain.brain_state import BatteryLevel
from curiosity_rosa_demo.domain.geometry import XY
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.pictures import MAX_CAPTURES
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.recording.file import NotARecording
from curiosity_rosa_demo.recording.run import read_run, RecordedRun, RunCapture

PERIOD_S = 1.0  # of the changes, as of the history of this robot
MAX_NAMES = 50  # the newest
MAX_OPEN = 2  # recordings in memory; each has the limits of a report


class RecordingNotShown(Exception):
    """The message says which recording, and why."""


@dataclass(frozen=True)
class Recording:
    """``pictures``: those of the captures, by their events. ``note``: what is missing."""

    history: History
    events: Sequence[TraceEvent]
    pictures: dict[str, bytes]
    note: str

    @classmethod
    def of(cls, run: RecordedRun) -> Recording:
        history, moments = History(), _Moments(run)
        for at in sorted({round(run.began_s + moments.bounded(at), 3) for at in moments.times()}):
            history.record(at, moments.document(at - run.began_s))
        for at_s, _ in run.trail:
            history.record_trail(run.began_s + at_s, moments.driven(at_s))
        for at_s, event in run.events:
            history.add_line(run.began_s + at_s, line_of(event), mark_of(event))
        pictures = {each.event_id: each.image for each in moments.captures if each.image}
        return cls(history, [event for _, event in run.events], pictures, ' '.join(run.warnings))


class _Moments:
    def __init__(self, run: RecordedRun) -> None:
        self._run = run
        self.captures = [each for each in run.captures if each.score is not None]
        self._battery_times = [at_s for at_s, _ in run.battery]
        self._place_times = [at_s for at_s, _ in run.trail]
        self._plans = [
            (at_s, event)
            for at_s, event in run.events
            if event.kind is TraceKind.HYPOTHESIZE
            and isinstance((event.data or {}).get('steps'), list)
        ]

    def bounded(self, at_s: float) -> float:
        """A moment within the recording: latched events may be older."""
        return min(max(at_s, 0.0), self._run.length_s)

    def times(self) -> list[float]:
        """When the document may change, in seconds since the start."""
        run = self._run
        exact = [capture.at_s for capture in self.captures] + [at_s for at_s, _ in self._plans]
        sampled = {at_s // PERIOD_S for at_s in [*self._place_times, *self._battery_times]}
        ends = [(second + 1.0) * PERIOD_S for second in sampled]
        return [0.0, *exact, *ends, run.length_s]

    def driven(self, at_s: float) -> Sequence[XY]:
        """The place then and the one before, so that it continues the trail."""
        index = bisect_right(self._place_times, at_s)
        return [(each.x, each.y) for _, each in self._run.trail[max(0, index - 2) : index]]

    def document(self, at_s: float) -> Document:
        """What is known of the state, and the captures so far."""
        at_s += 1e-3  # times are rounded to it
        taken = [each for each in self.captures if each.at_s <= at_s][-MAX_CAPTURES:]
        plans = [event.data for at, event in self._plans if at <= at_s]
        index = bisect_right(self._battery_times, at_s)
        battery: Document = {}
        if index:
            percent = round(100.0 * self._run.battery[index - 1][1])
            battery = {'battery_state': BatteryLevel.OK.value, 'battery_pct': percent}
        brain = {'robot': battery, 'react': {'plan': plans[-1] if plans else None}}
        state = {'brain_state': brain, 'pose': self._pose(at_s)}
        captures = {each.event_id: self._capture(each) for each in taken}
        return patched({}, {'state': state, 'captures': captures})

    def _pose(self, at_s: float) -> Document | None:
        """The last place."""
        index = bisect_right(self._place_times, at_s)
        if not index:
            return None
        _, here = self._run.trail[index - 1]
        return pose_shown(RoverPose(x=here.x, y=here.y, yaw_rad=here.yaw_rad, frame_id=''))

    def _capture(self, capture: RunCapture) -> Document:
        """As GET /captures gives it."""
        place = capture.place
        return {
            'event_id': capture.event_id,
            'at': self._run.began_s + capture.at_s,
            'score': capture.score,
            'is_good': capture.is_good,
            'pose': place and {'x': place.x, 'y': place.y},
        }


class RecordingLibrary:
    """The recordings that a page can show. Reads them with bounded memory; never plays them. Safe
    from any thread. ``folder`` None: there are none.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._open: OrderedDict[str, tuple[int, Recording]] = OrderedDict()
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """The newest first."""
        if self._folder is None:
            return []
        found = (each.name for each in self._folder.glob('*.mcap') if each.is_file())
        return sorted(found, reverse=True)[:MAX_NAMES]

    def open(self, name: str) -> Recording:
        """Blocks while it reads the file, if it is not open. Raises RecordingNotShown."""
        if self._folder is None or name not in self.names():
            raise RecordingNotShown(f'There is no recording {clip(name, 100)!r} any more.')
        path = self._folder / name
        with self._lock:
            try:
                size = path.stat().st_size  # one that is still being recorded is read anew
                if (known := self._open.get(name)) is not None and known[0] == size:
                    return known[1]
                recording = Recording.of(read_run(path))
            except (NotARecording, OSError) as error:
                raise RecordingNotShown(f'{name} cannot be shown: {error}') from None
            if recording.history.start is None:
                raise RecordingNotShown(f'{name} holds nothing to show.')
            self._open[name] = (size, recording)
            self._open.move_to_end(name)
            while len(self._open) > MAX_OPEN:
                self._open.popitem(last=False)
            return recording

    def pictures(self) -> dict[str, bytes]:
        """The JPEGs of the captures in the open recordings, by their events."""
        found = (each.pictures for _, each in tuple(self._open.values()))
        return {event_id: jpeg for each in found for event_id, jpeg in each.items()}

    def events(self) -> list[TraceEvent]:
        """Those of the open recordings."""
        return [event for _, each in tuple(self._open.values()) for event in each.events]
