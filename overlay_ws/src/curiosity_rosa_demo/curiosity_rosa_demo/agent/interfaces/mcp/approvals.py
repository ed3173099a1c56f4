# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The question of a call's own task, as an elicitation, and its answer. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import json
from typing import Any

from curiosity_rosa_demo.agent.interfaces.mcp.tools import TURN_SKILL
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, Json, Question
from curiosity_rosa_demo.domain.text import printable
import mcp_types as types

ELICITED_KEY = 'approval'
MAX_ANSWER_CHARS = 20_000


def own_question(
    questions: Iterable[Question], task: Task, running: Sequence[Task], since_s: float
) -> Question | None:
    """The question that ``task`` waits for; None: none is surely its own. A client must not
    answer for another's order. ``running``: all tasks that run; ``since_s``: when the call began,
    in seconds since the epoch.
    """
    others = [each for each in running if each.id != task.id]
    for question in questions:
        if question.id == task.id:
            return question
        op = question.op
        if question.asked_at < since_s or not task.state.running:
            continue
        if task.name == TURN_SKILL:
            # Another turn could ask anything, another skill only for itself.
            if all(
                each.name != TURN_SKILL and (op is None or each.name != op.skill)
                for each in others
            ):
                return question
        elif op is not None and op.skill == task.name:
            same = [each for each in others if each.name in (task.name, TURN_SKILL)]
            if not same and op.arguments == task.metadata.get('arguments', {}):
                return question
    return None


def elicitation_of(question: Question) -> types.ElicitRequestFormParams:
    reasons = ''.join(f'\n- {printable(each)}' for each in question.reasons)
    rehearsal = question.rehearsal
    told = (
        '' if rehearsal is None else '\n' + '\n'.join(map(printable, rehearsal.text.splitlines()))
    )
    actions = ['approve', 'reject', *(['edit'] if question.op is not None else [])]
    schema: dict[str, Any] = {
        'type': 'object',
        'properties': {
            'decision': {'type': 'string', 'title': 'Decision', 'enum': actions},
            'why': {'type': 'string', 'title': 'Reason', 'maxLength': 500},
        },
        'required': ['decision'],
    }
    if question.op is not None:
        arguments = json.dumps(question.op.arguments, ensure_ascii=False)
        schema['properties']['arguments'] = {
            'type': 'string',
            'title': 'New arguments (JSON), only to edit',
            'default': arguments,
        }
    return types.ElicitRequestFormParams(
        message=f'May the rover do this: {printable(question.text)}?{reasons}{told}',
        requested_schema=schema,
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
        arguments = _json_object(content.get('arguments'))
        if arguments is not None:
            return ApprovalAction.EDIT, arguments, why
        return ApprovalAction.REJECT, None, 'the changed arguments are no JSON object'
    return ApprovalAction.REJECT, None, 'the MCP client gave no decision'


def _json_object(text: object) -> Json | None:
    if not isinstance(text, str) or len(text) > MAX_ANSWER_CHARS:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
