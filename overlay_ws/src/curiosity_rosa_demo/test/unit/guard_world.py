# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A rover to run Rules against: slow, hanging, silent, but first in, first out per node.

Its three service nodes each take one request after another, as the demo's single-threaded ones do.
A hanging node keeps its queue; the wheels keep the last Twist; a driving node repeats its Twist.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from curiosity_rosa_demo.adapter.part import MAST, Part
from curiosity_rosa_demo.adapter.rules import Rules
from curiosity_rosa_demo.adapter.steps import MotionRefused
from curiosity_rosa_demo.infra.config.limits import MastConfig
from curiosity_rosa_demo.infra.config.robot import RobotProfile
from curiosity_rosa_demo.infra.config_loader import load_config

STEP_S = 0.05
WHEEL_RADIUS_M = 0.25
SERVICE_TIMEOUT_S = 2.0
CONFIG = load_config().thresholds
RAISED, CLOSED = (0.0, -0.5), (1.57, -1.57)
REPORT_S = 0.1  # period of odometry and joint states, simulated
RESTS_S = 2.0  # in which a part that must stop does
SHIPPED = RobotProfile()


@dataclass(eq=False)
class Request:
    effect: Callable[[], None]
    answer: Callable[[], None]
    sent_at: float
    timeout: Callable[[], None] | None = None
    done: bool = False


@dataclass
class ServiceNode:
    hanging: bool = False
    absent: bool = False
    queue: deque[Request] = field(default_factory=deque)

    def serve(self) -> None:
        """One request a step, so that what a queue does on its way is seen."""
        if self.queue and not self.hanging:
            request = self.queue.popleft()
            request.effect()
            request.done = True
            request.answer()


