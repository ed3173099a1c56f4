# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""When the model fails, or is refused again and again, the routine decides that step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from chat_server import Call, call, Cut, Fault, Hang, Say
from curiosity_rosa_demo.agent.llm.answers import CALL_AS_TEXT, CUT_TEXT, FILTERED_TEXT
from curiosity_rosa_demo.agent.llm.fallback import BREAKER_OPEN_S, FallbackModel, MAX_FAILURES
from curiosity_rosa_demo.agent.llm.messages import HOW
from curiosity_rosa_demo.agent.react.guardrails.rules import find_refusal
from curiosity_rosa_demo.agent.react.guardrails.situation import Proposal, situation_of
from curiosity_rosa_demo.agent.skills.executor import SkillExecutor
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.exceptions import OutputParserException
import pytest
from react_world import action, asking, finish, Nodes, REGISTRY
from tool_rover import SimulatedRover
from turn_world import BY_ROUTINE, check_story, config_of, KEY, LLM, rosa_of, SHIPPED, World

FIND = 'Find the light.'
PATIENCE = SHIPPED.guardrails.patience
WHO = "The model 'scripted' of openai"
BROKEN = f'{WHO} has an internal error (500), also after 0 retries.'
ENDED_WITHOUT = 'The model ended without a successful'
NOT_UNDERSTOOD = 'Write a poem about dust.'
FLY = Say('', (Call('fly'),))


@pytest.fixture(autouse=True, scope='module')
def _key() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('OPENAI_API_KEY', KEY)
        yield


@pytest.fixture
def make() -> Iterator[Callable[..., World]]:
    worlds: list[World] = []

    def make_world(*script: Any, **options: Any) -> World:
        worlds.append(World(*script, **options))
        return worlds[-1]

    yield make_world
    for world in worlds:
        world.server.close()


def handed_over(events: list[TraceEvent]) -> list[str]:
    """Why the routine decided, each time that it did."""
    return [event.error_reason or '' for event in events if event.message.startswith(BY_ROUTINE)]


def by_routine(events: list[TraceEvent]) -> list[str | None]:
    """The tools that it decided for."""
    return [e.tool_name for e in events if e.kind is TraceKind.DECIDE and e.data]


