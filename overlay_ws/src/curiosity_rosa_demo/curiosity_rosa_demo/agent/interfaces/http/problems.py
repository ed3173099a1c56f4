# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Errors as problem details (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
import json
from typing import Any

from curiosity_rosa_demo.agent.react.ask import QuestionNotFound
from curiosity_rosa_demo.agent.runtime.robot import RobotBusy
from curiosity_rosa_demo.agent.tasks.task import BadTask, StoreError, TaskError, UnknownTask
from curiosity_rosa_demo.domain.text import clip, valid_unicode
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

MEDIA_TYPE = 'application/problem+json'
RETRY_AFTER_S = 1
MAX_SHOWN_CHARS = 100  # characters of a value


class Problem(Exception):
    """Raised by a route. The response has ``status`` and the reason in ``detail``."""

    def __init__(
        self, status: int, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers, self.more = status, detail, headers, more


def title(status: int) -> str:
    return 'Misdirected Request' if status == 421 else HTTPStatus(status).phrase


def response(
    status: int, detail: str, path: str, headers: Mapping[str, str] | None = None, **more: Any
) -> Response:
    """``path``: path of the request. ``more``: additional members, such as ``errors``."""
    body = {
        'type': 'about:blank',
        'title': title(status),
        'status': status,
        'detail': valid_unicode(detail),
        'instance': valid_unicode(path),
        **more,
    }
    return Response(
        json.dumps(body),
        status_code=status,
        headers=dict(headers or {}),
        media_type=MEDIA_TYPE,
    )


async def refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    status: int,
    detail: str,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Answer in place of the application; a websocket is closed before it opens (403)."""
    if scope['type'] == 'websocket':
        await send({'type': 'websocket.close', 'code': 1008, 'reason': detail[:100]})
    else:
        await response(status, detail, scope['path'], headers)(scope, receive, send)


def problem_of(error: Exception) -> Problem:
    """The problem for a request that ended with ``error``. Raises an unexpected ``error``."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, RobotBusy | StoreError):
        return Problem(503, str(error), headers={'Retry-After': str(RETRY_AFTER_S)})
    if isinstance(error, UnknownTask | QuestionNotFound):
        return Problem(404, str(error))
    if isinstance(error, BadTask):
        return Problem(422, str(error))
    if isinstance(error, TaskError):
        return Problem(409, str(error))
    if isinstance(error, HTTPException):
        return Problem(error.status_code, str(error.detail), headers=error.headers)
    if isinstance(error, RequestValidationError):
        errors = [_field_error(each) for each in error.errors()]
        detail = '; '.join(f'{each["field"]}: {each["rule"]}' for each in errors)
        return Problem(422, detail, errors=errors)
    raise error


def _field_error(error: Mapping[str, Any]) -> dict[str, str]:
    """The field, its value and the rule. The value is text: it may not be valid JSON."""
    where = [str(part) for part in error['loc']]
    field = '.'.join(where[1:]) or where[0]
    value = '' if error['type'] == 'missing' else repr(error.get('input'))
    value = clip(value, MAX_SHOWN_CHARS)
    return {
        'field': valid_unicode(field),
        'value': valid_unicode(value),
        'rule': valid_unicode(error['msg']),
    }


def add_handlers(app: FastAPI) -> None:
    async def answer(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException) and error.status_code == 404:
            error = Problem(404, f'There is no {request.method} {request.url.path} here')
        problem = problem_of(error)
        path = request.url.path
        return response(problem.status, problem.detail, path, problem.headers, **problem.more)

    for kind in (Problem, TaskError, QuestionNotFound, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, answer)
