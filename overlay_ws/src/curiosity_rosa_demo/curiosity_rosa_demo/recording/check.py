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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
import json
from typing import Any

from curiosity_rosa_demo.adapter.report import status_of
from curiosity_rosa_demo.adapter.rules import Rules
from curiosity_rosa_demo.adapter.steps import LogEntry, REFUSED
from curiosity_rosa_demo.domain.adapter_status import Status, without_measured
from curiosity_rosa_demo.domain.models import (
    AGENT_IS_SAFE,
    AGENT_IS_SILENT,
    E_STOP_PRESSED,
    MOVE_IN_PROGRESS,
    NEED_TO_CLOSE_MAST,
    NEED_TO_OPEN_MAST,
    NEED_TO_STOW,
    OBSTACLE_AHEAD,
    ODOMETRY_SILENT,
    OTHER_ADAPTER,
    SLIPPING,
    STOP_NOT_CONFIRMED,
    STOPPED_UNASKED,
    STUCK,
    TILTED,
    TraceEvent,
    TraceKind,
    TWO_AGENTS,
    VIEW_LOST,
)
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.recording.recorded_inputs import Recording
from curiosity_rosa_demo.recording.rule_run import BadEntry, MakeRules, RuleRun, seeded_run


class Verdict(str, Enum):
    SAME = 'same'
    DIFFERENT = 'different'
    UNDECIDABLE = 'not decidable'  # an input that decides is not in the recording


@dataclass(frozen=True)
class Comparison:
    """One decision. ``at_s``: seconds since the first message of the recording. ``inputs``: what
    the rules decided on, or why they could not.
    """

    at_s: float
    rule: str
    verdict: Verdict
    recorded: str
    replayed: str
    inputs: str = ''

    def text(self) -> str:
        return (
            f'{self.at_s:10.3f} s  {self.rule}: recorded {self.recorded or "nothing"!s}; '
            f'the rules decide {self.replayed or "nothing"!s}; inputs: {self.inputs or "-"}'
        )


def compared(at_s: float, rule: str, recorded: str, replayed: str, inputs: str = '') -> Comparison:
    verdict = Verdict.SAME if recorded == replayed else Verdict.DIFFERENT
    return Comparison(at_s, rule, verdict, recorded, replayed, inputs)


def undecidable(at_s: float, rule: str, recorded: str, why: str) -> Comparison:
    return Comparison(at_s, rule, Verdict.UNDECIDABLE, recorded, '', why)


@dataclass
class Report:
    """``notes``: sentences about the recording, such as which inputs it lacks."""

    comparisons: list[Comparison] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, comparisons: Iterable[Comparison]) -> None:
        self.comparisons.extend(comparisons)

    def count(self, verdict: Verdict, rule: str = '') -> int:
        return sum(
            each.verdict is verdict and (not rule or each.rule == rule)
            for each in self.comparisons
        )

    @property
    def decided(self) -> int:
        """The decisions that were compared."""
        return len(self.comparisons) - self.count(Verdict.UNDECIDABLE)

    @property
    def differences(self) -> list[Comparison]:
        return [each for each in self.comparisons if each.verdict is Verdict.DIFFERENT]

    def table(self) -> list[str]:
        """Lines of text: a head, a line for each rule, and the sums."""
        width = max([len('rule'), *(len(each.rule) for each in self.comparisons)])
        lines = [f'{"rule":{width}}  compared  same  different  not decidable']
        for rule in [*sorted({each.rule for each in self.comparisons}), '']:
            same, different, unknown = (self.count(verdict, rule) for verdict in Verdict)
            lines.append(
                f'{rule or "all":{width}}  {same + different:8}  {same:4}  {different:9}  '
                f'{unknown:13}'
            )
        return lines


