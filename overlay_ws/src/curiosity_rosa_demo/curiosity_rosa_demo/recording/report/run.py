# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Read the contents of a report from a recording. Needs no ROS."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence, Sized
from dataclasses import dataclass, field, replace
import json
import math
from pathlib import Path
from typing import Any, TypeVar

from curiosity_rosa_demo.domain.geometry import yaw_of
from curiosity_rosa_demo.domain.ground import GroundAnalysis
from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent
from curiosity_rosa_demo.recording.mcap.reader import Decoder, Entry, RunReader
from curiosity_rosa_demo.trace.events import CaptureTaken, GroundAnalyzed, NodeStarted
from curiosity_rosa_demo.trace.trace_codec import decode, event_memory

# --- Equal neighbours of the trace as one line, and long tables as pages. Pure -----------------


PAGE_ROWS = 200
T = TypeVar('T')


@dataclass(frozen=True)
class FoldedEvent:
    """``count`` equal events from ``at_s`` to ``last_s``; ``event`` is the first."""

    at_s: float
    event: TraceEvent
    count: int
    last_s: float


def folded(events: Sequence[tuple[float, TraceEvent]]) -> list[FoldedEvent]:
    """Neighbours that differ in no more than time and data are one. A scored event stays alone."""
    found: list[FoldedEvent] = []
    for at_s, event in events:
        if found and event.score is None and _shown(found[-1].event) == _shown(event):
            found[-1] = replace(found[-1], count=found[-1].count + 1, last_s=at_s)
        else:
            found.append(FoldedEvent(at_s, event, 1, at_s))
    return found


def pages(rows: Sequence[T]) -> list[Sequence[T]]:
    """PAGE_ROWS rows each, the last one fewer."""
    return [rows[first : first + PAGE_ROWS] for first in range(0, len(rows), PAGE_ROWS)]


def _shown(event: TraceEvent) -> tuple[object, ...]:
    reason, score = event.error_reason, event.score
    return event.kind, event.tool_name, event.message, event.ok, reason, score


TRAIL_STEP_M = 0.05
TRAIL_JUMP_M = 5.0  # a longer step between two messages is a reset of the world
BATTERY_STEP = 0.001
EARLIEST_S = 86_400.0  # greatest age of a latched event at the start of the recording
CLOCKS_APART_S = 1.0  # tolerance between the clocks of two nodes

# What one report holds; the rest is counted. Bytes of memory.
MAX_TEXT_BYTES = 32_000_000  # events and service calls
MAX_PICTURE_BYTES = 64_000_000
CALL_OVERHEAD_BYTES = 1000
PICTURE_OVERHEAD_BYTES = 10_000  # so that many small pictures count, too
MAX_PLACES = 200_000  # of the trail: 10 km at least
MAX_LEVELS = 50_000  # of the battery
MAX_TOPICS = 1000
READ_ROLES = ('trace', 'capture', 'analysis', 'odometry', 'battery', 'adapter')

_TYPES = {b'\xff\xd8': 'image/jpeg', b'\x89P': 'image/png'}


@dataclass(frozen=True)
class TimedPlace:
    """A position of the rover: seconds since the start of the run, metres in the world frame."""

    at_s: float
    x: float
    y: float


@dataclass(frozen=True)
class ReportCapture:
    """A capture. ``score`` None: it failed, see ``reason``. ``image``: JPEG or PNG data, b'' if
    the recording has none. ``number`` starts at 1.
    """

    number: int
    at_s: float
    score: float | None
    is_good: bool
    reason: str
    place: TimedPlace | None
    image: bytes = b''
    media_type: str = ''


@dataclass(frozen=True)
class ReportGround:
    """An analysis of the ground. ``image``: its annotated picture; b'': the recording has none."""

    at_s: float
    analysis: GroundAnalysis
    place: TimedPlace | None
    image: bytes
    media_type: str


@dataclass(frozen=True)
class ServiceCallRecord:
    """A service call. ``at_s``: the time at which it was made."""

    at_s: float
    service: str
    ok: bool
    answer: str
    duration_s: float


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
    left_out: int = 0  # messages that found no room in the report
    events: list[tuple[float, TraceEvent]] = field(default_factory=list)
    trail: list[TimedPlace] = field(default_factory=list)
    pose: RoverPose | None = None  # final pose
    battery: list[tuple[float, float]] = field(default_factory=list)  # seconds, fraction 0 to 1
    captures: list[ReportCapture] = field(default_factory=list)
    grounds: list[ReportGround] = field(default_factory=list)
    calls: list[ServiceCallRecord] = field(default_factory=list)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)  # messages by topic and type

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

    def reached_by(self, score: float | None) -> bool:
        threshold = self.threshold
        return score is not None and threshold is not None and score >= threshold

    @property
    def distance_m(self) -> float:
        pairs = zip(self.trail, self.trail[1:], strict=False)
        steps = (math.hypot(b.x - a.x, b.y - a.y) for a, b in pairs)
        return sum(step for step in steps if step <= TRAIL_JUMP_M)


