# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rules of any robot, one example each, and random histories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from typing import NamedTuple

from action_profile import action_profile, profiles
from curiosity_rosa_demo.adapter.part import MAST_COMMANDS
from curiosity_rosa_demo.adapter.rules import Motion, STOPPED_WHILE_STARTING
from curiosity_rosa_demo.adapter.steps import MotionRefused
from curiosity_rosa_demo.domain.models import (
    agent_is_safe,
    AGENT_IS_SILENT,
    E_STOP_PRESSED,
    MOVE_IN_PROGRESS,
    NEED_TO_CLOSE_MAST,
    OTHER_ADAPTER,
    STOP_NOT_CONFIRMED,
    TWO_AGENTS,
)
from curiosity_rosa_demo.infra.config.robot import RobotProfile
from curiosity_rosa_demo.infra.config_loader import load_config
from examples import examples
from guard_world import (
    CLOSED,
    CONFIG,
    drive_off,
    FAULTS,
    RAISED,
    recover,
    REPORT_S,
    RESTS_S,
    SHIPPED,
    World,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule, RuleBasedStateMachine
import pytest

MOTION = CONFIG.motion
MAX_AGE_S = MOTION.heartbeat_max_age_s
TWIN = f'{OTHER_ADAPTER}: /r1/adapter'
ARM, STOW = load_config(robot='curiosity').robot, 'arm_close'
ARM_OUT = f'Need to stow arm: {STOW}'


@pytest.fixture
def world() -> World:
    """It stands, its mast raised, without an agent."""
    world = World(ARM)
    world.step(1.0)
    return world


@pytest.fixture
def stowed(world: World) -> World:
    assert world.ask_mast('mast_close') == ''
    assert world.ask_appendage('arm', STOW) == ''
    world.step(8.0)
    assert world.guard.mast.state == 'closed'
    return world


@pytest.fixture
def driving(stowed: World) -> World:
    """An agent drives it."""
    stowed.agent_lives = True
    stowed.step(0.5)
    assert stowed.ask_move() == ''
    stowed.step(0.5)
    assert stowed.moving
    return stowed


def twins(*names: str) -> Callable[[World], None]:
    return lambda world: world.guard.adapters(names)


def joints(mast: tuple[float, float]) -> Callable[[World], None]:
    return lambda world: vars(world).update(mast=mast, mast_target=mast)


def arm(command: str) -> Callable[[World], None]:
    return lambda world: world.move_appendage('arm', command)


def no_agent_publishes(world: World) -> None:
    FAULTS['agent freezes'](world)
    world.guard.agents(0, [])


def an_agent_publishes(world: World) -> None:
    FAULTS['agent speaks'](world)
    FAULTS['the agent is alone'](world)


def stop_a_node_that_hangs(world: World) -> None:
    world.drive.hanging = True
    world.ask_stop()


class End(NamedTuple):
    """What ends a motion: it goes on for ``holds_s`` and has ended ``ends_s`` later."""

    cause: Callable[[World], object]
    holds_s: float = 0.0
    ends_s: float = 1.0
    alarms: Sequence[str] = ()
    refusal: str = ''  # of the next motion
    undo: Callable[[World], object] = lambda world: None
    then: str = ''  # the refusal afterwards


STOPPED = 'the rover was stopped'
SILENT = [f'The agent fell silent for {MAX_AGE_S:g} s: {STOPPED}']
LEASH = [f'Stopped by the leash after {MOTION.max_duration_s:g} s']
LOST = ['Joint states lost: mast unknown', 'Stopped: mast is unknown']
RAISES = ['Joint states contradict: mast was closed', 'Stopped: mast is open']
ARM_MOVES = ['Joint states contradict: arm was stowed', 'Stopped: arm is unknown']
SAFE = agent_is_safe('a reason')
FORGED = f'{TWO_AGENTS}: /agent, /other'
MAST = NEED_TO_CLOSE_MAST  # joints make an unknown mast open, never closed
SPEAKS, FALLS_SILENT_S = FAULTS['agent speaks'], MAX_AGE_S - 0.2
ENDS = {
    'a stop': End(World.ask_stop, ends_s=0.3),
    'a node that hangs': End(stop_a_node_that_hangs, ends_s=MOTION.stop_timeout_s + 0.1),
    'the leash': End(lambda world: None, MOTION.max_duration_s - 1.0, 1.3, LEASH),
    'lost joints': End(
        *(FAULTS['joints lost'], CONFIG.mast.joint_max_age_s - 0.3, 0.8, LOST, MAST),
        *(FAULTS['joints back'], MAST),
    ),
    'a mast that somebody raises': End(
        joints(RAISED), 0.0, 0.4, RAISES, MAST, joints(CLOSED), MAST
    ),
    'an arm that somebody moves': End(
        arm('arm_open'), 0.0, 1.0, ARM_MOVES, ARM_OUT, arm(STOW), ARM_OUT
    ),
    'the e-stop': End(
        *(FAULTS['e-stop pressed'], 0.0, 1.0, [f'E-stop pressed: {STOPPED}'], E_STOP_PRESSED),
        FAULTS['e-stop released'],
    ),
    'SAFE': End(
        *(FAULTS['agent enters SAFE'], 0.0, 1.0, [f'{SAFE}: {STOPPED}'], SAFE),
        FAULTS['agent clears SAFE'],
    ),
    'two agents': End(
        *(FAULTS['a second agent appears'], 0.0, 1.0, [f'{FORGED}: {STOPPED}'], FORGED),
        FAULTS['the agent is alone'],
    ),
    'no publisher of heartbeats': End(
        *(no_agent_publishes, 0.0, 0.2, [f'The agent is gone: {STOPPED}'], AGENT_IS_SILENT),
        an_agent_publishes,
    ),
    'a silent agent': End(
        FAULTS['agent freezes'], FALLS_SILENT_S, 0.5, SILENT, AGENT_IS_SILENT, SPEAKS
    ),
    'an agent that leaves': End(
        World.agent_leaves, FALLS_SILENT_S, 0.5, SILENT, AGENT_IS_SILENT, SPEAKS
    ),
    'another adapter': End(twins('/r1/adapter'), 0.0, 1.0, [f'{TWIN}; {STOPPED}'], TWIN, twins()),
}


@pytest.mark.parametrize('name', ENDS)
def test_what_ends_a_motion_forbids_the_next_until_it_is_over(driving: World, name: str) -> None:
    end, guard = ENDS[name], driving.guard
    end.cause(driving)
    if end.holds_s:
        driving.step(end.holds_s)
        assert driving.moving
    driving.step(end.ends_s)
    assert not driving.moving
    driving.drive.hanging = False
    driving.step(1.0)
    assert guard.motion is Motion.STILL
    assert guard.move_allowed is (end.refusal == '')
    alarms = driving.take_alarms()
    assert [each for each in alarms if 'arm' in end.refusal or 'arm' not in each] == [*end.alarms]
    assert driving.ask_move() == end.refusal
    if end.refusal:
        assert guard.last_error == end.refusal
        assert not driving.drive.queue
        end.cause(driving)
        assert guard.motion is Motion.STILL, 'it stops a motion, and nothing else'
        driving.step(0.1)
        assert driving.take_alarms() == [], 'it is told once'
        end.undo(driving)
        driving.step(0.5)
        if end.refusal == TWIN:
            assert guard.last_error == ''
        assert driving.ask_move() == end.then


def test_joints_make_an_unknown_mast_open_but_never_closed(driving: World) -> None:
    world = World()
    world.mast = world.mast_target = CLOSED
    world.step(3.0)
    assert world.guard.mast.state == 'unknown'
    assert world.ask_move() == NEED_TO_CLOSE_MAST
    world.mast = world.mast_target = RAISED
    world.step(0.2)
    assert world.guard.mast.state == 'open'
    assert world.ask_move() == NEED_TO_CLOSE_MAST
    assert not world.drive.queue
    driving.odometry_on = False
    driving.ask_stop()
    driving.guard.odometry(None, float('nan'), 0.0, None)  # is no standstill
    driving.step(0.2)
    assert driving.guard.motion is Motion.MOVING
    driving.guard.joints('mast', (float('nan'), -1.57))
    assert driving.guard.mast.state == 'unknown'


def test_a_mast_whose_joints_fell_silent_is_never_taken_for_stowed() -> None:
    world = World()
    world.step(0.2)
    world.joints_on = False  # its controller died, and the service answers as before
    world.step(CONFIG.mast.joint_max_age_s + 0.2)
    for joints_on in (False, False, True):
        world.joints_on = joints_on
        assert world.ask_mast('mast_close') == ''
        world.step(CONFIG.mast.close_duration_s + CONFIG.mast.confirm_margin_s + 0.5)
        assert world.guard.mast.state == ('closed' if joints_on else 'unknown')
        assert world.ask_move() == ('' if joints_on else NEED_TO_CLOSE_MAST)


def test_a_start_stops_the_rover_that_somebody_left_driving() -> None:
    world = World()
    world.driving, world.wheels = True, 0.5
    world.step(0.5)
    assert not world.moving
    assert world.guard.motion is Motion.STILL


def test_a_driver_that_goes_on_is_held_down_and_never_called_still(driving: World) -> None:
    driving.drive.absent = True  # its services are gone, its timer is not
    driving.ask_stop()
    driven = 0
    for _ in range(400):
        driving.step()
        driven += driving.moving
        assert driving.guard.motion is Motion.MOVING
    assert driven < 40  # only while the zero Twists pause to see whether they worked


def test_the_wheels_of_a_silent_driver_get_zeros_before_its_node_has_failed(
    driving: World,
) -> None:
    driving.step(1.0)
    driving.drive.hanging = True
    driving.step(CONFIG.motion.driver_silence_s + 2 * REPORT_S)
    assert not driving.moving
    assert driving.guard.last_error.startswith('The driver fell silent on /cmd_vel for 1.')
    driving.drive.absent = True  # and the stop that is called again fails
    driving.step(1.0)
    assert not driving.guard.moving
    assert driving.guard.last_error.startswith('The driver fell silent')


def test_a_foreign_driver_makes_a_violation_that_ends_with_the_motion(driving: World) -> None:
    driving.drive.absent = True
    driving.ask_stop()
    number = driving.ask_stop()
    for _ in range(40):  # each second reading shows the foreign Twist
        driving.wheels = 0.5
        driving.guard.odometry(None, 0.5, 0.0, None)
        driving.step(0.05)
    alarms = [driving.guard.violation]
    for names, seen in (('', 'no other driver'), ('/joystick', 'published by /joystick')):
        driving.guard.drivers(names)  # known later than the motion, and told anew
        driving.carry()
        alarms.append(driving.guard.violation)
        assert seen in alarms[-1]
    assert driving.take_alarms()[-3:] == alarms
    assert driving.guard.end_stop(number).startswith(STOP_NOT_CONFIRMED)
    driving.drive.absent, driving.driving = False, False
    driving.step(3.0)
    assert driving.guard.violation == ''
    assert driving.guard.end_stop(number) == ''


def test_silence_ends_no_stop_that_has_failed(driving: World) -> None:
    driving.ask_stop()
    for _ in range(80):
        driving.driving = True  # its call is answered, and somebody drives on
        driving.step()
    assert driving.guard.violation
    driving.odometry_on = False
    driving.step(5.0)
    assert driving.guard.violation
    assert driving.ask_move() == MOVE_IN_PROGRESS
    driving.odometry_on, driving.driving = True, False
    driving.step(5.0)
    assert (driving.guard.motion, driving.guard.violation) == (Motion.STILL, '')


def test_the_first_stop_ends_though_every_answer_comes_after_the_next_call() -> None:
    world = World()
    for _ in range(200):
        calls = world.drive.queue
        world.drive.hanging = bool(calls) and world.now - calls[0].sent_at < 1.5
        world.step()
    assert world.guard.motion is Motion.STILL


FORBIDDEN: dict[str, Callable[[World], None]] = {
    '': lambda world: None,
    'with the e-stop pressed': lambda world: world.press(True),
    'in SAFE': lambda world: world.guard.heartbeat(1, 'e-stop pressed'),
    'beside another adapter': twins('/r1/adapter'),
}


@pytest.mark.parametrize('why', FORBIDDEN)
def test_a_motion_that_another_node_may_start_ends_where_none_may(why: str) -> None:
    world = World()
    world.guard = world.new_guard(stop_unexpected=False)
    world.step(3.0)
    FORBIDDEN[why](world)
    world.step(3.0)
    world.driving = True
    world.step(2.0)
    assert world.moving is (why == '')
    assert not why or world.guard.last_error == f'Stopped: the rover moved unasked {why}'


def test_a_reason_is_told_of_its_own_motion_alone(stowed: World) -> None:
    guard = stowed.guard
    for ends_early in (True, False):
        guard.refuse('of an earlier request')
        token = guard.start_motion('move_forward')
        if not ends_early:
            guard.motion_started(token)
        guard.request_stop()
        if ends_early:
            with pytest.raises(MotionRefused, match=STOPPED_WHILE_STARTING):
                guard.motion_started(token)
        stowed.carry()
        stowed.step(2.0)
        assert (guard.motion, guard.last_error) == (Motion.STILL, '')


factors = st.floats(MOTION.slowest_real_time_factor, 0.99)


def slow_world(factor: float, *, late_s: float = 0.0, command: str = 'mast_close') -> World:
    """It stands, and has been asked for this mast motion, which takes so much longer."""
    world = World(factor=factor)
    world.step(4.0 / factor)
    assert not world.guard.moving
    assert world.ask_mast(command) == ''
    world.step()
    duration_s = world.mast_part.commands[command].duration_s
    world.mast, world.mast_left_s = (0.7, -1.0), duration_s + late_s
    return world


def slow_drive(factor: float) -> World:
    world = slow_world(factor)
    world.simulate(CONFIG.mast.close_duration_s + 0.5)
    assert world.ask_move() == ''
    world.step(2.0)
    return world


@given(factors, st.floats(0.02, 0.99), st.sampled_from(MAST_COMMANDS))
def test_a_mast_has_its_duration_and_margin_in_simulated_time_and_no_more(
    factor: float, any_factor: float, command: str
) -> None:
    world = slow_world(factor, late_s=0.8 * CONFIG.mast.confirm_margin_s, command=command)
    margin_s, duration_s = (
        CONFIG.mast.confirm_margin_s,
        world.mast_part.commands[command].duration_s,
    )
    world.simulate(duration_s + 0.7 * margin_s)
    assert world.mast_part.busy
    world.simulate(0.1 * margin_s + 2 * REPORT_S)
    assert world.mast_part.reached(command)
    world = slow_world(any_factor, late_s=1e9, command=command)
    world.step((duration_s + margin_s) / MOTION.slowest_real_time_factor + 1.0)
    assert world.guard.mast.state == 'unknown'
    assert world.guard.last_error.startswith('Mast not confirmed')


@given(factors)
def test_joints_age_and_a_stop_is_confirmed_in_simulated_time(factor: float) -> None:
    world = slow_drive(factor)
    world.sag = 0.5  # it brakes
    number = world.ask_stop()
    world.simulate(0.8)
    world.sag = 0.0
    world.simulate(4.0)
    assert (world.guard.end_stop(number), world.guard.violation) == ('', '')
    assert world.guard.move_allowed
    world.joints_on = False
    world.simulate(0.8 * CONFIG.mast.joint_max_age_s)
    assert world.guard.mast.state == 'closed'
    world.simulate(0.5 * CONFIG.mast.joint_max_age_s)
    assert world.guard.mast.state == 'unknown'


# In lumps of 0.2 s each clock is ahead in turn: counted from reading to reading, 30 s were 22.
@pytest.mark.parametrize(('factor', 'lump_s'), [(0.5, 1e-9), (0.1, 1e-9), (0.5, 0.2)])
def test_the_leash_and_a_motion_that_nobody_requested_end_in_steady_time(
    factor: float, lump_s: float
) -> None:
    world = slow_drive(factor)
    world.simulated.lump_ns = round(lump_s * 1e9)
    world.step(MOTION.max_duration_s - 2.5)
    assert not world.guard.stopping
    assert world.take_alarms() == []
    world.step(1.0)
    assert world.take_alarms() == LEASH
    world.step(4.0 / factor)
    assert not world.guard.moving
    world.driving, world.wheels = True, 0.5
    world.simulate(1.5 * REPORT_S)  # until odometry shows it
    assert world.ask_mast('mast_open') == MOVE_IN_PROGRESS
    world.step(MOTION.settle_s + 0.05)
    assert world.guard.stopping


# From the leash's end, or the agent's silence, to still wheels: the stop's time-out, then a few
# zero Twists.
STOP_TAKES_S = CONFIG.motion.stop_timeout_s + 0.5
CHANCES = {
    'a part hangs': lambda world: setattr(world.parts, 'hanging', True),
    'parts recover': lambda world: setattr(world.parts, 'hanging', False),
    'parts vanish': lambda world: setattr(world.parts, 'absent', True),
    'parts return': lambda world: setattr(world.parts, 'absent', False),
    'a goal is aborted': lambda world: [world.abort_goal(name) for name in world.appendages],
    **FAULTS,
}
REQUESTS = ['move', 'move', 'stop', *MAST_COMMANDS]
PARTS = [
    'stow',
    *range(6),
]  # the stowing command of the first appendage, or the command of a number
ENDINGS = ('e-stop pressed', 'agent freezes', 'agent enters SAFE', 'joints lost')
ROVER, STATION = (load_config(robot=name).robot for name in ('curiosity', 'canadarm2'))
ACTIONS = RobotProfile.model_validate(action_profile())


class GuardedRover(RuleBasedStateMachine):
    """Nobody else touches this robot: what it does, the guard allowed."""

    robots = st.sampled_from([SHIPPED, ROVER]) | profiles().map(RobotProfile.model_validate)

    @initialize(data=st.data())
    def begins(self, data: st.DataObject) -> None:
        robot = data.draw(self.robots)
        self.world = World(robot)
        self.has_base = robot.mobile_base
        self.safe_since: float | None = None  # the adapter knows the latch

    @rule(
        chance=st.sampled_from(['none', 'none', 'drive hangs', *sorted(CHANCES)]),
        requests=st.lists(st.sampled_from([*REQUESTS, *PARTS]), max_size=3),
        seconds=st.sampled_from([0.05, 0.1, 0.3, 1.0, 2.5, 2.5, 7.0, 31.0]),
    )
    def callers_come(self, chance: str, requests: list[str | int], seconds: float) -> None:
        """Up to three requests within one step: what concurrent callers amount to."""
        CHANCES.get(chance, lambda world: None)(self.world)
        for request in requests:
            self._ask(request)
        self.world.step(seconds)

    def _ask(self, request: str | int) -> None:
        world, guard = self.world, self.world.guard
        stowed = guard.mast is None or guard.mast.is_stowed
        moving, latch = guard.motion is Motion.MOVING, guard.agent.latch
        if request == 'stop':
            world.ask_stop()
        elif request in PARTS:
            self._ask_part(request)
        elif not self.has_base:
            return
        elif request == 'move':
            silent = world.silence_since() is not None
            assert world.ask_move() or (stowed and not silent and not latch)
        elif world.has_mast:
            refusal = world.ask_mast(str(request))
            if (moving or latch) and request != 'mast_close':
                assert refusal
            if stowed and request == 'mast_rotate':
                assert refusal

    def _ask_part(self, request: str | int) -> None:
        guard = self.world.guard
        arms = self.world.appendages
        named = [(name, each) for name, arm in arms.items() for each in arm.commands]
        if not named:
            return
        name, command = named[request % len(named)] if isinstance(request, int) else named[0]
        config = arms[name]
        command = command if isinstance(request, int) else config.stow_command
        after = config.commands[command].only_after
        allowed = not after or any(map(guard.parts[name].reached, after))
        stows, moving = config.stows(command), guard.motion is Motion.MOVING
        refusal = self.world.ask_appendage(name, command)
        if guard.e_stop or not allowed or ((guard.agent.latch or moving) and not stows):
            assert refusal

    @rule(
        begins=st.just('move') | st.sampled_from(PARTS[1:]),
        agent=st.sampled_from(['agent speaks', 'agent leaves']),
        stows=st.booleans(),
        chance=st.sampled_from(ENDINGS) | st.sampled_from(sorted(CHANCES)),
        seconds=st.sampled_from([0.4, 7.0]),
    )
    def a_motion_that_was_well_prepared_meets_a_chance(
        self, begins: str | int, agent: str, stows: bool, chance: str, seconds: float
    ) -> None:
        """Without one, random histories would rarely drive at all."""
        world = self.world
        recover(world)
        FAULTS[agent](world)
        world.step(4.0)
        world.ask_stop()
        world.step(1.5)
        if world.has_mast:
            world.ask_mast('mast_close')
        for name, part in world.appendages.items():
            if stows:
                world.ask_appendage(name, part.stow_command)
        world.step(4.5)
        self._ask(begins)
        world.step(0.5)
        CHANCES[chance](world)
        world.step(seconds)

    @rule(seconds=st.sampled_from([0.05, 0.5, 1.5]))
    def everything_recovers(self, seconds: float) -> None:
        recover(self.world)
        self.world.step(seconds)

    @rule()
    def the_adapter_dies_and_restarts(self) -> None:
        self.world.restart_adapter(self.world.new_guard())

    def _moves_for(self, since: float | None) -> float:
        """The seconds of a motion that has lasted since this time, or began later."""
        began = self.world.moving_since
        return 0.0 if began is None or since is None else self.world.now - max(began, since)

    @invariant()
    def the_rover_never_moves_with_the_mast_up(self) -> None:
        assert not self.world.moved_with_the_mast_up

    @invariant()
    def the_rover_never_moves_with_a_part_that_is_not_stowed(self) -> None:
        assert not self.world.moved_unstowed

    @invariant()
    def the_leash_holds(self) -> None:
        assert self._moves_for(0.0) <= CONFIG.motion.max_duration_s + STOP_TAKES_S

    @invariant()
    def no_motion_outlives_the_agents_silence(self) -> None:
        assert self._moves_for(self.world.silence_since()) <= STOP_TAKES_S

    @invariant()
    def no_motion_outlives_safe(self) -> None:
        if not self.world.guard.agent.latch:
            self.safe_since = None
        elif self.safe_since is None:
            self.safe_since = self.world.now
        assert self._moves_for(self.safe_since) <= STOP_TAKES_S

    @invariant()
    def no_motion_outlives_the_e_stop(self) -> None:
        assert self._moves_for(self.world.pressed_at) <= STOP_TAKES_S

    @invariant()
    def no_arm_that_must_rest_moves_on(self) -> None:
        assert all(seconds < RESTS_S for seconds in self.world.must_rest_s.values())

    @invariant()
    def what_was_due_has_been_done(self) -> None:
        assert self.world.guard.next_wakeup() >= self.world.now

    @invariant()
    def motion_without_a_closed_mast_is_being_stopped(self) -> None:
        guard = self.world.guard
        if guard.motion is Motion.MOVING and any(
            not part.is_stowed for part in guard.parts.values()
        ):
            assert guard.stopping or guard.next_wakeup() < math.inf

    def teardown(self) -> None:
        """Left alone with healthy services, the rover comes to rest and everybody knows it."""
        world = self.world
        recover(world)
        world.agent_lives = True
        world.ask_stop()
        world.step(15.0)  # a node that hung has a queue of stops to work off
        assert not world.moving
        assert world.guard.motion is Motion.STILL
        assert (
            not any(part.busy for part in world.guard.parts.values())
            or world.guard.next_wakeup() < math.inf
        )
        if self.has_base:
            drive_off(world)
            assert not world.moved_unstowed


class GuardedArm(GuardedRover):
    """An arm without a base, by topics and by actions."""

    robots = st.sampled_from([STATION, ACTIONS])


TestGuardedRover, TestGuardedArm = GuardedRover.TestCase, GuardedArm.TestCase
TestGuardedRover.settings = TestGuardedArm.settings = settings(
    max_examples=examples(60), stateful_step_count=30, deadline=None
)
