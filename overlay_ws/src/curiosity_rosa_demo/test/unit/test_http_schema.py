# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whatever a client sends to any route: an answer that the description of the API tells, never a
5xx, and never none at all.

EXAMPLES requests go to each route; CURIOSITY_HTTP_EXAMPLES=500 for the full run.
"""

from __future__ import annotations

from collections.abc import Iterator
import os
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.domain.models import TraceKind
from examples import examples
from fake_robot import FakeRobot
from http_world import settings as http_settings
from http_world import URL
from hypothesis import HealthCheck, settings
import pytest
import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

EXAMPLES = int(os.environ.get('CURIOSITY_HTTP_EXAMPLES', examples(20)))
STREAMS = ('/events', '/camera.mjpg')
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
]
WITHOUT_LIMIT = http_settings(requests_per_s=1e9)
ANSWER_WAIT_S = 30.0


class Impatient:
    """A client that leaves a stream when it has seen something of it."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert scope['type'] == 'http', 'no lifespan here'

        async def sending(message: Any) -> None:
            await send(message)
            if message['type'] == 'http.response.body' and message.get('more_body', False):
                await send({'type': 'http.response.body', 'body': b'', 'more_body': False})
                raise OSError('the client has left')

        await self._app(scope, receive, sending)


def described() -> Any:
    with FakeRobot() as robot:
        return create_app(robot.runner, robot=robot).openapi()


SCHEMA = schemathesis.openapi.from_dict(described())


@pytest.fixture
def robot() -> Iterator[FakeRobot]:
    with FakeRobot(step_s=0.0) as robot:
        robot.trace(TraceKind.OBSERVE, 'hello')
        robot.ask('Drive?', {'skill': 'move_forward', 'arguments': {'duration_s': 1.0}})
        yield robot


@pytest.fixture
def app(robot: FakeRobot) -> Any:
    return Impatient(create_app(robot.runner, robot=robot, settings=WITHOUT_LIMIT))


@SCHEMA.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)
def test_every_request_gets_an_answer_that_was_described(case: Any, app: Any):
    case.operation.schema.app = app
    response = case.call(base_url=URL, app=app, timeout=ANSWER_WAIT_S)
    case.validate_response(response, checks=CHECKS)