RULES = {
    SLIPPING: 'drive_watch',
    STUCK: 'drive_watch',
    TILTED: 'drive_watch',
    ODOMETRY_SILENT: 'odometry_silence',
    OBSTACLE_AHEAD: 'obstacle_stop',
    VIEW_LOST: 'obstacle_stop',
    AGENT_IS_SAFE: 'agent_link',
    AGENT_IS_SILENT: 'agent_link',
    'The agent': 'agent_link',
    TWO_AGENTS: 'agent_link',
    OTHER_ADAPTER: 'other_adapters',
    NEED_TO_CLOSE_MAST: 'part',
    NEED_TO_STOW: 'part',
    NEED_TO_OPEN_MAST: 'part',
    'Joint states': 'part',
    STOPPED_UNASKED: 'unexpected_motion',
    MOVE_IN_PROGRESS: 'motion',
    E_STOP_PRESSED: 'motion',
    'Stopped by the leash': 'motion',
    'The rover moves on': 'stop',
    STOP_NOT_CONFIRMED: 'stop',
}


def rule_of(text: str, otherwise: str) -> str:
    """``otherwise``: for a text of no rule, such as a success."""
    text = text.removeprefix('refused: ')
    fitting = [start for start in RULES if text.startswith(start)]
    return RULES[max(fitting, key=len)] if fitting else otherwise


DECISIONS = {  # the steps that decide, and the rule to which a success counts
    'check_motion': 'motion',
    'start_motion': 'motion',
    'motion_started': 'motion',
    'check_part': 'part',
    'start_part': 'part',
    'end_part': 'part',
    'end_stop': 'stop',
}
CALM_S = 0.5  # without a request before the status with which a run begins
MEASUREMENTS = frozenset({'odometry', 'joints', 'wheels', 'scan', 'scan_gone', 'heartbeat', 'due'})
RECENT_INPUTS = 4  # that a difference shows
MAX_ARGUMENTS = 80  # characters
NOT_SEEN = 'the recording does not hold the inputs before it'
NO_LOG = 'there is no log of inputs (/adapter/inputs): no decision of the adapter is decidable'


@dataclass
class Segment:
    """Consecutive entries of one adapter. ``offset_s``: what to add to their times for seconds
    since the first message of the recording.
    """

    first: int
    offset_s: float
    entries: list[LogEntry] = field(default_factory=list)

    @property
    def from_start(self) -> bool:
        return self.entries[0].name == 'start'


@dataclass(frozen=True)
class Moment:
    """What the replayed rules showed after a step."""

    at_s: float
    status: Status


def segments(recording: Recording) -> list[Segment]:
    """The log in pieces without a gap. A restarted adapter begins a new one."""
    found: list[Segment] = []
    following = -1
    for _, batch in recording.batches:
        offset_s = batch.offset_s - recording.first_s
        for number, entry in enumerate(batch.entries, batch.first):
            if (
                found
                and number < following
                and entry.name != 'start'
                and _is_old(found[-1], entry)
            ):
                continue  # a batch of the topic's history, again
            if number != following or entry.name == 'start':
                found.append(Segment(number, offset_s))
            found[-1].entries.append(entry)
            following = number + 1
    return found


def _is_old(segment: Segment, entry: LogEntry) -> bool:
    return entry.at <= segment.entries[-1].at


