# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Repairs the fields of a plan that a model wrote, where a deviation has only one meaning."""

from __future__ import annotations

from dataclasses import fields
import json
import re
from typing import Any

from curiosity_rosa_demo.domain.plan.enums import ToolCallType
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


def repaired(data: object, *, plan_type: type[Any], step_type: type[Any]) -> dict[str, Any]:
    """The dict form of a Plan, from ``data``. Raises PlanError.

    An unknown field is omitted when it can only be a remark; the plan's metadata lists it under
    LEFT_OUT.
    """
    written = json_object(data, 'plan')
    if len(json.dumps(written, ensure_ascii=False)) > MAX_CHARS:
        raise PlanError(f'plan must not be longer than {MAX_CHARS} characters as JSON')
    left_out: list[str] = []
    plan = _known_fields(written, plan_type, left_out, path='', noun='plan')
    steps = plan.setdefault('steps', [])
    if not isinstance(steps, list):
        raise PlanError(f'steps must be a list, not {short_repr(steps)}')
    if len(steps) > MAX_STEPS:
        raise PlanError(f'steps must be at most {MAX_STEPS}, not {len(steps)}')
    plan['steps'] = [_step(index, step, step_type, left_out) for index, step in enumerate(steps)]
    _number(plan['steps'])
    if left_out:
        _record_left_out(plan, left_out)
    return plan


def _record_left_out(plan: dict[str, Any], left_out: list[str]) -> None:
    metadata = plan.setdefault('metadata', {})
    if isinstance(metadata, dict):  # else Plan raises PlanError for it
        metadata[LEFT_OUT] = left_out


def _step(index: int, data: object, step_type: type[Any], left_out: list[str]) -> dict[str, Any]:
    path = f'steps[{index}]'
    if not isinstance(data, dict):
        raise PlanError(
            f'{path} must be an object like {{"action": "..."}}, not {short_repr(data)}'
        )
    step = _known_fields(data, step_type, left_out, path=f'{path}.', noun='step')
    if 'tool_call_type' not in step:
        action = str(step.get('action', '')).strip().lower()
        step['tool_call_type'] = action if action in NOT_EXECUTED else ToolCallType.EXECUTE.value
    return step


def _known_fields(
    data: dict[str, Any], cls: type[Any], left_out: list[str], *, path: str, noun: str
) -> dict[str, Any]:
    """The fields of ``data`` that are not null, under the field names of ``cls``. Appends the
    paths of omitted unknown fields to ``left_out``.
    """
    names = {_letters(field.name): field.name for field in fields(cls)}
    known: dict[str, Any] = {}
    for key, value in data.items():
        name = names.get(_letters(key))
        if name is None:
            similar = [each for each in names.values() if each not in PROSE]
            reason = refusal(key, value, of_step=noun == 'step', similar_to=similar)
            if reason is not None:
                known_names = ', '.join(names.values())
                raise PlanError(
                    f'{path}{_short_key(key)} is no field of a {noun}; '
                    f'it has: {known_names} ({reason})'
                )
            left_out.append(f'{path}{_short_key(key)}')
            if len(left_out) > MAX_LEFT_OUT:
                raise PlanError(f'{path}{_short_key(key)}: too many fields that no plan has')
            continue
        if name in known:
            raise PlanError(f'{path}{name} must be there once, not twice')
        known[name] = _value(name, value)
    return {
        k: value
        for k, value in known.items()
        if value is not None and k not in KEYS_OF_THE_EXECUTION
    }


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
