# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rule model as a fallback, with a circuit breaker for the configured model."""

from __future__ import annotations

from collections.abc import Callable
import time

from curiosity_rosa_demo.agent.llm.call import CircuitBreaker

# consecutive failures that open the breaker, and its time open
MAX_FAILURES, BREAKER_OPEN_S = 2, 60.0


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
