# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The plan that a model or a person wrote, where a deviation has only one meaning."""

from __future__ import annotations

import json
import re
from typing import Any

from curiosity_rosa_demo.domain.plan.plan import new_plan_id, Plan, PlanStep, ToolCallType
from curiosity_rosa_demo.domain.plan.reader import read_plan
from curiosity_rosa_demo.domain.plan.unknown_fields import refusal
from curiosity_rosa_demo.domain.plan.validation import (
    json_object,
    MAX_CHARS,
    MAX_STEPS,
    PlanError,
    short_repr,
)

PROGRESS_KEY = 'progress'  # in the metadata: the progress of the plan's execution
LEFT_OUT = 'left_out'  # in a plan's metadata: the paths of omitted unknown fields
MAX_LEFT_OUT = 3 * MAX_STEPS  # bounds the time for the checks of unknown fields
NOT_EXECUTED = {kind.value for kind in ToolCallType} - {ToolCallType.EXECUTE.value}
KEYS_OF_THE_EXECUTION = ('status', 'created_at', 'source')  # the agent sets them
PROSE = ('goal', 'reasoning', 'description')  # fields without an effect on the execution
CHOICE_KEYS = ('risk_level', 'tool_call_type')
_WHOLE_NUMBER = re.compile(r'\s*\+?[0-9]{1,19}(\.0*)?\s*', re.ASCII)


def create_plan_from_llm_response(llm_output: dict[str, Any] | str, source: str = 'llm') -> Plan:
    """Create the plan that a model or a person wrote, as an object or as text that contains one.

    Deviations from JSON and from the schema are accepted if they have only one meaning
    (docs/reference/plans.md). An unknown field is omitted when it can only be a remark; the plan's
    metadata lists it under LEFT_OUT. The plan is new: its written status, time and source are
    ignored. Raises PlanError, whose message names the place and a valid form.
    """
    written = read_plan(llm_output) if isinstance(llm_output, str) else llm_output
    written = json_object(written, 'plan')
    if len(json.dumps(written, ensure_ascii=False)) > MAX_CHARS:
        raise PlanError(f'plan must not be longer than {MAX_CHARS} characters as JSON')
    left_out: list[str] = []
    plan = _known_fields(written, Plan, left_out)
    steps = plan.get('steps', [])
    if not isinstance(steps, list):
        raise PlanError(f'steps must be a list, not {short_repr(steps)}')
    if len(steps) > MAX_STEPS:
        raise PlanError(f'steps must be at most {MAX_STEPS}, not {len(steps)}')
    plan['steps'] = [_step(index, step, left_out) for index, step in enumerate(steps)]
    _number(plan['steps'])
    made = Plan.from_dict({'plan_id': new_plan_id(), **plan, 'source': source})
    if left_out:
        made.metadata[LEFT_OUT] = left_out
    return made


def _step(index: int, data: object, left_out: list[str]) -> dict[str, Any]:
    path = f'steps[{index}]'
    if not isinstance(data, dict):
        raise PlanError(
            f'{path} must be an object like {{"action": "..."}}, not {short_repr(data)}'
        )
    step = _known_fields(data, PlanStep, left_out, f'{path}.')
    if 'tool_call_type' not in step:
        action = str(step.get('action', '')).strip().lower()
        step['tool_call_type'] = action if action in NOT_EXECUTED else ToolCallType.EXECUTE.value
    return step


def _known_fields(
    data: dict[str, Any], cls: type[Plan | PlanStep], left_out: list[str], path: str = ''
) -> dict[str, Any]:
    """The fields of ``data`` that are not null, under the field names of ``cls``. Appends the
    paths of omitted unknown fields to ``left_out``.
    """
    names = {_letters(name): name for name in cls.model_fields}
    known: dict[str, Any] = {}
    for key, value in data.items():
        name = names.get(_letters(key))
        if name is None:
            left_out.append(f'{path}{_short_key(key)}')
            _check_remark(key, value, cls, left_out)
        elif name in known:
            raise PlanError(f'{path}{name} must be there once, not twice')
        else:
            known[name] = _value(name, value)
    return {
        k: value
        for k, value in known.items()
        if value is not None and k not in KEYS_OF_THE_EXECUTION
    }


def _check_remark(key: str, value: Any, cls: type[Plan | PlanStep], left_out: list[str]) -> None:
    """Raises PlanError for an unknown field that may have an effect, and for too many of them."""
    similar = [each for each in cls.model_fields if each not in PROSE]
    reason = refusal(key, value, of_step=cls is PlanStep, similar_to=similar)
    if reason is not None:
        noun = 'step' if cls is PlanStep else 'plan'
        known_names = ', '.join(cls.model_fields)
        raise PlanError(
            f'{left_out[-1]} is no field of a {noun}; it has: {known_names} ({reason})'
        )
    if len(left_out) > MAX_LEFT_OUT:
        raise PlanError(f'{left_out[-1]}: too many fields that no plan has')


def _value(name: str, value: Any) -> Any:
    if name in CHOICE_KEYS and isinstance(value, str):
        return re.sub(r'[\s-]+', '_', value.strip().lower())
    if name == 'step_id' and isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value):
        return int(value.partition('.')[0])
    if name == 'step_id' and isinstance(value, float) and value.is_integer():
        return int(value)
    if name == 'metadata' and isinstance(value, dict):
        return {key: item for key, item in value.items() if key not in (PROGRESS_KEY, LEFT_OUT)}
    return value


def _number(steps: list[dict[str, Any]]) -> None:
    """Give each step without an ID the lowest free number, from 1."""
    taken = {step['step_id'] for step in steps if isinstance(step.get('step_id'), int)}
    free = (number for number in range(1, 2 * MAX_STEPS + 1) if number not in taken)
    for step in steps:
        if 'step_id' not in step:
            step['step_id'] = next(free)


def _letters(name: str) -> str:
    """A normal form: equal for ``precondition``, ``Preconditions`` and ``preConditions``."""
    return re.sub(r'[\s_-]+', '', name.lower()).removesuffix('s')


def _short_key(key: str) -> str:
    return key if key.isidentifier() and len(key) <= 40 else short_repr(key)
