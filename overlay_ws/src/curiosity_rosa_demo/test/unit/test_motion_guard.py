# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rules of the adapter, one example each; test_motion_guard_machine has random histories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from curiosity_rosa_demo.adapter.mast import Mast, MastAction
from curiosity_rosa_demo.adapter.motion_guard import Motion, MotionGuard, MotionRefused
from curiosity_rosa_demo.adapter.stop import TWIST_PERIOD_S
from curiosity_rosa_demo.domain.models import (
    agent_is_safe,
    AGENT_IS_SILENT,
    E_STOP_PRESSED,
    MOVE_IN_PROGRESS,
    NEED_TO_CLOSE_MAST,
    NEED_TO_OPEN_MAST,
    OTHER_ADAPTER,
    STOP_NOT_CONFIRMED,
    TWO_AGENTS,
)
from curiosity_rosa_demo.infra.clocks import SimulationClock
from guard_world import CLOSED, CONFIG, RAISED, World
from hypothesis import given
from hypothesis import strategies as st
import pytest

MOTION, MAST = CONFIG.motion, CONFIG.mast
MAX_AGE_S = MOTION.heartbeat_max_age_s
WHY = 'an obstacle'
TWIN = f'{OTHER_ADAPTER}: /r1/adapter'


@pytest.fixture
def world() -> World:
    """It stands, its mast raised, without an agent."""
    world = World()
    world.step(1.0)
    return world


@pytest.fixture
def stowed(world: World) -> World:
    assert world.ask_mast(MastAction.CLOSE) == ''
    world.step(2.0)
    assert world.guard.mast is Mast.CLOSED
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


def set_to(**values: object) -> Callable[[World], None]:
    def change(world: World) -> None:
        for name, value in values.items():
            setattr(world, name, value)

    return change


def agents(alive: int, *names: str) -> Callable[[World], None]:
    return lambda world: world.guard.set_agents(alive, names)


def twins(*names: str) -> Callable[[World], None]:
    return lambda world: world.guard.set_other_adapters(names)


def agent_is_gone(world: World) -> None:
    world.agent_lives = False
    world.guard.set_agents(0, [])


def stop_a_node_that_hangs(world: World) -> None:
    world.drive.hanging = True
    world.ask_stop()


class End(NamedTuple):
    """What ends a motion: it goes on for ``holds_s`` and has ended ``ends_s`` later."""

    cause: Callable[[World], object]
    alarms: Sequence[str] = ()
    refusal: str = ''  # of the next motion
    undo: Callable[[World], object] = lambda world: None
    then: str = ''  # the refusal afterwards
    holds_s: float = 0.0
    ends_s: float = 1.0


