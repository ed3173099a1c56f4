# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The adapter's rules of today beside a recording: same inputs, same decisions.

Every step of the log of inputs is replayed at its own time, and its result compared with the
recorded one; so are the status and the alarms, which came another way. The log of an adapter's
start is replayed from there, bit for bit. One that begins later, or after a gap, is replayed from
the first status that shows a rover at rest. Up to there nothing can be decided.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
import json
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.adapter.report import status_of
from curiosity_rosa_demo.adapter.rules import Rules
from curiosity_rosa_demo.adapter.steps import decode_batch, LogBatch, LogEntry, REFUSED
from curiosity_rosa_demo.domain.adapter_status import Status, without_measured
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.infra.config.limits import Guardrails, Thresholds
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.recording.file import GUARDRAILS, THRESHOLDS
from curiosity_rosa_demo.recording.reader import Decoder, Entry, RunReader
from curiosity_rosa_demo.recording.rule_run import BadEntry, MakeRules, RuleRun, seeded_run
from curiosity_rosa_demo.trace.trace_codec import decode
from pydantic import ValidationError

# --- What a recording holds of the rules' inputs and decisions ----------------------------------


MAX_DURATION_S = 30 * 86400.0  # of a file; a later time is damaged
ALARM_NODE = 'adapter'


@dataclass
class Recording:
    """Each list holds the time of receipt, in seconds since the first message, and the content, in
    the order of the file. ``first_s``: that message, in seconds since the epoch. ``decisions``: of
    gate and kernel, as JSON.
    """

    config: Config
    first_s: float = 0.0
    batches: list[tuple[float, LogBatch]] = field(default_factory=list)
    statuses: list[tuple[float, Status]] = field(default_factory=list)
    alarms: list[tuple[float, str]] = field(default_factory=list)
    decisions: list[tuple[float, bytes]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, role: str, at_s: float, entry: Entry, decoder: Decoder) -> None:
        """Raises AttributeError or ValueError for a message that its role cannot have."""
        if role == 'decisions':
            self.decisions.append((at_s, entry.data))
            return
        text = decoder.decode(entry).data
        if role == 'trace':
            event = decode(text)
            if event.kind is TraceKind.ERROR and (event.data or {}).get('node') == ALARM_NODE:
                self.alarms.append((at_s, event.message))
        elif role == 'adapter_inputs':
            batch = decode_batch(text)
            if batch is None:
                raise ValueError('no batch of inputs')
            self.batches.append((at_s, batch))
        else:
            status = json.loads(text)
            if not isinstance(status, dict) or 'moving' not in status:
                raise ValueError('no status')
            self.statuses.append((at_s, status))


def read_recording(file: Path, config: Config, *, own_limits: bool = True) -> Recording:
    """``own_limits``: replay by the limits that the file holds, not by those of ``config``.
    Raises NotARecording, OSError.
    """
    reader, recording, decoder = RunReader(file), Recording(config), Decoder()
    roles = {  # in a file of another program, by the topic
        config.topics.trace.events: 'trace',
        config.topics.status.adapter: 'adapter',
        config.topics.status.adapter_inputs: 'adapter_inputs',
    }
    first_ns: int | None = None
    unreadable = 0
    for entry in reader:
        if first_ns is None:
            first_ns, recording.first_s = entry.at_ns, entry.at_ns * 1e-9
        at_s = (entry.at_ns - first_ns) * 1e-9
        role = entry.role or roles.get(entry.topic, '')
        try:
            if not 0.0 <= at_s <= MAX_DURATION_S:
                raise ValueError('a damaged time')
            if role in ('decisions', *roles.values()):
                recording.add(role, at_s, entry, decoder)
        except (AttributeError, ValueError, RecursionError):
            unreadable += 1
    if first_ns is None:
        recording.notes.append('the file holds no messages')
    if unreadable:
        recording.notes.append(f'{unreadable} messages are unreadable')
    if reader.end_problem:
        recording.notes.append(
            f'the file is torn: the whole part is replayed ({reader.end_problem})'
        )
    dropped = (reader.end or {}).get('dropped', '0')
    if dropped != '0':
        recording.notes.append(f'the recorder dropped {dropped} messages')
    if own_limits:
        recording.config = _with_limits(config, reader.info, recording.notes)
    return recording


