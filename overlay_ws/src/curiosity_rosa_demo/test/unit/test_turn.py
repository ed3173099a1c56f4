# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Turns of the real ROSA with the real ChatOpenAI, from thought to answer."""

from __future__ import annotations

from collections.abc import Iterator
import json
import threading
from typing import Any

from chat_server import Call, call, Hang, Say
from curiosity_rosa_demo.agent.react.nodes.observe_result import ONE_CALL_AT_A_TIME_TEXT
from curiosity_rosa_demo.agent.react.nodes.react_decide import OBSERVATION_HEADING
from curiosity_rosa_demo.domain.cancellation import TurnCancelled
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from examples import examples
from harness import wait_until
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from tool_rover import SPEED_MPS, START_LATE_S
from turn_world import check_story, KEY, NINE, OFFERED, World

DONE = Say('Done.')


def told(world: World, request: int = -1) -> list[dict[str, Any]]:
    """The tool results that a request tells the model."""
    return [json.loads(text) for text in world.requests[request].texts('tool')]


@pytest.mark.parametrize('streaming', [True, False])
def test_the_model_is_offered_our_tools_with_their_costs_and_the_settings_of_agent_yaml(
    streaming: bool,
) -> None:
    with World(call('mast_open'), DONE, streaming=streaming) as world:
        assert world.turn('Hello').answer == 'Done.'
        request = world.requests[0]
        assert request.tools == OFFERED
        assert request.tools[:9] == NINE
        assert request.path == '/v1/chat/completions'
        assert request.body['model'] == 'scripted'
        assert request.body['temperature'] == 0.25
        assert bool(request.body.get('stream')) is streaming
        assert request.authorization == f'Bearer {KEY}'
        assert request.texts('user') == ['Hello']
        functions = [each['function'] for each in request.body['tools']]
        described = {each['name']: each['description'] for each in functions}
        costs = world.config.tool_costs.tools.model_dump()
        assert costs.pop('look')  # for a model that can see
        for name, cost in costs.items():
            assert f'Cost: {cost:g}.' in described[name]
        assert told(world) == [{'ok': True, 'error_reason': '', 'data': {'cost': 2.0}}]


@pytest.mark.parametrize('charged', ['measured', 'as far as it may be', 'nothing'])
def test_a_way_is_charged_to_the_budget_also_when_its_stop_failed(charged: str) -> None:
    with World(call('move_forward', duration_s=4.0), DONE) as world:
        # Not before: without a pose no motion is allowed.
        seen, faults = charged == 'measured', world.rover.faults
        faults['move_forward'] = lambda: setattr(world.rover, 'tells_pose', seen)
        if charged == 'nothing':
            faults['move_forward'] = lambda: ServiceFailed('Move in progress')
        faults['move_stop'] = lambda: ServiceFailed('Service timeout: /move_stop')
        world.turn()
        fastest_m = 4.0 * world.config.guardrails.geofence.max_speed_mps
        metres = fastest_m if charged == 'as far as it may be' else world.rover.state.pose.x
        assert world.reacts[-1].spent.metres == pytest.approx(metres, rel=0.03)


def test_one_system_message_ends_with_the_memory_and_what_is_measured() -> None:
    with World(Say('Hello.'), call('get_status'), DONE, memory=True) as world:
        world.turn('Hi')
        world.turn('Look')
        for request in world.requests:  # the templates of Qwen and Mistral refuse a second one
            roles = [message['role'] for message in request.body['messages']]
            assert (roles[0], roles.count('system')) == ('system', 1)
        (told_all,) = world.requests[-1].texts('system')
    prompt, _, memory = str(told_all).partition('Recent events')
    memory, _, measured = memory.partition(f'{OBSERVATION_HEADING}: {{')
    assert prompt.startswith('Your are ROSA')
    assert memory.splitlines()[1] == '[RESULT] Hello.'
    assert '"mast": "closed"' in measured


def test_a_turn_is_traced_from_thought_to_answer() -> None:
    opens = call('mast_open', 'It must be dark down here.')
    looks = call('capture_and_score', 'The mast is up now.')
    with World(opens, looks, Say('Bright: 0.9.')) as world:
        last = world.turn()
        assert world.kinds() == [
            'HYPOTHESIZE', 'DECIDE', 'ACT', 'RESULT', 'OBSERVE', 'DECIDE', 'ACT', 'RESULT',
            'RESULT',
        ]  # fmt: skip
        assert check_story(world.events) == 2
        assert world.events[0].message == 'It must be dark down here.'
        assert world.events[4].message == 'The mast is up now.'
        assert (last.ok, last.answer, last.score, last.is_good) == (
            True,
            'Bright: 0.9.',
            0.9,
            True,
        )
        assert world.events[-1].score == 0.9
        assert world.calls == ['mast_open', 'capture_and_score']


def test_arguments_may_come_in_pieces_and_a_number_as_a_text() -> None:
    with World(DONE, streaming=True) as world:
        for text in ('{"duration_s": 12.5}', '{"duration_s": "12.5"}'):
            world.reset(Say('', (Call('move_forward', text),), piece=3), DONE)
            assert world.turn().ok
            (act,) = (event for event in world.events if event.kind is TraceKind.ACT)
            assert act.message == 'move_forward(duration_s=12.5)'
            assert act.data == {'arguments': {'duration_s': 12.5}}
            driven_m = world.rover.state.pose.x
            assert told(world)[0]['data']['distance_m'] == pytest.approx(driven_m, rel=0.02)
            assert driven_m == pytest.approx(12.5 * SPEED_MPS, abs=START_LATE_S * SPEED_MPS)


