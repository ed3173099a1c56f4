# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

import copy
from dataclasses import fields
import json
from typing import Any

from curiosity_rosa_demo.domain.plan.plan import (
    ExecutionResult,
    Plan,
    PlanError,
    PlanStep,
    StepStatus,
)
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_strategies import any_plans, results
import pytest
from strategies import json_values


def test_a_plan_tells_where_it_is() -> None:
    plan = Plan('p', 'g', steps=[PlanStep(number, 'a') for number in range(4)])
    first, second, third, fourth = plan.steps
    assert plan.next_step_id() == 4
    assert plan.get_pending_steps() == plan.steps
    assert plan.get_current_step() is None
    first.update_status(StepStatus.RUNNING)
    assert plan.get_current_step() is first
    first.update_status(StepStatus.SUCCESS)
    second.update_status(StepStatus.WAIT_CONFIRMATION)
    assert plan.get_waiting_confirmation_steps() == [second]
    assert not plan.is_finished()
    assert not plan.is_success()
    second.update_status(StepStatus.SUCCESS)
    third.update_status(StepStatus.FAILED)
    fourth.update_status(StepStatus.SKIPPED)
    assert plan.is_finished()
    assert not plan.is_success()
    assert plan.get_failed_steps() == [third]
    third.update_status(StepStatus.SUCCESS)
    assert not plan.is_success()  # one was skipped
    fourth.update_status(StepStatus.SUCCESS)
    assert plan.is_success()


def test_a_plan_without_steps_is_finished_but_no_success() -> None:
    plan = Plan.create_new('nothing')
    assert plan.is_finished()
    assert not plan.is_success()


def test_the_results_have_factories() -> None:
    good = ExecutionResult.success_result('p', 1, output={'t': 32.5})
    assert good == ExecutionResult(
        'p', 1, True, StepStatus.SUCCESS, '执行成功', {'t': 32.5}, good.timestamp
    )
    bad = ExecutionResult.failure_result('p', 3, message='stuck', output={'code': 'E503'})
    assert (bad.success, bad.status, bad.message) == (False, StepStatus.FAILED, 'stuck')
    assert bad.output == {'code': 'E503'}
    skipped = ExecutionResult.skipped_result('p', 4)
    assert (skipped.success, skipped.status) == (True, StepStatus.SKIPPED)
    assert skipped.message == '步骤已跳过'
    assert ExecutionResult.skipped_result('p', 4, message='no').message == 'no'


def test_a_result_is_a_failure_unless_its_dict_says_otherwise() -> None:
    result = ExecutionResult.from_dict({'plan_id': 'p', 'step_id': 1})
    assert (result.success, result.status) == (False, StepStatus.FAILED)


@settings(max_examples=examples(80), deadline=None)
@given(any_plans)
def test_every_plan_comes_back_as_it_was(plan: Plan) -> None:
    data = plan.to_dict()
    again = Plan.from_dict(json.loads(json.dumps(data, allow_nan=False)))
    assert again == plan
    assert again.to_dict() == data
    assert list(data) == [*dict.fromkeys(field.name for field in fields(Plan))]


@settings(max_examples=examples(60), deadline=None)
@given(results())
def test_every_result_comes_back_as_it_was(result: ExecutionResult) -> None:
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert ExecutionResult.from_dict(data) == result


