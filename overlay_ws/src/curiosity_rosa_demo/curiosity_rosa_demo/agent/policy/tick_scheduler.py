# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The tick times of the policy: aligned instants of the local wall clock.

An instant is aligned when its local time of day is a multiple of ``tick_s``; the count restarts at
00:00. An hour that a change of the clocks repeats has its instants twice; a skipped hour has none.
Internal times are integer milliseconds since the epoch, which avoids rounding errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone, tzinfo
import time

# --- The policy's clock: monotonic seconds since the epoch -------------------------------------


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


DAY_MS = 86_400_000


@dataclass(frozen=True)
class DueTick:
    """``at``: the instant in seconds since the epoch. ``missed``: number of skipped instants
    before it.
    """

    at: float
    missed: int


class TickScheduler:
    def __init__(self, tick_s: float, zone: tzinfo) -> None:
        self._tick = round(tick_s * 1000.0)
        if not 0 < self._tick <= DAY_MS:
            raise ValueError(f'tick_s = {tick_s}: must be from 0.001 to 86400 seconds')
        self._zone = zone
        self._fixed = isinstance(zone, timezone)
        self._steady = range(0), 0  # a UTC day without a clock change, and its offset
        self._last_tick: int | None = None
        self._next: int | None = None

    def resume(self, at: float) -> None:
        """Continue an earlier run that ticked all instants up to ``at``."""
        self._last_tick = self._latest_tick(floor_ms(at))
        self._next = self._next_tick(self._last_tick)

    def take_due(self, now: float) -> DueTick | None:
        """The latest instant up to ``now``, or None when it was taken before. Skipped instants
        before it are only counted.
        """
        now_ms = floor_ms(now)
        if self._next is not None and now_ms < self._next:
            return None
        at = self._latest_tick(now_ms)
        missed = (
            0
            if self._last_tick is None or at == self._next
            else self._count_ticks(self._last_tick, at) - 1
        )
        self._last_tick, self._next = at, self._next_tick(at)
        return DueTick(at / 1000.0, missed)

    def _offset(self, at: int) -> int:
        day, offset = self._steady
        if at in day:
            return offset
        begin = at - at % DAY_MS
        offset = self._offset_ms_at(at)
        if self._offset_ms_at(begin) == offset == self._offset_ms_at(begin + DAY_MS):
            self._steady = range(begin, begin + DAY_MS), offset
        return offset

    def _offset_ms_at(self, at: int) -> int:
        offset = datetime.fromtimestamp(at // 1000, self._zone).utcoffset()
        assert offset is not None
        return round(offset.total_seconds()) * 1000

    def _latest_tick(self, at: int) -> int:
        """The latest instant up to ``at``."""
        offset = self._offset(at)
        time_of_day = (at + offset) % DAY_MS
        found = at - time_of_day % self._tick
        change = self._clock_change(found, at)
        return found if change is None else self._latest_tick(change - 1)

    def _next_tick(self, at: int) -> int:
        """The first instant after ``at``."""
        offset = self._offset(at)
        time_of_day = (at + offset) % DAY_MS
        step = self._tick - time_of_day % self._tick
        found = at + min(step, DAY_MS - time_of_day)
        change = self._clock_change(at, found)
        if change is None:
            return found
        return change if self._latest_tick(change) == change else self._next_tick(change)

    def _clock_change(self, begin: int, end: int) -> int | None:
        """The instant in (``begin``, ``end``] at which the clocks change; None for no change."""
        if self._fixed:
            return None
        before = self._offset(begin)
        if self._offset(end) == before:
            return None
        while end - begin > 1:
            middle = (begin + end) // 2
            if self._offset(middle) == before:
                begin = middle
            else:
                end = middle
        return end

    def _count_ticks(self, begin: int, end: int) -> int:
        """The number of instants in (``begin``, ``end``]."""
        count = 0
        while begin < end:
            stop = end if self._fixed else min(end, begin + DAY_MS)
            change = self._clock_change(begin, stop)
            if change is not None:
                stop = change - 1
                count += self._latest_tick(change) == change
            offset = self._offset(begin)
            count += self._up_to(stop + offset) - self._up_to(begin + offset)
            begin = stop if change is None else change
        return count

    def _up_to(self, local: int) -> int:
        days, time_of_day = divmod(local, DAY_MS)
        return days * -(-DAY_MS // self._tick) + time_of_day // self._tick + 1


def floor_ms(at: float) -> int:
    """The latest whole millisecond up to ``at``; exact for a value made from milliseconds."""
    ms = round(at * 1000.0)
    return ms if ms / 1000.0 <= at else ms - 1
