# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The safety rules: whether the rover may move (``_drive_refusal``: mast, e-stop, agent), and what
stops it (``_watch_motion``: leash, a dead agent). Pure: no ROS, no threads, given clocks. The
agent's guardrails, agent/react/guardrails.py, ask some of it earlier.

The rules hold two facts: the posture of each part (the mast, the appendages of the robot's
profile) and the motion (still, moving).

- The rover may move only while each part is known to be stowed. Unknown counts as not stowed. Only
  a confirmed command makes a part known to be stowed.
- A stop also holds each part that a trajectory can move where it is, unless it is known to rest;
  so do the agent's silence, SAFE unless it is being stowed, and joints that contradict.
- A robot without a mobile base is its appendages alone: it stands still, and has no stop to call.
  A robot without a mast has nothing of it to stow.
- The motion counts as moving from before the start call is sent until the rover is known to be
  still. An unanswered start call keeps it moving: the call may still take effect.
- A stop is always accepted. It is complete when ``/move_stop`` has answered and fresh odometry, if
  there is any, reports standstill. When the call fails, zero Twists are due until odometry does.
- Four events lead to a stop: a motion exceeds its leash, a part of a moving rover is no longer
  known to be stowed, a start call answers late, the rover moves without a request. So do the
  watches of a drive: an obstacle, wheels that are stuck or slip, a tilt, odometry that is silent,
  a driver that is.
- After the first heartbeat of the agent, its silence leads to a stop and forbids motion, and so do
  two agents at once.
- While another adapter commands the same rover, the rover does not move and no part leaves its
  stowed posture.
- While the agent is in SAFE, only a command that stows may start; any motion of the rover is
  stopped.
- A motion that a stop does not end is reported as a violation, for the agent to enter SAFE.
- A body that still moves a little on standing wheels settles, for a bounded time: its stop is
  pending, nothing may start, and there is neither a zero Twist nor an alarm.
- The e-stop leads to a stop. While it is pressed, neither the rover nor a part may start moving.

Each input is a ``@step``: it reads the clocks once, so all rules see the same time, and adds
itself to the log of inputs. The same steps at the same times have the same results:
recording/check.py replays them. After each step the caller executes what ``due`` returns. Times
are seconds of a steady clock. The travel clock may run faster (simulated time), never slower. What
the simulator does (the parts, messages, braking) is timed by the simulation's clock, which may run
slower, within its bound; no leash and no request of a stop waits for it.

Over 400 lines: all rules read and change the same two facts and are verified together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
import math
from typing import Any, NoReturn

from curiosity_rosa_demo.adapter.agent_link import AgentLink, contest
from curiosity_rosa_demo.adapter.part import MAST, Mast, Part, Posture
from curiosity_rosa_demo.adapter.steps import (
    AlarmFold,
    Due,
    InputLog,
    LogEntry,
    MotionRefused,
    step,
)
from curiosity_rosa_demo.adapter.stop import is_still, motion_text, Odometry, Stop
from curiosity_rosa_demo.adapter.watches import DriveWatch, ObstacleStop, Pose, Settling
from curiosity_rosa_demo.domain.models import (
    E_STOP_PRESSED,
    MOVE_IN_PROGRESS,
    STOP_NOT_CONFIRMED,
    STOPPED_UNASKED,
)
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.clocks import SimulatedTime
from curiosity_rosa_demo.infra.config.limits import Thresholds
from curiosity_rosa_demo.infra.config.robot import RobotProfile

LEASH_CHECK_S = 0.1
NOTHING: Mapping[str, float] = {}
STOPPED_WHILE_STARTING = 'Stopped while starting'


class Motion(str, Enum):
    STILL = 'still'
    MOVING = 'moving'


