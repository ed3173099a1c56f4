# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A wait for the simulator lasts as long as the simulation is slow, and never without a bound."""

from __future__ import annotations

from curiosity_rosa_demo.infra.clocks import SimulationClock
from hypothesis import given
from hypothesis import strategies as st
import pytest

SLOWEST, MAX_AGE_S = 0.1, 1.5


class Clocks:
    """A ROS clock and a steady clock that advance as told, and the clock over both."""

    def __init__(self, *, simulated: bool = True) -> None:
        self.steady_s, self.nanoseconds, self.ros_time_is_active = 0.0, 0, simulated
        self.clock = SimulationClock(
            self, slowest=SLOWEST, max_age_s=MAX_AGE_S, steady=lambda: self.steady_s
        )

    def now(self) -> Clocks:
        return self

    def advance(self, steady_s: float, ros_s: float) -> float:
        """The advance of the clock."""
        before = self.clock()
        self.steady_s += steady_s
        self.nanoseconds += round(ros_s * 1e9)
        return self.clock() - before

    def run(self, seconds: float, factor: float, *, step_s: float = 0.05) -> float:
        return sum(self.advance(step_s, factor * step_s) for _ in range(round(seconds / step_s)))


@given(st.lists(st.tuples(st.floats(0.0, 100.0), st.floats(-1e6, 1e6)), max_size=40))
def test_whatever_simulated_time_does_a_wait_is_bounded(steps: list[tuple[float, float]]) -> None:
    clocks = Clocks()
    for steady_s, ros_s in steps:
        advance = clocks.advance(steady_s, ros_s)
        assert SLOWEST * steady_s - 1e-6 <= advance <= steady_s + 1e-6
        assert 1.0 <= clocks.clock.stretched(1.0) <= clocks.clock.longest_s(1.0) + 1e-9


@given(st.floats(0.02, 3.0), st.floats(0.02, 3.0), st.floats(0.01, 0.3))
def test_it_counts_simulated_seconds_at_any_factor_from_the_slowest_to_real_time(
    before: float, factor: float, step_s: float
) -> None:
    clocks, counted = Clocks(), min(1.0, max(SLOWEST, factor))
    clocks.run(5.0, before, step_s=step_s)
    clocks.run(5.0, factor, step_s=step_s)
    assert clocks.run(20.0, factor, step_s=step_s) == pytest.approx(20.0 * counted, rel=0.05)
    assert clocks.clock.measured == pytest.approx(factor, rel=0.05)
    assert clocks.clock.stretched(1.0) == pytest.approx(1.0 / counted, rel=0.05)


@given(st.floats(SLOWEST, 1.0))
def test_a_clock_that_dies_gains_no_time(factor: float) -> None:
    clocks = Clocks()
    clocks.run(5.0, factor)
    assert clocks.run(MAX_AGE_S, 0.0) == pytest.approx(factor * MAX_AGE_S, rel=0.05)
    clocks.run(0.1, 0.0)
    assert clocks.run(10.0, 0.0) == pytest.approx(10.0)
    assert clocks.clock.measured is None


def test_a_first_clock_and_a_restart_are_no_jumps() -> None:
    clocks = Clocks()
    assert clocks.advance(0.1, 1234.0) <= 0.1
    clocks.run(5.0, 0.5)
    assert clocks.advance(0.1, -1200.0) <= 0.1
    clocks.run(3.0, 0.5)
    assert clocks.clock.measured == pytest.approx(0.5, rel=0.05)


def test_without_simulated_time_it_is_the_steady_clock() -> None:
    clocks = Clocks(simulated=False)
    assert clocks.run(10.0, 0.2) == pytest.approx(10.0)
    assert clocks.clock.measured is None
    assert clocks.clock.stretched(2.0) == clocks.clock.longest_s(2.0) == 2.0
