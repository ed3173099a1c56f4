# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a motion that has been driven teaches about the speeds of the next one."""

from __future__ import annotations

from dataclasses import astuple

from curiosity_rosa_demo.agent.react.rehearsal.twin import MeasuredSpeeds, MIN_SECONDS
from curiosity_rosa_demo.domain.geometry import DIRECTIONS, MotionSpeeds
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_stand_in.drivers import DemoRover
from hypothesis import given
from hypothesis import strategies as st
import pytest
from tool_rover import STOP_LATE_S

THRESHOLDS = load_config().thresholds
START_S = THRESHOLDS.body.start_s
ROLLS_BACK_S = 0.16  # of a drive, in its heading, which loses what the way does not
KNOWN = MotionSpeeds(1.0, 1.0, 0.1)


@given(
    speed=st.floats(0.1, 2.0),
    turn=st.floats(0.02, 0.2),
    start_s=st.floats(0.0, 0.4),
    seconds=st.floats(MIN_SECONDS, 20.0),
    side=st.sampled_from(['turn_left', 'turn_right']),
)
def test_it_learns_the_speed_of_the_rover_under_way(
    speed: float, turn: float, start_s: float, seconds: float, side: str
) -> None:
    speeds, driving_s = MeasuredSpeeds(KNOWN, start_s), seconds - start_s
    done = ToolResult.success(duration_s=seconds, distance_m=speed * driving_s)
    speeds.learn('move_forward', {}, done)
    turned = turn * driving_s * (1.0 if side == 'turn_left' else -1.0)
    speeds.learn(
        side, {'yaw_rad': 0.0}, done.model_copy(update={'data': {**done.data, 'yaw_rad': turned}})
    )
    learnt = speeds.now()
    assert learnt.straight == pytest.approx(speed)
    assert (learnt.arc, learnt.turn) == (pytest.approx(speed), pytest.approx(turn))


@given(
    name=st.sampled_from(sorted(DIRECTIONS)),
    seconds=st.floats(MIN_SECONDS, 20.0),
    waited_s=st.floats(0.0, 1.0),
)
def test_a_short_drive_teaches_the_speed_of_a_long_one(
    name: str, seconds: float, waited_s: float
) -> None:
    rover = DemoRover(THRESHOLDS)
    rover.advance_to(waited_s)  # somewhere between two of its ticks
    rover.call(name)
    rover.advance_to(waited_s + seconds)
    rover.call('move_stop')
    state = rover.advance_to(rover.seconds + STOP_LATE_S)
    speeds = MeasuredSpeeds(THRESHOLDS.speeds, START_S)
    yaw = state.pose.yaw
    done = ToolResult.success(duration_s=seconds, distance_m=state.path_m, yaw_rad=yaw)
    speeds.learn(name, {'yaw_rad': 0.0}, done)
    for learnt, true in zip(astuple(speeds.now()), astuple(THRESHOLDS.speeds), strict=True):
        assert -ROLLS_BACK_S <= (learnt / true - 1.0) * seconds <= START_S