SILENT = [f'The agent fell silent for {MAX_AGE_S:g} s: the rover was stopped']
SPEAKS = set_to(agent_lives=True)
LEASH = [f'Stopped by the leash after {MOTION.max_duration_s:g} s']
LOST = ['Joint states lost: mast unknown', 'Stopped: mast is unknown']
RAISES = ['Joint states contradict a mast that was closed', 'Stopped: mast is open']
PRESSED = ['E-stop pressed: the rover was stopped']
GONE = ['The agent is gone: the rover was stopped']
FORGED = f'{TWO_AGENTS}: /agent, /forger'
MAST_UNKNOWN = NEED_TO_CLOSE_MAST  # joints make an unknown mast open, never closed
ENDS = {
    'a stop': End(World.ask_stop, ends_s=0.3),
    'a stop of a node that hangs': End(stop_a_node_that_hangs, ends_s=MOTION.stop_timeout_s + 0.1),
    'the leash of a caller that died': End(
        lambda world: None, LEASH, holds_s=MOTION.max_duration_s - 1.0, ends_s=1.3
    ),
    'lost joints': End(
        *(set_to(joints_on=False), LOST, NEED_TO_CLOSE_MAST),
        *(set_to(joints_on=True), MAST_UNKNOWN, MAST.joint_max_age_s - 0.3, 0.8),
    ),
    'a mast that somebody raises': End(
        *(set_to(mast=RAISED, mast_target=RAISED), RAISES, NEED_TO_CLOSE_MAST),
        *(set_to(mast=CLOSED, mast_target=CLOSED), MAST_UNKNOWN, 0.0, 0.4),
    ),
    'the e-stop': End(
        *(lambda world: world.press(True), PRESSED, E_STOP_PRESSED),
        lambda world: world.press(False),
    ),
    'SAFE': End(
        *(set_to(latch=WHY), [f'{agent_is_safe(WHY)}: the rover was stopped']),
        *(agent_is_safe(WHY), set_to(latch='')),
    ),
    'two agents': End(
        *(agents(2, '/agent', '/forger'), [f'{FORGED}: the rover was stopped']),
        *(FORGED, agents(1)),
    ),
    'no publisher of heartbeats': End(
        *(agent_is_gone, GONE, AGENT_IS_SILENT),
        lambda world: (SPEAKS(world), agents(1)(world)),
        ends_s=0.2,
    ),
    'a silent agent': End(
        *(set_to(agent_lives=False), SILENT, AGENT_IS_SILENT, SPEAKS, '', MAX_AGE_S - 0.2, 0.5)
    ),
    'an agent that leaves': End(
        *(World.agent_leaves, SILENT, AGENT_IS_SILENT, SPEAKS, '', MAX_AGE_S - 0.2, 0.5)
    ),
    'another adapter': End(
        *(twins('/r1/adapter'), [f'{TWIN}; the rover was stopped'], TWIN, twins()),
    ),
}


@pytest.mark.parametrize('name', ENDS)
def test_what_ends_a_motion_forbids_the_next_until_it_is_over(driving: World, name: str) -> None:
    end = ENDS[name]
    end.cause(driving)
    if end.holds_s:
        driving.step(end.holds_s)
        assert driving.moving
    driving.step(end.ends_s)
    assert not driving.moving
    driving.drive.hanging = False
    driving.step(1.0)
    assert driving.guard.motion is Motion.STILL
    assert driving.guard.move_allowed is (end.refusal == '')
    assert driving.guard.take_alarms() == [*end.alarms]
    assert driving.ask_move() == end.refusal
    if end.refusal:
        assert driving.guard.last_error == end.refusal
        assert not driving.drive.queue
        end.cause(driving)
        assert driving.guard.motion is Motion.STILL, 'it stops a motion, and nothing else'
        driving.step(0.1)
        assert driving.guard.take_alarms() == [], 'it is told once'
        end.undo(driving)
        driving.step(0.5)
        if end.refusal == TWIN:
            assert driving.guard.last_error == ''
        assert driving.ask_move() == end.then


def test_a_robots_own_words_are_not_taken_for_another_adapter(driving: World) -> None:
    driving.guard.set_other_adapters(('/r1/adapter',))
    driving.guard.mast_failed(words := f'{OTHER_ADAPTER}, says the mast')
    driving.guard.set_other_adapters(())
    assert driving.guard.last_error == words


NOTHING = dict.fromkeys(MastAction, '')


@pytest.mark.parametrize(
    ('name', 'refusals'),
    [
        ('', NOTHING),
        ('the e-stop', dict.fromkeys(MastAction, E_STOP_PRESSED)),
        ('SAFE', {**dict.fromkeys(MastAction, agent_is_safe(WHY)), MastAction.CLOSE: ''}),
        ('another adapter', {**dict.fromkeys(MastAction, TWIN), MastAction.CLOSE: ''}),
        ('a silent agent', NOTHING),
        ('two agents', NOTHING),
    ],
)
def test_which_mast_motions_may_begin_meanwhile(
    world: World, name: str, refusals: dict[MastAction, str]
) -> None:
    world.agent_lives = True
    world.step(0.5)
    if name:
        ENDS[name].cause(world)
        world.step(MAX_AGE_S + 1.5)
    found = {}
    for action in MastAction:
        try:
            world.guard.check_mast(action)
        except MotionRefused as refusal:
            found[action] = str(refusal)
    assert found == {action: why for action, why in refusals.items() if why}


# --- the mast -------------------------------------------------------------------------------


