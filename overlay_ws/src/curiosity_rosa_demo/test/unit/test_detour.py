# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Whether the planner of the search holds a proposed motion for a detour."""

from __future__ import annotations

import math
from typing import Any

from chat_server import call
from curiosity_rosa_demo.agent.rule_model.beliefs import Pose
from curiosity_rosa_demo.agent.rule_model.detour import detour_cost
from curiosity_rosa_demo.agent.rule_model.turn_view import ToolStep, TurnView
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from rule_model_rover import FIGURES
from turn_world import BY_ROUTINE, KEY, SHIPPED, World

LIMIT = SHIPPED.guardrails.patience.detour_cost
EXPLORE = 'Analyze the ground texture'
BRIGHT_X = 5.0
PRICES = SHIPPED.tool_costs.tools.model_dump()
DRIVE = 'move_forward'
AWAY, TO_THE_LIGHT = math.pi, 0.0


def view(text: str = EXPLORE, *steps: ToolStep) -> TurnView:
    return TurnView(FIGURES, text, steps, frozenset(PRICES), PRICES, BRIGHT_X, longest_s=20.0)


def cost(tool: str, yaw: float, start_x: float = 0.0, **arguments: Any) -> float:
    return detour_cost(view(), tool, arguments, Pose(start_x, 0.0, yaw))


@pytest.mark.parametrize(
    ('tool', 'yaw', 'arguments', 'is_detour'),
    [
        (DRIVE, TO_THE_LIGHT, {'duration_s': 12.0}, False),
        (DRIVE, TO_THE_LIGHT, {'duration_s': 20.0}, False),
        (DRIVE, AWAY, {'duration_s': 20.0}, True),
        (DRIVE, AWAY, {'duration_s': 2.0}, False),
        ('turn_left', AWAY, {'duration_s': 20.0}, False),
        ('drive_distance', AWAY, {'distance_m': 30.0}, True),
        ('navigate_to_pose', TO_THE_LIGHT, {'x': 6.0, 'y': 0.0}, False),
        ('navigate_to_pose', TO_THE_LIGHT, {'x': -60.0, 'y': 0.0}, True),
        ('mast_open', AWAY, {}, False),
        (DRIVE, AWAY, {'duration_s': 'long'}, False),
    ],
)
def test_a_long_way_from_the_light_is_a_detour(
    tool: str, yaw: float, arguments: dict[str, Any], is_detour: bool
) -> None:
    assert (cost(tool, yaw, **arguments) > LIMIT) is is_detour


@settings(max_examples=examples(20), deadline=None)
@given(st.floats(-8.0, 3.0), st.floats(1.0, 20.0), st.floats(-0.4, 0.4))
def test_a_drive_towards_the_light_is_none(x: float, seconds: float, yaw: float) -> None:
    assert cost(DRIVE, yaw, x, duration_s=seconds) <= LIMIT


@pytest.mark.parametrize('text', ['Drive forward for 20 s.', 'Write a poem about dust.'])
def test_only_a_search_is_compared(text: str) -> None:
    arguments = {'duration_s': 20.0}
    assert detour_cost(view(text), DRIVE, arguments, Pose(0.0, 0.0, AWAY)) == 0.0


# --- in a turn ------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)


def test_a_detour_is_not_driven_and_the_routine_takes_the_step() -> None:
    away = call('navigate_to_pose', x=-60.0, y=0.0)
    with World(call('mast_close'), away) as world:
        world.turn(EXPLORE)
        told = [e.error_reason for e in world.events if e.message.startswith(BY_ROUTINE)]
        assert told[0] is not None
        assert told[0].startswith('The planner expects a cost of')
        asked = [e.message for e in world.events if e.kind == 'ACT']
        assert not [text for text in asked if text.startswith('navigate_to_pose')]
