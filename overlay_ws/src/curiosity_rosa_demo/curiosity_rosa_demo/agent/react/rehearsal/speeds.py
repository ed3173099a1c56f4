# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""The speeds of the rover's motions, from those that it has driven. Thread-safe."""

from __future__ import annotations

from collections.abc import Mapping
import math
import threading

from curiosity_rosa_demo.agent.skills.navigation.speed_estimate import SpeedEstimate
from curiosity_rosa_demo.domain.dead_reckoning import DIRECTIONS, MotionSpeeds
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.trace.reporter import finite_float

MIN_SECONDS = 1.0  # a shorter motion is more start and stop than speed
MAX_TURN_RAD = 5.0  # near a whole circle the change of the heading is ambiguous


class MeasuredSpeeds:
    """Metres and radians in the world frame, seconds. Until a motion is measured: ``known``.
    ``start_s``: from the call of a motion until the rover moves.
    """

    def __init__(self, known: MotionSpeeds, start_s: float) -> None:
        self._lock = threading.Lock()
        self._straight = SpeedEstimate(known.straight, 0.0, start_s)
        self._arc = SpeedEstimate(known.arc, known.turn, start_s)

    def now(self) -> MotionSpeeds:
        with self._lock:
            return MotionSpeeds(self._straight.speed, self._arc.speed, self._arc.turn)

    def learn(self, name: str, before: Mapping[str, object], result: ToolResult) -> None:
        """Add a motion that ended well. ``before``: the facts at its start."""
        side, data = DIRECTIONS[name], result.data
        seconds, metres = (
            finite_float(data.get('duration_s')),
            finite_float(data.get('distance_m')),
        )
        if not result.ok or seconds is None or metres is None or seconds < MIN_SECONDS:
            return
        if side == 0:
            with self._lock:
                self._straight.update(seconds, metres, 0.0)
            return
        begin, end = finite_float(before.get('yaw_rad')), finite_float(data.get('yaw_rad'))
        if begin is None or end is None:
            return
        turned = (side * (end - begin)) % math.tau
        with self._lock:
            if 0.0 < turned < MAX_TURN_RAD and self._arc.turn * seconds < MAX_TURN_RAD:
                self._arc.update(seconds, metres, turned)
