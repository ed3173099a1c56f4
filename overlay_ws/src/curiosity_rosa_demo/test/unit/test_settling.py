# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A stop whose wheels stand while the body still moves a little."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

from curiosity_rosa_demo.adapter.appendage import MastAction
from curiosity_rosa_demo.adapter.stop import Odometry
from curiosity_rosa_demo.adapter.watches import Settling
from curiosity_rosa_demo.domain.models import MOVE_IN_PROGRESS, STOP_NOT_CONFIRMED
from curiosity_rosa_demo.infra.wheel_speed import WheelSpeed
from guard_world import CONFIG, drive_off, World
from hypothesis import given
from hypothesis import strategies as st
import pytest

MOTION, MAX_AGE_S = CONFIG.motion, CONFIG.mast.joint_max_age_s
SAG_MPS, SAG_S = 0.28, 2.5  # measured: the demo's free bogie folds
CREEP_MPS = 0.05  # and comes to rest slowly
RUNAWAY_S = MOTION.stop_timeout_s + MOTION.settle_s


@pytest.fixture
def driving() -> World:
    """It drives, and the joint states show its wheels."""
    world = World()
    world.wheels_shown = True
    drive_off(world)
    return world


def test_a_body_that_sags_is_waited_for_and_then_confirmed(driving: World) -> None:
    driving.sag = SAG_MPS
    number = driving.ask_stop()
    driving.step(SAG_S)
    assert driving.guard.settles
    assert driving.guard.moving
    assert driving.ask_move() == MOVE_IN_PROGRESS
    assert driving.ask_mast(MastAction.OPEN) == MOVE_IN_PROGRESS
    seen = 'the wheels stand, the body still moves at 0.28 m/s'
    assert driving.guard.stop_problem(number) == f'{STOP_NOT_CONFIRMED}: {seen}'
    driving.sag = 0.0
    driving.step(0.5)
    assert driving.guard.stop_problem(number) == ''
    assert (driving.twists_due, driving.guard.violation) == (0, '')
    assert driving.guard.take_alarms() == []
    assert driving.ask_move() == ''


@pytest.mark.parametrize('speed_mps', [SAG_MPS, CREEP_MPS])
def test_a_body_that_never_comes_to_rest_is_reported_with_what_was_seen(
    driving: World, speed_mps: float
) -> None:
    driving.sag = speed_mps
    driving.ask_stop()
    bound_s = min(MOTION.settling_max_s, MOTION.settling_way_m / speed_mps)
    driving.step(bound_s - 0.3)
    assert driving.twists_due == 0
    driving.step(0.7)
    assert driving.twists_due > 0
    assert driving.guard.violation == ''
    driving.ask_stop()  # asking again does not begin its time anew
    driving.step(RUNAWAY_S)
    seen = f'(the wheels stand, the body still moves at {speed_mps:.2f} m/s)'
    assert driving.guard.violation == f'The rover moves on although it was stopped {seen}'
    assert driving.guard.violation in driving.guard.take_alarms()
    driving.sag = 0.0
    driving.step(12.0)
    assert (driving.guard.violation, driving.guard.moving) == ('', False)


@pytest.mark.parametrize(
    ('wheels_shown', 'sag', 'wheels', 'seen'),
    [
        (False, SAG_MPS, 0.0, '(no other driver)'),
        (True, 0.0, 0.5, '(the wheels still turn, the rover moves at 0.50 m/s; no other driver)'),
        (True, 2 * SAG_MPS, 0.0, '(the wheels stand, the body still moves at 0.56 m/s)'),
    ],
)
def test_what_does_not_settle_is_a_runaway_as_soon_as_ever(
    driving: World, wheels_shown: bool, sag: float, wheels: float, seen: str
) -> None:
    driving.step(MOTION.settle_s)
    driving.wheels_shown = wheels_shown
    driving.guard.set_other_drivers('')
    driving.step(MAX_AGE_S + 0.1)
    driving.ask_stop()
    driving.step(0.1)
    driving.sag = sag
    for _ in range(round((RUNAWAY_S + 0.2) / 0.05)):
        driving.wheels = wheels  # a driver who never lets go
        driving.step()
    assert driving.guard.violation == f'The rover moves on although it was stopped {seen}'
    assert driving.twists_due > 0


readings = st.tuples(
    st.sampled_from([0.05, 0.1, 0.4, 1.5]),
    st.sampled_from([0.0, 0.01, 0.1, SAG_MPS, 0.5, math.nan, math.inf]),  # its speed
    st.sampled_from([0.0, 0.1, 1.0, math.nan]),  # its turn
    st.none() | st.sampled_from([0.0, 0.05, 0.5, 2.0, math.nan]),  # of the wheels
)