class LogReplay:
    """``moments`` is filled while ``comparisons`` is iterated."""

    def __init__(self, recording: Recording, make_rules: MakeRules = Rules) -> None:
        self._recording, self._make_rules = recording, make_rules
        self.moments: list[Moment] = []
        self.alarms: list[tuple[float, str]] = []
        self.covered: list[tuple[float, float]] = []  # spans of time with all inputs, seconds

    def comparisons(self) -> Iterator[Comparison]:
        for segment in segments(self._recording):
            yield from self._replay(segment)

    def _replay(self, segment: Segment) -> Iterator[Comparison]:
        run: RuleRun | None = None
        rest = 0
        if segment.from_start:
            run = RuleRun(self._recording.config, segment.entries[0], self._make_rules)
            rest = 1
        else:
            seed = self._seed(segment)
            ended = len(segment.entries)
            rest = ended if seed is None else seed[0]
            yield from (
                self._unseen(segment, each) for each in segment.entries[:rest] if _decides(each)
            )
            if seed is not None:
                first = segment.entries[rest]
                run = seeded_run(
                    self._recording.config, seed[1], first.at, first.ros_ns, self._make_rules
                )
        if run is not None and rest < len(segment.entries):
            began_s = segment.entries[rest].at + segment.offset_s
            ended_s = segment.entries[-1].at + segment.offset_s
            self.covered.append((began_s, ended_s))
            yield from self._steps(segment, run, segment.entries[rest:])

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
                yield undecidable(at_s, DECISIONS.get(entry.name, 'inputs'), '', str(error))
                continue
            inputs = inputs_text(recent, at_s - segment.offset_s)
            if entry.name == 'due':
                yield from self._compare_due(at_s, entry.result or {}, result or {}, inputs)
                self._add_moment(at_s, run)
            elif entry.name in DECISIONS:
                yield compare_results(at_s, entry, result, inputs)

    def _compare_due(
        self, at_s: float, recorded: dict[str, Any], replayed: dict[str, Any], inputs: str
    ) -> Iterator[Comparison]:
        if recorded.get('zero_twist') or replayed.get('zero_twist'):
            one, other = (str(bool(each.get('zero_twist'))) for each in (recorded, replayed))
            yield compared(at_s, 'stop: zero Twists', one, other, inputs)
        one, other = (
            'call of /move_stop' if each.get('stop_call') is not None else ''
            for each in (recorded, replayed)
        )
        if one or other:
            yield compared(at_s, 'stop: calls', one, other, inputs)
        for key in ('alarms', 'warnings'):
            texts, own = recorded.get(key) or [], replayed.get(key) or []
            if key == 'alarms':
                self.alarms.extend((at_s, text) for text in own)
            for number in range(max(len(texts), len(own))):
                one, other = (
                    str(each[number]) if number < len(each) else '' for each in (texts, own)
                )
                yield compared(at_s, rule_of(one or other, 'motion'), one, other, inputs)

    def _add_moment(self, at_s: float, run: RuleRun) -> None:
        status = without_measured(status_of(run.rules, None, None))
        if not self.moments or self.moments[-1].status != status:
            self.moments.append(Moment(at_s, status))

    def _seed(self, segment: Segment) -> tuple[int, Status] | None:
        """The first status at rest in a calm part of the segment, and the entry that follows."""
        for at_s, status in self._recording.statuses:
            at = at_s - segment.offset_s
            if at < segment.entries[0].at + CALM_S or not is_at_rest(status):
                continue
            if status.get('violation'):
                continue  # the rules cannot begin with one
            before = [each for each in segment.entries if at - CALM_S <= each.at <= at]
            if any(each.name not in MEASUREMENTS or each.result for each in before):
                continue  # the status may be older than the last of these
            for number, entry in enumerate(segment.entries):
                if entry.at > at:
                    return number, status
        return None

    def _unseen(self, segment: Segment, entry: LogEntry) -> Comparison:
        rule = DECISIONS.get(entry.name, 'motion')
        text = json.dumps(entry.result)
        return undecidable(entry.at + segment.offset_s, rule, text, NOT_SEEN)


def is_at_rest(status: Status) -> bool:
    return status.get('moving') is False and status.get('mast') in ('closed', 'open', 'unknown')


def _decides(entry: LogEntry) -> bool:
    return entry.name in DECISIONS or (entry.name == 'due' and bool(entry.result))


def compare_results(at_s: float, entry: LogEntry, replayed: Any, inputs: str) -> Comparison:
    own, recorded = result_text(entry.name, replayed), result_text(entry.name, entry.result)
    refused = next((text for text in (recorded, own) if text != ACCEPTED), '')
    rule = rule_of(refused, DECISIONS[entry.name])
    what = f'{entry.name} {" ".join(map(str, entry.arguments))}'.strip()
    return compared(at_s, rule, recorded, own, f'{what} after {inputs}')


ACCEPTED = 'accepted'


def result_text(name: str, result: Any) -> str:
    """The decision in the result of a step. Numbers of calls are no decisions."""
    if isinstance(result, dict) and REFUSED in result:
        return f'refused: {result[REFUSED]}'
    if name == 'start_part' and result is False:
        return 'accepted, nothing to do'
    return str(result) if name == 'end_stop' and result else ACCEPTED


