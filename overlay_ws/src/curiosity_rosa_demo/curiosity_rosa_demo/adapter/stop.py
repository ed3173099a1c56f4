# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One stop, from its request to the confirmed standstill of the rover. Pure.

``/move_stop`` is called at once. If it does not answer in time, or the rover keeps moving, zero
Twists are due until odometry reports standstill, and the call is retried at a slow rate. Another
publisher may keep sending its own Twist, and a reading between the two can report standstill. So
the zero Twists pause for a probe: they have worked only if the rover stays still without them.
A stop whose rover settles waits: it is confirmed when odometry reports standstill.
Times are seconds of a steady clock. Those that count readings of odometry are stretched in a slow
simulation, which publishes it more seldom.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from curiosity_rosa_demo.domain.models import STOP_NOT_CONFIRMED
from curiosity_rosa_demo.infra.config.limits import MotionConfig

TWIST_PERIOD_S = 0.01  # ten zero Twists for each one that the demo repeats
UNSEEN_TWIST_PERIOD_S = 0.05  # after stop_confirm_s without odometry: the rover may be absent
FIRST_RECALL_S, LONGEST_RECALL_S = 0.1, 1.0  # between two tries of the call
FIRST_PROBE_S, LONGEST_FLOOD_S = 0.2, 8.0  # duration of the zero Twists before a probe
PROBE_S = 0.35  # duration of a probe: three readings at 10 Hz
STANDSTILL_S = 0.19  # three readings at 10 Hz: another publisher may move the rover between two
CHECK_S = 0.1  # longest time between two calls of advance


@dataclass(frozen=True)
class Odometry:
    """The newest odometry: when it arrived, whether it reports standstill, metres per second and
    radians per second without sign.
    """

    at: float
    still: bool
    speed: float = 0.0
    turn_rate: float = 0.0


@dataclass(frozen=True)
class StopDue:
    call: bool = False
    twist: bool = False


class StopProcedure:
    def __init__(
        self,
        config: MotionConfig,
        timed_out: str,
        *,
        now: float,
        stretched: Callable[[float], float],
        before: StopProcedure | None = None,
    ) -> None:
        """``stretched``: the steady seconds in which that many simulated seconds pass."""
        self._config, self._timed_out, self._stretched = config, timed_out, stretched
        self.failure = ''  # the reason for the zero Twists
        self._call_due = True
        self._call_deadline: float | None = None
        self._recall_at: float | None = None
        self._recall_after = FIRST_RECALL_S
        self._answered_at: float | None = None
        self._still_since: float | None = None  # the first of the readings without motion
        self._flood_since: float | None = None
        self._flood_for = FIRST_PROBE_S
        self._probe_since: float | None = None
        self._twist_at: float | None = None  # next zero Twist; None: not due now
        self._twist_lost = False  # the last zero Twist was not published
        if before is not None:
            # A second request does not extend the time-out of an unanswered call.
            self._call_deadline = before._call_deadline
        if before is not None and before._flood_since is not None:
            # A second request does not interrupt the zero Twists.
            self._flood_since, self._twist_at = now, now
            self._flood_for, self.failure = before._flood_for, before.failure
            self._recall_after = before._recall_after
            self._recall_at = now + self._recall_after

    def answered(self, now: float) -> None:
        self._call_deadline = self._recall_at = None
        self._answered_at = now

    def earlier_answered(self, now: float) -> None:
        """A call before the newest was answered: the rover serves its calls."""
        if self._call_deadline is not None:
            self._call_deadline = now + self._config.stop_timeout_s

    def failed(self, now: float, reason: str) -> None:
        """The call failed: begin the zero Twists and schedule a retry."""
        self.failure = reason
        self._call_deadline, self._recall_at = None, now + self._recall_after
        if self._flood_since is None:
            self._flood_since = self._twist_at = now

    def twist_lost(self, now: float) -> None:
        """The due zero Twist could not be published. It is due again after TWIST_PERIOD_S; the
        probe waits until one is published.
        """
        if self._flood_since is not None and self._probe_since is None:
            self._twist_at, self._twist_lost = now + TWIST_PERIOD_S, True

    def next_wakeup(self, now: float) -> float:
        """Steady time in seconds by which to call ``advance`` again."""
        marks = (self._call_deadline, self._recall_at, self._twist_at)
        return min([now + CHECK_S, *(mark for mark in marks if mark is not None)])

    def is_complete(self, now: float, odometry: Odometry | None) -> bool:
        """Whether the rover is known to be still.

        After an answer: when later odometry reports standstill for STANDSTILL_S, or there is no
        fresh odometry. With zero Twists: when it reports standstill for PROBE_S without them.
        """
        if self._call_due:
            return False
        fresh = self.fresh(odometry, now)
        if self._answered_at is not None and fresh is None:
            return True
        if self._answered_at is not None and self._flood_since is None:
            since = self._still_since
            standstill_s = self._stretched(STANDSTILL_S)
            return since is not None and fresh is not None and fresh.at - since >= standstill_s
        return self._stays_still(fresh)

    def advance(self, now: float, odometry: Odometry | None, *, settles: bool = False) -> StopDue:
        """The commands that are due now; each is returned once. ``settles``: the newest readings
        show a body that settles on standing wheels. No zero Twist ends that motion.
        """
        fresh = self.fresh(odometry, now)
        self._watch_standstill(fresh)
        if self._call_deadline is not None and now >= self._call_deadline:
            self.failed(now, self._timed_out)
        if not settles and self._moves_on(now, fresh):
            self.failed(now, 'The rover moves on although /move_stop answered')
        if self._recall_at is not None and now >= self._recall_at:
            self._recall_after = min(2 * self._recall_after, LONGEST_RECALL_S)
            self._call_due, self._recall_at = True, now + self._recall_after
        call, self._call_due = self._call_due, False
        if call and self._flood_since is None and self._call_deadline is None:
            self._call_deadline = now + self._config.stop_timeout_s
        return StopDue(call=call, twist=self._is_twist_due(now, fresh))

    def _moves_on(self, now: float, fresh: Odometry | None) -> bool:
        """Whether a reading after the answer, settle_s after it, still shows a motion."""
        return (
            self._answered_at is not None
            and self._flood_since is None
            and now - self._answered_at >= self._config.settle_s
            and fresh is not None
            and not fresh.still
            and fresh.at >= self._answered_at
        )

    def _watch_standstill(self, fresh: Odometry | None) -> None:
        if self._answered_at is None or fresh is None or not fresh.still:
            self._still_since = None
        elif self._still_since is None and fresh.at >= self._answered_at:
            self._still_since = fresh.at

    def fresh(self, odometry: Odometry | None, now: float) -> Odometry | None:
        """``odometry``; None if it is older than the configuration allows."""
        max_age_s = self._stretched(self._config.odometry_max_age_s)
        if odometry is None or now - odometry.at > max_age_s:
            return None
        return odometry

    def _stays_still(self, fresh: Odometry | None) -> bool:
        return (
            self._probe_since is not None
            and fresh is not None
            and fresh.still
            and fresh.at - self._probe_since >= self._stretched(PROBE_S)
        )

    def _is_twist_due(self, now: float, fresh: Odometry | None) -> bool:
        if self._flood_since is None:
            return False
        if self._probe_since is not None:
            if fresh is not None and fresh.still:
                return False
            # The rover moves again or odometry is lost: double the time before the next probe.
            self._probe_since, self._flood_since, self._twist_at = None, now, now
            self._flood_for = min(2 * self._flood_for, LONGEST_FLOOD_S)
        elif (
            fresh is not None
            and fresh.still
            and fresh.at - self._flood_since >= self._stretched(self._flood_for)
            and not self._twist_lost
        ):
            self._probe_since, self._twist_at = now, None
            return False
        if self._twist_at is not None and now < self._twist_at:
            return False
        self._twist_lost = False
        unseen = fresh is None and now - self._flood_since > self._config.stop_confirm_s
        self._twist_at = now + (UNSEEN_TWIST_PERIOD_S if unseen else TWIST_PERIOD_S)
        return True


