# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What an answer of a person does, and what it does not (property 8)."""

from __future__ import annotations

import threading
from typing import Any

from chat_server import Call, Say
from curiosity_rosa_demo.agent.react.nodes.human_approval import REJECTED_TEXT
from curiosity_rosa_demo.agent.react.turn.approval_queue import ApprovalAnswer, ApprovalQueue
from curiosity_rosa_demo.agent.react.turn.messages import with_react_fields
from curiosity_rosa_demo.domain.brain_state import ApprovalAction
from curiosity_rosa_demo.domain.plan.plan import create_plan_from_llm_response
from examples import examples
from harness import wait_until
from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st
import pytest
from react_world import action, asking, finish, Nodes, with_rules
from turn_world import KEY, World

MOTIONS = ('move_forward', 'turn_left', 'turn_right')
MAST = ('mast_open', 'mast_close')
ASKING = asking()

seconds = st.floats(0.1, 20.0)
words = st.text(st.characters(exclude_categories=['Cs', 'Cc']), min_size=1, max_size=8)
ops = st.one_of(
    st.tuples(st.sampled_from(MOTIONS), st.fixed_dictionaries({'duration_s': seconds})),
    st.tuples(st.sampled_from(['mast_open', 'capture_and_score', 'query_world']), st.just({})),
    st.tuples(st.just('speak'), st.fixed_dictionaries({'text': words})),
)
edits = st.one_of(
    st.fixed_dictionaries({'duration_s': seconds}),
    st.fixed_dictionaries(
        {'duration_s': st.sampled_from([0.0, -1.0, 20.5, 1e9, '3', 'far', None])}
    ),
    st.fixed_dictionaries({'text': words}),
    st.just({}),
    st.just({'duration_s': 1.0, 'speed': 9}),
    st.sampled_from([None, [], 'x', 3]),
)
answers = st.one_of(
    st.just({'action': 'APPROVE'}),
    st.builds(lambda why: {'action': 'REJECT', 'why': why}, words | st.just('')),
    edits.map(lambda arguments: {'action': 'EDIT', 'arguments': arguments}),
)
worlds = st.fixed_dictionaries(
    {
        'mast': st.sampled_from([False, False, True, None]),
        'mode': st.sampled_from(['IDLE', 'EXEC', 'SAFE', 'CHARGE']),
        'latch': st.sampled_from(['', '', 'e-stop']),
        'moves': st.sampled_from([False, False, False, True]),
    }
)


def as_taken(skill: str, arguments: Any) -> dict[str, Any] | None:
    """The arguments as the skill takes them, by hand; None when it does not."""
    if not isinstance(arguments, dict):
        return None
    if skill in MOTIONS:
        if set(arguments) != {'duration_s'}:
            return None
        try:
            duration_s = float(arguments['duration_s'])
        except (TypeError, ValueError):
            return None
        return {'duration_s': duration_s} if 0.0 < duration_s <= 20.0 else None
    if skill == 'speak':
        return arguments if set(arguments) == {'text'} and arguments['text'].strip() else None
    if arguments:
        return None
    return {'query': ''} if skill == 'query_world' else {}


