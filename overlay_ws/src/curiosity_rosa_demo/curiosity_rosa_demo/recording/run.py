# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A recording as its report, an index and the page show it: one fold over its messages.

Times are seconds since the start of the run. Needs no ROS.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
import json
import math
from pathlib import Path
from typing import Literal

from curiosity_rosa_demo.domain.geometry import Place, yaw_of
from curiosity_rosa_demo.domain.ground import GroundAnalysis
from curiosity_rosa_demo.domain.models import ServiceCall, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.plan import ExecutionResult, Plan
from curiosity_rosa_demo.domain.rehearsal import Rehearsal
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.drawing.trail import TRAIL_JUMP_M, TRAIL_STEP_M
from curiosity_rosa_demo.infra.config.limits import Thresholds
from curiosity_rosa_demo.recording.file import Entry, RunReader, THRESHOLDS
from curiosity_rosa_demo.trace import events as told
from curiosity_rosa_demo.trace.trace_codec import decode, event_memory

BATTERY_STEP = 0.001
EARLIEST_S = 86_400.0  # greatest age of a latched event at the start of the recording
CLOCKS_APART_S = 1.0  # tolerance between the clocks of two nodes

# What one run holds; the rest is counted.
ROOM = {
    'text': 32_000_000,  # bytes of memory: events and service calls
    'pictures': 64_000_000,  # bytes of memory
    'places': 200_000,  # of the trail: 10 km at least
    'levels': 50_000,  # of the battery
}
CALL_OVERHEAD_BYTES = 1000
PICTURE_OVERHEAD_BYTES = 10_000  # so that many small pictures count, too
PICTURE_HEADS = (b'\xff\xd8', b'\x89P')  # of JPEG and PNG
TURN_EVENTS: tuple[type[told.TypedEvent], ...] = (
    *(told.TurnStarted, told.TurnAnswered, told.ModelCalled, told.PlanMade, told.PlanStepEnded),
    *(told.QuestionAsked, told.QuestionAnswered, told.RehearsalMade, told.RehearsalCompared),
)


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
    place: Place | None
    image: bytes = b''


@dataclass(frozen=True)
class RunGround:
    """An analysis of the ground. ``image``: its annotated picture; b'': the recording has none."""

    at_s: float
    analysis: GroundAnalysis
    place: Place | None
    image: bytes


@dataclass
class Turn:
    """``goal``: the text that began it. ``answer``: its answer; without one, the last error.
    ``ended_s`` None: the recording holds no answer. ``calls``: of models.
    """

    at_s: float
    goal: str
    result: Literal['done', 'failed', 'no answer'] = 'no answer'
    answer: str = ''
    ended_s: float | None = None
    calls: list[told.ModelCalled] = field(default_factory=list)


@dataclass
class RecordedPlan:
    """``results``: the last one of each step that has one, by its ID."""

    at_s: float
    plan: Plan
    results: dict[int, ExecutionResult] = field(default_factory=dict)


@dataclass
class RecordedQuestion:
    """``answer`` None: the recording holds none. ``waited_s``: how long it took; None also if only
    the answer is recorded, at ``at_s``. ``text``: with the reasons to ask.
    """

    at_s: float
    text: str
    rehearsal: str = ''
    answer: told.QuestionAnswered | None = None
    waited_s: float | None = None


@dataclass
class RecordedRehearsal:
    """``compared``: with what came of it; None: the recording holds no comparison. ``outcome``:
    the comparison for people, at ``ended_s``.
    """

    at_s: float
    rehearsal: Rehearsal
    compared: Rehearsal | None = None
    outcome: str = ''
    ended_s: float | None = None


