# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rules of the adapter, one example each; test_motion_guard_machine has random histories."""

from __future__ import annotations

from curiosity_rosa_demo.adapter.mast import Mast, MastAction
from curiosity_rosa_demo.adapter.motion_guard import Motion
from curiosity_rosa_demo.adapter.stop import TWIST_PERIOD_S
from curiosity_rosa_demo.domain.models import (
    AGENT_IS_SILENT,
    E_STOP_PRESSED,
    MOVE_IN_PROGRESS,
    NEED_TO_CLOSE_MAST,
    NEED_TO_OPEN_MAST,
)
from guard_world import CLOSED, CONFIG, RAISED, World
import pytest


@pytest.fixture
def world() -> World:
    world = World()
    world.step(1.0)
    return world


@pytest.fixture
def stowed(world: World) -> World:
    assert world.ask_mast(MastAction.CLOSE) == ''
    world.step(2.0)
    assert world.guard.mast is Mast.CLOSED
    return world


def test_a_start_stops_the_rover_that_somebody_left_driving() -> None:
    world = World()
    world.driving, world.wheels = True, 0.5
    world.step(0.5)
    assert not world.moving
    assert world.guard.motion is Motion.STILL


def test_joints_make_an_unknown_mast_open_but_never_closed() -> None:
    world = World()
    world.mast = world.mast_target = CLOSED
    world.step(3.0)
    assert world.guard.mast is Mast.UNKNOWN
    assert world.ask_move() == NEED_TO_CLOSE_MAST
    world.mast = world.mast_target = RAISED
    world.step(0.2)
    assert world.guard.mast is Mast.OPEN


def test_a_raised_mast_forbids_motion(world: World) -> None:
    assert world.ask_move() == NEED_TO_CLOSE_MAST
    assert not world.drive.queue


def test_a_stowed_mast_allows_it_and_a_stop_ends_it(stowed: World) -> None:
    assert stowed.ask_move() == ''
    stowed.step(1.0)
    assert stowed.moving
    stowed.ask_stop()
    stowed.step(0.3)
    assert not stowed.moving
    assert stowed.guard.motion is Motion.STILL


@pytest.mark.parametrize('action', [MastAction.OPEN, MastAction.ROTATE])
def test_the_mast_stays_down_while_moving(stowed: World, action: MastAction) -> None:
    stowed.ask_move()
    stowed.step(0.5)
    assert stowed.ask_mast(action) == MOVE_IN_PROGRESS


def test_stowing_a_stowed_mast_while_moving_touches_nothing(stowed: World) -> None:
    stowed.ask_move()
    stowed.step(0.5)
    assert stowed.ask_mast(MastAction.CLOSE) == ''
    assert not stowed.masts.queue
    assert stowed.guard.mast is Mast.CLOSED


def test_a_closed_mast_cannot_rotate(stowed: World) -> None:
    assert stowed.ask_mast(MastAction.ROTATE) == NEED_TO_OPEN_MAST


def test_a_mast_motion_counts_as_open_until_the_joints_agree(world: World) -> None:
    world.ask_mast(MastAction.CLOSE)
    world.step(0.2)
    assert world.guard.mast is Mast.CLOSING
    assert world.ask_move() == NEED_TO_CLOSE_MAST
    assert world.ask_mast(MastAction.OPEN) == 'Mast is moving'


def test_joints_that_never_agree_leave_the_mast_unknown(world: World) -> None:
    world.ask_mast(MastAction.CLOSE)
    world.step(0.1)
    world.mast_target = world.mast = (0.8, -1.0)  # stuck half-way
    world.step(5.0)
    assert world.guard.mast is Mast.UNKNOWN
    assert 'mast_close' in world.guard.last_error


def test_without_joints_the_known_duration_decides() -> None:
    world = World()
    world.joints_on = False
    world.step(0.5)
    world.ask_mast(MastAction.CLOSE)
    world.step(CONFIG.mast.close_duration_s - 0.2)
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


def test_lost_joints_stop_a_moving_rover(stowed: World) -> None:
    stowed.ask_move()
    stowed.step(0.5)
    stowed.joints_on = False
    stowed.step(CONFIG.mast.joint_max_age_s + 0.5)
    assert not stowed.moving
    assert stowed.guard.mast is Mast.UNKNOWN
    assert any('Joint states lost' in alarm for alarm in stowed.guard.take_alarms())


