# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""Plans: what they hold, how they are written and read, and how their steps are carried out."""

from __future__ import annotations

from copy import deepcopy
from itertools import product
import json
from pathlib import Path
import re
from typing import Any

from curiosity_rosa_demo.agent.react.plan import (
    approve_step,
    check_plan,
    ENDED_STATUSES,
    keep_done,
    next_step,
    NextStep,
    record_step,
    reject_step,
)
from curiosity_rosa_demo.domain.conditions import BadCondition, check, holds
from curiosity_rosa_demo.domain.plan import (
    ExecutionResult,
    Plan,
    plan_schema,
    PlanError,
    PlanStatus,
    PlanStep,
    RiskLevel,
    schema_text,
    StepStatus,
    ToolCallType,
    UNFINISHED,
)
from curiosity_rosa_demo.domain.plan_reader import (
    create_plan_from_llm_response,
    LEFT_OUT,
    PROGRESS_KEY,
    read_plan,
    REMARKS,
)
from curiosity_rosa_demo.domain.text import printable_lines
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
import jsonschema
import pytest
from strategies import finite, json_objects, json_values, names, text

required = names.filter(str.strip)
times = st.integers(0, 2**40) | st.floats(0.0, 1e12)
ids = st.integers(0, 2**63 - 1) | st.integers(0, 9)


def steps(status: st.SearchStrategy[StepStatus]) -> st.SearchStrategy[PlanStep]:
    return st.builds(
        PlanStep,
        step_id=ids,
        action=required,
        parameters=json_objects,
        preconditions=json_objects,
        fallback=st.none() | text,
        status=status,
        description=text,
        tool_call_type=st.sampled_from(ToolCallType),
        requires_confirmation=st.booleans(),
        confirmation_message=st.none() | text,
        metadata=json_objects,
    )


def plans(step: st.SearchStrategy[PlanStep]) -> st.SearchStrategy[Plan]:
    return st.builds(
        Plan,
        plan_id=required,
        goal=required,
        reasoning=text,
        risk_level=st.sampled_from(RiskLevel),
        requires_confirmation=st.booleans(),
        confirmation_message=st.none() | text,
        steps=st.lists(step, max_size=4, unique_by=lambda each: each.step_id),
        status=st.sampled_from(PlanStatus),
        created_at=times,
        source=text,
        metadata=json_objects,
    )


any_plans = plans(steps(st.sampled_from(StepStatus)))


@st.composite
def results(draw: st.DrawFn) -> ExecutionResult:
    status = draw(st.sampled_from(StepStatus))
    legal = {StepStatus.SUCCESS: [True], StepStatus.FAILED: [False]}.get(status, [True, False])
    return ExecutionResult(
        plan_id=draw(required),
        step_id=draw(ids),
        success=draw(st.sampled_from(legal)),
        status=status,
        message=draw(text),
        output=draw(json_objects),
        timestamp=draw(times),
    )


@settings(max_examples=examples(80), deadline=None)
@given(any_plans, results())
def test_every_plan_and_result_comes_back_as_it_was(plan: Plan, result: ExecutionResult) -> None:
    data = plan.to_dict()
    again = Plan.from_dict(json.loads(json.dumps(data, allow_nan=False)))
    assert again == plan
    assert again.to_dict() == data
    assert SCHEMA.is_valid(data) is bool(plan.steps)
    told = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert ExecutionResult.from_dict(told) == result


