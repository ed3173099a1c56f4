# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A stop, from its request to the confirmed standstill of the rover. Pure.

``/move_stop`` is called at once. If it does not answer in time, or the rover keeps moving, zero
Twists are due until odometry reports standstill, and the call is retried at a slow rate. Another
publisher may keep sending its own Twist, and a reading between the two can report standstill. So
the zero Twists pause for a probe: they have worked only if the rover stays still without them.
A stop whose rover settles waits: it is confirmed when odometry reports standstill.
Times are steady seconds. Those that count readings of odometry are stretched in a slow
simulation, which publishes it more seldom.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from curiosity_rosa_demo.infra.clocks import SimulatedTime
from curiosity_rosa_demo.infra.config.limits import MotionConfig

TWIST_PERIOD_S = 0.01  # ten zero Twists for each one that the demo repeats
UNSEEN_TWIST_PERIOD_S = 0.05  # after stop_confirm_s without odometry: the rover may be absent
FIRST_RECALL_S, LONGEST_RECALL_S = 0.1, 1.0  # between two tries of the call
FIRST_PROBE_S, LONGEST_FLOOD_S = 0.2, 8.0  # duration of the zero Twists before a probe
PROBE_S = 0.35  # duration of a probe: three readings at 10 Hz
STANDSTILL_S = 0.19  # three readings at 10 Hz: another publisher may move the rover between two
CHECK_S = 0.1  # longest time between two calls of advance


class Odometry(NamedTuple):
    """The newest odometry: when it arrived, whether it reports standstill, metres per second and
    radians per second without sign.
    """

    at: float
    still: bool
    speed: float = 0.0
    turn_rate: float = 0.0


def is_still(config: MotionConfig, speed: float, turn_rate: float) -> bool:
    """Whether m/s and rad/s of any sign are a standstill; what is not a number is none."""
    return abs(speed) <= config.still_speed_mps and abs(turn_rate) <= config.still_turn_radps


