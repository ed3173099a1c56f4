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

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from curiosity_rosa_demo.adapter.joint_motion import all_near, JointMotion
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

    def near(self, target: Sequence[float], tolerance: float) -> bool:
        return all_near((self.p, self.turn), target, tolerance)


class MastMotion(JointMotion):
    """One mast command. ``action`` names it."""

    def __init__(self, action: MastAction, config: MastConfig) -> None:
        super().__init__(action.target, action.duration_s(config), config)
        self.action = action
