# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Flight rules of a drive: stuck wheels, slip and tilt. Pure: no ROS, no threads, a given clock.

- Stuck: a motion was started, odometry is fresh, and for ``stuck_s`` it shows no motion.
- Slip: over ``slip_s`` the mean speed of a motion is below ``1 - slip_limit`` of its expected
  speed. The demo's commands are wheel units, not metres per second. So the expected speed is the
  greatest mean over such a window in this run, or of ``move_forward`` at least ``forward_mps``.
- Tilt: the angle between the body's z axis and the vertical is above ``tilt_limit_rad``. The rover
  is stopped, and refused until the angle is ``TILT_HYSTERESIS_RAD`` below the limit.

The first ``RAMP_S`` of a motion do not count as slip: the wheels accelerate.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import math

from curiosity_rosa_demo.domain.models import SLIPPING, STUCK, TILTED
from curiosity_rosa_demo.infra.config.limits import DriveConfig, MotionConfig

RAMP_S = 1.0
TILT_HYSTERESIS_RAD = 0.05
STILL_M, STILL_RAD = 0.02, 0.02  # a pose within these of another shows no motion
MIN_READINGS = 5  # in a window of slip

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
    """The caller holds one lock around all methods. ``clock``: seconds for waits that depend on
    the simulator.
    """

    def __init__(
        self, drive: DriveConfig, motion: MotionConfig, clock: Callable[[], float]
    ) -> None:
        self._drive, self._config, self._clock = drive, motion, clock
        self._motion = ''  # '': none since the last standstill
        self._began = 0.0
        self._progress_at = 0.0  # of the newest reading that showed motion
        self._anchor: Pose | None = None  # where the rover was then
        self._heard_at = -math.inf
        self._speeds: deque[tuple[float, float]] = deque()  # time, m/s
        self._fastest = {'move_forward': drive.forward_mps}
        self._tilt = 0.0
        self._tilted = False

    def begin(self, motion: str) -> None:
        """The start call of ``motion`` is sent now. A repeated one changes nothing."""
        if motion != self._motion:
            self._motion = motion
            self._began = self._progress_at = self._clock()
            self._anchor = None
            self._speeds.clear()

    def end(self) -> None:
        """The rover stands, or is being stopped."""
        self._motion = ''

    def record(
        self, pose: Pose | None, speed: float, turn_rate: float, tilt_rad: float | None
    ) -> None:
        """An odometry message: m/s and rad/s of any sign. ``pose``, ``tilt_rad`` None: not
        finite.
        """
        now = self._heard_at = self._clock()
        limit = self._drive.tilt_limit_rad
        if tilt_rad is not None and limit > 0.0:
            self._tilt = tilt_rad
            self._tilted = tilt_rad > (limit - TILT_HYSTERESIS_RAD if self._tilted else limit)
        if self._shows_motion(pose, speed, turn_rate):
            self._progress_at, self._anchor = now, pose
        elif self._anchor is None:
            self._anchor = pose
        if self._motion and math.isfinite(speed) and now - self._began >= RAMP_S:
            self._speeds.append((now, abs(speed)))
            while now - self._speeds[0][0] > self._drive.slip_s:
                self._speeds.popleft()

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
        """Why no motion may start now; empty: it may."""
        return self._tilt_text() if self._tilted else ''

    def stop_reason(self) -> str:
        """Why the rover must stop; empty: it may go on."""
        if self._tilted:
            return f'{self._tilt_text()}; the rover was stopped'
        now = self._clock()
        if not self._motion or now - self._heard_at > self._config.odometry_max_age_s:
            return ''
        stuck_s = self._drive.stuck_s
        if stuck_s > 0.0 and now - max(self._began, self._progress_at) >= stuck_s:
            return (
                f'{STUCK}: odometry shows no motion for {stuck_s:g} s of {self._motion}; the '
                'rover was stopped'
            )
        return self._slip_text(now)

    def _slip_text(self, now: float) -> str:
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
            f'{self._drive.slip_s:g} s of {self._motion}; the rover was stopped'
        )

    def _tilt_text(self) -> str:
        limit = self._drive.tilt_limit_rad
        return (
            f'{TILTED} of {math.degrees(self._tilt):.0f} degrees, limit '
            f'{math.degrees(limit):.0f}: no motion until the rover stands more level'
        )
