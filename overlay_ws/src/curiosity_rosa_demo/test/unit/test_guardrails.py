# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""What the guardrails refuse, in every situation and configuration, what the node tells, and each
guardrail and what a person answers reached in a real turn of the agent (property 8).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
import re
from typing import Any

from chat_server import call, Say
from curiosity_rosa_demo.agent.react.act import observe_interrupted
from curiosity_rosa_demo.agent.react.answer import REJECTED_TEXT
from curiosity_rosa_demo.agent.react.fence import geofence_reason, metres_ahead, motion_seconds
from curiosity_rosa_demo.agent.react.guardrails import (
    drive_refusal,
    first_refusal,
    RULES,
    TURN_RULES,
    what_to_ask,
)
from curiosity_rosa_demo.agent.react.situation import (
    Limits,
    MAST_SKILLS,
    NAVIGATE_SKILL,
    Proposal,
    Situation,
    situation_of_facts,
)
from curiosity_rosa_demo.domain.brain_state import Spent
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.plan import RiskLevel
from curiosity_rosa_demo.domain.plan_reader import create_plan_from_llm_response
from curiosity_rosa_demo.domain.refusal import Refusal, RefusalCode
from curiosity_rosa_demo.infra.config.limits import Guardrails
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.ros_io import ServiceFailed
from examples import examples
from guardrails_world import (
    all_limits,
    anything,
    Case,
    cases,
    changed,
    DRIVES,
    exposed,
    FREE,
    free_cases,
    MAST,
    odd,
    OTHERS,
    proposals,
    propose,
    READY,
    resources,
    running,
    SHIPPED,
    situations,
    skill_facts,
    STOPS,
    with_approval,
    with_fence,
)
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from runtime_world import AgentWorld
from skill_world import Actor, skill_named
from strategies import json_values
from turn_world import action, asking, finish, KEY, Nodes, with_rules, World
from turn_world import SHIPPED as CONFIG

some = settings(max_examples=examples(100), deadline=None)
DOCS = Path(__file__).parents[5] / 'docs' / 'reference' / 'guardrails.md'
MOVING = (*DRIVES, *MAST)


def rule_of(proposal: Proposal, situation: Situation, limits: Limits = SHIPPED) -> str:
    """Name of the rule that refuses; nothing when none does."""
    refused = first_refusal(RULES, proposal, situation, limits)
    return refused.rule if refused else ''


def ready(**changes: Any) -> Situation:
    situation: Situation = changed(READY, **changes)
    return situation


# --- for all situations and configurations ---------------------------------------------------


@some
@given(proposals(*DRIVES), exposed, all_limits)
def test_no_motion_passes_with_a_mast_that_is_not_known_closed(
    proposal: Proposal, situation: Situation, limits: Limits
) -> None:
    assert first_refusal(RULES, proposal, situation, limits) is not None


@some
@given(free_cases(*MOVING, *OTHERS), resources.filter(bool), resources)
def test_a_proposal_whose_resources_are_in_use_is_refused(
    case: Case, held: frozenset[str], others: frozenset[str]
) -> None:
    """And a free resource is no conflict."""
    proposal, situation, limits = case
    wanted = changed(proposal, skill_resources=others | {min(held)})
    busy = changed(situation, running=(*situation.running, running(*held)))
    assert first_refusal(RULES, wanted, busy, limits) is not None
    free = changed(propose('speak'), skill_resources=others - {'base'})
    assert rule_of(free, ready(running=(running(*held - others), running()))) == ''
    if held & others - {'base'}:
        assert rule_of(free, ready(running=(running(*held),))) == 'resource_conflict'


@some
@given(st.tuples(anything, situations(), all_limits))
def test_every_reason_is_one_line_that_a_tool_result_can_carry(case: Case) -> None:
    refused = first_refusal(RULES, *case)
    if refused is not None:
        assert all((refused.rule, refused.asked, refused.allowed, refused.way_out))
        assert refused.code.value in RefusalCode.__members__
    for reason in [refused.reason] if refused else what_to_ask(*case).reasons:
        assert ToolResult.failure(reason).error_reason == reason
        assert reason == reason.strip()
        assert reason.splitlines() == [reason]
        assert len(reason) <= 250