def test_joints_make_an_unknown_mast_open_but_never_closed() -> None:
    world = World()
    world.mast = world.mast_target = CLOSED
    world.step(3.0)
    assert world.guard.mast is Mast.UNKNOWN
    assert world.ask_move() == NEED_TO_CLOSE_MAST
    world.mast = world.mast_target = RAISED
    world.step(0.2)
    assert world.guard.mast is Mast.OPEN
    assert world.ask_move() == NEED_TO_CLOSE_MAST
    assert not world.drive.queue


def test_the_mast_stays_down_while_moving(driving: World) -> None:
    for action in (MastAction.OPEN, MastAction.ROTATE):
        assert driving.ask_mast(action) == MOVE_IN_PROGRESS
    assert driving.ask_mast(MastAction.CLOSE) == ''  # it is closed: nothing to do
    assert not driving.masts.queue
    driving.ask_stop()
    driving.step(1.0)
    assert driving.ask_mast(MastAction.ROTATE) == NEED_TO_OPEN_MAST


def test_a_mast_motion_counts_as_open_until_the_joints_agree(world: World) -> None:
    world.ask_mast(MastAction.CLOSE)
    world.step(0.2)
    assert world.guard.mast is Mast.CLOSING
    assert world.ask_move() == NEED_TO_CLOSE_MAST
    assert world.ask_mast(MastAction.OPEN) == 'Mast is moving'


def test_without_joints_the_known_duration_decides() -> None:
    world = World()
    world.joints_on = False
    world.step(0.5)
    assert world.guard.next_wakeup() is None
    world.ask_mast(MastAction.CLOSE)
    world.step(MAST.close_duration_s - 0.2)
    assert world.guard.mast is Mast.CLOSING
    world.step(0.4)
    assert world.guard.mast is Mast.CLOSED


def test_a_rotate_is_not_confirmed_by_the_pose_it_starts_from(world: World) -> None:
    world.mast = world.mast_target = (0.0, -6.28)
    world.step(0.2)
    world.ask_mast(MastAction.ROTATE)
    world.step(1.0)
    assert world.guard.mast_busy
    world.step(6.0)
    assert world.guard.mast is Mast.OPEN


def test_a_mast_call_without_an_answer_leaves_the_mast_unknown(stowed: World) -> None:
    stowed.masts.hanging = True
    stowed.ask_mast(MastAction.CLOSE)
    stowed.step(2.5)
    assert stowed.guard.mast is Mast.UNKNOWN
    assert stowed.ask_move() == NEED_TO_CLOSE_MAST


def test_not_a_number_is_no_closed_mast_and_no_standstill(driving: World) -> None:
    driving.odometry_on = False
    driving.ask_stop()
    driving.guard.record_odometry(float('nan'), 0.0)
    driving.step(0.2)
    assert driving.guard.motion is Motion.MOVING
    driving.guard.record_joints(float('nan'), -1.57)
    assert driving.guard.mast is Mast.UNKNOWN


def test_joints_that_contradict_each_other_alarm_once_a_period(world: World) -> None:
    world.ask_mast(MastAction.CLOSE)
    world.step(2.0)
    alarms = []
    for _ in range(200):  # 20 s
        world.guard.record_joints(0.7, -1.0)
        world.guard.mast = Mast.CLOSED  # a second publisher
        world.step(0.1)
        alarms += world.guard.take_alarms()
    told = [alarm for alarm in alarms if alarm.startswith('Joint states contradict')]
    assert 2 <= len(told) <= 3
    assert 'times more)' in told[-1]


# --- motions and their stops ----------------------------------------------------------------


def test_a_start_stops_the_rover_that_somebody_left_driving() -> None:
    world = World()
    world.driving, world.wheels = True, 0.5
    world.step(0.5)
    assert not world.moving
    assert world.guard.motion is Motion.STILL


def test_a_rover_that_moves_unasked_is_stopped(world: World) -> None:
    world.driving, world.wheels = True, 0.5
    world.step(MOTION.settle_s + 0.5)
    assert not world.moving
    assert 'unasked' in world.guard.last_error


