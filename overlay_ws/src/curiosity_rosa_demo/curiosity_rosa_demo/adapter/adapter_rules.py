# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""All rules of the adapter, and the order in which they are asked. Pure: the clocks are given.

Each method is one step. A step reads both clocks once, so all rules see the same time, and adds
itself to the log of inputs. The same steps at the same times therefore have the same results:
recording/check.py replays them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, cast, Protocol, TypeVar

from curiosity_rosa_demo.adapter.appendage import MastAction
from curiosity_rosa_demo.adapter.drive_watch import DriveWatch, Pose
from curiosity_rosa_demo.adapter.input_log import InputLog, LogEntry
from curiosity_rosa_demo.adapter.motion_guard import Motion, MotionGuard, MotionRefused
from curiosity_rosa_demo.adapter.profile_figures import ProfileFigures
from curiosity_rosa_demo.adapter.watches import ObstacleStop, OdometrySilence
from curiosity_rosa_demo.infra.clocks import MotionClock, SimulationClock
from curiosity_rosa_demo.infra.config.robot import RobotProfile
from curiosity_rosa_demo.infra.config.thresholds import Thresholds
from curiosity_rosa_demo.infra.obstacles import ObstacleView
import numpy as np

# --- The time of one step of the adapter's rules. Pure: the clocks are given -------------------


class RosTime(Protocol):
    nanoseconds: int


class RosClock(Protocol):
    """The part of rclpy's clock that the rules need."""

    @property
    def ros_time_is_active(self) -> bool: ...

    def now(self) -> RosTime: ...


class Instant:
    """The time of a step: the steady and the ROS clock, read together. Without simulated time the
    ROS clock shows the steady one.
    """

    def __init__(self, steady: Callable[[], float], ros_clock: RosClock) -> None:
        self._steady, self._ros_clock = steady, ros_clock
        self.read()

    def read(self) -> None:
        self._now = self._steady()
        self.ros_time_is_active = bool(self._ros_clock.ros_time_is_active)
        is_active = self.ros_time_is_active
        self.nanoseconds = int(self._ros_clock.now().nanoseconds if is_active else self._now * 1e9)

    def __call__(self) -> float:
        """Steady seconds."""
        return self._now

    def now(self) -> RosTime:
        return self

    @property
    def ros_ns(self) -> int | None:
        return self.nanoseconds if self.ros_time_is_active else None


F = TypeVar('F', bound=Callable[..., Any])
STEPS: set[str] = set()  # the names of the methods that a log of inputs calls
NO_POINTS = np.empty((0, 2))  # a log does not hold them
NOTHING: Mapping[str, float] = {}
REFUSED = 'refused'  # the key of a refusal's reason in the log
STOPPED_WHILE_STARTING = 'Stopped while starting'


@dataclass(frozen=True)
class Due:
    """The commands that the caller must execute now: call the rover's stop service and report its
    result with this number; publish a zero Twist; hold these appendages at these angles, radians
    (no angles: cancel their goals alone); show the alarms and the warnings.
    """

    stop_call: int | None = None
    zero_twist: bool = False
    holds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    alarms: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any] | None:
        """The fields that say something; None: nothing is due."""
        fields = {
            'stop_call': self.stop_call,
            'zero_twist': self.zero_twist or None,
            'holds': {name: list(angles) for name, angles in self.holds.items()} or None,
            'alarms': list(self.alarms) or None,
            'warnings': list(self.warnings) or None,
        }
        return {key: value for key, value in fields.items() if value is not None} or None


def step(act: F) -> F:
    """A step of the rules, which reads the clocks once and adds itself to the log."""
    name = act.__name__
    STEPS.add(name)

    @wraps(act)
    def taken(rules: AdapterRules, *arguments: Any) -> Any:
        return rules.take(name, act, arguments)

    return cast(F, taken)


