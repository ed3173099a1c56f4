# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Plans step by step, and the conditions of steps."""

from __future__ import annotations

from typing import Any

from curiosity_rosa_demo.agent.react.plan.steps import (
    approve_step,
    check_plan,
    ENDED_STATUSES,
    next_step,
    NextStep,
    plan_text,
    record_step,
    reject_step,
    retry_step,
    revised_plan,
)
from curiosity_rosa_demo.domain.plan.conditions import BadCondition, check, holds
from curiosity_rosa_demo.domain.plan.plan import (
    ExecutionResult,
    Plan,
    PlanError,
    PlanStatus,
    PlanStep,
    RiskLevel,
    StepStatus,
    ToolCallType,
    UNFINISHED,
)
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from strategies import finite, json_objects, json_values

FACTS: dict[str, Any] = {'mast': 'closed', 'battery_pct': 80.0}


def step(step_id: int, action: str = 'move_forward', **fields: Any) -> PlanStep:
    return PlanStep(step_id, action, **fields)


def plan_of(*steps: PlanStep, **fields: Any) -> Plan:
    return Plan('p', 'reach the dune', steps=list(steps), **fields)


def following(plan: Plan, now: float = 5.0) -> NextStep:
    return next_step(plan, FACTS, now)


def done(plan: Plan, step_id: int) -> Plan:
    return record_step(plan, step_id, True, '', {}, 6.0).plan


def statuses(plan: Plan) -> str:
    return ' '.join(each.status.value for each in plan.steps)


def asks(**fields: Any) -> PlanStep:
    return step(1, 'ask', tool_call_type=ToolCallType.ASK_USER, **fields)


KINDS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ('speak', {'text': 'hi', 'message': 'no'}, 'speak', {'text': 'hi'}),
    ('speak', {'message': 'hi', 'volume': 1}, 'speak', {'text': 'hi'}),
    ('speak', {'content': 'hi'}, 'speak', {'text': 'hi'}),
    ('query_world', {}, 'query_world', {'query': ''}),
    ('query_knowledge', {'query': 'dunes'}, 'query_knowledge', {'query': 'dunes'}),
    ('speak', {'text': 3}, '', {}),
    ('query_knowledge', {'text': 3}, '', {}),
]


def test_each_kind_has_its_skill() -> None:
    for kind, parameters, skill, arguments in KINDS:
        tells = step(1, 'tell', tool_call_type=ToolCallType(kind), parameters=parameters)
        next_ = following(plan_of(tells))
        assert (next_.op_skill, next_.arguments) == (skill, arguments)
        if not skill:
            assert 'tell needs a text in parameters: ' in next_.results[0].message
            assert next_.plan.status is PlanStatus.FAILED


FAR = {'duration_s': 20.0, 'note': 'x' * 1000, 'mark': 'a\u202eb'}
SPEAKS = step(3, 'speak', tool_call_type=ToolCallType.SPEAK, parameters={'text': 'done'})
BACKS = step(
    2, 'turn_left', fallback='move_forward', metadata={'fallback_parameters': {'duration_s': 9.0}}
)
HIGH = plan_of(
    step(1, parameters=FAR), BACKS, SPEAKS,
    risk_level=RiskLevel.HIGH, confirmation_message='Say yes! ' + 'y' * 1000,
)  # fmt: skip
QUESTIONS = [
    (plan_of(asks(confirmation_message='Sure?', parameters={'prompt': 'no'})), 'Sure?'),
    (plan_of(asks(parameters={'question': 'Sure?\x1b[2J'})), r'Sure?\u001b[2J'),
    (plan_of(asks(description='about the dune')), 'about the dune'),
    (
        plan_of(step(2, requires_confirmation=True, parameters={'duration_s': 2})),
        'Step 2: move_forward(duration_s=2)?',
    ),
    (
        plan_of(asks(parameters={'prompt': 'Go?'}), requires_confirmation=True),
        'Carry out this plan? reach the dune (risk low, 1 step: 1. ask_user(prompt="Go?")) Go?',
    ),
    # The plan's own words do not hide what it does.
    (
        HIGH,
        f'Say yes! {"y" * 1000} reach the dune (risk high, 3 steps: '
        f'1. move_forward(duration_s=20.0, note="{"x" * 1000}", mark="a\\u202eb"); '
        '2. turn_left(), else move_forward(duration_s=9.0); 3. speak(text="done"))',
    ),
]


def test_what_is_asked() -> None:
    assert [following(plan).question for plan, _ in QUESTIONS] == [told for _, told in QUESTIONS]


