# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The guard before a rover in a slow simulation: as patient as the factor asks for, no more."""

from __future__ import annotations

from curiosity_rosa_demo.adapter.mast import Mast, MastAction
from curiosity_rosa_demo.adapter.motion_guard import MotionGuard
from curiosity_rosa_demo.infra.simulation_clock import SimulationClock
from guard_world import CLOSED, CONFIG, RAISED
from hypothesis import given
from hypothesis import strategies as st
import pytest

STEP_S = 0.05
REPORT_S = 0.1  # period of odometry and joint states, simulated
TURNED = (0.0, -6.28)
TARGETS = {MastAction.OPEN: RAISED, MastAction.CLOSE: CLOSED, MastAction.ROTATE: TURNED}
factors = st.floats(CONFIG.motion.slowest_real_time_factor, 1.0)


class SlowWorld:
    """A rover that stands, and whose services answer at once. All else takes simulated time."""

    def __init__(self, factor: float) -> None:
        self.factor, self.steady_s, self.simulated_s = factor, 0.0, 0.0
        self.ros_time_is_active = True
        self.mast, self.speed = RAISED, 0.0
        self.joints_on = True
        self._reported_s = 0.0
        self.guard = MotionGuard(
            CONFIG.motion,
            CONFIG.mast,
            clock=lambda: self.steady_s,
            simulation=SimulationClock.of(self, CONFIG.motion, lambda: self.steady_s),
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
    world.simulate(action.duration_s(CONFIG.mast) + 0.8 * CONFIG.mast.confirm_margin_s)
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
    limit_s = action.duration_s(CONFIG.mast) + CONFIG.mast.confirm_margin_s
    world.run(limit_s / CONFIG.motion.slowest_real_time_factor + 1.0)
    assert world.guard.mast is Mast.UNKNOWN
    assert world.guard.last_error.startswith('Mast not confirmed')


@given(factors)
def test_joint_states_are_lost_after_their_age_in_simulated_time(factor: float) -> None:
    world = SlowWorld(factor)
    world.close_mast()
    world.joints_on = False
    world.simulate(0.8 * CONFIG.mast.joint_max_age_s)
    assert world.guard.mast is Mast.CLOSED
    world.simulate(0.5 * CONFIG.mast.joint_max_age_s)
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
    world.run(CONFIG.motion.max_duration_s - 0.5)
    assert not world.guard.stopping
    world.run(1.0)
    assert world.guard.stopping
    assert world.guard.take_alarms() == ['Stopped by the leash after 30 s']


@pytest.mark.parametrize('factor', [1.0, 0.5, 0.1])
def test_a_motion_that_nobody_requested_is_stopped_in_steady_time(factor: float) -> None:
    world = SlowWorld(factor)
    world.speed = 0.5
    world.simulate(1.5 * REPORT_S)  # until odometry shows it
    world.run(CONFIG.motion.settle_s + STEP_S)
    assert world.guard.stopping
