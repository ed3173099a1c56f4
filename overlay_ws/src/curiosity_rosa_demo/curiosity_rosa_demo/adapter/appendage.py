# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parts that move beside the base: an arm, and the mast. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
import math
from typing import Protocol

from curiosity_rosa_demo.infra.config.robot import AppendageProfile
from curiosity_rosa_demo.infra.config.thresholds import MastConfig

# -----------------------------------------------------------------------------------------------
# The motion of some joints from a service call to its confirmation. Pure; angles are radians.


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


# -----------------------------------------------------------------------------------------------
# A stop of joints that a trajectory moves: they are told to hold where they are, again and again,
# until they stand still. Goals of an action are cancelled even without joint states. Pure; angles
# are radians, times seconds of the simulation's clock.


REPEAT_S = 0.5  # between two commands to hold
SETTLE_S = 0.5  # in which joints that stand still differ by at most STILL_RAD
STILL_RAD = 0.005


class JointHold:
    """``max_age_s``: of a reading whose angles may be held. ``can_cancel``: the joints move by
    the goals of an action.
    """

    def __init__(self, max_age_s: float, *, can_cancel: bool = False) -> None:
        self._max_age_s, self._can_cancel = max_age_s, can_cancel
        self._sent_at: float | None = None
        self._cancelled_at: float | None = None  # without a reading
        self._still_from: JointReading | None = None  # the first reading of the standstill
        self.is_done = False

    def record(self, reading: JointReading) -> None:
        if self._sent_at is None or reading.at < self._sent_at:
            return
        first = self._still_from
        if first is None or not reading.near(first.angles, STILL_RAD):
            self._still_from = reading
        elif reading.at - first.at >= SETTLE_S:
            self.is_done = True

    def take_due(self, reading: JointReading | None, now: float) -> tuple[float, ...] | None:
        """The angles to hold, which the caller sends now; none: only cancel the goals. None:
        nothing is due.
        """
        wakeup = self.next_wakeup(reading, now)
        if wakeup is None or now < wakeup:
            return None
        if reading is None or self.problem(reading, now):
            self._cancelled_at = now
            return ()
        self._sent_at = now
        return reading.angles

    def problem(self, reading: JointReading | None, now: float) -> str:
        """Why the joints cannot be held; '' if they can."""
        if reading is None or now - reading.at > self._max_age_s:
            return 'no joint states'
        return '' if all(map(math.isfinite, reading.angles)) else 'an angle is not a number'

    def next_wakeup(self, reading: JointReading | None, now: float) -> float | None:
        """The time of the next command; None: nothing can be sent."""
        silent = bool(self.problem(reading, now))
        if silent and not self._can_cancel:
            return None
        last = self._cancelled_at if silent else self._sent_at
        return now if last is None else last + REPEAT_S


# -----------------------------------------------------------------------------------------------
# A part of the robot that must be stowed while it drives, from its profile: an arm, say. Pure
#
# Only a confirmed command makes its posture known. From then on its joints must keep showing it:
# if they contradict, or fall silent after they were heard, it is unknown. A stop holds a part
# that a trajectory can move where it is, unless its posture is known. Angles are radians, times
# seconds of the simulation's clock.


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


# --- The mast's state from its joints, and the confirmation of a mast motion. Pure -------------
# Angles are radians, of the joints of thresholds.yaml: ``p`` raises and lowers, ``turn`` turns.


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
