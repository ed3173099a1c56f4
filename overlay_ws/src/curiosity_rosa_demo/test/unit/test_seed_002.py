# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The interfaces of seed 002, as its examples use them; only the import path is ours.

What it prints is asserted. Two things are stricter here on purpose: what a plan of a model says of
its own status is not believed, and whatever JSON cannot carry is refused.
"""

from __future__ import annotations

import dataclasses
from enum import Enum
import json
import time
from typing import Any

from curiosity_rosa_demo.domain.plan.plan import (
    create_plan_from_llm_response,
    ExecutionResult,
    Plan,
    PlanStatus,
    PlanStep,
    RiskLevel,
    StepStatus,
    ToolCallType,
)
import pytest

ENUMS: dict[type[Enum], str] = {
    RiskLevel: 'low medium high',
    StepStatus: 'pending running success failed skipped wait_confirmation',
    PlanStatus: 'created approved executing completed failed cancelled wait_confirmation',
    ToolCallType: 'execute ask_user speak query_world query_knowledge noop',
}
FIELDS = {
    PlanStep: 'step_id action parameters preconditions fallback status description tool_call_type '
    'requires_confirmation confirmation_message metadata',
    Plan: 'plan_id goal reasoning risk_level requires_confirmation confirmation_message steps '
    'status created_at source metadata',
    ExecutionResult: 'plan_id step_id success status message output timestamp',
}


@pytest.mark.parametrize('enum', ENUMS)
def test_the_enums_have_the_published_members(enum: type[Enum]) -> None:
    assert [each.value for each in enum] == ENUMS[enum].split()
    assert [each.name for each in enum] == ENUMS[enum].upper().split()


@pytest.mark.parametrize('cls', FIELDS)
def test_the_fields_come_in_the_published_order(cls: Any) -> None:
    assert [field.name for field in dataclasses.fields(cls)] == FIELDS[cls].split()


def test_the_example_of_a_result() -> None:
    before = time.time()
    result = ExecutionResult(
        plan_id='plan_001',
        step_id=1,
        success=True,
        status=StepStatus.SUCCESS,
        message='执行成功',
        output={'result': 'ok'},
    )
    data = result.to_dict()
    assert before <= result.timestamp <= time.time()
    assert ExecutionResult.from_dict(data) == result


def test_the_demonstration() -> None:
    # [1] 创建 Plan
    plan = Plan.create_new(
        goal='执行环境监测任务',
        reasoning='检测到环境参数异常,需要执行降温操作',
        risk_level=RiskLevel.MEDIUM,
        source='llm',
    )
    assert plan.plan_id.startswith('plan_')
    assert (plan.risk_level.value, plan.source) == ('medium', 'llm')

    # [2] 添加 PlanStep
    step1 = PlanStep(
        step_id=1,
        action='query_world_state',
        tool_call_type=ToolCallType.QUERY_WORLD,
        parameters={'query': 'temperature'},
        description='查询当前温度',
        metadata={'source': 'world_model'},
    )
    plan.add_step(step1)
    step2 = PlanStep(
        step_id=2,
        action='confirm_action',
        tool_call_type=ToolCallType.ASK_USER,
        parameters={'prompt': '是否启动降温设备?'},
        description='等待用户确认',
        requires_confirmation=True,
        confirmation_message='当前温度过高,是否启动降温?',
    )
    plan.add_step(step2)
    step3 = PlanStep(
        step_id=3,
        action='adjust_cooling',
        tool_call_type=ToolCallType.EXECUTE,
        parameters={'device_id': 'cooler_001', 'level': 3},
        preconditions={'temperature_above': 30},
        fallback='alert_operator',
        description='调整降温设备',
        metadata={'device': 'cooler', 'priority': 'high'},
    )
    plan.add_step(step3)
    step4 = PlanStep(
        step_id=4,
        action='speak_notification',
        tool_call_type=ToolCallType.SPEAK,
        parameters={'message': '降温设备已启动', 'volume': 0.8},
        description='通知操作员',
    )
    plan.add_step(step4)
    assert [
        f'{step.step_id}: {step.action} ({step.tool_call_type.value})' for step in plan.steps
    ] == [
        '1: query_world_state (query_world)',
        '2: confirm_action (ask_user)',
        '3: adjust_cooling (execute)',
        '4: speak_notification (speak)',
    ]

    # [3] 序列化为 Dict/JSON
    plan_dict = plan.to_dict()
    plan_json = json.dumps(plan_dict, indent=2, ensure_ascii=False)
    assert '"risk_level": "medium"' in plan_json

    # [4] 从 Dict 恢复 Plan
    restored_plan = Plan.from_dict(plan_dict)
    assert plan.plan_id == restored_plan.plan_id
    assert len(plan.steps) == len(restored_plan.steps)
    assert restored_plan == plan

    # [5] Plan 操作演示
    assert len(plan.get_pending_steps()) == 4
    step1.update_status(StepStatus.RUNNING)
    assert plan.get_current_step() is step1
    step1.update_status(StepStatus.SUCCESS)
    assert plan.get_current_step() is None
    step2.update_status(StepStatus.WAIT_CONFIRMATION)
    waiting = plan.get_waiting_confirmation_steps()
    assert [s.step_id for s in waiting] == [2]
    assert not plan.is_finished()
    assert not plan.is_success()
    assert plan.get_failed_steps() == []

    # [6] ExecutionResult 演示
    result1 = ExecutionResult.success_result(
        plan_id=plan.plan_id,
        step_id=1,
        message='温度查询成功',
        output={'temperature': 32.5, 'humidity': 65},
    )
    assert result1.to_dict()['output'] == {'temperature': 32.5, 'humidity': 65}
    result2 = ExecutionResult.failure_result(
        plan_id=plan.plan_id,
        step_id=3,
        message='设备通信失败',
        output={'error_code': 'E503', 'device': 'cooler_001'},
    )
    assert (result2.success, result2.to_dict()['status']) == (False, 'failed')
    result3 = ExecutionResult.skipped_result(
        plan_id=plan.plan_id,
        step_id=4,
        message='条件不满足,跳过通知',
    )
    assert (result3.success, result3.to_dict()['status']) == (True, 'skipped')

    # [7] 从 LLM 输出创建 Plan
    llm_response = {
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
                'description': '采集传感器数据',
            },
            {
                'step_id': 3,
                'action': 'speak_report',
                'tool_call_type': 'speak',
                'parameters': {'content': '巡检完成'},
                'description': '报告巡检结果',
            },
        ],
    }
    llm_plan = create_plan_from_llm_response(llm_response, source='llm')
    assert llm_plan.goal == '自动巡检任务'
    assert [
        step.to_dict() | written
        for step, written in zip(llm_plan.steps, llm_response['steps'], strict=True)
    ] == [step.to_dict() for step in llm_plan.steps]
