# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Replay recordings into the rules: ``python -m curiosity_rosa_demo.agent.check FILE...``

The adapter's rules get the log of their inputs (recording/check.py). The kernel's rules for SAFE
and the gate's rules are asked again on the status, odometry and battery of the recording; it
does not hold what they read besides, such as the scan or the turn.

Exit status: 0 if no decision differs, 1 if one does or none could be compared, 2 if a file cannot
be read.
"""

from __future__ import annotations

import argparse
import ast
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import math
from pathlib import Path
import sys
from typing import Any

from curiosity_rosa_demo.agent.kernel.kernel_route import event_arbitrate
from curiosity_rosa_demo.agent.kernel.telemetry_sync import KernelRules, telemetry_sync
from curiosity_rosa_demo.agent.react.guardrails.rules import first_refusal, RULES
from curiosity_rosa_demo.agent.react.guardrails.situation import (
    Limits,
    Proposal,
    Situation,
    situation_of_facts,
)
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Json,
    Mode,
    Reading,
    Spent,
    UserInterruptType,
)
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.operation import Operation
from curiosity_rosa_demo.domain.plan.plan import RiskLevel
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.domain.skills import MAST_SKILLS, MOTIONS
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from curiosity_rosa_demo.recording.check import (
    compared,
    Comparison,
    replay_adapter,
    Report,
    undecidable,
)
from curiosity_rosa_demo.recording.mcap.file import NotARecording
from curiosity_rosa_demo.recording.recorded_inputs import (
    OdometryReading,
    read_recording,
    Recording,
    times_between,
)

SAFE = 'kernel: SAFE'
TICK_S = 0.2
LATE_S = 1.0  # from the cause to the heartbeat in the recording, or the other way round
EXPOSED = 'moving with the mast'
KERNEL_DECIDABLE = ('e-stop pressed', EXPOSED, 'The rover moves on')
CAUSE_NOT_RECORDED = (
    'its cause is not recorded: a scan, a skill, silence, or what was before the recording'
)


@dataclass(frozen=True)
class KernelMoment:
    at_s: float
    latch: str
    mode: Mode


class KernelReplay:
    """``moments`` is filled while ``comparisons`` is iterated."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._rules = KernelRules.of(recording.config.thresholds)
        self._state = BrainState()
        self._readings: dict[str, Reading] = {}
        self.moments: list[KernelMoment] = []

    def comparisons(self) -> Iterator[Comparison]:
        recorded = recorded_latches(self._recording)
        changes = iter(recorded)
        following = next(changes, None)
        before, ticked_s = '', 0.0
        for at_s, source, value in self._inputs():
            while following is not None and following[0] <= at_s:
                if before and not following[1]:
                    yield self._cleared(*following, before)
                before, following = following[1], next(changes, None)
            for between_s in times_between((ticked_s, at_s), TICK_S):  # time alone decides, too
                self._tick(between_s)
            self._readings[source] = Reading(value=value, received_s=at_s)
            ticked_s = at_s
            self._tick(at_s)
        yield from self._compare(recorded)

    def latch_at(self, at_s: float) -> KernelMoment | None:
        index = bisect_right([each.at_s for each in self.moments], at_s) - 1
        return self.moments[index] if index >= 0 else None

    def _inputs(self) -> list[tuple[float, str, Json]]:
        recording = self._recording
        inputs: list[tuple[float, str, Json]] = []
        inputs += [(at_s, 'adapter', each) for at_s, each in recording.statuses]
        inputs += [(at_s, 'odometry', _odometry(each)) for at_s, each in recording.odometry]
        inputs += [(at_s, 'battery', {'fraction': each}) for at_s, each in recording.battery]
        return sorted(inputs, key=lambda each: each[0])

    def _tick(self, at_s: float, interrupt: UserInterruptType | None = None) -> None:
        state = self._state
        telemetry = {'now_s': at_s, 'readings': dict(self._readings)}
        hci = {'user_interrupt': interrupt or UserInterruptType.NONE}
        state = state.model_copy(
            update={
                'telemetry': state.telemetry.model_copy(update=telemetry),
                'hci': state.hci.model_copy(update=hci),
                'robot': state.robot.model_copy(update={'violation': ''}),
            }
        )
        state = event_arbitrate(telemetry_sync(state, self._rules), self._rules)
        self._state = state
        moment = KernelMoment(at_s, state.robot.safety_latch, state.tasks.mode)
        last = self.moments[-1] if self.moments else None
        if last is None or (last.latch, last.mode) != (moment.latch, moment.mode):
            self.moments.append(moment)

    def _cleared(self, at_s: float, text: str, before: str) -> Comparison:
        """A person cleared SAFE, which the rules allow once its cause is gone."""
        self._tick(at_s, UserInterruptType.CLEAR)
        own = self._state.robot.safety_latch
        return compared(at_s, SAFE, 'cleared', 'cleared' if not own else f'kept: {own}', before)

    def _compare(self, recorded: list[tuple[float, str]]) -> Iterator[Comparison]:
        for at_s, text in recorded:
            if not text:
                continue
            began_before = text.startswith(EXPOSED) and at_s < self._rules.exposed_s + 2 * LATE_S
            is_restored = (at_s, text) == recorded[0] and restored_latch(self._recording) == text
            if began_before or is_restored or not text.startswith(KERNEL_DECIDABLE):
                yield undecidable(at_s, SAFE, text, CAUSE_NOT_RECORDED)
                continue
            near = [
                each.latch
                for each in self.moments
                if abs(each.at_s - at_s) <= LATE_S and each.latch == text
            ]
            held = self.latch_at(at_s)
            own = near[0] if near else (held.latch if held else '')
            yield compared(at_s, SAFE, text, own, 'odometry and status of that second')
        times = [at_s for at_s, text in recorded if text]
        before = ''
        for moment in self.moments:
            if moment.latch and not before and not _has_near(times, moment.at_s):
                yield self._only_here(moment)
            before = moment.latch

    def _only_here(self, moment: KernelMoment) -> Comparison:
        is_late = moment.at_s > self._recording.duration_s() - LATE_S
        is_seen = any(at_s >= moment.at_s for at_s, _ in self._recording.statuses)
        if is_late or not is_seen or not has_agent(self._recording):
            return undecidable(moment.at_s, SAFE, '', 'no heartbeat of an agent is recorded there')
        return compared(moment.at_s, SAFE, '', moment.latch, 'odometry and status of that second')