def _places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Of all that stands in a dict form, but not inside of the free objects."""
    free = place and place[-1] in ('parameters', 'preconditions', 'metadata', 'output')
    if free or not isinstance(value, (dict, list)):
        return [place]
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [place, *(each for key, item in items for each in _places(item, (*place, key)))]


odd = json_values | st.sampled_from(
    [float('nan'), float('inf'), {1: 2}, {'a': object()}, b'bytes', (1,), '\ud800', 10**5000, -1]
)


@settings(max_examples=examples(80), deadline=None)
@given(any_plans, results(), odd, st.data())
def test_a_wrong_value_anywhere_is_a_plan_error_or_a_plan(
    plan: Plan, result: ExecutionResult, value: Any, data: st.DataObject
) -> None:
    good: Plan | ExecutionResult = data.draw(st.sampled_from([plan, result]))
    wrong: Any = deepcopy(good.to_dict())
    place = data.draw(st.sampled_from(_places(wrong)))
    if not place:
        wrong = value
    else:
        inner = wrong
        for key in place[:-1]:
            inner = inner[key]
        if isinstance(inner, dict) and data.draw(st.booleans()):
            del inner[place[-1]]
        else:
            inner[place[-1]] = value
    try:
        made = type(good).from_dict(wrong)
    except PlanError as error:
        problem = str(error)
    else:
        problem = ''
        json.dumps(made.to_dict(), allow_nan=False)
    assert len(problem) < 300


def _nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {'a': value}
    return value


NO_PLAN: list[tuple[Any, str]] = [
    ({'goal': None}, 'goal: Input should be a valid string, not None'),
    ({'goal': ' '}, "goal: String should match .*, not ' '"),
    ({'reasoning': '\ud800'}, 'reasoning: .*unicode'),
    ({'risk_level': 'huge'}, "risk_level: .* 'low', 'medium' or 'high', not 'huge'"),
    ({'created_at': float('nan')}, 'created_at: .* finite number, not nan'),
    ({'metadata': {'a': [{'b': {1, 2}}]}}, r'metadata\.a\.list\[0\]\.dict\.b: .*JSON value'),
    ({'metadata': {'a': 10**5000}}, 'metadata: Exceeds the limit'),
    ({'steps': [{'step_id': -1, 'action': 'a'}]}, r'steps\[0\]\.step_id: .* not -1'),
    ({'steps': ['go']}, r"steps\[0\]: .*, not 'go'"),
    ({'metadata': {'a': '\ud800'}}, r'metadata\.a\.str: .*unicode'),
    ({'steps': [{'step_id': 1, 'action': 'a', 'parameters': _nested(101)}]}, '.*nested more than'),
]


def test_the_error_names_field_and_value() -> None:
    for change, message in NO_PLAN:
        with pytest.raises(PlanError, match=f'^{message}'):
            Plan.from_dict({'plan_id': 'p', 'goal': 'g', **change})
    twice = [PlanStep(5, 'a'), PlanStep(5, 'b')]
    for make, message in (
        (lambda: Plan('p', 'g', steps=twice[:1]).add_step(twice[1]), 'one is 6'),
        (lambda: Plan('p', 'g', steps=twice), 'must be unique'),
        (lambda: ExecutionResult('p', 1, False, StepStatus.SUCCESS), 'must not be False with'),
        (lambda: ExecutionResult('p', 1, True, StepStatus.FAILED), 'must not be True with failed'),
        (lambda: PlanStep(5, 'a', hurry=True), 'Extra inputs are not permitted'),
    ):
        with pytest.raises(ValueError, match=message):
            make()


PACKAGE = Path(__file__).resolve().parents[2]
DOCS = PACKAGE.parents[2] / 'docs' / 'reference' / 'plans.md'


SCHEMA = jsonschema.Draft202012Validator(plan_schema())


def test_the_file_of_the_schema_is_what_the_code_says() -> None:
    file = PACKAGE / 'schema' / 'plan.schema.json'
    command = 'python -m curiosity_rosa_demo.domain.plan'
    assert file.read_text() == schema_text(), f'run: {command} > {file}'


def test_the_example_of_the_documentation_is_a_plan() -> None:
    shown = re.findall(r'```json\n(.*?)```', DOCS.read_text(), re.DOTALL)
    assert shown
    for text_ in shown:
        SCHEMA.validate(json.loads(text_))
        assert create_plan_from_llm_response(text_).steps


def made(steps: str) -> Plan:
    return create_plan_from_llm_response(f'{{"goal": "g", "steps": [{steps}]}}')


WRITTEN = """Sure! For {your rover} I suggest the following plan:
```json
{
  # first things first
  "goal": "photograph the \\"dune\\" // not a comment",  # nor is this
  'risk_level': 'HIGH', "requires_confirmation": False, "plan_id": null,
  "steps": [
    {"step_id": "3", "action": "move_forward", "parameters": {"duration_s": +2.50}, },
    {"action": "Speak", "parameters": {"text": "don't
worry # be happy"}},
    {"action": "ask", "toolCallType": "Ask-User", "precondition": {"mast": "open"}},
  ],
}
```
Tell me {if} you like it."""


def test_an_answer_of_a_model_is_understood() -> None:
    plan = create_plan_from_llm_response(WRITTEN)
    assert plan.goal == 'photograph the "dune" // not a comment'
    assert (plan.risk_level, plan.requires_confirmation) == (RiskLevel.HIGH, False)
    assert plan.plan_id.startswith('plan_')
    assert [step.step_id for step in plan.steps] == [3, 1, 2]
    drives, speaks, asks = plan.steps
    assert drives.parameters == {'duration_s': 2.5}
    assert speaks.tool_call_type is ToolCallType.SPEAK
    assert speaks.parameters == {'text': "don't worry # be happy"}
    assert asks.tool_call_type is ToolCallType.ASK_USER
    assert asks.preconditions == {'mast': 'open'}


def test_a_writer_can_claim_nothing_about_what_was_done() -> None:
    forged = {'action': 'a', 'status': 'success', 'metadata': {PROGRESS_KEY: 'x'}}
    claims = {'status': 'approved', 'created_at': 'yesterday', 'source': 'operator'}
    written = {'goal': 'g', **claims, 'metadata': {PROGRESS_KEY: 1, 'kept': 2}, 'steps': [forged]}
    plan = create_plan_from_llm_response(written, source='file')
    assert (plan.status, plan.source) == (PlanStatus.CREATED, 'file')
    assert plan.created_at > 1e9
    assert plan.metadata == {'kept': 2}
    assert (plan.steps[0].status, plan.steps[0].metadata) == (StepStatus.PENDING, {})


TORN = '{"goal": "a", "steps": [{"action": "go", "parameters": {"goal": "b", "steps": []}'
UNREADABLE: list[tuple[Any, str]] = [
    ('', 'a plan is a JSON object like {"goal": "...", "steps": [{"action"'),
    ('no plan {today}', "not 'no plan {today}'"),
    ('{"goal": "g}', 'line 1, column 13: found unexpected end of stream; a plan is'),
    ('{"goal": "g"\n "steps": []}', "line 2, column 2: expected ',' or '}'"),
    ('{"goal": NaN}', 'a number must be finite, not NaN'),
    ("{'goal': Infinity}", 'a number must be finite, not Infinity'),
    ('{"goal": ' + '1' * 9999 + '}', 'Exceeds the limit (4300 digits)'),
    ('{"goal": "a\\d"}', 'line 1, column 13: found unknown escape character'),
    ('{"goal": "g", "goal": "h"}', "a key must be a text that is there once, not 'goal'"),
    ("{'goal': 'g', 'goal': 'h'}", "a key must be a text that is there once, not 'goal'"),
    ("{'goal': 'g', 3: 'h'}", 'a key must be a text that is there once, not 3'),
    ("{'goal': &a [1], 'steps': [*a]}", 'line 1, column 28: an alias'),
    ('{"goal": ' + '[' * 5000, 'maximum recursion depth exceeded'),
    (f'{{"goal": "g", "metadata": {"[" * 32}{"]" * 32}}}', 'nested more than 32 levels'),
    ('{"steps": []}', 'goal: Field required'),
    ('{"goal": "g", "Goal": "h"}', 'goal must be there once, not twice'),
    ('{"goal": "g", "steps": ["go"]}', 'steps[0] must be {"goal": "...", "steps": [{"action"'),
    (TORN, 'line 1, column 82: expected'),  # not the plan that stands in it
    ('{' * 1_000_000, 'text must be at most 100000 characters, not 1000000'),
    ({'goal': 'g' * 100_000}, 'at most 100000 characters as JSON'),
    (None, 'plan must be '),
]
WRONG_STEPS = [
    ('{"action": "a", "step_id": "one"}', 'steps[1].step_id: Input should be a valid integer'),
    ('{"action": "a", "step_id": 1}', 'steps: a step_id must be unique, and 1 is there twice'),
    ('{"action": "a", "paramters": {}}', "steps[1].'paramters' is no field of a PlanStep; it has"),
    (', '.join(['{"action": "a"}'] * 200), 'steps must be a list of at most 200'),
]


def test_anything_else_is_one_error_that_says_where() -> None:
    assert len(made(', '.join(['{"action": "a"}'] * 200)).steps) == 200
    first = '{"goal": "g", "steps": [{"action": "first", "step_id": 1}, '
    for written, message in (
        *UNREADABLE,
        *((f'{first}{step}]}}', message) for step, message in WRONG_STEPS),
    ):
        with pytest.raises(PlanError) as caught:
            create_plan_from_llm_response(written)
        assert message in str(caught.value)
        assert len(str(caught.value)) < 300


gaps = st.sampled_from(['', ' ', '\n', '\t ', ' # or, one]\n'])


@st.composite
def messy(draw: st.DrawFn, value: Any) -> str:
    """``value`` as JSON, and what models make of it."""

    def quoted(value: str) -> str:
        if draw(st.booleans()) and value.isprintable() and '\\' not in value:
            return "'" + value.replace("'", "''") + "'"
        return json.dumps(value, ensure_ascii=draw(st.booleans()))

    def written(value: Any) -> str:
        if isinstance(value, dict | list):
            pairs = isinstance(value, dict)
            items = [f'{quoted(key)} :{written(value[key])}' for key in value] if pairs else []
            items = items or [written(item) for item in value]
            comma = ',' if items and draw(st.booleans()) else ''
            opening, closing = '{}' if pairs else '[]'
            shown = f'{opening}{draw(gaps)}{",".join(items)}{comma}{draw(gaps)}{closing}'
        elif isinstance(value, str):
            shown = quoted(value)
        else:
            shown = repr(value) if draw(st.booleans()) else json.dumps(value)
        return f'{draw(gaps)}{shown}{draw(gaps)}'

    return written(value).strip()


@settings(max_examples=examples(60), deadline=None)
@given(any_plans, st.data(), text)
def test_a_plan_is_read_however_it_is_written(plan: Plan, data: st.DataObject, prose: str) -> None:
    prose = prose.replace('{', '(')
    printable = printable_lines(json.dumps(plan.to_dict(), ensure_ascii=False))
    written = json.loads(printable, parse_int=lambda digits: int(digits[:300]))
    as_model = f'{prose}\n```json\n{data.draw(messy(written))}\n```\n{prose}'
    assert read_plan(as_model) == written
    torn = json.dumps(written)[: data.draw(st.integers(0, len(json.dumps(written)) - 1))]
    with pytest.raises(PlanError):
        create_plan_from_llm_response(torn)


@settings(max_examples=examples(200), deadline=None)
@given(st.text(st.sampled_from('{}[]"\',:/*&!#\\ \n1-.eaNu'), max_size=60))
@example('{"a":1e5,"b":.5,"c":1.,"d":-0}')
def test_garbage_is_a_plan_error(garbage: str) -> None:
    for written in (garbage, '{"goal":' + garbage, '{"goal": "g", "steps": [' + garbage):
        try:
            json.dumps(read_plan(written), allow_nan=False)
        except PlanError as error:
            problem = str(error)
        else:
            problem = 'none'
        assert 0 < len(problem) < 300


DRIVE = {'action': 'move_forward', 'parameters': {'duration_s': 3.0}, 'fallback': 'move_stop'}
TELL = {'action': 'speak', 'parameters': {'text': 'there'}, 'requires_confirmation': True}
PLAN: dict[str, Any] = {
    **{'goal': 'photograph the dune', 'risk_level': 'medium'},
    'steps': [{'action': 'mast_close'}, {**DRIVE, 'preconditions': {'mast': 'closed'}}, TELL],
}
PLACES = st.sampled_from([None, 0, 1, 2])  # in the plan, or in which step
VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=20) | json_objects


def with_field(place: int | None, key: str, value: Any) -> dict[str, Any]:
    plan = deepcopy(PLAN)
    holder = plan if place is None else plan['steps'][place]
    assert key not in holder
    holder[key] = value
    return plan


def left_out(written: dict[str, Any]) -> list[str]:
    noted: list[str] = create_plan_from_llm_response(written).metadata.get(LEFT_OUT, [])
    return noted


@given(PLACES, st.sampled_from(sorted(REMARKS)), VALUES)
def test_a_remark_changes_nothing_and_is_noted(place: int | None, key: str, value: Any) -> None:
    written = with_field(place, key, value)
    assert left_out(written) == [key if place is None else f'steps[{place}].{key}']
    done, same = (create_plan_from_llm_response(each).to_dict() for each in (written, PLAN))
    for own in ('plan_id', 'created_at', 'metadata'):
        del done[own], same[own]
    assert done == same


def test_any_other_field_refuses_the_plan_and_no_writer_can_forge_the_note() -> None:
    for place, key in product(
        (None, 1), ('paramters', 'if', 'max_speed', 'hurry', 'name', '備考', 'n' * 61, '', '_')
    ):
        with pytest.raises(PlanError, match=r'is no field of a .*; it has: .*, ') as caught:
            create_plan_from_llm_response(with_field(place, key, 3))
        assert len(str(caught.value)) < 300
    assert left_out({**PLAN, 'metadata': {LEFT_OUT: ['forged']}}) == []


FACTS: dict[str, Any] = {'mast': 'closed', 'battery_pct': 80.0}


def step_of(step_id: int, action: str = 'move_forward', **fields: Any) -> PlanStep:
    return PlanStep(step_id, action, **fields)


def plan_of(*steps: PlanStep, **fields: Any) -> Plan:
    return Plan('p', 'reach the dune', steps=list(steps), **fields)


def following(plan: Plan, now: float = 5.0) -> NextStep:
    return next_step(plan, FACTS, now)


def done(plan: Plan) -> Plan:
    following(plan)
    record_step(plan, True, '', {}, 6.0)
    return plan


def failing(plan: Plan, why: str, now: float = 6.0) -> ExecutionResult:
    """The first step begins, and fails."""
    following(plan)
    return record_step(plan, False, why, {'code': 7}, now)[0]


def statuses(plan: Plan) -> str:
    return ' '.join(each.status.value for each in plan.steps)


def asks(**fields: Any) -> PlanStep:
    return step_of(1, 'ask', tool_call_type=ToolCallType.ASK_USER, **fields)


KINDS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ('speak', {'text': 'hi', 'message': 'no'}, 'speak', {'text': 'hi'}),
    ('speak', {'content': 'hi', 'volume': 1}, 'speak', {'text': 'hi'}),
    ('query_world', {}, 'query_world', {'query': ''}),
    ('query_knowledge', {'query': 'dunes'}, 'query_knowledge', {'query': 'dunes'}),
    *((kind, {'text': 3}, '', {}) for kind in ('speak', 'query_knowledge')),
]


def test_each_kind_has_its_skill() -> None:
    for kind, parameters, skill, arguments in KINDS:
        tells = step_of(1, 'tell', tool_call_type=ToolCallType(kind), parameters=parameters)
        next_ = following(plan_of(tells))
        assert (next_.op_skill, next_.arguments) == (skill, arguments)
        told = [each.message for each in next_.results]
        assert bool(skill) or 'tell needs a text in parameters: ' in told[0]


FAR = {'duration_s': 20.0, 'note': 'x' * 1000, 'mark': 'a\u202eb'}
SPEAKS = step_of(3, 'speak', tool_call_type=ToolCallType.SPEAK, parameters={'text': 'done'})
BACKS = step_of(
    2, 'turn_left', fallback='move_forward', metadata={'fallback_parameters': {'duration_s': 9.0}}
)
HIGH = plan_of(
    step_of(1, parameters=FAR), BACKS, SPEAKS,
    risk_level=RiskLevel.HIGH, confirmation_message='Say yes! ' + 'y' * 1000,
)  # fmt: skip
QUESTIONS = [
    (plan_of(asks(parameters={'question': 'Sure?\x1b[2J'})), r'Sure?\u001b[2J'),
    (plan_of(asks(description='about the dune')), 'about the dune'),
    (
        plan_of(step_of(2, requires_confirmation=True, parameters={'duration_s': 2})),
        'Step 2: move_forward(duration_s=2)?',
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
    asked = [following(stored(plan)).question for plan, _ in QUESTIONS]
    assert asked == [told for _, told in QUESTIONS]


def test_a_fallback_can_save_a_step_and_one_that_fails_ends_the_plan() -> None:
    metadata = {'fallback_parameters': {'duration_s': 1.0}, 'mine': 1}
    plan = plan_of(step_of(1, fallback='turn_left', metadata=metadata), step_of(2))
    failed = failing(plan, 'stuck')
    assert (failed.status, failed.output) == (StepStatus.PENDING, {'code': 7})
    assert failed.message == 'stuck; its fallback turn_left is next'
    lost, fallback = stored(plan), following(plan)
    assert (fallback.op_skill, fallback.arguments) == ('turn_left', {'duration_s': 1.0})
    saved, *_ = record_step(plan, True, 'turned', {'yaw': 1}, 7.0)
    assert saved.output == {'yaw': 1, 'fallback': 'turn_left'}
    assert done(plan).is_success()
    assert failing(lost, 'stuck too').message == 'stuck; its fallback turn_left: stuck too'
    assert (statuses(lost), lost.status) == ('failed skipped', PlanStatus.FAILED)
    # Of a step that was confirmed the fallback is confirmed, too.
    plan = plan_of(step_of(1, fallback='turn_left', requires_confirmation=True))
    following(plan)
    approve_step(plan)
    record_step(plan, False, 'stuck', {}, 6.0)
    assert following(plan).question == 'Step 1 failed. Try turn_left() instead?'
    no, *_ = reject_step(plan, 'enough', 7.0)
    assert no.message == 'stuck; its fallback turn_left: rejected: enough'


def test_a_revision_keeps_what_was_done() -> None:
    old = done(plan_of(step_of(1, parameters={'n': 1}), step_of(2)))
    new = plan_of(step_of(1, parameters={'n': 1}), step_of(2), step_of(3))
    keep_done(old, new)
    assert statuses(new) == 'success pending pending'
    for other in (
        step_of(1, parameters={'n': True}),
        step_of(1, 'turn_left', parameters={'n': 1}),
        step_of(1, parameters={'n': 1}, tool_call_type=ToolCallType.NOOP),
    ):
        keep_done(old, another := plan_of(other))
        assert statuses(another) == 'pending'


def test_problems_are_told_up_front() -> None:
    plan = plan_of(
        step_of(1),
        step_of(2, 'fly', fallback='dig'),
        step_of(3, preconditions={'x_above': 'a'}),
        step_of(4, 'say', tool_call_type=ToolCallType.SPEAK),
        step_of(5, fallback='move_stop', metadata={'fallback_parameters': 3}),
        step_of(6, 'look', tool_call_type=ToolCallType.QUERY_WORLD),
        step_of(7, 'anything', tool_call_type=ToolCallType.NOOP),
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
    many = check_plan(plan_of(*map(step_of, range(201))), ['move_forward'])
    assert many == ['201 steps are more than 200']


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
        following = next_step(plan, FACTS, 1.0)
        plan = stored(plan)
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
            waited = plan.status is PlanStatus.WAIT_CONFIRMATION
            recorded = reject_step(plan, 'why', 2.0)
            assert recorded[0].status is StepStatus.FAILED
            assert plan.status is (PlanStatus.CANCELLED if waited else PlanStatus.FAILED)
        elif answer == 'refused':
            recorded = record_step(plan, False, 'refused', {}, 2.0)
        else:
            if following.question:
                approve_step(plan)
                plan = stored(plan)
            needs_approval = False
            if following.op_skill:
                operations[out] = operations.get(out, 0) + 1
            if answer == 'lost':
                continue
            recorded = record_step(plan, answer == 'good', '', {}, 2.0)
        plan = stored(plan)
        results += recorded
    else:
        raise AssertionError('the plan does not end')
    assert plan.status in ENDED_STATUSES
    assert plan.is_finished()
    assert next_step(plan, FACTS, 3.0) == NextStep()
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
    ({'mast_in': ['open', 'closed']}, True),
    ({'zones': 'shade'}, True),
    ({'zones_is_not': 'dune'}, True),
    ({'zones_in': ['dune', 'crater']}, True),
    ({'mast_above': 3}, False),
    ({'mast': 'closed', 'battery_pct_above': 90}, False),
]


def test_conditions() -> None:
    assert [each for each, ok in HOLDS if holds(each, KNOWN).ok is not ok] == []
    for fact in ('score', 'nothing_of_that_name'):
        for end in ('', '_above', '_below', '_at_least', '_at_most', '_is_not', '_in', '_within'):
            value: Any = {'_in': [1.0], '_within': [-1e9, 1e9]}.get(end, 1.0)
            verdict = holds({f'{fact}{end}': value}, KNOWN)
            assert (verdict.ok, verdict.why) == (False, f'{fact} is not known')
    verdict = holds({'mast': 'closed', 'battery_pct_above': 90, 'x_within': [5, 6]}, KNOWN)
    assert verdict.why == 'battery_pct is 80.0, not above 90; x is 2, not within [5, 6]'


BAD: list[tuple[Any, str]] = [
    ({'battery_pct_above': 'high'}, "'battery_pct_above' needs a number, not 'high'"),
    ({'battery_pct_above': float('nan')}, 'needs a number, not nan'),
    ({'mast_in': 'closed'}, 'needs a list of texts, numbers, true or false'),
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
