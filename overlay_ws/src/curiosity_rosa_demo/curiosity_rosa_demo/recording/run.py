# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""A recording as its report, an index and the page show it: one fold over its messages.

Needs no ROS.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
import json
import math
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.domain.geometry import yaw_of
from curiosity_rosa_demo.domain.ground import GroundAnalysis
from curiosity_rosa_demo.domain.models import RoverPose, ServiceCall, TraceEvent
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.recording.reader import Decoder, Entry, RunReader
from curiosity_rosa_demo.recording.turns import Turns
from curiosity_rosa_demo.trace.events import CaptureTaken, GroundAnalyzed, NodeStarted
from curiosity_rosa_demo.trace.trace_codec import decode, event_memory
from pydantic import BaseModel

TRAIL_STEP_M = 0.05
TRAIL_JUMP_M = 5.0  # a longer step between two messages is a reset of the world
BATTERY_STEP = 0.001
EARLIEST_S = 86_400.0  # greatest age of a latched event at the start of the recording
CLOCKS_APART_S = 1.0  # tolerance between the clocks of two nodes

# What one run holds; the rest is counted. Bytes of memory.
MAX_TEXT_BYTES = 32_000_000  # events and service calls
MAX_PICTURE_BYTES = 64_000_000
CALL_OVERHEAD_BYTES = 1000
PICTURE_OVERHEAD_BYTES = 10_000  # so that many small pictures count, too
MAX_PLACES = 200_000  # of the trail: 10 km at least
MAX_LEVELS = 50_000  # of the battery
MAX_TOPICS = 1000
PICTURE_HEADS = (b'\xff\xd8', b'\x89P')  # of JPEG and PNG


@dataclass(frozen=True)
class TimedPlace:
    """A position of the rover: seconds since the start of the run, metres in the world frame."""

    at_s: float
    x: float
    y: float


@dataclass(frozen=True)
class RunCapture:
    """A capture. ``score`` None: it failed, see ``reason``. ``image``: JPEG or PNG data, b'' if
    the recording has none. ``event_id`` names its trace event.
    """

    event_id: str
    at_s: float
    score: float | None
    is_good: bool
    reason: str
    place: TimedPlace | None
    image: bytes = b''


@dataclass(frozen=True)
class RunGround:
    """An analysis of the ground. ``image``: its annotated picture; b'': the recording has none."""

    at_s: float
    analysis: GroundAnalysis
    place: TimedPlace | None
    image: bytes


class TimedCall(ServiceCall):
    """``at_s``: the time at which it was made."""

    at_s: float = 0.0


class _Status(BaseModel):
    """The place of the rover in a status of the adapter."""

    rover_x: float | None = None
    rover_y: float | None = None
    yaw_rad: float | None = None


@dataclass
class RecordedRun:
    """The contents of a recording. ``began_s`` is in seconds since the epoch; the other times are
    seconds since ``began_s``, negative for events from before the recording.
    """

    name: str
    began_s: float = 0.0
    length_s: float = 0.0
    info: dict[str, str] = field(default_factory=dict)
    end: dict[str, str] | None = None
    end_problem: str = ''
    unreadable: int = 0
    left_out: int = 0  # messages that found no room
    events: list[tuple[float, TraceEvent]] = field(default_factory=list)
    trail: list[TimedPlace] = field(default_factory=list)
    pose: RoverPose | None = None  # final pose
    battery: list[tuple[float, float]] = field(default_factory=list)  # seconds, fraction 0 to 1
    captures: list[RunCapture] = field(default_factory=list)
    grounds: list[RunGround] = field(default_factory=list)
    calls: list[TimedCall] = field(default_factory=list)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)  # messages by topic and type
    told: Turns = field(default_factory=Turns)

    @property
    def zone(self) -> tuple[float, float, float] | None:
        """The bright zone in metres: minimum x, maximum x, half width. None if unknown."""
        try:
            low, high, half = (float(each) for each in json.loads(self.info['bright_zone']))
        except (KeyError, ValueError, TypeError):
            return None
        return (low, high, half) if math.isfinite(low + high + half) and low < high else None

    @property
    def threshold(self) -> float | None:
        """The lowest score of a good capture, 0 to 1. None if unknown."""
        try:
            score = float(self.info['score_threshold'])
        except (KeyError, ValueError):
            return None
        return score if 0.0 <= score <= 1.0 else None

    @property
    def distance_m(self) -> float | None:
        """None: the place is unknown."""
        steps = [math.hypot(b.x - a.x, b.y - a.y) for a, b in pairwise(self.trail)]
        return sum(step for step in steps if step <= TRAIL_JUMP_M) if self.trail else None

    @property
    def warnings(self) -> list[str]:
        """What is missing in the recording, and so in its report."""
        warnings = []
        dropped = (self.end or {}).get('dropped', '0')
        if self.end_problem:
            warnings.append(f'The file is torn; this is what is whole ({self.end_problem}).')
        elif self.end is None:
            warnings.append('The recording was cut off: up to a second is missing at its end.')
        if dropped != '0':
            noun = 'message' if dropped == '1' else 'messages'
            warnings.append(f'No room was left for {dropped} {noun}.')
        if self.left_out:
            count = count_text(self.left_out, 'message')
            warnings.append(f'The report leaves out {count} beyond its size.')
        if self.unreadable:
            warnings.append(f'{count_text(self.unreadable, "message")} could not be read.')
        return warnings


