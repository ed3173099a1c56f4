# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""One loop of a turn: what the model is shown, what it decides, and when the turn ends."""

from __future__ import annotations

from dataclasses import dataclass, field
import json
import threading
from typing import Any

from chat_server import Call, Say
from curiosity_rosa_demo.agent.react.guardrails.situation import situation_of
from curiosity_rosa_demo.agent.react.nodes.build_observation import (
    build_observation,
    MAX_OBSERVATION_CHARS,
    MAX_RESULTS,
)
from curiosity_rosa_demo.agent.react.nodes.human_approval import ASK_TO_CONTINUE
from curiosity_rosa_demo.agent.react.nodes.react_decide import NO_ANSWER_TEXT
from curiosity_rosa_demo.agent.react.nodes.stop_or_loop import MAX_LOOPS_PER_STEP, stop_or_loop
from curiosity_rosa_demo.agent.react.nodes.supervision import (
    LONGEST_PIECE,
    LONGEST_WAIT_S,
    SentenceStream,
)
from curiosity_rosa_demo.agent.react.turn.messages import call_entry, with_result
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Decision,
    DecisionType,
    ReactState,
    RobotState,
    SkillResult,
    SkillsState,
    SkillStatus,
    Spent,
    TasksState,
    WorldState,
)
from curiosity_rosa_demo.domain.cancellation import TurnCancelled
from curiosity_rosa_demo.domain.models import ToolResult, TraceKind
from curiosity_rosa_demo.domain.operation import call_text
from curiosity_rosa_demo.domain.plan.plan import Plan
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from examples import examples
from harness import wait_until
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage
import pytest
from react_world import action, finish, Nodes, REGISTRY, with_rules
from turn_world import SHIPPED, World

