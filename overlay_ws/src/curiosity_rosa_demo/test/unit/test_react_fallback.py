# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""What the loop does about failures: of the model, by the routine; of a skill, by the map."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from chat_server import call, Fault, Reply, Say
from curiosity_rosa_demo.agent.llm.call import holds_tool_call
from curiosity_rosa_demo.agent.llm.errors import BREAKER_OPEN_S, FallbackModel, MAX_FAILURES
from curiosity_rosa_demo.agent.react import deciders
from curiosity_rosa_demo.agent.react.ask import ApprovalAnswer
from curiosity_rosa_demo.agent.react.gate import proposal_of
from curiosity_rosa_demo.agent.react.guardrails import first_refusal, RULES
from curiosity_rosa_demo.agent.react.supervise import (
    fits,
    missing_act,
    REPEATS,
    stuck_reason,
)
from curiosity_rosa_demo.agent.react.turn import Turn, TurnEnvironment
from curiosity_rosa_demo.agent.skills import drive
from curiosity_rosa_demo.agent.skills.executor import SkillExecutor, SkillRun
from curiosity_rosa_demo.agent.skills.skill import SkillCall
from curiosity_rosa_demo.domain.brain_state import (
    ApprovalAction,
    BrainState,
    Json,
    Mode,
    TasksState,
)
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.models import ToolResult, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.operation import Exchange
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.exceptions import OutputParserException
import pytest
from runtime_world import AgentWorld
from skill_world import skill_named
from turn_world import (
    action,
    Answering,
    asking,
    BY_ROUTINE,
    finish,
    handed_over,
    KEY,
    Nodes,
    OFFERED,
    REGISTRY,
    SHIPPED,
    World,
)

FIND = 'Find the light.'
NO = ApprovalAnswer(ApprovalAction.REJECT, why='not now')
PATIENCE = SHIPPED.guardrails.patience
STEPPED_IN = f'the rule model has stepped in {PATIENCE.takeovers} times'
FINISHES = f'; {STEPPED_IN} and finishes the turn.'  # told once


def by_routine(events: list[TraceEvent]) -> list[str | None]:
    """The tools that it decided for."""
    return [e.tool_name for e in events if e.kind is TraceKind.DECIDE and e.data]


def test_a_model_that_keeps_failing_is_left_alone_for_a_while() -> None:
    nodes, now = nodes_of(TimeoutError(), text=FIND), [50.0]
    nodes.env.fallback = FallbackModel(lambda: now[0])

    def asked() -> int:
        """How often the model is asked in a turn, which ends well."""
        nodes.begin(nodes.turn.goal)
        before = len(nodes.agent.asked)
        nodes.events.clear()
        run(nodes)
        assert nodes.turn.ok
        return len(nodes.agent.asked) - before

    assert asked() == MAX_FAILURES
    alone = handed_over(nodes.events)[MAX_FAILURES:]
    assert alone
    assert all(why.endswith(f' It is not asked for {BREAKER_OPEN_S:g} s.') for why in alone)
    now[0] += BREAKER_OPEN_S - 0.01
    assert asked() == 0, 'nor in the next turn'
    now[0] += 0.01
    assert asked() == 1, 'one trial'
    now[0] += BREAKER_OPEN_S
    nodes.agent.script = [finish('I am back.')]
    nodes.begin('What is the rover status?')
    assert asked() == 1
    assert nodes.turn.answer == 'I am back.'


def test_why_the_routine_decides_is_told_once_while_it_stays_so() -> None:
    with World(Fault(401)) as world:
        for _ in range(2):
            world.reset(Fault(401))
            assert world.turn(FIND).ok
            told = [e.message for e in world.events if e.message.startswith(BY_ROUTINE)]
            assert '401' in told[0] or 'not asked' in told[0]
            assert len(told) > len(set(told))
            assert {text for text in told if told.count(text) > 1} == {f'{BY_ROUTINE}as before'}


