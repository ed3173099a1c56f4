# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Replay the log of inputs: every step at its own time, every result beside the recorded one.

The log of an adapter's start is replayed from there, bit for bit. One that begins later, or after
a gap, is replayed from the first status that shows a rover at rest. Up to there nothing can be
decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
import json
from typing import Any

from curiosity_rosa_demo.adapter.adapter_rules import AdapterRules, REFUSED
from curiosity_rosa_demo.adapter.input_log import LogEntry
from curiosity_rosa_demo.adapter.status import status_of
from curiosity_rosa_demo.domain.adapter_status import Status, without_measured
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.simulation.recorded.decisions import (
    compared,
    Comparison,
    undecidable,
)
from curiosity_rosa_demo.simulation.recorded.recording import Recording
from curiosity_rosa_demo.simulation.recorded.rule_names import rule_of
from curiosity_rosa_demo.simulation.recorded.rule_run import (
    BadEntry,
    MakeRules,
    RuleRun,
    seeded_run,
)

DECISIONS = {  # the steps that decide, and the rule to which a success counts
    'check_motion': 'motion_guard',
    'begin_motion': 'motion_guard',
    'confirm_motion': 'motion_guard',
    'check_mast': 'mast',
    'begin_mast': 'mast',
    'end_mast': 'mast',
    'check_appendage': 'appendage',
    'begin_appendage': 'appendage',
    'end_appendage': 'appendage',
    'end_stop': 'stop',
}
CALM_S = 0.5  # without a request before the status with which a run begins
MEASUREMENTS = frozenset(
    {'odometry', 'joints', 'appendage_joints', 'wheels', 'scan', 'scan_gone', 'heartbeat', 'due'}
)
RECENT_INPUTS = 4  # that a difference shows
MAX_ARGUMENTS = 80  # characters
NOT_SEEN = 'the recording does not hold the inputs before it'


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

    def __init__(self, recording: Recording, make_rules: MakeRules = AdapterRules) -> None:
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
                yield compared(at_s, rule_of(one or other, 'motion_guard'), one, other, inputs)

    def _add_moment(self, at_s: float, run: RuleRun) -> None:
        status = without_measured(status_of(run.rules.guard, None, None, run.rules.obstacles))
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
        rule = DECISIONS.get(entry.name, 'motion_guard')
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
    if name == 'begin_mast' and result is False:
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
