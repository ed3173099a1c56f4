# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Watches: readings in, the reason to stop out, or ''. Pure; each reads the time of the step.

- ``ObstacleStop``: the scan shows an obstacle in the way, or a view that there was is lost.
- ``OdometrySilence``: odometry falls silent during a motion.
- ``DriverSilence``: a node that drives the wheels falls silent during a motion.
- ``Settling``: the body still moves a little on wheels that stand. That is no reason to stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
import math
from typing import NamedTuple

from curiosity_rosa_demo.adapter.stop import Odometry
from curiosity_rosa_demo.domain.geometry import DIRECTIONS
from curiosity_rosa_demo.domain.models import ODOMETRY_SILENT, VIEW_LOST
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.clocks import SimulatedTime
from curiosity_rosa_demo.infra.config.limits import MotionConfig, Thresholds


class ViewState(str, Enum):
    """What the adapter knows of the rover's way; ``obstacle_view`` of its status."""

    OFF = 'off'  # obstacle_stop_m is 0
    NO_SCAN = 'no scan'
    NO_TRANSFORM = 'no transform of the scan'
    NO_VIEW = 'no view ahead'
    AHEAD = 'ahead'


class ObstacleStop:
    """- A motion is blocked when its corridor is free for less than ``obstacle_stop_m``, and stays
    blocked until a scan with a view shows at least ``clear_m``: a return at the limit never flaps.
    - A blocked motion is stopped and refused. Another motion, whose arc leads past, is allowed.
    - Without a view ahead (no scan, no transform, or rays that do not cross the corridor) the rule
    says nothing: the demo's lidar looks up while the mast is stowed, and its rover drives blind.
    - A rover that had a view and loses it for ``scan_max_age_s`` is stopped. It starts again with
    the next view; after a scan that arrives without one; or once the scan has no publisher
    (``forget``).
    """

    def __init__(self, thresholds: Thresholds, time: SimulatedTime) -> None:
        self._stop_m = thresholds.telemetry.obstacle_stop_m
        self.enabled = self._stop_m > 0.0
        self._clear_m = thresholds.obstacles.clear_m
        self._max_age_s = thresholds.obstacles.scan_max_age_s
        self._time = time
        self._latest = ViewState.NO_SCAN
        self._scan_at = -math.inf
        self._view_at: float | None = None  # of the newest view; None: no view to lose
        self._free_m: Mapping[str, float] = {}
        self._blocked: set[str] = set()

    @property
    def view(self) -> ViewState:
        if not self.enabled:
            return ViewState.OFF
        silent = self._time.simulated - self._scan_at > self._max_age_s
        return ViewState.NO_SCAN if silent else self._latest

    @property
    def ahead_m(self) -> float | None:
        """Free metres straight ahead; None without a view or without an obstacle."""
        return (self.free_m or {}).get('move_forward')

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
        return at is not None and self._time.simulated - at > self._max_age_s

    def record(self, sees_ahead: bool | None, free_m: Mapping[str, float]) -> None:
        """A scan has arrived, as ObstacleView tells it. None: its frame has no transform to the
        base frame.
        """
        self._scan_at = self._time.simulated
        if not sees_ahead:
            self._latest = ViewState.NO_TRANSFORM if sees_ahead is None else ViewState.NO_VIEW
            return
        self._latest, self._view_at = ViewState.AHEAD, self._scan_at
        self._free_m = free_m
        for motion, metres in free_m.items():
            if metres < self._stop_m:
                self._blocked.add(motion)
            elif metres >= self._clear_m:
                self._blocked.discard(motion)

    def forget(self) -> None:
        """The scan's publisher is gone: no view to wait for. What is blocked stays blocked."""
        self._view_at = None

    def refusal(self, motion: str) -> str:
        """Why ``motion`` may not start now; '' if it may."""
        waits = self._view_at is not None and motion not in self._blocked
        if waits and self.view is ViewState.NO_VIEW:
            self._view_at = None  # the rover starts blind, as it always does without a view
        return self.stop_reason(motion)

    def stop_reason(self, motion: str) -> str:
        """Why the rover, driving ``motion``, must stop; '' if it may go on."""
        if not self.enabled:
            return ''
        if motion in self._blocked:
            ways = ' or '.join(name for name in DIRECTIONS if name not in self._blocked)
            ways = f'{ways or "no motion"} leads past it'
            return RefusalCode.OBSTACLE.text(obstacle_m=self._free_m[motion], ways=ways)
        return VIEW_LOST if self.view_lost else ''


class OdometrySilence:
    """Without odometry nobody knows how far the rover drives: a warning after
    ``odometry_max_age_s``, a stop after ``odometry_stop_s``. The silence counts from the newest
    message, or from the start of the motion if that is later: after a stop the rover may try
    again, for ``odometry_stop_s``. A rover whose odometry was never heard drives without it. Both
    limits are stretched in a slow simulation.
    """

    def __init__(self, config: MotionConfig, time: SimulatedTime) -> None:
        self._config, self._time = config, time
        self._began: float | None = None  # the motion; None: the rover stands or is being stopped
        self._warned = False

    def end(self) -> None:
        """The rover stands, or is being stopped."""
        self._began, self._warned = None, False

    def check(self, heard_at: float | None) -> tuple[str, str]:
        """While the rover moves: a warning, once in a silence, and the reason to stop; '' for
        none. ``heard_at``: when the newest odometry came; None: never.
        """
        now = self._time.steady
        if self._began is None:
            self._began = now
        warn_s, stop_s = self._config.odometry_max_age_s, self._config.odometry_stop_s
        if heard_at is None or stop_s <= 0.0:
            return '', ''
        silent_s = min(now - heard_at, now - self._began)
        if silent_s >= self._time.stretched(stop_s):
            return '', f'{ODOMETRY_SILENT} for {stop_s:g} s; the rover was stopped'
        warned, self._warned = self._warned, silent_s >= self._time.stretched(warn_s)
        if self._warned and not warned:
            return f'{ODOMETRY_SILENT} for {warn_s:g} s of a motion', ''
        return '', ''


