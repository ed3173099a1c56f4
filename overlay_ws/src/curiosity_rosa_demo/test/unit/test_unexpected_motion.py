# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""When a rover counts as moving unasked."""

from __future__ import annotations

from curiosity_rosa_demo.adapter.stop import Odometry
from curiosity_rosa_demo.adapter.unexpected_motion import UnexpectedMotion
from guard_world import CONFIG
import pytest

MOTION = CONFIG.motion.model_copy(update={'settle_s': 1.0, 'odometry_max_age_s': 0.5})


@pytest.fixture
def unasked() -> UnexpectedMotion:
    return UnexpectedMotion(MOTION)


def test_it_must_stop_when_it_has_moved_for_the_time_to_settle(unasked: UnexpectedMotion) -> None:
    for at in (10.0, 10.4, 10.8):
        unasked.record_odometry(Odometry(at, still=False), set_going=False)
        assert unasked.is_moving(at)
        assert unasked.next_wakeup(at) == 11.0
    assert not unasked.must_stop(10.9)
    assert unasked.must_stop(11.0)


def test_without_fresh_odometry_nobody_can_tell_and_nobody_waits(
    unasked: UnexpectedMotion,
) -> None:
    unasked.record_odometry(Odometry(10.0, still=False), set_going=False)
    assert not unasked.is_moving(10.6)
    assert not unasked.must_stop(11.5)
    assert unasked.next_wakeup(11.5) is None  # else its watcher would never sleep


def test_a_halt_and_a_motion_of_ours_begin_anew(unasked: UnexpectedMotion) -> None:
    unasked.record_odometry(Odometry(10.0, still=False), set_going=False)
    unasked.record_odometry(Odometry(10.1, still=True), set_going=False)
    assert not unasked.is_moving(10.1)
    unasked.record_odometry(Odometry(10.2, still=False), set_going=True)
    assert not unasked.is_moving(10.2)
    unasked.record_odometry(Odometry(10.3, still=False), set_going=False)
    assert unasked.next_wakeup(10.3) == 11.3
    unasked.reset()
    assert not unasked.is_moving(10.3)


def test_under_teleoperation_it_may_move() -> None:
    unasked = UnexpectedMotion(MOTION.model_copy(update={'stop_unexpected': False}))
    for at in (10.0, 10.4, 10.8, 11.2):
        unasked.record_odometry(Odometry(at, still=False), set_going=False)
    assert unasked.is_moving(11.2)
    assert not unasked.must_stop(11.2)
    assert unasked.next_wakeup(11.2) is None
