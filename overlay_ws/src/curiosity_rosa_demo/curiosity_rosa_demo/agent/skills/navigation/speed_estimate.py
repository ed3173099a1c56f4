# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""How fast the rover drives and how tightly it turns, learned from what its motions did."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

OLD_ESTIMATE_WEIGHT = 0.5  # the weight of what was known before, against the new leg
GUESSED_RADIUS_M = 2.5  # linear.x 1.0 with angular.z 0.4, as the rover's own services ask for
MIN_RADIUS_M = 0.05
MIN_DISTANCE_M, MIN_ANGLE_RAD = 0.02, 0.005  # a first leg that does less has not moved the rover
MIN_MOVED_FRACTION = 0.2  # ... and a later one that does less than this part of what was expected


@dataclass
class SpeedEstimate:
    """Of one motion: ``speed`` in m/s, ``turn`` in rad/s in the direction that was asked for."""

    speed: float  # a guess at first
    turn: float
    seconds: float = 0.0  # that it was measured for; 0: it is a guess

    @property
    def is_known(self) -> bool:
        return self.seconds > 0.0

    def update(self, seconds: float, metres: float, radians: float) -> bool:
        """What a leg did. False when it hardly moved the rover: nothing is learned from that."""
        straight = self.turn == 0.0
        least_m = MIN_MOVED_FRACTION * self.speed * seconds if self.is_known else MIN_DISTANCE_M
        least_rad = MIN_MOVED_FRACTION * self.turn * seconds if self.is_known else MIN_ANGLE_RAD
        if metres < least_m or (not straight and radians < least_rad):
            return False
        before = OLD_ESTIMATE_WEIGHT * self.seconds
        self.speed = (self.speed * before + metres) / (before + seconds)
        if not straight:
            self.turn = (self.turn * before + radians) / (before + seconds)
        self.seconds = before + seconds
        return True


def turning_radius(paces: Iterable[SpeedEstimate]) -> float:
    """The widest arc of those that were measured, in metres."""
    known = [pace.speed / pace.turn for pace in paces if pace.is_known and pace.turn > 0.0]
    return max(MIN_RADIUS_M, *known) if known else GUESSED_RADIUS_M