@dataclass
class SimulatedTime:
    """A ROS clock in simulated time."""

    nanoseconds: int = 0
    ros_time_is_active: bool = True
    lump_ns: int = 1  # /clock shows it in steps of so many

    def now(self) -> SimulatedTime:
        return SimulatedTime(self.nanoseconds // self.lump_ns * self.lump_ns)

    @property
    def seconds(self) -> float:
        return self.nanoseconds / 1e9


class World:
    """``factor``: simulated seconds in one of the guard's; the rover lives in simulated time."""

    def __init__(self, robot: RobotProfile = SHIPPED, *, factor: float = 1.0) -> None:
        mast = {**CONFIG.mast.model_dump(), **robot.thresholds.get('mast', {})}
        self._mast, self._robot = MastConfig.model_validate(mast), robot
        self.factor, self.simulated = factor, SimulatedTime()
        self.now = self._reported_s = 0.0
        self.odometry_on = self.joints_on = True
        self.agent_lives = False
        self.latch = ''  # the agent's reason for SAFE
        self.heard_at: float | None = None  # the agent's last heartbeat
        self.pressed_at: float | None = None  # the e-stop
        self.drive, self.masts, self.parts = ServiceNode(), ServiceNode(), ServiceNode()
        self.appendages = dict(robot.appendages)
        self.angles = {name: [0.0] * len(each.joints) for name, each in self.appendages.items()}
        self.part_motions: dict[str, tuple[list[float], float]] = {}  # the target, the end
        self.goals: set[str] = set()  # the parts whose motion is the goal of an action
        self.driving = False  # run_demo repeats its Twist
        self.wheels = 0.0
        self.sag = 0.0  # motion of the body alone, m/s
        self.wheels_shown = False  # on the joint states
        self.has_mast = robot.has_mast
        self.mast = self.mast_target = self._mast.open_rad
        self.mast_left_s = 0.0
        self.moving_since: float | None = None
        self.moved_with_the_mast_up = self.moved_unstowed = False
        self.must_rest_s = dict.fromkeys(self.appendages, 0.0)  # for so long they should stand
        self.waiting: list[tuple[float, Request]] = []  # time-outs of the carrier
        self.guard = self.new_guard()
        self._tick = 0
        self.lose_twists = 0  # 1: every zero Twist is lost; 2: every second one; 0: none
        self.twists_due = 0
        self.alarms: list[str] = []

    def new_guard(self, kind: type[Rules] = Rules, **motion: Any) -> Rules:
        config = CONFIG.motion.model_copy(update=motion)
        self.simulated.ros_time_is_active = self.factor != 1.0
        return kind(
            CONFIG.model_copy(update={'motion': config, 'mast': self._mast}),
            stop_name='/move_stop',
            steady=lambda: self.now,
            ros_clock=self.simulated,
            robot=self._robot,
        )

    def restart_adapter(self, guard: Rules) -> None:
        """It dies, and another begins that knows nothing but the latched button."""
        self.guard, self.heard_at = guard, None
        if self.pressed_at is not None:
            guard.set_e_stop(True)
        self.waiting.clear()
        for node in (self.drive, self.masts, self.parts):
            for request in node.queue:  # their answers go to a process that is no more
                request.answer = lambda: None
        self.carry()

    # --- the rover --------------------------------------------------------------------------

    def _start(self) -> None:
        self.driving, self.wheels = True, 0.5

    def _halt(self) -> None:
        self.driving, self.wheels = False, 0.0

    def _mast_to(self, target: Sequence[float], seconds: float) -> Callable[[], None]:
        def begin() -> None:
            self.mast_target, self.mast_left_s = target, seconds
            if target != self.mast:  # on its way: neither open nor closed
                half_way = (self._mast.closed_rad[0] + self._mast.open_rad[0]) / 2
                self.mast = (half_way, -1.0)

        return begin

    @property
    def moving(self) -> bool:
        return self.wheels != 0.0

    @property
    def mast_closed(self) -> bool:
        return not self.has_mast or self.mast == self._mast.closed_rad

    def move_appendage(self, name: str, command: str) -> None:
        """As its service does, whoever calls it."""
        settings = self.appendages[name].commands[command]
        self.part_motions[name] = (
            settings.target_rad,
            self.simulated.seconds + settings.duration_s,
        )
        if self.angles[name] != settings.target_rad:
            self.angles[name] = [50.0] * len(settings.target_rad)  # on its way

    def follow(self, name: str, angles: Sequence[float], seconds: float) -> None:
        """As a joint trajectory controller: the newest trajectory replaces the one before."""
        self.part_motions.pop(name, None)
        self.goals.discard(name)
        if self.angles[name] != list(angles):
            self.angles[name] = [50.0] * len(angles)
            self.part_motions[name] = (list(angles), self.simulated.seconds + seconds)

    def end_goal(self, name: str) -> bool:
        """As its controller does with a goal that is cancelled or aborted: the joints stand where
        they are. Whether there was a goal.
        """
        had_goal = name in self.goals
        if had_goal:
            self.goals.discard(name)
            self.part_motions.pop(name, None)
        return had_goal

    def is_stowed(self, name: str) -> bool:
        return self.angles[name] == self.appendages[name].stowed_rad

    # --- the carrier ------------------------------------------------------------------------

    def carry(self) -> None:
        due = self.guard.due()
        self.alarms += due.alarms
        if due.stop_call is not None:
            number = due.stop_call
            if self.drive.absent:
                self.guard.stop_failed(number, 'Service unavailable: /move_stop')
            else:
                answer = lambda: self.guard.stop_answered(number)  # noqa: E731
                self.drive.queue.append(Request(self._halt, answer, self.now))
        if due.zero_twist and self._loses_the_twist():
            self.guard.twist_lost()
        elif due.zero_twist:
            self.wheels = 0.0
        for name, angles in due.holds.items():
            if self.parts.absent:
                continue
            self.end_goal(name)
            if angles:
                self.follow(name, angles, 0.1)

    @property
    def mast_part(self) -> Part:
        return self.guard.parts[MAST]

    def take_alarms(self) -> list[str]:
        alarms, self.alarms = self.alarms, []
        return alarms

    def _loses_the_twist(self) -> bool:
        self.twists_due += 1
        return self.lose_twists > 0 and self.twists_due % self.lose_twists == 0

    def ask_move(self) -> str:
        """One motion request; the refusal, or an empty text when its call was sent."""
        try:
            self.guard.check_motion('move_forward')
            if self.drive.absent:
                return 'absent'
            token = self.guard.start_motion('move_forward')
        except MotionRefused as refusal:
            return str(refusal)
        request = Request(
            self._start,
            lambda: self._report_start(token),
            self.now,
            lambda: self.guard.motion_failed(token, 'Service timeout: /move_forward'),
        )
        self.drive.queue.append(request)
        self.waiting.append((self.now + SERVICE_TIMEOUT_S, request))
        self.carry()
        return ''

    def _report_start(self, token: int) -> None:
        with suppress(MotionRefused):  # a stop has overtaken it
            self.guard.motion_started(token)

    def ask_mast(self, command: str) -> str:
        return self.ask_appendage(MAST, command)

    def ask_appendage(self, name: str, command: str) -> str:
        node = self.masts if name == MAST else self.parts
        try:
            self.guard.check_part(name, command)
            if node.absent:
                return 'absent'
            if not self.guard.start_part(name, command):
                return ''
        except MotionRefused as refusal:
            return str(refusal)
        settings = self.guard.parts[name].commands[command]
        if settings.by_trajectory:
            self.follow(name, settings.target_rad, settings.duration_s)
            if settings.channel == 'action' and name in self.part_motions:
                self.goals.add(name)
            self.guard.part_started(name)
            self.carry()
            return ''
        move: Callable[[], None] = partial(self.move_appendage, name, command)
        if name == MAST:
            move = self._mast_to(settings.target_rad, settings.duration_s)
        request = Request(
            move,
            lambda: self.guard.part_started(name),
            self.now,
            lambda: self.guard.part_failed(name, f'Service timeout: /{command}'),
        )
        node.queue.append(request)
        self.waiting.append((self.now + SERVICE_TIMEOUT_S, request))
        self.carry()
        return ''

    def abort_goal(self, name: str) -> None:
        """Its controller ends the goal, which the carrier reports while the command runs."""
        if self.end_goal(name) and self.guard.parts[name].busy:
            self.guard.part_failed(name, 'aborted')
            self.carry()

    def ask_stop(self) -> int:
        number = self.guard.request_stop()
        self.carry()
        return number

    # --- time -------------------------------------------------------------------------------

    def step(self, seconds: float = STEP_S) -> None:
        for _ in range(max(1, round(seconds / STEP_S))):
            self.now += STEP_S
            self.simulated.nanoseconds += round(STEP_S * self.factor * 1e9)
            self._tick += 1
            for node in (self.drive, self.masts, self.parts):
                node.serve()
            self._time_out()
            self._move_mast()
            self._move_appendages()
            if self.driving and not self.drive.hanging and self._tick % 2 == 0:
                self.wheels = 0.5
                self.guard.drive_command('/cmd_vel')
            if self._tick % 2 == 0 and self.agent_lives:
                self.heard_at = self.now
                self.guard.heartbeat(self._tick, self.latch)
            if self.simulated.seconds - self._reported_s >= REPORT_S - 1e-6:
                self._reported_s = self.simulated.seconds
                self._report()
            self.carry()
            self.moving_since = (self.moving_since or self.now) if self.moving else None
            if self.moving and not self.mast_closed:
                self.moved_with_the_mast_up = True
            if self.moving and not all(map(self.is_stowed, self.appendages)):
                self.moved_unstowed = True
            for name in self.must_rest_s:
                must_rest = name in self.part_motions and self._must_rest(name)
                self.must_rest_s[name] = self.must_rest_s[name] + STEP_S if must_rest else 0.0

    def _must_rest(self, name: str) -> bool:
        """Whether a rule ends each of its motions but that to its stowed pose, and can."""
        guard, part = self.guard, self.guard.parts[name]
        ends = guard.e_stop or bool(guard.agent.latch) or self.silence_since() is not None
        seen = self.joints_on or name in self.goals  # a goal is cancelled unseen
        held = all(each.by_trajectory for each in part.commands.values())
        stowing = part.stowing and not guard.e_stop
        return ends and seen and held and not stowing and not self.parts.absent

    def simulate(self, seconds: float) -> None:
        self.step(seconds / self.factor)

    def _time_out(self) -> None:
        for at, request in list(self.waiting):
            if request.done:
                self.waiting.remove((at, request))
            elif self.now >= at and request.timeout is not None:
                self.waiting.remove((at, request))
                if request in self.masts.queue or request in self.parts.queue:
                    request.answer = lambda: None  # the carrier has forgotten it
                request.timeout()

    def _move_mast(self) -> None:
        if self.mast_left_s > 0.0:
            self.mast_left_s -= STEP_S * self.factor
        elif self.mast != self.mast_target:
            self.mast = self.mast_target

    def _move_appendages(self) -> None:
        for name, (target, ends_at) in list(self.part_motions.items()):
            if self.simulated.seconds >= ends_at:
                self.angles[name] = list(target)
                self.goals.discard(name)
                del self.part_motions[name]

    def silence_since(self) -> float | None:
        """When the agent, once heard, fell silent."""
        if self.heard_at is None or self.now - self.heard_at <= CONFIG.motion.heartbeat_max_age_s:
            return None
        return self.heard_at + CONFIG.motion.heartbeat_max_age_s

    def press(self, pressed: bool) -> None:
        """The e-stop, or its release."""
        if not pressed:
            self.pressed_at = None
        elif self.pressed_at is None:
            self.pressed_at = self.now
        self.guard.set_e_stop(pressed)
        self.carry()

    def agent_leaves(self) -> None:
        """It ends for good; the carrier sees that nobody publishes heartbeats any more."""
        self.agent_lives = False
        if not self.guard.moving:
            self.heard_at = None
        self.guard.agent_gone()
        self.carry()

    def _report(self) -> None:
        if self.odometry_on:
            self.guard.odometry(None, max(self.wheels, self.sag), 0.0, None)
        if self.wheels_shown:
            self.guard.wheels(self.wheels / WHEEL_RADIUS_M)
        if self.joints_on:
            if self.has_mast:
                self.guard.joints('mast', self.mast)
            for name, angles in self.angles.items():
                self.guard.joints(name, angles)


def recover(world: World) -> None:
    for node in (world.drive, world.masts, world.parts):
        node.hanging = node.absent = False
    world.odometry_on = world.joints_on = True
    world.latch, world.lose_twists = '', 0
    world.guard.agents(1, ['/agent'])
    world.press(False)


def drive_off(world: World) -> None:
    """As a careful operator does; every request must be granted."""
    recover(world)
    world.step(20.0)  # a node that hung has a queue to work off
    world.ask_stop()
    world.step(5.0)
    if world.has_mast:
        assert world.ask_mast('mast_close') == ''
        world.step(8.0)
    for name, part in world.appendages.items():
        assert world.ask_appendage(name, part.stow_command) == ''
        world.step(8.0)
    assert world.ask_move() == ''
    world.step(0.5)
    assert world.moving


def _vanish(world: World) -> None:
    """The demo's run_node dies: its queue with it, the wheels keep the last Twist."""
    world.drive.absent = True
    world.drive.queue.clear()
    world.driving = False


def _hang(world: World) -> None:
    """Not a deaf one: frozen and thawed, it would drive on unasked, which no rule can foresee.

    The guard stops such a rover once odometry shows it; test_motion_guard has that case.
    """
    world.drive.hanging = not (world.drive.absent and world.driving)


FAULTS: dict[str, Callable[[World], None]] = {
    'drive hangs': _hang,
    'drive recovers': lambda world: setattr(world.drive, 'hanging', False),
    'drive vanishes': _vanish,
    'drive goes deaf': lambda world: setattr(world.drive, 'absent', not world.drive.hanging),
    'drive returns': lambda world: setattr(world.drive, 'absent', False),
    'masts hang': lambda world: setattr(world.masts, 'hanging', True),
    'masts recover': lambda world: setattr(world.masts, 'hanging', False),
    'joints lost': lambda world: setattr(world, 'joints_on', False),
    'joints back': lambda world: setattr(world, 'joints_on', True),
    'odometry lost': lambda world: setattr(world, 'odometry_on', False),
    'odometry back': lambda world: setattr(world, 'odometry_on', True),
    'agent speaks': lambda world: setattr(world, 'agent_lives', True),
    'agent freezes': lambda world: setattr(world, 'agent_lives', False),
    'agent leaves': World.agent_leaves,
    'agent enters SAFE': lambda world: setattr(world, 'latch', 'a reason'),
    'agent clears SAFE': lambda world: setattr(world, 'latch', ''),
    'a second agent appears': lambda world: world.guard.agents(2, ['/agent', '/other']),
    'the agent is alone': lambda world: world.guard.agents(1, ['/agent']),
    'every second Twist is lost': lambda world: setattr(world, 'lose_twists', 2),
    'no Twist is lost': lambda world: setattr(world, 'lose_twists', 0),
    'e-stop pressed': lambda world: world.press(True),
    'e-stop released': lambda world: world.press(False),
}