def _with_limits(config: Config, info: dict[str, str], notes: list[str]) -> Config:
    """``config`` with the limits in the file. It keeps those that the file lacks."""
    update: dict[str, Any] = {}
    for key, model in ((THRESHOLDS, Thresholds), (GUARDRAILS, Guardrails)):
        try:
            if key in info:
                present = getattr(config, key).model_dump(mode='json')
                update[key] = model.model_validate(_over(present, json.loads(info[key])))
        except (ValidationError, ValueError, TypeError, RecursionError):
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


class Verdict(str, Enum):
    SAME = 'same'
    DIFFERENT = 'different'
    UNDECIDABLE = 'not decidable'  # an input that decides is not in the recording


@dataclass(frozen=True)
class Comparison:
    """One decision. ``at_s``: seconds since the first message of the recording. ``decision``: what
    decided, such as a step of the rules. ``inputs``: on what, or why it could not.
    """

    at_s: float
    decision: str
    verdict: Verdict
    recorded: str
    replayed: str
    inputs: str = ''

    def text(self) -> str:
        return (
            f'{self.at_s:10.3f} s  {self.decision}: recorded {self.recorded or "nothing"!s}; '
            f'the rules decide {self.replayed or "nothing"!s}; inputs: {self.inputs or "-"}'
        )


def compared(at_s: float, what: str, recorded: str, replayed: str, inputs: str = '') -> Comparison:
    verdict = Verdict.SAME if recorded == replayed else Verdict.DIFFERENT
    return Comparison(at_s, what, verdict, recorded, replayed, inputs)


def undecidable(at_s: float, what: str, recorded: str, why: str) -> Comparison:
    return Comparison(at_s, what, Verdict.UNDECIDABLE, recorded, '', why)


@dataclass
class Report:
    """``notes``: sentences about the recording, such as which inputs it lacks."""

    comparisons: list[Comparison] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def decided(self) -> int:
        """The decisions that were compared."""
        return sum(each.verdict is not Verdict.UNDECIDABLE for each in self.comparisons)

    @property
    def differences(self) -> list[Comparison]:
        return [each for each in self.comparisons if each.verdict is Verdict.DIFFERENT]

    def table(self) -> list[str]:
        """Lines of text: a head, a line for each kind of decision, and the sums."""
        rows = {each.decision: Counter[Verdict]() for each in self.comparisons}
        for each in self.comparisons:
            rows[each.decision][each.verdict] += 1
        sums = sum(rows.values(), Counter[Verdict]())
        width = max(len(name) for name in (*rows, 'decision'))
        lines = [f'{"decision":{width}}  compared  same  different  not decidable']
        for name, count in (*sorted(rows.items()), ('all', sums)):
            same, different, unknown = (count[verdict] for verdict in Verdict)
            lines.append(
                f'{name:{width}}  {same + different:8}  {same:4}  {different:9}  {unknown:13}'
            )
        return lines


# --- The log of inputs, replayed ---------------------------------------------------------------


CALM_S = 0.5  # without a request before the status with which a run begins
MEASUREMENTS = frozenset({'odometry', 'joints', 'wheels', 'scan', 'scan_gone', 'heartbeat', 'due'})
RECENT_INPUTS = 4  # that a difference shows
MAX_ARGUMENTS = 80  # characters
YES = 'yes'
NOT_SEEN = 'the recording does not hold the inputs before it'
NO_LOG = 'there is no log of inputs (/adapter/inputs): no decision of the adapter is decidable'
LATE_PARTS = (
    'part(s) of the log begin after the adapter, or after a gap: the rules begin there with the '
    'first status of a rover at rest, without the speeds learned before'
)


