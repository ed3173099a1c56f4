# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rule for odometry that falls silent during a motion: a warning, then a stop. Pure.

Without odometry nobody knows how far the rover drives. The adapter warns after
``odometry_max_age_s`` and stops the motion after ``odometry_stop_s``. The silence counts from the
newest message, or from the start of the motion if that is later: after a stop the rover may try
again, for ``odometry_stop_s``. A rover whose odometry was never heard drives without it.
Times are steady seconds; the two limits are stretched in a slow simulation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from curiosity_rosa_demo.domain.models import ODOMETRY_SILENT
from curiosity_rosa_demo.infra.config.thresholds import MotionConfig


@dataclass(frozen=True)
class SilenceDue:
    """Texts for the operator. ``warning`` is due once in a silence."""

    warning: str = ''
    stop_reason: str = ''


class OdometrySilence:
    def __init__(self, config: MotionConfig, stretched: Callable[[float], float]) -> None:
        """``stretched``: the steady seconds in which that many simulated seconds pass."""
        self._config, self._stretched = config, stretched
        self._began: float | None = None  # the motion; None: the rover stands or is being stopped
        self._warned = False

    def end(self) -> None:
        """The rover stands, or is being stopped."""
        self._began, self._warned = None, False

    def check(self, now: float, age_s: float | None) -> SilenceDue:
        """What is due while the rover moves. ``age_s``: of the newest odometry; None: never
        heard.
        """
        if self._began is None:
            self._began = now
        warn_s, stop_s = self._config.odometry_max_age_s, self._config.odometry_stop_s
        if age_s is None or stop_s <= 0.0:
            return SilenceDue()
        silent_s = min(age_s, now - self._began)
        if silent_s >= self._stretched(stop_s):
            reason = f'{ODOMETRY_SILENT} for {stop_s:g} s; the rover was stopped'
            return SilenceDue(stop_reason=reason)
        warned, self._warned = self._warned, silent_s >= self._stretched(warn_s)
        if self._warned and not warned:
            return SilenceDue(f'{ODOMETRY_SILENT} for {warn_s:g} s of a motion')
        return SilenceDue()