@given(st.lists(readings, max_size=80))
def test_nothing_settles_but_a_body_that_moves_little_on_wheels_that_stand(
    history: list[tuple[float, float, float, float | None]],
) -> None:
    settling = Settling(MOTION, MAX_AGE_S, float)
    now, wheels_at, fastest = 0.0, -math.inf, math.nan
    began, moved_at, way_m, before = None, -math.inf, 0.0, 0.0
    for step_s, speed, turn, wheel in history:
        now += step_s
        if wheel is not None:
            wheels_at, fastest = now, wheel
            settling.record_wheels(wheel, now)
        still = speed <= MOTION.still_speed_mps and turn <= MOTION.still_turn_radps
        settling.record_odometry(Odometry(now, still, speed, turn), driving=False)
        way_m, before = way_m + min(before, speed) * step_s, speed
        if not still:
            moved_at = now
        elif now - moved_at >= MOTION.settle_s:
            began = None
        if not settling.goes_on(now):
            continue
        if began is None:
            began, way_m = now, 0.0
        assert now - began < MOTION.settling_max_s
        assert way_m < MOTION.settling_way_m
        assert not still
        assert speed <= MOTION.settling_speed_mps
        assert turn <= MOTION.settling_turn_radps
        assert fastest <= MOTION.wheels_still_radps
        assert now - wheels_at <= MAX_AGE_S


phases = st.lists(
    st.tuples(
        st.sampled_from([0.1, 0.5, 1.0, 3.0]),  # seconds
        st.sampled_from([0.0, 0.1, SAG_MPS, 0.6]),  # sag
        st.sampled_from([0.0, 0.5]),  # wheels, by somebody
        st.booleans(),  # wheels on the joint states
        st.sampled_from(['', 'stop', 'move']),
    ),
    max_size=12,
)


@given(phases)
def test_no_stop_is_confirmed_and_no_drive_begins_while_the_body_moves(
    history: list[tuple[float, float, float, bool, str]],
) -> None:
    world = World()
    drive_off(world)
    shown_at = -math.inf
    for seconds, sag, turning, shown, act in history:
        world.sag, world.wheels_shown = sag, shown
        number = None
        for tick in range(round(seconds / 0.05) + 4):
            world.wheels = max(world.wheels, turning)
            if tick == 4:  # its odometry has been heard
                number = world.ask_stop() if act == 'stop' else None
            world.step()
            shown_at = world.now if shown else shown_at
            if number is not None and (sag or turning):
                assert world.guard.stop_problem(number)
            if tick >= 4 and world.guard.settles:
                assert 0.0 < sag <= MOTION.settling_speed_mps
                assert not (shown and turning)
                assert world.now - shown_at <= MAX_AGE_S
        if act == 'move' and world.guard.stopping:
            assert world.ask_move()


JOINTS = ('left', 'right')


def joint_states(at_s: float, *positions: float, velocity: tuple[float, ...] = ()) -> Any:
    sec = math.floor(at_s)
    stamp = SimpleNamespace(sec=sec, nanosec=round((at_s - sec) * 1e9))
    return SimpleNamespace(
        header=SimpleNamespace(stamp=stamp),
        name=['mast', *JOINTS],
        position=[0.0, *positions],
        velocity=[0.0, *velocity] if velocity else [],
    )


def measured(*messages: Any) -> list[float]:
    """What is known after the first message, which never shows a speed."""
    speed = WheelSpeed(JOINTS)
    results = [speed.measure(message) for message in messages]
    assert math.isnan(results[0] or 0.0)
    return [result for result in results[1:] if result is not None]


@given(st.floats(-5.0, 5.0), st.floats(-5.0, 5.0), st.floats(0.005, 0.3), st.booleans())
def test_the_fastest_wheel_is_measured_by_positions_and_by_velocities(
    left: float, right: float, period_s: float, broadcast: bool
) -> None:
    velocity = (left, right) if broadcast else (math.nan, math.nan)
    times = [n * period_s for n in range(60)]
    results = measured(
        *(joint_states(10.0 + at, left * at, right * at, velocity=velocity) for at in times)
    )
    fastest = max(abs(left), abs(right))
    assert results
    assert results == pytest.approx([fastest] * len(results), rel=1e-3, abs=1e-6)
    for messages in (
        [joint_states(0.0, 1.0, 1.0)] * 5,  # no stamps
        [joint_states(5.0 - n, 1.0, 1.0) for n in range(5)],  # stamps that go back
        [joint_states(5.0 + n, 1.0, math.nan) for n in range(5)],
        [joint_states(5.0 + n, 1.0, math.inf) for n in range(5)],
    ):
        assert all(map(math.isnan, measured(*messages)))
    for joints in (('left', 'middle'), ()):
        assert WheelSpeed(joints).measure(joint_states(5.0, 1.0, 1.0)) is None
