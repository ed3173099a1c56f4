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

from collections.abc import Sequence
from enum import Enum
from functools import partial
import math
from typing import Any, NamedTuple

from curiosity_rosa_demo.domain.models import NEED_TO_CLOSE_MAST, NEED_TO_OPEN_MAST
from curiosity_rosa_demo.domain.refusal import RefusalCode
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


KNOWN: tuple[Posture, ...] = (Posture.STOWED, Posture.DEPLOYED)


class Reading(NamedTuple):
    """The angles of a part's joints, in the order of its profile, and when they came."""

    angles: tuple[float, ...]
    at: float

    def near(self, target: Sequence[float], tolerance: float) -> bool:
        """Whether each joint is at its target; never where an angle is not a number."""
        return all(abs(a - b) <= tolerance for a, b in zip(self.angles, target, strict=True))


class Part:
    """``limits``: the tolerance, the margin and the greatest age of a reading of its joints.

    A motion lasts from the call of its service to its confirmation by the joints. A stop of joints
    that a trajectory moves tells them to hold where they are, again and again, until they stand
    still. Goals of an action are cancelled even without joint states.
    """

    must_be_seen = KNOWN  # each is unknown once the joints, which were heard, fall silent

    def __init__(self, name: str, profile: AppendageProfile, limits: MastConfig) -> None:
        self.name, self.commands, self.stows = name, profile.commands, profile.stows
        self.title = name.capitalize()  # at the beginning of a sentence
        self.can_be_held, self._can_cancel = profile.can_be_held, profile.can_be_cancelled
        self.holding = False  # a stop of it has not ended yet
        self._profile, self._limits = profile, limits
        self._reading: Reading | None = None
        self._ever_heard = False
        self._answered_at: float | None = None
        self._rest(Posture.UNKNOWN)
        self.hold()  # an earlier process may have left it moving

    # --- what it is -------------------------------------------------------------------------

    @property
    def state(self) -> str:
        """The posture, as the adapter's status names it."""
        return self.posture.value

    @property
    def busy(self) -> bool:
        return self.posture is Posture.MOVING

    @property
    def stowing(self) -> bool:
        return self.busy and self.stows(self._command)

    @property
    def is_stowed(self) -> bool:
        return self.posture is Posture.STOWED

    @property
    def _is_known(self) -> bool:
        return self.posture in KNOWN

    def reached(self, command: str) -> bool:
        """Whether the last motion was this command and it is still where that leads."""
        led_to = Posture.STOWED if self.stows(command) else Posture.DEPLOYED
        return self._command == command and self.posture is led_to

    @property
    def joints(self) -> Sequence[str]:
        return self._profile.joints

    def heard(self, now: float) -> Reading | None:
        """The newest reading of its joints; None if it is old."""
        reading = self._reading
        old = reading is None or now - reading.at > self._limits.joint_max_age_s
        return None if old else reading

    def drive_refusal(self) -> str:
        """Why the base may not drive while it is not stowed."""
        return RefusalCode.NOT_STOWED.text(part=self.name, stow=self._profile.stow_command)

    def refusal(self, command: str, now: float) -> str:
        """Why its posture does not allow this command; '' if it does."""
        settings = self.commands[command]
        if settings.by_trajectory and self.heard(now) is None:
            return f'{self.name}: no joint states, so a stop could not hold it'
        if settings.only_after and not any(map(self.reached, settings.only_after)):
            return f'{self.name} must first be where {" or ".join(settings.only_after)} leads'
        return ''

    # --- what happens to it -----------------------------------------------------------------

    def begin(self, command: str) -> None:
        """The caller calls the command's service, or sends its trajectory or goal, now."""
        self.holding = False
        self._rest(Posture.MOVING, command)

    def answered(self, now: float) -> None:
        """The robot's service answered. The joints now have duration + margin to confirm."""
        if self.busy:
            self._answered_at = now

    def failed(self) -> None:
        self._rest(Posture.UNKNOWN)
        self.hold()

    def hold(self) -> None:
        """Stop it where it is, if a trajectory can move it and it is not known to rest."""
        if self.can_be_held and not self._is_known and not self.holding:
            self._rest(Posture.UNKNOWN)
            self.holding = True
            self._sent_at: float | None = None
            self._cancelled_at: float | None = None  # without a reading
            self._still_from: Reading | None = None  # the first reading of the standstill

    def take_hold(self, now: float) -> tuple[float, ...] | None:
        """The angles that the caller commands it to hold now; none: they are not known, so only
        cancel its goals. None: nothing is due.
        """
        if not self.holding:
            return None
        silent = bool(self._unseen(now))
        if silent and not self._can_cancel:
            return None
        last = self._cancelled_at if silent else self._sent_at
        if last is not None and now < last + REPEAT_S:
            return None
        if silent or self._reading is None:
            self._cancelled_at = now
            return ()
        self._sent_at = now
        return self._reading.angles

    def hold_problem(self, now: float) -> str:
        """Why a stop of it has not ended; '' without one."""
        if not self.holding:
            return ''
        return f'{self.name}: {self._unseen(now) or "its joints still move"}'

    def record(self, angles: Sequence[float], now: float) -> str:
        """Take a reading of the joints. Returns a contradiction as text, or ''."""
        self._reading = reading = Reading(tuple(angles), now)
        self._ever_heard = True
        was, state = self.posture, self.state
        if self.busy:
            self._was_elsewhere |= not self._is_at_target(reading)
        elif self.holding:
            self._watch_standstill(reading)
        else:
            self._compare(reading)
        contradicts = was is not self.posture and was is not Posture.UNKNOWN
        return f'Joint states contradict: {self.name} was {state}' if contradicts else ''

    def watch(self, now: float) -> tuple[str, bool]:
        """Apply what depends on time. Returns the reason of a posture that is lost, or '', and
        whether only an alarm can tell it: the caller of a command gets its reason.
        """
        if self.busy:
            done, command = self._outcome(now), self._command
            if done:
                stows = self.stows(command)
                self._rest(Posture.STOWED if stows else Posture.DEPLOYED, command)
            elif done is False:
                self.failed()
                return f'{self.title} not confirmed by joint states: {command}', False
        elif self._reading and self.posture in self.must_be_seen and not self.heard(now):
            self._reading = None
            self.failed()
            return f'Joint states lost: {self.name} unknown', True
        return '', False

    def next_wakeup(self, now: float) -> float:
        """The time by which to call ``watch`` again."""
        if self.busy or self.holding:
            return now + CHECK_S
        if self.posture in self.must_be_seen and self._reading is not None:
            return self._reading.at + self._limits.joint_max_age_s + 0.01
        return math.inf

    # --- internals --------------------------------------------------------------------------

    def _rest(self, posture: Posture, command: str = '') -> None:
        """``command``: of the running motion, or of the last one that was confirmed."""
        self.posture, self._command = posture, command
        self._answered_at = None
        self._was_elsewhere = False

    def _is_at_target(self, reading: Reading) -> bool:
        target = self.commands[self._command].target_rad
        return reading.near(target, self._limits.tolerance_rad)

    def _unseen(self, now: float) -> str:
        """Why the joints cannot be held; '' if they can."""
        if (reading := self.heard(now)) is None:
            return 'no joint states'
        return '' if all(map(math.isfinite, reading.angles)) else 'an angle is not a number'

    def _outcome(self, now: float) -> bool | None:
        """True when done, False when failed, None while in progress.

        Joints at the target count only after a reading elsewhere or after the known duration:
        before that, they may show the pose from before the motion. Of a robot whose joints were
        never heard the known duration decides: where they fell silent, a controller that died may
        have moved nothing.
        """
        if self._answered_at is None:
            return None
        elapsed, duration_s = now - self._answered_at, self.commands[self._command].duration_s
        duration_over = elapsed >= duration_s
        if not self._ever_heard:
            return duration_over or None
        if (reading := self.heard(now)) is not None and self._is_at_target(reading):
            return self._was_elsewhere or duration_over or None
        return False if elapsed > duration_s + self._limits.confirm_margin_s else None

    def _watch_standstill(self, reading: Reading) -> None:
        """End the stop once the joints stand still."""
        if self._sent_at is None or reading.at < self._sent_at:
            return
        first = self._still_from
        if first is None or not reading.near(first.angles, STILL_RAD):
            self._still_from = reading
        elif reading.at - first.at >= SETTLE_S:
            self.holding = False

    def _compare(self, reading: Reading) -> None:
        """A part that rests is where its last command has led, or its posture is unknown."""
        if self._is_known and not self._is_at_target(reading):
            self.failed()