@dataclass
class RecordedRun:
    """The contents of a recording. ``began_s`` is in seconds since the epoch; the other times are
    negative for events from before the recording. ``plans`` and ``questions``: by ID. ``acts`` and
    ``failures``: how many.
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
    trail: list[tuple[float, Place]] = field(default_factory=list)
    pose: Place | None = None  # final pose
    battery: list[tuple[float, float]] = field(default_factory=list)  # seconds, fraction 0 to 1
    captures: list[RunCapture] = field(default_factory=list)
    grounds: list[RunGround] = field(default_factory=list)
    calls: list[ServiceCall] = field(default_factory=list)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)  # messages by topic and type
    distance_m: float | None = None  # None: the place is unknown
    turns: list[Turn] = field(default_factory=list)
    model_calls: list[told.ModelCalled] = field(default_factory=list)
    plans: dict[str, RecordedPlan] = field(default_factory=dict)
    questions: dict[str, RecordedQuestion] = field(default_factory=dict)
    rehearsals: list[RecordedRehearsal] = field(default_factory=list)
    acts: int = 0
    failures: int = 0

    @cached_property
    def thresholds(self) -> Thresholds | None:
        """The limits of the run. None: unknown, or not those of this version."""
        try:
            return Thresholds.model_validate_json(self.info.get(THRESHOLDS, ''))
        except ValueError:
            return None

    @property
    def warnings(self) -> list[str]:
        """What is missing in the recording, and so in its report."""
        dropped, cut_off = (self.end or {}).get('dropped', '0'), self.end is None
        left_out, unreadable = (
            count_text(count, 'message') for count in (self.left_out, self.unreadable)
        )
        warnings = {
            f'The file is torn; this is what is whole ({self.end_problem}).': self.end_problem,
            'The recording was cut off: up to a second is missing at its end.': cut_off
            and not self.end_problem,
            f'No room was left for {dropped} message{"s" * (dropped != "1")}.': dropped != '0',
            f'The report leaves out {left_out} beyond its size.': self.left_out,
            f'{unreadable} could not be read.': self.unreadable,
        }
        return [text for text, applies in warnings.items() if applies]

    def drop_data(self) -> None:
        """Keep what the index of many shows: the figures, turns and warnings."""
        for data in (self.events, self.trail, self.battery, self.grounds, self.calls):
            data.clear()
        self.plans.clear()
        self.rehearsals.clear()
        self.captures = [replace(each, image=b'') for each in self.captures]

    def tell(self, at_s: float, event: TraceEvent) -> None:
        """Take what an event tells of turns, plans, questions and rehearsals; the oldest first."""
        self.acts += event.kind is TraceKind.ACT
        self.failures += event.ok is False
        last = self.turns[-1] if self.turns else None
        turn = last if last is not None and last.ended_s is None else None  # without an answer yet
        match next(filter(None, (kind.of(event) for kind in TURN_EVENTS)), None):
            case told.TurnStarted(calls=calls) if turn is None or calls == 0:  # else it resumes
                self.turns.append(Turn(at_s, event.message))
            case told.TurnAnswered(ok=ok) if turn is not None:
                turn.result = 'failed' if ok is False else 'done'
                turn.answer, turn.ended_s = event.message, at_s
            case told.ModelCalled() as call:
                self.model_calls.append(call)
                if turn is not None:
                    turn.calls.append(call)
            case told.PlanMade(plan=plan):
                # One that was traced again has the results of both times.
                self.plans.setdefault(plan.plan_id, RecordedPlan(at_s, plan)).plan = plan
            case told.PlanStepEnded(result=result) if result.plan_id in self.plans:
                self.plans[result.plan_id].results[result.step_id] = result
            case told.QuestionAsked(question_id=question_id, rehearsal=rehearsal):
                asked = RecordedQuestion(at_s, event.message, rehearsal)
                self.questions.setdefault(question_id, asked)
            case told.QuestionAnswered() as answer:  # only the first counts, as it does in a run
                question = self.questions.get(answer.question_id)
                if question is None and answer.asked:
                    question = RecordedQuestion(at_s, answer.asked, answer=answer)
                    self.questions[answer.question_id] = question
                elif question is not None and question.answer is None:
                    question.answer, question.waited_s = answer, max(0.0, at_s - question.at_s)
            case told.RehearsalCompared(rehearsal=compared):
                # It belongs to the last rehearsal of this motion; that of an approved operation,
                # which no event tells of before, stands alone.
                motion = (compared.start, compared.end, compared.text)
                for each in reversed(self.rehearsals):
                    of = each.rehearsal
                    if each.compared is None and (of.start, of.end, of.text) == motion:
                        break
                else:
                    each = RecordedRehearsal(at_s, compared)
                    self.rehearsals.append(each)
                each.compared, each.outcome, each.ended_s = compared, event.message, at_s
            case told.RehearsalMade(rehearsal=made):
                self.rehearsals.append(RecordedRehearsal(at_s, made))
            case None if event.kind is TraceKind.ERROR and event.tool_name is None and turn:
                turn.answer = event.message


def read_run(path: str | Path) -> RecordedRun:
    """Read a recording. Raises NotARecording, also for one that exceeds a limit, and OSError."""
    reader = RunReader(path)
    fold = _Fold(reader)
    for entry in reader:
        fold.add(entry)
    run = fold.run
    run.info, run.end, run.end_problem = reader.info, reader.end, reader.end_problem
    fold.finish()
    return run


class _Fold:
    """``run`` is whole after ``finish``."""

    def __init__(self, reader: RunReader) -> None:
        self.run, self._decode = RecordedRun(reader.path.name), reader.decode
        self._room = dict(ROOM)
        self._known: set[str] = set()  # event IDs
        # By role and the stamp of the frame; of a frame without one, by the last capture before.
        self._images: dict[tuple[str, float], bytes] = {}
        self._last_capture: float | None = None  # the stamp of its event
        # By its source: the trail, and the last place.
        self._trails: dict[str, list[tuple[float, Place]]] = {'odometry': [], 'adapter': []}
        self._last: dict[str, Place] = {}

    def add(self, entry: Entry) -> None:
        run = self.run
        if not run.counts:
            run.began_s = entry.at_ns * 1e-9
        run.length_s = max(run.length_s, entry.at_s)
        run.counts[entry.topic, entry.type] += 1
        try:
            self._take(entry, entry.at_s)
        except (AttributeError, TypeError, ValueError, RecursionError):
            run.unreadable += 1  # the type does not match the role

    def _take(self, entry: Entry, at_s: float) -> None:
        match entry.role:
            case 'trace':
                self._on_event(at_s, decode(self._decode(entry).data))
            case 'capture' | 'analysis':
                message = self._decode(entry)
                if self._has_room('pictures', len(message.data) + PICTURE_OVERHEAD_BYTES):
                    stamp, image = message.header.stamp, bytes(message.data)
                    key = stamp.sec + stamp.nanosec * 1e-9 or self._last_capture
                    if key is not None and image.startswith(PICTURE_HEADS):
                        self._images.setdefault((entry.role, key), image)
            case 'odometry':
                pose = self._decode(entry).pose.pose
                x, y, yaw = pose.position.x, pose.position.y, yaw_of(pose.orientation)
                self._on_place('odometry', at_s, Place.known(x, y, yaw))
            case 'adapter':
                status = json.loads(self._decode(entry).data)
                place = map(status.get, ('rover_x', 'rover_y', 'yaw_rad'))
                self._on_place('adapter', at_s, Place.known(*place))
            case 'battery':
                self._on_battery(at_s, float(self._decode(entry).percentage))
            case 'calls' if self._has_room('text', CALL_OVERHEAD_BYTES + len(entry.data)):
                call = ServiceCall.model_validate_json(entry.data)
                call.at_s = at_s - call.duration_s
                self.run.calls.append(call)

    def _on_event(self, at_s: float, event: TraceEvent) -> None:
        if told.NodeStarted.of(event) or event.event_id in self._known:
            return
        if not self._has_room('text', event_memory(event)):
            return
        self._known.add(event.event_id)
        if event.ok and told.CaptureTaken.of(event):
            self._last_capture = event.ts
        stamp_s = event.ts - self.run.began_s
        # A stamp outside this range comes from another clock; the time of receipt replaces it.
        plausible = -EARLIEST_S <= stamp_s <= at_s + CLOCKS_APART_S
        self.run.events.append((stamp_s if plausible else at_s, event))

    def _on_place(self, source: str, at_s: float, place: Place | None) -> None:
        if place is None:
            return
        self._last[source] = place
        trail = self._trails[source]
        if trail and place.away_m(trail[-1][1]) < TRAIL_STEP_M:
            return
        if self._has_room('places'):
            trail.append((at_s, place))

    def _on_battery(self, at_s: float, fraction: float) -> None:
        battery = self.run.battery
        if not math.isfinite(fraction):
            return
        if len(battery) > 1 and abs(battery[-2][1] - fraction) < BATTERY_STEP:
            battery[-1] = (at_s, fraction)  # of a constant level the first and the last point
        elif self._has_room('levels'):
            battery.append((at_s, fraction))

    def _has_room(self, kind: str, size: int = 1) -> bool:
        if fits := size <= self._room[kind]:
            self._room[kind] -= size
        else:
            self.run.left_out += 1
        return fits

    def finish(self) -> None:
        run = self.run
        run.events.sort(key=lambda each: each[0])
        run.trail = self._trails['odometry'] or self._trails['adapter']
        if run.trail:
            steps = (there.away_m(here) for (_, here), (_, there) in pairwise(run.trail))
            run.distance_m = sum(step for step in steps if step <= TRAIL_JUMP_M)
        run.pose = self._last.get('odometry') or self._last.get('adapter')
        limits = run.thresholds
        threshold = limits.quality.score_threshold if limits else math.inf
        for at_s, event in run.events:
            run.tell(at_s, event)
            place = self._place_at(at_s)
            if (taken := told.CaptureTaken.of(event)) is not None and event.ok:
                image = self._images.get(('capture', taken.stamp_s or event.ts), b'')
                good = taken.is_good(threshold)
                run.captures.append(
                    RunCapture(event.event_id, at_s, event.score, good, '', place, image)
                )
            elif taken is not None:
                why = event.error_reason or event.message
                run.captures.append(RunCapture(event.event_id, at_s, None, False, why, place))
            elif (analyzed := told.GroundAnalyzed.of(event)) is not None:
                image = self._images.get(('analysis', analyzed.stamp_s or math.nan), b'')
                run.grounds.append(RunGround(at_s, analyzed.analysis, place, image))

    def _place_at(self, at_s: float) -> Place | None:
        trail = self.run.trail
        before = bisect_right(trail, at_s, key=lambda each: each[0])  # in the order of receipt
        if before:
            return trail[before - 1][1]
        starts_soon = bool(trail) and trail[0][0] <= at_s + CLOCKS_APART_S
        return trail[0][1] if starts_soon else None
