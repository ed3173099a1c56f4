# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Turns of the real ROSA with the real ChatOpenAI: what a model may do, and what it gets back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import json
import threading
import time
from typing import Any

from chat_server import Call, call, Hang, Say
from curiosity_rosa_demo.agent.react.nodes.observe_result import ONE_CALL_AT_A_TIME_TEXT
from curiosity_rosa_demo.agent.react.nodes.react_decide import OBSERVATION_HEADING
from curiosity_rosa_demo.domain.cancellation import TurnCancelled
from curiosity_rosa_demo.domain.models import MAST_IS_CLOSED, NEED_TO_CLOSE_MAST, TraceKind
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.domain.text import MAX_QUOTE_CHARS
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from examples import examples
from harness import wait_until
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from tool_rover import SimulatedRover, SPEED_MPS, START_LATE_S
from turn_world import check_story, KEY, NINE, OFFERED, World

DONE = Say('Done.')
Make = Callable[..., World]


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Turns whose answers stream; other modules' and the property at the end take them whole."""
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    worlds: list[World] = []

    def make_world(*script: Any, **options: Any) -> World:
        worlds.append(World(*script, **{'streaming': True, **options}))
        return worlds[-1]

    yield make_world
    for world in worlds:
        world.server.close()


def told(world: World, request: int = -1) -> list[dict[str, Any]]:
    """The tool results that a request tells the model."""
    return [json.loads(text) for text in world.requests[request].texts('tool')]


# --- what the model is asked ----------------------------------------------------------------


@pytest.mark.parametrize('streaming', [True, False])
def test_the_model_is_offered_our_nine_tools_and_the_settings_of_agent_yaml(
    make: Make, streaming: bool
) -> None:
    world = make(DONE, streaming=streaming)
    assert world.turn('Hello').answer == 'Done.'
    (request,) = world.requests
    assert request.tools == OFFERED
    assert request.tools[:9] == NINE
    assert request.path == '/v1/chat/completions'
    assert request.body['model'] == 'scripted'
    assert request.body['temperature'] == 0.25
    assert bool(request.body.get('stream')) is streaming
    assert request.authorization == f'Bearer {KEY}'
    assert request.texts('user') == ['Hello']
    assert world.kinds() == ['RESULT']
    assert world.events[-1].message == 'Done.'


def test_costs_stand_in_the_descriptions_and_in_the_results(make: Make) -> None:
    world = make(call('mast_open'), DONE)
    world.turn()
    described = {
        tool['function']['name']: tool['function']['description']
        for tool in world.requests[0].body['tools']
    }
    costs = world.config.tool_costs.tools.model_dump()
    assert costs.pop('look')  # for a model that can see
    for name, cost in costs.items():
        assert f'Cost: {cost:g}.' in described[name]
    assert told(world) == [{'ok': True, 'error_reason': '', 'data': {'cost': 2.0}}]


@pytest.mark.parametrize('measured', [True, False])
def test_a_way_whose_stop_failed_is_charged_to_the_budget(make: Make, measured: bool) -> None:
    world = make(call('move_forward', duration_s=4.0), DONE)
    # Not before: without a pose no motion is allowed.
    world.rover.faults['move_forward'] = lambda: setattr(world.rover, 'tells_pose', measured)
    world.rover.faults['move_stop'] = lambda: ServiceFailed('Service timeout: /move_stop')
    world.turn()
    fastest_m = 4.0 * world.config.guardrails.geofence.max_speed_mps
    metres = world.rover.state.pose.x if measured else fastest_m
    assert world.reacts[-1].spent.metres == pytest.approx(metres, rel=0.03)


def test_a_motion_that_was_refused_costs_no_metres(make: Make) -> None:
    world = make(call('move_forward', duration_s=4.0), DONE)
    world.rover.faults['move_forward'] = lambda: ServiceFailed('Move in progress')
    world.turn()
    assert world.reacts[-1].spent.metres == 0.0


def test_one_system_message_ends_with_the_memory_and_what_is_measured(make: Make) -> None:
    world = make(Say('Hello.'), call('get_status'), DONE, memory=True)
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


# --- tools ----------------------------------------------------------------------------------


def test_a_turn_is_traced_from_thought_to_answer(make: Make) -> None:
    world = make(
        call('mast_open', 'It must be dark down here.'),
        call('capture_and_score', 'The mast is up now.'),
        Say('Bright: 0.9.'),
    )
    world.rover.light = 0.9
    last = world.turn()
    assert world.kinds() == [
        'HYPOTHESIZE', 'DECIDE', 'ACT', 'RESULT', 'OBSERVE', 'DECIDE', 'ACT', 'RESULT', 'RESULT'
    ]  # fmt: skip
    assert check_story(world.events) == 2
    assert world.events[0].message == 'It must be dark down here.'
    assert world.events[4].message == 'The mast is up now.'
    assert (last.ok, last.answer, last.score, last.is_good) == (True, 'Bright: 0.9.', 0.9, True)
    assert world.events[-1].score == 0.9
    assert world.calls == ['mast_open', 'capture_and_score']