@dataclass
class Segment:
    """Consecutive entries of one adapter. ``offset_s``: what to add to their times for seconds
    since the first message of the recording.
    """

    offset_s: float
    entries: list[LogEntry] = field(default_factory=list)

    @property
    def from_start(self) -> bool:
        return self.entries[0].name == 'start'


def segments(recording: Recording) -> list[Segment]:
    """The log in pieces without a gap. A restarted adapter begins a new one."""
    found: list[Segment] = []
    following = -1
    for _, batch in recording.batches:
        for number, entry in enumerate(batch.entries, batch.first):
            is_start = entry.name == 'start'
            if number < following and not is_start and entry.at <= found[-1].entries[-1].at:
                continue  # a batch of the topic's history, again
            if number != following or is_start:
                found.append(Segment(batch.offset_s - recording.first_s))
            found[-1].entries.append(entry)
            following = number + 1
    return found


class LogReplay:
    """``moments``: what the replayed rules showed after a step, and when. ``covered``: spans of
    time with all inputs, seconds. All are filled while ``comparisons`` is iterated.
    """

    def __init__(self, recording: Recording, make_rules: MakeRules = Rules) -> None:
        self._recording, self._make_rules = recording, make_rules
        self.moments: list[tuple[float, Status]] = []
        self.alarms: list[tuple[float, str]] = []
        self.covered: list[tuple[float, float]] = []

    def comparisons(self) -> Iterator[Comparison]:
        for segment in segments(self._recording):
            run, rest = self._begin(segment)
            for entry in segment.entries[:rest]:
                if entry.result is not None:
                    at_s = entry.at + segment.offset_s
                    yield undecidable(at_s, entry.name, decision_text(entry.result), NOT_SEEN)
            if run is not None and rest < len(segment.entries):
                first, last = segment.entries[rest].at, segment.entries[-1].at
                self.covered.append((first + segment.offset_s, last + segment.offset_s))
                yield from self._steps(segment, run, segment.entries[rest:])

    def _begin(self, segment: Segment) -> tuple[RuleRun | None, int]:
        """The rules, and the number of the first entry that they can take."""
        config = self._recording.config
        if segment.from_start:
            return RuleRun(config, segment.entries[0], self._make_rules), 1
        for at_s, status in self._recording.statuses:
            at = at_s - segment.offset_s
            if at < segment.entries[0].at + CALM_S or not is_at_rest(status):
                continue
            before = [each for each in segment.entries if at - CALM_S <= each.at <= at]
            if any(each.name not in MEASUREMENTS or each.result for each in before):
                continue  # the status may be older than the last of these
            for number, entry in enumerate(segment.entries):
                if entry.at > at:
                    run = seeded_run(config, status, entry.at, entry.ros_ns, self._make_rules)
                    return run, number
        return None, len(segment.entries)

    def _steps(
        self, segment: Segment, run: RuleRun, entries: Sequence[LogEntry]
    ) -> Iterator[Comparison]:
        recent: list[LogEntry] = []
        for entry in entries:
            at_s = entry.at + segment.offset_s
            if entry.name != 'due':
                recent = [*recent[1 - RECENT_INPUTS :], entry]
            try:
                result = run.feed(entry)
            except BadEntry as error:
                yield undecidable(at_s, 'inputs', '', str(error))
                continue
            inputs = inputs_text(recent, entry.at)
            if entry.name != 'due':
                if result is not None or entry.result is not None:
                    texts = decision_text(entry.result), decision_text(result)
                    yield compared(at_s, entry.name, *texts, inputs)
                continue
            recorded, replayed = entry.result or {}, result or {}
            for key in sorted({*recorded, *replayed}):
                texts = decision_text(recorded.get(key)), decision_text(replayed.get(key))
                yield compared(at_s, f'due: {key}', *texts, inputs)
            self.alarms.extend((at_s, text) for text in replayed.get('alarms', ()))
            status = without_measured(status_of(run.rules, None, None))
            if not self.moments or self.moments[-1][1] != status:
                self.moments.append((at_s, status))


