# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rover's state: wheels, mast and battery, driven by a clock of the owner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import threading

from curiosity_stand_in.arm import MOVE_S
from curiosity_stand_in.arm import ZERO as ARM_ZERO
from curiosity_stand_in.battery import Battery, Rates, SETTLE_S
from curiosity_stand_in.joint_line import Angles, JointLine
from curiosity_stand_in.kinematics import advance, body_velocity, Pose, STILL, Velocity
from curiosity_stand_in.mast import Joints, Trajectory, Waypoint, ZERO

# Times the wall clock. The distance that the rover covers during the latency of a stop grows with
# it: at 20 and 0.5 m/s (move_forward), a tenth of a second is a metre.
FASTEST_DRIVE = 20.0


@dataclass(frozen=True)
class State:
    """A snapshot of the rover. ``seconds`` is the rover's own time since its start."""

    seconds: float
    pose: Pose
    velocity: Velocity
    joints: Joints
    battery: Battery
    arm: Angles = ARM_ZERO  # radians


class Rover:
    """Thread-safe. The rover has no timer: each read and each command computes the state.

    ``clock`` is steady wall time in seconds. The rover's own time runs ``time_scale`` times as
    fast; while the rover drives, at most ``FASTEST_DRIVE`` times. Velocities are per second of
    the rover's time.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        metres_per_unit: float = 0.25,
        time_scale: float = 1.0,
        pose: Pose | None = None,
        joints: Joints = ZERO,
        charge: float = 1.0,
        rates: Rates | None = None,
    ) -> None:
        self._clock = clock
        self._metres_per_unit = metres_per_unit
        self._time_scale = time_scale
        self._lock = threading.Lock()
        self._read_at = clock()
        self._now = 0.0  # the time that _pose belongs to
        self._pose = pose or Pose()
        self._velocity = STILL
        self._grip = 1.0  # fraction of a commanded velocity that moves the body
        self._mast = Trajectory(joints)
        self._mast_started = 0.0
        # At the start every joint is at 0, as in the simulator.
        self._arm = JointLine(ARM_ZERO, ARM_ZERO, MOVE_S)
        self._arm_started = 0.0
        self._still_since = 0.0
        self._battery = Battery(charge)
        self._rates = rates or Rates()

    def drive(self, linear_x: float, angular_z: float) -> None:
        """Apply a Twist in wheel units until the next call; there is no time-out.

        Raises ValueError, and keeps the old velocity, for a value that is not finite.
        """
        velocity = body_velocity(linear_x, angular_z, metres_per_unit=self._metres_per_unit)
        with self._lock:
            self._catch_up()
            if velocity == STILL and self._velocity != STILL:
                self._still_since = self._now
            self._velocity = velocity

    def move_mast(self, waypoints: tuple[Waypoint, ...]) -> None:
        """Start a trajectory from the current joints; it replaces the running one."""
        with self._lock:
            self._catch_up()
            self._mast = Trajectory(self._mast.at(self._now - self._mast_started), waypoints)
            self._mast_started = self._now

    def move_arm(self, target: Angles) -> None:
        """Move the arm from where it is to ``target``, in radians."""
        with self._lock:
            self._catch_up()
            self._arm = JointLine(self._arm.at(self._now - self._arm_started), target, MOVE_S)
            self._arm_started = self._now

    def set_battery(self, *, charge: float | None = None, rates: Rates | None = None) -> None:
        """Set the charge (0 to 1), the rates, or both. The charge continues from the set value."""
        with self._lock:
            self._catch_up()
            if charge is not None:
                self._battery = Battery(charge, self._battery.charging)
            if rates is not None:
                self._rates = rates

    def set_slip(self, fraction: float) -> None:
        """Set the fraction, 0 to 1, of each way that the rover loses from now on."""
        with self._lock:
            self._catch_up()
            self._grip = 1.0 - fraction

    def state(self) -> State:
        with self._lock:
            self._catch_up()
            joints = self._mast.at(self._now - self._mast_started)
            arm = self._arm.at(self._now - self._arm_started)
            return State(self._now, self._pose, self._body_velocity(), joints, self._battery, arm)

    def _catch_up(self) -> None:
        driving = self._velocity != STILL
        read_at = max(self._read_at, self._clock())
        scale = min(self._time_scale, FASTEST_DRIVE) if driving else self._time_scale
        now = self._now + (read_at - self._read_at) * scale
        self._pose = advance(self._pose, self._body_velocity(), now - self._now)
        self._battery = self._battery.after(
            self._rates,
            start=self._now,
            end=now,
            driving=driving,
            charges_from=self._charges_from(),
        )
        self._now, self._read_at = now, read_at

    def _body_velocity(self) -> Velocity:
        return Velocity(self._velocity.forward * self._grip, self._velocity.turn * self._grip)

    def _charges_from(self) -> float | None:
        """The rover's time at which charging starts unless a command comes; None: no charging."""
        stowed_from = self._mast.stowed_from
        if stowed_from is None or self._velocity != STILL:
            return None
        return max(self._mast_started + stowed_from, self._still_since + SETTLE_S)
