# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

from dataclasses import fields, MISSING
from enum import Enum
import json
from pathlib import Path
import re
from typing import Any

from curiosity_rosa_demo.domain.plan.json_schema import plan_schema, schema_text
from curiosity_rosa_demo.domain.plan.plan import create_plan_from_llm_response, Plan, PlanStep
from examples import examples
from hypothesis import given, settings
from plan_strategies import any_plans
import pytest

PACKAGE = Path(__file__).resolve().parents[2]
DOCS = PACKAGE.parents[2] / 'docs' / 'reference' / 'plans.md'


def test_the_file_is_what_the_code_says() -> None:
    file = PACKAGE / 'schema' / 'plan.schema.json'
    assert file.read_text() == schema_text(), (
        f'run: python -m curiosity_rosa_demo.domain.plan.json_schema > {file}'
    )


@pytest.mark.parametrize(
    ('schema', 'cls', 'needed'),
    [
        (plan_schema(), Plan, {'goal', 'steps'}),
        (plan_schema()['properties']['steps']['items'], PlanStep, {'action'}),
    ],
)
def test_the_schema_has_the_fields_of_the_classes(
    schema: dict[str, Any], cls: Any, needed: set[str]
) -> None:
    assert set(schema['required']) == needed
    assert set(schema['properties']) == {field.name for field in fields(cls)}
    for field in fields(cls):
        inner = schema['properties'][field.name]
        assert inner.get('description') or field.name == 'steps'
        if 'default' in inner:
            made = field.default_factory
            default = field.default if made is MISSING else made()
            assert inner['default'] == (default.value if isinstance(default, Enum) else default)


TYPES: dict[str, Any] = {
    'object': dict,
    'array': list,
    'string': str,
    'boolean': bool,
    'null': type(None),
}


def fits(schema: dict[str, Any], value: Any) -> bool:
    """The part of JSON Schema that the plan's schema uses."""
    known = {'$schema', 'title', 'description', 'default', 'type', 'enum', 'pattern', 'minimum'}
    known |= {'exclusiveMaximum', 'minItems', 'maxItems', 'items', 'properties', 'required'}
    assert set(schema) <= known | {'additionalProperties'}
    if 'enum' in schema:
        return value in schema['enum']
    kinds = schema['type'] if isinstance(schema['type'], list) else [schema['type']]
    if kinds in (['integer'], ['number']):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        low, end = schema.get('minimum', value), schema.get('exclusiveMaximum', value + 1)
        return kinds == ['number'] or (isinstance(value, int) and low <= value < end)
    if not any(isinstance(value, TYPES[kind]) for kind in kinds):
        return False
    if isinstance(value, str):
        return re.search(schema.get('pattern', ''), value) is not None
    if isinstance(value, list):
        counted = schema['minItems'] <= len(value) <= schema['maxItems']
        return counted and all(fits(schema['items'], item) for item in value)
    if isinstance(value, dict) and 'properties' in schema:
        inner = schema['properties']
        fields_fit = all(key in inner and fits(inner[key], item) for key, item in value.items())
        return fields_fit and set(schema['required']) <= set(value)
    return True


@settings(max_examples=examples(25), deadline=None)
@given(any_plans.filter(lambda plan: bool(plan.steps)))
def test_every_plan_fits_the_schema(plan: Plan) -> None:
    data = plan.to_dict()
    assert fits(plan_schema(), data)
    del data['goal']
    assert not fits(plan_schema(), data)


def test_the_example_of_the_documentation_is_a_plan() -> None:
    examples = re.findall(r'```json\n(.*?)```', DOCS.read_text(), re.DOTALL)
    assert examples
    for example in examples:
        assert fits(plan_schema(), json.loads(example))
        assert create_plan_from_llm_response(example).steps


def test_the_documentation_names_every_field() -> None:
    text = DOCS.read_text()
    for cls in (Plan, PlanStep):
        for field in fields(cls):
            assert f'| `{field.name}` |' in text