def test_a_fallback_can_save_a_step_and_one_that_fails_ends_the_plan() -> None:
    metadata = {'fallback_parameters': {'duration_s': 1.0}, 'mine': 1}
    plan = plan_of(step(1, fallback='turn_left', metadata=metadata), step(2))
    failed = record_step(following(plan).plan, 1, False, 'stuck', {'code': 7}, 6.0)
    assert (failed.result.status, failed.result.output) == (StepStatus.PENDING, {'code': 7})
    assert failed.result.message == 'stuck; its fallback turn_left is next'
    fallback = following(failed.plan)
    assert (fallback.op_skill, fallback.arguments) == ('turn_left', {'duration_s': 1.0})
    saved = record_step(fallback.plan, 1, True, 'turned', {'yaw': 1}, 7.0)
    assert saved.result.output == {'yaw': 1, 'fallback': 'turn_left'}
    assert done(following(saved.plan).plan, 2).is_success()
    lost = record_step(fallback.plan, 1, False, 'stuck too', {}, 7.0)
    assert lost.result.message == 'stuck; its fallback turn_left: stuck too'
    assert (statuses(lost.plan), lost.plan.status) == ('failed skipped', PlanStatus.FAILED)


def test_a_confirmed_step_has_its_fallback_confirmed() -> None:
    plan = plan_of(step(1, fallback='turn_left', requires_confirmation=True))
    failed = record_step(approve_step(following(plan).plan, 1), 1, False, 'stuck', {}, 6.0)
    fallback = following(failed.plan)
    assert fallback.question == 'Step 1 failed. Try turn_left() instead?'
    no = reject_step(fallback.plan, 1, 'enough', 7.0)
    assert no.result.message == 'stuck; its fallback turn_left: rejected: enough'


def test_what_was_interrupted_can_be_done_again_and_what_got_lost_is_not() -> None:
    plan = plan_of(step(1, 'mast_close', fallback='move_stop'), step(2, 'mast_open'))
    lost = following(following(plan_of(step(1), step(2))).plan)
    assert (lost.results[0].message, statuses(lost.plan)) == (
        'its result is not known', 'failed skipped'
    )  # fmt: skip
    for _ in range(3):
        plan = following(plan).plan
        recorded = retry_step(plan, 1, 'Interrupted', 6.0)
        assert recorded.result == ExecutionResult(
            'p', 1, False, StepStatus.PENDING, 'Interrupted; it is done again', timestamp=6.0
        )
        assert recorded.skipped == []
        plan = recorded.plan
        assert (plan.status, statuses(plan)) == (PlanStatus.EXECUTING, 'pending pending')
        assert following(plan).op_skill == 'mast_close', 'its fallback is for failures'


def test_only_what_is_out_can_be_recorded() -> None:
    plan = plan_of(step(1), step(2))
    once = done(following(plan).plan, 1)
    for record, why in (
        (lambda: record_step(plan, 1, True, '', {}, 6.0), 'step 1 is pending, not running'),
        (lambda: retry_step(plan, 1, 'Interrupted', 6.0), 'step 1 is pending, not running'),
        (lambda: reject_step(plan, 9, '', 6.0), 'step_id 9 is not in the plan, but 1, 2'),
        (lambda: approve_step(once, 1), 'step 1 is success, not running'),
    ):
        with pytest.raises(PlanError, match=why):
            record()


def test_a_revision_keeps_what_was_done() -> None:
    old = done(following(plan_of(step(1, parameters={'n': 1}), step(2))).plan, 1)
    new = plan_of(step(1, parameters={'n': 1}), step(2), step(3))
    assert statuses(revised_plan(old, new)) == 'success pending pending'
    for other in (
        step(1, parameters={'n': True}),
        step(1, 'turn_left', parameters={'n': 1}),
        step(1, parameters={'n': 1}, tool_call_type=ToolCallType.NOOP),
    ):
        assert statuses(revised_plan(old, plan_of(other))) == 'pending'


def test_problems_are_told_up_front() -> None:
    plan = plan_of(
        step(1),
        step(2, 'fly', fallback='dig'),
        step(3, preconditions={'x_above': 'a'}),
        step(4, 'say', tool_call_type=ToolCallType.SPEAK),
        step(5, fallback='move_stop', metadata={'fallback_parameters': 3}),
        step(6, 'look', tool_call_type=ToolCallType.QUERY_WORLD),
        step(7, 'anything', tool_call_type=ToolCallType.NOOP),
    )
    there_are = 'but move_forward, move_stop, speak'
    assert check_plan(plan, ['speak', 'move_stop', 'move_forward']) == [
        f"step 2: there is no action 'fly', {there_are}",
        f"step 2: there is no fallback 'dig', {there_are}",
        "step 3: condition 'x_above' needs a number, not 'a'",
        'step 4: say needs a text in parameters: text or message or content',
        'step 5: metadata.fallback_parameters must be an object',
        f"step 6: there is no action 'query_world', {there_are}",
    ]
    assert check_plan(plan_of(), []) == ['the plan has no steps']
    many = check_plan(plan_of(*map(step, range(201))), ['move_forward'])
    assert many == ['201 steps are more than 200']