def test_of_several_calls_at_once_only_the_first_is_carried_out_and_counts() -> None:
    count = 4
    calls = (Call('mast_open'), *[Call('mast_close')] * (count - 1))
    with World(Say('', calls), DONE, streaming=True, turn={'max_steps': 1}) as world:
        last = world.turn()
        assert (last.ok, last.steps) == (True, 1)
        assert world.calls == ['mast_open']
        assert world.rover.mast_is_open
        assert world.errors() == [ONE_CALL_AT_A_TIME_TEXT] * (count - 1)
        assert check_story(world.events) == 1
        asked = [c['id'] for m in world.requests[1].messages('assistant') for c in m['tool_calls']]
        answered = [message['tool_call_id'] for message in world.requests[1].messages('tool')]
        assert answered == asked
        assert len(set(asked)) == count
        assert [result['ok'] for result in told(world)] == [True] + [False] * (count - 1)


@pytest.mark.parametrize('tool', ['mast_open', 'analyze_ground'])
def test_a_crash_in_a_tool_ends_the_turn_whatever_the_model_would_say(tool: str) -> None:
    with World(call(tool), DONE) as world:
        world.rover.faults[tool] = lambda: ZeroDivisionError('boom')
        last = world.turn()
        broke = f"Internal error in {tool}: ZeroDivisionError('boom')"
        assert (last.ok, last.internal_error) == (False, True)
        assert last.answer.startswith(f'{tool}(')
        assert last.answer.endswith(f') failed: {broke}')
        assert world.errors()[0] == broke
        assert len(world.requests) == 1  # the model is not asked again


def test_a_crash_of_ours_ends_the_turn_with_an_event() -> None:
    with World(DONE, memory=lambda: str(1 / 0)) as world:
        last = world.turn()
        assert not last.ok
        assert last.answer == "Internal error: ZeroDivisionError('division by zero')"
        assert world.errors() == [last.answer]


def test_a_stop_does_not_wait_for_a_model_that_hangs() -> None:
    ends: list[BaseException] = []

    def run() -> None:
        try:
            world.turn()
        except BaseException as end:
            ends.append(end)

    with World(Hang(), timeout_s=600.0) as world:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        wait_until(lambda: world.requests, 'the request of the model')
        world.button.cancel('Stopped by a test')
        thread.join(timeout=20)
        assert not thread.is_alive()
        (end,) = ends
        assert isinstance(end, TurnCancelled)
        assert str(end) == 'Stopped by a test'
        assert world.rosa.turn_executor.last_result is None
        world.reset(DONE)
        assert world.turn().ok, 'the next turn works'


def test_a_stop_in_a_motion_stops_the_rover_and_ends_the_turn() -> None:
    with World(call('move_forward', duration_s=20), DONE) as world:
        world.rover.faults['move_forward'] = lambda: world.button.cancel('Stopped by a test')
        with pytest.raises(TurnCancelled):
            world.turn()
        assert world.rover.starts == ['move_forward']
        assert world.calls[-1] == 'move_stop'
        assert not world.rover.motion
        assert len(world.requests) == 1


numbers = st.integers() | st.floats() | st.text(max_size=5) | st.booleans() | st.none()
arguments: st.SearchStrategy[dict[str, Any]] = (
    st.fixed_dictionaries({})
    | st.fixed_dictionaries({'duration_s': st.floats(0.1, 20.0) | numbers})
    | st.dictionaries(st.text(max_size=3), numbers, max_size=2)
)
calls = st.builds(
    Call, st.sampled_from([*NINE, 'fly', '']), arguments | st.sampled_from(['', '{', '[]', 'null'])
)
words = st.text(max_size=20)
answers = st.builds(Say, words, st.lists(calls, max_size=3).map(tuple), piece=st.integers(1, 50))


@pytest.fixture(scope='module', params=[True, False], ids=['streaming', 'whole'])
def lasting(request: pytest.FixtureRequest) -> Iterator[World]:
    with World(DONE, streaming=request.param, turn={'max_steps': 8}) as world:
        yield world


@settings(max_examples=examples(40))
@given(script=st.lists(answers, min_size=1, max_size=8))
def test_whatever_a_model_writes_the_story_is_told_in_order(
    lasting: World, script: list[Say]
) -> None:
    world = lasting
    world.reset(*script)
    last = world.turn()
    check_story(world.events)
    acts = [event.tool_name for event in world.events if event.kind is TraceKind.ACT]
    assert last.steps <= 8 + ('move_stop' in acts)  # a stop is always allowed
    assert last.answer.strip()
    assert not world.rover.overlapped
    assert not world.rover.motion
    for event in world.events:
        if event.kind is TraceKind.ACT and event.tool_name in MOTIONS:
            data: Any = event.data
            assert 0.0 < data['arguments']['duration_s'] <= 20.0
    assert world.calls.count('move_stop') >= len(world.rover.starts)
