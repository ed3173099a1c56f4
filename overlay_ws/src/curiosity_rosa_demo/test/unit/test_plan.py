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
    create_plan_from_llm_response,
    ExecutionResult,
    Plan,
    PlanError,
    PlanStep,
    RiskLevel,
    StepStatus,
    ToolCallType,
)
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_strategies import any_plans, results
import pytest
from strategies import json_values

# The examples of the protocol's own documentation.


def test_a_step_is_made_and_goes_on() -> None:
    step = PlanStep(
        step_id=1,
        action='adjust_fan',
        tool_call_type=ToolCallType.EXECUTE,
        parameters={'fan_id': 'fan_001', 'speed': 3},
        description='调整风扇速度',
    )
    assert step.status is StepStatus.PENDING
    assert (step.fallback, step.confirmation_message, step.metadata) == (None, None, {})
    step.update_status(StepStatus.RUNNING)
    assert step.status is StepStatus.RUNNING


def test_a_plan_is_made_of_steps() -> None:
    plan = Plan(
        plan_id='plan_001',
        goal='完成任务A',
        reasoning='因为条件满足',
        risk_level=RiskLevel.LOW,
        source='llm',
    )
    assert plan.next_step_id() == 1
    plan.add_step(PlanStep(step_id=1, action='step1', parameters={}))
    plan.add_step(PlanStep(step_id=2, action='step2', parameters={}))
    assert [step.step_id for step in plan.get_pending_steps()] == [1, 2]
    assert plan.next_step_id() == 3


def test_a_result_is_made() -> None:
    result = ExecutionResult(
        plan_id='plan_001',
        step_id=1,
        success=True,
        status=StepStatus.SUCCESS,
        message='执行成功',
        output={'result': 'ok'},
    )
    data = result.to_dict()
    assert data.pop('timestamp') > 0
    assert data == {
        'plan_id': 'plan_001',
        'step_id': 1,
        'success': True,
        'status': 'success',
        'message': '执行成功',
        'output': {'result': 'ok'},
    }


def cooling_plan() -> Plan:
    plan = Plan.create_new(
        goal='执行环境监测任务',
        reasoning='检测到环境参数异常,需要执行降温操作',
        risk_level=RiskLevel.MEDIUM,
        source='llm',
    )
    plan.add_step(
        PlanStep(
            step_id=1,
            action='query_world_state',
            tool_call_type=ToolCallType.QUERY_WORLD,
            parameters={'query': 'temperature'},
            metadata={'source': 'world_model'},
        )
    )
    plan.add_step(
        PlanStep(
            step_id=2,
            action='confirm_action',
            tool_call_type=ToolCallType.ASK_USER,
            parameters={'prompt': '是否启动降温设备?'},
            requires_confirmation=True,
            confirmation_message='当前温度过高,是否启动降温?',
        )
    )
    plan.add_step(
        PlanStep(
            step_id=3,
            action='adjust_cooling',
            tool_call_type=ToolCallType.EXECUTE,
            parameters={'device_id': 'cooler_001', 'level': 3},
            preconditions={'temperature_above': 30},
            fallback='alert_operator',
            metadata={'device': 'cooler', 'priority': 'high'},
        )
    )
    plan.add_step(
        PlanStep(
            step_id=4,
            action='speak_notification',
            tool_call_type=ToolCallType.SPEAK,
            parameters={'message': '降温设备已启动', 'volume': 0.8},
        )
    )
    return plan


def test_the_demonstration_plan_comes_back_from_its_dict() -> None:
    plan = cooling_plan()
    assert plan.plan_id.startswith('plan_')
    assert len(plan.plan_id) == len('plan_') + 8
    text = json.dumps(plan.to_dict(), indent=2, ensure_ascii=False)
    assert Plan.from_dict(json.loads(text)) == plan
    assert plan.created_at > 0


def test_the_demonstration_plan_tells_where_it_is() -> None:
    plan = cooling_plan()
    first, second, third, fourth = plan.steps
    assert len(plan.get_pending_steps()) == 4
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
    good = ExecutionResult.success_result('p', 1, message='温度查询成功', output={'t': 32.5})
    assert (good.success, good.status, good.output) == (True, StepStatus.SUCCESS, {'t': 32.5})
    assert ExecutionResult.success_result('p', 1).message == '执行成功'
    bad = ExecutionResult.failure_result('p', 3, message='设备通信失败', output={'code': 'E503'})
    assert (bad.success, bad.status, bad.output) == (False, StepStatus.FAILED, {'code': 'E503'})
    skipped = ExecutionResult.skipped_result('p', 4)
    assert (skipped.success, skipped.status) == (True, StepStatus.SKIPPED)
    assert skipped.message == '步骤已跳过'
    assert ExecutionResult.skipped_result('p', 4, message='条件不满足').message == '条件不满足'


def test_a_result_is_a_failure_unless_its_dict_says_otherwise() -> None:
    result = ExecutionResult.from_dict({'plan_id': 'p', 'step_id': 1})
    assert (result.success, result.status) == (False, StepStatus.FAILED)


def test_a_models_plan_is_made() -> None:
    plan = create_plan_from_llm_response(
        {
            'goal': '自动巡检任务',
            'reasoning': '定时任务触发,执行标准巡检流程',
            'risk_level': 'low',
            'requires_confirmation': False,
            'steps': [
                {
                    'step_id': 1,
                    'action': 'move_to_location',
                    'tool_call_type': 'execute',
                    'parameters': {'target': 'zone_A'},
                    'description': '移动到巡检区域A',
                },
                {
                    'step_id': 2,
                    'action': 'capture_sensor_data',
                    'tool_call_type': 'execute',
                    'parameters': {'sensors': ['temp', 'humidity']},
                },
                {
                    'step_id': 3,
                    'action': 'speak_report',
                    'tool_call_type': 'speak',
                    'parameters': {'content': '巡检完成'},
                },
            ],
        },
        source='llm',
    )
    assert plan.plan_id.startswith('plan_')
    assert plan.goal == '自动巡检任务'
    assert plan.source == 'llm'
    assert [step.step_id for step in plan.steps] == [1, 2, 3]
    assert plan.steps[2].tool_call_type is ToolCallType.SPEAK
    assert plan.steps[1].parameters == {'sensors': ['temp', 'humidity']}


# Round trips and refusals.


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
    plan = cooling_plan()
    data = plan.to_dict()
    again = Plan.from_dict(data)
    data['steps'][0]['parameters']['query'] = 'changed'
    assert plan.steps[0].parameters == again.steps[0].parameters == {'query': 'temperature'}


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
