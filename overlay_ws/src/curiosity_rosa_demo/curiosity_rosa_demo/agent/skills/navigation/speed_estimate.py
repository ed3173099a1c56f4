# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Estimates of the speed and the turn rate of each motion, from its measured legs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

OLD_ESTIMATE_WEIGHT = 0.5  # weight of the earlier seconds against those of a new leg
MIN_RADIUS_M = 0.05
MIN_DISTANCE_M, MIN_ANGLE_RAD = 0.02, 0.005  # a leg below these did not move the rover
MIN_TELLING_S = 0.5  # a shorter leg of a motion that is not measured yet tells nothing
MIN_MOVED_FRACTION = 0.2  # of the estimate; a later leg below this hardly moved it


@dataclass
class SpeedEstimate:
    """One motion: ``speed`` in m/s, ``turn`` in rad/s in the commanded direction, 0.0 straight
    ahead. Its first ``start_s`` seconds pass before the rover moves.
    """

    speed: float  # a guess until the first update
    turn: float
    start_s: float
    seconds: float = 0.0  # weighted time of measurement; 0: a guess

    @property
    def is_known(self) -> bool:
        return self.seconds > 0.0

    def seconds_for(self, amount: float) -> float:
        """Seconds of a leg of ``amount``: metres straight ahead, radians of a turn."""
        return self.start_s + amount / (self.turn or self.speed)

    def update(self, seconds: float, metres: float, radians: float) -> bool:
        """Add a measured leg; ``seconds``: what it was asked to last. Returns False if the rover
        hardly moved, in a leg long enough to tell.

        A leg far below the estimate counts at least as much as all before, since the estimate may
        be the wrong one: a computer that stalls lets a leg last too long. A short first leg
        teaches nothing: the rover starts and stops for most of it.
        """
        seconds = max(seconds - self.start_s, self.start_s)
        if not self.is_known and seconds < MIN_TELLING_S:
            return True
        straight = self.turn == 0.0
        if metres < MIN_DISTANCE_M or (not straight and radians < MIN_ANGLE_RAD):
            return self._is_too_short(seconds)
        moved = not self.is_known or (
            metres >= MIN_MOVED_FRACTION * self.speed * seconds
            and (straight or radians >= MIN_MOVED_FRACTION * self.turn * seconds)
        )
        old_s = OLD_ESTIMATE_WEIGHT * self.seconds
        old_s = old_s if moved else min(old_s, seconds)
        self.speed = (self.speed * old_s + metres) / (old_s + seconds)
        if not straight:
            self.turn = (self.turn * old_s + radians) / (old_s + seconds)
        self.seconds = old_s + seconds
        return moved

    def _is_too_short(self, seconds: float) -> bool:
        """Whether a leg of this time moves a sound rover less than can be told from noise."""
        short = self.speed * seconds < MIN_DISTANCE_M
        turns_little = 0.0 < self.turn * seconds < MIN_ANGLE_RAD
        return self.is_known and (short or turns_little)


def turning_radius(estimates: Iterable[SpeedEstimate]) -> float | None:
    """The largest measured radius in metres; None before the first measured turn."""
    known = [each.speed / each.turn for each in estimates if each.is_known and each.turn > 0.0]
    return max(MIN_RADIUS_M, *known) if known else None
