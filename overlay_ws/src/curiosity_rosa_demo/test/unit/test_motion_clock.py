# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A clock for deadlines never runs slower than the steady one, whatever simulated time does."""

from __future__ import annotations

from curiosity_rosa_demo.infra.motion_clock import MotionClock
from hypothesis import given
from hypothesis import strategies as st


class Ros:
    """A ROS clock that says what it is told."""

    def __init__(self) -> None:
        self.nanoseconds = 0

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
        before = now


def test_it_follows_a_faster_simulation() -> None:
    clocks = Steps()
    start = clocks.clock()
    for _ in range(10):
        end = clocks.advance(0.1, 1.0)
    assert abs(end - start - 10.0) < 1e-6
