# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The watch of a drive: stuck wheels, slip, tilt, and figures of the profile that are wrong. Pure.

- Stuck: a motion was started, odometry is fresh, and for ``stuck_s`` it shows no motion.
- Slip: over ``slip_s`` the mean speed of a motion is below ``1 - slip_limit`` of its expected
  speed. The demo's commands are wheel units, not metres per second. So the expected speed is the
  greatest mean over such a window in this run, or of ``move_forward`` at least ``forward_mps``.
- Tilt: the angle between the body's z axis and the vertical is above ``tilt_limit_rad``. The rover
  is stopped, and refused until the angle is ``TILT_HYSTERESIS_RAD`` below the limit.
- A figure of the profile is wrong, or the rover is another one, when the last long enough leg of a
  motion shows one that differs by more than FAR_OFF. That stops nothing. The radius of an arc is
  its speed divided by its turn rate.

The first ``RAMP_S`` of a motion count neither as slip nor for a figure: the wheels accelerate.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
import math

from curiosity_rosa_demo.domain.geometry import DIRECTIONS
from curiosity_rosa_demo.domain.models import SLIPPING, STUCK, TILTED
from curiosity_rosa_demo.infra.clocks import SimulatedTime
from curiosity_rosa_demo.infra.config.limits import Thresholds

RAMP_S = 1.0
TILT_HYSTERESIS_RAD = 0.05
STILL_M, STILL_RAD = 0.02, 0.02  # a pose within these of another shows no motion
MIN_READINGS = 5  # in a window of slip, and of a leg
FAR_OFF = 0.25  # of the profile's figure
MIN_LEG_M = 0.5  # a leg of a navigation is 1 m long
MAX_RADIUS_M = 1000.0  # the greatest that a profile can say; a rover that drives straight on

Pose = tuple[float, float, float]  # x, y, yaw: metres, radians


def tilt_of(x: float, y: float, z: float, w: float) -> float | None:
    """Radians between the z axis of a body with this orientation and the vertical: from the
    rotation matrix of a quaternion, R33 = 1 - 2 (x^2 + y^2) / |q|^2. None: not a rotation.
    """
    norm = x * x + y * y + z * z + w * w
    if not math.isfinite(norm) or norm < 1e-6:
        return None
    return math.acos(max(-1.0, min(1.0, 1.0 - 2.0 * (x * x + y * y) / norm)))


@dataclass
class _Leg:
    """Sums over the odometry of a motion: metres, m/s, rad/s."""

    last: Pose | None = None
    metres: float = 0.0
    readings: int = 0
    speed: float = 0.0
    turn_rate: float = 0.0

    def add(self, pose: Pose, speed: float, turn_rate: float) -> None:
        if self.last is not None:
            self.metres += math.dist(pose[:2], self.last[:2])
        self.last = pose
        self.readings += 1
        self.speed += abs(speed)
        self.turn_rate += turn_rate