class AdapterRules:
    """The caller holds one lock around each step and the execution of what is due after it.
    ``guard``, ``obstacles`` and ``figures`` may be read between two steps; they show the last
    step's time.
    """

    def __init__(
        self,
        thresholds: Thresholds,
        *,
        stop_name: str,
        steady: Callable[[], float],
        ros_clock: RosClock,
        log: InputLog | None = None,
        robot: RobotProfile | None = None,
    ) -> None:
        """``robot``: None for one with a mobile base and no appendages."""
        self._now, self._log = Instant(steady, ros_clock), log
        motion = thresholds.motion
        self._simulation = SimulationClock.of(self._now, motion, self._now)
        self._travel = MotionClock(self._now, self._now)
        self.guard = MotionGuard(
            motion,
            thresholds.mast,
            stop_name=stop_name,
            clock=self._now,
            travel_clock=self._travel,
            simulation=self._simulation,
            appendages=robot.appendages if robot is not None else None,
            mobile_base=robot is None or robot.mobile_base,
            has_mast=robot is None or robot.has_mast,
        )
        self.obstacles = ObstacleStop(thresholds, self._simulation)
        self._drive = DriveWatch(thresholds.drive, motion, self._simulation)
        self.figures = ProfileFigures(thresholds, self._simulation)
        self._silence = OdometrySilence(motion, self._simulation.stretched)
        self._motion = ''  # the last one that the adapter started
        self._odometry_at: float | None = None
        self._add_entry('start', (), None)

    # --- requests ---------------------------------------------------------------------------

    @step
    def check_motion(self, name: str, clock_problem: str = '') -> None:
        """Raises MotionRefused when the motion ``name`` may not start now. ``clock_problem``: why
        no motion can be timed; '' if it can.
        """
        if clock_problem:
            raise self._refusal(clock_problem)
        self.guard.check_move()
        self._check_drive(name)

    @step
    def begin_motion(self, name: str) -> int:
        """The token of a motion, whose start call the caller sends now. Raises MotionRefused."""
        self._check_drive(name)
        token = self.guard.begin_move()
        self._motion = name
        self._drive.begin(name)
        self.figures.begin(name)
        return token

    @step
    def motion_answered(self, token: int) -> None:
        """The rover has answered the start call."""
        self.guard.move_answered(token)

    @step
    def motion_failed(self, token: int, reason: str) -> None:
        """The start call failed or timed out."""
        self.guard.move_failed(token, reason)

    @step
    def confirm_motion(self) -> None:
        """Raises MotionRefused when a stop has overtaken the start call."""
        if self.guard.stopping:
            raise MotionRefused(self.guard.last_error or STOPPED_WHILE_STARTING)

    @step
    def check_mast(self, action: str) -> None:
        """Raises MotionRefused when this motion of the mast may not start now."""
        self.guard.check_mast(MastAction(action))

    @step
    def begin_mast(self, action: str) -> bool:
        """Whether to call the rover's service now. Raises MotionRefused."""
        return self.guard.begin_mast(MastAction(action))

    @step
    def mast_answered(self) -> None:
        self.guard.mast_answered()

    @step
    def mast_failed(self, reason: str) -> None:
        self.guard.mast_failed(reason)

    @step
    def end_mast(self, action: str) -> None:
        """Raises MotionRefused when the mast has not reached the end of ``action``."""
        wanted = MastAction(action)
        if self.guard.mast is not wanted.after:
            raise MotionRefused(self.guard.last_error or f'{wanted.value} was interrupted')

    @step
    def check_appendage(self, name: str, command: str) -> None:
        """Raises MotionRefused when this command of the appendage may not start now."""
        self.guard.check_appendage(name, command)

    @step
    def begin_appendage(self, name: str, command: str) -> bool:
        """Whether to call the robot's service now. Raises MotionRefused."""
        return self.guard.begin_appendage(name, command)

    @step
    def appendage_answered(self, name: str) -> None:
        self.guard.appendage_answered(name)

    @step
    def appendage_failed(self, name: str, reason: str) -> None:
        self.guard.appendage_failed(name, reason)

    @step
    def end_appendage(self, name: str, command: str) -> None:
        """Raises MotionRefused when the appendage has not reached the end of ``command``."""
        if not self.guard.appendages[name].reached(command):
            raise MotionRefused(self.guard.last_error or f'{command} was interrupted')

    @step
    def request_stop(self) -> int:
        """Always accepted. The number of the call that is due next."""
        return self.guard.request_stop()

    @step
    def stop_answered(self, number: int) -> None:
        self.guard.stop_answered(number)

    @step
    def stop_failed(self, number: int, reason: str) -> None:
        self.guard.stop_failed(number, reason)

    @step
    def end_stop(self, number: int) -> str:
        """Why the standstill after this stop is not confirmed; '' if it is."""
        return self.guard.stop_problem(number)

    @step
    def twist_lost(self) -> None:
        """The zero Twist that was due could not be published."""
        self.guard.zero_twist_lost()

    @step
    def refuse(self, reason: str) -> None:
        """The caller refuses a request, for a reason that the rules do not know."""
        self.guard.last_error = reason

    # --- observations -----------------------------------------------------------------------

    @step
    def odometry(
        self, pose: Pose | None, speed: float, turn_rate: float, tilt_rad: float | None
    ) -> None:
        """As ``DriveWatch.record``."""
        self._odometry_at = self._now()
        self._drive.record(pose, speed, turn_rate, tilt_rad)
        self.figures.record(pose, speed, turn_rate)
        self.guard.record_odometry(speed, turn_rate)

    @step
    def joints(self, p: float, turn: float) -> None:
        """Radians of the mast's joints."""
        self.guard.record_joints(p, turn)

    @step
    def appendage_joints(self, name: str, angles: Sequence[float]) -> None:
        """Radians of the appendage's joints, in the order of its profile."""
        self.guard.record_appendage(name, angles)

    @step
    def wheels(self, fastest_radps: float) -> None:
        """The speed of the fastest wheel, rad/s without sign; NaN: not known."""
        self.guard.record_wheels(fastest_radps)

    @step
    def scan(self, sees_ahead: bool | None = None, free_m: Mapping[str, float] = NOTHING) -> None:
        """A scan has arrived, as ObstacleView tells it; None: its frame has no transform to the
        base frame.
        """
        view = None if sees_ahead is None else ObstacleView(sees_ahead, free_m, NO_POINTS)
        self.obstacles.record_scan(view)

    @step
    def scan_gone(self) -> None:
        """The scan has no publisher. Ignored while the rover moves."""
        if not self.guard.moving:
            self.obstacles.forget()

    @step
    def e_stop(self, pressed: bool) -> None:
        self.guard.set_e_stop(pressed)

    @step
    def heartbeat(self, tick: int, latch: str) -> None:
        self.guard.record_heartbeat(tick, latch)

    @step
    def agents(self, alive: int, names: Sequence[str]) -> None:
        """How many publishers of the heartbeat are alive, and the names of their nodes."""
        self.guard.set_agents(alive, names)

    @step
    def agent_gone(self) -> None:
        """The heartbeat has no publisher."""
        self.guard.forget_heartbeat()

    @step
    def adapters(self, names: Sequence[str]) -> None:
        """The names of the other adapters of this rover."""
        self.guard.set_other_adapters(tuple(names))

    @step
    def other_drivers(self, names: str) -> None:
        """The foreign nodes that publish Twists, as the operator reads them; '' without any."""
        self.guard.set_other_drivers(names)

    # --- time -------------------------------------------------------------------------------

    @step
    def due(self) -> Due:
        """Apply the rules that depend on time. Call it after each step, and by
        ``guard.next_wakeup``.
        """
        if self._is_driving() and (reason := self.obstacles.stop_reason(self._motion)):
            self.guard.request_stop(f'{reason}; the rover was stopped')
        warning = self._watch_drive()
        commands = self.guard.poll()
        alarms = tuple(self.guard.take_alarms())
        warnings = (warning,) if warning else ()
        return Due(commands.stop_call, commands.zero_twist, commands.holds, alarms, warnings)

    # --- internals --------------------------------------------------------------------------

    def take(self, name: str, act: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Make a step at the time of now: ``act`` with the rules and ``arguments``."""
        self._now.read()
        # These two go on by what they have read: a step must not depend on who else reads them.
        self._simulation()
        self._travel()
        try:
            result = act(self, *arguments)
        except MotionRefused as refusal:
            self._add_entry(name, arguments, {REFUSED: str(refusal)})
            raise
        self._add_entry(name, arguments, result.to_json() if isinstance(result, Due) else result)
        return result

    def _add_entry(self, name: str, arguments: Sequence[Any], result: Any) -> None:
        if self._log is not None:
            self._log.add(LogEntry(self._now(), self._now.ros_ns, name, arguments, result))

    def _check_drive(self, name: str) -> None:
        if why := self._drive.refusal() or self.obstacles.refusal(name):
            raise self._refusal(why)

    def _refusal(self, reason: str) -> MotionRefused:
        self.guard.last_error = reason
        return MotionRefused(reason)

    def _is_driving(self) -> bool:
        return self.guard.motion is Motion.MOVING and not self.guard.stopping

    def _watch_drive(self) -> str:
        """Stop a drive that must end; the warning that is due, or ''."""
        if not self._is_driving():
            self._drive.end()
            self.figures.end()
            self._silence.end()
            return ''
        now, heard_at = self._now(), self._odometry_at
        silence = self._silence.check(now, None if heard_at is None else now - heard_at)
        if reason := self._drive.stop_reason() or silence.stop_reason:
            self.guard.request_stop(reason)
        return silence.warning
