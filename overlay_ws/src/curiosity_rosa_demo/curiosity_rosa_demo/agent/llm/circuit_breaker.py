# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A circuit breaker for calls to a model. Pure: the caller passes the time in seconds (``at``)."""

from __future__ import annotations


class CircuitBreaker:
    """After ``failures`` consecutive failures the breaker opens for ``open_s`` seconds. It then
    allows one trial call (half open), which closes it or opens it again.
    """

    def __init__(self, failures: int, open_s: float) -> None:
        if failures < 1 or not open_s > 0.0:
            raise ValueError(f'failures {failures} must be at least 1, open_s {open_s} above 0')
        self._limit = failures
        self._open_s = open_s
        self._failures = 0
        self._open_until = 0.0
        self._probing = False

    @property
    def state(self) -> str:
        """``closed``, ``open`` or ``half open``. The breaker stays ``open`` until the trial call
        starts, also after ``open_s``.
        """
        if self._failures < self._limit:
            return 'closed'
        return 'half open' if self._probing else 'open'

    def allows(self, at: float) -> bool:
        """Whether a call may start. Changes no state: call ``record_start`` at the start."""
        if self._failures < self._limit:
            return True
        return not self._probing and at >= self._open_until

    def record_start(self) -> None:
        self._probing = True

    def record_success(self) -> None:
        self._probing = False
        self._failures = 0

    def record_failure(self, at: float) -> None:
        self._probing = False
        self._failures += 1
        if self._failures >= self._limit:
            self._open_until = at + self._open_s
