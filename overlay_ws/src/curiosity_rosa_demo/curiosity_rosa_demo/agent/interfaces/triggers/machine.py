# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One trigger as a state machine: when it arms and fires. Pure; the caller gives the time.

It fires on an edge: the condition must have been seen not to hold, in this run and since the last
firing. An edge that may not fire (a limit, SAFE, a replay) is gone; it is not made up for.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum
import math

from curiosity_rosa_demo.domain.adapter_status import TriggerState
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.conditions import holds
from curiosity_rosa_demo.infra.config.behaviour import TriggerConfig
from pydantic import JsonValue

HOUR_S = 3600.0
MAX_TEXT_CHARS = 1000  # of a value
NO_CLEAR = 'its condition has not been seen not to hold since it was switched on'
REARM = 'it waits for the re-arm'


class Signal(Enum):
    """What an observation says about the condition."""

    ON = 'on'
    OFF = 'off'
    BLOCKED = 'blocked'  # nothing may fire now
    LOST = 'lost'  # no value, a stale one, or one that cannot be compared
    CLEAR = 'clear'  # the condition does not hold, with its hysteresis
    BETWEEN = 'between'
    HOLDS = 'holds'
    HELD = 'held'  # it holds, and has for ``for_s``


OFF, UNARMED, ARMED, PENDING, FIRED = TriggerState
# A pair that is missing leaves the state as it is. Only (ARMED, HELD) and (PENDING, HELD) fire.
TRANSITIONS: dict[tuple[TriggerState, Signal], TriggerState] = {
    **{(state, Signal.OFF): OFF for state in TriggerState},
    (OFF, Signal.ON): UNARMED,
    **{(state, Signal.BLOCKED): UNARMED for state in (ARMED, PENDING, FIRED)},
    (UNARMED, Signal.CLEAR): ARMED,
    (ARMED, Signal.HOLDS): PENDING,
    (ARMED, Signal.HELD): FIRED,
    (PENDING, Signal.HELD): FIRED,
    (PENDING, Signal.CLEAR): ARMED,
    (PENDING, Signal.BETWEEN): ARMED,
    (PENDING, Signal.LOST): ARMED,
    (FIRED, Signal.CLEAR): ARMED,
}


@dataclass(frozen=True)
class Sample:
    """A value, and when it arrived, in steady seconds. ``problem``: why it has no use."""

    value: JsonValue
    at_s: float
    problem: str = ''


@dataclass(frozen=True)
class Step:
    """What an observation led to. ``suppressed``: why it did not fire though it was due."""

    before: TriggerState
    after: TriggerState
    fired: bool = False
    suppressed: str = ''


@dataclass
class Machine:
    config: TriggerConfig
    state: TriggerState = OFF
    value: JsonValue = None  # the last one that could be used
    problem: str = ''  # why the last observation could not be used, or what kept it from firing
    fired_at_s: deque[float] = field(default_factory=lambda: deque(maxlen=60))
    fired_count: int = 0
    _pending_since_s: float = 0.0
    _last_s: float = -math.inf
    _baseline: JsonValue = None  # of ``changes``

    def switch(self, on: bool) -> None:
        self._go(Signal.ON if on else Signal.OFF)
        self.problem = ''

    def observe(self, sample: Sample | None, now_s: float, *, blocked: str, busy: str) -> Step:
        """Observe the newest value. ``blocked``: why no trigger may fire; '': they may. ``busy``:
        why this one may not, such as its last task.
        """
        before = self.state
        if before is OFF:
            return Step(before, before)
        signal = self._signal(sample, now_s)
        is_due = before in (ARMED, PENDING) and signal is Signal.HELD
        why = blocked or (self._limit(now_s) or busy if is_due else '')
        self._go(Signal.BLOCKED if blocked else signal)
        if self.state is PENDING and before is not PENDING:
            self._pending_since_s = now_s
        if why:
            self.problem = why
        fired = is_due and not why
        if fired:
            self.fired_at_s.append(now_s)
            self.fired_count += 1
        return Step(before, self.state, fired, why if is_due else '')

    def why_not(self, blocked: str) -> str:
        """Why it does not fire now; '' when only its condition is missing."""
        if self.state is OFF:
            return self.problem or 'it is switched off'
        usual = {UNARMED: NO_CLEAR, FIRED: REARM}.get(self.state, '')
        return blocked or '; '.join(filter(None, (usual, self.problem)))

    def _go(self, signal: Signal) -> None:
        self.state = TRANSITIONS.get((self.state, signal), self.state)

    def _limit(self, now_s: float) -> str:
        """Why its rate allows no firing; time that ran backward allows none either."""
        config = self.config
        if self.fired_at_s and now_s - self.fired_at_s[-1] < config.min_interval_s:
            return f'min_interval_s: it fired less than {config.min_interval_s:g} s ago'
        if sum(now_s - each < HOUR_S for each in self.fired_at_s) >= config.max_per_hour:
            return f'max_per_hour: it fired {config.max_per_hour} times in the last hour'
        return ''

    def _signal(self, sample: Sample | None, now_s: float) -> Signal:
        problem = self._unusable(sample, now_s)
        self._last_s = now_s
        if self.state is not FIRED or problem:
            self.problem = problem
        if problem or sample is None:
            return Signal.LOST
        self.value = sample.value
        signal = self._compare(sample.value)
        if signal is Signal.HOLDS:
            since_s = self._pending_since_s if self.state is PENDING else now_s
            return Signal.HELD if now_s - since_s >= self.config.for_s else Signal.HOLDS
        return signal

    def _unusable(self, sample: Sample | None, now_s: float) -> str:
        if sample is None:
            return 'no value has come yet'
        if sample.problem:
            return sample.problem
        age_s = now_s - sample.at_s
        if now_s < self._last_s or age_s < 0.0:
            return 'the time ran backward'
        if age_s > self.config.max_age_s:
            return f'the value is {age_s:.1f} s old, more than max_age_s {self.config.max_age_s:g}'
        value, config = sample.value, self.config
        if value is None or value != value:
            return 'the value is not known'
        if isinstance(value, str) and len(value) > MAX_TEXT_CHARS:
            return f'the value is a text of more than {MAX_TEXT_CHARS} characters'
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if is_number and abs(value) == math.inf:  # type: ignore[arg-type]
            return 'the value is infinite'
        if (config.above is not None or config.below is not None) and not is_number:
            return 'the value is not a number'
        return ''

    def _compare(self, value: JsonValue) -> Signal:
        config = self.config
        if config.above is not None:
            back = config.above if config.rearm_below is None else config.rearm_below
            return _signal_of(value, {'value_above': config.above}, {'value_at_most': back})
        if config.below is not None:
            back = config.below if config.rearm_above is None else config.rearm_above
            return _signal_of(value, {'value_below': config.below}, {'value_at_least': back})
        if config.changes:
            if self.state in (UNARMED, FIRED):
                self._baseline = value
            return Signal.CLEAR if value == self._baseline else Signal.HOLDS
        equal: Json = {'value': config.equals}
        return Signal.HOLDS if holds(equal, {'value': value}).ok else Signal.CLEAR


def _signal_of(value: JsonValue, condition: Json, rearm: Json) -> Signal:
    if holds(condition, {'value': value}).ok:
        return Signal.HOLDS
    return Signal.CLEAR if holds(rearm, {'value': value}).ok else Signal.BETWEEN
