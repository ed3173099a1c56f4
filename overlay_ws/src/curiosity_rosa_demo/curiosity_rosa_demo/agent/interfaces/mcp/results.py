# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The result of a tool call: structured, with the same as text. Pure."""

from __future__ import annotations

import json
import math

from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.text import valid_unicode
from curiosity_rosa_demo.trace.reporter import finite_float
import mcp_types as types

MAX_TEXT_CHARS = 100_000
BAD_ARGUMENTS, UNKNOWN_TOOL, BUSY, NOT_READY = 'PARAM_INVALID', 'UNKNOWN_TOOL', 'BUSY', 'NOT_READY'
CANCELLED, FAILED, REFUSED = 'CANCELLED', 'FAILED', 'REFUSED'


def result_of(task: Task) -> types.CallToolResult:
    """Of a ``task`` that has ended."""
    stored = task.metadata.get('outcome')
    outcome = stored if isinstance(stored, dict) else {}
    ok = task.state is LifecycleState.COMPLETED and bool(outcome.get('ok', True))
    answer = str(outcome.get('answer') or '')
    if not ok:
        answer = task.reason or answer or 'failed'
    score = finite_float(outcome.get('score'))
    error: Json | None = None
    if not ok:
        refusal = outcome.get('refusal')
        code = CANCELLED if task.state is LifecycleState.CANCELLED else outcome.get('code', FAILED)
        error = refusal if isinstance(refusal, dict) else error_value(code, answer)
    return _result(
        {
            'ok': ok,
            'answer': answer or 'done',
            'state': task.state.name,
            'task_id': task.id,
            'score': None if score is None or math.isnan(score) else score,
            'error': error,
        }
    )


def refused(code: str, why: str, *, way_out: str = '', asked: str = '') -> types.CallToolResult:
    """A call that became no task."""
    error = error_value(code, why, way_out=way_out, asked=asked)
    return _result({'ok': False, 'answer': why, 'error': error})


def told(ok: bool, answer: str) -> types.CallToolResult:
    error = None if ok else error_value(FAILED, answer)
    return _result({'ok': ok, 'answer': answer, 'error': error})


def error_value(code: str, why: str, *, way_out: str = '', asked: str = '') -> Json:
    """The fields of domain/refusal.py, also for an error that no guardrail has raised."""
    return {
        'code': code,
        'why': why,
        'rule': '',
        'asked': asked,
        'allowed': '',
        'way_out': way_out,
    }


def _result(value: Json) -> types.CallToolResult:
    text = valid_unicode(json.dumps(value, ensure_ascii=False, default=str))
    clean = json.loads(text)
    shown = clean['answer'][:MAX_TEXT_CHARS]
    clean['answer'] = shown
    way_out = (clean['error'] or {}).get('way_out')
    if way_out and way_out not in shown:
        shown = f'{shown}\n{way_out}'
    return types.CallToolResult(
        content=[types.TextContent(text=shown)],
        structured_content=clean,
        is_error=not clean['ok'],
    )
