# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A clock for deadlines never runs slower than the steady one, whatever simulated time does; and
simulated time that stands is noticed.
"""

from __future__ import annotations

from curiosity_rosa_demo.infra.motion_clock import ClockWatch, MotionClock, NO_CLOCK
from hypothesis import given
from hypothesis import strategies as st


class Ros:
    """A ROS clock that says what it is told."""

    def __init__(self) -> None:
        self.nanoseconds = 0
        self.ros_time_is_active = True

    def now(self) -> Ros:
        return self


class Steps:
    """A steady clock and a ROS clock that advance together, each in its own way."""

    def __init__(self) -> None:
        self.steady, self.ros = 0.0, Ros()
        self.clock = MotionClock(self.ros, steady=lambda: self.steady)

    def advance(self, steady_s: float, ros_s: float) -> float:
        self.steady += steady_s
        self.ros.nanoseconds += round(ros_s * 1e9)
        return self.clock()


advances = st.lists(
    st.tuples(
        st.floats(0.0, 100.0),  # the steady clock never goes back
        st.floats(-1e6, 1e6),  # simulated time stands still, jumps and restarts
    ),
    max_size=30,
)


@given(advances)
def test_it_never_falls_behind_the_steady_clock(steps: list[tuple[float, float]]) -> None:
    clocks = Steps()
    start = before = clocks.clock()
    for steady_s, ros_s in steps:
        now = clocks.advance(steady_s, ros_s)
        assert now >= before
        assert now - start >= clocks.steady - 1e-6
        assert now - before >= min(ros_s, 1e6) - 1e-6, 'it follows a faster simulation'
        before = now


# --- time that stands -----------------------------------------------------------------------

MAX_AGE_S = 1.5


class Watched:
    """A watch over a ROS clock, in owned steady time."""

    def __init__(self, *, simulated: bool = True) -> None:
        self.now, self.ros = 0.0, Ros()
        self.ros.ros_time_is_active = simulated
        self.watch = ClockWatch(self.ros, max_age_s=MAX_AGE_S, steady=lambda: self.now)

    def after(self, steady_s: float, ros_s: float) -> str:
        self.now += steady_s
        self.ros.nanoseconds += round(ros_s * 1e9)
        return self.watch.problem()


gaps = st.lists(st.floats(0.01, 5.0), max_size=20)


@given(gaps, st.floats(MAX_AGE_S + 0.01, 60.0))
def test_time_that_stands_is_a_problem_however_it_went_before(
    before: list[float], standing_s: float
) -> None:
    clocks = Watched()
    clocks.after(0.0, 0.0)
    for gap in before:
        assert clocks.after(gap, 0.25 * gap) == ''
    assert clocks.after(MAX_AGE_S - 0.01, 0.0) == ''
    assert clocks.after(standing_s - MAX_AGE_S + 0.01, 0.0).startswith(NO_CLOCK)
    assert clocks.after(0.01, 0.01) == ''  # it goes on


@given(gaps, st.floats(0.01, 60.0))
def test_no_problem_is_time_that_advances_at_any_factor_or_is_not_simulated(
    steps: list[float], factor: float
) -> None:
    clocks = Watched()
    assert [clocks.after(step, factor * step) for step in steps] == [''] * len(steps)
    unsimulated = Watched(simulated=False)
    assert unsimulated.watch.has_advanced()
    assert [unsimulated.after(step, 0.0) for step in steps] == [''] * len(steps)


def test_a_clock_that_was_never_heard_says_so_and_the_way_out() -> None:
    clocks = Watched()
    assert not clocks.watch.has_advanced()
    clocks.after(0.0, 0.0)
    why = clocks.after(MAX_AGE_S + 0.1, 0.0)
    assert '/clock was never heard' in why
    assert 'use_sim_time:=false' in why
    assert clocks.after(0.1, 7.0) == ''
    assert clocks.watch.has_advanced()
    assert '/clock does not advance' in clocks.after(MAX_AGE_S + 0.1, 0.0)