@pytest.mark.parametrize('text', ['{"duration_s": 12.5}', '{"duration_s": "12.5"}'])
def test_arguments_may_come_in_pieces_and_a_number_as_a_text(make: Make, text: str) -> None:
    world = make(Say('', (Call('move_forward', text),), piece=3), DONE)
    assert world.turn().ok
    (act,) = (event for event in world.events if event.kind is TraceKind.ACT)
    assert act.message == 'move_forward(duration_s=12.5)'
    assert act.data == {'arguments': {'duration_s': 12.5}}
    driven_m = world.rover.state.pose.x
    assert told(world)[0]['data']['distance_m'] == pytest.approx(driven_m, rel=0.02)
    assert driven_m == pytest.approx(12.5 * SPEED_MPS, abs=START_LATE_S * SPEED_MPS)


def test_what_a_tool_refuses_goes_back_to_the_model(make: Make) -> None:
    world = make(
        call('capture_and_score'), call('mast_open'), call('move_forward', duration_s=2), DONE
    )
    assert world.turn().ok
    assert [result['error_reason'] for result in told(world)] == [
        MAST_IS_CLOSED,
        '',
        NEED_TO_CLOSE_MAST,
    ]
    assert world.errors() == [MAST_IS_CLOSED, NEED_TO_CLOSE_MAST]
    assert world.rover.starts == []


def test_of_several_calls_at_once_only_the_first_is_carried_out(make: Make) -> None:
    count = 4
    calls = (Call('mast_open'), *[Call('mast_close')] * (count - 1))
    world = make(Say('', calls), DONE)
    assert world.turn().ok
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
def test_a_crash_in_a_tool_ends_the_turn_whatever_the_model_would_say(
    make: Make, tool: str
) -> None:
    world = make(call(tool), DONE)
    world.rover.faults[tool] = lambda: ZeroDivisionError('boom')
    last = world.turn()
    broke = f"Internal error in {tool}: ZeroDivisionError('boom')"
    assert (last.ok, last.internal_error) == (False, True)
    assert last.answer.startswith(f'{tool}(')
    assert last.answer.endswith(f') failed: {broke}')
    assert world.errors()[0] == broke
    assert len(world.requests) == 1  # the model is not asked again


def test_a_crash_of_ours_ends_the_turn_with_an_event(make: Make) -> None:
    world = make(DONE)
    world.rosa.turn_executor._turn.memory = lambda: str(1 / 0)
    last = world.turn()
    assert not last.ok
    assert last.answer == "Internal error: ZeroDivisionError('division by zero')"
    assert world.errors() == [last.answer]


# --- calls that are none --------------------------------------------------------------------

WRONG = {
    'missing': ('move_forward', '{}', 'duration_s: Field required'),
    'boolean': ('move_forward', '{"duration_s": true}', 'duration_s: Input should be a valid'),
    'zero': ('move_forward', '{"duration_s": 0}', 'duration_s: Input should be greater than 0'),
    'too long': ('turn_right', '{"duration_s": 20.1}', 'duration_s: Input should be less than or'),
    'digits': ('turn_left', f'{{"duration_s": {10**400}}}', 'duration_s: Input should be a valid'),
    'NaN': ('turn_left', '{"duration_s": NaN}', 'arguments: Value error, Out of range float'),
    'extra': ('move_forward', '{"duration_s": 1, "speed": 9}', 'speed: Extra inputs are not'),
    'old style': ('mast_open', '{"__arg1": "up"}', 'arguments: Input should be'),
}


@pytest.mark.parametrize(('tool', 'text', 'problem'), WRONG.values(), ids=WRONG.keys())
def test_wrong_arguments_move_nothing_and_are_explained(
    make: Make, tool: str, text: str, problem: str
) -> None:
    world = make(Say('', (Call(tool, text),)), DONE)
    assert world.turn().ok
    assert world.calls == []
    (error,) = world.errors()
    assert error.startswith(f'Wrong arguments for {tool}: {problem}')
    assert error.endswith('it takes: none' if tool == 'mast_open' else 'it takes: duration_s')
    code = 'PARAM_INVALID'
    expected = {'ok': False, 'error_reason': error, 'data': {}, 'error_code': code}
    assert told(world) == [expected]
    assert check_story(world.events) == 0


@pytest.mark.parametrize('name', ['ros2_service_call', 'MOVE_FORWARD', ''])
def test_an_unknown_tool_is_refused_with_the_list_of_ours(make: Make, name: str) -> None:
    world = make(call(name, command='/move_forward std_srvs/srv/Empty; reboot'), DONE)
    assert world.turn().ok
    (error,) = world.errors()
    assert error == f"Unknown tool '{name}'; there are: {', '.join(OFFERED[:-1])}"
    assert world.calls == []


