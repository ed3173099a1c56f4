# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The rover's body and its true manners, as measured. Pure: no ROS, no threads, a given clock.

Its figures are those of the product's thresholds; the constants here are manners that the product
need not know. All were measured with the demo's URDF and its own nodes in MuJoCo, on flat ground
(docs/reference/stand_in.md). The body has no timer: each command and each look computes the
state, exactly for a step of any length.

The wheels take a Twist at the next tick of move_wheel and keep it for ever. The body follows: it
stands for a moment, accelerates, lifts its nose; after the wheels stand it rocks, which includes
rolling back, and keeps some of its tilt. With ``sag_s`` a stop folds the mechanism instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
import math

from curiosity_rosa_demo.domain.geometry import along
from curiosity_rosa_demo.infra.config.limits import Thresholds
from curiosity_stand_in.kinematics import Course, course, Pose, Velocity
from curiosity_stand_in.parts import INITIAL, Joints, MAST, Part, PARTS, stowed_from, Waypoints
from curiosity_stand_in.trajectory import Line, Trajectory

# The wheels' joints, and what move_wheel makes of linear.x for each, in rad/s.
WHEELS = {
    'front_wheel_L_joint': 1.0,
    'middle_wheel_L_joint': 1.5,
    'back_wheel_L_joint': 1.0,
    'front_wheel_R_joint': -1.0,
    'middle_wheel_R_joint': -1.5,
    'back_wheel_R_joint': -1.0,
}
TICK_S = 0.1  # of move_wheel
STANDING_MPS = 1e-9  # the rounding of a speed that ends
START_S, RAMP_S = 0.1, 0.1  # from turning wheels to a moving body, and to its full speed
# After the wheels stand: seconds, and the speed as a fraction of that before.
ROCKING = ((0.08, 0.0), (0.2, -0.17 / 0.494), (0.38, 0.0))
STANDING_M, DRIVING_M = 0.89, 0.95  # height of the base frame
AFTER_SHARE = 0.4  # of the way from the standing to the driving pitch, kept after a drive
# A mechanism that folds after a stop: the fastest motion, the rise, and the tilt of 11 degrees.
SAG_MPS, SAG_RISE_M, SAG_ROLL_RAD, SAG_PITCH_RAD = 0.28, 0.2, 0.12, 0.16
MOST_SAG_S = 2.5  # as measured
STANDING_DRAIN = 0.1  # drain of a standing rover, as a fraction of the drain while driving
SETTLE_S = 1.0  # a stowed rover charges after standing still for this long


@dataclass(frozen=True)
class Rates:
    """Rates as fractions of the full charge per second of the rover's time."""

    drain_per_s: float = 0.0005  # while driving
    charge_per_s: float = 0.02  # net, while stowed and still


@dataclass(frozen=True)
class Battery:
    """``charge`` is 0 to 1. An empty battery does not stop the rover."""

    charge: float = 1.0
    charging: bool = False

    @property
    def full(self) -> bool:
        return self.charging and self.charge == 1.0

    def after(
        self, rates: Rates, *, start: float, end: float, driving: bool, charges_from: float | None
    ) -> Battery:
        """The battery at ``end`` if no command comes after ``start``; seconds of the rover's time.

        ``charges_from`` is the time at which charging starts or started; None: no charging.
        """
        charge_start = end if charges_from is None else min(max(start, charges_from), end)
        drain = rates.drain_per_s * (1.0 if driving else STANDING_DRAIN)
        charge = max(0.0, self.charge - drain * (charge_start - start))
        charge = min(1.0, charge + rates.charge_per_s * (end - charge_start))
        return Battery(charge, charging=charges_from is not None and end >= charges_from)


