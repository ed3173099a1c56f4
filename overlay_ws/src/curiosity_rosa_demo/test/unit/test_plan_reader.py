# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

from contextlib import suppress
import json
import sys
import time
from typing import Any

from curiosity_rosa_demo.domain.plan.plan import (
    create_plan_from_llm_response,
    Plan,
    PlanError,
    PlanStatus,
    RiskLevel,
    StepStatus,
    ToolCallType,
)
from curiosity_rosa_demo.domain.plan.reader import read_plan
from curiosity_rosa_demo.domain.plan.repair import PROGRESS_KEY
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from plan_strategies import any_plans
import pytest
from strategies import text


def made(steps: str) -> Plan:
    return create_plan_from_llm_response(f'{{"goal": "g", "steps": [{steps}]}}')


def test_an_answer_of_a_model_is_understood() -> None:
    plan = create_plan_from_llm_response(
        """Sure! For {your rover} I suggest the following plan:

```json
{
  // first things first
  "goal": "photograph the \\"dune\\" // not a comment",  # nor is this
  'risk_level': 'HIGH',
  "requires_confirmation": False,
  "confirmation_message": None,
  "plan_id": null,
  "steps": [
    {"step_id": "3", "action": "mast_close", "parameters": {},},
    {"action": "move_forward", "parameters": {"duration_s": +2.50}, /* slow { */ "fallback": null},
    {"action": "Speak", "parameters": {"text": "don't
worry # be happy"}},
    {"action": "ask", "toolCallType": "Ask-User", "precondition": {"mast": "open"}},
  ],
}
```
Tell me {if} you like it."""
    )
    assert plan.goal == 'photograph the "dune" // not a comment'
    assert plan.risk_level is RiskLevel.HIGH
    assert plan.requires_confirmation is False
    assert plan.plan_id.startswith('plan_')
    assert [step.step_id for step in plan.steps] == [3, 1, 2, 4]
    assert plan.steps[1].parameters == {'duration_s': 2.5}
    assert plan.steps[2].tool_call_type is ToolCallType.SPEAK
    assert plan.steps[2].parameters == {'text': "don't\nworry # be happy"}
    assert plan.steps[3].tool_call_type is ToolCallType.ASK_USER
    assert plan.steps[3].preconditions == {'mast': 'open'}


def test_the_first_object_with_a_goal_is_the_plan() -> None:
    plan = create_plan_from_llm_response(
        'The facts {"mast": "open"} ask for {"goal": "one"}, not {"goal": "two"}.'
    )
    assert plan.goal == 'one'


def test_a_torn_plan_is_not_taken_for_one_that_stands_in_it() -> None:
    torn = '{"goal": "a", "steps": [{"action": "go", "parameters": {"goal": "b", "steps": []}'
    with pytest.raises(PlanError, match='line 1, column 25: expected a closing }'):
        create_plan_from_llm_response(torn)


@pytest.mark.parametrize(
    ('value', 'meant'),
    [
        ('{"step_id": " 07 "}', 7),
        ('{"step_id": "7.0"}', 7),
        ('{"step_id": 7.0}', 7),
        ('{"step_id": null}', 1),
        ('{"stepId": 7}', 7),
    ],
)
def test_numbers_are_meant(value: str, meant: int) -> None:
    assert made(f'{{"action": "a", {value[1:]}').steps[0].step_id == meant


@pytest.mark.parametrize('name', ['ask_user', 'speak', 'query_world', 'query_knowledge', 'noop'])
def test_the_kind_of_a_step_is_told_by_its_action(name: str) -> None:
    assert made(f'{{"action": "{name}"}}').steps[0].tool_call_type.value == name
    told = made(f'{{"action": "{name}", "tool_call_type": "EXECUTE"}}').steps[0]
    assert told.tool_call_type is ToolCallType.EXECUTE


def test_a_writer_can_claim_nothing_about_what_was_done() -> None:
    plan = create_plan_from_llm_response(
        {
            'goal': 'g',
            'status': 'approved',
            'created_at': 'yesterday',
            'source': 'operator',
            'metadata': {PROGRESS_KEY: 1, 'kept': 2},
            'steps': [{'action': 'a', 'status': 'success', 'metadata': {PROGRESS_KEY: 'x'}}],
        },
        source='file',
    )
    assert plan.status is PlanStatus.CREATED
    assert plan.created_at > 1e9
    assert plan.source == 'file'
    assert plan.metadata == {'kept': 2}
    assert plan.steps[0].status is StepStatus.PENDING
    assert plan.steps[0].metadata == {}


