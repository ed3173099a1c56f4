# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The mast's state from its joints, and the confirmation of a mast motion. Pure.

Angles are radians, of the joints of thresholds.yaml: ``p`` raises and lowers, ``turn`` turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from curiosity_rosa_demo.adapter.joint_motion import all_near, JointMotion
from curiosity_rosa_demo.infra.config.thresholds import MastConfig


class Mast(str, Enum):
    CLOSED = 'closed'
    OPENING = 'opening'
    OPEN = 'open'
    CLOSING = 'closing'
    UNKNOWN = 'unknown'
    NONE = 'none'  # the robot has no mast

    @property
    def is_stowed(self) -> bool:
        return self in (Mast.CLOSED, Mast.NONE)


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

    def target(self, config: MastConfig) -> tuple[float, float]:
        p, turn = {
            MastAction.OPEN: config.open_rad,
            MastAction.CLOSE: config.closed_rad,
            MastAction.ROTATE: config.rotated_rad,
        }[self]
        return p, turn

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

    def pose(self, config: MastConfig) -> Mast:
        """CLOSED, OPEN (raised, at any heading) or UNKNOWN (in between, or not a number)."""
        tolerance = config.tolerance_rad
        if self.near(config.closed_rad, tolerance):
            return Mast.CLOSED
        if abs(self.p - config.open_rad[0]) <= tolerance and abs(self.turn) < 1e3:
            return Mast.OPEN
        return Mast.UNKNOWN

    def near(self, target: Sequence[float], tolerance: float) -> bool:
        return all_near((self.p, self.turn), target, tolerance)


class MastMotion(JointMotion):
    """One mast command. ``action`` names it."""

    def __init__(self, action: MastAction, config: MastConfig) -> None:
        super().__init__(action.target(config), action.duration_s(config), config)
        self.action = action