def _has_near(times: list[float], at_s: float) -> bool:
    return any(abs(each - at_s) <= LATE_S for each in times)


def has_agent(recording: Recording) -> bool:
    """Whether an agent's heartbeat is known to have reached the adapter."""
    entries = (each for _, batch in recording.batches for each in batch.entries)
    safe = any(status.get('agent_safe_reason') for _, status in recording.statuses)
    return safe or any(each.name == 'heartbeat' for each in entries)


def restored_latch(recording: Recording) -> str | None:
    """SAFE of an earlier run: the first heartbeat has it already. None: it is not recorded."""
    entries = (each for _, batch in recording.batches for each in batch.entries)
    return next((str(each.arguments[-1]) for each in entries if each.name == 'heartbeat'), None)


def recorded_latches(recording: Recording) -> list[tuple[float, str]]:
    """When the reason of SAFE changed, as the adapter's status repeats it from the heartbeat."""
    found: list[tuple[float, str]] = []
    before = ''
    for at_s, status in recording.statuses:
        latch = str(status.get('agent_safe_reason') or '')
        if latch != before:
            found.append((at_s, latch))
        before = latch
    return found


def _odometry(reading: OdometryReading) -> Json:
    x, y, yaw = reading.pose or (math.nan, math.nan, math.nan)
    return {
        'x': x,
        'y': y,
        'z': 0.0,
        'orientation_z': math.sin(yaw / 2.0),
        'orientation_w': math.cos(yaw / 2.0),
        'linear_x': reading.speed,
        'angular_z': reading.turn_rate,
    }


GATE_DECIDABLE = frozenset(
    {'safety', 'charging', 'mast_closed', 'still_for_mast', 'geofence', 'energy_home'}
)
SITUATION_RULES = tuple(rule for rule in RULES if rule.__name__ in GATE_DECIDABLE)
BASE = frozenset({'base'})
MOVING_SKILLS = MAST_SKILLS | frozenset(MOTIONS)
PASSES = 'passes'
RECENT_S = 1.5  # a status is due every second
TURN_NOT_RECORDED = 'the rule reads the turn, which is not recorded'


