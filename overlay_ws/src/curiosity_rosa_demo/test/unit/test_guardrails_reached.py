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
from runtime_world import AgentWorld
from skill_world import Actor, skill_named
from turn_world import action, asking, finish, KEY, Nodes, SHIPPED, with_rules, World

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


seconds = st.floats(0.1, 20.0)
WRONG: list[Any] = [
    *(None, [], 'x', {}, {'duration_s': 1.0, 'speed': 9}),
    *({'duration_s': each} for each in (None, 'far', 0.0, -1.0, 20.5, 1e9)),
]
edits = seconds.map(lambda each: {'duration_s': each}) | st.sampled_from(WRONG)
answers = st.one_of(
    st.just({'action': 'APPROVE'}),
    st.just({'action': 'REJECT', 'why': 'too far'}),
    edits.map(lambda arguments: {'action': 'EDIT', 'arguments': arguments}),
)
worlds = st.tuples(
    st.sampled_from(['IDLE', 'EXEC', 'SAFE', 'CHARGE']),
    st.sampled_from(['', '', 'e-stop']),
    st.sampled_from([False, False, True, None]),  # the mast is open
)


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    skill=st.sampled_from(['move_forward', 'turn_left']),
    duration_s=seconds,
    answer=answers,
    world=worlds,
)
def test_only_what_was_answered_is_done_and_only_if_the_rules_still_let_it(
    monkeypatch: pytest.MonkeyPatch,
    skill: str,
    duration_s: float,
    answer: dict[str, Any],
    world: tuple[str, str, bool | None],
) -> None:
    proposed = {'duration_s': duration_s}
    nodes = Nodes([action(skill, proposed), action('mast_close')], config=asking())
    question = nodes.think().react.question
    assert question is not None
    assert question.op is not None
    assert (question.op.skill, question.op.arguments) == (skill, proposed)
    assert nodes.acts == []

    mode, latch, nodes.rover.mast_is_open = world
    nodes.now(mode=mode, latch=latch)
    nodes.rover.calls.clear()
    nodes.answer(monkeypatch, **answer)
    nodes.act()

    asked_for = answer.get('arguments', proposed)
    valid = asked_for not in WRONG
    permits = mode in ('IDLE', 'EXEC') and not latch and nodes.rover.mast_is_open is False
    does = answer['action'] != 'REJECT' and valid and permits
    assert nodes.acts == ([(skill, asked_for)] if does else [])
    result, declined = nodes.told()
    assert not declined.ok
    told_skill, told_arguments = nodes.calls()[0]
    assert (told_skill, result.ok) == (skill, does)
    if answer['action'] == 'EDIT':
        assert 'operator changed' in str(result.data.get('note', '')) + result.error_reason
        assert not valid or told_arguments == asked_for
    else:
        assert told_arguments == proposed
        assert 'note' not in result.data
    if answer['action'] == 'REJECT':
        assert result.error_reason.startswith(REJECTED_TEXT)
        assert 'too far' in result.error_reason


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