def test_repeated_motions_stay_on_the_first_ones_leash(stowed: World) -> None:
    for _ in range(4):
        assert stowed.ask_move() == ''
        stowed.step(MOTION.max_duration_s / 5)
    stowed.step(MOTION.max_duration_s / 5 + 0.3)
    assert not stowed.moving


def test_a_driver_that_goes_on_is_held_down_and_never_called_still(driving: World) -> None:
    driving.drive.absent = True  # its services are gone, its timer is not
    driving.ask_stop()
    driven = 0
    for _ in range(400):
        driving.step()
        driven += driving.moving
        assert driving.guard.motion is Motion.MOVING
    assert driven < 40  # only while the zero Twists pause to see whether they worked


def test_repeated_stops_do_not_put_off_the_zero_twists(driving: World) -> None:
    driving.drive.hanging = True
    for _ in range(8):
        driving.ask_stop()
        driving.step(MOTION.stop_timeout_s / 4)
    assert not driving.moving


def test_zero_twists_without_odometry_go_on_and_so_does_the_stop(driving: World) -> None:
    driving.odometry_on, driving.drive.hanging = False, True
    driving.step(2.0)
    driving.ask_stop()
    driving.step(MOTION.stop_confirm_s + 3.0)
    assert not driving.moving
    assert driving.guard.motion is Motion.MOVING  # nobody has confirmed it
    driving.drive.hanging = False
    driving.step(MOTION.settle_s + 2.0)
    assert driving.guard.motion is Motion.STILL


def test_a_lost_zero_twist_is_due_again_sooner_than_one_that_nobody_can_see(
    stowed: World,
) -> None:
    stowed.drive.absent, stowed.odometry_on = True, False
    stowed.guard.stop_failed(stowed.ask_stop(), 'Service unavailable: /move_stop')
    stowed.step(MOTION.stop_confirm_s + 1.0)
    wakeup = stowed.guard.next_wakeup()
    assert wakeup is not None
    stowed.now = max(stowed.now, wakeup)
    assert stowed.guard.poll().zero_twist
    assert not stowed.guard.poll().zero_twist
    stowed.guard.zero_twist_lost()
    stowed.now += TWIST_PERIOD_S + 1e-6
    assert stowed.guard.poll().zero_twist


def test_zero_twists_that_were_all_lost_prove_nothing(stowed: World) -> None:
    stowed.drive.absent, stowed.lose_twists = True, 1
    stowed.guard.stop_failed(stowed.ask_stop(), 'Service unavailable: /move_stop')
    stowed.step(3.0)
    assert stowed.guard.stopping, 'the rover stands, but not for anything that was sent'
    due = stowed.twists_due
    stowed.step(1.0)
    assert stowed.twists_due > due
    stowed.lose_twists = 0
    stowed.step(1.5)
    assert not stowed.guard.stopping


@pytest.mark.parametrize('is_silent', [False, True])
def test_a_start_call_that_answers_late_is_stopped_again(stowed: World, is_silent: bool) -> None:
    """The agent falls silent before the answer, or the call times out."""
    stowed.agent_lives = is_silent
    stowed.step(0.2)
    stowed.agent_lives = False
    stowed.step(MAX_AGE_S - 0.1)
    stowed.drive.hanging = True
    assert stowed.ask_move() == ''
    stowed.step(0.3 if is_silent else 8.0)
    assert stowed.guard.stopping
    assert stowed.ask_mast(MastAction.OPEN) == MOVE_IN_PROGRESS  # it may still take effect
    stowed.drive.hanging = False
    stowed.step(0.5)
    assert not stowed.moving
    stowed.step(1.5)
    assert stowed.guard.motion is Motion.STILL