class Steady:
    """A steady clock that the test owns."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now

    def given_to(self, world: World) -> None:
        turn = world.rosa.turn_executor._turn
        assert turn.fallback is not None
        turn.fallback = FallbackModel(turn.fallback.agent, self)


# --- a model that fails ---------------------------------------------------------------------

FAILURES_OF_A_MODEL = {
    'errors': (Fault(500), BROKEN),
    'time-out': (Hang(), f'{WHO} did not answer within 0.5 s (llm.timeout_s of agent.yaml).'),
    'cut': (Cut(Say('So.')), f'{WHO} closed the connection before its answer was complete.'),
}
TORN = Say('So.', (Call('move_forward', '{"duration_s": 1'),))
# What a model is asked again for, once.
UNUSABLE = {
    'torn': (TORN, 'The model wrote a tool call that cannot be read.'),
    'nothing': (Say(), 'The model answered nothing.'),
    'words': (Say('I see sand.'), f'{ENDED_WITHOUT} good picture: I see sand.'),
    'finish': (
        call('decide', type='FINISH', reason='I see sand.'),
        f'{ENDED_WITHOUT} good picture: I see sand.',
    ),
    'cut': (Say('I see', finish='length'), CUT_TEXT),
    'filtered': (Say('I see', finish='content_filter'), FILTERED_TEXT),
    'JSON': (Say('{"name": "capture_and_score", "arguments": {}}'), CALL_AS_TEXT),
    'tags': (Say('So. <tool_call>{"name": "fly"}</tool_call>'), CALL_AS_TEXT),
    'code': (Say('`capture_and_score()`'), CALL_AS_TEXT),
}


@pytest.mark.parametrize(('reply', 'why'), FAILURES_OF_A_MODEL.values(), ids=FAILURES_OF_A_MODEL)
def test_a_model_that_fails_in_the_middle_is_stood_in_for(
    make: Callable[..., World], reply: Any, why: str
) -> None:
    world = make(call('mast_open', 'Up.'), reply, timeout_s=0.5)
    last = world.turn(FIND)
    assert (last.ok, last.is_good) == (True, True)
    assert world.calls == ['mast_open', 'capture_and_score']
    assert check_story(world.events) == 2
    alone = f'{why} It is not asked for {BREAKER_OPEN_S:g} s.'
    # It decides the capture and the answer.
    assert handed_over(world.events) == [why, why]
    assert alone not in handed_over(world.events)
    assert len(world.requests) == 1 + MAX_FAILURES
    (decide,) = (e for e in world.events if e.kind is TraceKind.DECIDE and e.data)
    assert (decide.message, decide.data) == (
        'capture_and_score(), by the routine',
        {'by': 'routine'},
    )


@pytest.mark.parametrize(('reply', 'why'), UNUSABLE.values(), ids=UNUSABLE)
@pytest.mark.parametrize('streaming', [True, False])
def test_an_unusable_answer_is_asked_for_again_with_the_reason(
    make: Callable[..., World], reply: Say, why: str, streaming: bool
) -> None:
    capture = call('capture_and_score')
    world = make(call('mast_open'), reply, capture, Say('Fine sand.'), streaming=streaming)
    last = world.turn(FIND)
    assert (last.ok, last.answer) == (True, 'Fine sand.')
    assert world.calls == ['mast_open', 'capture_and_score']
    assert world.errors() == [why]
    assert handed_over(world.events) == []
    rejected, objection = world.requests[2].body['messages'][-2:]
    assert (rejected['role'], objection['role']) == ('assistant', 'user')
    assert objection['content'] == f'{why} {HOW}'
    assert len(world.requests[3].texts('user')) == 1, 'it is not asked so for ever'


@pytest.mark.parametrize(('reply', 'why'), UNUSABLE.values(), ids=UNUSABLE)
def test_of_two_unusable_answers_the_routine_takes_the_step_and_then_the_turn(
    make: Callable[..., World], reply: Say, why: str
) -> None:
    world = make(call('mast_open'), reply)
    last = world.turn(FIND)
    assert (last.ok, last.is_good) == (True, True)
    assert world.calls == ['mast_open', 'capture_and_score']
    assert handed_over(world.events)[0] == why
    assert len(world.requests) in (4, 5), 'twice for each step at most'


@pytest.mark.parametrize('fallback', ['none', 'routine'])
def test_words_are_no_success_of_an_order(make: Callable[..., World], fallback: str) -> None:
    world = make(Say('I have driven.'), fallback=fallback)
    world.rover.faults['move_forward'] = lambda: ServiceFailed('stuck')
    last = world.turn('Drive forward for 2 seconds.')
    assert not last.ok
    if fallback == 'none':
        assert last.answer == f'{ENDED_WITHOUT} move_forward: I have driven.'
        assert len(world.requests) == 2


@pytest.mark.parametrize('question', ['What is the rover status?', 'Who are you?', 'Go on.'])
def test_a_question_may_be_answered_in_words(make: Callable[..., World], question: str) -> None:
    world = make(Say('Well.'))
    assert (world.turn(question).ok, len(world.requests)) == (True, 1)


def test_the_model_is_asked_again_at_the_next_step(make: Callable[..., World]) -> None:
    world = make(call('mast_open'), Fault(500), Say('Fine sand.'))
    last = world.turn(FIND)
    assert (last.ok, last.answer) == (True, 'Fine sand.')
    assert by_routine(world.events) == ['capture_and_score']
    # It reads the routine's call as one of its own.
    called = [c['function']['name'] for m in world.requests[-1].messages('assistant')
              for c in m['tool_calls']]  # fmt: skip
    assert called == ['mast_open', 'capture_and_score']


def test_a_model_that_keeps_failing_is_left_alone_for_a_while(make: Callable[..., World]) -> None:
    world, steady = make(Fault(500)), Steady()
    steady.given_to(world)
    assert world.turn(FIND).ok
    assert len(world.requests) == MAX_FAILURES
    assert len(handed_over(world.events)) > MAX_FAILURES
    assert set(handed_over(world.events)[MAX_FAILURES:]) == {
        f'{BROKEN} It is not asked for {BREAKER_OPEN_S:g} s.'
    }
    steady.now += BREAKER_OPEN_S - 0.01
    assert world.turn(FIND).ok
    assert len(world.requests) == MAX_FAILURES, 'nor in the next turn'
    steady.now += 0.01
    world.server.says(Fault(500), Say('I am back.'))
    assert world.turn(FIND).ok
    assert len(world.requests) == 1, 'one trial'
    steady.now += BREAKER_OPEN_S
    assert world.turn('What is the rover status?').answer == 'I am back.'


def test_what_is_between_two_failures_starts_the_count_anew(make: Callable[..., World]) -> None:
    capture = call('capture_and_score')
    world = make(Fault(500), call('mast_open'), Fault(500), capture, Say('Done.'))
    assert world.turn(FIND).answer == 'Done.'
    assert handed_over(world.events) == [BROKEN, BROKEN]


def test_a_goal_that_the_routine_does_not_understand_ends_with_the_models_failure(
    make: Callable[..., World],
) -> None:
    world = make(Fault(500))
    for asked in (1, 2, 3):  # and nobody is left alone whom nobody stands in for
        last = world.turn(NOT_UNDERSTOOD)
        assert (last.ok, last.answer) == (False, BROKEN)
        assert len(world.requests) == asked
    assert handed_over(world.events) == []
    assert world.calls == []


@pytest.mark.parametrize('llm', [{'fallback': 'none'}, {'provider': 'routine'}])
def test_there_may_be_no_fallback(llm: dict[str, str]) -> None:
    rosa = rosa_of(SimulatedRover(), config_of(llm={**LLM, **llm}))
    assert rosa.turn_executor._turn.fallback is None


def test_without_a_fallback_the_failure_ends_the_turn(make: Callable[..., World]) -> None:
    world = make(call('mast_open'), Fault(500), fallback='none')
    last = world.turn(FIND)
    assert (last.ok, last.answer) == (False, BROKEN)
    assert len(world.requests) == 2


# --- a model that is refused ----------------------------------------------------------------


def test_a_model_that_is_refused_again_and_again_is_stood_in_for_one_step(
    make: Callable[..., World],
) -> None:
    world = make(*[FLY] * PATIENCE.refused_in_a_row, call('capture_and_score'), Say('Fine sand.'))
    world.rover.mast_is_open = True
    last = world.turn(FIND)
    assert (last.ok, last.answer) == (True, 'Fine sand.')
    assert by_routine(world.events) == ['capture_and_score']
    (why,) = handed_over(world.events)
    assert why.startswith('The model proposed 3 calls in a row that were refused; the last: Unkn')
    assert check_story(world.events) == 2


def test_a_model_that_is_always_refused_still_ends_well(make: Callable[..., World]) -> None:
    world = make(FLY)
    world.rover.light = 0.95
    assert world.turn(FIND).is_good
    assert 'get_status' not in world.calls, 'no fault of a skill'


def test_a_routine_that_is_refused_as_well_ends_the_turn() -> None:
    nodes = nodes_of([action('mast_open')], text='Open the mast.')
    nodes.now(mode='SAFE')
    run(nodes)
    react = nodes.state.react
    assert (react.stop_reason, react.ok) == ('ABORT', False)
    assert react.answer.startswith('The model and the routine proposed 4 calls in a row that were')
    assert nodes.acts == []
    assert len(nodes.agent.asked) == PATIENCE.refused_in_a_row


def test_a_refused_goal_that_the_routine_does_not_understand_ends_as_ever() -> None:
    nodes = nodes_of([action('fly')], text=NOT_UNDERSTOOD)
    run(nodes)
    assert nodes.state.react.answer.startswith('The model proposed 3 calls in a row that were ref')
    assert handed_over(nodes.events) == []


# --- what a person said, what was planned ---------------------------------------------------


@pytest.mark.parametrize('no', ['a call', 'a question'])
def test_a_no_of_a_person_is_not_passed_by(monkeypatch: pytest.MonkeyPatch, no: str) -> None:
    first = (
        [action('mast_open'), action('mast_close')]
        if no == 'a call'
        else [action('decide', {'type': 'ASK_HUMAN', 'reason': 'May I?'})]
    )
    nodes = nodes_of(first, TimeoutError(), text=FIND, config=asking('mast_open'))
    nodes.think()
    nodes.answer(monkeypatch, 'REJECT', why='not now')
    nodes.act()
    nodes.think()
    assert nodes.act().react.stop_reason == 'ABORT'
    assert handed_over(nodes.events) == []
    assert nodes.acts == []


def test_a_plan_that_is_refused_is_not_taken_over() -> None:
    step = {'action': 'move_forward', 'parameters': {'duration_s': 1.0}, 'fallback': 'turn_left'}
    step['metadata'] = {'fallback_parameters': {'duration_s': 1.0}}
    plan = {'goal': 'g', 'steps': [{'step_id': 1, **step}]}
    patch = {'action': 'propose', 'plan': plan}
    replan = action('decide', {'type': 'REPLAN', 'reason': 'r', 'plan_patch': patch})
    nodes = nodes_of([action('fly')], [action('fly')], [replan], finish(), text=FIND)
    nodes.now(latch='e-stop')
    run(nodes)
    assert nodes.state.react.answer.startswith('The model proposed 3 calls in a row that were ref')
    assert handed_over(nodes.events) == []


def test_after_a_trip_of_the_models_the_routine_looks_before_it_drives(
    make: Callable[..., World],
) -> None:
    steps = (call('mast_open'), call('capture_and_score'), call('mast_close'))
    world = make(*steps, call('navigate_to_pose', x=5.0, y=0.0), Fault(500), Fault(500))
    world.rover.light = 0.0
    bright = world.rover.trigger

    def trigger(name: str, cancellation: Any = None) -> str:
        world.rover.light = 0.0 if world.rover.pose().x < 1.0 else 0.9
        return bright(name, cancellation)

    world.rover.trigger = trigger  # type: ignore[method-assign]
    assert world.turn(FIND).is_good
    assert by_routine(world.events) == ['mast_open', 'capture_and_score']


# --- stop -----------------------------------------------------------------------------------


def test_a_stop_between_the_model_and_the_routine_ends_the_turn() -> None:
    nodes = nodes_of(TimeoutError(), text=FIND)
    trace = nodes.turn.trace

    def press(kind: TraceKind, message: str, **fields: Any) -> None:
        trace(kind, message, **fields)
        if message.startswith(BY_ROUTINE):
            nodes.turn.cancellation.cancel('Stopped by a test')

    nodes.turn.trace = press
    with pytest.raises(TurnCancelled, match='Stopped by a test'):
        nodes.think()
    assert nodes.acts == []


# --- whatever a failing model does ----------------------------------------------------------


class Watched(SkillExecutor):
    """Hears of every operation before it begins."""

    heard: Callable[[str, Json], None]

    async def dispatch(self, skill_name: str, params: Json, cancellation: Cancellation) -> str:
        self.heard(skill_name, params)
        return await super().dispatch(skill_name, params, cancellation)


@cache
def routine() -> Any:
    fallback = rosa_of(SimulatedRover(), config_of(llm=LLM)).turn_executor._turn.fallback
    assert fallback is not None
    return fallback.agent


def nodes_of(*script: Any, text: str, config: Config = SHIPPED) -> Nodes:
    """Nodes whose model is scripted and whose routine is ROSA's."""
    nodes = Nodes(*script, config=config)
    nodes.turn.fallback, nodes.turn.text = FallbackModel(routine(), Steady()), text
    return nodes


