# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The rover that drives: model, controllers and time. Not thread-safe."""

from __future__ import annotations

from dataclasses import dataclass
import math

from curiosity_physics.controllers import Controllers, PERIOD_S, STANDING, SUSPENSION
from curiosity_physics.model import Built, SERVO_B, SERVO_K, VISUAL_GROUP
from curiosity_physics.worlds import WORLD_GROUP
from curiosity_rosa_demo.domain.geometry import roll_pitch, yaw
from curiosity_stand_in.frames import BEAMS, LIDAR_FRAME, RAYS, SCAN_MAX_M, SCAN_MIN_M
from curiosity_stand_in.robot import Floats
import mujoco
import numpy as np

DROP_M = 0.9  # of the base over the ground where it is put; it settles from there
SETTLE_S = 2.0
LEAD_S = SERVO_B / SERVO_K

NEAREST_M = SCAN_MIN_M['mast']
_GROUPS = np.zeros(6, np.uint8)
_GROUPS[[WORLD_GROUP, VISUAL_GROUP]] = 1


@dataclass(frozen=True)
class State:
    """The true state. ``place`` and ``velocity`` of the base are in the world's frame, in metres
    and metres per second; ``spin`` is in the base's. ``attitude`` is a quaternion w, x, y, z.
    """

    seconds: float
    place: tuple[float, float, float]
    attitude: tuple[float, float, float, float]
    velocity: tuple[float, float, float]
    spin: tuple[float, float, float]
    angles: dict[str, float]
    rates: dict[str, float]

    @property
    def yaw(self) -> float:
        w, x, y, z = self.attitude
        return yaw(x, y, z, w)

    @property
    def roll_pitch(self) -> tuple[float, float]:
        w, x, y, z = self.attitude
        return roll_pitch(x, y, z, w)

    @property
    def forward(self) -> float:
        """The velocity along the heading, in metres per second."""
        return self.velocity[0] * math.cos(self.yaw) + self.velocity[1] * math.sin(self.yaw)


class Simulation:
    """``advance`` steps one control period. The rover starts at x, y and yaw, settled.

    ``standing``: on its suspension, as a second after the start of the demo's move_wheel; without,
    it squats until the suspension's first command, as Gazebo puts it down.
    """

    def __init__(
        self,
        built: Built,
        *,
        x: float = 0.0,
        y: float = 0.0,
        yaw: float = 0.0,
        standing: bool = True,
    ) -> None:
        self.model, self._built = built.model, built
        self._data = mujoco.MjData(built.model)
        self.controllers = Controllers()
        model = built.model
        self._names = [
            name
            for name in (model.joint(number).name for number in range(model.njnt))
            if name != 'base'
        ]
        self._angle_at = np.array([int(model.joint(name).qposadr[0]) for name in self._names])
        self._rate_at = np.array([int(model.joint(name).dofadr[0]) for name in self._names])
        self._servo_at = np.array([int(model.joint(name).qposadr[0]) for name in built.servos])
        self._sprung_at = np.array([int(model.joint(name).dofadr[0]) for name in SUSPENSION])
        self._steps = round(PERIOD_S / model.opt.timestep)
        self._lidar = int(model.body(LIDAR_FRAME).id)
        if standing:
            self.controllers.suspension.command(STANDING)
        self._place(x, y, yaw)

    def _place(self, x: float, y: float, yaw: float) -> None:
        data = self._data
        data.qpos[3], data.qpos[6] = math.cos(yaw / 2), math.sin(yaw / 2)
        data.qpos[:3] = x, y, self._built.world.height(x, y) + DROP_M
        for _ in range(round(SETTLE_S / PERIOD_S)):
            self.advance()
        data.qpos[:2] = x, y  # settling moves the base
        data.time = 0.0
        mujoco.mj_forward(self.model, data)

    def advance(self) -> None:
        """Update the controllers, then step the physics by PERIOD_S."""
        data = self._data
        angles = self._angles()
        velocities = self.controllers.velocities(data.time, angles)
        wanted = np.array([velocities[name] for name in self._built.servos])
        # K is small beside B: within the period the joint moves too little to lose the velocity.
        self.model.eq_data[:, 0] = data.qpos[self._servo_at] + LEAD_S * wanted
        efforts = self.controllers.suspension.efforts([angles[name] for name in SUSPENSION])
        data.qfrc_applied[self._sprung_at] = efforts
        mujoco.mj_step(self.model, data, nstep=self._steps)

    def _angles(self) -> dict[str, float]:
        return dict(zip(self._names, self._data.qpos[self._angle_at].tolist(), strict=True))

    def state(self) -> State:
        data = self._data
        rates = data.qvel[self._rate_at].tolist()
        return State(
            float(data.time),
            tuple(data.qpos[:3].tolist()),
            tuple(data.qpos[3:7].tolist()),
            tuple(data.qvel[:3].tolist()),
            tuple(data.qvel[3:6].tolist()),
            self._angles(),
            dict(zip(self._names, rates, strict=True)),
        )

    def configuration(self) -> Floats:
        """All positions, for a picture of this moment."""
        return np.array(self._data.qpos)

    def scan(self) -> Floats:
        """The distance along each beam to the ground, a rock or the rover; inf without one."""
        data = self._data
        mujoco.mj_kinematics(self.model, data)
        place = data.xpos[self._lidar]
        rays = RAYS @ data.xmat[self._lidar].reshape(3, 3).T
        found = np.full(BEAMS, -1, np.int32)
        ranges = np.full(BEAMS, np.inf)
        mujoco.mj_multiRay(
            self.model, data, place, rays.ravel(), _GROUPS, True, self._lidar, found, ranges,
            None, BEAMS, SCAN_MAX_M,
        )  # fmt: skip
        ranges[found < 0] = np.inf
        if self._built.world.heights is not None:
            ranges = np.minimum(ranges, self._built.world.ranges(place, rays, SCAN_MAX_M))
        ranges[(ranges < NEAREST_M) | (ranges > SCAN_MAX_M)] = np.inf
        return ranges