def is_at_rest(status: Status) -> bool:
    """Whether the rules can begin with it: not with a violation."""
    known = status.get('mast') in ('closed', 'open', 'unknown')
    return status.get('moving') is False and known and not status.get('violation')


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


def inputs_text(recent: Sequence[LogEntry], now: float) -> str:
    """The last inputs, and how long ago they came."""
    parts = [
        f'{each.name}({clip(json.dumps(list(each.arguments))[1:-1], MAX_ARGUMENTS)}) '
        f'{now - each.at:.3f} s ago'
        for each in recent
    ]
    return ', '.join(parts)


# --- The status and the alarms, which came another way than the log -----------------------------


LATE_S = 1.0  # longest way of a message from the adapter to the recorder
EARLY_S = 0.1  # the clock of the machine may be corrected
UNREPLAYED_FIELD = 'replay'


def is_covered(at_s: float, log: LogReplay) -> bool:
    return any(first + LATE_S <= at_s <= last for first, last in log.covered)


def compare_statuses(recording: Recording, log: LogReplay) -> Iterator[Comparison]:
    """Each change of a field that is not measured. It is the same if the replayed rules showed
    the value within LATE_S before the message.
    """
    times = [at_s for at_s, _ in log.moments]
    before: dict[str, object] = {}
    wrong: dict[str, object] = {}
    for at_s, status in recording.statuses:
        last = bisect_right(times, at_s + EARLY_S)
        first = max(0, bisect_right(times, at_s - LATE_S) - 1)
        shown = [each for _, each in log.moments[first:last]] if is_covered(at_s, log) else []
        for key in shown[-1] if shown else without_measured(status):
            if key not in status or key == UNREPLAYED_FIELD:
                continue  # an older status
            value, was = status[key], before.get(key)
            before[key] = value
            what, text = f'status: {key}', repr(value)
            if not shown:
                if value != was and was is not None:
                    yield undecidable(at_s, what, text, NOT_SEEN)
            elif any(each.get(key) == value for each in shown):
                wrong.pop(key, None)
                if value != was:
                    yield compared(at_s, what, text, text)
            elif wrong.get(key, wrong) != value:  # once, not with each message
                wrong[key] = value
                own = repr(shown[-1].get(key))
                yield compared(at_s, what, text, own, 'the replayed rules since then')


def compare_alarms(recording: Recording, log: LogReplay) -> Iterator[Comparison]:
    """The adapter's alarms in the trace."""
    left = list(log.alarms)
    for at_s, text in recording.alarms:
        near = (
            each for each in left if each[1] == text and -EARLY_S <= at_s - each[0] <= 2 * LATE_S
        )
        if found := next(near, None):
            left.remove(found)
            yield compared(at_s, 'trace: alarms', text, text)
        elif is_covered(at_s, log):
            yield compared(at_s, 'trace: alarms', text, '')
        else:
            yield undecidable(at_s, 'trace: alarms', text, NOT_SEEN)


def replay_adapter(recording: Recording, make_rules: MakeRules = Rules) -> Report:
    """The decisions of the adapter's rules beside the recorded ones."""
    log = LogReplay(recording, make_rules)
    comparisons = [
        *log.comparisons(),
        *compare_statuses(recording, log),
        *compare_alarms(recording, log),
    ]
    report = Report(comparisons, list(recording.notes))
    if not recording.batches:
        report.notes.append(NO_LOG)
    late = sum(not each.from_start for each in segments(recording))
    if late:
        report.notes.append(f'{late} {LATE_PARTS}')
    return report
