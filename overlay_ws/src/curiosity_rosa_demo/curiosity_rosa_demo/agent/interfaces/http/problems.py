# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Errors as problem details (RFC 9457): their status, their answer, and their part of the OpenAPI
description.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
import json
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.models import ProblemView
from curiosity_rosa_demo.agent.react.ask import QuestionNotFound
from curiosity_rosa_demo.agent.runtime.task_port import RobotBusy
from curiosity_rosa_demo.agent.tasks.task import BadTask, StoreError, TaskError, UnknownTask
from curiosity_rosa_demo.domain.adapter_status import UnknownTrigger
from curiosity_rosa_demo.domain.text import clip, valid_unicode
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

MEDIA_TYPE = 'application/problem+json'
MAX_SHOWN_CHARS = 100  # characters of a value
RETRY_SOON = {'Retry-After': '1'}
STATUSES: dict[type[Exception], int] = {  # of a subclass: its own, else that of its base
    BadTask: 422,
    QuestionNotFound: 404,
    RobotBusy: 503,
    StoreError: 503,
    TaskError: 409,
    UnknownTask: 404,
    UnknownTrigger: 404,
}


class Problem(Exception):
    """Raised by a route. The response has ``status`` and the reason in ``detail``. ``more``:
    additional members, such as ``errors``.
    """

    def __init__(
        self, status: int, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers, self.more = status, detail, headers, more

    def body(self, path: str) -> dict[str, Any]:
        """``path``: path of the request."""
        return {
            'type': 'about:blank',
            'title': HTTPStatus(self.status).phrase,
            'status': self.status,
            'detail': valid_unicode(self.detail),
            'instance': valid_unicode(path),
            **self.more,
        }

    def response(self, path: str) -> Response:
        return Response(json.dumps(self.body(path)), self.status, self.headers, MEDIA_TYPE)


async def refuse(scope: Scope, receive: Receive, send: Send, problem: Problem) -> None:
    """Answer in place of the application; a websocket is closed before it opens (403)."""
    if scope['type'] == 'websocket':
        await send({'type': 'websocket.close', 'code': 1008, 'reason': problem.detail[:100]})
    else:
        await problem.response(scope['path'])(scope, receive, send)


def add_handlers(app: FastAPI) -> None:
    async def answer(request: Request, error: Exception) -> Response:
        return _problem_of(error, request).response(request.url.path)

    for kind in (Problem, HTTPException, RequestValidationError, *STATUSES):
        app.add_exception_handler(kind, answer)


def _problem_of(error: Exception, request: Request) -> Problem:
    if isinstance(error, Problem):
        return error
    if isinstance(error, HTTPException):
        detail, headers, path = str(error.detail), error.headers, request.url.path
        if error.status_code == 404:
            detail = f'There is no {request.method} {path} here'
        elif error.status_code == 405:
            routes = [each for each in request.app.routes if isinstance(each, Route)]
            at_path = [each.methods or () for each in routes if each.path_regex.match(path)]
            allowed = ', '.join(sorted({method for each in at_path for method in each}))
            detail = f'{path} takes {allowed}, not {request.method[:20]}.'
            headers = {'Allow': allowed}
        return Problem(error.status_code, detail, headers=headers)
    if isinstance(error, RequestValidationError):
        errors = [_field_error(each) for each in error.errors()]
        detail = '; '.join(f'{each["field"]}: {each["rule"]}' for each in errors)
        return Problem(422, detail, errors=errors)
    status = next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)
    return Problem(status, str(error), headers=RETRY_SOON if status == 503 else None)


def _field_error(error: Mapping[str, Any]) -> dict[str, str]:
    """The field, its value and the rule. The value is text: it may not be valid JSON."""
    where = [str(part) for part in error['loc']]
    value = '' if error['type'] == 'missing' else repr(error.get('input'))
    return {
        'field': valid_unicode('.'.join(where[1:]) or where[0]),
        'value': valid_unicode(clip(value, MAX_SHOWN_CHARS)),
        'rule': valid_unicode(error['msg']),
    }


# --- The OpenAPI description -------------------------------------------------------------------


def error_answers() -> dict[int | str, dict[str, Any]]:
    """The answers of every route but those that succeed: one description for all."""
    example = Problem(409, 'Task react 5f0c6a52 has ended: COMPLETED').body('/tasks/5f0c6a52')
    content = {'schema': {'$ref': '#/components/schemas/Problem'}, 'example': example}
    text = 'An error. 401 has the header WWW-Authenticate, 429 has Retry-After.'
    return {'default': {'description': text, 'content': {MEDIA_TYPE: content}}}


def no_json(media_type: str) -> dict[str, Any]:
    """The description of a route that does not answer with JSON."""
    content = {media_type: {'schema': {'type': 'string'}}}
    return {'response_class': Response, 'responses': {200: {'content': content}}}


def describe(app: FastAPI) -> None:
    """Set the OpenAPI schema of ``app``. Call it after all routes were added."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _schema(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _schema(app: FastAPI) -> dict[str, Any]:
    schema = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    problem = ProblemView.model_json_schema(ref_template='#/components/schemas/{model}')
    components = schema.setdefault('components', {})
    components.setdefault('schemas', {}).update(problem.pop('$defs'), Problem=problem)
    components['securitySchemes'] = {
        'token': {'type': 'http', 'scheme': 'bearer'},
        'session': {'type': 'apiKey', 'in': 'cookie', 'name': 'curiosity_<port>'},
    }
    # {}: without a configured token no client needs one. /healthz never needs one.
    schema['security'] = [{'token': []}, {'session': []}, {}]
    schema['paths']['/healthz']['get']['security'] = []
    return schema
