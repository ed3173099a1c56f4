# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy's clock: monotonic seconds since the epoch."""

from __future__ import annotations

from collections.abc import Callable
import time

MIN_WALL_TIME_S = 1e9  # s, September 2001: a smaller time is simulated, counted from its start
MAX_BACKWARD_STEP_S = 60.0  # s: after a smaller step back of the wall clock, now() stands still


class PolicyClock:
    """Follows ``source``: wall time, or simulated time that starts at 0 and may restart.

    The first reading of simulated time counts as ``epoch()``. When the source jumps back, or
    changes between wall and simulated time, the clock continues from its last value. Not
    thread-safe.
    """

    def __init__(
        self, source: Callable[[], float], epoch: Callable[[], float] = time.time
    ) -> None:
        self._source, self._epoch = source, epoch
        self._now = 0.0
        self._ahead = 0.0  # s, added to the source
        self._kind = -1

    def resume(self, at: float) -> None:
        """From now on ``now()`` returns at least ``at``."""
        self._now = max(self._now, at)

    def now(self) -> float:
        source = self._source()
        self._update_kind(source)
        patience = MAX_BACKWARD_STEP_S if source >= MIN_WALL_TIME_S else 0.0
        if source + self._ahead < self._now - patience:
            self._ahead = self._now - source
        self._now = max(self._now, source + self._ahead)
        return self._now

    def _update_kind(self, source: float) -> None:
        # 0: simulated time, and no /clock message yet
        kind = (source > 0.0) + (source >= MIN_WALL_TIME_S)
        if kind == self._kind:
            return
        if self._kind < 0 and source < MIN_WALL_TIME_S:
            self._now = max(self._now, self._epoch())
        self._kind = kind
        self._ahead = 0.0 if source >= MIN_WALL_TIME_S else self._now - source