class GateReplay:
    def __init__(self, recording: Recording, kernel: KernelReplay) -> None:
        """``kernel``: after its replay."""
        self._recording, self._kernel = recording, kernel
        self._limits = Limits.of(recording.config)

    def comparisons(self) -> Iterator[Comparison]:
        for at_s, event in self._recording.events:
            data = event.data or {}
            name = event.tool_name or ''
            if event.kind is TraceKind.ACT and name in MOVING_SKILLS:
                arguments = data.get('arguments')
                op = Operation(name, arguments if isinstance(arguments, dict) else {})
                yield self._dispatched(at_s, op)
            elif (refusal := refusal_in(event)) is not None:
                yield self._refused(at_s, refusal)

    def _dispatched(self, at_s: float, op: Operation) -> Comparison:
        situation = self._situation(at_s)
        if situation is None:
            return undecidable(at_s, 'gate: passes', PASSES, 'no status is recorded there')
        refused = first_refusal(SITUATION_RULES, _proposal(op), situation, self._limits)
        own = PASSES if refused is None else f'{refused.rule}: {refused.reason}'
        return compared(at_s, 'gate: passes', PASSES, own, f'{op.text} in {_shown(situation)}')

    def _refused(self, at_s: float, refusal: Mapping[str, Any]) -> Comparison:
        rule, code = str(refusal['rule']), str(refusal['code'])
        name, text = f'gate: {rule}', f'{rule}: {code}'
        op, situation = operation_in(str(refusal.get('asked', ''))), self._situation(at_s)
        if rule not in GATE_DECIDABLE:
            return undecidable(at_s, name, text, TURN_NOT_RECORDED)
        if op is None or situation is None:
            return undecidable(at_s, name, text, 'the call or the status is not recorded')
        rules = tuple(each for each in SITUATION_RULES if each.__name__ == rule)
        refused = first_refusal(rules, _proposal(op), situation, self._limits)
        own = PASSES if refused is None else f'{refused.rule}: {refused.code.value}'
        return compared(at_s, name, text, own, f'{op.text} in {_shown(situation)}')

    def _situation(self, at_s: float) -> Situation | None:
        """The newest status before ``at_s``, with battery and mode of that time."""
        near = [each for each in self._recording.statuses if at_s - RECENT_S <= each[0] <= at_s]
        if not near:
            return None
        status = near[-1][1]
        battery = [each for time_s, each in self._recording.battery if time_s <= at_s]
        kernel = self._kernel.latch_at(at_s)
        latch = str(status.get('agent_safe_reason') or '')
        mode = kernel.mode if kernel is not None and kernel.mode is Mode.CHARGE else Mode.EXEC
        facts = {
            'x': status.get('rover_x'),
            'y': status.get('rover_y'),
            'yaw_rad': status.get('yaw_rad'),
            'mast': status.get('mast'),
            'moving': status.get('moving'),
            'battery_pct': 100.0 * battery[-1] if battery else None,
            'mode': Mode.SAFE.value if latch else mode.value,
            'safety_latch': latch,
        }
        return situation_of_facts(facts, spent=Spent())


def _proposal(op: Operation) -> Proposal:
    resources = BASE if op.skill in MOTIONS else frozenset[str]()
    return Proposal(op, resources, RiskLevel.LOW, 0.0)


def _shown(situation: Situation) -> str:
    return (
        f'mode {situation.mode}, mast {situation.mast}, moving {situation.moving}, '
        f'x {situation.x}, y {situation.y}, battery {situation.battery}'
    )


def refusal_in(event: TraceEvent) -> Mapping[str, Any] | None:
    """The gate's refusal that an event holds; None without one."""
    data = event.data or {}
    for found in (data, data.get('refusal')):
        if isinstance(found, dict) and isinstance(found.get('rule'), str) and found['rule']:
            codes = {each.value for each in RefusalCode}
            return found if found.get('code') in codes else None
    return None


def operation_in(text: str) -> Operation | None:
    """The operation that a text such as ``turn_left(duration_s=4)`` shows; None: no such text."""
    try:
        call = ast.parse(text, mode='eval').body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            return None
        arguments = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return Operation(call.func.id, arguments)


def replay(recording: Recording) -> Report:
    """The decisions of all rules beside the recorded ones."""
    report = replay_adapter(recording)
    kernel = KernelReplay(recording)
    report.add(kernel.comparisons())
    report.add(GateReplay(recording, kernel).comparisons())
    report.comparisons.sort(key=lambda each: each.at_s)
    return report


MAX_SHOWN = 20  # differences; the later ones may follow from the first


def show_report(file: Path, report: Report) -> None:
    print(f'{file}:')
    for note in report.notes:
        print(f'  note: {note}')
    for line in report.table():
        print(f'  {line}')
    for each in report.differences[:MAX_SHOWN]:
        print(f'  DIFFERENT {each.text().strip()}')
    more = len(report.differences) - MAX_SHOWN
    if more > 0:
        print(f'  and {count_text(more, "more difference")}; they may follow from the first')
    if not report.decided:
        print('  nothing could be compared')


def check(file: Path, config: Config, *, own_limits: bool) -> bool:
    """Whether all that could be compared is the same, and something could. Raises NotARecording,
    OSError.
    """
    report = replay(read_recording(file, config, own_limits=own_limits))
    show_report(file, report)
    return report.decided > 0 and not report.differences


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog='replay.sh --check',
        description='Replay recordings into the rules, and compare their decisions.',
    )
    parser.add_argument('files', type=Path, nargs='+', help='MCAP files, such as :record makes')
    parser.add_argument(
        '--config-dir',
        default='',
        help='decide by the limits of these YAML files, not by those in the recording',
    )
    options = parser.parse_args(arguments)
    ok = True
    for file in options.files:
        try:
            config = load_config(options.config_dir)
            ok = check(file, config, own_limits=not options.config_dir) and ok
        except (NotARecording, ConfigError, OSError) as error:
            print(f'replay: {error}', file=sys.stderr)
            return 2
    return 0 if ok else 1


if __name__ == '__main__':
    sys.exit(run(sys.argv[1:]))