def inputs_text(recent: Sequence[LogEntry], now: float) -> str:
    """The last inputs, and how long ago they came."""
    parts = [
        f'{each.name}({clip(json.dumps(list(each.arguments))[1:-1], MAX_ARGUMENTS)}) '
        f'{now - each.at:.3f} s ago'
        for each in recent
    ]
    return ', '.join(parts)


LATE_S = 1.0  # longest way of a message from the adapter to the recorder
EARLY_S = 0.1  # the clock of the machine may be corrected
UNREPLAYED_FIELDS = ('replay',)
ALARM_NODE = 'adapter'
Span = tuple[float, float]


def is_covered(at_s: float, spans: Sequence[Span], margin_s: float = 0.0) -> bool:
    return any(first + margin_s <= at_s <= last for first, last in spans)


def compare_statuses(
    recording: Recording, moments: Sequence[Moment], spans: Sequence[Span]
) -> Iterator[Comparison]:
    """Each change of a field that is not measured. It is the same if the replayed rules showed
    the value within LATE_S before the message.
    """
    times = [each.at_s for each in moments]
    before: dict[str, object] = {}
    wrong: dict[str, object] = {}
    for at_s, status in recording.statuses:
        last = bisect_right(times, at_s + EARLY_S)
        first = max(0, bisect_right(times, at_s - LATE_S) - 1)
        shown = moments[first:last]
        known = is_covered(at_s, spans, LATE_S) and bool(shown)
        for key in shown[-1].status if known else without_measured(status):
            if key not in status or key in UNREPLAYED_FIELDS:
                continue  # an older status
            value, was = status[key], before.get(key)
            before[key] = value
            is_change = value != was
            rule, text = f'status: {key}', repr(value)
            if not known:
                if is_change and was is not None:
                    yield undecidable(at_s, rule, text, NOT_SEEN)
                continue
            if any(each.status.get(key) == value for each in shown):
                wrong.pop(key, None)
                if is_change:
                    yield compared(at_s, rule, text, text)
            elif wrong.get(key, wrong) != value:  # once, not with each message
                wrong[key] = value
                own = repr(shown[-1].status.get(key))
                yield compared(at_s, rule, text, own, 'the replayed rules since then')


def adapter_alarms(recording: Recording) -> list[tuple[float, str]]:
    return [(at_s, event.message) for at_s, event in recording.events if _is_alarm(event)]


def _is_alarm(event: TraceEvent) -> bool:
    return event.kind is TraceKind.ERROR and (event.data or {}).get('node') == ALARM_NODE


def compare_alarms(
    recording: Recording, alarms: Sequence[tuple[float, str]], spans: Sequence[Span]
) -> Iterator[Comparison]:
    """The adapter's alarms in the trace, which came another way than the log of inputs."""
    left = list(alarms)
    for at_s, text in adapter_alarms(recording):
        rule = f'trace: {rule_of(text, "motion")}'
        found = next((each for each in left if each[1] == text and _is_near(at_s, each[0])), None)
        if found is not None:
            left.remove(found)
            yield compared(at_s, rule, text, text)
        elif is_covered(at_s, spans, LATE_S):
            yield compared(at_s, rule, text, '')
        else:
            yield undecidable(at_s, rule, text, NOT_SEEN)


def _is_near(message_s: float, decided_s: float) -> bool:
    return -EARLY_S <= message_s - decided_s <= 2 * LATE_S


def replay_adapter(recording: Recording, make_rules: MakeRules = Rules) -> Report:
    """The decisions of the adapter's rules beside the recorded ones."""
    report = Report(notes=list(recording.notes))
    if not recording.batches:
        report.notes.append(NO_LOG)
    log = LogReplay(recording, make_rules)
    report.add(log.comparisons())
    report.add(compare_statuses(recording, log.moments, log.covered))
    report.add(compare_alarms(recording, log.alarms, log.covered))
    late = [each for each in segments(recording) if not each.from_start]
    if late:
        report.notes.append(
            f'{len(late)} part(s) of the log begin after the adapter, or after a gap: the rules '
            'begin there with the first status of a rover at rest, without the speeds learned '
            'before'
        )
    return report
