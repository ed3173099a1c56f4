# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rule model as a fallback, and the circuit breaker of a model that keeps failing."""

from __future__ import annotations

from collections.abc import Callable
import time

# consecutive failures that open the breaker, and its time open
MAX_FAILURES, BREAKER_OPEN_S = 2, 60.0


class CircuitBreaker:
    """After ``failures`` consecutive failures the breaker opens for ``open_s`` seconds. It then
    allows one trial call (half open), which closes it or opens it again. Pure: the caller passes
    the time in seconds (``at``).
    """

    def __init__(self, failures: int, open_s: float) -> None:
        self._limit, self._open_s = failures, open_s
        self._failures = 0
        self._open_until = 0.0
        self._probing = False

    def allows(self, at: float) -> bool:
        """Whether a call may start. Changes no state: call ``record_start`` at the start."""
        is_closed = self._failures < self._limit
        return is_closed or (not self._probing and at >= self._open_until)

    def record_start(self) -> None:
        self._probing = True

    def record_success(self) -> None:
        self._probing, self._failures = False, 0

    def record_failure(self, at: float) -> None:
        self._probing = False
        self._failures += 1
        if self._failures >= self._limit:
            self._open_until = at + self._open_s


class FallbackModel:
    """The rule model stands in for a model that fails, which is then left alone for a while.

    Share one instance between all turns: then a dead provider does not cost its time-out in each
    step and each turn.
    """

    def __init__(self, steady: Callable[[], float] = time.monotonic) -> None:
        self._clock = steady
        self._breaker = CircuitBreaker(MAX_FAILURES, BREAKER_OPEN_S)
        self._last_failure = ''

    def unavailable_reason(self) -> str:
        """The reason why the model is not called now; empty if it may be called."""
        if self._breaker.allows(self._clock()):
            return ''
        return f'{self._last_failure} It is not asked for {BREAKER_OPEN_S:g} s.'

    def record_failure(self, why: str) -> None:
        self._last_failure = why
        self._breaker.record_failure(self._clock())

    def record_success(self) -> None:
        self._breaker.record_success()