def test_a_foreign_driver_makes_a_violation_that_ends_with_the_motion(driving: World) -> None:
    driving.drive.absent = True
    driving.ask_stop()
    number = driving.ask_stop()
    for _ in range(40):  # each second reading shows the foreign Twist
        driving.wheels = 0.5
        driving.guard.record_odometry(0.5, 0.0)
        driving.step(0.05)
    alarms = [driving.guard.violation]
    for names, seen in (('', 'no other driver'), ('/joystick', 'published by /joystick')):
        driving.guard.set_other_drivers(names)  # known later than the motion, and told anew
        alarms.append(driving.guard.violation)
        assert seen in alarms[-1]
    assert driving.guard.take_alarms()[-3:] == alarms
    assert driving.guard.stop_problem(number).startswith(STOP_NOT_CONFIRMED)
    driving.drive.absent, driving.driving = False, False
    driving.step(3.0)
    assert driving.guard.violation == ''
    assert driving.guard.stop_problem(number) == ''


def test_the_first_stop_of_a_process_is_not_confirmed_before_it_was_seen() -> None:
    guard = World().guard
    assert 'no odometry' in guard.stop_problem(guard.request_stop())


def test_a_stop_without_odometry_is_not_confirmed(driving: World) -> None:
    driving.odometry_on = False
    driving.step(MOTION.odometry_max_age_s + 0.1)
    number = driving.ask_stop()
    driving.step(0.5)
    assert driving.guard.stops_ended >= number
    assert driving.guard.stop_problem(number) == f'{STOP_NOT_CONFIRMED}: no odometry'


# --- the agent ------------------------------------------------------------------------------


def test_a_motion_in_safe_is_stopped_again(driving: World) -> None:
    driving.latch = WHY
    driving.step(1.0)
    driving.guard.take_alarms()
    driving.driving = True
    driving.step(0.5)
    assert not driving.moving
    assert 'Stopped: the rover moved unasked in SAFE' in driving.guard.take_alarms()


def test_the_latch_outlives_the_agent_until_a_beat_without_one(driving: World) -> None:
    driving.latch = WHY
    driving.step(1.0)
    driving.agent_leaves()
    assert driving.ask_move() == agent_is_safe(WHY)
    driving.latch, driving.agent_lives = '', True
    driving.step(0.5)
    assert driving.ask_move() == ''


def test_the_silence_itself_wakes_the_guard(stowed: World) -> None:
    stowed.agent_lives = True
    stowed.step(0.5)
    stowed.agent_lives = False
    stowed.step(MAX_AGE_S / 2)
    assert stowed.heard_at is not None
    assert stowed.guard.move_allowed
    wakeup = stowed.guard.next_wakeup()
    assert wakeup == pytest.approx(stowed.heard_at + MAX_AGE_S, abs=0.02)
    stowed.step(wakeup - stowed.now + 0.02)
    assert not stowed.guard.move_allowed
    later = stowed.guard.next_wakeup()
    assert later is not None
    assert later > stowed.now  # it is said once


@pytest.mark.parametrize('has_left', [False, True])
def test_without_an_agent_or_after_it_left_a_standing_rover_people_may_drive(
    stowed: World, has_left: bool
) -> None:
    if has_left:
        stowed.agent_lives = True
        stowed.step(0.5)
        stowed.agent_leaves()
        stowed.step(MAX_AGE_S + 0.5)
    assert stowed.ask_move() == ''
    stowed.step(MAX_AGE_S * 5)
    assert stowed.moving


# --- a slow simulation: as patient as its factor asks for, and no more ------------------------

STEP_S = 0.05
REPORT_S = 0.1  # period of odometry and joint states, simulated
TURNED = (0.0, -6.28)
TARGETS = {MastAction.OPEN: RAISED, MastAction.CLOSE: CLOSED, MastAction.ROTATE: TURNED}
factors = st.floats(MOTION.slowest_real_time_factor, 1.0)


