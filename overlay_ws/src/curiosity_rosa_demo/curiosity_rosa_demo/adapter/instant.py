# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The time of one step of the adapter's rules. Pure: the clocks are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class RosTime(Protocol):
    nanoseconds: int


class RosClock(Protocol):
    """The part of rclpy's clock that the rules need."""

    @property
    def ros_time_is_active(self) -> bool: ...

    def now(self) -> RosTime: ...


class Instant:
    """The time of a step: the steady and the ROS clock, read together. Without simulated time the
    ROS clock shows the steady one.
    """

    def __init__(self, steady: Callable[[], float], ros_clock: RosClock) -> None:
        self._steady, self._ros_clock = steady, ros_clock
        self.read()

    def read(self) -> None:
        self._now = self._steady()
        self.ros_time_is_active = bool(self._ros_clock.ros_time_is_active)
        is_active = self.ros_time_is_active
        self.nanoseconds = int(self._ros_clock.now().nanoseconds if is_active else self._now * 1e9)

    def __call__(self) -> float:
        """Steady seconds."""
        return self._now

    def now(self) -> RosTime:
        return self

    @property
    def ros_ns(self) -> int | None:
        return self.nanoseconds if self.ros_time_is_active else None
