# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Each guardrail, and what a person answers, reached in a real turn of the agent (property 8)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_world import AgentWorld
from chat_server import call, Say
from curiosity_rosa_demo.agent.react.guardrails.rules import TURN_RULES
from curiosity_rosa_demo.agent.react.nodes.human_approval import REJECTED_TEXT
from curiosity_rosa_demo.agent.react.turn.messages import with_react_fields
from curiosity_rosa_demo.domain.plan.plan import create_plan_from_llm_response
from curiosity_rosa_demo.infra.config.guardrails import Guardrails
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from examples import examples
from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st
import pytest
from react_world import action, asking, finish, Nodes, with_rules
from skill_calls import Actor, skill_named
from turn_world import KEY, SHIPPED, World

DONE = Say('Done.')
FORWARD = call('move_forward', duration_s=2.0)
OPEN = call('mast_open')


@dataclass(frozen=True)
class Case:
    """``script``: what the model answers. The last call runs into the rule, which tells
    ``reason``; ``acts``: what the rover was asked to do before.
    """

    script: tuple[Any, ...]
    reason: str
    acts: tuple[str, ...] = ()
    config: Config = SHIPPED
    turn: dict[str, Any] = field(default_factory=dict)


CASES = {
    'same_refused': Case(
        (FORWARD,) * 3, 'REFUSED_AGAIN: refused 2 times',
        config=with_rules(patience={'refused_in_a_row': 9}, budget={'max_metres': 1.0}),
    ),
    'steps_left': Case(
        (OPEN, OPEN), 'BUDGET: the limit of 1 step', ('mast_open',), turn={'max_steps': 1}
    ),
    'cost_left': Case((OPEN,), 'BUDGET: cost 2', config=with_rules(budget={'max_cost': 1.0})),
}  # fmt: skip


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)


def test_every_rule_is_tried() -> None:
    """test_doors.py tries the others, also at the model's door; test_rehearsal.py the twin."""
    assert {rule.__name__ for rule in TURN_RULES} == {*CASES, 'resource_conflict'}
    tried = {'budget', 'geofence', 'energy', 'patience', 'approval', 'origins', 'rehearsal'}
    assert set(Guardrails.model_fields) == tried


@pytest.mark.parametrize('rule', CASES)
def test_a_call_of_the_model_runs_into_the_rule(rule: str) -> None:
    case = CASES[rule]
    with World(*case.script, DONE, config=case.config, turn=case.turn) as world:
        world.turn()
        refused = [event for event in world.events if (event.data or {}).get('rule') == rule]
        assert refused, world.errors()
        assert all(str(event.error_reason).startswith(case.reason) for event in refused)
        assert world.calls == list(case.acts)
        assert world.rover.starts == []


def test_what_a_skill_holds_that_did_not_react_to_its_stop_is_refused(tmp_path: Path) -> None:
    """The rule resource_conflict, and what /state shows of it."""
    actor = Actor(obedient=False)
    deaf = skill_named('deaf', actor, timeout_s=0.05, resources_required=['base'])
    script = (call('deaf'), FORWARD, call('decide', type='ASK_HUMAN', reason='Now?'))
    with AgentWorld(tmp_path, *script, DONE, skills=(deaf,)) as world:
        assert set(world.state.skills.registry) >= {'deaf', 'move_forward', 'react'}
        task = world.submit('react', text='Be deaf, then drive.')
        world.until(lambda: world.runtime.shown_questions, 'the question of the model')
        assert world.refused_by() == ['resource_conflict'] * 2  # the loop repeats it once
        assert 'RESOURCE_CONFLICT: base held by deaf' in world.server.requests[2].texts('tool')[-1]
        world.until(lambda: len(world.state.skills.running) == 2, '/state to show both')
        turn, left = world.state.skills.running
        assert (turn.skill_name, turn.goal_id) == ('react', task.id)
        assert (left.skill_name, left.task_id) == ('deaf', task.id)
        assert left.resources_occupied == ['base']
        assert world.state.robot.resources['base_busy']
        metrics = world.state.trace.metrics
        assert int(str(metrics['ticks'])) >= int(str(metrics['graph_runs'])) > 0
        actor.finish()
        world.until(
            lambda: [run.skill_name for run in world.state.skills.running] == ['react'],
            'its resources to be free',
        )
        assert world.rover.starts == []


# --- patience: how often a rule may refuse, a skill fail, nothing change -------------------------


@pytest.mark.parametrize(
    ('rules', 'script', 'answer'),
    [
        ({'refused_in_a_row': 2}, (call('fly'),), 'The model proposed 2 calls in a row'),
        ({'failures_in_a_row': 2}, (OPEN,), '2 failures in a row; the last: stuck'),
        ({'no_progress': 2}, (call('get_status'),), 'get_status() had the same result 2 times'),
    ],
)
def test_patience_ends_a_turn(rules: dict[str, int], script: tuple[Any, ...], answer: str) -> None:
    with World(*script, config=with_rules(patience=rules), fallback='none') as world:
        world.rover.faults['get_status'] = lambda: None
        world.rover.faults['mast_open'] = lambda: ServiceFailed('stuck')
        last = world.turn()
        assert not last.ok
        assert last.answer.startswith(answer)


# --- approval: test_doors.py asks for a listed skill and for a fence -----------------------------


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
