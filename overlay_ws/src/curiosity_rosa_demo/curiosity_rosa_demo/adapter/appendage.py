# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A part of the robot that must be stowed while it drives, from its profile: an arm, say. Pure.

Only a confirmed command makes its posture known. From then on its joints must keep showing it: if
they contradict, or fall silent after they were heard, it is unknown. A stop holds a part that a
trajectory can move where it is, unless its posture is known. Angles are radians, times seconds of
the simulation's clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from curiosity_rosa_demo.adapter.joint_hold import JointHold
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
        self._hold: JointHold | None = None
        self.hold()  # an earlier process may have left it moving

    @property
    def busy(self) -> bool:
        return self._motion is not None

    @property
    def stowing(self) -> bool:
        return self.busy and self.config.stows(self._command)

    @property
    def holding(self) -> bool:
        """Whether a stop of it has not ended yet."""
        return self._hold is not None

    @property
    def is_stowed(self) -> bool:
        return self.posture is Posture.STOWED

    @property
    def _is_known(self) -> bool:
        return self.posture in (Posture.STOWED, Posture.DEPLOYED)

    def begin(self, command: str) -> None:
        """The caller calls the command's service, or sends its trajectory or goal, now."""
        self.posture, self._command, self._hold = Posture.MOVING, command, None
        settings = self.config.commands[command]
        self._motion = JointMotion(settings.target_rad, settings.duration_s, self._mast)

    def answered(self, now: float) -> None:
        if self._motion is not None:
            self._motion.record_answer(now)

    def failed(self) -> None:
        self._motion, self.posture = None, Posture.UNKNOWN
        self.hold()

    def hold(self) -> None:
        """Stop it where it is, if a trajectory can move it and it is not known to rest."""
        if self.config.can_be_held and not self._is_known and not self.holding:
            self._motion, self.posture = None, Posture.UNKNOWN
            self._hold = JointHold(
                self._mast.joint_max_age_s, can_cancel=self.config.can_be_cancelled
            )

    def take_hold(self, now: float) -> tuple[float, ...] | None:
        """The angles that the caller commands it to hold now; none: they are not known, so only
        cancel its goals. None: nothing is due.
        """
        return None if self._hold is None else self._hold.take_due(self._reading, now)

    def hold_problem(self, now: float) -> str:
        """Why a stop of it has not ended; '' without one."""
        if self._hold is None:
            return ''
        return f'{self.name}: {self._hold.problem(self._reading, now) or "its joints still move"}'

    def reached(self, command: str) -> bool:
        """Whether the last motion was this command and has ended where it leads."""
        return self._command == command and self._is_known

    def refusal(self, command: str, now: float) -> str:
        """Why its posture does not allow this command; '' if it does."""
        settings = self.config.commands[command]
        if self.busy:
            return f'{self.name} is moving'
        if settings.by_trajectory and not self._heard(now):
            return f'{self.name}: no joint states, so a stop could not hold it'
        if settings.only_after and not any(map(self.reached, settings.only_after)):
            return f'{self.name} must first be where {" or ".join(settings.only_after)} leads'
        return ''

    def record(self, angles: Sequence[float], now: float) -> str:
        """Take a reading of the joints. Returns a contradiction as text, or ''."""
        self._reading = JointReading(tuple(angles), now)
        if self._motion is not None:
            self._motion.record_joints(self._reading)
        elif self._hold is not None:
            self._hold.record(self._reading)
        elif self._is_known:
            target = self.config.commands[self._command].target_rad
            if not self._reading.near(target, self._mast.tolerance_rad):
                was = self.posture
                self.failed()
                return f'Joint states contradict: {self.name} was {was.value}'
        return ''

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
        elif self._hold is not None:
            if self._hold.is_done:
                self._hold = None
        elif self._is_known and self._reading is not None and now > self._lost_at(self._reading):
            self._reading = None
            self.failed()
            return f'Joint states lost: {self.name} unknown'
        return ''

    def next_wakeup(self, now: float) -> float | None:
        """The time by which to call ``watch`` again; None if nothing is due."""
        if self._motion is not None:
            return self._motion.next_wakeup(now)
        if self._hold is not None:
            return self._hold.next_wakeup(self._reading, now)
        if self._is_known and self._reading is not None:
            return self._lost_at(self._reading) + 0.01
        return None

    def _heard(self, now: float) -> bool:
        return self._reading is not None and now <= self._lost_at(self._reading)

    def _lost_at(self, reading: JointReading) -> float:
        return reading.at + self._mast.joint_max_age_s
