# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Replay the kernel's rules for SAFE: telemetry_sync and event_arbitrate on what was recorded.

A recording holds what leads to SAFE by the e-stop, a violation and a mast that is up. It does not
hold the scan as the agent saw it, nor what a skill reported.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
import math

from curiosity_rosa_demo.agent.kernel.event_arbitrate import event_arbitrate
from curiosity_rosa_demo.agent.kernel.limits import KernelRules
from curiosity_rosa_demo.agent.kernel.telemetry_sync import telemetry_sync
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Json,
    Mode,
    Reading,
    UserInterruptType,
)
from curiosity_rosa_demo.simulation.recorded.decisions import (
    compared,
    Comparison,
    undecidable,
)
from curiosity_rosa_demo.simulation.recorded.recording import (
    OdometryReading,
    Recording,
    times_between,
)

RULE = 'kernel: SAFE'
TICK_S = 0.2
LATE_S = 1.0  # from the cause to the heartbeat in the recording, or the other way round
EXPOSED = 'moving with the mast'
DECIDABLE = ('e-stop pressed', EXPOSED, 'The rover moves on')
NOT_RECORDED = (
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
        return compared(at_s, RULE, 'cleared', 'cleared' if not own else f'kept: {own}', before)

    def _compare(self, recorded: list[tuple[float, str]]) -> Iterator[Comparison]:
        for at_s, text in recorded:
            if not text:
                continue
            began_before = text.startswith(EXPOSED) and at_s < self._rules.exposed_s + 2 * LATE_S
            is_restored = (at_s, text) == recorded[0] and restored_latch(self._recording) == text
            if began_before or is_restored or not text.startswith(DECIDABLE):
                yield undecidable(at_s, RULE, text, NOT_RECORDED)
                continue
            near = [
                each.latch
                for each in self.moments
                if abs(each.at_s - at_s) <= LATE_S and each.latch == text
            ]
            held = self.latch_at(at_s)
            own = near[0] if near else (held.latch if held else '')
            yield compared(at_s, RULE, text, own, 'odometry and status of that second')
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
            return undecidable(moment.at_s, RULE, '', 'no heartbeat of an agent is recorded there')
        return compared(moment.at_s, RULE, '', moment.latch, 'odometry and status of that second')


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