def test_dicts_share_nothing_with_the_plan() -> None:
    plan = Plan('p', 'g', steps=[PlanStep(1, 'a', parameters={'query': 'mast'})])
    data = plan.to_dict()
    again = Plan.from_dict(data)
    data['steps'][0]['parameters']['query'] = 'changed'
    assert plan.steps[0].parameters == again.steps[0].parameters == {'query': 'mast'}


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
    wrong: Any = copy.deepcopy(good.to_dict())
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


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'plan_id': ' '}, "plan_id must be a text that is not empty, not ' '"),
        ({'goal': None}, 'goal must be a text that is not empty, not None'),
        ({'risk_level': 'huge'}, "risk_level must be one of low, medium, high, not 'huge'"),
        ({'risk_level': ['low']}, r"risk_level must be one of .* not \['low'\]"),
        ({'requires_confirmation': 'no'}, "requires_confirmation must be true or false, not 'no'"),
        ({'created_at': float('nan')}, 'created_at must be a time in seconds, not nan'),
        ({'created_at': True}, 'created_at must be a time in seconds, not True'),
        ({'metadata': [1]}, r'metadata must be an object, not \[1\]'),
        ({'metadata': {'a': [{'b': {1, 2}}]}}, r'metadata\.a\[0\]\.b must be a JSON value'),
        ({'metadata': {'a': 10**5000}}, r'metadata\.a must be a finite number, not a huge number'),
        ({'steps': {}}, r'steps must be a list, not \{\}'),
        ({'steps': [{'step_id': 1}]}, r'steps\[0\]\.action is missing'),
        ({'steps': [{'step_id': 1, 'action': ' '}]}, r'steps\[0\]\.action must be a text that'),
        ({'steps': [{'step_id': -1, 'action': 'a'}]}, r'steps\[0\]\.step_id .* not -1'),
        ({'steps': [{'step_id': True, 'action': 'a'}]}, r'steps\[0\]\.step_id .* not True'),
        ({'steps': ['go']}, r"steps\[0\] must be an object, not 'go'"),
        (
            {'steps': [{'step_id': 7, 'action': 'a'}, {'step_id': 7, 'action': 'b'}]},
            r'steps\[1\]\.step_id must be unique, not 7 again',
        ),
        ({'metadata': {'a': '\ud800'}}, r'metadata\.a must be valid Unicode'),
        ({'metadata': {'\ud800': 1}}, 'a key of metadata must be valid Unicode'),
        ({'reasoning': '\ud800'}, r"reasoning must be valid Unicode, not '\\ud800'"),
        ({'goal': '\x1c'}, r"goal must be a text that is not empty, not '\\x1c'"),
    ],
)
def test_the_error_names_field_and_value(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f'^{message}'):
        Plan.from_dict({'plan_id': 'p', 'goal': 'g', **change})


def test_what_is_missing_is_named() -> None:
    with pytest.raises(PlanError, match=r'^goal is missing'):
        Plan.from_dict({'plan_id': 'p'})
    with pytest.raises(PlanError, match=r'^plan must be an object'):
        Plan.from_dict([])  # type: ignore[arg-type]


def test_a_plan_holds_steps_with_ids_of_their_own() -> None:
    plan = Plan('p', 'g', steps=[PlanStep(5, 'a')])
    with pytest.raises(ValueError, match='step_id 5 is taken; the next free one is 6'):
        plan.add_step(PlanStep(5, 'b'))
    with pytest.raises(ValueError, match=r'steps\[1\]\.step_id must be unique'):
        Plan('p', 'g', steps=[PlanStep(5, 'a'), PlanStep(5, 'b')])
    with pytest.raises(ValueError, match=r'steps\[0\] must be a PlanStep'):
        Plan('p', 'g', steps=[{}])  # type: ignore[list-item]


def test_success_and_status_agree() -> None:
    with pytest.raises(ValueError, match='success must be true when status is success'):
        ExecutionResult('p', 1, False, StepStatus.SUCCESS)
    with pytest.raises(ValueError, match='success must be false when status is failed'):
        ExecutionResult('p', 1, True, StepStatus.FAILED)


def _nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {'a': value}
    return value


def test_nesting_is_bounded() -> None:
    assert PlanStep(1, 'a', parameters=_nested(32)).to_dict()['parameters'] == _nested(32)
    for levels in (33, 50_000):
        with pytest.raises(PlanError, match='must not be nested that deep'):
            PlanStep(1, 'a', parameters=_nested(levels))
    # The output of a step is the data of a ToolResult.
    ExecutionResult('p', 1, True, StepStatus.SUCCESS, output=_nested(100)).to_dict()
