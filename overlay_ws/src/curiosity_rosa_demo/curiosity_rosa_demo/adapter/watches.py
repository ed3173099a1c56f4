# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Watches: readings in, the reason to stop out, or ''. Pure; each reads the time of the step.

- ``ObstacleStop``: the scan shows an obstacle in the way, or a view that there was is lost.
- ``DriveWatch``: a drive that is stuck, slips or tilts, or whose odometry or driver falls silent.
- ``Settling``: the body still moves a little on wheels that stand. That is no reason to stop.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from enum import Enum
from itertools import pairwise
import math

from curiosity_rosa_demo.adapter.stop import is_still, Odometry
from curiosity_rosa_demo.domain.geometry import DIRECTIONS
from curiosity_rosa_demo.domain.models import ODOMETRY_SILENT, SLIPPING, STUCK, TILTED, VIEW_LOST
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
        self._limits, self._time = thresholds.obstacles, time
        self._latest = ViewState.NO_SCAN
        self._scan_at = -math.inf
        self._view_at: float | None = None  # of the newest view; None: no view to lose
        self._free_m: Mapping[str, float] = {}
        self._blocked: set[str] = set()

    @property
    def view(self) -> ViewState:
        if not self.enabled:
            return ViewState.OFF
        silent = self._time.simulated - self._scan_at > self._limits.scan_max_age_s
        return ViewState.NO_SCAN if silent else self._latest

    @property
    def free_m(self) -> dict[str, float | None] | None:
        """The free metres of each motion, None for one with nothing in its way; None without a
        view.
        """
        if self.view is not ViewState.AHEAD:
            return None
        return {name: m if math.isfinite(m) else None for name, m in self._free_m.items()}

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
            elif metres >= self._limits.clear_m:
                self._blocked.discard(motion)

    def forget(self) -> None:
        """The scan's publisher is gone: no view to wait for. What is blocked stays blocked."""
        self._view_at = None

    def refusal(self, motion: str, *, drives: bool = False) -> str:
        """Why ``motion`` may not start now, or the rover, which ``drives`` it, must stop; '' if
        it may go on.
        """
        if not self.enabled:
            return ''
        if motion in self._blocked:
            ways = ' or '.join(name for name in DIRECTIONS if name not in self._blocked)
            ways = f'{ways or "no motion"} leads past it'
            return RefusalCode.OBSTACLE.text(obstacle_m=self._free_m[motion], ways=ways)
        if not drives and self._view_at is not None and self.view is ViewState.NO_VIEW:
            self._view_at = None  # the rover starts blind, as it always does without a view
        seen_at, now = self._view_at, self._time.simulated
        lost = seen_at is not None and now - seen_at > self._limits.scan_max_age_s
        return VIEW_LOST if lost else ''


RAMP_S = 1.0
TILT_HYSTERESIS_RAD = 0.05
STILL_M, STILL_RAD = 0.02, 0.02  # a pose within these of another shows no motion
MIN_READINGS = 5  # in a window of slip, and of a leg
FAR_OFF = 0.25  # of the profile's figure
MIN_LEG_M = 0.5  # a leg of a navigation is 1 m long
MAX_RADIUS_M = 1000.0  # the greatest that a profile can say; a rover that drives straight on
HEARD = 3  # commands of a drive from which on their topic is watched
LONGER = 3.0  # times the longest pause so far: no silence of a driver that repeats slowly

Pose = tuple[float, float, float]  # x, y, yaw: metres, radians


def tilt_of(x: float, y: float, z: float, w: float) -> float | None:
    """Radians between the z axis of a body with this orientation and the vertical: from the
    rotation matrix of a quaternion, R33 = 1 - 2 (x^2 + y^2) / |q|^2. None: not a rotation.
    """
    norm = x * x + y * y + z * z + w * w
    if not math.isfinite(norm) or norm < 1e-6:
        return None
    return math.acos(max(-1.0, min(1.0, 1.0 - 2.0 * (x * x + y * y) / norm)))