class Stop:
    """``fresh``: the newest odometry, None if it is old. ``settles``: it shows a body that settles
    on standing wheels, whose motion no zero Twist ends.
    """

    def __init__(self, config: MotionConfig, timed_out: str, time: SimulatedTime) -> None:
        """``timed_out``: the failure of a call without an answer."""
        self._config, self._timed_out, self._time = config, timed_out, time
        self.failure = ''  # the reason for the zero Twists
        self._call_deadline = self._recall_at = math.inf
        self._recall_after = FIRST_RECALL_S
        self._flood_since: float | None = None
        self._flood_for = FIRST_PROBE_S
        self._twist_at = math.inf  # next zero Twist
        self._moved_on = False  # odometry has shown that the stop did not end its motion
        # The begin of the motion that the stop should have ended, or of the stop if later.
        self._runs_since = self._moved_at = time.steady
        self.again()

    def again(self) -> None:
        """A second request extends no time-out of an unanswered call, and interrupts no zero
        Twists.
        """
        self._call_due = True
        self._answered_at: float | None = None
        self._still_since: float | None = None  # the first of the readings without motion
        self._probe_since: float | None = None
        self._twist_lost = False  # the last zero Twist was not published
        if self._flood_since is not None:
            self._flood_since = self._twist_at = self._time.steady
            self._recall_at = self._time.steady + self._recall_after

    @property
    def floods(self) -> bool:
        """Whether zero Twists are due, or were and are being probed."""
        return self._flood_since is not None

    def flood(self) -> None:
        """Begin the zero Twists, and schedule a retry of the call."""
        now = self._time.steady
        self._call_deadline, self._recall_at = math.inf, now + self._recall_after
        if self._flood_since is None:
            self._flood_since = self._twist_at = now

    def answered(self) -> None:
        self._call_deadline = self._recall_at = math.inf
        self._answered_at = self._time.steady

    def earlier_answered(self) -> None:
        """A call before the newest was answered: the rover serves its calls."""
        if self._call_deadline < math.inf:
            self._call_deadline = self._time.steady + self._config.stop_timeout_s

    def failed(self, reason: str) -> None:
        """The call failed, or did not end the motion."""
        self.failure = reason
        self.flood()

    def twist_lost(self) -> None:
        """The due zero Twist could not be published. It is due again after TWIST_PERIOD_S; the
        probe waits until one is published.
        """
        if self._flood_since is not None and self._probe_since is None:
            self._twist_at, self._twist_lost = self._time.steady + TWIST_PERIOD_S, True

    def next_wakeup(self) -> float:
        """Steady time in seconds by which to call ``advance`` again."""
        check_at = self._time.steady + CHECK_S
        return min(check_at, self._call_deadline, self._recall_at, self._twist_at)

    def is_complete(self, fresh: Odometry | None) -> bool:
        """Whether the rover is known to be still.

        After an answer: when later odometry reports standstill for STANDSTILL_S, or there is no
        fresh odometry and the last of it has not shown that the rover moves on. With zero Twists:
        when it reports standstill for PROBE_S without them.
        """
        if self._call_due:
            return False
        if fresh is None:
            return self._answered_at is not None and not self._moved_on
        if self._answered_at is not None and self._flood_since is None:
            since, wanted_s = self._still_since, STANDSTILL_S
        else:
            since, wanted_s = self._probe_since if fresh.still else None, PROBE_S
        return since is not None and fresh.at - since >= self._time.stretched(wanted_s)

    def advance(self, fresh: Odometry | None, *, settles: bool) -> tuple[bool, bool]:
        """Whether a call, and a zero Twist, is due now; each is returned once."""
        now, answered_at = self._time.steady, self._answered_at
        if answered_at is None or fresh is None or not fresh.still:
            self._still_since = None
        elif self._still_since is None and fresh.at >= answered_at:
            self._still_since = fresh.at
        if now >= self._call_deadline:
            self.failed(self._timed_out)
        if (
            answered_at is not None
            and self._flood_since is None
            and now - answered_at >= self._config.settle_s
            and fresh is not None
            and not (fresh.still or settles)
            and fresh.at >= answered_at
        ):
            self._moved_on = True
            self.failed('The rover moves on although /move_stop answered')
        if now >= self._recall_at:
            self._recall_after = min(2 * self._recall_after, LONGEST_RECALL_S)
            self._call_due, self._recall_at = True, now + self._recall_after
        call, self._call_due = self._call_due, False
        if call and self._flood_since is None and self._call_deadline == math.inf:
            self._call_deadline = now + self._config.stop_timeout_s
        return call, self._is_twist_due(now, fresh)

    def runs_away(self, fresh: Odometry | None, *, settles: bool) -> bool:
        """Whether the rover still moves when the stop should have ended its motion. Zero Twists
        can make single readings report standstill; only settle_s without motion begins a new one.
        Both times are stretched in a slow simulation, whose rover brakes and reports more slowly.
        A body that settles begins the bound anew: zero Twists follow only when it goes on.
        """
        if fresh is None or fresh.still:
            return False
        gap_s = self._time.stretched(self._config.settle_s)
        if settles or fresh.at - self._moved_at >= gap_s:
            self._runs_since = fresh.at
        self._moved_at = fresh.at
        bound_s = self._time.stretched(self._config.stop_timeout_s + self._config.settle_s)
        runs_away = not settles and fresh.at - self._runs_since >= bound_s
        self._moved_on = self._moved_on or runs_away
        return runs_away

    def _is_twist_due(self, now: float, fresh: Odometry | None) -> bool:
        if self._flood_since is None:
            return False
        stands_at = fresh.at if fresh is not None and fresh.still else None
        if self._probe_since is not None:
            if stands_at is not None:
                return False
            # The rover moves again or odometry is lost: double the time before the next probe.
            self._probe_since, self._flood_since, self._twist_at = None, now, now
            self._flood_for = min(2 * self._flood_for, LONGEST_FLOOD_S)
        elif (
            stands_at is not None
            and stands_at - self._flood_since >= self._time.stretched(self._flood_for)
            and not self._twist_lost
        ):
            self._probe_since, self._twist_at = now, math.inf
            return False
        if now < self._twist_at:
            return False
        self._twist_lost = False
        unseen = fresh is None and now - self._flood_since > self._config.stop_confirm_s
        self._twist_at = now + (UNSEEN_TWIST_PERIOD_S if unseen else TWIST_PERIOD_S)
        return True


def motion_text(speed: float, wheels_stand: bool | None) -> str:
    """What moves after a stop, the body alone or the wheels; metres per second. ``wheels_stand``:
    None if joint states do not show it.
    """
    if wheels_stand is None:
        return f'still moving at {speed:.2f} m/s'
    if wheels_stand:
        return f'the wheels stand, the body still moves at {speed:.2f} m/s'
    return f'the wheels still turn, the rover moves at {speed:.2f} m/s'