@some
@given(
    st.lists(st.tuples(anything, st.floats(0.0, 1.0)), max_size=8), all_limits, situations(**FREE)
)
def test_a_turn_never_exceeds_its_budget(
    turn: list[tuple[Proposal, float]], limits: Limits, situation: Situation
) -> None:
    """However little of the time and way that it may take each motion really takes."""
    limits = changed(limits, geofence=with_fence(limits, enabled=False).geofence)
    steps, cost, metres, seconds = 0, 0.0, 0.0, 0.0
    for proposal, part in turn:
        proposal = changed(proposal, cost=part * proposal.cost)
        used = Spent(steps=steps, cost=cost, metres=metres, seconds=seconds)
        now = changed(situation, spent=used)
        if proposal.is_stop or first_refusal(RULES, proposal, now, limits) is not None:
            continue
        steps, cost = steps + 1, cost + proposal.cost
        if limits.may_move_base(proposal):
            ahead = metres_ahead(proposal, now, limits)
            assert ahead is not None
            metres += part * ahead
        if limits.may_move_base(proposal) and proposal.skill != 'navigate_to_pose':
            seconds += part * motion_seconds(proposal, limits)
        assert steps <= limits.max_steps
        assert cost <= limits.budget.max_cost
        assert metres <= limits.budget.max_metres
        assert seconds <= limits.budget.max_seconds


@some
@given(cases(*MOVING))
def test_nothing_moves_under_a_latch_in_safe_mode_or_in_an_unknown_one(case: Case) -> None:
    proposal, situation, _ = case
    if situation.safety_latch or situation.mode not in ('EXEC', 'IDLE', 'CHARGE'):
        assert rule_of(*case) == 'safety'
    elif situation.mode == 'CHARGE' and proposal.skill != 'mast_close':
        assert rule_of(*case) == 'charging'


@some
@given(cases(*MAST, **FREE))
def test_the_mast_stays_where_it_is_while_the_rover_moves(case: Case) -> None:
    proposal, situation, _ = case
    if first_refusal(RULES, *case) is None:
        assert not situation.moving
        assert situation.moving is False or proposal.skill == 'mast_close'


@some
@given(cases(*OTHERS))
def test_what_moves_nothing_is_refused_by_no_rule_about_motion(case: Case) -> None:
    proposal, *rest = case
    proposal = changed(proposal, skill_resources=proposal.skill_resources - {'base'})
    about_motion = {'safety', 'charging', 'mast_closed', 'still_for_mast', 'metres_left'}
    assert rule_of(proposal, *rest) not in about_motion | {'geofence'}


@some
@given(cases(*DRIVES, **{**FREE, 'moving': False}))
def test_nothing_leaves_the_fence_without_a_yes(case: Case) -> None:
    if first_refusal(RULES, *case) is None and geofence_reason(*case):
        assert case[2].geofence.leaving == 'ask'
        assert what_to_ask(*case).reasons


FACTS = {
    'x': 1, 'y': -2.5, 'yaw_rad': 0.5, 'mast': 'closed', 'moving': False, 'battery_pct': 55.0,
    'battery_state': 'OK', 'mode': 'EXEC', 'safety_latch': '',
}  # fmt: skip
facts_of_any_kind = st.dictionaries(st.sampled_from(sorted(FACTS)), json_values | odd)


@some
@given(facts_of_any_kind, anything, all_limits, st.sampled_from(DRIVES), st.floats() | odd)
def test_whatever_is_known_no_rule_fails(
    facts: dict[str, Any], proposal: Proposal, limits: Limits, name: str, duration_s: Any
) -> None:
    situation = situation_of_facts(facts, spent=Spent())
    assert isinstance(first_refusal(RULES, proposal, situation, limits), Refusal | None)
    assert all(what_to_ask(proposal, situation, limits).reasons)
    why = drive_refusal(name, duration_s, facts, Spent(), limits)
    assert why or situation.mast == 'closed'


@some
@given(
    st.sampled_from(DRIVES[:3]),
    st.floats(0.01, 0.9),
    situations(running=(), refused={}) | situations(**{**FREE, 'moving': False}),
    all_limits,
)
def test_a_leg_passes_only_where_the_same_motion_would_pass_alone(
    name: str, part: float, situation: Situation, limits: Limits
) -> None:
    duration_s = part * limits.leash_s
    facts = {key: getattr(situation, key) for key in FACTS if 'battery' not in key}
    if situation.battery is not None:
        facts['battery_pct'] = 100.0 * situation.battery
    before = situation.spent.model_copy(update={'steps': 0, 'cost': 0.0})
    proposal = changed(propose(name, duration_s=duration_s), cost=0.0)
    alone = first_refusal(RULES, proposal, changed(situation, spent=before), limits)
    why = drive_refusal(name, duration_s, facts, situation.spent, limits)
    if alone is not None:
        assert why is not None
        assert why.reason == alone.reason
    else:
        assert bool(why) is bool(geofence_reason(proposal, situation, limits))


