# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The controllers of the demo's ros2_control, as its configuration sets them up: times in seconds
of the simulation, radians.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math

from curiosity_stand_in import body
from curiosity_stand_in.parts import PARTS
from curiosity_stand_in.trajectory import Angles, SERVO_LAG_S, Trajectory, Waypoint

PERIOD_S = 0.01  # update_rate: 100
# ign_ros2_control: position_proportional_gain 0.1 at 100 Hz turns an error into a velocity.
POSITION_GAIN = 1.0 / SERVO_LAG_S  # 1/s
FASTEST_RAD_S = 100.0  # the URDF's limit of each joint with a servo
WHEELS = tuple(body.WHEELS)
STEER = (
    'suspension_steer_F_L_joint', 'suspension_steer_B_L_joint',
    'suspension_steer_F_R_joint', 'suspension_steer_B_R_joint',
)  # fmt: skip
SUSPENSION = (
    'suspension_arm_F_L_joint', 'suspension_arm_B_L_joint',
    'suspension_arm_F_R_joint', 'suspension_arm_B_R_joint',
)  # fmt: skip
# The P and D of the configuration. Its I does nothing: the demo's fork of effort_controllers
# gives it the limits 0 and 0.
SUSPENSION_P = (2200.0, 4200.0, 2200.0, 4200.0)  # Nm/rad
STANDING = (0.3, -0.1, 0.3, -0.1)  # rad, what move_wheel commands from its start on
SUSPENSION_D = 10.0  # Nm s/rad
SUSPENSION_EFFORT = 10000.0  # Nm, the URDF's limit


class TrajectoryController:
    """joint_trajectory_controller: straight lines from where the joints are, then it holds."""

    def __init__(self, joints: tuple[str, ...]) -> None:
        self.joints = joints
        self._trajectory = _line((0.0,) * len(joints))
        self._started = 0.0

    def follow(
        self,
        names: Sequence[str],
        points: Sequence[tuple[float, Sequence[float]]],
        *,
        now: float,
        actual: Mapping[str, float],
    ) -> None:
        """Start a trajectory: seconds from now, with angles in the order of ``names``; it replaces
        the one before. Raises ValueError, which says what is wrong with it.
        """
        if set(names) != set(self.joints) or len(names) != len(self.joints):
            raise ValueError(
                f'its joints must be {", ".join(self.joints)}, not {", ".join(names)}'
            )
        waypoints = []
        for seconds, angles in points:
            if len(angles) != len(names) or not all(map(math.isfinite, angles)):
                raise ValueError(f'a point must have {len(names)} finite angles')
            by_name = dict(zip(names, angles, strict=True))
            waypoints.append(Waypoint(seconds, tuple(by_name[name] for name in self.joints)))
        start = tuple(actual[name] for name in self.joints)
        self._trajectory, self._started = _line(start, *waypoints), now

    def at(self, now: float) -> Angles:
        return self._trajectory.at(now - self._started)


class WheelController:
    """velocity_controllers/JointGroupVelocityController; until a command, the wheels stand."""

    def __init__(self) -> None:
        self.velocities: Angles = (0.0,) * len(WHEELS)

    def command(self, values: Sequence[float]) -> None:
        """Radians per second in the order of WHEELS. Raises ValueError."""
        self.velocities = _checked(values, len(WHEELS))


class SuspensionController:
    """effort_controllers/JointGroupPositionController: no force before the first command."""

    def __init__(self) -> None:
        self._targets: Angles | None = None
        self._errors: Angles | None = None

    def command(self, values: Sequence[float]) -> None:
        """Radians in the order of SUSPENSION. Raises ValueError."""
        self._targets = _checked(values, len(SUSPENSION))

    def efforts(self, actual: Sequence[float]) -> Angles:
        """Nm, from the joints' angles; call it once a PERIOD_S."""
        if self._targets is None:
            return (0.0,) * len(SUSPENSION)
        errors = tuple(t - a for t, a in zip(self._targets, actual, strict=True))
        before = self._errors or errors
        self._errors = errors
        return tuple(
            max(
                -SUSPENSION_EFFORT,
                min(SUSPENSION_EFFORT, p * e + SUSPENSION_D * (e - b) / PERIOD_S),
            )
            for p, e, b in zip(SUSPENSION_P, errors, before, strict=True)
        )


class Controllers:
    """All of them, as the controller manager runs them."""

    def __init__(self) -> None:
        self.wheels = WheelController()
        self.suspension = SuspensionController()
        self.steer = TrajectoryController(STEER)
        self.parts = {part: TrajectoryController(part.joints) for part in PARTS}

    def velocities(self, now: float, actual: Mapping[str, float]) -> dict[str, float]:
        """The velocity of each servo, in radians per second."""
        found = dict(zip(WHEELS, self.wheels.velocities, strict=True))
        for controller in (self.steer, *self.parts.values()):
            for name, target in zip(controller.joints, controller.at(now), strict=True):
                found[name] = POSITION_GAIN * (target - actual[name])
        return {
            name: max(-FASTEST_RAD_S, min(FASTEST_RAD_S, value)) for name, value in found.items()
        }


def _line(start: Angles, *waypoints: Waypoint) -> Trajectory:
    return Trajectory(start, waypoints, lag_s=0.0)  # the lag is the servo's: POSITION_GAIN


def _checked(values: Sequence[float], count: int) -> Angles:
    if len(values) != count or not all(map(math.isfinite, values)):
        raise ValueError(f'must be {count} finite numbers')
    return tuple(map(float, values))