def run(nodes: Nodes, between: Callable[[], None] = lambda: None) -> int:
    """Stage by stage to the turn's end, a question is one; how many loops."""
    for loop in range(1, 200):
        between()
        if nodes.think().react.question is not None:
            return loop
        if nodes.act().react.stop_reason:
            return loop
    raise AssertionError('the turn has no end')


SKILLS = ['mast_open', 'mast_close', 'mast_rotate', 'capture_and_score', 'get_status', 'move_stop']
drives = st.builds(
    lambda name, seconds: [action(name, {'duration_s': seconds})],
    st.sampled_from(['move_forward', 'turn_left']),
    st.floats(0.1, 20.0),
)
good = st.builds(lambda name: [action(name)], st.sampled_from(SKILLS)) | drives
bad = st.sampled_from(
    [OutputParserException('torn'), TimeoutError(), ConnectionError(), finish('')]
)
refused = st.builds(lambda name: [action(name, {'far': 1})], st.sampled_from([*SKILLS, 'fly', '']))
scripts = st.lists(st.one_of(good, bad, bad, refused), min_size=1, max_size=8)
worlds = st.tuples(
    st.sampled_from(['SAFE', 'CHARGE', 'EXEC', 'EXEC', 'IDLE', 'IDLE']),
    st.sampled_from(['', '', '', 'e-stop']),
    st.sampled_from([True, False, None]),  # the mast is open
    st.sampled_from(['', '', 'move_forward']),  # moves unasked
    st.sampled_from(['', '', '', 'mast_open', 'capture_and_score', 'turn_left']),  # fails
)