def test_a_goal_that_the_routine_does_not_understand_ends_with_the_models_failure() -> None:
    with World(Fault(500)) as world:
        for asked in (1, 2, 3):  # and nobody is left alone whom nobody stands in for
            last = world.turn('Write a poem about dust.')
            assert not last.ok
            assert last.answer.endswith('has an internal error (500), also after 0 retries.')
            assert len(world.requests) == asked
        assert handed_over(world.events) == []
        assert world.calls == []


def test_a_no_of_a_person_is_not_passed_by() -> None:
    for first in (
        [action('mast_open'), action('mast_close')],
        [action('decide', {'type': 'ASK_HUMAN', 'reason': 'May I?'})],
    ):
        nodes = nodes_of(first, TimeoutError(), text=FIND, config=asking('mast_open'))
        nodes.think()
        nodes.answer('REJECT', why='not now')
        nodes.act()
        nodes.think()
        assert nodes.act().stop_reason == 'ABORT'
        assert (handed_over(nodes.events), nodes.acts) == ([], [])
    may_i = {'type': 'ASK_HUMAN', 'reason': 'May I drive?'}
    ask = {'action': 'drive?', 'tool_call_type': 'ask_user', 'parameters': {'prompt': 'May I?'}}
    patch = {'action': 'propose', 'plan': {'goal': 'Light', 'steps': [ask]}}
    for asked in (may_i, {'type': 'REPLAN', 'plan_patch': patch}):
        script = call('decide', **asked), call('get_status'), Say('I leave it.')
        with World(*script, approval_queue=Answering(NO)) as world:
            assert world.turn(FIND).answer == 'I leave it.'
            assert world.calls == []


def test_what_a_model_has_driven_of_an_order_is_not_driven_again() -> None:
    with World(DONE) as world:
        for goal in ('Drive forward 2 m and take a picture', 'Drive forward for 3 seconds'):
            world.reset(call('drive_distance', distance_m=2.0), Fault(500))
            last = world.turn(goal)
            assert world.rover.state.pose.x == pytest.approx(2.0, abs=0.1)
            assert not last.ok
            assert last.answer.endswith('Done before it: drove 2.0 m.')
        world.reset(call('navigate_to_pose', x=300.0, y=0.0), Fault(500))  # nothing is driven
        assert world.turn('Drive forward 2 m and take a picture').ok


def test_the_routine_knows_where_a_model_has_driven() -> None:
    for way in (call('drive_distance', distance_m=5.0), call('navigate_to_pose', x=5.0, y=0.0)):
        script = call('get_status'), way, call('mast_open'), call('capture_and_score')
        with World(*script, Fault(500)) as world:
            answer = world.turn(FIND).answer
            assert f'at x = {world.rover.state.pose.x:.2f} m' in answer
            assert 'drove 0.0 m' not in answer


def test_a_stop_between_the_model_and_the_routine_ends_the_turn() -> None:
    nodes = nodes_of(TimeoutError(), text=FIND)
    trace = nodes.env.trace

    def press(kind: TraceKind, message: str, **fields: Any) -> None:
        trace(kind, message, **fields)
        if message.startswith(BY_ROUTINE):
            nodes.env.cancellation.cancel('Stopped by a test')

    nodes.env.trace = press
    with pytest.raises(TurnCancelled, match='Stopped by a test'):
        nodes.think()
    assert nodes.acts == []


class Watched(SkillExecutor):
    """Hears of every operation before it begins."""

    heard: Callable[[str, Json], None]

    def start(self, skill_name: str, params: Json, cancellation: Cancellation) -> SkillRun:
        self.heard(skill_name, params)
        return super().start(skill_name, params, cancellation)


def nodes_of(*script: Any, text: str, config: Config = SHIPPED) -> Nodes:
    """Nodes whose model is scripted and for which the rule model stands in."""
    nodes = Nodes(*script, config=config)
    nodes.env.fallback = FallbackModel(lambda: 50.0)
    nodes.begin(text)
    return nodes