HEARD = 3  # commands of a drive from which on their topic is watched
LONGER = 3.0  # times the longest pause so far: no silence of a driver that repeats slowly


class _Commands(NamedTuple):
    """Those of a drive on one topic. ``longest_s``: the longest pause between two."""

    total: int
    at: float  # of the newest
    longest_s: float


class DriverSilence:
    """The wheels keep their last command for ever. The demo's nodes repeat theirs, ``run_demo``
    the Twist and ``move_wheel`` the speeds of the wheels: one that falls silent in mid-drive has
    died or hangs. It may be silent for ``driver_silence_s``, stretched in a slow simulation, and
    for LONGER times its longest pause. A driver that does not repeat, or only HEARD - 1 times, is
    not watched. The silence counts until the newest odometry: a simulation that is held up holds
    up both.
    """

    def __init__(self, config: MotionConfig, time: SimulatedTime) -> None:
        self._config, self._time = config, time
        self._heard: dict[str, _Commands] = {}  # by topic

    def end(self) -> None:
        """The rover stands, or is being stopped."""
        self._heard.clear()

    def record(self, topic: str) -> None:
        """A command of a drive has arrived."""
        now = self._time.steady
        total, at, longest_s = self._heard.get(topic, _Commands(0, now, 0.0))
        self._heard[topic] = _Commands(total + 1, now, max(longest_s, now - at))

    def stop_reason(self, heard_at: float | None) -> str:
        """Why the rover must stop; '' if it may go on. ``heard_at``: when the newest odometry
        came; None: never.
        """
        limit_s = self._config.driver_silence_s
        until = self._time.steady if heard_at is None else heard_at
        for topic, heard in self._heard.items():
            silent_s = until - heard.at
            longest_s = max(self._time.stretched(limit_s), LONGER * heard.longest_s)
            if limit_s > 0.0 and heard.total >= HEARD and silent_s >= longest_s:
                return RefusalCode.DRIVER_FELL_SILENT.text(topic=topic, seconds=silent_s)
        return ''


class Settling:
    """A suspension rocks after a stop, and a free bogie may fold for seconds. Nobody commands that
    motion and no zero Twist ends it. It settles for at most ``settling_max_s`` and moves by at
    most ``settling_way_m``, counted from its first reading until the body has stood for
    ``settle_s``. A wheel that turns, a body that moves much, a reading that is old or not a
    number: none of them settles.
    """

    def __init__(self, config: MotionConfig, joint_max_age_s: float, time: SimulatedTime) -> None:
        self._config, self._joint_max_age_s, self._time = config, joint_max_age_s, time
        self._wheels: tuple[float, float] | None = None  # time, rad/s of the fastest
        self._odometry: Odometry | None = None
        self._since: float | None = None
        self._moved_at = -math.inf
        self._way_m = 0.0  # since then: simulated speeds by steady seconds

    def record_wheels(self, fastest_radps: float) -> None:
        """The speed of the fastest wheel; NaN: not known."""
        self._wheels = (self._time.steady, fastest_radps)

    def record(self, odometry: Odometry, *, driving: bool) -> None:
        """``driving``: a motion was started and is not being stopped. It does not settle."""
        before, self._odometry = self._odometry, odometry
        if before is not None and self._since is not None:
            self._way_m += max(before.speed, odometry.speed) * (odometry.at - before.at)
        if driving:
            self._since = None
        elif odometry.still:
            if odometry.at - self._moved_at >= self._time.stretched(self._config.settle_s):
                self._since = None
        else:
            self._moved_at = odometry.at
            if self._since is None and self._moves_little(odometry) and self.wheels_stand:
                self._since, self._way_m = odometry.at, 0.0

    @property
    def wheels_stand(self) -> bool | None:
        """Whether all wheels stand; None: fresh joint states do not show it."""
        at, fastest_radps = self._wheels or (-math.inf, math.nan)
        old = self._time.steady - at > self._time.stretched(self._joint_max_age_s)
        if old or math.isnan(fastest_radps):
            return None
        return fastest_radps <= self._config.wheels_still_radps

    def goes_on(self, odometry: Odometry | None) -> bool:
        """Whether the newest readings show a body that settles, within its time. ``odometry``:
        the newest, None if it is old.
        """
        return (
            self._since is not None
            and self._time.steady - self._since < self._time.stretched(self._config.settling_max_s)
            and self._way_m < self._time.stretched(self._config.settling_way_m)
            and odometry is not None
            and not odometry.still
            and self._moves_little(odometry)
            and self.wheels_stand is True
        )

    def _moves_little(self, odometry: Odometry) -> bool:
        return (
            odometry.speed <= self._config.settling_speed_mps
            and odometry.turn_rate <= self._config.settling_turn_radps
        )
