# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Replay of a recording without a log of inputs: each call of the agent by itself.

Such a recording holds the adapter's status, odometry and joints at a limited rate, and the calls
of the agent with their answers. It does not hold the scan as the adapter saw it, simulated time,
the life of the agent, the calls of other nodes, nor when the rover answered. So each call is
decided in the state of the last status before it, if that shows a rover at rest; a drive and a
motion of the mast are then followed to their end. All else counts as not decidable, never as
agreement.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from curiosity_rosa_demo.adapter.adapter_rules import AdapterRules, REFUSED
from curiosity_rosa_demo.adapter.input_log import LogEntry
from curiosity_rosa_demo.domain.adapter_status import Status
from curiosity_rosa_demo.domain.models import E_STOP_PRESSED
from curiosity_rosa_demo.simulation.recorded.decisions import (
    compared,
    Comparison,
    undecidable,
)
from curiosity_rosa_demo.simulation.recorded.log_replay import (
    ACCEPTED,
    DECISIONS,
    is_at_rest,
    result_text,
)
from curiosity_rosa_demo.simulation.recorded.recording import (
    RecordedCall,
    Recording,
    times_between,
)
from curiosity_rosa_demo.simulation.recorded.records_compare import (
    adapter_alarms,
    compare_statuses,
)
from curiosity_rosa_demo.simulation.recorded.rule_names import rule_of
from curiosity_rosa_demo.simulation.recorded.rule_run import MakeRules, RuleRun, seeded_run

NO_LOG = (
    'there is no log of inputs: decisions by the scan, by simulated time, by the life of the '
    'agent, by calls of other nodes and by the time of the answers of the rover are not decidable'
)
WITHOUT_LOG = 'without the log of inputs'
MOTIONS = ('move_forward', 'turn_left', 'turn_right')
MASTS = ('mast_open', 'mast_close', 'mast_rotate')
# The rules whose inputs a status has, and the alarms that need no reading in between.
DECIDABLE_RULES = frozenset({'motion_guard', 'mast', 'other_adapters'})
LEASH = 'Stopped by the leash'
DECIDABLE_ALARMS = (LEASH, E_STOP_PRESSED)
STATUS_AGE_S = 1.5  # a status is due every second
SETTLED_S = 0.02  # from the status on which a call depends to the call
TICK_S = 0.05
LATE_S = 1.0