# --- each rule -------------------------------------------------------------------------------

REST = ('capture_and_score', 'get_status', 'speak', 'query_world', 'wait_until')
ALL = (*DRIVES, *MAST, *REST, *STOPS)
SPEAK = propose('speak').op.text
REFUSED: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    'ready': ({}, {}),
    'refused once': ({'refused': {SPEAK: 1}}, {}),
    'refused twice': ({'refused': {SPEAK: 2}}, {'speak': 'same_refused'}),
    'latched': ({'safety_latch': 'e-stop'}, dict.fromkeys(MOVING, 'safety')),
    'charging': ({'mode': 'CHARGE'}, dict.fromkeys((*DRIVES, *MAST[::2]), 'charging')),
    'mast open': ({'mast': 'open'}, dict.fromkeys(DRIVES, 'mast_closed')),
    'moving': ({'moving': True}, dict.fromkeys(MAST, 'still_for_mast')),
    'motion unknown': ({'moving': None}, dict.fromkeys(MAST[::2], 'still_for_mast')),
    'no pose': ({'x': None}, {**dict.fromkeys(DRIVES, 'geofence'), DRIVES[3]: 'metres_left'}),
    'time is up': (
        {'spent': Spent(seconds=3600.0)}, dict.fromkeys((*MOVING, *REST), 'seconds_left')
    ),
}  # fmt: skip


@pytest.mark.parametrize(('facts', 'refused'), REFUSED.values(), ids=REFUSED)
def test_each_rule_refuses_what_it_is_for_and_nothing_else(
    facts: dict[str, Any], refused: dict[str, str]
) -> None:
    way = {'duration_s': 20.0, 'x': 20.0, 'y': -5.0}
    each = [propose(name, **(way if name in DRIVES else {})) for name in ALL]
    rules = {one.skill: rule_of(one, ready(**facts)) for one in each}
    assert {name: rule for name, rule in rules.items() if rule} == refused
    assert not any(what_to_ask(one, ready(**facts), SHIPPED).reasons for one in each)
    wiggle = changed(propose('speak'), skill_resources=frozenset({'base'}))
    if 'move_forward' in refused:  # a foreign skill that claims the base is a motion
        assert rule_of(wiggle, ready(**facts)) in refused.values()


# --- approvals -------------------------------------------------------------------------------

NEVER_ASKED = ('move_stop', 'mast_close', 'get_status')


@pytest.mark.parametrize(
    ('rules', 'asked'),
    [
        ({'skills': ['move_forward', *NEVER_ASKED]}, {'move_forward', 'navigate_to_pose'}),
        *(
            ({'risk_levels': [level]}, {name for name in ALL if skill_facts(name)[1] is level})
            for level in RiskLevel
        ),
        ({'battery_below': 0.91}, {*DRIVES}),
        ({'battery_below': 0.9}, set()),
    ],
)
def test_what_is_asked_for_is_what_the_file_says(rules: dict[str, Any], asked: set[str]) -> None:
    limits = with_approval(**rules)
    told = {name for name in ALL if what_to_ask(propose(name), ready(battery=0.9), limits).reasons}
    assert told == asked - {*NEVER_ASKED, *STOPS}
    unknown = what_to_ask(propose('turn_left'), ready(battery=None), limits).reasons
    assert any('battery' in each for each in unknown) is ('battery_below' in rules)


# --- what is known ---------------------------------------------------------------------------

KNOWN = Situation('EXEC', 'closed', False, 1.0, -2.5, 0.5, 0.55)


@pytest.mark.parametrize('key', FACTS)
def test_what_is_missing_or_odd_is_unknown(key: str) -> None:
    """... and of a latch that cannot be read it is assumed that it is set."""
    for value in (None, [], float('nan')):
        doubted = situation_of_facts({**FACTS, key: value}, spent=Spent())
        if key == 'safety_latch':
            assert bool(doubted.safety_latch) is (value is not None)
        elif key == 'battery_state':
            assert doubted == KNOWN
        else:
            unknown = {'mast': 'unknown', 'mode': ''}.get(key)
            assert doubted == changed(
                KNOWN, **{'battery' if key == 'battery_pct' else key: unknown}
            )
    for odd_one in ({'battery_state': 'UNKNOWN'}, {'battery_pct': 100.1}):  # never measured
        facts = {**FACTS, 'battery_pct': 100.0, **odd_one}
        assert situation_of_facts(facts, spent=Spent()).battery is None


