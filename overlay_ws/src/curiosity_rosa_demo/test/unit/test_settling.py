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

from curiosity_rosa_demo.adapter.stop import Odometry
from curiosity_rosa_demo.adapter.watches import Settling
from curiosity_rosa_demo.infra.wheel_speed import WheelSpeed
from guard_world import CONFIG, drive_off, World
from hypothesis import given
from hypothesis import strategies as st
import pytest

MOTION, MAX_AGE_S = CONFIG.motion, CONFIG.mast.joint_max_age_s
SAG_MPS, SAG_S = 0.28, 2.5  # measured: the demo's free bogie folds


@pytest.fixture
def driving() -> World:
    """It drives, and the joint states show its wheels."""
    world = World()
    world.wheels_shown = True
    drive_off(world)
    return world


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