@settings(max_examples=examples(30))
@given(
    script=scripts,
    text=st.sampled_from([FIND, FIND, 'Open the mast.', 'Drive forward for 5 seconds.', 'Stop!']),
    seen=st.lists(worlds, min_size=1, max_size=6),
    light=st.sampled_from([0.0, 0.5, 0.9]),
    broken=st.booleans(),
)
def test_whatever_a_failing_model_does_every_operation_has_passed_the_guardrails(
    script: list[Any], text: str, seen: list[Any], light: float, broken: bool
) -> None:
    nodes = nodes_of(*script, *([TimeoutError()] if broken else []), text=text)
    nodes.rover.light = light
    nodes.turn.skill_executor = watched = Watched(REGISTRY, nodes.world)
    begun: list[str] = []

    def heard(name: str, arguments: Json) -> None:
        state, skill = nodes.state, REGISTRY.get(name)
        proposed = state.react.proposed_ops
        assert proposed is not None
        (op,) = proposed.to_dispatch
        assert (op.skill, op.arguments) == (name, arguments)
        resources = frozenset(skill.definition.resources_required)
        cost = nodes.turn.config.tool_costs.of(name)
        proposal = Proposal(op, resources, skill.risk, cost)
        assert find_refusal(proposal, situation_of(state), nodes.turn.limits) is None
        begun.append(name)

    watched.heard = heard
    moments = iter(seen * 200)

    def between() -> None:
        mode, latch, nodes.rover.mast_is_open, nodes.rover.motion, fails = next(moments)
        nodes.now(mode=mode, latch=latch)
        nodes.rover.faults = {fails: lambda: ServiceFailed('boom')} if fails else {}

    run(nodes, between)
    assert begun == [name for name, _ in nodes.acts]
    decided = by_routine(nodes.events)
    assert len(decided) <= len(handed_over(nodes.events))
    if all(mode == 'SAFE' or latch for mode, latch, *_ in seen):
        assert set(begun) <= {'capture_and_score', 'get_status', 'move_stop'}
        assert nodes.rover.starts == []
