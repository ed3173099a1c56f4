# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""navigate_to_pose by Nav2: with a scripted client, and without the package."""

from __future__ import annotations

import math
from typing import Any

from coded_failures import OUTSIDE
from curiosity_rosa_demo.agent.skills.navigation.nav2 import make_navigate_skill
from curiosity_rosa_demo.agent.skills.registry import make_registry
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.models import RoverPose, ToolResult
from curiosity_rosa_demo.domain.refusal import Refusal
from curiosity_rosa_demo.infra.config_loader import ConfigError
import pytest
from skill_calls import call_of, SHIPPED, StillWorld

Look = tuple[bool | None, float | None]


class ScriptedNav2:
    def __init__(self, *looks: Look, refuses: str = '') -> None:
        self.looks, self.refuses = list(looks), refuses
        self.goal: tuple[Any, ...] | None = None
        self.cancelled = self.closed = False

    def connected(self, action: str) -> ScriptedNav2:
        self.action = action
        return self

    def send(self, frame: str, x: float, y: float, yaw_rad: float) -> str:
        self.goal = (frame, x, y, yaw_rad)
        return self.refuses

    def wait_for_result(self, seconds: float) -> Look:
        return self.looks.pop(0)

    def cancel(self) -> None:
        self.cancelled = True

    def close(self) -> None:
        self.closed = True


class PosedWorld(StillWorld):
    def pose(self) -> RoverPose | None:
        return RoverPose(x=1.0, y=1.0, frame_id='odom')


def drove(
    nav2: ScriptedNav2, world: StillWorld, button: Cancellation | None = None, **more: Any
) -> tuple[ToolResult, list[Any]]:
    heard: list[Any] = []
    run = make_navigate_skill('/nav', nav2.connected)
    result = run(call_of(world, button, heard), 1.0, 3.0, **more)
    assert nav2.closed
    return result, heard


def test_a_goal_that_nav2_reaches() -> None:
    nav2, world = ScriptedNav2((None, 2.0), (None, 1.0), (True, 0.0)), PosedWorld()
    result, heard = drove(nav2, world)
    assert result.ok
    assert (result.data['x'], result.data['y']) == (1.0, 1.0)
    assert nav2.goal == ('odom', 1.0, 3.0, pytest.approx(math.pi / 2))
    assert [each['distance_m'] for each in heard] == [2.0, 1.0, 0.0]
    assert not nav2.cancelled
    assert world.tools == []


def test_a_heading_that_is_asked_for_is_the_goals() -> None:
    nav2 = ScriptedNav2((True, None))
    assert drove(nav2, PosedWorld(), yaw_rad=-1.0)[0].ok
    assert nav2.goal == ('odom', 1.0, 3.0, -1.0)


def test_when_nav2_gives_up_the_rover_is_stopped() -> None:
    nav2, world = ScriptedNav2((None, 2.0), (False, 2.0)), PosedWorld()
    result, _ = drove(nav2, world)
    assert result.error_reason == 'NAV_BLOCKED: Nav2 gave up'
    assert world.tools == [('move_stop', {})]


def test_a_goal_that_nav2_does_not_take() -> None:
    nav2, world = ScriptedNav2(refuses='Service unavailable: /nav'), PosedWorld()
    assert drove(nav2, world)[0].error_reason == 'NAV_GOAL_REJECTED: Service unavailable: /nav'


@pytest.mark.parametrize('world', [PosedWorld(), StillWorld()])
def test_what_may_not_be_driven_or_is_nowhere_is_not_sent(world: StillWorld) -> None:
    nav2 = ScriptedNav2()
    world.refuses = OUTSIDE
    assert drove(nav2, world)[0].error_reason.startswith('NAV_GOAL_REJECTED: ')
    assert nav2.goal is None


def test_the_guardrails_hold_on_the_way() -> None:
    class Fenced(PosedWorld):
        asked = 0

        def drive_refusal(self, name: str, duration_s: float) -> Refusal | None:
            self.asked += 1
            return OUTSIDE if self.asked == 3 else None

    nav2, world = ScriptedNav2((None, 2.0), (None, 1.0)), Fenced()
    assert drove(nav2, world)[0].error_reason == f'NAV_BLOCKED: {OUTSIDE.reason}'
    assert nav2.cancelled
    assert world.tools == [('move_stop', {})]


def test_a_stop_cancels_the_goal_and_stops_the_rover() -> None:
    button, nav2, world = Cancellation(), ScriptedNav2((None, 2.0)), PosedWorld()
    nav2.send = lambda *goal: button.cancel('Stopped by a test') or ''  # type: ignore
    with pytest.raises(TurnCancelled):
        drove(nav2, world, button)
    assert nav2.cancelled
    assert nav2.closed
    assert world.tools == [('move_stop', {})]


def test_without_its_package_the_way_out_is_told() -> None:
    navigation = SHIPPED.agent.navigation.model_copy(update={'provider': 'nav2'})
    agent = SHIPPED.agent.model_copy(update={'navigation': navigation})
    with pytest.raises(ConfigError, match='the package nav2_msgs is missing; install'):
        make_registry(SHIPPED.model_copy(update={'agent': agent}))