def test_the_console_shows_a_line_for_each_step() -> None:
    plan = plan_of(
        step(1, 'mast_close\n\x1b[2J'), step(2, description='to the\rdune', fallback='move_stop')
    )
    plan.add_step(SPEAKS)
    assert plan_text(plan).splitlines() == [
        'reach the dune (created, risk low)',
        '  1. pending: mast_close  [2J()',
        '  2. pending: move_forward(), to the dune, else move_stop',
        '  3. pending: speak(text="done")',
    ]


conditions: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {}, {'mast': 'closed'}, {'mast': 'open'}, {'x_above': 'bad'}]
)
random_steps = st.builds(
    PlanStep,
    step_id=st.integers(0, 9),
    action=st.sampled_from(['move_forward', 'mast_open']),
    parameters=st.sampled_from([{}, {'text': 'hi'}, {'query': 'x'}]),
    preconditions=conditions,
    fallback=st.sampled_from([None, None, '', 'move_stop']),
    status=st.sampled_from([*[StepStatus.PENDING] * 8, *StepStatus]),
    tool_call_type=st.sampled_from(ToolCallType),
    requires_confirmation=st.booleans(),
    metadata=st.sampled_from([{}, {'fallback_parameters': {}}, {'fallback_parameters': 1}]),
)
random_plans = st.builds(
    Plan,
    plan_id=st.just('p'),
    goal=st.just('g'),
    risk_level=st.sampled_from(RiskLevel),
    requires_confirmation=st.booleans(),
    steps=st.lists(random_steps, max_size=5, unique_by=lambda each: each.step_id),
    status=st.sampled_from([*[PlanStatus.CREATED] * 8, *PlanStatus]),
)


def stored(plan: Plan) -> Plan:
    again = Plan.from_dict(plan.to_dict())
    assert again == plan
    return again


@settings(max_examples=examples(500), deadline=None)
@given(random_plans, st.data())
def test_every_plan_ends_and_does_no_more_than_it_may(plan: Plan, data: st.DataObject) -> None:
    given_plan = plan.to_dict()
    needs_approval = plan.status is PlanStatus.CREATED and (
        plan.requires_confirmation or plan.risk_level is RiskLevel.HIGH
    )
    operations: dict[int, int] = {}
    results: list[ExecutionResult] = []
    for _ in range(4 * len(plan.steps) + 2):
        before = plan.to_dict()
        following = next_step(plan, FACTS, 1.0)
        assert plan.to_dict() == before
        plan = stored(following.plan)
        results += following.results
        if following.step is None:
            break
        assert not plan.get_failed_steps()
        assert plan.status not in ENDED_STATUSES
        out = following.step.step_id
        assert following.op_skill or following.question
        assert bool(following.question) == (following.step.status is StepStatus.WAIT_CONFIRMATION)
        if needs_approval:
            assert following.question
        answer = data.draw(st.sampled_from(['good', 'good', 'bad', 'refused', 'no', 'lost']))
        if following.question and answer == 'no':
            recorded = reject_step(plan, out, 'why', 2.0)
            assert recorded.result.status is StepStatus.FAILED
            assert recorded.plan.status is (
                PlanStatus.CANCELLED
                if plan.status is PlanStatus.WAIT_CONFIRMATION
                else PlanStatus.FAILED
            )
        elif answer == 'refused':
            recorded = record_step(plan, out, False, 'refused', {}, 2.0)
        else:
            if following.question:
                plan = stored(approve_step(plan, out))
            needs_approval = False
            if following.op_skill:
                operations[out] = operations.get(out, 0) + 1
            if answer == 'lost':
                continue
            recorded = record_step(plan, out, answer == 'good', '', {}, 2.0)
        plan = stored(recorded.plan)
        results += [recorded.result, *recorded.skipped]
    else:
        raise AssertionError('the plan does not end')
    assert plan.status in ENDED_STATUSES
    assert plan.is_finished()
    assert next_step(plan, FACTS, 3.0) == NextStep(plan)
    assert all(count <= 2 for count in operations.values())
    if given_plan['status'] not in {status.value for status in ENDED_STATUSES}:
        good = {StepStatus.SUCCESS, StepStatus.SKIPPED}
        done = bool(plan.steps) and {each.status for each in plan.steps} <= good
        assert (plan.status is PlanStatus.COMPLETED) == done
    last = {result.step_id: result for result in results}
    for each, given_step in zip(plan.steps, given_plan['steps'], strict=True):
        if StepStatus(given_step['status']) in UNFINISHED:
            assert last[each.step_id].status is each.status  # each step has its result
        assert each.metadata == given_step['metadata']
    ended = [result.step_id for result in results if result.status not in UNFINISHED]
    assert len(ended) == len(set(ended))  # and only one


