# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the model is shown before it decides."""

from __future__ import annotations

import json
from typing import Any

from curiosity_rosa_demo.agent.react.guardrails.situation import situation_of
from curiosity_rosa_demo.agent.react.nodes.build_observation import (
    build_observation,
    MAX_OBSERVATION_CHARS,
    MAX_RESULTS,
)
from curiosity_rosa_demo.agent.react.turn.messages import call_entry, with_result
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    ReactState,
    RobotState,
    Spent,
    TasksState,
    WorldState,
)
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.plan.plan import Plan
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from react_world import action, finish, Nodes
from turn_world import SHIPPED

FLAT = {
    'x', 'y', 'yaw_rad', 'mast', 'moving', 'battery_pct', 'battery_state', 'mode', 'zones',
    'safety_latch', 'home_x', 'home_y', 'distance_to_target', 'score', 'is_good', 'budget',
}  # fmt: skip


def with_results(*results: ToolResult) -> BrainState:
    messages: list[Any] = []
    for number, result in enumerate(results):
        messages.append(call_entry(action(f'tool_{number}'), '', set()))
        messages = with_result(messages, str(messages[-1]['call_id']), result)
    return BrainState(messages=messages)


def test_the_facts_are_those_of_the_rover_and_of_the_kernel() -> None:
    nodes = Nodes(finish())
    nodes.now(mode='EXEC', latch='e-stop')
    nodes.rover.mast_is_open = True
    nodes.state = BrainState(
        react=ReactState(score=0.5, spent=Spent(steps=3, cost=10.0, metres=20.0, seconds=60.0))
    )
    seen = nodes.run(build_observation).react.observation
    assert set(seen) == FLAT
    assert (seen['x'], seen['mast'], seen['moving'], seen['mode']) == (0.0, 'open', False, 'EXEC')
    assert (seen['safety_latch'], seen['score'], seen['battery_pct']) == ('e-stop', 0.5, None)
    assert seen['budget'] == {
        'steps': SHIPPED.agent.turn.max_steps - 3,
        'cost': 990.0,
        'metres': 180.0,
        'seconds': 3540.0,
    }


def test_what_cannot_be_measured_is_unknown_and_unsafe() -> None:
    nodes = Nodes([action('move_forward', {'duration_s': 1})])
    nodes.rover.faults['get_status'] = lambda: ServiceFailed('gone')
    state = nodes.run(build_observation)
    seen = state.react.observation
    assert [seen[name] for name in ('x', 'y', 'yaw_rad', 'mast', 'moving')] == [
        None, None, None, 'unknown', None
    ]  # fmt: skip
    nodes.think()
    nodes.act()
    assert nodes.acts == []


def test_the_last_results_are_shown_with_their_age() -> None:
    nodes = Nodes(finish())
    nodes.state = with_results(*(ToolResult.success(n=n) for n in range(MAX_RESULTS + 2)))
    results: Any = nodes.run(build_observation).react.observation['results']
    assert [each['call'] for each in results] == [f'tool_{n}' for n in range(2, MAX_RESULTS + 2)]
    assert results[0]['result'] == 'n 2'
    assert 0.0 <= results[0]['age_s'] < 60.0


long = st.integers(0, 9000).map(lambda size: 'x' * size) | st.text(
    st.characters(exclude_categories=['Cs']), max_size=300
)


@settings(max_examples=examples(60))
@given(
    memory=st.lists(long, max_size=4).map('\n'.join),
    results=st.lists(long, max_size=MAX_RESULTS),
    steps=st.integers(0, 100),
    action_name=long.filter(str.strip),
    zones=st.lists(long, max_size=30),
    latch=long,
)
def test_however_much_there_is_the_size_is_bounded_and_the_facts_are_there(
    memory: str, results: list[str], steps: int, action_name: str, zones: list[str], latch: str
) -> None:
    nodes = Nodes(finish())
    nodes.turn.recalled = memory
    brain = BrainState(
        tasks=TasksState(),
        robot=RobotState(safety_latch=latch),
        world=WorldState(zones=zones),
    )
    nodes.world.brain_state = lambda: brain
    plan = Plan.create_new('goal').to_dict()
    plan['steps'] = [{'step_id': n, 'action': action_name} for n in range(steps)]
    state = with_results(*(ToolResult.failure(f'no: {text}') for text in results))
    react = ReactState(plan=Plan.from_dict(plan).to_dict())
    nodes.state = state.model_copy(update={'react': react})
    seen = nodes.run(build_observation).react.observation
    assert set(seen) >= FLAT
    assert len(json.dumps(seen)) <= MAX_OBSERVATION_CHARS
    assert bool(situation_of(nodes.state).safety_latch) is bool(latch)
    if steps == 0 and not results:
        told = str(seen.get('memory', ''))
        assert '\n'.join(memory.splitlines()).endswith(told)


def test_of_what_is_too_long_the_oldest_is_left_out() -> None:
    nodes = Nodes(finish())
    nodes.turn.recalled = '\n'.join(f'{n}: {"x" * 150}' for n in range(100))
    seen = nodes.run(build_observation).react.observation
    memory = str(seen['memory']).splitlines()
    assert memory[-1].startswith('99: ')
    assert 10 < len(memory) < 100