# --- What a stop has achieved: its answer, and a motion that it does not end. Pure -------------


def motion_text(speed: float, wheels_stand: bool | None) -> str:
    """What moves after a stop, the body alone or the wheels; metres per second. ``wheels_stand``:
    None if joint states do not show it.
    """
    if wheels_stand is None:
        return f'still moving at {speed:.2f} m/s'
    if wheels_stand:
        return f'the wheels stand, the body still moves at {speed:.2f} m/s'
    return f'the wheels still turn, the rover moves at {speed:.2f} m/s'


def violation_text(moves: str, wheels_stand: bool | None, drivers: str | None) -> str:
    """The alarm for a motion that a stop does not end. ``moves``: the motion_text. ``drivers``:
    the names of foreign nodes that publish Twists, or ''; None: nobody has looked.
    """
    seen = [] if wheels_stand is None else [moves]
    if drivers:
        seen.append(f'Twists are also published by {drivers}')
    elif drivers is not None and not wheels_stand:
        seen.append('no other driver')
    details = f' ({"; ".join(seen)})' if seen else ''
    return f'The rover moves on although it was stopped{details}'


def unconfirmed_stop(odometry: Odometry | None, failure: str, wheels_stand: bool | None) -> str:
    """The answer of a stop without confirmed standstill. ``odometry`` is None unless it is fresh;
    ``failure`` is the reason why the call failed, or ''; ``wheels_stand`` as in motion_text.
    """
    if odometry is None:
        seen = 'no odometry'
    elif not odometry.still:
        seen = motion_text(odometry.speed, wheels_stand)
    else:
        seen = '' if failure else 'the rover has not stood still for long enough'
    return f'{STOP_NOT_CONFIRMED}: {"; ".join(filter(None, (seen, failure)))}'


class Runaway:
    """Detects that the rover still moves when a stop should have ended its motion. Zero Twists can
    make single readings report standstill; only settle_s without motion begins a new one. Both
    times are stretched in a slow simulation, whose rover brakes and reports more slowly. A body
    that settles begins the bound anew: zero Twists follow only when it goes on.
    """

    def __init__(
        self, config: MotionConfig, stretched: Callable[[float], float] = lambda seconds: seconds
    ) -> None:
        """``stretched``: the steady seconds in which that many simulated seconds pass."""
        self._stretched = stretched
        self._bound_s = config.stop_timeout_s + config.settle_s
        self._gap_s = config.settle_s
        self._since: float | None = None  # begin of the motion, or of the stop if later
        self._moved_at = 0.0

    def begin(self, now: float) -> None:
        """A stop was requested. A repeated request does not extend the bound."""
        if self._since is None:
            self._since = self._moved_at = now

    def end(self) -> None:
        """The rover stands still."""
        self._since = None

    def detected(self, odometry: Odometry | None, *, settles: bool = False) -> bool:
        """Whether this reading, the newest since ``begin``, shows a motion beyond the bound.
        ``settles``: of a body that settles on standing wheels.
        """
        if odometry is None or self._since is None or odometry.still:
            return False
        if settles:
            self._since = self._moved_at = odometry.at
            return False
        if odometry.at - self._moved_at >= self._stretched(self._gap_s):
            self._since = odometry.at
        self._moved_at = odometry.at
        return odometry.at - self._since >= self._stretched(self._bound_s)
