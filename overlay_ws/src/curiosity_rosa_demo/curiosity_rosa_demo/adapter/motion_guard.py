# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rules that decide whether the rover may move. Pure: no ROS, no threads, an injected clock.

The guard holds two facts: the mast (closed, opening, open, closing, unknown) and the motion
(still, moving).

- The rover may move only while the mast is known to be closed. Unknown counts as open. Only a
  confirmed ``mast_close`` turns unknown into closed.
- Each appendage of the robot's profile is stowed, moving, deployed or unknown. The rover may move
  only while all of them are known to be stowed, by the same rule as its mast.
- A stop also holds each appendage that a trajectory can move where it is, unless it is known to
  rest; so do the agent's silence, SAFE unless it is being stowed, and joints that contradict.
- A robot without a mobile base is its appendages alone: it stands still, and has no stop to call.
  A robot without a mast has nothing of it to stow.
- The motion counts as moving from before the start call is sent until the rover is known to be
  still. An unanswered start call keeps it moving: the call may still take effect.
- A stop is always accepted. It is complete when ``/move_stop`` has answered and fresh odometry, if
  there is any, reports standstill. When the call fails, zero Twists are due until odometry does.
- Four events lead to a stop: a motion exceeds its leash, the mast of a moving rover is no longer
  known to be closed, a start call answers late, the rover moves without a request.
- After the first heartbeat of the agent, its silence leads to a stop and forbids motion, and so do
  two agents at once.
- While another adapter commands the same rover, the rover does not move and its mast does not
  rise.
- While the agent is in SAFE, only ``mast_close`` may start; any motion of the rover is stopped.
- A motion that a stop does not end is reported as a violation, for the agent to enter SAFE.
- A body that still moves a little on standing wheels settles, for a bounded time: its stop is
  pending, nothing may start, and there is neither a zero Twist nor an alarm.
- The e-stop leads to a stop. While it is pressed, neither the rover nor the mast may start moving.

The caller invokes a method, then ``poll()``, and executes the due commands; it holds one lock
around both. Times are seconds of a steady clock. ``travel_clock`` may run faster (simulated time),
never slower. What the simulator does (the mast, messages, braking) is timed by ``simulation``,
whose clock may run slower, within its bound; no leash and no request of a stop waits for it.

Over 300 lines: all rules read and change the same two facts and are verified together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from curiosity_rosa_demo.adapter.agent_link import AgentLink, contest, stopped_for_others
from curiosity_rosa_demo.adapter.alarm_fold import AlarmFold
from curiosity_rosa_demo.adapter.appendage import Appendage, Joints, Mast, MastAction, MastMotion
from curiosity_rosa_demo.adapter.stop import (
    motion_text,
    Odometry,
    Runaway,
    StopProcedure,
    unconfirmed_stop,
    violation_text,
)
from curiosity_rosa_demo.adapter.watches import Settling, UnexpectedMotion
from curiosity_rosa_demo.domain.models import (
    E_STOP_PRESSED,
    MOVE_IN_PROGRESS,
    NEED_TO_CLOSE_MAST,
    NEED_TO_OPEN_MAST,
    need_to_stow,
    service_timeout,
    STOP_NOT_CONFIRMED,
    stopped_for,
    STOPPED_FOR_MAST,
    STOPPED_UNASKED,
)
from curiosity_rosa_demo.infra.clocks import SimulationClock
from curiosity_rosa_demo.infra.config.robot import AppendageProfile
from curiosity_rosa_demo.infra.config.thresholds import MastConfig, MotionConfig

LEASH_CHECK_S = 0.1


class Motion(str, Enum):
    STILL = 'still'
    MOVING = 'moving'


class MotionRefused(Exception):
    """A rule forbids the motion. docs/reference/contracts.md lists the messages."""


@dataclass(frozen=True)
class DueCommands:
    """The commands that the caller must execute now."""

    stop_call: int | None = None  # call /move_stop; report its result with this number
    zero_twist: bool = False  # publish one; call zero_twist_lost when that fails
    # Angles by appendage; none: they are not known, so only cancel its goals.
    holds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


