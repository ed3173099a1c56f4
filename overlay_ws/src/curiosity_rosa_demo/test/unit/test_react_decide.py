# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""react_decide, compile_ops and the streamed text: whatever a model returns is one of seven."""

from __future__ import annotations

from dataclasses import dataclass, field
import json
import threading
from typing import Any

from chat_server import Call, Say
from curiosity_rosa_demo.agent.react.nodes.react_decide import NO_ANSWER_TEXT
from curiosity_rosa_demo.agent.react.nodes.streaming import (
    LONGEST_PIECE,
    LONGEST_WAIT_S,
    SentenceStream,
)
from curiosity_rosa_demo.domain.brain_state import DecisionType
from curiosity_rosa_demo.domain.cancellation import TurnCancelled
from curiosity_rosa_demo.domain.models import TraceKind
from examples import examples
from harness import wait_until
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage
import pytest
from react_world import action, finish, Nodes, REGISTRY
from turn_world import KEY, World

NAMES = [skill.definition.name for skill in REGISTRY.for_model()]
SKILLS = {skill.definition.name: skill for skill in REGISTRY.for_model()}

# --- whatever a model returns ---------------------------------------------------------------

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
steps = st.fixed_dictionaries(
    {},
    optional={
        'step_id': st.integers(-1, 3) | values,
        'action': st.sampled_from([*NAMES[:6], 'fly']) | values,
        'parameters': st.fixed_dictionaries({}, optional={'duration_s': st.floats(0, 30)})
        | values,
        'preconditions': values,
        'fallback': st.sampled_from([*NAMES[:3], 'fly']) | values,
        'tool_call_type': st.sampled_from(['execute', 'ask_user', 'speak', 'noop']) | values,
        'requires_confirmation': st.booleans() | values,
        'status': st.sampled_from(['success', 'pending']) | values,
    },
)
plans = st.fixed_dictionaries(
    {},
    optional={
        'goal': text | values,
        'risk_level': st.sampled_from(['low', 'high']) | values,
        'steps': st.lists(steps, max_size=3) | values,
        'metadata': values,
        'status': st.sampled_from(['completed', 'created']) | values,
    },
)
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
    [
        OutputParserException('torn'),
        ValueError('bad'),
        RecursionError('deep'),
        TimeoutError(),
        ConnectionError('gone'),
        RuntimeError(''),
    ]
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


def test_a_stop_is_no_decision() -> None:
    nodes = Nodes(finish())
    nodes.turn.cancellation.cancel('Stopped by a test')
    with pytest.raises(TurnCancelled, match='Stopped by a test'):
        nodes.think()
    assert nodes.agent.asked == []


@pytest.mark.parametrize('nothing', [[], finish(''), finish(' \n'), finish(None), finish({})])
def test_an_answer_without_words_ends_the_turn(nothing: Any) -> None:
    decision = Nodes(nothing).think().react.decision
    assert decision is not None
    assert (decision.type, decision.reason) == (DecisionType.ABORT, NO_ANSWER_TEXT)


# --- decide ---------------------------------------------------------------------------------


def decided(type_: str, **more: Any) -> list[AgentAction]:
    return [action('decide', {'type': type_, **more})]


@pytest.mark.parametrize('kind', [DecisionType.FINISH, DecisionType.ABORT])
def test_a_model_may_end_the_turn_by_a_decision(kind: DecisionType) -> None:
    nodes = Nodes(decided(kind.value, reason='Enough seen.'))
    nodes.think()
    react = nodes.act().react
    assert (react.stop_reason, react.answer) == (kind.value, 'Enough seen.')
    assert react.ok is (kind is DecisionType.FINISH)
    assert [result.data for result in nodes.told()] == [{'decision': kind.value}]


@pytest.mark.parametrize('kind', ['CONTINUE', 'RETRY', 'REPLAN'])
def test_a_decision_that_asks_nothing_of_the_robot_goes_on(kind: str) -> None:
    nodes = Nodes(decided(kind, reason='Hm.'))
    nodes.think()
    assert nodes.act().react.stop_reason == ''
    assert nodes.acts == []
    assert nodes.told()[0].ok


def test_another_goal_is_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    switch = Call('decide', {'type': 'SWITCH_TASK', 'reason': 'Charge first'})
    with World(Say('', (switch,))) as world:
        last = world.turn()
    assert (last.ok, last.goal, last.answer) == (True, 'Charge first', 'Charge first')


def test_a_switch_needs_the_other_goal() -> None:
    nodes = Nodes(decided('SWITCH_TASK', reason=' '))
    nodes.think()
    assert nodes.act().react.stop_reason == ''
    assert 'SWITCH_TASK needs the other goal as reason' in nodes.told()[0].error_reason


def test_a_question_of_the_model_is_put_and_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    for said, read in (
        ('APPROVE', {'answer': 'yes'}),
        ('REJECT', {'answer': 'no', 'why': 'dark'}),
    ):
        nodes = Nodes(decided('ASK_HUMAN', reason='Is it safe?'))
        question = nodes.think().react.question
        assert question is not None
        assert (question.text, question.op, question.reasons) == ('Is it safe?', None, [])
        nodes.answer(monkeypatch, said, why='dark')
        assert nodes.act().react.stop_reason == ''
        assert [result.data for result in nodes.told()] == [read]
        assert nodes.acts == []


def test_further_calls_beside_a_decision_are_declined() -> None:
    nodes = Nodes([*decided('CONTINUE'), action('mast_open')])
    nodes.think()
    react = nodes.act().react
    assert [result.ok for result in nodes.told()] == [True, False]
    assert react.spent.steps == 0
    assert nodes.rover.calls == ['get_status']


# --- streaming ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Late(Call):
    """Its arguments are sent only when ``sent`` is set."""

    sent: threading.Event = field(default_factory=threading.Event)

    @property
    def text(self) -> str:
        assert self.sent.wait(20), 'the test did not let the arguments go'
        return super().text


def test_sentences_are_told_while_the_model_still_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
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
    assert [(e.kind.value, e.message) for e in world.events[2:]] == [
        ('HYPOTHESIZE', 'Then I look'),
        ('DECIDE', 'mast_open()'),
        ('ACT', 'mast_open()'),
        ('RESULT', 'mast_open: done'),
        ('OBSERVE', 'Up.'),
        ('RESULT', 'Up. Bright.'),
    ]


def test_text_before_a_torn_call_is_told_and_nothing_moves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    torn = Say('Off. We go.', (Call('move_forward', '{"duration_s": 1'),), finish='length')
    with World(torn, streaming=True) as world:
        assert not world.turn().ok
        assert world.kinds() == ['HYPOTHESIZE', 'ERROR'] * 2
        assert world.calls == []


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
    for word in ('I ', 'drive ', 'on '):
        listener.on_llm_new_token(word)
    assert told == []
    now[0] += LONGEST_WAIT_S
    listener.on_llm_new_token('and')
    assert told == ['I drive on']
    for _ in range(LONGEST_PIECE // 2):
        listener.on_llm_new_token(' on')
    assert len(told) == 2
    assert set(told[1].split()) == {'and', 'on'}
    listener.on_llm_new_token('光' * LONGEST_PIECE)
    listener.on_llm_new_token('光' * LONGEST_PIECE)
    listener.finish('')
    assert ''.join(told).count('光') == 2 * LONGEST_PIECE


def test_what_comes_after_a_call_was_given_up_is_not_told() -> None:
    told: list[str] = []
    listener = SentenceStream(told.append)
    listener.on_llm_new_token('One. Two')
    listener.close()
    listener.on_llm_new_token('. Three. Four')
    assert told == ['One.']


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
