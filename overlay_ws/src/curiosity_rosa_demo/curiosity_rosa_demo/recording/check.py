# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The adapter's rules of today beside a recording: same inputs, same decisions.

Every step of the log of inputs is replayed at its own time, and its result compared with the
recorded one; so is the status, which came another way. The log of an adapter's start is replayed
from there, bit for bit. One that begins later, or after a gap, is replayed from the first status
that shows a rover at rest. Up to there nothing can be decided.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
import json
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.adapter.report import status_of
from curiosity_rosa_demo.adapter.steps import decode_batch, LogEntry, REFUSED
from curiosity_rosa_demo.domain.adapter_status import Status, without_measured
from curiosity_rosa_demo.domain.serde import read_object
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.infra.config.limits import Guardrails, Thresholds
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.recording.file import Entry, GUARDRAILS, RunReader, THRESHOLDS
from curiosity_rosa_demo.recording.rule_run import BadEntry, RuleRun, seeded_run

# --- What a recording holds of the rules' inputs and decisions ----------------------------------


@dataclass
class Segment:
    """Consecutive entries of one adapter's log. ``offset_s``: what to add to their times for
    seconds since the first message of the recording.
    """

    offset_s: float
    entries: list[LogEntry] = field(default_factory=list)

    @property
    def from_start(self) -> bool:
        return self.entries[0].name == 'start'