@dataclass(frozen=True)
class State:
    """The truth about the rover at one time. ``seconds`` is the time of the body's clock.
    ``angles`` and ``rates``: of the parts' joints, by name, in radians and radians per second.
    """

    seconds: float
    pose: Pose
    velocity: Velocity
    angles: Mapping[str, float]
    rates: Mapping[str, float]
    battery: Battery
    wheels: float = 0.0  # what all wheels turn by, in the wheel units of a Twist
    wheels_turned: float = 0.0  # the integral of that; WHEELS has each wheel's factor
    path_m: float = 0.0  # the whole way, also that of rocking back

    @property
    def joints(self) -> Joints:
        """Of the mast."""
        return Joints(*(self.angles[name] for name in MAST.joints))

    @property
    def moves(self) -> bool:
        """Whether the body moves or turns its wheels in vain."""
        return abs(self.velocity.forward) > STANDING_MPS or self.wheels != 0.0


class Body:
    """``clock`` is the body's time in seconds; a step back of it is ignored."""

    def __init__(
        self,
        thresholds: Thresholds,
        clock: Callable[[], float],
        *,
        pose: Pose | None = None,
        joints: Joints = INITIAL['zero'],
        charge: float = 1.0,
        rates: Rates | None = None,
    ) -> None:
        """``pose``: x, y and yaw at the start."""
        self._thresholds = thresholds
        self._clock = clock
        self._now = clock()
        self._pose = pose or Pose()
        self._path_m = 0.0
        self._twist = (0.0, 0.0)  # the last one received
        self._tick_at = math.inf  # when the wheels take it
        self._wheels, self._wheels_turned = 0.0, 0.0
        self._course = Course()
        self._speed, self._roll = self._rest(0.0), self._rest(0.0)
        self._pitch = self._rest(thresholds.body.standing_pitch_rad)  # nose up
        self._height = self._rest(STANDING_M)
        self._slip = 0.0
        self.sag_s = 0.0  # for which the mechanism folds after each stop
        # Of each part: when its trajectory began.
        self._lines: dict[Part, tuple[float, Trajectory]] = {
            part: (self._now, Trajectory((0.0,) * len(part.joints))) for part in PARTS
        }
        self._lines[MAST] = self._now, Trajectory(joints)
        self._battery, self._rates = Battery(charge), rates or Rates()

    # --- commands -----------------------------------------------------------------------------

    def drive(self, linear_x: float, angular_z: float) -> None:
        """Apply a Twist in wheel units until the next call; there is no time-out.

        Raises ValueError, and keeps the old one, for a value that is not finite.
        """
        course(linear_x, angular_z, self._thresholds)
        self._catch_up()
        if (linear_x, angular_z) != self._twist:
            self._twist = (linear_x, angular_z)
            self._tick_at = min(self._tick_at, (math.floor(self._now / TICK_S) + 1) * TICK_S)

    def move(self, part: Part, waypoints: Waypoints) -> None:
        """Start a trajectory from the current joints; it replaces the running one."""
        self._catch_up()
        began, line = self._lines[part]
        self._lines[part] = self._now, Trajectory(line.at(self._now - began), waypoints)

    def set_battery(self, *, charge: float | None = None, rates: Rates | None = None) -> None:
        """Set the charge (0 to 1), the rates, or both. The charge continues from the set value."""
        self._catch_up()
        if charge is not None:
            self._battery = Battery(charge, self._battery.charging)
        self._rates = rates or self._rates

    def set_slip(self, fraction: float) -> None:
        """Set the fraction, 0 to 1, of each way that the rover loses from now on."""
        self._catch_up()
        self._slip = fraction

    # --- truth --------------------------------------------------------------------------------

    def state(self) -> State:
        self._catch_up()
        now = self._now
        speed = self._speed.at(now) * (1.0 - self._slip)
        angles: dict[str, float] = {}
        rates: dict[str, float] = {}
        for part, (began, line) in self._lines.items():
            followed = line.followed(now - began)
            for name, (angle, rate) in zip(part.joints, followed, strict=True):
                angles[name], rates[name] = angle, rate
        return State(
            now,
            replace(
                self._pose,
                z=self._height.at(now),
                roll=self._roll.at(now),
                pitch=-self._pitch.at(now),
            ),
            Velocity(speed, speed * self._course.curvature),
            angles,
            rates,
            self._battery,
            self._wheels,
            self._wheels_turned,
            self._path_m,
        )

    @property
    def moves_until(self) -> float:
        """The time from which the body stands unless a command comes; infinite while it drives."""
        self._catch_up()
        units = self._wheels if self._tick_at == math.inf else self._twist[0]
        if units != 0.0:
            return math.inf
        if self._tick_at < math.inf and self._wheels != 0.0:
            return self._tick_at + max(ROCKING[-1][0], self.sag_s)
        return self._speed.end

    # --- motion -------------------------------------------------------------------------------

    def _catch_up(self) -> None:
        now = max(self._now, self._clock())
        if self._tick_at <= now:
            self._run_to(self._tick_at)
            self._take_twist()
        self._run_to(now)

    def _run_to(self, now: float) -> None:
        """Let time pass in which no command comes."""
        grip, curvature = 1.0 - self._slip, self._course.curvature
        net, gross = self._speed.areas(self._now, now)
        pose, metres = self._pose, net * grip
        x, y, yaw = along(pose.x, pose.y, pose.yaw, metres, metres * curvature)
        self._pose = replace(pose, x=x, y=y, yaw=math.remainder(yaw, math.tau))
        self._path_m += gross * grip
        self._wheels_turned += self._wheels * (now - self._now)
        self._battery = self._battery.after(
            self._rates,
            start=self._now,
            end=now,
            driving=self._wheels != 0.0,
            charges_from=self._charges_from(),
        )
        self._now = now

    def _take_twist(self) -> None:
        """What move_wheel does at its tick."""
        self._tick_at = math.inf
        before, self._wheels = self._wheels, self._twist[0]
        body = self._thresholds.body
        pitch = body.driving_pitch_rad
        if self._wheels != 0.0:
            self._course = course(*self._twist, self._thresholds)
            start = START_S if before == 0.0 else 0.0
            stand = [(START_S, 0.0)] if before == 0.0 else []
            self._speed = self._line(self._speed, *stand, (start + RAMP_S, self._course.speed))
            self._attitude(start + RAMP_S, pitch=pitch, height=DRIVING_M)
        elif before != 0.0:
            speed = self._speed.at(self._now)
            if self.sag_s > 0.0:
                peak = (0.4 * self.sag_s, SAG_MPS)
                self._speed = self._line(self._speed, peak, (self.sag_s, 0.0))
                self._attitude(
                    self.sag_s,
                    pitch=SAG_PITCH_RAD,
                    height=STANDING_M + SAG_RISE_M,
                    roll=SAG_ROLL_RAD,
                )
            else:
                rocking = ((at, part * speed) for at, part in ROCKING)
                self._speed = self._line(self._speed, *rocking)
                still = body.standing_pitch_rad
                after = still + (pitch - still) * AFTER_SHARE
                self._attitude(ROCKING[-1][0], pitch=after, height=STANDING_M)

    def _attitude(self, seconds: float, *, pitch: float, height: float, roll: float = 0.0) -> None:
        self._pitch = self._line(self._pitch, (seconds, pitch))
        self._height = self._line(self._height, (seconds, height))
        self._roll = self._line(self._roll, (seconds, roll))

    def _rest(self, value: float) -> Line:
        return Line(((self._now, value),))

    def _line(self, before: Line, *knots: tuple[float, float]) -> Line:
        """From the value of ``before`` through ``knots``, whose times count from now."""
        times: Iterator[tuple[float, float]] = ((self._now + at, value) for at, value in knots)
        return Line(((self._now, before.at(self._now)), *times))

    def _charges_from(self) -> float | None:
        """The time at which charging starts unless a command comes; None: no charging."""
        began, line = self._lines[MAST]
        stowed_s = stowed_from(line)
        if stowed_s is None or self._wheels != 0.0:
            return None
        return max(began + stowed_s, self._speed.end + SETTLE_S)
