# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Detection of a motion that the adapter did not start. Pure; times are steady seconds."""

from __future__ import annotations

from collections.abc import Callable

from curiosity_rosa_demo.adapter.stop import Odometry
from curiosity_rosa_demo.infra.config.thresholds import MotionConfig


class UnexpectedMotion:
    def __init__(
        self, config: MotionConfig, stretched: Callable[[float], float] = lambda seconds: seconds
    ) -> None:
        """``stretched``: the steady seconds in which that many simulated seconds pass. It applies
        to the age of odometry; ``settle_s`` stays steady.
        """
        self._config, self._stretched = config, stretched
        self._since: float | None = None
        self._seen_at = float('-inf')

    def record_odometry(self, odometry: Odometry, *, set_going: bool) -> None:
        self._seen_at = odometry.at
        if odometry.still:
            self._since = None
        elif not set_going and self._since is None:
            self._since = odometry.at

    def reset(self) -> None:
        """Forget the motion: the adapter has started one, or is stopping the rover."""
        self._since = None

    def is_moving(self, now: float) -> bool:
        """Whether fresh odometry reports a motion that the adapter did not start."""
        fresh = now - self._seen_at <= self._stretched(self._config.odometry_max_age_s)
        return self._since is not None and fresh

    def must_stop(self, now: float) -> bool:
        wakeup = self.next_wakeup(now)
        return wakeup is not None and now >= wakeup

    def next_wakeup(self, now: float) -> float | None:
        """The time at which the rover must be stopped.

        None: it does not move unexpectedly, odometry is stale, or ``stop_unexpected`` is off.
        """
        if self._since is None or not self.is_moving(now) or not self._config.stop_unexpected:
            return None
        return self._since + self._config.settle_s
