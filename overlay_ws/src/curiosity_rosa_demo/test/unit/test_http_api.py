# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The API as it is described: the answers of every route, the examples of docs/reference/http.md,
and create_app(runner) without ROS.

REQUESTS go to each route; CURIOSITY_HTTP_EXAMPLES=500 for the full run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
import json
import os
from pathlib import Path
import re
import subprocess
import sys
import time
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.page.page import add_page
from curiosity_rosa_demo.agent.interfaces.triggers.door import TriggerBoard
from curiosity_rosa_demo.agent.tasks import SkillRunner, Task
from curiosity_rosa_demo.domain.brain_state import Question
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.pictures import Picture
from curiosity_rosa_demo.infra.config.behaviour import TriggerConfig
from curiosity_rosa_demo.trace.trace_codec import new_event
from examples import examples
from fake_robot import analyzed, FakeRobot, jpeg
from http_world import served as serve
from http_world import settings as http_settings
from http_world import URL, Wire
from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st
from mcap_world import a_drive, write_run
import pytest
from runtime_world import CONFIG, RobotBench, RuntimeBench
import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)
from skill_world import LONG_S
from test_architecture import PACKAGE, ROOT

REQUESTS = int(os.environ.get('CURIOSITY_HTTP_EXAMPLES', examples(20)))
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


def whole_app(robot: Any, folder: Path | None = None, **options: Any) -> Any:
    """With the page. ``folder``: of recordings."""
    app = create_app(robot, **options)
    add_page(app, robot, CONFIG, recordings=folder)
    return app


def described() -> Any:
    with FakeRobot() as robot:
        return whole_app(robot).openapi()


DESCRIBED = described()
SCHEMA = schemathesis.openapi.from_dict(DESCRIBED)


@pytest.fixture
def robot() -> Iterator[FakeRobot]:
    with FakeRobot(step_s=0.0) as robot:
        robot.trace(TraceKind.OBSERVE, 'hello')
        robot.ask('Drive?', {'skill': 'move_forward', 'arguments': {'duration_s': 1.0}})
        yield robot


@pytest.fixture
def app(robot: FakeRobot) -> Any:
    return Impatient(whole_app(robot, settings=WITHOUT_LIMIT))


@SCHEMA.parametrize()
@settings(
    max_examples=REQUESTS, deadline=None, suppress_health_check=list(HealthCheck), database=None
)
def test_every_request_gets_an_answer_that_was_described(case: Any, app: Any):
    case.operation.schema.app = app
    response = case.call(base_url=URL, app=app, timeout=ANSWER_WAIT_S)
    case.validate_response(response, checks=CHECKS)


PAGE = (ROOT / 'docs/reference/http.md').read_text(encoding='utf-8')
BLOCK = re.compile(r'```bash\n(.*?)```(?:\n\n```json\n(.*?)```)?', re.DOTALL)
COMMAND = re.compile(r'^(?:curl|export) .*?(?=^curl |\Z)', re.DOTALL | re.MULTILINE)
TIMED_OUT = 28  # curl's exit status
STREAM_S = 1  # of what has no end
CURL = f"""#!/bin/sh
case " $* " in *" -N "*) set -- --max-time {STREAM_S} "$@" ;; esac
exec /usr/bin/env -i PATH=/usr/bin:/bin curl -sS --fail-with-body --max-time 30 "$@"
"""


def run_example(command: str, folder: Path, **names: str) -> str:
    """With ``names`` as the variables; ``folder`` takes what it writes. Its output; fails when
    curl does, also by an error of the server.
    """
    shim = folder / 'bin/curl'
    shim.parent.mkdir(exist_ok=True)
    shim.write_text(CURL)
    shim.chmod(0o755)
    environment = {**names, 'PATH': f'{shim.parent}:{os.environ["PATH"]}'}
    bash = ['bash', '-euo', 'pipefail', '-c', command]
    ended = subprocess.run(
        bash, env=environment, cwd=folder, capture_output=True, text=True, timeout=60
    )
    fine = ended.returncode == (TIMED_OUT if ' -N ' in command else 0)
    assert fine, f'{command}\n{ended.stdout}\n{ended.stderr}'
    return ended.stdout


def missing_in(answer: Any, shown: Any) -> list[str]:
    """The fields of ``shown`` that ``answer`` has not."""
    if not isinstance(shown, dict):
        return []
    if not isinstance(answer, dict):
        return sorted(shown)
    below = [
        name for key in shown if key in answer for name in missing_in(answer[key], shown[key])
    ]
    return [*(key for key in shown if key not in answer), *below]


def examples_of_the_page() -> list[tuple[str, str]]:
    """Commands in the order of the page, each with what the page shows of its answer."""
    found = []
    for commands, answer in BLOCK.findall(PAGE):
        *split, last = COMMAND.findall(commands)
        assert ''.join([*split, last]) == commands, commands
        found += [*((each, '') for each in split), (last, answer)]
    return [each for each in found if not each[0].startswith('export URL=')]


