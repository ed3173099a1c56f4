# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The tools, one for each skill that a model may call, ``stop`` and ``say``; the result of a call:
structured, with the same as text; and a question as an elicitation. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
import json
from typing import Any

from curiosity_rosa_demo.agent.skills.skill import Skill
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, Json, Question
from curiosity_rosa_demo.domain.models import read_json_object
from curiosity_rosa_demo.domain.plan import RiskLevel
from curiosity_rosa_demo.domain.skills import outcome_of
from curiosity_rosa_demo.domain.text import printable, valid_unicode
import mcp_types as types

STOP, SAY = 'stop', 'say'
BAD_ARGUMENTS, UNKNOWN_TOOL, BUSY, NOT_READY = 'PARAM_INVALID', 'UNKNOWN_TOOL', 'BUSY', 'NOT_READY'
FAILED, REFUSED = 'FAILED', 'REFUSED'
MAX_ANSWER_CHARS = 100_000
MAX_ARGUMENT_CHARS = 20_000
TURN_SKILL = 'react'  # what a sentence becomes
STOPPING_SKILLS = ('move_stop', 'stop_base')  # they hold no resource, and yet they act
MAX_TEXT_CHARS = 4000

STOP_TOOL = types.Tool(
    name=STOP,
    title='Stop the rover',
    description='Stop the rover at once and end all tasks. Always allowed; waits in no queue.',
    input_schema={'type': 'object', 'properties': {}, 'additionalProperties': False},
    annotations=types.ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    ),
)
SAY_TOOL = types.Tool(
    name=SAY,
    title='Say a sentence',
    description=(
        'Give the agent a sentence in English, Japanese or Chinese as the goal of a turn, such as '
        '"go to the light and take a picture", or a question, which it answers at once. Of the '
        'commands that begin with a colon only ":stop" passes, and stops the rover at once.'
    ),
    input_schema={
        'type': 'object',
        'properties': {'text': {'type': 'string', 'minLength': 1, 'maxLength': MAX_TEXT_CHARS}},
        'required': ['text'],
        'additionalProperties': False,
    },
    annotations=types.ToolAnnotations(
        read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
    ),
)
OUTPUT_SCHEMA: dict[str, Any] = {
    'type': 'object',
    'properties': {
        'ok': {'type': 'boolean'},
        'answer': {'type': 'string'},
        'state': {'type': 'string'},
        'task_id': {'type': 'string'},
        'score': {'type': ['number', 'null']},
        'data': {
            'type': ['object', 'null'],
            'description': 'what the tool has measured or done; units are in the names',
        },
        'error': {
            'type': ['object', 'null'],
            'description': 'code, why, rule, asked, allowed, way_out',
        },
    },
    'required': ['ok', 'answer'],
}


def tools_of(skills: Iterable[Skill]) -> list[types.Tool]:
    """``stop`` and ``say`` first, then the skills in their order. A skill of the same name as one
    of the two is left out.
    """
    own = [each for each in skills if each.definition.name not in (STOP, SAY)]
    tools = [STOP_TOOL, SAY_TOOL, *map(_tool_of, own)]
    return [each.model_copy(update={'output_schema': OUTPUT_SCHEMA}) for each in tools]


def _tool_of(skill: Skill) -> types.Tool:
    definition = skill.definition
    reads = (
        skill.settings.repeatable
        and not definition.resources_required
        and skill.settings.risk is RiskLevel.LOW
        and definition.name not in STOPPING_SKILLS
    )
    return types.Tool(
        name=definition.name,
        description=skill.description,
        input_schema=definition.args_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=reads,
            destructive_hint=skill.settings.risk is not RiskLevel.LOW,
            idempotent_hint=skill.settings.repeatable,
            open_world_hint=False,
        ),
        _meta={
            'curiosity/resources': list(definition.resources_required),
            'curiosity/risk': skill.settings.risk.value,
        },
    )


# --- Results -----------------------------------------------------------------------------------