class Rules:
    """The caller holds one lock around each step and the execution of what is due after it. The
    attributes may be read between two steps; they show the last step's time.
    """

    def __init__(
        self,
        thresholds: Thresholds,
        *,
        stop_name: str,
        steady: Callable[[], float],
        ros_clock: Any,
        robot: RobotProfile | None = None,
    ) -> None:
        robot = robot or RobotProfile()  # a mobile base, a mast and no appendages
        self._config = config = thresholds.motion
        self.time = time = SimulatedTime(steady, ros_clock, config)
        self.inputs = InputLog()
        self._stop_timed_out = RefusalCode.NO_ANSWER.text(name=stop_name)
        self.has_base = robot.mobile_base
        self.parts: dict[str, Part] = {MAST: Mast(thresholds.mast)} if robot.has_mast else {}
        for name, profile in robot.appendages.items():
            self.parts[name] = Part(name, profile, thresholds.mast)
        self.motion = Motion.STILL
        self.last_error = ''
        self.violation = ''  # a motion that the adapter could not end; '' without one
        self.other_drivers: str | None = None  # foreign nodes that drive; None: nobody has looked
        self.other_adapters: tuple[str, ...] = ()  # names of nodes that command the same rover
        self.e_stop = False
        self.stops_ended = -1  # the highest number whose stop is complete
        self._stops_confirmed = -1  # the highest one with a standstill that odometry has shown
        self._stop_number = 0  # of the newest call
        self._asked_number = 1  # of the first call since a stop was requested last
        self._stop: Stop | None = None
        self._stop_failure = self._error_before = ''
        self._runs_away: tuple[float, bool | None] = (0.0, None)  # m/s; whether the wheels stand
        self._moving_since, self._advanced_before = time.steady, time.advanced
        self._serial = 0
        # The start calls without an answer, and whether each was given up. 0: of an earlier
        # process.
        self._starts = {0: True}
        self._odometry: Odometry | None = None
        self.pose: Pose | None = None  # as odometry last reported it
        self._alarms = AlarmFold()
        self.agent = AgentLink(config.heartbeat_max_age_s, time)
        self._moved_since: float | None = None  # by a motion that the adapter did not start
        self._settling = Settling(config, thresholds.mast.joint_max_age_s, time)
        self.drive = DriveWatch(thresholds, time)
        self.obstacles = ObstacleStop(thresholds, time)
        if self.has_base:
            self._request_stop()  # an earlier process may have left the rover moving
        self.inputs.append(LogEntry(time.steady, time.ros_ns, 'start'))

    # --- what the rules know ----------------------------------------------------------------

    @property
    def mast(self) -> Part | None:
        """None: the robot has none."""
        return self.parts.get(MAST)

    @property
    def stopping(self) -> bool:
        return self._stop is not None

    @property
    def pending(self) -> bool:
        """Whether a stop of the base, or of a part, has not ended."""
        return self._stop is not None or any(part.holding for part in self.parts.values())

    @property
    def settles(self) -> bool:
        """Whether the body still moves a little on standing wheels, within its time. Not while
        zero Twists are due: they, and no brake, may hold down the wheels of another driver.
        """
        flooded = self._stop is not None and self._stop.floods
        return not flooded and self._settling.goes_on(self._fresh)

    @property
    def moving(self) -> bool:
        """Whether the adapter started a motion or odometry reports one."""
        return self.motion is Motion.MOVING or self._moves_unasked

    @property
    def move_allowed(self) -> bool:
        """Whether a drive may start, but for what its own way holds."""
        return self.has_base and not self._drive_refusal()

    def next_wakeup(self) -> float:
        """Steady time by which to call ``due`` again."""
        now, simulated = self.time.steady, self.time.simulated
        # The simulation's clock is never faster than steady time: nothing is missed.
        parts = [now + part.next_wakeup(simulated) - simulated for part in self.parts.values()]
        if self._stop is not None:
            base = self._stop.next_wakeup()
        elif self.motion is Motion.MOVING or self.settles:
            base = now + LEASH_CHECK_S
        else:
            base = self._unasked_until()
        return min(base, self.agent.next_wakeup(), self._alarms.next_wakeup(), *parts)

    # --- requests ---------------------------------------------------------------------------

    @step
    def check_motion(self, motion: str, _: str = '') -> None:
        """Raises MotionRefused when ``motion`` may not start now. A log of an earlier adapter has
        a second argument, also of ``start_motion``, that says no more than its times do.
        """
        if why := self._drive_refusal(motion):
            self._refuse(why)

    @step
    def start_motion(self, motion: str, _: str = '') -> int:
        """The token of a motion, whose start call the caller sends now. Raises MotionRefused."""
        if why := self._drive_refusal(motion):
            self._refuse(why)
        if self.motion is Motion.STILL:
            # Consecutive motions without a standstill share the leash of the first.
            self._moving_since, self._advanced_before = self.time.steady, self.time.advanced
        self.motion, self._moved_since, self.last_error = Motion.MOVING, None, ''
        self.drive.begin(motion, self._moving_since)
        self._serial += 1
        self._starts[self._serial] = False
        return self._serial

    @step
    def motion_started(self, token: int) -> None:
        """The start call answered. If it was late or a stop overtook it, request another stop.
        Raises MotionRefused if the motion is over.
        """
        late = self._starts.pop(token, False)
        if late or self.stopping or self.motion is Motion.STILL:
            self._request_stop()
            raise MotionRefused(self.last_error or STOPPED_WHILE_STARTING)

    @step
    def motion_failed(self, token: int, reason: str) -> None:
        """The start call failed or timed out. It may still take effect, so request a stop."""
        self._starts[token] = True
        self.last_error = reason
        self._request_stop()

    @step
    def check_part(self, name: str, command: str) -> None:
        """Raises MotionRefused when this command of the part may not start now."""
        if why := self._part_refusal(self.parts[name], command):
            self._refuse(why)

    @step
    def start_part(self, name: str, command: str) -> bool:
        """Whether the caller must call the robot's service now: not if the command stows what is
        stowed. Raises MotionRefused.
        """
        part = self.parts[name]
        if why := self._part_refusal(part, command):
            self._refuse(why)
        # A mast that is down may be told so again while the rover stands.
        again = part is self.mast and self.motion is Motion.STILL
        if part.is_stowed and part.stows(command) and not again:
            return False
        self.last_error = ''
        part.begin(command)
        return True

    @step
    def part_started(self, name: str) -> None:
        self.parts[name].answered(self.time.simulated)

    @step
    def part_failed(self, name: str, reason: str) -> None:
        self.parts[name].failed()
        self.last_error = reason

    @step
    def end_part(self, name: str, command: str) -> None:
        """Raises MotionRefused when the part has not reached the end of ``command``."""
        if not self.parts[name].reached(command):
            raise MotionRefused(self.last_error or f'{command} was interrupted')

    @step
    def request_stop(self) -> int:
        """Always accepted. The number of the call that is due next."""
        return self._request_stop()

    @step
    def stop_answered(self, number: int) -> None:
        if self._stop is not None and number < self._asked_number:
            self._stop.earlier_answered()
        elif self._stop is not None:
            self._stop.answered()
            # The rover has served every start call that was sent before this stop.
            self._starts = {token: late for token, late in self._starts.items() if not late}

    @step
    def stop_failed(self, number: int, reason: str) -> None:
        if self._stop is not None and number == self._stop_number:
            self._stop.failed(reason)

    @step
    def end_stop(self, number: int) -> str:
        """Why odometry and joint states do not confirm the standstill after this stop; '' if they
        do.
        """
        for part in self.parts.values():
            if problem := part.hold_problem(self.time.simulated):
                return f'{STOP_NOT_CONFIRMED}: {problem}'
        if self._stops_confirmed >= number:
            return ''
        fresh, failure = self._fresh, '' if self._stop is None else self._stop.failure
        if fresh is None:
            seen = 'no odometry'
        elif not fresh.still:
            seen = motion_text(fresh.speed, self._settling.wheels_stand)
        else:
            seen = '' if failure else 'the rover has not stood still for long enough'
        return f'{STOP_NOT_CONFIRMED}: {"; ".join(filter(None, (seen, failure)))}'

    @step
    def twist_lost(self) -> None:
        """The zero Twist that was due could not be published."""
        if self._stop is not None:
            self._stop.twist_lost()

    @step
    def refuse(self, reason: str) -> None:
        """The caller refuses a request, for a reason that the rules do not know."""
        self.last_error = reason

    # --- observations -----------------------------------------------------------------------

    @step
    def odometry(
        self, pose: Pose | None, speed: float, turn_rate: float, tilt_rad: float | None
    ) -> None:
        """As ``DriveWatch.record``."""
        self.pose = pose
        self.drive.record(pose, speed, turn_rate, tilt_rad)
        still = is_still(self._config, speed, turn_rate)
        self._odometry = Odometry(self.time.steady, still, abs(speed), abs(turn_rate))
        self._settling.record(self._odometry, driving=self._is_driving)
        if still:
            self._moved_since = None
        elif self.motion is Motion.STILL and self._moved_since is None:
            self._moved_since = self.time.steady

    @step
    def joints(self, name: str, angles: Sequence[float]) -> None:
        """Radians of the joints of the part ``name``, in the order of its profile."""
        if alarm := self.parts[name].record(angles, self.time.simulated):
            self._alarm(alarm)

    @step
    def wheels(self, fastest_radps: float) -> None:
        """The speed of the fastest wheel, rad/s without sign; NaN: not known."""
        self._settling.record_wheels(fastest_radps)

    @step
    def drive_command(self, topic: str) -> None:
        """A node of the rover that drives, or another driver, has sent a command. Ignored unless
        the rover drives.
        """
        if self._is_driving:
            self.drive.record_command(topic)

    @step
    def scan(self, sees_ahead: bool | None = None, free_m: Mapping[str, float] = NOTHING) -> None:
        """As ``ObstacleStop.record``."""
        self.obstacles.record(sees_ahead, free_m)

    @step
    def scan_gone(self) -> None:
        """The scan has no publisher. Ignored while the rover moves."""
        if not self.moving:
            self.obstacles.forget()

    @step
    def set_e_stop(self, pressed: bool) -> None:
        """The button's current state. A motion of a part that services alone move continues: no
        service can stop it.
        """
        if pressed and not self.e_stop:
            self._request_stop('E-stop pressed: the rover was stopped')
        self.e_stop = pressed

    @step
    def heartbeat(self, tick: int, latch: str) -> None:
        """The agent's kernel published its tick, and its reason for SAFE or ''."""
        self.agent.beat(tick, latch)

    @step
    def agents(self, alive: int, names: Sequence[str]) -> None:
        """How many publishers of the heartbeat are alive, and the names of their nodes, which may
        be known later: the reason of a stop that they have caused then names them.
        """
        before = self.agent.stop_reason()
        self.agent.set_publishers(alive, names)
        reason = self.agent.stop_reason()
        if names and before and before == self.last_error and reason not in (before, ''):
            self._alarm(reason)

    @step
    def agent_gone(self) -> None:
        """The heartbeat has no publisher. Ignored while the rover moves: the silence must still
        stop it.
        """
        if not self.moving:
            self.agent.forget()

    @step
    def adapters(self, names: Sequence[str]) -> None:
        """The names of the other adapters of this rover. A motion of either is stopped by both."""
        others, before = tuple(names), contest(self.other_adapters)
        if others and others != self.other_adapters:
            self._request_stop(f'{contest(others)}; the rover was stopped')
        elif not others and self.last_error in (before, f'{before}; the rover was stopped'):
            self.last_error = ''
        self.other_adapters = others

    @step
    def drivers(self, names: str) -> None:
        """The foreign nodes that publish Twists, as the operator reads them; '' without any. They
        name a violation anew.
        """
        is_news, self.other_drivers = names != self.other_drivers, names
        if is_news and self.violation:
            self._report_violation()

    # --- time -------------------------------------------------------------------------------

    @step
    def due(self) -> Due:
        """Apply the rules that depend on time. Call it after each step, and by ``next_wakeup``."""
        warning = self._watch_drive() if self._is_driving else ''
        self._watch_parts()
        self._watch_motion()
        stop_call, zero_twist = self._advance_stop()
        holds = {name: part.take_hold(self.time.simulated) for name, part in self.parts.items()}
        return Due(
            stop_call,
            zero_twist,
            {name: list(angles) for name, angles in holds.items() if angles is not None},
            self._alarms.take_due(self.time.steady),
            [warning] if warning else [],
        )

    # --- internals --------------------------------------------------------------------------

    @property
    def _fresh(self) -> Odometry | None:
        """The newest odometry; None if it is old."""
        max_age_s = self.time.stretched(self._config.odometry_max_age_s)
        old = self._odometry is None or self.time.steady - self._odometry.at > max_age_s
        return None if old else self._odometry

    @property
    def _moves_unasked(self) -> bool:
        """Whether fresh odometry reports a motion that the adapter did not start."""
        return self._moved_since is not None and self._fresh is not None

    def _unasked_until(self) -> float:
        """When such a motion, which may last for ``settle_s``, must be stopped."""
        if self._moved_since is None or not self._config.stop_unexpected or not self._fresh:
            return math.inf
        return self._moved_since + self._config.settle_s

    @property
    def _is_driving(self) -> bool:
        return self.motion is Motion.MOVING and self._stop is None

    def _drive_refusal(self, motion: str = '') -> str:
        """Why nothing, or not ``motion``, may drive now; '' if it may."""
        if motion and self.time.problem:
            return self.time.problem
        if self.e_stop:
            return E_STOP_PRESSED
        if self.agent.latch or self.other_adapters:
            return self.agent.safe_refusal() or contest(self.other_adapters)
        for part in self.parts.values():
            if part.posture is not Posture.STOWED and (why := part.drive_refusal()):
                return why
        if why := self.agent.refusal() or ('' if self._stop is None else MOVE_IN_PROGRESS):
            return why
        return (self.drive.refusal or self.obstacles.refusal(motion)) if motion else ''

    def _part_refusal(self, part: Part, command: str) -> str:
        """Only a command that stows may start in SAFE, beside another adapter, and while a motion
        of the base ends.
        """
        stows = part.stows(command)
        if self.e_stop:
            return E_STOP_PRESSED
        if not stows and (why := self.agent.safe_refusal() or contest(self.other_adapters)):
            return why
        if part.busy:
            return f'{part.title} is moving'
        if stows and part.is_stowed:
            return ''
        # A person may raise the mast without the agent: it does not reach out.
        if not stows and part is not self.mast and (why := self.agent.refusal()):
            return why
        moves = self.motion is Motion.MOVING and not (stows and self.stopping)
        if moves or (not stows and self._moves_unasked):
            return MOVE_IN_PROGRESS
        return part.refusal(command, self.time.simulated)

    def _refuse(self, why: str) -> NoReturn:
        """Raises MotionRefused."""
        self.last_error = why
        raise MotionRefused(why)

    def _request_stop(self, reason: str = '', *, flood: bool = False) -> int:
        """Start a stop. Return the number of the call that the next ``due`` holds. ``flood``: the
        zero Twists do not wait until the call has failed.
        """
        if reason:
            self._alarm(reason)
        for part in self.parts.values():
            part.hold()
        if not self.has_base:
            self._stop_number += 1
            self.stops_ended = self._stops_confirmed = self._stop_number
            return self._stop_number
        if self._stop is None:
            self._stop = Stop(self._config, self._stop_timed_out, self.time)
        else:
            self._stop.again()
        if flood:
            self._stop.flood()
        self.motion = Motion.MOVING
        self._asked_number = self._stop_number + 1
        return self._asked_number

    def _alarm(self, reason: str) -> None:
        self.last_error = reason
        self._alarms.add(reason, self.time.steady)

    def _report_violation(self) -> None:
        speed, wheels_stand = self._runs_away
        seen = [] if wheels_stand is None else [motion_text(speed, wheels_stand)]
        if self.other_drivers:
            seen.append(f'Twists are also published by {self.other_drivers}')
        elif self.other_drivers is not None and not wheels_stand:
            seen.append('no other driver')
        details = f' ({"; ".join(seen)})' if seen else ''
        self.violation = f'The rover moves on although it was stopped{details}'
        self._alarm(self.violation)

    def _watch_drive(self) -> str:
        """Stop a drive whose way must end; the warning that is due, or ''."""
        drive, warning = self.drive, ''
        if not (reason := self.obstacles.refusal(drive.motion, drives=True)):
            warning = drive.warning()
            reason = drive.stop_reason()
        if reason:
            self._request_stop(f'{reason}; the rover was stopped')
        elif reason := drive.driver_silence():
            self._request_stop(f'{reason}; the rover was stopped', flood=True)
        return warning

    def _watch_parts(self) -> None:
        """A motion of one ends as a motion of the base does, where a trajectory can be stopped."""
        for part in self.parts.values():
            reason, is_alarm = part.watch(self.time.simulated)
            if is_alarm:
                self._alarm(reason)
            elif reason:
                self.last_error = reason
            stoppable = part.busy and part.can_be_held and not part.stowing
            if stoppable and (reason := self.agent.stop_reason()):
                self._request_stop(reason)

    def _watch_motion(self) -> None:
        """Stop what moves for too long, or although something forbids it."""
        time, max_s = self.time, self._config.max_duration_s
        if not self._is_driving:
            self.drive.end()
            forbids = ''
            if self._moves_unasked and not self.stopping:
                forbids = self._forbids_motion()
            if (forbids or time.steady >= self._unasked_until()) and not self.settles:
                self._moved_since = None
                self._request_stop(f'{STOPPED_UNASKED} {forbids}'.rstrip())
        elif part := next((each for each in self.parts.values() if not each.is_stowed), None):
            self._request_stop(RefusalCode.STOPPED.text(part=part.name, state=part.state))
        elif max(time.steady - self._moving_since, time.advanced - self._advanced_before) >= max_s:
            self._request_stop(f'Stopped by the leash after {max_s:g} s')
        elif reason := self.agent.stop_reason():
            self._request_stop(reason)

    def _forbids_motion(self) -> str:
        """What lets no motion go on, whoever started it; '' without."""
        if self.e_stop:
            return 'with the e-stop pressed'
        if self.agent.latch:
            return 'in SAFE'
        return 'beside another adapter' if self.other_adapters else ''

    def _advance_stop(self) -> tuple[int | None, bool]:
        """The number of a due call, and whether a zero Twist is due."""
        stop, fresh, settles = self._stop, self._fresh, self.settles
        if stop is None:
            return None, False
        call, twist = stop.advance(fresh, settles=settles)
        if stop.failure != self._stop_failure:
            if not self._stop_failure:
                self._error_before = self.last_error
            self.last_error = self._stop_failure = stop.failure
        if call:
            self._stop_number += 1
        runs_away = stop.runs_away(fresh, settles=settles)
        if runs_away and fresh is not None and not self.violation:
            self._runs_away = fresh.speed, self._settling.wheels_stand
            self._report_violation()
        if not self._starts and not call and stop.is_complete(fresh):
            self.motion, self._stop = Motion.STILL, None
            self.violation, self.stops_ended = '', self._stop_number
            if fresh is not None:
                self._stops_confirmed = self._stop_number
            if stop.failure and self.last_error == stop.failure:
                # Resolved: a later call, or zero Twists, stopped the rover.
                self.last_error = self._error_before
            self._stop_failure = ''
            return None, False
        return self._stop_number if call else None, twist