def read_run(path: str | Path) -> RecordedRun:
    """Read a recording. Raises NotARecording, also for one that exceeds a limit, and OSError."""
    reader = RunReader(path)
    builder = _RunBuilder(RecordedRun(Path(path).name), Decoder())
    for entry in reader:
        builder.add_entry(entry)
    run = builder.run
    run.info, run.end, run.end_problem = reader.info, reader.end, reader.end_problem
    run.events.sort(key=lambda each: each[0])
    if not run.trail:
        run.trail = builder.adapter_places
    run.pose = builder.pose()
    run.captures = builder.captures()
    run.grounds = builder.grounds()
    return run


@dataclass
class _RunBuilder:
    run: RecordedRun
    decoder: Decoder
    # positions from the adapter's status
    adapter_places: list[TimedPlace] = field(default_factory=list)
    images: list[tuple[float, float, bytes]] = field(default_factory=list)  # when, stamp, JPEG
    # annotated pictures by the stamp of their frame
    ground_images: dict[float, bytes] = field(default_factory=dict)
    picture_bytes: int = 0
    text_bytes: int = 0
    known: set[str] = field(default_factory=set)  # event IDs
    last: dict[str, tuple[float, float, float]] = field(default_factory=dict)  # x, y, yaw, by role

    def add_entry(self, entry: Entry) -> None:
        run = self.run
        if not run.counts:
            run.began_s = entry.at_ns * 1e-9
        at_s = entry.at_ns * 1e-9 - run.began_s
        run.length_s = max(run.length_s, at_s)
        if (entry.topic, entry.type) in run.counts or len(run.counts) < MAX_TOPICS:
            run.counts[entry.topic, entry.type] += 1
        if entry.role == 'calls':
            self._call(at_s, entry.data)
            return
        if entry.role not in READ_ROLES:
            return
        message = self.decoder.decode(entry)
        try:
            self._message(entry.role, at_s, message)
        except (AttributeError, TypeError, ValueError):  # the type does not match the role
            run.unreadable += 1

    def _message(self, role: str, at_s: float, message: Any) -> None:
        if role == 'trace':
            self._event(at_s, message.data)
        elif role == 'capture':
            if self._has_picture_room(message.data):
                stamp = message.header.stamp
                stamp_s = stamp.sec + stamp.nanosec * 1e-9
                self.images.append((at_s, stamp_s, bytes(message.data)))
        elif role == 'analysis':
            stamp = message.header.stamp
            stamp_s = stamp.sec + stamp.nanosec * 1e-9
            if stamp_s not in self.ground_images and self._has_picture_room(message.data):
                self.ground_images[stamp_s] = bytes(message.data)
        elif role == 'odometry':
            x, y = float(message.pose.pose.position.x), float(message.pose.pose.position.y)
            self._extend(self.run.trail, at_s, x, y)
            self.last[role] = x, y, yaw_of(message.pose.pose.orientation)
        elif role == 'battery':
            self._battery(at_s, float(message.percentage))
        else:
            status = json.loads(message.data)
            x, y = status.get('rover_x'), status.get('rover_y')
            if x is not None and y is not None:
                self._extend(self.adapter_places, at_s, float(x), float(y))
                yaw = status.get('yaw_rad')
                self.last[role] = float(x), float(y), math.nan if yaw is None else float(yaw)

    def _event(self, at_s: float, text: str) -> None:
        event = decode(text)
        if NodeStarted.of(event) or event.event_id in self.known:
            return
        if not self._has_room(event_memory(event)):
            return
        self.known.add(event.event_id)
        stamp_s = event.ts - self.run.began_s
        # A stamp outside this range comes from another clock; the time of receipt replaces it.
        plausible = -EARLIEST_S <= stamp_s <= at_s + CLOCKS_APART_S
        self.run.events.append((stamp_s if plausible else at_s, event))

    def _battery(self, at_s: float, fraction: float) -> None:
        battery = self.run.battery
        if not math.isfinite(fraction):
            return
        if len(battery) > 1 and abs(battery[-2][1] - fraction) < BATTERY_STEP:
            battery.pop()  # of a constant level keep the first and the last point
        if len(battery) < MAX_LEVELS:
            battery.append((at_s, fraction))
        else:
            self.run.left_out += 1

    def _has_picture_room(self, picture: Sized) -> bool:
        """Whether a picture still fits; it is counted either way."""
        size = len(picture) + PICTURE_OVERHEAD_BYTES
        if self.picture_bytes + size > MAX_PICTURE_BYTES:
            self.run.left_out += 1
            return False
        self.picture_bytes += size
        return True

    def _has_room(self, size: int) -> bool:
        """Whether a text of ``size`` bytes still fits; it is counted either way."""
        if self.text_bytes + size > MAX_TEXT_BYTES:
            self.run.left_out += 1
            return False
        self.text_bytes += size
        return True

    def _extend(self, trail: list[TimedPlace], at_s: float, x: float, y: float) -> None:
        if not math.isfinite(x + y):
            return
        if trail and math.hypot(x - trail[-1].x, y - trail[-1].y) < TRAIL_STEP_M:
            return
        if len(trail) >= MAX_PLACES:
            self.run.left_out += 1
        else:
            trail.append(TimedPlace(at_s, x, y))

    def _call(self, at_s: float, data: bytes) -> None:
        if not self._has_room(CALL_OVERHEAD_BYTES + len(data)):
            return
        try:
            call = json.loads(data)
            duration_s = float(call['duration_s'])
            self.run.calls.append(
                ServiceCallRecord(
                    at_s=at_s - duration_s,
                    service=str(call['service']),
                    ok=call['ok'] is True,
                    answer=str(call['answer']),
                    duration_s=duration_s,
                )
            )
        except (ValueError, KeyError, TypeError, RecursionError):
            self.run.unreadable += 1

    def pose(self) -> RoverPose | None:
        """The final pose; None if the position or the heading is unknown."""
        x, y, yaw = self.last.get('odometry') or self.last.get('adapter') or [math.nan] * 3
        known = all(map(math.isfinite, (x, y, yaw)))
        return RoverPose(x=x, y=y, yaw_rad=yaw, frame_id='world') if known else None

    def captures(self) -> list[ReportCapture]:
        """Pair each capture with the picture that has the stamp of its frame; without such a
        stamp, with the first picture between it and the next successful capture.
        """
        events = self.run.events
        captures = [(at_s, event) for at_s, event in events if CaptureTaken.of(event)]
        good = [at_s for at_s, event in captures if event.ok]
        pictures: dict[float, bytes] = {}
        by_stamp: dict[float, bytes] = {}
        for at_s, stamp_s, picture in self.images:
            by_stamp.setdefault(stamp_s, picture)
            before = bisect_right(good, at_s)
            if before:
                pictures.setdefault(good[before - 1], picture)
        for at_s, event in captures:
            taken = CaptureTaken.of(event)
            if taken is not None and taken.stamp_s is not None:
                pictures[at_s] = by_stamp.get(taken.stamp_s, b'')
        return [
            self._capture(number, at_s, event, pictures.get(at_s, b'') if event.ok else b'')
            for number, (at_s, event) in enumerate(captures, 1)
        ]

    def grounds(self) -> list[ReportGround]:
        """The analyses with the pictures that have the stamps of their frames."""
        found = []
        for at_s, event in self.run.events:
            analyzed = GroundAnalyzed.of(event)
            if analyzed is None:
                continue
            stamp_s = math.nan if analyzed.stamp_s is None else analyzed.stamp_s
            image = self.ground_images.get(stamp_s, b'')
            media_type = _TYPES.get(image[:2], '')
            place = _place_at(self.run.trail, at_s)
            image = image if media_type else b''
            found.append(ReportGround(at_s, analyzed.analysis, place, image, media_type))
        return found

    def _capture(
        self, number: int, at_s: float, event: TraceEvent, picture: bytes
    ) -> ReportCapture:
        score = event.score if event.ok else None
        taken = CaptureTaken.of(event)
        judged = taken.judged_good if taken else None
        media_type = _TYPES.get(picture[:2], '')
        return ReportCapture(
            number=number,
            at_s=at_s,
            score=score,
            is_good=self.run.reached_by(score) if judged is None else judged,
            reason='' if event.ok else event.error_reason or event.message,
            place=_place_at(self.run.trail, at_s),
            image=picture if media_type else b'',
            media_type=media_type,
        )


def _place_at(trail: list[TimedPlace], at_s: float) -> TimedPlace | None:
    before = bisect_right(trail, at_s, key=lambda place: place.at_s)  # in the order of receipt
    if before:
        return trail[before - 1]
    starts_soon = bool(trail) and trail[0].at_s <= at_s + CLOCKS_APART_S
    return trail[0] if starts_soon else None
