# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The clock for motion deadlines, and the watch that tells whether simulated time advances."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

NO_CLOCK = 'No simulated time'
NO_CLOCK_WAY_OUT = (
    'Run the simulation, remap /clock to its topic, or start with use_sim_time:=false'
)


class MotionClock:
    """A clock in seconds that advances at least as fast as the steady clock and the ROS clock.

    Simulated time determines the distance that a moving rover covers. It can run faster than wall
    time, jump, stop, and is zero before the first ``/clock``. Each reading therefore advances by
    the larger of the two advances: a jump can end a motion early, but nothing can prolong it.
    """

    def __init__(self, ros_clock: Any, steady: Callable[[], float] = time.monotonic) -> None:
        self._ros_clock, self._steady = ros_clock, steady
        self._last_ros, self._last_steady = self._ros(), steady()
        self._now = 0.0

    def _ros(self) -> float:
        return float(self._ros_clock.now().nanoseconds) * 1e-9

    def __call__(self) -> float:
        ros, steady = self._ros(), self._steady()
        self._now += max(ros - self._last_ros, steady - self._last_steady)
        self._last_ros, self._last_steady = ros, steady
        return self._now


class ClockWatch:
    """Tells whether ROS time advances. Without simulated time (``use_sim_time``) it always does.

    A simulated time that shows one value for longer than ``max_age_s`` steady seconds stands: the
    simulation is paused, it ended, or it never published. No motion can be timed by it. The
    result is as fresh as the time between two calls. Not thread-safe.
    """

    def __init__(
        self, ros_clock: Any, *, max_age_s: float, steady: Callable[[], float] = time.monotonic
    ) -> None:
        self._ros_clock, self._max_age_s, self._steady = ros_clock, max_age_s, steady
        self._last_ns: int | None = None
        self._changed_at = 0.0
        self._has_advanced = False

    def has_advanced(self) -> bool:
        """Whether time was seen to change since the construction; True without simulated time."""
        return not self._is_simulated() or (self._sample() or self._has_advanced)

    def problem(self) -> str:
        """Why no motion can be timed now, with the way out; '' while time advances."""
        if not self._is_simulated() or self._sample():
            return ''
        if self._steady() - self._changed_at <= self._max_age_s:
            return ''
        what = 'was never heard' if not self._last_ns else 'does not advance'
        return f'{NO_CLOCK}: use_sim_time is on and /clock {what}. {NO_CLOCK_WAY_OUT}'

    def _is_simulated(self) -> bool:
        if self._ros_clock.ros_time_is_active:
            return True
        self._last_ns = None
        return False

    def _sample(self) -> bool:
        """Read the clock. Returns whether it has changed since the last reading."""
        now_ns = int(self._ros_clock.now().nanoseconds)
        before, self._last_ns = self._last_ns, now_ns
        if before is None:
            self._changed_at = self._steady()  # the watch begins with its first reading
        if before is None or now_ns == before:
            return False
        self._changed_at, self._has_advanced = self._steady(), True
        return True
