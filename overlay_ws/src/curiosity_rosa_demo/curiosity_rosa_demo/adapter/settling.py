# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A body that still moves a little on wheels that stand: it settles. Pure; times are steady
seconds.

A suspension rocks after a stop, and a free bogie may fold for seconds. Nobody commands that
motion and no zero Twist ends it. It settles for at most ``settling_max_s`` and moves by at most
``settling_way_m``, counted from its first reading until the body has stood for ``settle_s``. A
wheel that turns, a body that moves much, a reading that is old or not a number: none of them
settles.
"""

from __future__ import annotations

from collections.abc import Callable

from curiosity_rosa_demo.adapter.stop import Odometry
from curiosity_rosa_demo.infra.config.thresholds import MotionConfig


class Settling:
    def __init__(
        self, config: MotionConfig, joint_max_age_s: float, stretched: Callable[[float], float]
    ) -> None:
        """``stretched``: the steady seconds in which that many simulated seconds pass."""
        self._config, self._joint_max_age_s, self._stretched = config, joint_max_age_s, stretched
        self._wheels: tuple[float, float] | None = None  # time, rad/s of the fastest
        self._odometry: Odometry | None = None
        self._since: float | None = None
        self._moved_at = float('-inf')
        self._way_m = 0.0  # since then: simulated speeds by steady seconds

    def record_wheels(self, fastest_radps: float, now: float) -> None:
        """The speed of the fastest wheel; NaN: not known."""
        self._wheels = (now, fastest_radps)

    def record_odometry(self, odometry: Odometry, *, driving: bool) -> None:
        """``driving``: a motion was started and is not being stopped. It does not settle."""
        before, self._odometry = self._odometry, odometry
        if before is not None and self._since is not None:
            self._way_m += max(before.speed, odometry.speed) * (odometry.at - before.at)
        if driving:
            self._since = None
        elif odometry.still:
            if odometry.at - self._moved_at >= self._stretched(self._config.settle_s):
                self._since = None
        else:
            self._moved_at = odometry.at
            if self._since is None and self._moves_little() and self.wheels_stand(odometry.at):
                self._since, self._way_m = odometry.at, 0.0

    def wheels_stand(self, now: float) -> bool | None:
        """Whether all wheels stand; None: fresh joint states do not show it."""
        if self._wheels is None:
            return None
        at, fastest_radps = self._wheels
        if now - at > self._stretched(self._joint_max_age_s) or fastest_radps != fastest_radps:
            return None
        return fastest_radps <= self._config.wheels_still_radps

    def goes_on(self, now: float) -> bool:
        """Whether the newest readings show a body that settles, within its time."""
        return (
            self._since is not None
            and now - self._since < self._stretched(self._config.settling_max_s)
            and self._way_m < self._stretched(self._config.settling_way_m)
            and self._odometry is not None
            and now - self._odometry.at <= self._stretched(self._config.odometry_max_age_s)
            and not self._odometry.still
            and self._moves_little()
            and self.wheels_stand(now) is True
        )

    def _moves_little(self) -> bool:
        odometry, config = self._odometry, self._config
        return (
            odometry is not None
            and odometry.speed <= config.settling_speed_mps
            and odometry.turn_rate <= config.settling_turn_radps
        )