def read_run(path: str | Path) -> RecordedRun:
    """Read a recording. Raises NotARecording, also for one that exceeds a limit, and OSError."""
    reader = RunReader(path)
    fold = _Fold(RecordedRun(Path(path).name))
    for entry in reader:
        fold.add(entry)
    run = fold.run
    run.info, run.end, run.end_problem = reader.info, reader.end, reader.end_problem
    fold.finish()
    return run


class _Fold:
    """``run`` is whole after ``finish``."""

    def __init__(self, run: RecordedRun) -> None:
        self.run, self._decoder = run, Decoder()
        self._bytes = {'text': 0, 'pictures': 0}
        self._known: set[str] = set()  # event IDs
        # Of captures and analyses: when it came, the stamp of its frame, the picture.
        self._images: dict[str, list[tuple[float, float, bytes]]] = {'capture': [], 'analysis': []}
        # By its source: the trail, and the last x, y and heading.
        self._trails: dict[str, list[TimedPlace]] = {'odometry': [], 'adapter': []}
        self._last: dict[str, tuple[float, float, float]] = {}
        self._takers = {
            'trace': self._on_event,
            'capture': self._on_picture,
            'analysis': self._on_picture,
            'odometry': self._on_odometry,
            'battery': self._on_battery,
            'adapter': self._on_status,
        }

    def add(self, entry: Entry) -> None:
        run, role = self.run, entry.role
        if not run.counts:
            run.began_s = entry.at_ns * 1e-9
        at_s = entry.at_ns * 1e-9 - run.began_s
        run.length_s = max(run.length_s, at_s)
        if (entry.topic, entry.type) in run.counts or len(run.counts) < MAX_TOPICS:
            run.counts[entry.topic, entry.type] += 1
        try:
            if role == 'calls':
                self._on_call(at_s, entry.data)
            elif role in self._takers:
                self._takers[role](role, at_s, self._decoder.decode(entry))
        except (AttributeError, TypeError, ValueError):  # the type does not match the role
            run.unreadable += 1

    def _on_event(self, _role: str, at_s: float, message: Any) -> None:
        event = decode(message.data)
        if NodeStarted.of(event) or event.event_id in self._known:
            return
        if not self._has_room('text', event_memory(event), MAX_TEXT_BYTES):
            return
        self._known.add(event.event_id)
        stamp_s = event.ts - self.run.began_s
        # A stamp outside this range comes from another clock; the time of receipt replaces it.
        plausible = -EARLIEST_S <= stamp_s <= at_s + CLOCKS_APART_S
        self.run.events.append((stamp_s if plausible else at_s, event))

    def _on_picture(self, role: str, at_s: float, message: Any) -> None:
        size = len(message.data) + PICTURE_OVERHEAD_BYTES
        if self._has_room('pictures', size, MAX_PICTURE_BYTES):
            stamp, data = message.header.stamp, bytes(message.data)
            image = data if data.startswith(PICTURE_HEADS) else b''
            self._images[role].append((at_s, stamp.sec + stamp.nanosec * 1e-9, image))

    def _on_odometry(self, role: str, at_s: float, message: Any) -> None:
        place = message.pose.pose
        x, y = float(place.position.x), float(place.position.y)
        self._on_place(role, at_s, x, y, yaw_of(place.orientation))

    def _on_status(self, role: str, at_s: float, message: Any) -> None:
        status = _Status.model_validate_json(message.data)
        if status.rover_x is not None and status.rover_y is not None:
            yaw = math.nan if status.yaw_rad is None else status.yaw_rad
            self._on_place(role, at_s, status.rover_x, status.rover_y, yaw)

    def _on_place(self, role: str, at_s: float, x: float, y: float, yaw: float) -> None:
        self._last[role] = x, y, yaw
        trail = self._trails[role]
        if not math.isfinite(x + y):
            return
        if trail and math.hypot(x - trail[-1].x, y - trail[-1].y) < TRAIL_STEP_M:
            return
        if len(trail) < MAX_PLACES:
            trail.append(TimedPlace(at_s, x, y))
        else:
            self.run.left_out += 1

    def _on_battery(self, _role: str, at_s: float, message: Any) -> None:
        fraction, battery = float(message.percentage), self.run.battery
        if not math.isfinite(fraction):
            return
        if len(battery) > 1 and abs(battery[-2][1] - fraction) < BATTERY_STEP:
            battery.pop()  # of a constant level keep the first and the last point
        if len(battery) < MAX_LEVELS:
            battery.append((at_s, fraction))
        else:
            self.run.left_out += 1

    def _on_call(self, at_s: float, data: bytes) -> None:
        if self._has_room('text', CALL_OVERHEAD_BYTES + len(data), MAX_TEXT_BYTES):
            call = TimedCall.model_validate_json(data)
            self.run.calls.append(call.model_copy(update={'at_s': at_s - call.duration_s}))

    def _has_room(self, kind: str, size: int, limit: int) -> bool:
        """Whether ``size`` bytes more still fit; they are counted either way."""
        if self._bytes[kind] + size > limit:
            self.run.left_out += 1
            return False
        self._bytes[kind] += size
        return True

    def finish(self) -> None:
        run = self.run
        run.events.sort(key=lambda each: each[0])
        run.trail = self._trails['odometry'] or self._trails['adapter']
        x, y, yaw = self._last.get('odometry') or self._last.get('adapter') or [math.nan] * 3
        if all(map(math.isfinite, (x, y, yaw))):
            run.pose = RoverPose(x=x, y=y, yaw_rad=yaw, frame_id='world')
        run.told = Turns(run.events)
        self._find_captures()
        annotated = {stamp_s: image for _, stamp_s, image in reversed(self._images['analysis'])}
        for at_s, event in run.events:
            analyzed = GroundAnalyzed.of(event)
            if analyzed is not None:
                image = annotated.get(analyzed.stamp_s or math.nan, b'')
                place = self._place_at(at_s)
                run.grounds.append(RunGround(at_s, analyzed.analysis, place, image))

    def _find_captures(self) -> None:
        """Pair each capture with the picture that has the stamp of its frame; without such a
        stamp, with the first picture between it and the next successful capture.
        """
        captures = [
            (at_s, event, taken)
            for at_s, event in self.run.events
            if (taken := CaptureTaken.of(event)) is not None
        ]
        good = [at_s for at_s, event, _ in captures if event.ok]
        threshold = math.inf if self.run.threshold is None else self.run.threshold
        by_stamp: dict[float, bytes] = {}
        following: dict[float, bytes] = {}
        for at_s, stamp_s, image in self._images['capture']:
            by_stamp.setdefault(stamp_s, image)
            if before := bisect_right(good, at_s):
                following.setdefault(good[before - 1], image)
        for at_s, event, taken in captures:
            if taken.stamp_s is None:
                image = following.get(at_s, b'')
            else:
                image = by_stamp.get(taken.stamp_s, b'')
            self.run.captures.append(
                RunCapture(
                    event.event_id,
                    at_s,
                    score=event.score if event.ok else None,
                    is_good=event.ok is True and taken.is_good(threshold),
                    reason='' if event.ok else event.error_reason or event.message,
                    place=self._place_at(at_s),
                    image=image if event.ok else b'',
                )
            )

    def _place_at(self, at_s: float) -> TimedPlace | None:
        trail = self.run.trail
        before = bisect_right(trail, at_s, key=lambda place: place.at_s)  # in the order of receipt
        if before:
            return trail[before - 1]
        starts_soon = bool(trail) and trail[0].at_s <= at_s + CLOCKS_APART_S
        return trail[0] if starts_soon else None
