# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Watches of a drive: readings in, the reason to stop out, or ''."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
import math

from curiosity_rosa_demo.adapter.stop import Odometry
from curiosity_rosa_demo.domain.geometry import DIRECTIONS
from curiosity_rosa_demo.domain.models import obstacle_ahead, ODOMETRY_SILENT, VIEW_LOST
from curiosity_rosa_demo.infra.config.limits import MotionConfig, Thresholds
from curiosity_rosa_demo.infra.obstacles import ObstacleView

# -----------------------------------------------------------------------------------------------
# The rule that stops the rover before an obstacle. Pure: no ROS, no threads, an injected clock
#
# - A motion is blocked when its corridor is free for less than ``obstacle_stop_m``, and stays
# blocked until a scan with a view shows at least ``clear_m``: a return at the limit never flaps.
# - A blocked motion is stopped and refused. Another motion, whose arc leads past, is allowed.
# - Without a view ahead (no scan, no transform, or rays that do not cross the corridor) the rule
# says nothing: the demo's lidar looks up while the mast is stowed, and its rover drives blind.
# - A rover that had a view and loses it for ``scan_max_age_s`` is stopped. It starts again with
# the next view; after a scan that arrives without one; or once the scan has no publisher
# (``forget``).


class ViewState(str, Enum):
    """What the adapter knows of the rover's way; ``obstacle_view`` of its status."""

    OFF = 'off'  # obstacle_stop_m is 0
    NO_SCAN = 'no scan'
    NO_TRANSFORM = 'no transform of the scan'
    NO_VIEW = 'no view ahead'
    AHEAD = 'ahead'


class ObstacleStop:
    """The caller holds one lock around all methods. Distances in metres, times in seconds."""

    def __init__(self, thresholds: Thresholds, clock: Callable[[], float]) -> None:
        self._stop_m = thresholds.telemetry.obstacle_stop_m
        self._clear_m = thresholds.obstacles.clear_m
        self._max_age_s = thresholds.obstacles.scan_max_age_s
        self._clock = clock
        self._latest = ViewState.NO_SCAN
        self._scan_at = -math.inf
        self._view_at: float | None = None  # of the newest view; None: no view to lose
        self._free_m: dict[str, float] = {}
        self._blocked: set[str] = set()

    @property
    def enabled(self) -> bool:
        return self._stop_m > 0.0

    @property
    def view(self) -> ViewState:
        if not self.enabled:
            return ViewState.OFF
        silent = self._clock() - self._scan_at > self._max_age_s
        return ViewState.NO_SCAN if silent else self._latest

    @property
    def ahead_m(self) -> float | None:
        """Free metres straight ahead; None without a view or without an obstacle."""
        free_m = self._free_m.get('move_forward', math.inf)
        return free_m if self.view is ViewState.AHEAD and math.isfinite(free_m) else None

    @property
    def free_m(self) -> dict[str, float | None] | None:
        """The free metres of each motion, None for one with nothing in its way; None without a
        view.
        """
        if self.view is not ViewState.AHEAD:
            return None
        return {name: m if math.isfinite(m) else None for name, m in self._free_m.items()}

    @property
    def view_lost(self) -> bool:
        at = self._view_at
        return at is not None and self._clock() - at > self._max_age_s

    def record_scan(self, view: ObstacleView | None) -> None:
        """A scan has arrived. None: its frame has no transform to the base frame."""
        self._scan_at = self._clock()
        if view is None:
            self._latest = ViewState.NO_TRANSFORM
        elif not view.sees_ahead:
            self._latest = ViewState.NO_VIEW
        else:
            self._latest, self._view_at = ViewState.AHEAD, self._scan_at
            self._free_m = dict(view.free_m)
            for motion, free_m in view.free_m.items():
                if free_m < self._stop_m:
                    self._blocked.add(motion)
                elif free_m >= self._clear_m:
                    self._blocked.discard(motion)

    def forget(self) -> None:
        """The scan's publisher is gone: no view to wait for. What is blocked stays blocked."""
        self._view_at = None

    def refusal(self, motion: str) -> str:
        """Why ``motion`` may not start now; empty: it may."""
        if not self.enabled:
            return ''
        if motion in self._blocked:
            return self._obstacle_text(motion)
        if self.view is ViewState.NO_VIEW:
            self._view_at = None  # the rover starts blind, as it always does without a view
        return VIEW_LOST if self.view_lost else ''

    def stop_reason(self, motion: str) -> str:
        """Why the rover, driving ``motion``, must stop; empty: it may go on."""
        if not self.enabled:
            return ''
        if motion in self._blocked:
            return self._obstacle_text(motion)
        return VIEW_LOST if self.view_lost else ''

    def _obstacle_text(self, motion: str) -> str:
        ways_out = [name for name in DIRECTIONS if name not in self._blocked]
        return obstacle_ahead(self._free_m[motion], ways_out)


# -----------------------------------------------------------------------------------------------
# The rule for odometry that falls silent during a motion: a warning, then a stop. Pure
#
# Without odometry nobody knows how far the rover drives. The adapter warns after
# ``odometry_max_age_s`` and stops the motion after ``odometry_stop_s``. The silence counts from
# the newest message, or from the start of the motion if that is later: after a stop the rover may
# try again, for ``odometry_stop_s``. A rover whose odometry was never heard drives without it.
# Times are steady seconds; the two limits are stretched in a slow simulation.


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


# -----------------------------------------------------------------------------------------------
# Detection of a motion that the adapter did not start. Pure; times are steady seconds.


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


# -----------------------------------------------------------------------------------------------
# A body that still moves a little on wheels that stand: it settles. Pure; times are steady
# seconds.
#
# A suspension rocks after a stop, and a free bogie may fold for seconds. Nobody commands that
# motion and no zero Twist ends it. It settles for at most ``settling_max_s`` and moves by at most
# ``settling_way_m``, counted from its first reading until the body has stood for ``settle_s``. A
# wheel that turns, a body that moves much, a reading that is old or not a number: none of them
# settles.


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