def run(nodes: Nodes, between: Callable[[], None] = lambda: None) -> int:
    """Stage by stage to the turn's end, a question is one; how many loops."""
    for loop in range(1, 200):
        between()
        if nodes.think().question is not None:
            return loop
        if nodes.act().stop_reason:
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
    nodes.env.skill_executor = watched = Watched(REGISTRY, nodes.world)
    begun: list[str] = []

    def heard(name: str, arguments: Json) -> None:
        op, env = nodes.turn.op, nodes.env
        assert op is not None
        assert (op.skill, op.arguments) == (name, arguments)
        proposal = proposal_of(op, REGISTRY, env.config)
        assert first_refusal(RULES, proposal, env.situation(nodes.turn), env.limits) is None
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
    told = handed_over(nodes.events)
    assert len(decided) <= len(told) or told[-1].endswith(FINISHES)
    if all(mode == 'SAFE' or latch for mode, latch, *_ in seen):
        assert set(begun) <= {'capture_and_score', 'get_status', 'move_stop'}
        assert nodes.rover.starts == []


EXPLORE, DRIVE, OPEN = 'Analyze the ground texture', 'Drive forward for 2 s.', 'Open the mast.'


def entry(tool: str, error: str = '', *, by: str = '', op: bool = True, **data: Any) -> Exchange:
    result = ToolResult.failure(error, **data) if error else ToolResult.success(**data)
    return Exchange(tool=tool, input='{}', result=result, op=tool if op else '', by=by)


def turn_of(goal: str, *exchanges: Exchange) -> tuple[Turn, TurnEnvironment]:
    nodes = Nodes(finish())
    nodes.begin(goal)
    nodes.turn.exchanges = list(exchanges)
    return nodes.turn, nodes.env


GOOD = entry('capture_and_score', score=0.9, is_good=True)


ENDS: list[tuple[str, list[Exchange], str]] = [
    (EXPLORE, [], 'good picture'),
    (EXPLORE, [entry('capture_and_score', 'no image')], 'good picture'),
    (EXPLORE, [entry('capture_and_score', score=0.1, is_good=False)], 'good picture'),
    (EXPLORE, [entry('capture_and_score', score=0.9, is_good=True)], 'analyze_ground'),
    (EXPLORE, [GOOD, entry('analyze_ground')], ''),
    ('Go to the light.', [GOOD], ''),
    ('Take a picture.', [entry('capture_and_score', score=0.1, is_good=False)], ''),
    (DRIVE, [entry('navigate_to_pose')], ''),
    (DRIVE, [entry('mast_close')], 'move_forward'),
    (OPEN, [entry('mast_close')], 'mast_open'),
    (OPEN, [entry('mast_open', op=False)], 'mast_open'),
    ('Turn left 90 degrees, then take a picture.', [entry('turn_angle')], 'capture_and_score'),
    ('If it is dark, drive 2 m.', [], ''),
    ('What is the rover status?', [], ''),
    ('Write a poem about dust.', [], ''),
]


def test_an_order_ends_with_a_successful_call_that_fits() -> None:
    found = [(goal, told, missing_act(*turn_of(goal, *told))) for goal, told, _ in ENDS]
    assert found == ENDS
    for act, tool in (('move_stop', 'move_forward'), ('move_forward', 'stop_base')):
        assert not fits(act, tool, lambda _: ['base']), 'a stop is no motion'


HOLDS_A_CALL = [
    '{"name": "mast_open", "arguments": {}}',
    '{"tool_calls": [{"function": {"name": "mast_open", "arguments": "{}"}}]}',
    'Now:\n```json\n{"action": "mast_open"}\n```',
    '{"name": "mast_open", "arguments": {"dur',
    '<function=mast_open>{}</function>',
    'move_forward(duration_s=2)',
]
ONLY_WORDS = [
    'I called mast_open() and saw sand.',
    '{"ok":true,"data":{"mast_is_open":false}}',
    'The mast (open) is fine.',
    '',
]