class SlowWorld:
    """A rover that stands, and whose services answer at once. All else takes simulated time."""

    def __init__(self, factor: float) -> None:
        self.factor, self.steady_s, self.simulated_s = factor, 0.0, 0.0
        self.ros_time_is_active = True
        self.mast, self.speed = RAISED, 0.0
        self.joints_on = True
        self._reported_s = 0.0
        self.guard = MotionGuard(
            MOTION,
            MAST,
            clock=lambda: self.steady_s,
            simulation=SimulationClock.of(self, MOTION, lambda: self.steady_s),
        )
        self.run(4.0 / factor)
        assert not self.guard.moving

    @property
    def nanoseconds(self) -> int:
        return round(self.simulated_s * 1e9)

    def now(self) -> SlowWorld:
        return self

    def run(self, steady_s: float) -> None:
        for _ in range(round(steady_s / STEP_S)):
            self.steady_s += STEP_S
            self.simulated_s += STEP_S * self.factor
            if self.simulated_s - self._reported_s >= REPORT_S - 1e-9:
                self._reported_s = self.simulated_s
                self.guard.record_odometry(self.speed, 0.0)
                if self.joints_on:
                    self.guard.record_joints(*self.mast)
            due = self.guard.poll()
            if due.stop_call is not None:
                self.guard.stop_answered(due.stop_call)

    def simulate(self, simulated_s: float) -> None:
        self.run(simulated_s / self.factor)

    def begin(self, action: MastAction) -> None:
        assert self.guard.begin_mast(action)
        self.guard.mast_answered()
        self.mast = (0.7, -1.0)  # on its way

    def close_mast(self) -> None:
        self.begin(MastAction.CLOSE)
        self.mast = CLOSED
        self.simulate(1.5)
        assert self.guard.mast is Mast.CLOSED


@given(factors, st.sampled_from(MastAction))
def test_a_mast_has_its_duration_and_margin_in_simulated_time(
    factor: float, action: MastAction
) -> None:
    world = SlowWorld(factor)
    world.begin(action)
    world.simulate(action.duration_s(MAST) + 0.8 * MAST.confirm_margin_s)
    assert world.guard.mast is action.during
    world.mast = TARGETS[action]
    world.simulate(2 * REPORT_S)
    assert world.guard.mast is action.after


@given(st.floats(0.02, 1.0), st.sampled_from(MastAction))
def test_a_mast_that_never_arrives_fails_within_the_bound(
    factor: float, action: MastAction
) -> None:
    world = SlowWorld(factor)
    world.begin(action)
    limit_s = action.duration_s(MAST) + MAST.confirm_margin_s
    world.run(limit_s / MOTION.slowest_real_time_factor + 1.0)
    assert world.guard.mast is Mast.UNKNOWN
    assert world.guard.last_error.startswith('Mast not confirmed')


@given(factors)
def test_joint_states_are_lost_after_their_age_in_simulated_time(factor: float) -> None:
    world = SlowWorld(factor)
    world.close_mast()
    world.joints_on = False
    world.simulate(0.8 * MAST.joint_max_age_s)
    assert world.guard.mast is Mast.CLOSED
    world.simulate(0.5 * MAST.joint_max_age_s)
    assert world.guard.mast is Mast.UNKNOWN


@given(factors)
def test_a_stop_is_confirmed_by_odometry_and_a_rover_that_brakes_is_no_runaway(
    factor: float,
) -> None:
    world = SlowWorld(factor)
    world.close_mast()
    world.guard.move_answered(world.guard.begin_move())
    world.speed = 0.5
    world.run(2.0)
    number = world.guard.request_stop()
    world.simulate(0.8)  # it brakes
    world.speed = 0.0
    world.simulate(4.0)
    assert world.guard.stop_problem(number) == ''
    assert world.guard.violation == ''
    assert world.guard.move_allowed


@pytest.mark.parametrize('factor', [1.0, 0.5, 0.1])
def test_the_leash_ends_in_steady_time(factor: float) -> None:
    world = SlowWorld(factor)
    world.close_mast()
    world.guard.move_answered(world.guard.begin_move())
    world.speed = 0.5
    world.run(MOTION.max_duration_s - 0.5)
    assert not world.guard.stopping
    world.run(1.0)
    assert world.guard.stopping
    assert world.guard.take_alarms() == ['Stopped by the leash after 30 s']


@pytest.mark.parametrize('factor', [1.0, 0.5, 0.1])
def test_a_motion_that_nobody_requested_is_stopped_in_steady_time(factor: float) -> None:
    world = SlowWorld(factor)
    world.speed = 0.5
    world.simulate(1.5 * REPORT_S)  # until odometry shows it
    world.run(MOTION.settle_s + STEP_S)
    assert world.guard.stopping
