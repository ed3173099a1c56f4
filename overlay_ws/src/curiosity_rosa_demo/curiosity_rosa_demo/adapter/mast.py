# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The mast's state from its joints, and the confirmation of a mast motion. Pure.

Joint positions are radians: ``mast_p_joint`` raises and lowers, ``mast_02_joint`` turns. Targets
are those of the Curiosity demo's ``move_mast`` node.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from curiosity_rosa_demo.infra.config.thresholds import MastConfig

CLOSED_P, CLOSED_TURN = 1.57, -1.57
RAISED_P = 0.0


class Mast(str, Enum):
    CLOSED = 'closed'
    OPENING = 'opening'
    OPEN = 'open'
    CLOSING = 'closing'
    UNKNOWN = 'unknown'


class MastAction(str, Enum):
    OPEN = 'mast_open'
    CLOSE = 'mast_close'
    ROTATE = 'mast_rotate'

    @property
    def during(self) -> Mast:
        """The state while the action runs. A rotation raises the mast, so it counts as opening."""
        return Mast.CLOSING if self is MastAction.CLOSE else Mast.OPENING

    @property
    def after(self) -> Mast:
        return Mast.CLOSED if self is MastAction.CLOSE else Mast.OPEN

    @property
    def target(self) -> tuple[float, float]:
        return {
            MastAction.OPEN: (RAISED_P, -0.5),
            MastAction.CLOSE: (CLOSED_P, CLOSED_TURN),
            MastAction.ROTATE: (RAISED_P, -6.28),
        }[self]

    def duration_s(self, config: MastConfig) -> float:
        return {
            MastAction.OPEN: config.open_duration_s,
            MastAction.CLOSE: config.close_duration_s,
            MastAction.ROTATE: config.rotate_duration_s,
        }[self]


@dataclass(frozen=True)
class Joints:
    """One reading of the mast's joints in radians, received at ``at``, in seconds of the
    simulation's clock.
    """

    p: float
    turn: float
    at: float

    def pose(self, tolerance: float) -> Mast:
        """CLOSED, OPEN (raised, at any heading) or UNKNOWN (in between, or not a number)."""
        if self.near((CLOSED_P, CLOSED_TURN), tolerance):
            return Mast.CLOSED
        if abs(self.p - RAISED_P) <= tolerance and abs(self.turn) < 1e3:
            return Mast.OPEN
        return Mast.UNKNOWN

    def near(self, target: tuple[float, float], tolerance: float) -> bool:
        return abs(self.p - target[0]) <= tolerance and abs(self.turn - target[1]) <= tolerance


class MastMotion:
    """One mast command, from its service call to its confirmation by the joints. Times are seconds
    of the simulation's clock: a slow simulation needs longer for the trajectory and its messages.
    """

    def __init__(self, action: MastAction, config: MastConfig) -> None:
        self.action = action
        self._config = config
        self._answered_at: float | None = None
        self._was_elsewhere = False

    def record_answer(self, now: float) -> None:
        """The rover's service answered. The joints now have duration + margin to confirm."""
        self._answered_at = now

    def record_joints(self, joints: Joints) -> None:
        if not joints.near(self.action.target, self._config.tolerance_rad):
            self._was_elsewhere = True

    def outcome(self, now: float, joints: Joints | None) -> bool | None:
        """True when done, False when failed, None while in progress.

        Joints at the target count only after a reading elsewhere or after the known duration:
        before that, they may show the pose from before the motion. Without fresh joints the known
        duration decides.
        """
        if self._answered_at is None:
            return None
        elapsed = now - self._answered_at
        duration_over = elapsed >= self.action.duration_s(self._config)
        fresh = joints is not None and now - joints.at <= self._config.joint_max_age_s
        if joints is None or not fresh:
            return True if duration_over else None
        if joints.near(self.action.target, self._config.tolerance_rad):
            return True if self._was_elsewhere or duration_over else None
        late = elapsed > self.action.duration_s(self._config) + self._config.confirm_margin_s
        return False if late else None

    def next_wakeup(self, now: float) -> float:
        """The time by which the caller must check ``outcome`` again."""
        if self._answered_at is None:
            return now + 1.0
        duration = self.action.duration_s(self._config)
        marks = (
            self._answered_at + duration,
            self._answered_at + duration + self._config.confirm_margin_s,
        )
        return min((mark for mark in marks if mark > now), default=now) + 0.01