def may_be_done(skill: str, world: dict[str, Any]) -> bool:
    """The rules that these worlds can break, by hand."""
    if skill not in (*MOTIONS, *MAST):
        return True
    if world['latch'] or world['mode'] == 'SAFE':
        return False
    if world['mode'] == 'CHARGE' and skill != 'mast_close':
        return False
    if skill in MOTIONS:
        return world['mast'] is False
    return not world['moves']


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(op=ops, answer=answers, world=worlds)
def test_only_what_was_answered_is_done_and_only_if_the_rules_still_let_it(
    monkeypatch: pytest.MonkeyPatch,
    op: tuple[str, dict[str, Any]],
    answer: dict[str, Any],
    world: dict[str, Any],
) -> None:
    skill, arguments = op
    nodes = Nodes([action(skill, arguments), action('mast_close')], config=ASKING)
    nodes.rover.mast_is_open = skill == 'capture_and_score'
    proposed = as_taken(skill, arguments)
    if proposed is None:  # a text that is only spaces
        return
    state = nodes.think()
    question = state.react.question
    assert question is not None
    assert question.op is not None
    assert (question.op.skill, question.op.arguments) == (skill, proposed)
    assert nodes.acts == []

    nodes.now(mode=world['mode'], latch=world['latch'])
    nodes.rover.mast_is_open = world['mast']
    nodes.rover.motion = 'move_forward' if world['moves'] and world['mast'] is False else ''
    world['moves'] = bool(nodes.rover.motion)
    nodes.rover.calls.clear()
    nodes.answer(monkeypatch, **answer)
    asked_for = as_taken(skill, answer['arguments']) if answer['action'] == 'EDIT' else proposed
    is_yes = answer['action'] != 'REJECT' and asked_for is not None
    does = is_yes and may_be_done(skill, world)
    nodes.act()

    assert nodes.acts == ([(skill, asked_for)] if does else [])
    services = [call for call in nodes.rover.calls if call not in ('get_status', 'move_stop')]
    asks_the_rover = skill not in ('speak', 'query_world')
    if skill == 'capture_and_score' and world['mast'] is False:
        asks_the_rover = False  # the tool knows without it
    expected = [skill] if does and asks_the_rover else []
    assert services == expected
    result, declined = nodes.told()
    assert not declined.ok
    name, told_arguments = nodes.calls()[0]
    assert name == skill
    if answer['action'] == 'EDIT':
        said = str(result.data.get('note', '')) + result.error_reason
        assert 'operator changed' in said
        if asked_for is not None:
            assert told_arguments == asked_for
    else:
        assert told_arguments == arguments
        assert 'note' not in result.data
    if not does:
        assert not result.ok
        assert nodes.state.react.refused_in_a_row == 1
    if answer['action'] == 'REJECT':
        assert result.error_reason.startswith(REJECTED_TEXT)
        assert answer['why'] in result.error_reason


def test_what_was_rejected_twice_is_not_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = Nodes([action('move_forward', {'duration_s': 3.0})], config=ASKING)
    for _ in range(ASKING.guardrails.patience.same_refused):
        assert nodes.think().react.question is not None
        nodes.answer(monkeypatch, 'REJECT')
        nodes.act()
    assert nodes.think().react.question is None
    assert 'REFUSED_AGAIN' in nodes.act().messages[-1]['result']  # type: ignore[operator]
    assert nodes.acts == []


@pytest.mark.parametrize(
    ('rules', 'reason'),
    [
        ({'approval': {'skills': ['turn_left']}}, 'turn_left is in approval.skills'),
        ({'approval': {'battery_below': 0.5}}, 'the battery is unknown, the limit 50%'),
        ({'geofence': {'leaving': 'ask', 'x_max': 5.0}}, 'GEOFENCE: may lead to x '),
    ],
)
def test_the_reasons_stand_in_the_question(rules: dict[str, Any], reason: str) -> None:
    nodes = Nodes([action('turn_left', {'duration_s': 9})], config=with_rules(**rules))
    question = nodes.think().react.question
    assert question is not None
    assert question.text == 'turn_left(duration_s=9.0)'
    assert any(each.startswith(reason) for each in question.reasons)
    assert nodes.events[-1].message.startswith('Asking: turn_left(duration_s=9.0) (')


def test_an_edit_that_may_leave_the_fence_is_asked_for_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rules = with_rules(approval={'skills': ['move_forward']}, geofence={'leaving': 'ask'})
    nodes = Nodes([action('move_forward', {'duration_s': 1.0})], config=rules)
    nodes.rover.place(85.0)
    nodes.think()
    again = nodes.answer(monkeypatch, 'EDIT', arguments={'duration_s': 20.0}).react.question
    assert again is not None
    assert any('GEOFENCE' in reason for reason in again.reasons)
    assert nodes.acts == []
    assert nodes.answer(monkeypatch, 'APPROVE').react.question is None
    nodes.act()
    assert nodes.acts == [('move_forward', {'duration_s': 20.0})]


