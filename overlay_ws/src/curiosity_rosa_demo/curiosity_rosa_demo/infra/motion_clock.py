# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The clock for motion deadlines."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any


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
