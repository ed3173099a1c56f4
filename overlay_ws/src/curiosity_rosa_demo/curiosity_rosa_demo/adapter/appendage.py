# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A part of the robot that must be stowed while it drives, from its profile: an arm, say. Pure.

Only a confirmed command that stows makes it stowed. From then on its joints must keep showing it:
if they contradict, or fall silent after they were heard, it is unknown. Angles are radians, times
seconds of the simulation's clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from curiosity_rosa_demo.adapter.joint_motion import JointMotion, JointReading
from curiosity_rosa_demo.infra.config.robot import AppendageProfile
from curiosity_rosa_demo.infra.config.thresholds import MastConfig


class Posture(str, Enum):
    STOWED = 'stowed'
    MOVING = 'moving'
    DEPLOYED = 'deployed'
    UNKNOWN = 'unknown'


class Appendage:
    """``mast``: its tolerance, margin and greatest age hold for these joints, too."""

    def __init__(self, name: str, config: AppendageProfile, mast: MastConfig) -> None:
        self.name, self.config = name, config
        self.posture = Posture.UNKNOWN
        self._mast = mast
        self._motion: JointMotion | None = None
        self._command = ''  # of the running motion, or of the last one
        self._reading: JointReading | None = None

    @property
    def busy(self) -> bool:
        return self._motion is not None

    @property
    def is_stowed(self) -> bool:
        return self.posture is Posture.STOWED

    def begin(self, command: str) -> None:
        """The caller calls the command's service now."""
        self.posture, self._command = Posture.MOVING, command
        settings = self.config.commands[command]
        self._motion = JointMotion(settings.target_rad, settings.duration_s, self._mast)

    def answered(self, now: float) -> None:
        if self._motion is not None:
            self._motion.record_answer(now)

    def failed(self) -> None:
        self._motion, self.posture = None, Posture.UNKNOWN

    def reached(self, command: str) -> bool:
        """Whether the last motion was this command and has ended where it leads."""
        wanted = Posture.STOWED if self.config.stows(command) else Posture.DEPLOYED
        return self._command == command and self.posture is wanted

    def record(self, angles: Sequence[float], now: float) -> str:
        """Take a reading of the joints. Returns a contradiction as text, or ''."""
        self._reading = JointReading(tuple(angles), now)
        if self._motion is not None:
            self._motion.record_joints(self._reading)
            return ''
        tolerance = self._mast.tolerance_rad
        shows_stowed = self._reading.near(self.config.stowed_rad, tolerance)
        if self.posture is Posture.UNKNOWN or shows_stowed == self.is_stowed:
            return ''
        was, self.posture = self.posture, Posture.UNKNOWN
        return f'Joint states contradict: {self.name} was {was.value}'

    def watch(self, now: float) -> str:
        """Apply what depends on time. Returns the reason of a posture that is lost, or ''."""
        if self._motion is not None:
            done = self._motion.outcome(now, self._reading)
            if done is False:
                self.failed()
                return f'Not confirmed by joint states: {self._command}'
            if done:
                stows = self.config.stows(self._command)
                self.posture = Posture.STOWED if stows else Posture.DEPLOYED
                self._motion = None
        elif self.is_stowed and self._reading is not None and now > self._lost_at(self._reading):
            self._reading, self.posture = None, Posture.UNKNOWN
            return f'Joint states lost: {self.name} unknown'
        return ''

    def next_wakeup(self, now: float) -> float | None:
        """The time by which to call ``watch`` again; None if nothing is due."""
        if self._motion is not None:
            return self._motion.next_wakeup(now)
        if self.is_stowed and self._reading is not None:
            return self._lost_at(self._reading) + 0.01
        return None

    def _lost_at(self, reading: JointReading) -> float:
        return reading.at + self._mast.joint_max_age_s
