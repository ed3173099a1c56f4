# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The motion of some joints from a service call to its confirmation. Pure; angles are radians."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from curiosity_rosa_demo.infra.config.thresholds import MastConfig


class Reading(Protocol):
    """One reading of the joints. ``at``: when it came, in seconds of the simulation's clock."""

    @property
    def at(self) -> float: ...

    def near(self, target: Sequence[float], tolerance: float) -> bool: ...


def all_near(angles: Sequence[float], target: Sequence[float], tolerance: float) -> bool:
    """Whether each joint is at its target; never where an angle is not a number. Radians."""
    return all(abs(a - b) <= tolerance for a, b in zip(angles, target, strict=True))


@dataclass(frozen=True)
class JointReading:
    """Angles in the order of the profile."""

    angles: tuple[float, ...]
    at: float

    def near(self, target: Sequence[float], tolerance: float) -> bool:
        return all_near(self.angles, target, tolerance)


class JointMotion:
    """One command, from its service call to its confirmation by the joints. Times are seconds of
    the simulation's clock: a slow simulation needs longer for the trajectory and its messages.
    """

    def __init__(self, target: Sequence[float], duration_s: float, config: MastConfig) -> None:
        self._target, self._duration_s, self._config = tuple(target), duration_s, config
        self._answered_at: float | None = None
        self._was_elsewhere = False

    def record_answer(self, now: float) -> None:
        """The rover's service answered. The joints now have duration + margin to confirm."""
        self._answered_at = now

    def record_joints(self, joints: Reading) -> None:
        if not joints.near(self._target, self._config.tolerance_rad):
            self._was_elsewhere = True

    def outcome(self, now: float, joints: Reading | None) -> bool | None:
        """True when done, False when failed, None while in progress.

        Joints at the target count only after a reading elsewhere or after the known duration:
        before that, they may show the pose from before the motion. Without fresh joints the known
        duration decides.
        """
        if self._answered_at is None:
            return None
        elapsed = now - self._answered_at
        duration_over = elapsed >= self._duration_s
        fresh = joints is not None and now - joints.at <= self._config.joint_max_age_s
        if joints is None or not fresh:
            return True if duration_over else None
        if joints.near(self._target, self._config.tolerance_rad):
            return True if self._was_elsewhere or duration_over else None
        late = elapsed > self._duration_s + self._config.confirm_margin_s
        return False if late else None

    def next_wakeup(self, now: float) -> float:
        """The time by which the caller must check ``outcome`` again."""
        if self._answered_at is None:
            return now + 1.0
        end = self._answered_at + self._duration_s
        marks = (end, end + self._config.confirm_margin_s)
        return min((mark for mark in marks if mark > now), default=now) + 0.01
