# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The OpenAPI description: every response of a route, and its security schemes."""

from __future__ import annotations

from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.models import FieldErrorView, ProblemView
from curiosity_rosa_demo.agent.interfaces.http.problems import MEDIA_TYPE, title
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

ResponseSpecs = dict[int | str, dict[str, Any]]

COMMON_STATUSES = (400, 401, 403, 413, 421, 429, 503)
PUBLIC_OPERATIONS = ('/healthz',)  # need no token
DETAILS = {
    400: 'The body is no JSON.',
    401: 'The token is missing or wrong.',
    403: 'The request comes from another site.',
    404: "There is no task '5f0c'",
    408: 'The body did not come within 10 s.',
    409: 'Task react 5f0c6a52 has ended: COMPLETED',
    413: 'The body is larger than 262144 bytes.',
    421: "This server is not 'evil.example'.",
    422: 'priority: Input should be less than or equal to 1000',
    429: 'Too many requests; try again in 1 s.',
    503: 'The agent does not answer; try again.',
}
HEADERS = {401: 'WWW-Authenticate', 429: 'Retry-After'}


def problems(*statuses: int) -> ResponseSpecs:
    """The error responses of a route: ``statuses``, and those that any request may get."""
    return {status: _declared(status) for status in sorted({*statuses, 408, *COMMON_STATUSES})}


def _declared(status: int) -> dict[str, Any]:
    example = {
        'type': 'about:blank',
        'title': title(status),
        'status': status,
        'detail': DETAILS[status],
        'instance': '/tasks',
    }
    answer: dict[str, Any] = {
        'description': title(status),
        'content': {
            MEDIA_TYPE: {
                'schema': {'$ref': '#/components/schemas/Problem'},
                'example': example,
            }
        },
    }
    if status in HEADERS:
        answer['headers'] = {HEADERS[status]: {'schema': {'type': 'string'}, 'required': True}}
    return answer


def media_type_response(media_type: str) -> ResponseSpecs:
    """The response of a route that does not answer with JSON."""
    return {200: {'content': {media_type: {'schema': {'type': 'string'}}}}}


def describe(app: FastAPI) -> None:
    """Set the OpenAPI schema of ``app``. Call it after all routes were added."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _completed_schema(
                get_openapi(
                    title=app.title,
                    version=app.version,
                    description=app.description,
                    routes=app.routes,
                )
            )
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _completed_schema(schema: dict[str, Any]) -> dict[str, Any]:
    components = schema.setdefault('components', {})
    schemas = components.setdefault('schemas', {})
    template = '#/components/schemas/{model}'
    problem = ProblemView.model_json_schema(ref_template=template)
    problem.pop('$defs', None)
    schemas |= {'Problem': problem, 'FieldErrorView': FieldErrorView.model_json_schema()}
    components['securitySchemes'] = {
        'token': {'type': 'http', 'scheme': 'bearer'},
        'session': {'type': 'apiKey', 'in': 'cookie', 'name': 'curiosity_<port>'},
    }
    # {}: without a configured token no client needs one.
    schema['security'] = [{'token': []}, {'session': []}, {}]
    for path in PUBLIC_OPERATIONS:
        for operation in schema['paths'].get(path, {}).values():
            operation['security'] = []
    return schema
