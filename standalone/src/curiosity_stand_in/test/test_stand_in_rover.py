# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


from __future__ import annotations

import threading

from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_stand_in.body import State
from curiosity_stand_in.rover import FASTEST_DRIVE, Rover
from hypothesis import given
from hypothesis import strategies as st
import pytest

THRESHOLDS = load_config().thresholds
MPS = THRESHOLDS.body.forward_mps


class Scaled:
    """A rover and its wall clock."""

    def __init__(self, scale: float = 1.0) -> None:
        self.now = 1000.0
        self.rover = Rover(THRESHOLDS, lambda: self.now, time_scale=scale)

    def drive(self, linear_x: float) -> None:
        with self.rover.body() as body:
            body.drive(linear_x, 0.0)

    def wait(self, seconds: float) -> State:
        self.now += seconds
        return self.rover.state()


@given(
    st.floats(0.1, 100),
    st.lists(st.tuples(st.booleans(), st.floats(0.0, 5.0)), min_size=1, max_size=6),
)
def test_while_it_moves_time_runs_no_faster_than_a_stop_can_follow(
    scale: float, parts: list[tuple[bool, float]]
) -> None:
    scaled = Scaled(scale)
    slow = min(scale, FASTEST_DRIVE)
    for drives, wall in parts:
        scaled.drive(2.0 if drives else 0.0)
        before = scaled.rover.state()
        after = scaled.wait(wall)
        passed = after.seconds - before.seconds
        assert after.path_m - before.path_m <= MPS * slow * wall + 1e-6
        if drives or after.moves:
            assert passed == pytest.approx(slow * wall, abs=1e-6)
        else:
            assert slow * wall - 1e-6 <= passed <= scale * wall + 1e-6
            fast = scaled.wait(1.0)
            assert fast.seconds - after.seconds == pytest.approx(scale, rel=1e-6) or (
                wall * slow < 0.5  # it had not come to a stand
            )


def test_many_threads_see_one_rover() -> None:
    scaled = Scaled()
    scaled.drive(2.0)

    def look() -> None:
        for _ in range(200):
            scaled.rover.state()

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    scaled.now += 10.0
    for thread in threads:
        thread.join(timeout=20)
    assert scaled.rover.state().pose.x == pytest.approx(MPS * 10.0, abs=0.2)