class DriveWatch:
    """The caller holds one lock around all methods. Its time is that of the simulator."""

    def __init__(self, thresholds: Thresholds, time: SimulatedTime) -> None:
        self._drive, self._config = thresholds.drive, thresholds.motion
        self._body, self._radius_m = thresholds.body, thresholds.obstacles.turn_radius_m
        self._time = time
        self._motion = ''  # '': none since the last standstill
        self._began = 0.0
        self._progress_at = 0.0  # of the newest reading that showed motion
        self._anchor: Pose | None = None  # where the rover was then
        self._heard_at = -math.inf
        self._speeds: deque[tuple[float, float]] = deque()  # time, m/s
        self._fastest = {'move_forward': self._drive.forward_mps}
        self._tilt = 0.0
        self._tilted = False
        self._leg = _Leg()
        self._figures: dict[str, list[str]] = {}  # of the last leg that tells, by motion

    def begin(self, motion: str) -> None:
        """The start call of ``motion`` is sent now. A repeated one changes nothing."""
        if motion != self._motion:
            self.end()
            self._motion = motion
            self._began = self._progress_at = self._time.simulated
            self._anchor = None
            self._speeds.clear()

    def end(self) -> None:
        """The rover stands, or is being stopped."""
        leg, self._leg = self._leg, _Leg()
        if leg.metres >= MIN_LEG_M and leg.readings >= MIN_READINGS:
            self._figures[self._motion] = self._wrong_figures(leg)
        self._motion = ''

    def record(
        self, pose: Pose | None, speed: float, turn_rate: float, tilt_rad: float | None
    ) -> None:
        """An odometry message: m/s and rad/s of any sign. ``pose``, ``tilt_rad`` None: not
        finite.
        """
        now = self._heard_at = self._time.simulated
        limit = self._drive.tilt_limit_rad
        if tilt_rad is not None and limit > 0.0:
            self._tilt = tilt_rad
            self._tilted = tilt_rad > (limit - TILT_HYSTERESIS_RAD if self._tilted else limit)
        if self._shows_motion(pose, speed, turn_rate):
            self._progress_at, self._anchor = now, pose
        elif self._anchor is None:
            self._anchor = pose
        if not self._motion or now - self._began < RAMP_S or not math.isfinite(speed):
            return
        self._speeds.append((now, abs(speed)))
        while now - self._speeds[0][0] > self._drive.slip_s:
            self._speeds.popleft()
        if pose is not None and math.isfinite(turn_rate):
            self._leg.add(pose, speed, turn_rate)

    def _shows_motion(self, pose: Pose | None, speed: float, turn_rate: float) -> bool:
        config = self._config
        if not (
            abs(speed) <= config.still_speed_mps and abs(turn_rate) <= config.still_turn_radps
        ):
            return True
        if pose is None or self._anchor is None:
            return False
        x, y, yaw = self._anchor
        turned = math.remainder(pose[2] - yaw, math.tau)
        return math.hypot(pose[0] - x, pose[1] - y) > STILL_M or abs(turned) > STILL_RAD

    def refusal(self) -> str:
        """Why no motion may start now; '' if it may."""
        if not self._tilted:
            return ''
        tilt, limit = math.degrees(self._tilt), math.degrees(self._drive.tilt_limit_rad)
        return (
            f'{TILTED} of {tilt:.0f} degrees, limit {limit:.0f}: no motion until the rover stands '
            'more level'
        )

    def stop_reason(self) -> str:
        """Why the rover must stop; '' if it may go on."""
        reason = self.refusal() or self._stuck_or_slips()
        return f'{reason}; the rover was stopped' if reason else ''

    def _stuck_or_slips(self) -> str:
        now = self._time.simulated
        if not self._motion or now - self._heard_at > self._config.odometry_max_age_s:
            return ''
        stuck_s = self._drive.stuck_s
        if stuck_s > 0.0 and now - max(self._began, self._progress_at) >= stuck_s:
            return f'{STUCK}: odometry shows no motion for {stuck_s:g} s of {self._motion}'
        window = self._speeds
        covered = window and now - self._began >= RAMP_S + self._drive.slip_s
        if self._drive.slip_limit <= 0.0 or not covered or len(window) < MIN_READINGS:
            return ''
        mean = math.fsum(speed for _, speed in window) / len(window)
        expected = self._fastest.get(self._motion, 0.0)
        if mean >= expected:
            self._fastest[self._motion] = mean
            return ''
        slip = 1.0 - mean / expected
        if slip <= self._drive.slip_limit:
            return ''
        return (
            f'{SLIPPING} of {slip:.0%}: {mean:.2f} instead of {expected:.2f} m/s for '
            f'{self._drive.slip_s:g} s of {self._motion}'
        )

    def wrong_figures(self) -> list[str]:
        """Each figure of the profile that is far off, with its key and the measured value."""
        return [text for texts in self._figures.values() for text in texts]

    def _wrong_figures(self, leg: _Leg) -> list[str]:
        speed = leg.speed / leg.readings
        if DIRECTIONS[self._motion] == 0:
            told = [(speed, 'm/s', 'body.forward_mps', self._body.forward_mps)]
        else:
            radius_m = min(leg.speed / max(abs(leg.turn_rate), 1e-9), MAX_RADIUS_M)
            told = [
                (speed, 'm/s', 'body.turn_mps', self._body.turn_mps),
                (radius_m, 'm of radius', 'obstacles.turn_radius_m', self._radius_m),
            ]
        return [
            f'{self._motion} measures {measured:.3g} {unit}, the profile says {figure:.3g}: '
            f'correct thresholds.{key} in it'
            for measured, unit, key, figure in told
            if abs(measured - figure) > FAR_OFF * figure
        ]