# --- the page --------------------------------------------------------------------------------


def test_the_page_has_every_rule_in_its_order() -> None:
    page = DOCS.read_text(encoding='utf-8')
    rows = re.findall(r'^\| `(\w+)` \|', page, re.MULTILINE)
    assert rows[: len(RULES)] == [rule.__name__ for rule in RULES]
    assert all(f'`{name}`' in page for name in MAST_SKILLS)


def test_the_examples_of_the_page_do_what_it_says(tmp_path: Path) -> None:
    page = DOCS.read_text(encoding='utf-8')
    by_hand, in_a_yard = re.findall(r'```yaml\n(.*?)```', page, re.DOTALL)

    def asked(text: str, situation: Situation) -> set[str]:
        (tmp_path / 'guardrails.yaml').write_text(text)
        rules = Limits.of(load_config(tmp_path))
        motions = [propose(name, duration_s=1.0, x=2.0, y=0.0) for name in (*MOVING, *REST[:2])]
        passing = [each for each in motions if not first_refusal(RULES, each, situation, rules)]
        assert {each.skill for each in motions if each not in passing} <= {NAVIGATE_SKILL}
        return {each.skill for each in passing if what_to_ask(each, situation, rules).reasons}

    assert asked(by_hand, READY) == set(DRIVES)
    assert asked(in_a_yard, ready(battery=0.5)) == set()
    assert asked(in_a_yard, ready(battery=0.4)) == set(DRIVES)
    # A way is not asked for when it might leave the yard: it is refused.
    assert asked(in_a_yard, ready(x=9.5)) == set(DRIVES) - {NAVIGATE_SKILL}


# --- the node --------------------------------------------------------------------------------


DONE = Say('Done.')
FORWARD = call('move_forward', duration_s=2.0)
MAST_UP = call('mast_open')


@dataclass(frozen=True)
class Turn:
    """``script``: what the model answers. The last call runs into the rule, which tells
    ``reason``; ``acts``: what the rover was asked to do before.
    """

    script: tuple[Any, ...]
    reason: str
    acts: tuple[str, ...] = ()
    config: Config = CONFIG
    turn: dict[str, Any] = field(default_factory=dict)


TURNS = {
    'same_refused': Turn(
        (FORWARD,) * 3, 'REFUSED_AGAIN: refused 2 times',
        config=with_rules(patience={'refused_in_a_row': 9}, budget={'max_metres': 1.0}),
    ),
    'steps_left': Turn(
        (MAST_UP, MAST_UP), 'BUDGET: the limit of 1 step', ('mast_open',), turn={'max_steps': 1}
    ),
    'cost_left': Turn((MAST_UP,), 'BUDGET: cost 2', config=with_rules(budget={'max_cost': 1.0})),
}  # fmt: skip


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)


def test_every_rule_is_tried() -> None:
    """test_doors.py tries the others, also at the model's door; test_rehearsal.py the twin."""
    assert {rule.__name__ for rule in TURN_RULES} == {*TURNS, 'resource_conflict'}
    tried = {'budget', 'geofence', 'energy', 'patience', 'approval', 'origins', 'rehearsal'}
    assert set(Guardrails.model_fields) == tried


@pytest.mark.parametrize('rule', TURNS)
def test_a_call_of_the_model_runs_into_the_rule(rule: str) -> None:
    case = TURNS[rule]
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
        world.until(lambda: world.runtime.approvals.shown_questions, 'the question of the model')
        assert world.refused_by() == ['resource_conflict'] * 2  # the loop repeats it once
        assert 'RESOURCE_CONFLICT: base held by deaf' in world.server.requests[2].texts('tool')[-1]
        world.until(lambda: len(world.state.skills.running) == 2, '/state to show both')
        turn, left = world.state.skills.running
        assert (turn.skill_name, turn.goal_id) == ('react', task.id)
        assert (left.skill_name, left.task_id) == ('deaf', task.id)
        assert left.resources_occupied == ['base']
        assert world.state.robot.resources['base_busy']
        metrics = world.state.trace.metrics
        assert int(str(metrics['ticks'])) > 0
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
        ({'failures_in_a_row': 2}, (MAST_UP,), '2 failures in a row; the last: stuck'),
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