EXAMPLES = examples_of_the_page()
SETTINGS = CONFIG.agent.http.model_copy(update={'port': 0})
TRIGGER = TriggerConfig(name='x', fact='mast', equals='open', goal='where are you?')
DRIVE = Question(
    id='q3f9a1',
    text='Drive?',
    op={'skill': 'move_forward', 'arguments': {'duration_s': 4.0}},
    asked_at=4e9,
)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The variables of the page: something runs, something waits, and somebody is asked."""
    with RuntimeBench(tmp_path) as bench:
        service_bench = RobotBench(bench, TriggerBoard([TRIGGER]))
        picture = Picture(jpeg(1.0), time.time(), time.monotonic() + 3600.0)
        service_bench.eyes.shown, service_bench.eyes.ground = picture, analyzed()
        bench.session.asks = [DRIVE]
        bench.console.handle_line('go')
        bench.asked(DRIVE)
        waiting = Task('mast_open', metadata={'arguments': {}})
        task = bench.runtime.call(bench.runtime.runner.submit(waiting)).id
        robot = service_bench.robot
        event = new_event(TraceKind.OBSERVE, 'hello')
        robot.event_bus.publish(event)
        write_run(tmp_path / 'drive.mcap', a_drive())
        names = {'TASK': task, 'QUESTION': DRIVE.id, 'TRIGGER': 'x', 'EVENT': event.event_id}
        with serve(lambda: whole_app(robot, tmp_path), SETTINGS) as url:
            yield {'URL': url, 'RECORDING': 'drive.mcap', **names}


@pytest.mark.parametrize(('command', 'shown'), EXAMPLES, ids=[each[:60] for each, _ in EXAMPLES])
def test_an_example_of_the_page_works(
    served: dict[str, str], command: str, shown: str, tmp_path: Path
) -> None:
    answer = run_example(command, tmp_path, **served)
    if shown:
        assert missing_in(json.loads(answer), json.loads(shown)) == [], answer


def test_every_route_has_an_example() -> None:
    routes = {
        (method.upper(), re.sub(r'\{[a-z_]+\}', '*', path))
        for path, methods in DESCRIBED['paths'].items()
        for method in methods
    }
    shown = set()
    for each, _ in EXAMPLES:
        method = re.findall(r'-X ([A-Z]+)', each) or ['GET']
        path = re.findall(r'"\$URL(/[^"?]*)', each)[0]
        shown.add((method[0], re.sub(r'\$[A-Z]+', '*', path)))
    assert shown == routes
    assert all(f'`{path}`' in PAGE or path in PAGE for _, path in routes if '*' not in path)


# ROS as it is on a machine that has none: neither the client library nor any generated message.
WITHOUT_ROS = """
import sys

class NoRos:
    def find_spec(self, name, path=None, target=None):
        package = name.partition('.')[0]
        if package.startswith(('rclpy', 'rosidl', 'rpyutils', 'tf2', 'ament', 'launch')) or (
            package.endswith(('_msgs', '_interfaces', '_srvs'))
        ):
            raise ModuleNotFoundError(f'No module named {package!r}', name=package)

sys.meta_path.insert(0, NoRos())
"""


def run_without_ros(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run ``program`` with the package's sources, without an overlay."""
    kept = {name: os.environ[name] for name in ('PATH', 'HOME') if name in os.environ}
    return subprocess.run(
        [sys.executable, '-c', WITHOUT_ROS + program],
        env={**kept, 'PYTHONPATH': str(PACKAGE)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LONG_S * 3,
    )


def test_the_test_of_the_page_passes_without_ros(tmp_path: Path):
    programs = re.findall(r'```python\n(.*?)```', PAGE, re.DOTALL)
    [program] = [each for each in programs if 'TestClient' in each]
    every = ('/health', '/readyz', '/metrics', '/openapi.json')
    called = '\n'.join(f'{name}()' for name in re.findall(r'^def (test_\w+)\(\)', program, re.M))
    assert called
    routes = f"""
with TestClient(create_app(SkillRunner(db_path='robot.db'))) as client:
    assert [client.get(path).status_code for path in {every}] == [200] * {len(every)}
"""
    ended = run_without_ros(f'{program}\n{called}\n{routes}\nimport rclpy', tmp_path)
    assert ended.stderr.endswith("No module named 'rclpy'\n"), ended.stderr


SOCKETS = st.one_of(
    st.none(),
    st.tuples(st.ip_addresses().map(str), st.integers(1, 65535)),
    st.tuples(st.from_regex(r'(/[a-z.]{1,9}){1,3}', fullmatch=True), st.none()),
)


APP = create_app(SkillRunner(':memory:'))


@given(server=SOCKETS, name=st.from_regex(r'[a-z][a-z0-9.-]{0,20}[a-z]', fullmatch=True))
def test_whatever_a_listening_server_reports_a_foreign_name_is_refused(server: Any, name: str):
    async def ask() -> int:
        wire = Wire(APP, 'GET', '/healthz', host=f'evil.{name}')
        wire.scope['server'] = server
        async with wire:
            await wire.ended()
        return wire.status

    assert asyncio.run(ask()) == 421