@pytest.mark.parametrize(
    ('written', 'message'),
    [
        ('', 'line 1, column 1: expected a JSON object like {"goal": "...", "steps": [{"action"'),
        ('no plan {today}', "line 1, column 10: expected a key in double quotes; found 'today}'"),
        ('{"goal": "g"', 'line 1, column 1: expected a closing }; found \'{"goal": "g"\''),
        ('{"goal": "g}', 'line 1, column 10: expected a closing " for the text that begins here'),
        ('{"goal": "g"\n "steps": []}', 'line 2, column 2: expected a comma or }; found \'"steps'),
        ('{"goal" "g"}', "line 1, column 9: expected a colon after the key 'goal'; found"),
        ('{"goal": g}', 'line 1, column 10: expected a value: text in double quotes, a number, '),
        ('{"goal": }', 'line 1, column 10: expected a value'),
        ('{"goal": 0x10}', 'line 1, column 10: expected a value'),
        ('{"goal": NaN}', 'line 1, column 10: expected a finite number, not NaN'),
        ('{"goal": -Infinity}', 'line 1, column 10: expected a finite number, not -Infinity'),
        ('{"goal": 1e999}', 'line 1, column 10: expected a finite number'),
        ('{"goal": ' + '1' * 9999 + '}', 'column 10: expected a number of at most 400 digits'),
        ('{"goal": "a\\d"}', 'line 1, column 12: expected an escape that JSON knows'),
        ('{"goal": "\\ud800"}', 'line 1, column 10: expected text of valid Unicode'),
        ('{"goal": "g", /* }', 'line 1, column 15: expected a closing */'),
        ('{"goal": "g", "goal": "h"}', "column 15: expected another key: 'goal' is there already"),
        ('{"goal": [[' * 20, 'expected at most 32 levels of nesting'),
        ('{"mast": "open"}', 'mast is no field of a plan; it has: plan_id, goal, reasoning'),
        ('{"steps": []}', 'goal is missing'),
        ('{"goal": 5}', 'goal must be a text that is not empty, not 5'),
        ('{"goal": "g", "Goal": "h"}', 'goal must be there once, not twice'),
        ('{"goal": "g", "steps": {}}', 'steps must be a list, not {}'),
        ('{"goal": "g", "steps": ["go"]}', 'steps[0] must be an object like {"action": "..."}'),
        ('{"goal": "g", "steps": [{}]}', 'steps[0].action is missing'),
        ('{"goal": "g", "risk_level": "so-so"}', 'risk_level must be one of low, medium, high'),
    ],
)
def test_anything_else_is_one_error_that_says_where(written: str, message: str) -> None:
    with pytest.raises(PlanError) as caught:
        create_plan_from_llm_response(written)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ('step', 'message'),
    [
        ('{"action": "a", "step_id": "one"}', 'steps[1].step_id must be a whole number from 0, '),
        ('{"action": "a", "step_id": 1.5}', 'steps[1].step_id must be a whole number from 0, '),
        ('{"action": "a", "step_id": 1}', 'steps[1].step_id must be unique, not 1 again'),
        ('{"action": "a", "parameters": [1]}', 'steps[1].parameters must be an object, not [1]'),
        ('{"action": "a", "paramters": {}}', 'steps[1].paramters is no field of a step; it has'),
        ('{"action": "a", "fallback": 3}', 'steps[1].fallback must be a text, not 3'),
        ('{"action": "a", "tool_call_type": "x"}', 'steps[1].tool_call_type must be one of exec'),
        ('{"action": "a", "requires_confirmation": "y"}', 'must be true or false'),
    ],
)
def test_an_error_in_a_step_says_in_which(step: str, message: str) -> None:
    with pytest.raises(PlanError) as caught:
        made(f'{{"action": "first", "step_id": 1}}, {step}')
    assert message in str(caught.value)


def test_the_limits_are_said() -> None:
    assert len(made(', '.join(['{"action": "a"}'] * 200)).steps) == 200
    with pytest.raises(PlanError, match=r'^steps must be at most 200, not 201'):
        made(', '.join(['{"action": "a"}'] * 201))
    with pytest.raises(PlanError, match=r'^text must be at most 100000 characters, not 1000000'):
        create_plan_from_llm_response('{' * 1_000_000)
    with pytest.raises(PlanError, match=r'^plan must not be longer than 100000 characters'):
        create_plan_from_llm_response({'goal': 'g' * 100_000})