durations = st.floats(0.1, 20.0)
WRONG: list[Any] = [
    *(None, [], 'x', {}, {'duration_s': 1.0, 'speed': 9}),
    *({'duration_s': each} for each in (None, 'far', 0.0, -1.0, 20.5, 1e9)),
]
edits = durations.map(lambda each: {'duration_s': each}) | st.sampled_from(WRONG)
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


@settings(max_examples=examples(150))
@given(
    skill=st.sampled_from(['move_forward', 'turn_left']),
    duration_s=durations,
    answer=answers,
    world=worlds,
)
def test_only_what_was_answered_is_done_and_only_if_the_rules_still_let_it(
    skill: str, duration_s: float, answer: dict[str, Any], world: tuple[str, str, bool | None]
) -> None:
    proposed = {'duration_s': duration_s}
    nodes = Nodes([action(skill, proposed), action('mast_close')], config=asking())
    question = nodes.think().question
    assert question is not None
    assert question.op is not None
    assert (question.op.skill, question.op.arguments) == (skill, proposed)
    assert nodes.acts == []

    mode, latch, nodes.rover.mast_is_open = world
    nodes.now(mode=mode, latch=latch)
    nodes.rover.calls.clear()
    nodes.answer(**answer)
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


def test_a_step_that_was_interrupted_goes_on_as_the_operator_has_edited_it() -> None:
    place, edited = {'x': 12.0, 'y': 0.0}, {'x': 3.0, 'y': 0.0, 'yaw_rad': None}
    go: dict[str, Any] = {'action': 'navigate_to_pose', 'parameters': place}
    look: dict[str, Any] = {'action': 'capture_and_score', 'fallback': 'navigate_to_pose'}
    look |= {'metadata': {'fallback_parameters': place}, 'requires_confirmation': True}
    for step in (go, look):
        nodes = Nodes(finish(), config=CONFIG)
        written = {'goal': 'Drive', 'risk_level': 'high', 'steps': [step]}
        nodes.turn.plan = create_plan_from_llm_response(written)
        nodes.think()
        if step is look:  # the mast is down
            nodes.answer('APPROVE')
            nodes.act()
            nodes.think()
        nodes.answer('EDIT', arguments=edited)
        nodes.run(observe_interrupted)
        op = nodes.think().op
        assert op is not None
        assert (op.skill, op.arguments) == ('navigate_to_pose', edited)


def test_the_preconditions_of_a_step_hold_at_the_answer_too() -> None:
    for before_m, does in ((0.0, True), (9.0, False)):
        nodes = Nodes(finish(), config=CONFIG)
        step: dict[str, Any] = {'action': 'move_forward', 'parameters': {'duration_s': 1.0}}
        step |= {'preconditions': {'x_below': 5.0}, 'requires_confirmation': True}
        nodes.turn.plan = create_plan_from_llm_response({'goal': 'Drive', 'steps': [step]})
        nodes.think()
        nodes.rover.place(before_m)
        nodes.answer('APPROVE')
        plan = nodes.act().plan
        assert plan is not None
        assert (bool(nodes.acts), plan.is_success()) == (does, does)
        assert does or 'precondition: x is 9.0' in nodes.told()[0].error_reason


def test_the_words_of_a_plan_are_not_taken_for_the_fence() -> None:
    """A yes to them says nothing of the fence that the rover has come near since."""
    nodes = Nodes(finish(), config=with_rules(geofence={'leaving': 'ask'}))
    steps = [{'action': 'move_forward', 'parameters': {'duration_s': 9.0}}]
    words = {'requires_confirmation': True, 'confirmation_message': 'GEOFENCE: all well inside.'}
    plan = create_plan_from_llm_response({'goal': 'Drive', 'steps': steps, **words})
    nodes.turn.plan = plan
    question = nodes.think().question
    assert question is not None
    assert question.reasons[0].startswith('GEOFENCE: all well inside.')
    nodes.rover.place(95.0)
    again = nodes.answer('APPROVE').question
    assert again is not None, 'the fence was not asked for'
    assert again.reasons[0].startswith('GEOFENCE: may lead to ')
    assert nodes.acts == []
