# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The parts that move beside the base and must be stowed while it drives: the mast, an arm. Pure.

Only a confirmed command makes the posture of a part known. From then on its joints must keep
showing it: if they contradict, or fall silent after they were heard, it is unknown. A stop holds a
part that a trajectory can move where it is, unless its posture is known. Angles are radians, times
seconds of the simulation's clock: a slow simulation needs longer for a motion and its messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
import math

from curiosity_rosa_demo.domain.models import (
    NEED_TO_CLOSE_MAST,
    NEED_TO_OPEN_MAST,
    need_to_stow,
)
from curiosity_rosa_demo.infra.config.limits import MastConfig
from curiosity_rosa_demo.infra.config.robot import AppendageCommand, AppendageProfile

CHECK_S = 0.1  # between two looks at a part that moves
REPEAT_S = 0.5  # between two commands to hold
SETTLE_S = 0.5  # in which joints that stand still differ by at most STILL_RAD
STILL_RAD = 0.005
MAST, MAST_COMMANDS = 'mast', ('mast_open', 'mast_close', 'mast_rotate')


class Posture(str, Enum):
    STOWED = 'stowed'
    MOVING = 'moving'
    DEPLOYED = 'deployed'
    UNKNOWN = 'unknown'


@dataclass(frozen=True)
class MastCommand:
    target_rad: Sequence[float]
    duration_s: float
    only_after: Sequence[str] = ()
    by_trajectory: bool = False  # the mast moves by services, which no stop can end


Command = AppendageCommand | MastCommand


@dataclass(frozen=True)
class Reading:
    """The angles of a part's joints, in the order of its profile, and when they came."""

    angles: tuple[float, ...]
    at: float

    def near(self, target: Sequence[float], tolerance: float) -> bool:
        """Whether each joint is at its target; never where an angle is not a number."""
        return all(abs(a - b) <= tolerance for a, b in zip(self.angles, target, strict=True))


class JointMotion:
    """One command, from its service call to its confirmation by the joints."""

    def __init__(self, command: Command, limits: MastConfig) -> None:
        self._command, self._limits = command, limits
        self._answered_at: float | None = None
        self._was_elsewhere = False

    def record_answer(self, now: float) -> None:
        """The robot's service answered. The joints now have duration + margin to confirm."""
        self._answered_at = now

    def record(self, reading: Reading) -> None:
        if not reading.near(self._command.target_rad, self._limits.tolerance_rad):
            self._was_elsewhere = True

    def outcome(self, now: float, reading: Reading | None) -> bool | None:
        """True when done, False when failed, None while in progress.

        Joints at the target count only after a reading elsewhere or after the known duration:
        before that, they may show the pose from before the motion. Without fresh joints the known
        duration decides.
        """
        if self._answered_at is None:
            return None
        elapsed, duration_s = now - self._answered_at, self._command.duration_s
        duration_over = elapsed >= duration_s
        if reading is None or now - reading.at > self._limits.joint_max_age_s:
            return True if duration_over else None
        if reading.near(self._command.target_rad, self._limits.tolerance_rad):
            return True if self._was_elsewhere or duration_over else None
        return False if elapsed > duration_s + self._limits.confirm_margin_s else None