class TopicReplay:
    def __init__(self, recording: Recording, make_rules: MakeRules = AdapterRules) -> None:
        self._recording, self._make_rules = recording, make_rules
        self._alarms = adapter_alarms(recording)
        self._followed: set[tuple[float, str]] = set()  # the alarms that a drive was compared with
        self._is_simulated = any(
            status.get('real_time_factor') is not None for _, status in recording.statuses
        )

    def comparisons(self) -> Iterator[Comparison]:
        for number, call in enumerate(self._recording.calls):
            if call.name in MOTIONS:
                yield from self._motion(number, call)
            elif call.name in MASTS:
                yield from self._mast(call)
            elif call.name == 'move_stop':
                yield undecidable(call.ended_s, 'stop', call.answer or ACCEPTED, WITHOUT_LOG)
        for alarm in self._alarms:
            if alarm not in self._followed:
                rule = f'trace: {rule_of(alarm[1], "motion_guard")}'
                yield undecidable(alarm[0], rule, alarm[1], WITHOUT_LOG)
        yield from compare_statuses(self._recording, (), (), WITHOUT_LOG)

    def _motion(self, number: int, call: RecordedCall) -> Iterator[Comparison]:
        # A motion waits for the stop before it: the end of the call is nearer to its decision.
        status = self._status_before(call.ended_s - SETTLED_S)
        if status is None:
            yield undecidable(call.ended_s, 'motion_guard', _answer(call), WITHOUT_LOG)
            return
        run = self._run(status, call.ended_s)
        found = self._judged(call, 'check_motion', run, status)
        yield found
        if call.ok and found.replayed == ACCEPTED and not self._is_simulated:
            yield from self._drive(number, call, run)

    def _drive(self, number: int, call: RecordedCall, run: RuleRun) -> Iterator[Comparison]:
        """Follow a drive until the next call, or the next alarm."""
        following = [each.began_s for each in self._recording.calls[number + 1 :]]
        alarms = [each for each in self._alarms if each[0] > call.ended_s]
        end_s = min(
            [
                self._recording.duration_s(),
                *following[:1],
                *(at_s + LATE_S for at_s, _ in alarms[:1]),
            ]
        )
        entries = [
            LogEntry(call.ended_s, None, 'begin_motion', (call.name,), 1),
            LogEntry(call.ended_s, None, 'motion_answered', (1,)),
            *self._inputs(call.ended_s, end_s),
        ]
        own = []
        for entry in entries:
            run.feed(entry)
            due = run.feed(LogEntry(entry.at, None, 'due')) or {}
            own += [(entry.at, text) for text in due.get('alarms', ())]
        recorded = [each for each in alarms if each[0] <= end_s]
        for at_s, text in [*recorded, *own]:
            if text.startswith(DECIDABLE_ALARMS):
                yield self._alarm(at_s, text, recorded, own)
                return

    def _alarm(
        self,
        at_s: float,
        text: str,
        recorded: list[tuple[float, str]],
        own: list[tuple[float, str]],
    ) -> Comparison:
        """The first alarm of a drive, of whichever side it came."""
        self._followed.update(each for each in recorded if each[1] == text)
        both = [
            next((each for each in side if each[1].startswith(DECIDABLE_ALARMS)), None)
            for side in (recorded, own)
        ]
        one, other = both
        texts = ['' if each is None else each[1] for each in both]
        if one is not None and other is not None and abs(one[0] - other[0]) > LATE_S:
            texts = [f'{each[1]} at {each[0]:.1f} s' for each in (one, other)]
        rule = f'trace: {rule_of(text, "motion_guard")}'
        inputs = 'the start of the drive, odometry and e-stop since'
        return compared(at_s, rule, texts[0], texts[1], inputs)

    def _inputs(self, since_s: float, until_s: float) -> list[LogEntry]:
        recording = self._recording
        entries = [
            LogEntry(at_s, None, 'odometry', (each.pose, each.speed, each.turn_rate, None))
            for at_s, each in recording.odometry
        ]
        entries += [LogEntry(at_s, None, 'joints', each) for at_s, each in recording.joints]
        entries += [
            LogEntry(at_s, None, 'e_stop', (status.get('e_stop') is True,))
            for at_s, status in recording.statuses
        ]
        entries += [
            LogEntry(at_s, None, 'due') for at_s in times_between((since_s, until_s), TICK_S)
        ]
        inside = [each for each in entries if since_s < each.at <= until_s]
        return sorted(inside, key=lambda each: each.at)

    def _mast(self, call: RecordedCall) -> Iterator[Comparison]:
        took_s = call.ended_s - call.began_s
        status = self._status_before(call.began_s)
        if status is None:
            yield undecidable(call.ended_s, 'mast', _answer(call), WITHOUT_LOG)
            return
        run = self._run(status, call.began_s)
        has_moved = took_s > 1.0
        if has_moved and not call.ok:
            yield undecidable(call.ended_s, 'mast', _answer(call), WITHOUT_LOG)
            return
        found = self._judged(call, 'check_mast', run, status)
        yield found
        if call.ok and has_moved and found.replayed == ACCEPTED and not self._is_simulated:
            yield self._raised(call, run, status)

    def _raised(self, call: RecordedCall, run: RuleRun, status: Status) -> Comparison:
        """Follow the joints to the end of the call, and to the reading that ended it: it reaches
        the recorder later, by its limited rate.
        """
        at_s, ended_s = call.began_s, call.ended_s
        times = [each[0] for each in self._recording.joints]
        index = bisect_right(times, ended_s)
        if index >= len(times):
            return undecidable(ended_s, 'mast', _answer(call), WITHOUT_LOG)
        run.feed(LogEntry(at_s, None, 'begin_mast', (call.name,), True))
        run.feed(LogEntry(at_s, None, 'mast_answered'))
        last = LogEntry(ended_s, None, 'joints', self._recording.joints[index][1])
        for entry in [*self._inputs(at_s, ended_s), last]:
            run.feed(entry)
            run.feed(LogEntry(entry.at, None, 'due'))
        return self._judged(call, 'end_mast', run, status)

    def _judged(self, call: RecordedCall, step: str, run: RuleRun, status: Status) -> Comparison:
        at_s = call.began_s if step == 'check_mast' else call.ended_s
        arguments = (call.name, '') if step == 'check_motion' else (call.name,)
        result = run.feed(LogEntry(at_s, None, step, arguments))
        recorded, own = _answer(call), result_text(step, result)
        texts = [text for text in (recorded, own) if text != ACCEPTED]
        rule = rule_of(texts[0] if texts else '', DECISIONS[step])
        if not all(rule_of(text, UNKNOWN) in DECIDABLE_RULES for text in texts):
            return undecidable(at_s, rule, recorded, WITHOUT_LOG)
        shown = {key: status.get(key) for key in ('mast', 'moving', 'e_stop', 'other_adapters')}
        return compared(at_s, rule, recorded, own, f'{step} {call.name} with the status {shown}')

    def _run(self, status: Status, at_s: float) -> RuleRun:
        return seeded_run(self._recording.config, status, at_s, make_rules=self._make_rules)

    def _status_before(self, at_s: float) -> Status | None:
        """The newest status, if it is not old and shows a rover at rest."""
        index = bisect_right([each[0] for each in self._recording.statuses], at_s) - 1
        if index < 0:
            return None
        time_s, status = self._recording.statuses[index]
        return status if at_s - time_s <= STATUS_AGE_S and is_at_rest(status) else None


UNKNOWN = ''  # the rule of a text that no rule has: of the node, or of an older version


def _answer(call: RecordedCall) -> str:
    return ACCEPTED if call.ok else result_text('', {REFUSED: call.answer})