def test_a_call_in_words_is_told_from_an_answer() -> None:
    texts = [*HOLDS_A_CALL, *ONLY_WORDS]
    assert [text for text in texts if holds_tool_call(text, OFFERED)] == HOLDS_A_CALL


HALF_FAILED = PATIENCE.failures_in_a_row // 2
LOOP = [entry('mast_close'), entry('move_forward'), entry('mast_open')]


STUCK: list[tuple[list[Exchange], str]] = [
        ([entry('get_status')] * REPEATS, 'The model called get_status 2 times with the same'),
        ([entry('mast_open'), entry('mast_close')] * REPEATS, 'The model called mast_close 2'),
        ([entry('fly', f'no {n}', op=False) for n in range(HALF_FAILED)], '4 calls of the'),
        ([entry('fly', 'One at a time', op=False, error_code=RefusalCode.DECLINED)] * 9, ''),
        ([entry('capture_and_score', score=0.0, image_stamp_s=n) for n in range(3)],
         'The model called capture_and_score 2 times with the same'),
        (LOOP * 3, ''),
        (LOOP * 4, '12 calls of the model brought the goal no nearer.'),
        ([*LOOP * 3, entry('capture_and_score', score=0.1), *LOOP * 3], ''),
        ([*LOOP * 4, entry('get_status', by='routine')], ''),
        ([entry('wait_until', n=n, cost=100.0) for n in range(3)], 'Calls of the model for a'),
        ([entry('capture_and_score').model_copy(update={'plan_step': n}) for n in range(20)], ''),
    ]  # fmt: skip


def test_a_model_is_stuck_without_a_gain_and_only_then() -> None:
    for messages, why in STUCK:
        reason = stuck_reason(*turn_of(EXPLORE, *messages))
        assert reason.startswith(why)
        assert bool(reason) is bool(why)


def test_half_of_each_budget_of_a_search_is_kept_for_the_routine() -> None:
    good = entry('capture_and_score', score=0.9, is_good=True)
    for name, most in (('steps', 80), ('cost', 1000.0), ('metres', 200.0), ('seconds', 3600.0)):
        for goal, told, share, kept in (
            (FIND, [], 0.6, True),
            (FIND, [], 0.5, False),
            (FIND, [good], 0.6, False),
            ('Drive forward 90 m.', [], 0.6, False),
        ):
            turn, env = turn_of(goal, *told)
            turn.spend(**{name: type(most)(most * share)})
            assert stuck_reason(turn, env).startswith('The rest of the') is kept


WEAK: dict[str, tuple[Reply, ...]] = {
    'repeats': (call('get_status'),),
    'is refused': (call('fly'),),
    'looks with its mast down': (call('mast_close'), call('capture_and_score')),
    'gives up after a refusal': (
        call('fly'),
        *[call('decide', type='ABORT', reason='I cannot fly.')] * 2,
        call('get_status'),
    ),
    'talks': (Say('I will look.'),),
    'wastes': (call('mast_open'), call('mast_rotate'), call('mast_close')) * 9,
}


def test_the_routine_ends_the_turn_of_a_weak_model_well_and_leaves_a_good_one_alone() -> None:
    with World(Say('')) as world:
        for script in WEAK.values():
            world.reset(*script)
            last = world.turn(EXPLORE)
            assert (last.ok, last.is_good) == (True, True)
            reasons = handed_over(world.events)
            assert reasons
            assert [why.endswith(FINISHES) for why in reasons] in ([False], [False, True])
        steps = [call('mast_open'), call('capture_and_score'), call('get_status')]
        world.reset(*steps, call('analyze_ground'), Say('Sand.'))
        assert world.turn(EXPLORE).answer == 'Sand.'
        assert handed_over(world.events) == []


DONE = Say('Done.')
FAR = call('navigate_to_pose', x=4.0, y=0.0)
SEED = {
    **dict.fromkeys(('NAV_GOAL_REJECTED', 'NAV_BLOCKED', 'NAV_TOO_LONG'), 'REPLAN'),
    **dict.fromkeys(('NAV_TIMEOUT', 'RESOURCE_CONFLICT'), 'RETRY'),
    **dict.fromkeys(('SKILL_NOT_FOUND', 'PARAM_INVALID'), 'ASK_HUMAN'),
    **dict.fromkeys(('SAFETY_VIOLATION', 'BATTERY_CRITICAL'), 'ABORT'),
}