def test_a_mast_that_somebody_raises_stops_a_moving_rover(stowed: World) -> None:
    stowed.ask_move()
    stowed.step(0.5)
    stowed.mast = stowed.mast_target = RAISED
    stowed.step(0.4)
    assert not stowed.moving
    assert stowed.guard.mast is Mast.OPEN


def test_the_leash_ends_a_motion_whose_caller_died(stowed: World) -> None:
    stowed.ask_move()
    stowed.step(CONFIG.motion.max_duration_s + 0.3)
    assert not stowed.moving
    assert 'leash' in stowed.guard.last_error


def test_repeated_motions_stay_on_the_first_ones_leash(stowed: World) -> None:
    for _ in range(4):
        assert stowed.ask_move() == ''
        stowed.step(CONFIG.motion.max_duration_s / 5)
    stowed.step(CONFIG.motion.max_duration_s / 5 + 0.3)
    assert not stowed.moving


def test_zero_twists_stop_a_rover_whose_move_stop_hangs(stowed: World) -> None:
    stowed.ask_move()
    stowed.step(0.5)
    stowed.drive.hanging = True
    stowed.ask_stop()
    stowed.step(CONFIG.motion.stop_timeout_s + 0.1)
    assert not stowed.moving
    stowed.step(1.0)
    assert stowed.guard.motion is Motion.STILL


def test_a_driver_that_goes_on_is_held_down_and_never_called_still(stowed: World) -> None:
    stowed.ask_move()
    stowed.step(0.5)
    stowed.drive.absent = True  # its services are gone, its timer is not
    stowed.ask_stop()
    driven = 0
    for _ in range(400):
        stowed.step()
        driven += stowed.moving
        assert stowed.guard.motion is Motion.MOVING
    assert driven < 40  # only while the zero Twists pause to see whether they worked


def test_zero_twists_without_odometry_go_on_and_so_does_the_stop(stowed: World) -> None:
    stowed.ask_move()
    stowed.step(0.5)
    stowed.odometry_on, stowed.drive.hanging = False, True
    stowed.step(2.0)
    stowed.ask_stop()
    stowed.step(CONFIG.motion.stop_confirm_s + 3.0)
    assert not stowed.moving
    assert stowed.guard.motion is Motion.MOVING  # nobody has confirmed it
    stowed.drive.hanging = False
    stowed.step(CONFIG.motion.settle_s + 2.0)
    assert stowed.guard.motion is Motion.STILL


def test_a_zero_twist_that_could_not_be_sent_is_due_again(stowed: World) -> None:
    stowed.ask_move()
    stowed.step(0.5)
    stowed.drive.hanging, stowed.lose_twists = True, 1
    stowed.ask_stop()
    stowed.step(3.0)
    assert stowed.moving, 'no zero Twist has left'
    stowed.lose_twists = 0
    stowed.step()
    assert not stowed.moving


def test_a_lost_zero_twist_is_due_again_sooner_than_one_that_nobody_can_see(
    stowed: World,
) -> None:
    stowed.drive.absent, stowed.odometry_on = True, False
    stowed.guard.stop_failed(stowed.ask_stop(), 'Service unavailable: /move_stop')
    stowed.step(CONFIG.motion.stop_confirm_s + 1.0)
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


def test_a_start_call_that_answers_late_is_stopped_again(stowed: World) -> None:
    stowed.drive.hanging = True
    stowed.ask_move()
    stowed.step(8.0)
    assert stowed.ask_mast(MastAction.OPEN) == MOVE_IN_PROGRESS  # it may still take effect
    stowed.drive.hanging = False
    stowed.step(0.5)
    assert not stowed.moving
    stowed.step(1.0)
    assert stowed.guard.motion is Motion.STILL


def test_a_rover_that_moves_unasked_is_stopped(world: World) -> None:
    world.driving, world.wheels = True, 0.5
    world.step(CONFIG.motion.settle_s + 0.5)
    assert not world.moving
    assert 'unasked' in world.guard.last_error


def test_not_a_number_from_odometry_counts_as_moving(stowed: World) -> None:
    stowed.ask_move()
    stowed.odometry_on = False
    stowed.ask_stop()
    stowed.guard.record_odometry(float('nan'), 0.0)
    stowed.step(0.2)
    assert stowed.guard.motion is Motion.MOVING


def test_not_a_number_from_the_joints_is_no_closed_mast(stowed: World) -> None:
    stowed.guard.record_joints(float('nan'), -1.57)
    assert stowed.guard.mast is Mast.UNKNOWN


def test_an_idle_guard_asks_for_no_wakeups_without_joints() -> None:
    world = World()
    world.joints_on = False
    world.step(1.0)
    assert world.guard.next_wakeup() is None