class MotionGuard:
    def __init__(
        self,
        motion: MotionConfig,
        mast: MastConfig,
        *,
        stop_name: str = '/move_stop',
        clock: Callable[[], float],
        travel_clock: Callable[[], float] | None = None,
        simulation: SimulationClock | None = None,
        appendages: Mapping[str, AppendageProfile] | None = None,
        mobile_base: bool,
        has_mast: bool,
    ) -> None:
        self._config, self._mast_config, self._has_base = motion, mast, mobile_base
        self._clock, self._travel_clock = clock, travel_clock or clock
        self._simulation = simulation or SimulationClock.of(None, motion, clock)
        self._stop_timed_out = service_timeout(stop_name)
        self.mast = Mast.UNKNOWN if has_mast else Mast.NONE
        self.appendages = {
            name: Appendage(name, config, mast) for name, config in (appendages or {}).items()
        }
        # An earlier process may have left the rover moving: stop it first.
        self.motion = Motion.MOVING if mobile_base else Motion.STILL
        self.last_error = ''
        self.violation = ''  # a motion that the adapter could not end; '' without one
        # Its motion_text, and whether the wheels stand.
        self._runs_away: tuple[str, bool | None] = ('', None)
        self._alarms = AlarmFold()
        self.other_drivers: str | None = None  # as set_other_drivers; None: nobody has looked
        self._moving_since = self._travel_clock()
        self._mast_motion: MastMotion | None = None
        self._joints: Joints | None = None
        self._odometry: Odometry | None = None
        self._moves_in_flight: set[int] = set()
        # 0: a start call of an earlier process that may still be unanswered.
        self._moves_unanswered: set[int] = {0}
        self._stop: StopProcedure | None = self._new_stop() if mobile_base else None
        self._runaway = Runaway(motion, self._simulation.stretched)
        self._runaway.begin(clock())
        self._stop_number = 0  # of the newest call
        self._stop_failure = ''
        self.stops_ended = -1  # the highest number whose stop is complete
        self._stops_confirmed = -1  # the highest one with a standstill that odometry has shown
        self._unexpected_motion = UnexpectedMotion(motion, self._simulation.stretched)
        self._settling = Settling(motion, mast.joint_max_age_s, self._simulation.stretched)
        self._agent = AgentLink(motion.heartbeat_max_age_s)
        self.e_stop = False
        self.other_adapters: tuple[str, ...] = ()  # names of nodes that command the same rover
        self._serial = 0

    # --- requests ---------------------------------------------------------------------------

    @property
    def stopping(self) -> bool:
        return self._stop is not None

    @property
    def moves_appendage(self) -> bool:
        """Whether the adapter started a motion of an appendage that has not ended."""
        return any(part.busy for part in self.appendages.values())

    @property
    def holding(self) -> bool:
        """Whether a stop of an appendage has not ended."""
        return any(part.holding for part in self.appendages.values())

    @property
    def settles(self) -> bool:
        """Whether the body still moves a little on standing wheels, within its time. Not while
        zero Twists are due: they, and no brake, may hold down the wheels of another driver.
        """
        flooded = self._stop is not None and bool(self._stop.failure)
        return not flooded and self._settling.goes_on(self._clock())

    @property
    def moving(self) -> bool:
        """Whether the adapter started a motion or odometry reports one."""
        return self.motion is Motion.MOVING or self._unexpected_motion.is_moving(self._clock())

    @property
    def move_allowed(self) -> bool:
        forbidden = self.e_stop or self._agent.latch or self.other_adapters or not self._has_base
        forbidden = forbidden or self._agent.refusal(self._clock())
        stowed = self.mast.is_stowed and self._unstowed() is None
        return stowed and not self.stopping and not forbidden

    def check_move(self) -> None:
        """Raises MotionRefused when no motion may start now."""
        if self.e_stop:
            raise self._refusal(E_STOP_PRESSED)
        if self._agent.latch:
            raise self._refusal(self._agent.safe_refusal())
        if self.other_adapters:
            raise self._refusal(contest(self.other_adapters))
        if not self.mast.is_stowed:
            raise self._refusal(NEED_TO_CLOSE_MAST)
        if part := self._unstowed():
            raise self._refusal(need_to_stow(part.name, part.config.stow_command))
        if reason := self._agent.refusal(self._clock()):
            raise self._refusal(reason)
        if self.stopping:
            raise self._refusal(MOVE_IN_PROGRESS)

    def begin_move(self) -> int:
        """Return the token of a new motion. The caller sends the start call under the same lock.
        Raises MotionRefused.
        """
        self.check_move()
        if self.motion is Motion.STILL:
            # Consecutive motions without a standstill share the leash of the first.
            self._moving_since = self._travel_clock()
        self.motion = Motion.MOVING
        self._unexpected_motion.reset()
        self._serial += 1
        self._moves_in_flight.add(self._serial)
        return self._serial

    def move_answered(self, token: int) -> None:
        """The start call answered. If it was late or a stop overtook it, request another stop."""
        late = token in self._moves_unanswered
        self._moves_in_flight.discard(token)
        self._moves_unanswered.discard(token)
        if late or self.stopping or self.motion is Motion.STILL:
            self.request_stop()

    def move_failed(self, token: int, reason: str) -> None:
        """The start call failed or timed out. It may still take effect, so request a stop."""
        self._moves_in_flight.discard(token)
        self._moves_unanswered.add(token)
        self.last_error = reason
        self.request_stop()

    def check_mast(self, action: MastAction) -> None:
        """Raises MotionRefused when this mast motion may not start now."""
        if self.e_stop:
            raise self._refusal(E_STOP_PRESSED)
        if self._agent.latch and action is not MastAction.CLOSE:
            raise self._refusal(self._agent.safe_refusal())
        if self.other_adapters and action is not MastAction.CLOSE:
            raise self._refusal(contest(self.other_adapters))
        if self._mast_motion is not None:
            raise self._refusal('Mast is moving')
        if self.motion is Motion.MOVING:
            stowing = action is MastAction.CLOSE and (self.stopping or self.mast is Mast.CLOSED)
            if not stowing:
                raise self._refusal(MOVE_IN_PROGRESS)
        elif action is not MastAction.CLOSE and self._unexpected_motion.is_moving(self._clock()):
            raise self._refusal(MOVE_IN_PROGRESS)
        if action is MastAction.ROTATE and self.mast is Mast.CLOSED:
            raise self._refusal(NEED_TO_OPEN_MAST)

    def begin_mast(self, action: MastAction) -> bool:
        """Whether the caller must call the rover's service, under the same lock.

        False: the rover moves and its mast is already closed. Raises MotionRefused.
        """
        self.check_mast(action)
        if self.motion is Motion.MOVING and self.mast is Mast.CLOSED:
            return False
        self.mast = action.during
        self._mast_motion = MastMotion(action, self._mast_config)
        return True

    def mast_answered(self) -> None:
        if self._mast_motion is not None:
            self._mast_motion.record_answer(self._simulation())

    def mast_failed(self, reason: str) -> None:
        self._mast_motion = None
        self.mast = Mast.UNKNOWN
        self.last_error = reason

    def check_appendage(self, name: str, command: str) -> None:
        """Raises MotionRefused when this command may not start now. Only a command that stows may
        start in SAFE, beside another adapter, and while a motion of the base ends.
        """
        part = self.appendages[name]
        stows = part.config.stows(command)
        if self.e_stop:
            raise self._refusal(E_STOP_PRESSED)
        if self._agent.latch and not stows:
            raise self._refusal(self._agent.safe_refusal())
        if self.other_adapters and not stows:
            raise self._refusal(contest(self.other_adapters))
        if stows and part.is_stowed:
            return
        reason = '' if stows else self._agent.refusal(self._clock())
        if reason := reason or part.refusal(command, self._simulation()):
            raise self._refusal(reason)
        moves = self.motion is Motion.MOVING and not (stows and self.stopping)
        if moves or (not stows and self._unexpected_motion.is_moving(self._clock())):
            raise self._refusal(MOVE_IN_PROGRESS)

    def begin_appendage(self, name: str, command: str) -> bool:
        """Whether the caller must call the robot's service, under the same lock: not if it stows
        what is stowed. Raises MotionRefused.
        """
        self.check_appendage(name, command)
        part = self.appendages[name]
        if part.is_stowed and part.config.stows(command):
            return False
        part.begin(command)
        return True

    def appendage_answered(self, name: str) -> None:
        self.appendages[name].answered(self._simulation())

    def appendage_failed(self, name: str, reason: str) -> None:
        self.appendages[name].failed()
        self.last_error = reason

    @property
    def mast_busy(self) -> bool:
        return self._mast_motion is not None

    def request_stop(self, reason: str = '') -> int:
        """Start a stop; always accepted. Return the number of the call that the next poll makes
        due.
        """
        if reason:
            self._alarm(reason)
        for part in self.appendages.values():
            part.hold()
        if not self._has_base:
            self._stop_number += 1
            self.stops_ended = self._stops_confirmed = self._stop_number
            return self._stop_number
        self._stop = self._new_stop(self._stop)
        self._runaway.begin(self._clock())
        self.motion = Motion.MOVING
        return self._stop_number + 1

    def stop_problem(self, number: int) -> str:
        """Why odometry and joint states do not confirm the standstill after this stop; '' if they
        do.
        """
        for part in self.appendages.values():
            if problem := part.hold_problem(self._simulation()):
                return f'{STOP_NOT_CONFIRMED}: {problem}'
        if self._stops_confirmed >= number:
            return ''
        now = self._clock()
        fresh = self._new_stop().fresh(self._odometry, now)
        failure = self._stop.failure if self._stop is not None else ''
        return unconfirmed_stop(fresh, failure, self._settling.wheels_stand(now))

    def stop_answered(self, number: int) -> None:
        if self._stop is not None and number < self._stop_number:
            self._stop.earlier_answered(self._clock())
        elif self._stop is not None and number == self._stop_number:
            self._stop.answered(self._clock())
            # The rover has served every start call that was sent before this stop.
            self._moves_unanswered.clear()

    def stop_failed(self, number: int, reason: str) -> None:
        if self._stop is not None and number == self._stop_number:
            self._stop.failed(self._clock(), reason)

    def zero_twist_lost(self) -> None:
        """The zero Twist of the last poll could not be published."""
        if self._stop is not None:
            self._stop.twist_lost(self._clock())

    # --- observations -----------------------------------------------------------------------

    def record_joints(self, p: float, turn: float) -> None:
        """A reading of the two joints of the mast, radians."""
        self._joints = Joints(p, turn, self._simulation())
        if self._mast_motion is not None:
            self._mast_motion.record_joints(self._joints)
            return
        measured = self._joints.pose(self._mast_config)
        if self.mast is Mast.UNKNOWN:
            if measured is Mast.OPEN:
                self.mast = Mast.OPEN
        elif measured is not self.mast:
            was, self.mast = self.mast, measured if measured is Mast.OPEN else Mast.UNKNOWN
            self._alarm(f'Joint states contradict a mast that was {was.value}')

    def record_appendage(self, name: str, angles: Sequence[float]) -> None:
        """A reading of the appendage's joints, radians in the order of its profile."""
        if alarm := self.appendages[name].record(angles, self._simulation()):
            self._alarm(alarm)

    def record_odometry(self, speed: float, turn_rate: float) -> None:
        """The rover's velocity: metres per second and radians per second, any sign."""
        still = (
            abs(speed) <= self._config.still_speed_mps
            and abs(turn_rate) <= self._config.still_turn_radps
        )
        self._odometry = Odometry(self._clock(), still, abs(speed), abs(turn_rate))
        driving = self.motion is Motion.MOVING and not self.stopping
        self._settling.record_odometry(self._odometry, driving=driving)
        self._unexpected_motion.record_odometry(
            self._odometry, set_going=self.motion is Motion.MOVING
        )

    def record_wheels(self, fastest_radps: float) -> None:
        """The speed of the fastest wheel, radians per second without sign; NaN: not known."""
        self._settling.record_wheels(fastest_radps, self._clock())

    def record_heartbeat(self, tick: int, latch: str) -> None:
        """The agent's kernel published its tick, and its reason for SAFE or ''."""
        self._agent.beat(tick, latch, self._clock())

    def set_agents(self, alive: int, names: Collection[str]) -> None:
        """The number of living publishers of the heartbeat, and their names, which may be known
        later: the reason of a stop that they have caused then names them.
        """
        before = self._agent.stop_reason(self._clock())
        self._agent.set_publishers(alive, names)
        reason = self._agent.stop_reason(self._clock())
        if names and before and before == self.last_error and reason not in (before, ''):
            self._alarm(reason)

    def set_other_drivers(self, names: str) -> None:
        """The foreign nodes that publish Twists; '' without any. They name a violation anew."""
        is_news, self.other_drivers = names != self.other_drivers, names
        if is_news and self.violation:
            self._report_violation()

    def set_other_adapters(self, names: tuple[str, ...]) -> None:
        """Record the nodes of other adapters in front of this rover. A motion of either is
        stopped by both.
        """
        refusal = contest(self.other_adapters)
        if names and names != self.other_adapters:
            self.request_stop(stopped_for_others(names))
        elif not names and self.last_error in (refusal, stopped_for_others(self.other_adapters)):
            self.last_error = ''
        self.other_adapters = names

    def set_e_stop(self, pressed: bool) -> None:
        """Record the button's current state. A motion of the mast, or of an appendage that
        services alone move, continues: no service can stop it.
        """
        if pressed and not self.e_stop:
            self.request_stop('E-stop pressed: the rover was stopped')
        self.e_stop = pressed

    @property
    def heartbeat_received(self) -> bool:
        return self._agent.received

    @property
    def agent_latch(self) -> str:
        """The agent's reason for SAFE; '' without one."""
        return self._agent.latch

    def forget_heartbeat(self) -> None:
        """The agent is gone. Ignored while the rover moves: the silence must still stop it."""
        if not self.moving:
            self._agent.forget()

    # --- time -------------------------------------------------------------------------------

    def poll(self) -> DueCommands:
        """Apply the rules that depend on time and return the commands that are due."""
        now = self._clock()
        self._watch_mast()
        self._watch_appendages(now)
        self._watch_motion(now)
        return replace(self._advance_stop(now), holds=self._take_holds())

    def next_wakeup(self) -> float | None:
        """Steady time by which to call ``poll`` again; None when nothing is pending."""
        now = self._clock()
        times: list[float] = []
        simulation_now = self._simulation()  # never faster than steady time: nothing is missed
        if self._mast_motion is not None:
            wakeup = self._mast_motion.next_wakeup(simulation_now)
            times.append(now + wakeup - simulation_now)
        elif self.mast is Mast.CLOSED and self._joints is not None:
            lost_at = self._joints.at + self._mast_config.joint_max_age_s
            times.append(now + lost_at - simulation_now + 0.01)
        for part in self.appendages.values():
            wakeups = _without_none(part.next_wakeup(simulation_now))
            times += [now + wakeup - simulation_now for wakeup in wakeups]
        if self._stop is not None:
            times.append(self._stop.next_wakeup(now))
        elif self.motion is Motion.MOVING or self.settles:
            times.append(now + LEASH_CHECK_S)
        else:
            times += _without_none(self._unexpected_motion.next_wakeup(now))
        times += _without_none(self._agent.next_wakeup(now))
        return min(times + _without_none(self._alarms.next_wakeup()), default=None)

    # --- internals --------------------------------------------------------------------------

    def take_alarms(self) -> list[str]:
        """Return and clear the due alarms: texts for the operator, repetitions folded."""
        return self._alarms.take_due(self._clock())

    def _alarm(self, reason: str) -> None:
        self.last_error = reason
        self._alarms.add(reason, self._clock())

    def _report_violation(self) -> None:
        self.violation = violation_text(*self._runs_away, self.other_drivers)
        self._alarm(self.violation)

    def _refusal(self, reason: str) -> MotionRefused:
        self.last_error = reason
        return MotionRefused(reason)

    def _new_stop(self, before: StopProcedure | None = None) -> StopProcedure:
        return StopProcedure(
            self._config,
            self._stop_timed_out,
            now=self._clock(),
            stretched=self._simulation.stretched,
            before=before,
        )

    def _watch_mast(self) -> None:
        now = self._simulation()
        if self._mast_motion is not None:
            done = self._mast_motion.outcome(now, self._joints)
            if done:
                self.mast, self._mast_motion = self._mast_motion.action.after, None
            elif done is False:
                action = self._mast_motion.action.value
                self.mast_failed(f'Mast not confirmed by joint states: {action}')
        elif (
            self.mast is Mast.CLOSED
            and self._joints is not None
            and now - self._joints.at > self._mast_config.joint_max_age_s
        ):
            self._joints = None
            self.mast = Mast.UNKNOWN
            self._alarm('Joint states lost: mast unknown')

    def _watch_appendages(self, now: float) -> None:
        """A motion of one ends as a motion of the base does, where a trajectory can be stopped."""
        for part in self.appendages.values():
            if alarm := part.watch(self._simulation()):
                self._alarm(alarm)
            stoppable = part.busy and part.config.can_be_held and not part.stowing
            if stoppable and (reason := self._agent.stop_reason(now)):
                self.request_stop(reason)

    def _take_holds(self) -> dict[str, tuple[float, ...]]:
        now = self._simulation()
        due = {name: part.take_hold(now) for name, part in self.appendages.items()}
        return {name: angles for name, angles in due.items() if angles is not None}

    def _unstowed(self) -> Appendage | None:
        """The first appendage that is not known to be stowed; None: all are."""
        return next((part for part in self.appendages.values() if not part.is_stowed), None)

    def _watch_motion(self, now: float) -> None:
        if self.motion is Motion.MOVING and not self.stopping:
            if not self.mast.is_stowed:
                self.request_stop(f'{STOPPED_FOR_MAST} {self.mast.value}')
            elif part := self._unstowed():
                self.request_stop(f'{stopped_for(part.name)} {part.posture.value}')
            elif self._travel_clock() - self._moving_since >= self._config.max_duration_s:
                self.request_stop(f'Stopped by the leash after {self._config.max_duration_s:g} s')
            elif reason := self._agent.stop_reason(now):
                self.request_stop(reason)
        elif self.settles:
            return
        elif self._agent.latch and not self.stopping and self._unexpected_motion.is_moving(now):
            self._unexpected_motion.reset()
            self.request_stop(f'{STOPPED_UNASKED} in SAFE')
        elif self._unexpected_motion.must_stop(now):
            self._unexpected_motion.reset()
            self.request_stop(STOPPED_UNASKED)

    def _advance_stop(self, now: float) -> DueCommands:
        stop = self._stop
        if stop is None:
            return DueCommands()
        settles = self.settles
        due = stop.advance(now, self._odometry, settles=settles)
        if stop.failure != self._stop_failure:
            self.last_error = self._stop_failure = stop.failure
        if due.call:
            self._stop_number += 1
        fresh = stop.fresh(self._odometry, now)
        detected = self._runaway.detected(fresh, settles=settles)
        if detected and fresh is not None and not self.violation:
            wheels_stand = self._settling.wheels_stand(now)
            self._runs_away = (motion_text(fresh.speed, wheels_stand), wheels_stand)
            self._report_violation()
        settled = not self._moves_in_flight and not self._moves_unanswered
        if settled and not due.call and stop.is_complete(now, self._odometry):
            self.motion, self._stop = Motion.STILL, None
            self._runaway.end()
            self.violation, self.stops_ended = '', self._stop_number
            if fresh is not None:
                self._stops_confirmed = self._stop_number
            if self.last_error == stop.failure:
                self.last_error = ''  # resolved: a later call, or zero Twists, stopped the rover
            self._stop_failure = ''
            return DueCommands()
        return DueCommands(stop_call=self._stop_number if due.call else None, zero_twist=due.twist)


def _without_none(at: float | None) -> list[float]:
    return [] if at is None else [at]