def test_the_words_of_a_plan_are_not_taken_for_the_fence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A yes to them says nothing of the fence that the rover has come near since."""
    nodes = Nodes(finish(), config=with_rules(geofence={'leaving': 'ask'}))
    steps = [{'action': 'move_forward', 'parameters': {'duration_s': 9.0}}]
    words = {'requires_confirmation': True, 'confirmation_message': 'GEOFENCE: all well inside.'}
    plan = create_plan_from_llm_response({'goal': 'Drive', 'steps': steps, **words})
    nodes.state = with_react_fields(nodes.state, plan=plan.to_dict())
    question = nodes.think().react.question
    assert question is not None
    assert question.reasons[0].startswith('GEOFENCE: all well inside.')
    nodes.rover.place(95.0)
    again = nodes.answer(monkeypatch, 'APPROVE').react.question
    assert again is not None, 'the fence was not asked for'
    assert again.reasons[0].startswith('GEOFENCE: may lead to ')
    assert nodes.acts == []


# --- through the whole graph, with an operator who answers -------------------------------------


def a_turn_with_answers(
    monkeypatch: pytest.MonkeyPatch, *answers: ApprovalAnswer, timeout_s: float = 20.0
) -> World:
    """move_forward for 9 s, then the end; a person gives these answers."""
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    approval_queue = ApprovalQueue(timeout_s=timeout_s)
    drive = Say('', (Call('move_forward', {'duration_s': 9}),))
    world = World(drive, Say('Done.'), approval_queue=approval_queue, config=ASKING)
    with world:
        thread = threading.Thread(target=world.turn, daemon=True)
        thread.start()
        for answer in answers:
            wait_until(lambda: approval_queue.oldest_question, 'the question')
            assert world.rover.starts == []
            approval_queue.answer(answer)
        thread.join(timeout=20)
        assert not thread.is_alive()
    return world


def test_the_model_reads_the_edited_call_and_the_note(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_turn_with_answers(
        monkeypatch, ApprovalAnswer(ApprovalAction.EDIT, {'duration_s': 2.0})
    )
    (call,) = world.requests[-1].messages('assistant')[-1]['tool_calls']
    assert call['function']['arguments'] == '{"duration_s": 2.0}'
    (result,) = world.requests[-1].texts('tool')
    assert 'The operator changed move_forward(duration_s=9.0) to move_forward(duration_s=2.0)' in (
        result
    )
    acts = [event.message for event in world.events if event.kind == 'ACT']
    assert acts == ['move_forward(duration_s=2.0)']


def test_a_yes_drives_as_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_turn_with_answers(monkeypatch, ApprovalAnswer(ApprovalAction.APPROVE))
    assert world.rover.starts == ['move_forward']
    assert [e.message for e in world.events if e.kind == 'ACT'] == ['move_forward(duration_s=9.0)']


def test_a_no_is_told_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_turn_with_answers(monkeypatch, ApprovalAnswer(ApprovalAction.REJECT, why='a stone'))
    assert world.rover.starts == []
    assert 'Rejected by the operator: a stone' in world.requests[-1].texts('tool')[0]


def test_no_answer_in_time_is_a_no(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_turn_with_answers(monkeypatch, timeout_s=0.1)
    assert world.rover.starts == []
    assert (
        'Rejected by the operator: no answer within 0.1 s' in world.requests[-1].texts('tool')[0]
    )


def test_the_wait_for_a_person_is_not_the_turns_time(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_turn_with_answers(monkeypatch, timeout_s=2.0)
    waiting = next(i for i, react in enumerate(world.reacts) if react.question is not None)
    before, after = (react.spent.seconds for react in world.reacts[waiting : waiting + 2])
    assert after - before < 1.0
