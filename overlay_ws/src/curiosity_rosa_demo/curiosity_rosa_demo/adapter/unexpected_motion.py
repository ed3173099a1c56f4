# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether the rover moves although nobody here set it going. Pure; times are steady seconds."""

from __future__ import annotations

from curiosity_rosa_demo.adapter.stop import Odometry
from curiosity_rosa_demo.infra.config.thresholds import MotionConfig


class UnexpectedMotion:
    def __init__(self, config: MotionConfig) -> None:
        self._config = config
        self._since: float | None = None
        self._seen_at = float('-inf')

    def record_odometry(self, odometry: Odometry, *, set_going: bool) -> None:
        self._seen_at = odometry.at
        if odometry.still:
            self._since = None
        elif not set_going and self._since is None:
            self._since = odometry.at

    def reset(self) -> None:
        """From now on the motion is somebody's, or is being stopped."""
        self._since = None

    def is_moving(self, now: float) -> bool:
        """Whether odometry, and a fresh one, says that it moves unasked."""
        fresh = now - self._seen_at <= self._config.odometry_max_age_s
        return self._since is not None and fresh

    def must_stop(self, now: float) -> bool:
        wakeup = self.next_wakeup(now)
        return wakeup is not None and now >= wakeup

    def next_wakeup(self, now: float) -> float | None:
        """When it will have moved for too long; None: it does not, or may, or nobody can tell."""
        if self._since is None or not self.is_moving(now) or not self._config.stop_unexpected:
            return None
        return self._since + self._config.settle_s