SAFETY_VIOLATION = RefusalCode.SAFETY_VIOLATION.value


@pytest.fixture(autouse=True)
def no_retry_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    monkeypatch.setattr(deciders, 'RETRY_WAIT_S', 0.0)


def _e_stop(world: World) -> None:
    world.rover.faults['move_forward'] = lambda: ServiceFailed('E-stop pressed')


def _goes_low(world: World) -> None:
    """The battery gets low once the rover has driven its first leg."""
    charging = BrainState(tasks=TasksState(mode=Mode.CHARGE))
    world.rover_world.brain_state = lambda: charging if world.rover.starts else BrainState()


CASES: dict[str, tuple[tuple[Reply, ...], list[str], str, Callable[[World], Any]]] = {
    # The model is asked again, and told that another way is needed.
    'NAV_BLOCKED': ((FAR, DONE), ['navigate_to_pose'], 'Done.', _e_stop),
    # The loop tries once more by itself, then the model is asked.
    'NAV_TIMEOUT': ((FAR, DONE), ['navigate_to_pose'] * 2, 'Done.', id),
    # A person is asked; nobody is there, so the turn ends.
    'PARAM_INVALID': (
        (call('wait_until', condition={'mast_is_it': 1, 'x_above': 'far'}),),
        ['wait_until'], 'wait_until(', id,
    ),
    # The turn ends.
    'BATTERY_CRITICAL': ((FAR,), ['navigate_to_pose'], 'navigate_to_pose(', _goes_low),
}  # fmt: skip


def test_the_map_is_the_one_that_was_asked_for() -> None:
    shipped = {code: each.value for code, each in SHIPPED.skills.error_map.items()}
    assert {code: shipped[code] for code in SEED} == SEED
    assert {SEED[code] for code in CASES} == set(SEED.values())


@pytest.mark.parametrize('code', CASES)
def test_what_the_loop_does_about_a_code(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    script, calls, answer, arrange = CASES[code]
    if code == 'NAV_TIMEOUT':
        monkeypatch.setattr(drive, 'MAX_LEGS', 1)
    with World(*script, fallback='none') as world:
        arrange(world)
        last = world.turn()
        failed = [event for event in world.events if event.kind == 'ERROR' and event.tool_name]
        assert failed
        for event in failed:
            told = (event.data or {}).get('code') == code
            assert told or str(event.error_reason).startswith(code)
        assert [event.tool_name for event in world.events if event.kind == 'ACT'] == calls
        assert last.answer.startswith(answer), last.answer
        assert last.ok is (answer == 'Done.')
        measured = str(world.requests[-1].body['messages'])
        assert ('error_map' in measured and SEED[code] in measured) is last.ok


def test_a_violated_safety_rule_ends_the_turn_and_latches_safe(tmp_path: Path) -> None:
    stopped = RefusalCode.STOPPED.text(part='mast', state='open')
    reason = f'{SAFETY_VIOLATION}: {stopped}'

    def breaks(call: SkillCall) -> ToolResult:
        return ToolResult.failure(reason, SAFETY_VIOLATION)

    errors = dict(SHIPPED.skills.error_map)  # as make_registry gives them to each skill
    skill = skill_named('drive', breaks, resources_required=['base'], error_map=errors)
    with AgentWorld(tmp_path, call('drive'), DONE, skills=(skill,)) as world:
        world.submit('react', text='Drive.')
        world.until(lambda: world.state.tasks.mode is Mode.SAFE, 'SAFE')
        assert world.state.robot.safety_latch == reason
        world.until(lambda: 'move_stop' in world.rover.calls, 'the stop')
        assert len(world.server.requests) == 1  # the model is not asked again