@pytest.mark.parametrize('wrong', [None, [], 3, b'{}', {1: 2}, {'goal': {1, 2}}])
def test_what_is_no_object_is_no_plan(wrong: Any) -> None:
    with pytest.raises(PlanError, match=r'^(plan|a key of plan|plan.goal) must be '):
        create_plan_from_llm_response(wrong)


# As models write it.

gaps = st.sampled_from(
    [
        '',
        ' ',
        '\n',
        '\t ',
        '// a "comment" {\n',
        '# and, another]\n',
        '/* one " more } */',
        '\u00a0',
    ]
)


@st.composite
def messy(draw: st.DrawFn, value: Any) -> str:
    """``value`` as JSON, and what models make of it."""

    def gap() -> str:
        return draw(gaps)

    def written(value: Any) -> str:
        if isinstance(value, dict):
            items = [f'{gap()}{written(k)}{gap()}:{written(v)}' for k, v in value.items()]
        elif isinstance(value, list):
            items = [written(item) for item in value]
        elif isinstance(value, str):
            quoted = json.dumps(value, ensure_ascii=draw(st.booleans()))
            if draw(st.booleans()):
                quoted = "'" + quoted[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"
            return f'{gap()}{quoted}{gap()}'
        else:
            plain = repr(value) if draw(st.booleans()) else json.dumps(value)
            return f'{gap()}{plain}{gap()}'
        comma = ',' + gap() if items and draw(st.booleans()) else ''
        opening, closing = '{}' if isinstance(value, dict) else '[]'
        return f'{gap()}{opening}{gap()}{",".join(items)}{comma}{gap()}{closing}{gap()}'

    return written(value).strip()


@settings(max_examples=examples(60), deadline=None)
@given(any_plans, st.data(), text)
def test_a_plan_is_read_however_it_is_written(plan: Plan, data: st.DataObject, prose: str) -> None:
    prose = prose.replace('{', '(')
    written = json.loads(json.dumps(plan.to_dict()), parse_int=lambda digits: int(digits[:300]))
    as_model = f'{prose}\n```json\n{data.draw(messy(written))}\n```\n{prose}'
    assert read_plan(as_model) == written


@settings(max_examples=examples(60), deadline=None)
@given(any_plans, st.data())
def test_a_torn_text_is_a_plan_error(plan: Plan, data: st.DataObject) -> None:
    written = json.dumps(plan.to_dict())
    with pytest.raises(PlanError):
        create_plan_from_llm_response(written[: data.draw(st.integers(0, len(written) - 1))])


@settings(max_examples=examples(200), deadline=None)
@given(st.text(st.sampled_from('{}[]"\',:/*#\\ \n1-.eaNu'), max_size=60))
@example('{"a":1e5,"b":.5,"c":1.,"d":-0}')
def test_garbage_is_a_plan_error(garbage: str) -> None:
    for written in (garbage, '{"goal":' + garbage, '{"goal": "g", "steps": [' + garbage):
        try:
            read_plan(written)
        except PlanError as error:
            problem = str(error)
        else:
            problem = 'line none'
        assert problem.startswith('line ')


@pytest.mark.parametrize(
    'unit',
    [
        '{', '{"', "{'", '{"{', '{/*', '{//', '{#', '{"a":[', '[', '{"a"', '{"\\', '{ ', '/* ',
        '{"a":1}', '{}', '"', '{"a":{"b":1},', '\\', '{"\n', '1', '{"a":1e', "{'a\\'", '{//\n',
        '{"goal":1,"goal":2}', '{"x" \'',
    ],
)  # fmt: skip
def test_a_long_text_takes_no_longer_than_its_length(unit: str) -> None:
    def seconds(length: int) -> float:
        written = (unit * length)[:length]
        best = float('inf')
        for _ in range(3):
            start = time.process_time()
            with suppress(PlanError):
                read_plan(written)
            best = min(best, time.process_time() - start)
        return best

    # Ten times the length: a quadratic reader takes a hundred times as long.
    assert seconds(100_000) < 30 * seconds(10_000) + 0.02


def test_reading_needs_little_stack() -> None:
    deep = '{"goal": ' + '[' * 31 + ']' * 31 + '}'
    limit = sys.getrecursionlimit()
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
    sys.setrecursionlimit(depth + 150)
    try:
        assert 'goal' in read_plan(deep)
        with pytest.raises(PlanError, match='levels of nesting'):
            read_plan('{"goal": ' + '[' * 50_000)
    finally:
        sys.setrecursionlimit(limit)