class DriveWatch:
    """- Stuck: a motion was started, odometry is fresh, and for ``stuck_s`` it shows no motion.
    - Slip: over ``slip_s`` the mean speed of a motion is below ``1 - slip_limit`` of its expected
    speed. The demo's commands are wheel units, not metres per second. So the expected speed is the
    greatest mean over such a window in this run, or of ``move_forward`` at least ``forward_mps``.
    - Tilt: the angle between the body's z axis and the vertical is above ``tilt_limit_rad``. The
    rover is stopped, and refused until the angle is ``TILT_HYSTERESIS_RAD`` below the limit.
    - Odometry falls silent: nobody knows how far the rover drives. A warning follows after
    ``odometry_max_age_s``, a stop after ``odometry_stop_s``. The silence counts from the newest
    message whose speeds are numbers, or from the start of the drive if that is later: after a stop
    the rover may try again.
    A rover whose odometry was never heard drives without it.
    - A driver falls silent: the wheels keep their last command for ever. The demo's nodes repeat
    theirs, ``run_demo`` the Twist and ``move_wheel`` the speeds of the wheels: one that falls
    silent in mid-drive has died or hangs. It may be silent for ``driver_silence_s``, and for
    LONGER times its longest pause. A driver that does not repeat, or only HEARD - 1 times, is not
    watched. The silence counts until the newest odometry: a simulation that is held up holds up
    both.
    - A figure of the profile is wrong, or the rover is another one, when the last long enough leg
    of a motion shows one that differs by more than FAR_OFF. That stops nothing. The radius of an
    arc is its speed divided by its turn rate.

    The first ``RAMP_S`` of a motion count neither as slip nor for a figure: the wheels accelerate.
    All times are those of the simulator; silences are steady seconds, stretched if it is slow.
    """

    def __init__(self, thresholds: Thresholds, time: SimulatedTime) -> None:
        self._drive, self._config = thresholds.drive, thresholds.motion
        self._body, self._radius_m = thresholds.body, thresholds.obstacles.turn_radius_m
        self._time = time
        self.motion = ''  # '': none since the last standstill
        self.refusal = ''  # why a tilted rover may not start; '' if it may
        self._fastest = {'move_forward': self._drive.forward_mps}
        self._figures: dict[str, list[str]] = {}  # of the last leg that tells, by motion
        self._heard: tuple[float, float] | None = None  # the newest odometry: steady, simulated
        self._speeds: deque[tuple[float, float]] = deque()  # time, m/s
        self._leg: list[tuple[Pose, float, float]] = []  # of this motion: m/s, no sign; rad/s
        # The commands of a drive by topic: how many, the time of the newest, the longest pause.
        self._commands: dict[str, tuple[int, float, float]] = {}
        self.begin('', 0.0)

    def begin(self, motion: str, since: float) -> None:
        """The start call of ``motion`` is sent now, in a drive that began at ``since``, steady
        seconds. A repeated one changes nothing.
        """
        if motion == self.motion and motion:
            return
        if self.motion:
            self.end()  # of this leg; the drive goes on
        else:
            self._warned = False
            self._commands.clear()
        self.motion, self._since = motion, since
        self._began = self._progress_at = self._time.simulated  # of the newest reading of motion
        self._anchor: Pose | None = None  # where the rover was then
        self._speeds.clear()

    def end(self) -> None:
        """The rover stands, or is being stopped."""
        leg, self._leg = self._leg, []
        metres = sum(math.dist(a[:2], b[:2]) for (a, *_), (b, *_) in pairwise(leg))
        if metres >= MIN_LEG_M and len(leg) >= MIN_READINGS:
            self._figures[self.motion] = self._wrong_figures(leg)
        self.motion = ''

    def record(
        self, pose: Pose | None, speed: float, turn_rate: float, tilt_rad: float | None
    ) -> None:
        """An odometry message: m/s and rad/s of any sign. ``pose``, ``tilt_rad`` None: not
        finite.
        """
        now, limit = self._time.simulated, self._drive.tilt_limit_rad
        if math.isfinite(speed) and math.isfinite(turn_rate):
            self._heard = self._time.steady, now
        if tilt_rad is not None and limit > 0.0:
            is_tilted = tilt_rad > (limit - TILT_HYSTERESIS_RAD if self.refusal else limit)
            tilt, limit = math.degrees(tilt_rad), math.degrees(limit)
            told = f'{TILTED} of {tilt:.0f} degrees, limit {limit:.0f}'
            way_out = 'no motion until the rover stands more level'
            self.refusal = f'{told}: {way_out}' if is_tilted else ''
        if not self.motion:
            return
        if self._shows_motion(pose, speed, turn_rate):
            self._progress_at, self._anchor = now, pose
        elif self._anchor is None:
            self._anchor = pose
        if now - self._began < RAMP_S or not math.isfinite(speed):
            return
        self._speeds.append((now, abs(speed)))
        while now - self._speeds[0][0] > self._drive.slip_s:
            self._speeds.popleft()
        if pose is not None and math.isfinite(turn_rate):
            self._leg.append((pose, abs(speed), turn_rate))

    def record_command(self, topic: str) -> None:
        """A node has sent the rover's driver, or the wheels, a command."""
        now = self._time.steady
        total, at, longest_s = self._commands.get(topic, (0, now, 0.0))
        self._commands[topic] = total + 1, now, max(longest_s, now - at)

    def _shows_motion(self, pose: Pose | None, speed: float, turn_rate: float) -> bool:
        if not is_still(self._config, speed, turn_rate):
            return True
        if pose is None or self._anchor is None:
            return False
        x, y, yaw = self._anchor
        turned = math.remainder(pose[2] - yaw, math.tau)
        return math.hypot(pose[0] - x, pose[1] - y) > STILL_M or abs(turned) > STILL_RAD

    def stop_reason(self) -> str:
        """Why the rover must stop; '' if it may go on."""
        stop_s = self._config.odometry_stop_s
        is_silent = self._silence_s() >= self._time.stretched(stop_s)
        silent = f'{ODOMETRY_SILENT} for {stop_s:g} s' if is_silent else ''
        return self.refusal or self._stuck_or_slips() or silent

    def warning(self) -> str:
        """That odometry is silent, once in a silence; '' without one."""
        warn_s = self._config.odometry_max_age_s
        warned, self._warned = self._warned, self._silence_s() >= self._time.stretched(warn_s)
        is_news = self._warned and not warned
        return f'{ODOMETRY_SILENT} for {warn_s:g} s of a motion' if is_news else ''

    def driver_silence(self) -> str:
        """Which driver has fallen silent, after which nothing but zeros ends the motion; ''
        without one.
        """
        limit_s = self._config.driver_silence_s
        until = self._heard[0] if self._heard else self._time.steady
        for topic, (total, at, longest_s) in self._commands.items():
            allowed_s = max(self._time.stretched(limit_s), LONGER * longest_s)
            if limit_s > 0.0 and total >= HEARD and until - at >= allowed_s:
                return RefusalCode.DRIVER_FELL_SILENT.text(topic=topic, seconds=until - at)
        return ''

    def _silence_s(self) -> float:
        """Of odometry in this drive; below 0: it was never heard, or nobody watches it."""
        if self._heard is None or self._config.odometry_stop_s <= 0.0:
            return -1.0
        return self._time.steady - max(self._heard[0], self._since)

    def _stuck_or_slips(self) -> str:
        now, max_age_s = self._time.simulated, self._config.odometry_max_age_s
        if not self.motion or self._heard is None or now - self._heard[1] > max_age_s:
            return ''
        stuck_s = self._drive.stuck_s
        if stuck_s > 0.0 and now - max(self._began, self._progress_at) >= stuck_s:
            return f'{STUCK}: odometry shows no motion for {stuck_s:g} s of {self.motion}'
        window = self._speeds
        covered = window and now - self._began >= RAMP_S + self._drive.slip_s
        if self._drive.slip_limit <= 0.0 or not covered or len(window) < MIN_READINGS:
            return ''
        mean = math.fsum(speed for _, speed in window) / len(window)
        expected = self._fastest.get(self.motion, 0.0)
        if mean >= expected:
            self._fastest[self.motion] = mean
            return ''
        slip = 1.0 - mean / expected
        if slip <= self._drive.slip_limit:
            return ''
        return (
            f'{SLIPPING} of {slip:.0%}: {mean:.2f} instead of {expected:.2f} m/s for '
            f'{self._drive.slip_s:g} s of {self.motion}'
        )

    def wrong_figures(self) -> list[str]:
        """Each figure of the profile that is far off, with its key and the measured value."""
        return [text for texts in self._figures.values() for text in texts]

    def _wrong_figures(self, leg: list[tuple[Pose, float, float]]) -> list[str]:
        way, turn = sum(speed for _, speed, _ in leg), sum(rate for _, _, rate in leg)
        speed = way / len(leg)
        if DIRECTIONS[self.motion] == 0:
            told = [(speed, 'm/s', 'body.forward_mps', self._body.forward_mps)]
        else:
            radius_m = min(way / max(abs(turn), 1e-9), MAX_RADIUS_M)
            told = [
                (speed, 'm/s', 'body.turn_mps', self._body.turn_mps),
                (radius_m, 'm of radius', 'obstacles.turn_radius_m', self._radius_m),
            ]
        return [
            f'{self.motion} measures {measured:.3g} {unit}, the profile says {figure:.3g}: '
            f'correct thresholds.{key} in it'
            for measured, unit, key, figure in told
            if abs(measured - figure) > FAR_OFF * figure
        ]


class Settling:
    """A suspension rocks after a stop, and a free bogie may fold for seconds. Nobody commands that
    motion and no zero Twist ends it. It settles for at most ``settling_max_s`` and moves by at
    most ``settling_way_m``, counted from its first reading until the body has stood for
    ``settle_s``. A wheel that turns, a body that moves much, a reading that is old or not a
    number: none of them settles.
    """

    def __init__(self, config: MotionConfig, joint_max_age_s: float, time: SimulatedTime) -> None:
        self._config, self._joint_max_age_s, self._time = config, joint_max_age_s, time
        self._wheels = -math.inf, math.nan  # time, rad/s of the fastest
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
        at, fastest_radps = self._wheels
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