KNOWN: dict[str, Any] = {
    **{'mast': 'closed', 'moving': False, 'battery_pct': 80.0, 'score': None, 'x': 2},
    'zones': ['shade', 'crater'],
}
HOLDS: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({'mast': 'closed'}, True),
    ({'moving': 0}, False),
    ({'x': 2 + 5e-9}, False),
    ({'x': True}, False),
    ({'mast_in': ['open', 'closed']}, True),
    ({'zones': 'shade'}, True),
    ({'zones_is_not': 'dune'}, True),
    ({'zones_in': ['dune', 'crater']}, True),
    ({'mast_above': 3}, False),
    ({'mast': 'closed', 'battery_pct_above': 50}, True),
    ({'mast': 'closed', 'battery_pct_above': 90}, False),
]


def test_conditions() -> None:
    assert [each for each, ok in HOLDS if holds(each, KNOWN).ok is not ok] == []
    for fact in ('score', 'nothing_of_that_name'):
        for end in ('', '_above', '_below', '_at_least', '_at_most', '_is_not', '_in', '_within'):
            value: Any = {'_in': [1.0], '_within': [-1e9, 1e9]}.get(end, 1.0)
            verdict = holds({f'{fact}{end}': value}, KNOWN)
            assert (verdict.ok, verdict.why) == (False, f'{fact} is not known')


def test_the_verdict_says_why() -> None:
    conditions: dict[str, Any] = {'mast': 'closed', 'battery_pct_above': 90, 'x_within': [5, 6]}
    verdict = holds(conditions, KNOWN)
    assert verdict.why == 'battery_pct is 80.0, not above 90; x is 2, not within [5, 6]'
    assert holds({'mast': 'closed', 'x_below': 3}, KNOWN).why == (
        "mast is 'closed', equal to 'closed'; x is 2, below 3"
    )
    assert holds({'mast_above': 3}, KNOWN).why == "mast is 'closed', not a number"
    assert holds({'mast_is_not': 'closed'}, KNOWN).why == "mast is 'closed', which is 'closed'"


BAD: list[tuple[Any, str]] = [
    ({'battery_pct_above': 'high'}, "'battery_pct_above' needs a number, not 'high'"),
    ({'battery_pct_above': float('nan')}, 'needs a number, not nan'),
    ({'mast': None}, "'mast' needs a text, a number, true or false, not None"),
    ({'mast_in': 'closed'}, 'needs a list of texts, numbers, true or false'),
    ({'mast_in': [None]}, 'needs a list'),
    ({'x_within': [2, 1]}, 'needs a list of two numbers, low and high'),
    ({'_above': 1}, "'_above' must begin with the name of a fact"),
    ([], r'conditions must be an object, not \[\]'),
]


def test_what_could_never_be_told_is_said_up_front() -> None:
    for conditions, message in BAD:
        with pytest.raises(BadCondition, match=message):
            check(conditions)
        with pytest.raises(BadCondition, match=message):
            holds(conditions, KNOWN)


@settings(max_examples=examples(60), deadline=None)
@given(json_objects, json_objects, st.data())
def test_anything_is_a_verdict_or_a_bad_condition(
    conditions: dict[str, Any], facts: dict[str, Any], data: st.DataObject
) -> None:
    for key in list(conditions):
        facts[key] = data.draw(json_values)
    try:
        check(conditions)
    except BadCondition as error:
        why = str(error)
    else:
        why = holds(conditions, facts).why
    assert 0 < len(why) < 300 * (1 + len(conditions))


@settings(deadline=None)
@given(finite, finite, finite)
def test_the_comparisons_fit_together(fact: float, one: float, other: float) -> None:
    def told(**conditions: Any) -> bool:
        return holds(conditions, {'x': fact}).ok

    assert told(x_above=one) == (fact > one)
    assert told(x_below=one) == (fact < one)
    assert told(x_at_least=one) or told(x_below=one)
    assert told(x_at_most=one) or told(x_above=one)
    assert told(x=one) != told(x_is_not=one)
    assert told(x=one) == told(x_in=[one])
    low, high = sorted((one, other))
    assert told(x_within=[low, high]) == (told(x_at_least=low) and told(x_at_most=high))
    assert told(x_at_least=low, x_at_most=high) == told(x_within=[low, high])
