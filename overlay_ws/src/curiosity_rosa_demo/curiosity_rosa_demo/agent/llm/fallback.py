# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The routine in the model's place, and how long a model that fails is left alone."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from curiosity_rosa_demo.agent.llm.circuit_breaker import CircuitBreaker

# so many failures in a row, and it is not asked for so long
MAX_FAILURES, BREAKER_OPEN_S = 2, 60.0


class FallbackModel:
    """``agent`` is ROSA's, with the routine for its model.

    One for all turns: a dead provider costs its time-out neither at each step nor in each turn.
    """

    def __init__(self, agent: Any, steady: Callable[[], float] = time.monotonic) -> None:
        self.agent, self._clock = agent, steady
        self._breaker = CircuitBreaker(MAX_FAILURES, BREAKER_OPEN_S)
        self._last_failure = ''

    def unavailable_reason(self) -> str:
        """Why the model is not asked now; empty: it is."""
        if self._breaker.allows(self._clock()):
            return ''
        return f'{self._last_failure} It is not asked for {BREAKER_OPEN_S:g} s.'

    def record_failure(self, why: str) -> None:
        self._last_failure = why
        self._breaker.record_failure(self._clock())

    def record_success(self) -> None:
        self._breaker.record_success()
