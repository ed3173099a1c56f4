# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The JSON schema of a plan, to hand to a model or an editor.

``python -m curiosity_rosa_demo.domain.plan.json_schema`` prints schema/plan.schema.json.
"""

from __future__ import annotations

from enum import Enum
import json
from typing import Any

from curiosity_rosa_demo.domain.plan.plan import PlanStatus, RiskLevel, StepStatus, ToolCallType
from curiosity_rosa_demo.domain.plan.validation import MAX_STEPS, WHOLE_END

AGENT = ' Set by the agent.'


def plan_schema() -> dict[str, Any]:
    """Takes every Plan.to_dict() that has steps."""
    return {
        '$schema': 'https://json-schema.org/draft/2020-12/schema',
        'title': 'Plan',
        'description': 'Steps that are carried out in their order, to reach a goal.',
        'type': 'object',
        'properties': {
            'plan_id': _required_text('Name of the plan; left out, it gets one.'),
            'goal': _required_text('What is to be reached.'),
            'reasoning': _text('Why these steps.', ''),
            'risk_level': _choice('high: a person is asked first.', RiskLevel.LOW),
            'requires_confirmation': _flag('A person is asked before the first step.'),
            'confirmation_message': _optional_text('What the person is asked.'),
            'steps': {
                'type': 'array',
                'minItems': 1,
                'maxItems': MAX_STEPS,
                'items': _step(),
            },
            'status': _choice('How far it is.' + AGENT, PlanStatus.CREATED),
            'created_at': {'type': 'number', 'description': 'Unix time, seconds.' + AGENT},
            'source': _text('Who wrote it.' + AGENT, 'llm'),
            'metadata': _object('Anything else.'),
        },
        'required': ['goal', 'steps'],
        'additionalProperties': False,
    }


def _step() -> dict[str, Any]:
    conditions = (
        'What must hold before, else the step fails: name of a fact, and its value; the name may '
        'end in _above, _below, _at_least, _at_most, _is_not, _in (list), _within ([low, high]).'
    )
    return {
        'type': 'object',
        'properties': {
            'step_id': {
                'type': 'integer',
                'minimum': 0,
                'exclusiveMaximum': WHOLE_END,
                'description': 'Unique in the plan; left out, the step gets a number.',
            },
            'action': _required_text('Name of the skill, for execute; a name for the others.'),
            'parameters': _object(
                'Arguments of the skill; speak: text; query_world and query_knowledge: query; '
                'ask_user: prompt.'
            ),
            'preconditions': _object(conditions),
            'fallback': _optional_text(
                'Skill to try once when the step fails; its arguments: metadata.'
                'fallback_parameters.'
            ),
            'status': _choice('How far it is.' + AGENT, StepStatus.PENDING),
            'description': _text('For people.', ''),
            'tool_call_type': _choice('What kind of step.', ToolCallType.EXECUTE),
            'requires_confirmation': _flag('A person is asked before the step.'),
            'confirmation_message': _optional_text('What the person is asked.'),
            'metadata': _object('Anything else.'),
        },
        'required': ['action'],
        'additionalProperties': False,
    }


def _required_text(description: str) -> dict[str, Any]:
    return {'type': 'string', 'pattern': r'\S', 'description': description}


def _text(description: str, default: str) -> dict[str, Any]:
    return {'type': 'string', 'default': default, 'description': description}


def _optional_text(description: str) -> dict[str, Any]:
    return {'type': ['string', 'null'], 'default': None, 'description': description}


def _flag(description: str) -> dict[str, Any]:
    return {'type': 'boolean', 'default': False, 'description': description}


def _object(description: str) -> dict[str, Any]:
    return {'type': 'object', 'default': {}, 'description': description}


def _choice(description: str, default: Enum) -> dict[str, Any]:
    values = [member.value for member in type(default)]
    return {'enum': values, 'default': default.value, 'description': description}


def schema_text() -> str:
    return json.dumps(plan_schema(), indent=2) + '\n'


if __name__ == '__main__':
    print(schema_text(), end='')
