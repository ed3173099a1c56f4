# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A stop of joints that a trajectory moves: they are told to hold where they are, again and again,
until they stand still. Goals of an action are cancelled even without joint states. Pure; angles
are radians, times seconds of the simulation's clock.
"""

from __future__ import annotations

import math

from curiosity_rosa_demo.adapter.joint_motion import JointReading

REPEAT_S = 0.5  # between two commands to hold
SETTLE_S = 0.5  # in which joints that stand still differ by at most STILL_RAD
STILL_RAD = 0.005


class JointHold:
    """``max_age_s``: of a reading whose angles may be held. ``can_cancel``: the joints move by
    the goals of an action.
    """

    def __init__(self, max_age_s: float, *, can_cancel: bool = False) -> None:
        self._max_age_s, self._can_cancel = max_age_s, can_cancel
        self._sent_at: float | None = None
        self._cancelled_at: float | None = None  # without a reading
        self._still_from: JointReading | None = None  # the first reading of the standstill
        self.is_done = False

    def record(self, reading: JointReading) -> None:
        if self._sent_at is None or reading.at < self._sent_at:
            return
        first = self._still_from
        if first is None or not reading.near(first.angles, STILL_RAD):
            self._still_from = reading
        elif reading.at - first.at >= SETTLE_S:
            self.is_done = True

    def take_due(self, reading: JointReading | None, now: float) -> tuple[float, ...] | None:
        """The angles to hold, which the caller sends now; none: only cancel the goals. None:
        nothing is due.
        """
        wakeup = self.next_wakeup(reading, now)
        if wakeup is None or now < wakeup:
            return None
        if reading is None or self.problem(reading, now):
            self._cancelled_at = now
            return ()
        self._sent_at = now
        return reading.angles

    def problem(self, reading: JointReading | None, now: float) -> str:
        """Why the joints cannot be held; '' if they can."""
        if reading is None or now - reading.at > self._max_age_s:
            return 'no joint states'
        return '' if all(map(math.isfinite, reading.angles)) else 'an angle is not a number'

    def next_wakeup(self, reading: JointReading | None, now: float) -> float | None:
        """The time of the next command; None: nothing can be sent."""
        silent = bool(self.problem(reading, now))
        if silent and not self._can_cancel:
            return None
        last = self._cancelled_at if silent else self._sent_at
        return now if last is None else last + REPEAT_S