NAMES = [skill.definition.name for skill in REGISTRY.for_model()]
SKILLS = {skill.definition.name: skill for skill in REGISTRY.for_model()}
text = st.text(st.characters(exclude_categories=['Cs']), max_size=12)
odd = st.sampled_from([float('nan'), float('inf'), 10**400, -(2**70), 1e308, True, None, '', '3'])
scalars = odd | text | st.integers() | st.floats()
deep: Any = json.loads('[' * 150 + ']' * 150)
values: st.SearchStrategy[Any] = st.recursive(
    scalars | st.just(deep),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
types = st.sampled_from([*(kind.value for kind in DecisionType), 'DANCE', 'finish', '', None, 3])
GOOD_STEP: dict[str, st.SearchStrategy[Any]] = {
    'step_id': st.integers(-1, 3),
    'action': st.sampled_from([*NAMES[:6], 'fly']),
    'parameters': st.fixed_dictionaries({}, optional={'duration_s': st.floats(0, 30)}),
    'preconditions': values,
    'fallback': st.sampled_from([*NAMES[:3], 'fly']),
    'tool_call_type': st.sampled_from(['execute', 'ask_user', 'speak', 'noop']),
    'requires_confirmation': st.booleans(),
    'status': st.sampled_from(['success', 'pending']),
}
steps = st.fixed_dictionaries({}, optional={key: v | values for key, v in GOOD_STEP.items()})
GOOD_PLAN: dict[str, st.SearchStrategy[Any]] = {
    'goal': text,
    'risk_level': st.sampled_from(['low', 'high']),
    'steps': st.lists(steps, max_size=3),
    'metadata': values,
    'status': st.sampled_from(['completed', 'created']),
}
plans = st.fixed_dictionaries({}, optional={key: v | values for key, v in GOOD_PLAN.items()})
patches = st.fixed_dictionaries(
    {'action': st.sampled_from(['propose', 'revise', 'drop', 'burn'])},
    optional={'plan': plans | plans.map(lambda plan: json.dumps(plan)) | values, 'more': values},
)
courses = st.fixed_dictionaries(
    {'type': types}, optional={'reason': text | values, 'plan_patch': patches | values}
)
duration = st.fixed_dictionaries({'duration_s': st.floats(0.1, 20.0) | scalars})
# LangChain's parser makes a dictionary of the arguments, or a text of a bare one.
inputs = st.one_of(st.just({}), duration, courses, st.dictionaries(text, values), text)
messages = st.builds(AIMessage, text | st.just([{'type': 'text', 'text': 'Hm.'}]))


def _action(tool: str, tool_input: Any, call_id: str, log: list[Any]) -> AgentAction:
    made = action(tool, {})
    return made.model_copy(
        update={'tool_input': tool_input, 'tool_call_id': call_id, 'message_log': log}
    )


calls = st.builds(
    _action,
    st.sampled_from([*NAMES, 'decide', 'fly', '']) | text,
    inputs,
    st.sampled_from(['', 'c', 'd']),
    st.lists(messages, max_size=2),
)
decides = st.builds(_action, st.just('decide'), courses, st.just('x'), st.just([]))
finishes = st.builds(
    AgentFinish,
    st.fixed_dictionaries({}, optional={'output': values | st.just([{'text': 'Done.'}])}),
    st.just(''),
)
failures = st.sampled_from(
    [OutputParserException('torn'), RecursionError('deep'), TimeoutError(), RuntimeError('')]
)
returned = st.one_of(
    finishes, failures, decides.map(lambda each: [each]), st.lists(calls, max_size=3)
)


@settings(max_examples=examples(150))
@given(st.lists(returned, min_size=1, max_size=4))
def test_whatever_a_model_returns_is_one_of_the_seven_decisions(script: list[Any]) -> None:
    nodes = Nodes(*script)
    for _ in script:
        state = nodes.think()
        decision, proposed = state.react.decision, state.react.proposed_ops
        assert decision is not None
        assert decision.type in DecisionType
        assert proposed is not None
        assert len(proposed.to_dispatch) <= 1
        for op in proposed.to_dispatch:
            skill = SKILLS[op.skill]
            skill.arguments.model_validate(op.arguments)
            assert nodes.calls()[-1] or op.plan_step is not None
        if state.react.question is not None:
            assert proposed.need_approval
            break  # what an answer does is looked at elsewhere
        nodes.state = state.model_copy(
            update={
                'messages': [each for each in state.messages if each['result'] is not None],
                'react': state.react.model_copy(update={'plan': None}),
            }
        )
    assert nodes.acts == []
    assert nodes.rover.starts == []


def decided(type_: str, **more: Any) -> list[AgentAction]:
    return [action('decide', {'type': type_, **more})]


DECIDED: list[tuple[Any, str, str, str]] = [
    # what the model returns, how the turn ends, its answer, what the model is told
    *((nothing, 'ABORT', NO_ANSWER_TEXT, '') for nothing in ([], finish(' \n'), finish(None))),
    (decided('FINISH', reason='Enough seen.'), 'FINISH', 'Enough seen.', ''),
    (decided('ABORT', reason='Too dark.'), 'ABORT', 'Too dark.', ''),
    (decided('SWITCH_TASK', reason='Charge first'), 'SWITCH_TASK', 'Charge first', ''),
    (decided('SWITCH_TASK', reason=' '), '', '', 'needs the other goal as reason'),
    *((decided(kind, reason='Hm.'), '', '', '') for kind in ('CONTINUE', 'RETRY', 'REPLAN')),
    ([*decided('CONTINUE'), action('mast_open')], '', '', 'One tool call at a time'),
]


def test_what_a_decision_does() -> None:
    for returned, ends, answer, told in DECIDED:
        nodes = Nodes(returned)
        nodes.think()
        react = nodes.act().react
        assert (react.stop_reason, react.answer) == (ends, answer)
        assert react.ok is (ends in ('FINISH', 'SWITCH_TASK'))
        assert (react.spent.steps, nodes.acts) == (0, [])
        refused = [each.error_reason for each in nodes.told() if not each.ok]
        assert told in ''.join(refused)
        assert bool(told) is bool(refused)


def test_a_question_of_the_model_is_put_and_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    for said, read in (('APPROVE', {'answer': 'yes'}), ('REJECT', {'answer': 'no', 'why': 'x'})):
        nodes = Nodes(decided('ASK_HUMAN', reason='Is it safe?'))
        question = nodes.think().react.question
        assert question is not None
        assert (question.text, question.op, question.reasons) == ('Is it safe?', None, [])
        nodes.answer(monkeypatch, said, why='x')
        assert nodes.act().react.stop_reason == ''
        assert ([result.data for result in nodes.told()], nodes.acts) == ([read], [])


@dataclass(frozen=True)
class Late(Call):
    """Its arguments are sent only when ``sent`` is set."""

    sent: threading.Event = field(default_factory=threading.Event)

    @property
    def text(self) -> str:
        assert self.sent.wait(20), 'the test did not let the arguments go'
        return super().text


def test_sentences_are_told_while_the_model_still_speaks() -> None:
    late = Late('mast_open', '{}')
    first = Say('It is dark. I raise the mast. Then I look', (late,), piece=3)
    with World(first, Say('Up. Bright.'), streaming=True) as world:
        thread = threading.Thread(target=world.turn, daemon=True)
        thread.start()
        try:
            wait_until(lambda: len(world.events) >= 2, 'two sentences')
            assert [(e.kind.value, e.message) for e in world.events] == [
                ('HYPOTHESIZE', 'It is dark.'),
                ('HYPOTHESIZE', 'I raise the mast.'),
            ]
            assert world.calls == []
        finally:
            late.sent.set()
        thread.join(timeout=20)
        assert not thread.is_alive()
    kinds = ['HYPOTHESIZE', 'DECIDE', 'ACT', 'RESULT', 'OBSERVE', 'RESULT']
    assert [event.kind for event in world.events[2:]] == kinds
    assert [event.message for event in world.events[-2:]] == ['Up.', 'Up. Bright.']


@given(st.lists(text | st.sampled_from(['A. ', 'B? ', '。', '\n', ' ', '.']), max_size=12))
def test_the_sentences_are_the_text_whatever_the_pieces(pieces: list[str]) -> None:
    whole, told, unsplit = ''.join(pieces), list[str](), list[str]()
    listener = SentenceStream(told.append)
    for piece in pieces:
        listener.on_llm_new_token(piece)
    listener.finish(whole)
    assert ''.join(''.join(told).split()) == ''.join(whole.split())
    assert all(sentence.strip() == sentence != '' for sentence in told)
    SentenceStream(unsplit.append).finish(whole)
    assert ''.join(''.join(unsplit).split()) == ''.join(whole.split())


def test_text_without_an_end_is_told_by_time_and_by_length() -> None:
    told, now = list[str](), [0.0]
    listener = SentenceStream(told.append, lambda: now[0])
    now[0] = 60.0  # the first word may come late
    listener.on_llm_new_token('I drive on ')
    assert told == []
    now[0] += LONGEST_WAIT_S
    listener.on_llm_new_token('and')
    assert told == ['I drive on']
    for _ in range(2):
        listener.on_llm_new_token('光' * LONGEST_PIECE)
    listener.finish('')
    assert ''.join(told).count('光') == 2 * LONGEST_PIECE


def test_a_stopped_question_closes_its_ears() -> None:
    nodes = Nodes(finish())
    heard: list[Any] = []

    class Stopping:
        def invoke(self, _: Any, config: Any) -> Any:
            heard.extend(config['callbacks'])
            nodes.turn.cancellation.cancel('Stopped by a test')
            return finish()

    nodes.turn.agent = Stopping()
    with pytest.raises(TurnCancelled):
        nodes.think()
    heard[0].on_llm_new_token('Too late. Really')
    assert not any(event.kind is TraceKind.HYPOTHESIZE for event in nodes.events)


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
    steps = SHIPPED.agent.turn.max_steps - 3
    left = {'steps': steps, 'cost': 990.0, 'metres': 180.0, 'seconds': 3540.0}
    assert seen['budget'] == left


def test_what_cannot_be_measured_is_unknown_and_unsafe() -> None:
    nodes = Nodes([action('move_forward', {'duration_s': 1})])
    nodes.rover.faults['get_status'] = lambda: ServiceFailed('gone')
    seen = nodes.run(build_observation).react.observation
    assert {seen[name] for name in ('x', 'y', 'yaw_rad', 'moving')} == {None}
    assert seen['mast'] == 'unknown'
    nodes.think()
    nodes.act()
    assert nodes.acts == []


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
        tasks=TasksState(), robot=RobotState(safety_latch=latch), world=WorldState(zones=zones)
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


PATIENCE = SHIPPED.guardrails.patience
MAPPED = {'SAFETY_VIOLATION: x': 'ABORT', 'PARAM_INVALID: y': 'ASK_HUMAN', 'NAV_BLOCKED': ''}
OVER = (DecisionType.FINISH, DecisionType.ABORT, DecisionType.SWITCH_TASK)


def state_of(
    *, decision: Decision | None = None, failure: str = '', beside: bool = False, **react: Any
) -> BrainState:
    """After a call of get_status that failed for that reason, or did not fail."""
    messages = [call_entry(action('get_status'), '', set())]
    call_id = str(messages[0]['call_id'])
    result = ToolResult.failure(failure) if failure else ToolResult.success()
    messages = with_result(messages, call_id, result, op=call_text('get_status', {}))
    if beside:  # a declined call of the same answer
        messages.append(call_entry(action('no such skill'), '', {call_id}))
        declined = str(messages[-1]['call_id'])
        messages = with_result(messages, declined, ToolResult.failure('One at a time'))
    status = SkillStatus.FAILED if failure else SkillStatus.SUCCESS
    return BrainState(
        messages=messages,
        skills=SkillsState(last_result=SkillResult(status=status, error_msg=failure)),
        react=ReactState(decision=decision or Decision(), **react),
    )


counts = st.integers(0, 10)


ends = st.fixed_dictionaries(
    {
        'failures_in_a_row': counts,
        'same_in_a_row': counts,
        'refused_in_a_row': st.integers(0, 4),
        'spent': st.builds(Spent, steps=st.integers(0, 7)),
        'iter': st.integers(0, MAX_LOOPS_PER_STEP * 6 + 3),
    }
)
decisions = st.builds(
    Decision, type=st.sampled_from(DecisionType), reason=st.sampled_from(['', ' ', 'because'])
)


@settings(max_examples=examples(500))
@given(
    decision=decisions,
    exhausted=st.sampled_from(['ABORT', 'ASK_HUMAN']),
    failure=st.sampled_from(['', 'boom', *MAPPED]),
    beside=st.booleans(),
    react=ends,
)
def test_a_turn_ends_when_it_must_and_only_then(
    decision: Decision, exhausted: str, failure: str, beside: bool, react: Any
) -> None:
    most, kind = 5, decision.type
    config = with_rules(steps=most, patience={'exhausted': DecisionType(exhausted)})
    nodes = Nodes(finish(), config=config)
    failures = react['failures_in_a_row'] if failure else 0
    same, refused = react['same_in_a_row'], react['refused_in_a_row']
    steps, loops = react['spent'].steps, react['iter']
    nodes.state = state_of(
        decision=decision,
        failure=failure,
        beside=beside,
        **{**react, 'failures_in_a_row': failures},
    )
    react = nodes.run(stop_or_loop).react
    mapped = MAPPED.get(failure, '')
    if kind in OVER:
        end = kind.value
    elif (
        mapped == 'ABORT'
        or (steps >= most and refused > 0)
        or steps > most
        or loops > MAX_LOOPS_PER_STEP * (most + 1)
        or refused >= PATIENCE.refused_in_a_row
    ):
        end = 'ABORT'
    elif mapped == 'ASK_HUMAN':
        end = ASK_TO_CONTINUE
    elif failures >= PATIENCE.failures_in_a_row or same + 1 >= PATIENCE.no_progress:
        end = ASK_TO_CONTINUE if exhausted == 'ASK_HUMAN' else 'ABORT'
    else:
        end = ''
    assert react.stop_reason == end
    assert react.ok is (end in ('FINISH', 'SWITCH_TASK'))
    assert bool(react.answer.strip()) is bool(end)
    assert (react.question is not None) is (end == ASK_TO_CONTINUE)


@settings(max_examples=examples(50))
@given(yes=st.booleans(), failures=st.integers(8, 20), same=st.integers(0, 20))
def test_a_yes_goes_on_with_new_patience_and_a_no_ends(
    yes: bool, failures: int, same: int
) -> None:
    config = with_rules(patience={'exhausted': DecisionType.ASK_HUMAN})
    nodes = Nodes(finish(), config=config)
    nodes.state = state_of(failure='boom', failures_in_a_row=failures, same_in_a_row=same)
    question = nodes.run(stop_or_loop).react.question
    assert question is not None
    assert question.text == f'{failures} failures in a row; the last: boom. Go on?'
    with pytest.MonkeyPatch.context() as patch:
        nodes.answer(patch, 'APPROVE' if yes else 'REJECT')
    react = nodes.act().react
    assert react.question is None
    assert react.ok is False
    if yes:
        assert react.stop_reason == ''
        assert (react.failures_in_a_row, react.same_in_a_row, react.refused_in_a_row) == (0, 0, 0)
    else:
        assert react.stop_reason == 'ABORT'
        assert react.answer == f'{failures} failures in a row; the last: boom'