def test_nothing_that_a_model_writes_makes_an_endless_event(make: Make) -> None:
    long = 'x' * 50_000
    wide = Say('', (Call(long), Call('mast_open', {long: 1})), piece=100_000)
    world = make(wide, Say('', wide.calls[1:], piece=100_000), DONE)
    assert world.turn().ok
    assert max(len(event.message) for event in world.events) < 4 * MAX_QUOTE_CHARS


def test_calls_that_were_declined_are_no_steps(make: Make) -> None:
    world = make(Say('', (Call('get_status'),) * 9), DONE, turn={'max_steps': 1})
    last = world.turn()
    assert (last.ok, last.steps) == (True, 1)
    assert len(world.errors()) == 8


@pytest.mark.parametrize(
    ('text', 'beside'),
    [
        ('{', 'nothing'),
        ('{"duration_s": 1', 'text'),
        ('{"duration_s": 1', 'a good call'),
        ('forward!', 'nothing'),
        ('[1]', 'a good call'),
        ('{"duration_s": ' + '9' * 5000 + '}', 'nothing'),
    ],
    ids=range(6),
)
def test_a_call_that_cannot_be_read_twice_ends_the_turn_and_moves_nothing(
    make: Make, text: str, beside: str
) -> None:
    good = (Call('mast_open'),) if beside == 'a good call' else ()
    said = 'Off we go.' if beside == 'text' else ''
    torn = Say(said, (*good, Call('move_forward', text)), finish='length')
    world = make(torn, torn, DONE)
    last = world.turn()
    assert not last.ok
    assert 'cannot be read' in last.answer
    assert world.errors() == [last.answer] * 2
    assert world.kinds() == ['ERROR'] * 2
    assert world.calls == []
    assert world.turn().ok, 'the next turn works'


@pytest.mark.parametrize(
    ('text', 'shown'), [('Up \ud83d', 'Up \ufffd'), ('Up \ud83d\ude80', 'Up \U0001f680')]
)
def test_half_a_character_of_a_model_hurts_nobody(make: Make, text: str, shown: str) -> None:
    fly = Call('fly\ud83d', {'\ud83d': '\ud83d'})
    world = make(Say(text, (fly,), piece=1), Say(text, piece=1))
    assert world.turn().answer == shown
    assert world.events[0].message == shown
    assert world.errors()[0].startswith("Unknown tool 'fly\ufffd'; there are: ")
    assert world.turn().ok, 'nor in the talk that follows'


# --- stop -----------------------------------------------------------------------------------


def stopped(world: World) -> tuple[float, list[BaseException]]:
    """Press the button of a turn whose model is busy: seconds until it ends, and how."""
    ends: list[BaseException] = []

    def run() -> None:
        try:
            world.turn()
        except BaseException as end:
            ends.append(end)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    wait_until(lambda: world.requests, 'the request of the model')
    pressed = time.monotonic()
    world.button.cancel('Stopped by a test')
    thread.join(timeout=10)
    assert not thread.is_alive()
    return time.monotonic() - pressed, ends


def test_a_stop_does_not_wait_for_a_model_that_hangs(make: Make) -> None:
    world = make(Hang())
    seconds, (end,) = stopped(world)
    assert isinstance(end, TurnCancelled)
    assert str(end) == 'Stopped by a test'
    assert seconds < 5.0  # the model has six
    assert world.rosa.turn_executor.last_result is None
    world.server.says(DONE)
    world.renew_button()
    assert world.turn().ok, 'the next turn works'


def test_a_stop_in_a_motion_stops_the_rover_and_ends_the_turn(make: Make) -> None:
    world = make(call('move_forward', duration_s=20), DONE)
    world.rover.faults['move_forward'] = lambda: world.button.cancel('Stopped by a test')
    with pytest.raises(TurnCancelled):
        world.turn()
    assert world.rover.starts == ['move_forward']
    assert world.calls[-1] == 'move_stop'
    assert not world.rover.motion
    assert len(world.requests) == 1


# --- the rules, for any model ---------------------------------------------------------------

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
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('OPENAI_API_KEY', KEY)
        with World(DONE, streaming=request.param, turn={'max_steps': 8}) as world:
            yield world


@settings(max_examples=examples(40))
@given(script=st.lists(answers, min_size=1, max_size=8))
def test_whatever_a_model_writes_the_story_is_told_in_order(
    lasting: World, script: list[Say]
) -> None:
    world = lasting
    world.server.says(*script)
    world.events.clear()
    world.rosa.clear_chat()
    world.rover = SimulatedRover(world.rover.clock)
    world.rosa.turn_executor._turn.world._client = world.rover  # type: ignore[attr-defined]
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