@dataclass
class Recording:
    """``statuses`` and ``decisions`` (of gate and kernel, as JSON) hold the time of receipt, in
    seconds since the first message, too, in the order of the file. ``segments``: the log without
    gaps; a restarted adapter begins a new one. ``notes``: sentences about the file, such as what
    it lacks.
    """

    config: Config
    segments: list[Segment] = field(default_factory=list)
    statuses: list[tuple[float, Status]] = field(default_factory=list)
    decisions: list[tuple[float, bytes]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _following: int = -1  # the number of the entry after those of the last batch

    def add(self, role: str, entry: Entry, reader: RunReader) -> None:
        """Raises AttributeError or ValueError for a message that its role cannot have."""
        if role == 'decisions':
            self.decisions.append((entry.at_s, entry.data))
        elif role == 'adapter_inputs':
            self._add_batch(reader.decode(entry).data, entry.at_s - entry.at_ns * 1e-9)
        elif role == 'adapter':
            status = read_object(reader.decode(entry).data)
            if 'moving' not in status:
                raise ValueError('no status')
            self.statuses.append((entry.at_s, status))

    def _add_batch(self, text: str, offset_s: float) -> None:
        if (batch := decode_batch(text)) is None:
            raise ValueError('no batch of inputs')
        for number, entry in enumerate(batch.entries, batch.first):
            is_start = entry.name == 'start'
            is_known = number < self._following and not is_start
            if is_known and entry.at <= self.segments[-1].entries[-1].at:
                continue  # a batch of the topic's history, again
            if number != self._following or is_start:
                self.segments.append(Segment(batch.offset_s + offset_s))
            self.segments[-1].entries.append(entry)
            self._following = number + 1


def read_recording(file: Path, config: Config, *, own_limits: bool = True) -> Recording:
    """``own_limits``: replay by the limits that the file holds, not by those of ``config``.
    Raises NotARecording, OSError.
    """
    reader, recording = RunReader(file), Recording(config)
    roles = {  # in a file of another program, by the topic
        config.topics.status.adapter: 'adapter',
        config.topics.status.adapter_inputs: 'adapter_inputs',
    }
    unreadable, notes = 0, recording.notes
    entry: Entry | None = None
    for entry in reader:
        try:
            recording.add(entry.role or roles.get(entry.topic, ''), entry, reader)
        except (AttributeError, ValueError, RecursionError):
            unreadable += 1
    if entry is None:
        notes.append('the file holds no messages')
    if unreadable:
        notes.append(f'{unreadable} messages are unreadable')
    if reader.end_problem:
        notes.append(f'the file is torn: the whole part is replayed ({reader.end_problem})')
    dropped = (reader.end or {}).get('dropped', '0')
    if dropped != '0':
        notes.append(f'the recorder dropped {dropped} messages')
    if own_limits:
        recording.config = _with_limits(config, reader.info, notes)
    return recording


def _with_limits(config: Config, info: dict[str, str], notes: list[str]) -> Config:
    """``config`` with the limits in the file. It keeps those that the file lacks."""
    update: dict[str, Any] = {}
    for key, model in ((THRESHOLDS, Thresholds), (GUARDRAILS, Guardrails)):
        try:
            if key in info:
                present = getattr(config, key).model_dump(mode='json')
                update[key] = model.model_validate(_over(present, json.loads(info[key])))
        except (ValueError, TypeError, RecursionError):
            notes.append(f'its {key} are not those of this version: the present ones are used')
    if not update and info:
        notes.append('it does not hold its limits: the present ones are used (--config-dir)')
    return config.model_copy(update=update)


def _over(base: Any, own: Any) -> Any:
    """``own`` over ``base``, without the keys that ``base`` does not know."""
    if not isinstance(base, dict) or not isinstance(own, dict):
        return own
    return {key: _over(value, own[key]) if key in own else value for key, value in base.items()}


# --- Decisions, compared -----------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """One decision. ``at_s``: seconds since the first message of the recording. ``decision``: what
    decided, such as a step of the rules. ``replayed`` None: it could not be decided, since an
    input is not in the recording. ``inputs``: on what, or why not.
    """

    at_s: float
    decision: str
    recorded: str
    replayed: str | None
    inputs: str = ''

    @property
    def same(self) -> bool | None:
        """None: not decidable."""
        return None if self.replayed is None else self.recorded == self.replayed

    def text(self) -> str:
        return (
            f'{self.at_s:10.3f} s  {self.decision}: recorded {self.recorded or "nothing"}; '
            f'the rules decide {self.replayed or "nothing"}; inputs: {self.inputs or "-"}'
        )


@dataclass
class Report:
    """Of one recording. ``notes``: sentences about it, such as which inputs it lacks."""

    comparisons: list[Comparison] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def decided(self) -> int:
        """The decisions that were compared."""
        return sum(each.same is not None for each in self.comparisons)

    @property
    def differences(self) -> list[Comparison]:
        return [each for each in self.comparisons if each.same is False]

    def table(self) -> list[str]:
        """Lines of text: a head, a line for each kind of decision, and the sums."""
        rows: dict[str, Counter[bool | None]] = {}
        for each in sorted(self.comparisons, key=lambda each: each.decision):
            rows.setdefault(each.decision, Counter())[each.same] += 1
        rows['all'] = Counter(each.same for each in self.comparisons)
        width = max(len(name) for name in (*rows, 'decision'))
        lines = [f'{"decision":{width}}  compared  same  different  not decidable']
        for name, count in rows.items():
            same, different, unknown = (count[each] for each in (True, False, None))
            lines.append(
                f'{name:{width}}  {same + different:8}  {same:4}  {different:9}  {unknown:13}'
            )
        return lines


# --- The log of inputs, replayed ---------------------------------------------------------------


CALM_S = 0.5  # without a request before the status with which a run begins
MEASUREMENTS = frozenset(
    ('odometry', 'joints', 'wheels', 'drive_command', 'scan', 'scan_gone', 'heartbeat', 'due')
)
RECENT_INPUTS = 4  # that a difference shows
MAX_ARGUMENTS = 80  # characters
LATE_S = 1.0  # longest way of a message from the adapter to the recorder
EARLY_S = 0.1  # the clock of the machine may be corrected
YES = 'yes'
NOT_SEEN = 'the recording does not hold the inputs before it'
NO_LOG = 'there is no log of inputs (/adapter/inputs): no decision of the adapter is decidable'
LATE_PARTS = (
    'part(s) of the log begin after the adapter, or after a gap: the rules begin there with the '
    'first status of a rover at rest, without the speeds learned before'
)


@dataclass
class LogReplay:
    """``moments``: what the replayed rules showed after a step, and when. ``covered``: spans of
    time with all inputs, seconds. All are filled while ``comparisons`` is iterated.
    """

    recording: Recording
    moments: list[tuple[float, Status]] = field(default_factory=list)
    covered: list[tuple[float, float]] = field(default_factory=list)

    def comparisons(self) -> Iterator[Comparison]:
        for segment in self.recording.segments:
            offset_s, entries = segment.offset_s, segment.entries
            run, rest = self._begin(segment)
            for entry in entries[:rest]:
                if entry.result is not None:
                    text = decision_text(entry.result)
                    yield Comparison(entry.at + offset_s, entry.name, text, None, NOT_SEEN)
            if run is not None and rest < len(entries):
                self.covered.append((entries[rest].at + offset_s, entries[-1].at + offset_s))
                yield from self._steps(offset_s, run, entries[rest:])

    def _begin(self, segment: Segment) -> tuple[RuleRun | None, int]:
        """The rules, and the number of the first entry that they can take."""
        config, entries = self.recording.config, segment.entries
        if segment.from_start:
            return RuleRun(config, entries[0]), 1
        requests = [each.at for each in entries if each.name not in MEASUREMENTS or each.result]
        for at_s, status in self.recording.statuses:
            at = at_s - segment.offset_s
            # The status may be older than a request shortly before it.
            is_calm = not any(at - CALM_S <= each <= at for each in requests)
            # The rules can begin with a rover at rest, and not with a violation.
            is_known = status.get('mast') in ('closed', 'open', 'unknown')
            rests = is_known and status.get('moving') is False and not status.get('violation')
            if at >= entries[0].at + CALM_S and rests and is_calm:
                rest = bisect_right(entries, at, key=lambda each: each.at)
                if rest < len(entries):
                    return seeded_run(config, status, entries[rest]), rest
        return None, len(entries)

    def _steps(
        self, offset_s: float, run: RuleRun, entries: Sequence[LogEntry]
    ) -> Iterator[Comparison]:
        recent: list[LogEntry] = []
        for entry in entries:
            at_s, is_due = entry.at + offset_s, entry.name == 'due'
            if not is_due:
                recent = [*recent[1 - RECENT_INPUTS :], entry]
            try:
                result = run.feed(entry)
            except BadEntry as error:
                yield Comparison(at_s, 'inputs', '', None, str(error))
                continue
            recorded, own = ({entry.name: each} for each in (entry.result, result))
            if is_due:
                recorded = {f'due: {key}': each for key, each in (entry.result or {}).items()}
                own = {f'due: {key}': each for key, each in (result or {}).items()}
            inputs = ', '.join(
                f'{each.name}({clip(json.dumps(list(each.arguments))[1:-1], MAX_ARGUMENTS)}) '
                f'{entry.at - each.at:.3f} s ago'
                for each in recent
            )
            for name in sorted({*recorded, *own}):
                said, decides = recorded.get(name), own.get(name)
                if said is not None or decides is not None:
                    texts = decision_text(said), decision_text(decides)
                    yield Comparison(at_s, name, *texts, inputs)
            if is_due:
                status = without_measured(status_of(run.rules))
                if not self.moments or self.moments[-1][1] != status:
                    self.moments.append((at_s, status))

    def compare_statuses(self) -> Iterator[Comparison]:
        """Each change of a field that is not measured. It is the same if the replayed rules showed
        the value within LATE_S before the message.
        """
        times = [at_s for at_s, _ in self.moments]
        before: dict[str, tuple[object, object]] = {}  # recorded, and shown
        for at_s, status in self.recording.statuses:
            shown: list[Status] = []
            if any(first + LATE_S <= at_s <= last for first, last in self.covered):
                first = max(0, bisect_right(times, at_s - LATE_S) - 1)
                last = bisect_right(times, at_s + EARLY_S)
                shown = [each for _, each in self.moments[first:last]]
            for key, value in without_measured(status).items():
                what, was = f'status: {key}', before.get(key, (value, None))
                if not shown:
                    if was[0] != value:
                        yield Comparison(at_s, what, repr(value), None, NOT_SEEN)
                    before[key] = value, value
                elif key in shown[-1]:  # else an older status
                    is_shown = any(each[key] == value for each in shown)
                    before[key] = value, value if is_shown else shown[-1][key]
                    if before[key] != was:
                        own = repr(before[key][1])
                        yield Comparison(at_s, what, repr(value), own, 'those of the log so far')


def decision_text(result: Any) -> str:
    """The decision in the result of a step. Numbers of calls are no decisions."""
    if type(result) is int:
        return YES
    if isinstance(result, dict) and REFUSED in result:
        return f'refused: {result[REFUSED]}'
    if result is None or isinstance(result, str):
        return result or ''
    if isinstance(result, list):  # alarms, warnings
        return '; '.join(map(str, result))
    return json.dumps(result)


def replay_adapter(recording: Recording) -> Report:
    """The decisions of the adapter's rules beside the recorded ones."""
    log = LogReplay(recording)
    comparisons = [*log.comparisons(), *log.compare_statuses()]
    report = Report(comparisons, list(recording.notes))
    if not recording.segments:
        report.notes.append(NO_LOG)
    late = sum(not each.from_start for each in recording.segments)
    if late:
        report.notes.append(f'{late} {LATE_PARTS}')
    return report
