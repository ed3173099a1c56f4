# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The JSON schema of a plan, for a model or an editor.

``python -m curiosity_rosa_demo.domain.plan.json_schema`` prints schema/plan.schema.json.
"""

from __future__ import annotations

import json
from typing import Any

from curiosity_rosa_demo.domain.plan.plan import Plan
from curiosity_rosa_demo.domain.plan.validation import MAX_STEPS


def plan_schema() -> dict[str, Any]:
    """The JSON schema. Every Plan.to_dict() with steps is valid against it."""
    schema = Plan.model_json_schema(union_format='primitive_type_array')
    schema = _inlined(schema, schema.pop('$defs'))
    steps = schema['properties']['steps']
    steps.update(minItems=1, maxItems=MAX_STEPS)
    # The agent adds missing IDs.
    schema['required'], steps['items']['required'] = ['goal', 'steps'], ['action']
    return {'$schema': 'https://json-schema.org/draft/2020-12/schema', **schema}


def _inlined(part: Any, definitions: dict[str, Any]) -> Any:
    """``part`` with each reference replaced by its definition."""
    if isinstance(part, list):
        return [_inlined(each, definitions) for each in part]
    if not isinstance(part, dict):
        return part
    name = part.get('$ref', '').rpartition('/')[2]
    whole = {**definitions.get(name, {}), **part}
    return {key: _inlined(each, definitions) for key, each in whole.items() if key != '$ref'}


def schema_text() -> str:
    return json.dumps(plan_schema(), indent=2) + '\n'


if __name__ == '__main__':
    print(schema_text(), end='')