class JointHold:
    """A stop of joints that a trajectory moves: they are told to hold where they are, again and
    again, until they stand still. Goals of an action are cancelled even without joint states.

    ``max_age_s``: of a reading whose angles may be held. ``can_cancel``: the joints move by the
    goals of an action.
    """

    def __init__(self, max_age_s: float, *, can_cancel: bool = False) -> None:
        self._max_age_s, self._can_cancel = max_age_s, can_cancel
        self._sent_at: float | None = None
        self._cancelled_at: float | None = None  # without a reading
        self._still_from: Reading | None = None  # the first reading of the standstill
        self.is_done = False

    def record(self, reading: Reading) -> None:
        if self._sent_at is None or reading.at < self._sent_at:
            return
        first = self._still_from
        if first is None or not reading.near(first.angles, STILL_RAD):
            self._still_from = reading
        elif reading.at - first.at >= SETTLE_S:
            self.is_done = True

    def take_due(self, reading: Reading | None, now: float) -> tuple[float, ...] | None:
        """The angles to hold, which the caller sends now; none: only cancel the goals. None:
        nothing is due.
        """
        silent = reading is None or bool(self.problem(reading, now))
        if silent and not self._can_cancel:
            return None
        last = self._cancelled_at if silent else self._sent_at
        if last is not None and now < last + REPEAT_S:
            return None
        if reading is None or silent:
            self._cancelled_at = now
            return ()
        self._sent_at = now
        return reading.angles

    def problem(self, reading: Reading | None, now: float) -> str:
        """Why the joints cannot be held; '' if they can."""
        if reading is None or now - reading.at > self._max_age_s:
            return 'no joint states'
        return '' if all(map(math.isfinite, reading.angles)) else 'an angle is not a number'


class Part:
    """``limits``: the tolerance, the margin and the greatest age of a reading of its joints."""

    can_be_held = can_be_cancelled = False

    def __init__(
        self,
        name: str,
        commands: Mapping[str, Command],
        stowed_rad: Sequence[float],
        limits: MastConfig,
    ) -> None:
        self.name, self.commands = name, commands
        self.posture = Posture.UNKNOWN
        self._stowed_rad, self._limits = stowed_rad, limits
        self._motion: JointMotion | None = None
        self._command = ''  # of the running motion, or of the last one that was confirmed
        self._reading: Reading | None = None
        self._hold: JointHold | None = None

    # --- what it is -------------------------------------------------------------------------

    @property
    def state(self) -> str:
        """The posture, as the adapter's status names it."""
        return self.posture.value

    @property
    def busy(self) -> bool:
        return self._motion is not None

    @property
    def stowing(self) -> bool:
        return self.busy and self.stows(self._command)

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

    def stows(self, command: str) -> bool:
        return self.commands[command].target_rad == self._stowed_rad

    def reached(self, command: str) -> bool:
        """Whether the last motion was this command and it is still where that leads."""
        led_to = Posture.STOWED if self.stows(command) else Posture.DEPLOYED
        return self._command == command and self.posture is led_to

    def drive_refusal(self) -> str:
        """Why the base may not drive; '' if it may."""
        if self.is_stowed:
            return ''
        return need_to_stow(self.name, next(filter(self.stows, self.commands)))

    def refusal(self, command: str, now: float) -> str:
        """Why its posture does not allow this command; '' if it does."""
        settings = self.commands[command]
        if settings.by_trajectory and not self._is_heard(now):
            return f'{self.name}: no joint states, so a stop could not hold it'
        if settings.only_after and not any(map(self.reached, settings.only_after)):
            return f'{self.name} must first be where {" or ".join(settings.only_after)} leads'
        return ''

    # --- what happens to it -----------------------------------------------------------------

    def begin(self, command: str) -> None:
        """The caller calls the command's service, or sends its trajectory or goal, now."""
        self.posture, self._command, self._hold = Posture.MOVING, command, None
        self._motion = JointMotion(self.commands[command], self._limits)

    def answered(self, now: float) -> None:
        if self._motion is not None:
            self._motion.record_answer(now)

    def failed(self) -> None:
        self._motion, self._command, self.posture = None, '', Posture.UNKNOWN
        self.hold()

    def hold(self) -> None:
        """Stop it where it is, if a trajectory can move it and it is not known to rest."""
        if self.can_be_held and not self._is_known and not self.holding:
            self._motion, self._command, self.posture = None, '', Posture.UNKNOWN
            self._hold = JointHold(self._limits.joint_max_age_s, can_cancel=self.can_be_cancelled)

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

    def record(self, angles: Sequence[float], now: float) -> str:
        """Take a reading of the joints. Returns a contradiction as text, or ''."""
        self._reading = Reading(tuple(angles), now)
        if self._motion is not None:
            self._motion.record(self._reading)
        elif self._hold is not None:
            self._hold.record(self._reading)
        else:
            was, state = self.posture, self.state
            self._compare(self._reading)
            if was is not self.posture and was is not Posture.UNKNOWN:
                return f'Joint states contradict: {self.name} was {state}'
        return ''

    def _compare(self, reading: Reading) -> None:
        """A part that rests is where its last command has led, or its posture is unknown."""
        if self._is_known:
            target = self.commands[self._command].target_rad
            if not reading.near(target, self._limits.tolerance_rad):
                self.failed()

    def watch(self, now: float) -> tuple[str, bool]:
        """Apply what depends on time. Returns the reason of a posture that is lost, or '', and
        whether only an alarm can tell it: the caller of a command gets its reason.
        """
        if self._motion is not None:
            done = self._motion.outcome(now, self._reading)
            if done is False:
                command = self._command
                self.failed()
                return f'{self.title} not confirmed by joint states: {command}', False
            if done:
                stows = self.stows(self._command)
                self.posture = Posture.STOWED if stows else Posture.DEPLOYED
                self._motion = None
        elif self._hold is not None:
            if self._hold.is_done:
                self._hold = None
        elif self._reading is not None and self._must_be_seen and not self._is_heard(now):
            self._reading = None
            self.failed()
            return f'Joint states lost: {self.name} unknown', True
        return '', False

    @property
    def title(self) -> str:
        """Its name at the beginning of a sentence."""
        return self.name.capitalize()

    @property
    def _must_be_seen(self) -> bool:
        """Whether its posture is unknown once its joints fall silent."""
        return self._is_known

    def next_wakeup(self, now: float) -> float | None:
        """The time by which to call ``watch`` again; None if nothing is due."""
        if self.busy or self.holding:
            return now + CHECK_S
        if self._must_be_seen and self._reading is not None:
            return self._reading.at + self._limits.joint_max_age_s + 0.01
        return None

    def _is_heard(self, now: float) -> bool:
        reading = self._reading
        return reading is not None and now - reading.at <= self._limits.joint_max_age_s