# --- the e-stop -----------------------------------------------------------------------------


def test_the_e_stop_stops_the_rover_and_forbids_all_motion(stowed: World) -> None:
    assert stowed.ask_move() == ''
    stowed.step(1.0)
    assert stowed.moving
    stowed.press(True)
    stowed.step(1.0)
    assert not stowed.moving
    assert stowed.guard.take_alarms() == ['E-stop pressed: the rover was stopped']
    assert not stowed.guard.move_allowed
    assert stowed.ask_move() == E_STOP_PRESSED
    for action in MastAction:
        assert stowed.ask_mast(action) == E_STOP_PRESSED
    stowed.press(True)  # it is said once
    assert stowed.guard.take_alarms() == []
    stowed.press(False)
    assert stowed.ask_move() == ''


# --- the agent's heartbeat ------------------------------------------------------------------

MAX_AGE_S = CONFIG.motion.heartbeat_max_age_s


@pytest.fixture
def watched(stowed: World) -> World:
    stowed.agent_lives = True
    stowed.step(0.5)
    return stowed


def test_a_rover_whose_agent_falls_silent_is_stopped_with_one_alarm(watched: World) -> None:
    assert watched.ask_move() == ''
    watched.step(5.0)
    assert watched.moving
    watched.agent_lives = False
    watched.step(CONFIG.motion.heartbeat_max_age_s - 0.2)
    assert watched.moving
    watched.step(0.5)
    assert not watched.moving
    watched.step(2.0)
    reason = f'The agent fell silent for {MAX_AGE_S:g} s: the rover was stopped'
    assert watched.guard.last_error == reason
    assert watched.guard.take_alarms() == [reason]


def test_the_silence_itself_wakes_the_guard(watched: World) -> None:
    watched.agent_lives = False
    watched.step(CONFIG.motion.heartbeat_max_age_s / 2)
    heard_at = watched.heard_at
    assert heard_at is not None
    assert watched.guard.move_allowed
    wakeup = watched.guard.next_wakeup()
    assert wakeup == pytest.approx(heard_at + CONFIG.motion.heartbeat_max_age_s, abs=0.02)
    watched.step(wakeup - watched.now + 0.02)
    assert not watched.guard.move_allowed
    later = watched.guard.next_wakeup()
    assert later is not None
    assert later > watched.now  # it is said once


def test_a_silent_agent_starts_nothing_until_it_speaks_again(watched: World) -> None:
    watched.agent_lives = False
    watched.step(CONFIG.motion.heartbeat_max_age_s + 0.1)
    assert watched.ask_move() == AGENT_IS_SILENT
    assert watched.guard.last_error == AGENT_IS_SILENT
    assert not watched.drive.queue
    watched.agent_lives = True
    watched.step(0.2)
    assert watched.ask_move() == ''


def test_the_mast_and_the_stop_need_no_agent(watched: World) -> None:
    watched.agent_lives = False
    watched.step(CONFIG.motion.heartbeat_max_age_s + 0.1)
    watched.ask_stop()
    watched.step(1.0)
    assert watched.ask_mast(MastAction.OPEN) == ''
    watched.step(2.0)
    assert watched.guard.mast is Mast.OPEN


def test_a_start_call_that_nobody_has_answered_yet_is_stopped_too(watched: World) -> None:
    watched.agent_lives = False
    watched.step(CONFIG.motion.heartbeat_max_age_s - 0.1)
    watched.drive.hanging = True
    assert watched.ask_move() == ''
    watched.step(0.3)
    assert watched.guard.stopping
    watched.drive.hanging = False
    watched.step(2.0)
    assert not watched.moving
    assert watched.guard.motion is Motion.STILL


def test_without_an_agent_people_may_drive(stowed: World) -> None:
    assert stowed.ask_move() == ''
    stowed.step(CONFIG.motion.heartbeat_max_age_s * 5)
    assert stowed.moving


def test_an_agent_that_has_left_a_standing_rover_is_forgotten(watched: World) -> None:
    watched.agent_leaves()
    watched.step(CONFIG.motion.heartbeat_max_age_s + 0.5)
    assert watched.ask_move() == ''
    watched.step(3.0)
    assert watched.moving


def test_an_agent_that_leaves_a_moving_rover_is_missed(watched: World) -> None:
    watched.ask_move()
    watched.step(0.5)
    watched.agent_leaves()
    watched.step(CONFIG.motion.heartbeat_max_age_s + 0.3)
    assert not watched.moving