def result_of(task: Task, data: Json | None = None) -> types.CallToolResult:
    """Of a ``task`` that has ended. ``data``: of its skill's result."""
    outcome = outcome_of(task.state, task.metadata, task.reason)
    error = None
    if not outcome.ok:
        error = outcome.refusal or _error(outcome.code or FAILED, outcome.answer)
    return _result(
        {
            'ok': outcome.ok,
            'answer': outcome.answer,
            'state': task.state.name,
            'task_id': task.id,
            'score': outcome.score,
            'data': data,
            'error': error,
        }
    )


def refused(code: str, why: str, *, way_out: str = '', asked: str = '') -> types.CallToolResult:
    """A call that became no task."""
    error = _error(code, why, way_out=way_out, asked=asked)
    return _result({'ok': False, 'answer': why, 'error': error})


def told(ok: bool, answer: str) -> types.CallToolResult:
    error = None if ok else _error(FAILED, answer)
    return _result({'ok': ok, 'answer': answer, 'error': error})


def _error(code: str, why: str, *, way_out: str = '', asked: str = '') -> Json:
    """The fields of domain/refusal.py, also for an error that no guardrail has raised."""
    known = {'code': code, 'why': why, 'asked': asked, 'way_out': way_out}
    return {**known, 'rule': '', 'allowed': ''}


def _result(value: Json) -> types.CallToolResult:
    text = valid_unicode(json.dumps(value, ensure_ascii=False, default=str))
    clean = json.loads(text)
    shown = clean['answer'][:MAX_ANSWER_CHARS]
    clean['answer'] = shown
    way_out = (clean['error'] or {}).get('way_out')
    if way_out and way_out not in shown:
        shown = f'{shown}\n{way_out}'
    return types.CallToolResult(
        content=[types.TextContent(text=shown)],
        structured_content=clean,
        is_error=not clean['ok'],
    )


# --- A question as an elicitation, and its answer----------------------------------------------


def elicitation_of(question: Question) -> types.ElicitRequestFormParams:
    reasons = ''.join(f'\n- {printable(each)}' for each in question.reasons)
    expected = [] if question.rehearsal is None else question.rehearsal.text.splitlines()
    rehearsed = ''.join(f'\n{printable(each)}' for each in expected)
    actions = ['approve', 'reject', *(['edit'] if question.op is not None else [])]
    properties: dict[str, Any] = {
        'decision': {'type': 'string', 'title': 'Decision', 'enum': actions},
        'why': {'type': 'string', 'title': 'Reason', 'maxLength': 500},
    }
    if question.op is not None:
        properties['arguments'] = {
            'type': 'string',
            'title': 'New arguments (JSON), only to edit',
            'default': json.dumps(question.op.arguments, ensure_ascii=False),
        }
    return types.ElicitRequestFormParams(
        message=f'May the rover do this: {printable(question.text)}?{reasons}{rehearsed}',
        requested_schema={'type': 'object', 'properties': properties, 'required': ['decision']},
    )


def answer_of(result: types.ElicitResult) -> tuple[ApprovalAction, Json | None, str] | None:
    """The answer for ``Robot.answer``; None: the client gave none, so page and console may.

    Only an explicit decision counts; everything that cannot be read rejects.
    """
    if result.action == 'cancel':
        return None
    content = result.content or {}
    decision, why = content.get('decision'), str(content.get('why') or '')[:500]
    if result.action == 'decline' or decision == 'reject':
        return ApprovalAction.REJECT, None, why or 'rejected by the MCP client'
    if decision == 'approve':
        return ApprovalAction.APPROVE, None, why
    if decision == 'edit':
        try:
            arguments = read_json_object(str(content.get('arguments')))
        except ValueError:
            return ApprovalAction.REJECT, None, 'the changed arguments are no JSON object'
        return ApprovalAction.EDIT, arguments, why
    return ApprovalAction.REJECT, None, 'the MCP client gave no decision'