class Appendage(Part):
    """A part of the robot's profile, e.g. an arm."""

    def __init__(self, name: str, profile: AppendageProfile, limits: MastConfig) -> None:
        super().__init__(name, profile.commands, profile.stowed_rad, limits)
        self.can_be_held = profile.can_be_held
        self.can_be_cancelled = profile.can_be_cancelled
        self.hold()  # an earlier process may have left it moving


class Mast(Part):
    """The mast. Its joints may show that it is up, at any heading; that it is down, only together
    with a confirmed command. The first joint raises it, the second turns it.
    """

    def __init__(self, config: MastConfig) -> None:
        ends = (
            MastCommand(config.open_rad, config.open_duration_s),
            MastCommand(config.closed_rad, config.close_duration_s),
            MastCommand(config.rotated_rad, config.rotate_duration_s),
        )
        commands = dict(zip(MAST_COMMANDS, ends, strict=True))
        super().__init__(MAST, commands, config.closed_rad, config)
        self._up_rad = config.open_rad[0]

    @property
    def state(self) -> str:
        if self.posture is Posture.MOVING:
            return 'closing' if self.stowing else 'opening'
        return {Posture.STOWED: 'closed', Posture.DEPLOYED: 'open'}.get(self.posture, 'unknown')

    def drive_refusal(self) -> str:
        return '' if self.is_stowed else NEED_TO_CLOSE_MAST

    def refusal(self, command: str, now: float) -> str:
        is_down = command == 'mast_rotate' and self.is_stowed
        return NEED_TO_OPEN_MAST if is_down else super().refusal(command, now)

    def _compare(self, reading: Reading) -> None:
        raised, turn = reading.angles
        tolerance = self._limits.tolerance_rad
        if self.is_stowed and reading.near(self._stowed_rad, tolerance):
            return
        is_up = abs(raised - self._up_rad) <= tolerance and math.isfinite(turn)
        if is_up and not reading.near(self._stowed_rad, tolerance):
            self.posture = Posture.DEPLOYED
        elif self._is_known:
            self.failed()

    @property
    def _must_be_seen(self) -> bool:
        return self.is_stowed