class Mast(Part):
    """The mast. Its joints may show that it is up, at any heading; that it is down, only together
    with a confirmed command. The first joint raises it, the second turns it. It moves by services,
    which no stop can end.
    """

    must_be_seen = (Posture.STOWED,)

    def __init__(self, config: MastConfig) -> None:
        command: Any = partial(AppendageCommand.model_construct, type='std_srvs/srv/Empty')
        ends = (
            command(target_rad=config.open_rad, duration_s=config.open_duration_s),
            command(target_rad=config.closed_rad, duration_s=config.close_duration_s),
            command(target_rad=config.rotated_rad, duration_s=config.rotate_duration_s),
        )
        profile: Any = AppendageProfile.model_construct(
            joints=config.joints,
            stowed_rad=config.closed_rad,
            commands=dict(zip(MAST_COMMANDS, ends, strict=True)),
        )
        super().__init__(MAST, profile, config)

    @property
    def state(self) -> str:
        if self.busy:
            return 'closing' if self.stowing else 'opening'
        return {Posture.STOWED: 'closed', Posture.DEPLOYED: 'open'}.get(self.posture, 'unknown')

    def drive_refusal(self) -> str:
        return NEED_TO_CLOSE_MAST

    def refusal(self, command: str, now: float) -> str:
        is_down = command == 'mast_rotate' and self.is_stowed
        return NEED_TO_OPEN_MAST if is_down else super().refusal(command, now)

    def _compare(self, reading: Reading) -> None:
        (raised, turn), limits = reading.angles, self._limits
        if reading.near(limits.closed_rad, limits.tolerance_rad):
            if self._is_known and not self.is_stowed:
                self.failed()
        elif abs(raised - limits.open_rad[0]) <= limits.tolerance_rad and math.isfinite(turn):
            self.posture = Posture.DEPLOYED
        elif self._is_known:
            self.failed()
