# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""create_app(runner) as docs/reference/http.md shows it: without ROS, and before test clients."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
import http.client
import os
from pathlib import Path
import re
import subprocess
import sys
import threading
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.server import create_app, STANDALONE_SETTINGS
from curiosity_rosa_demo.agent.tasks import SkillRunner
from fake_robot import FakeRobot
from fastapi import FastAPI
from harness import wait_until
from http_world import Wire
import httpx
from hypothesis import given
from hypothesis import strategies as st
from our_sources import PACKAGE, ROOT
import pytest
from skill_world import in_loop, LONG_S
from starlette.testclient import TestClient
import uvicorn

JOB = {'name': 'errand', 'priority': 5}
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


def test_the_program_that_has_no_ros_has_none(tmp_path: Path):
    for name in ('rclpy', 'curiosity_rosa_interfaces', 'std_msgs.msg'):
        assert f"No module named '{name.partition('.')[0]}'" in (
            run_without_ros(f'import {name}', tmp_path).stderr
        )


def test_the_test_of_the_page_passes_without_ros(tmp_path: Path):
    page = (ROOT / 'docs/reference/http.md').read_text()
    programs = re.findall(r'```python\n(.*?)```', page, re.DOTALL)
    [program] = [each for each in programs if 'TestClient' in each]
    every = ('/health', '/readyz', '/metrics', '/openapi.json')
    called = '\n'.join(f'{name}()' for name in re.findall(r'^def (test_\w+)\(\)', program, re.M))
    assert called
    routes = f"""
with TestClient(create_app(SkillRunner(db_path='robot.db'))) as client:
    assert [client.get(path).status_code for path in {every}] == [200] * {len(every)}
"""
    ended = run_without_ros(f'{program}\n{called}\n{routes}', tmp_path)
    assert ended.returncode == 0, ended.stderr


# --- test clients --------------------------------------------------------------------------------


@in_loop
async def test_the_transport_of_httpx_may_call_the_app_by_any_name():
    runner = SkillRunner(':memory:')
    transport = httpx.ASGITransport(create_app(runner))
    async with httpx.AsyncClient(transport=transport, base_url='http://test') as http_client:
        assert (await http_client.post('/tasks', json=JOB)).status_code == 201
        misdirected = await http_client.get('/health', headers={'Host': 'evil.example'})
        assert misdirected.status_code == 421
    await runner.stop()


def test_the_app_of_an_agent_refuses_test_clients_by_a_foreign_name():
    with FakeRobot() as robot:
        client = TestClient(create_app(robot.runner, robot=robot, settings=STANDALONE_SETTINGS))
        assert client.get('/health').status_code == 421
        assert client.post('/stop').status_code == 421
        assert robot.stops == []


@contextmanager
def listening(app: FastAPI) -> Iterator[int]:
    """The app behind a socket, as uvicorn.run() serves it; the port."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level='critical'))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started, 'the server')
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(LONG_S)


def test_no_foreign_name_comes_through_a_socket():
    with listening(create_app(SkillRunner(':memory:'))) as port:
        for host, status in (
            ('localhost', 200),
            ('test', 421),
            ('testserver', 421),
            ('evil.example', 421),
            (f'evil.example:{port}', 421),
        ):
            connection = http.client.HTTPConnection('127.0.0.1', port, timeout=LONG_S)
            connection.request('GET', '/health', headers={'Host': host})
            assert connection.getresponse().status == status, host
            connection.close()


SOCKETS = st.one_of(
    st.none(),
    st.tuples(st.ip_addresses().map(str), st.integers(1, 65535)),
    st.tuples(st.from_regex(r'(/[a-z.]{1,9}){1,3}', fullmatch=True), st.none()),
)


@given(server=SOCKETS, name=st.from_regex(r'[a-z][a-z0-9.-]{0,20}[a-z]', fullmatch=True))
def test_whatever_a_listening_server_reports_a_foreign_name_is_refused(server: Any, name: str):
    asked = 'evil.' + name
    assert in_scope(server, asked) == 421


@pytest.mark.parametrize('address', ['192.168.1.5', '[::2]', '0.0.0.0'])
def test_an_address_is_no_name_of_a_test_client(address: str):
    assert in_scope((address.strip('[]'), 8765), address) == 421
    assert in_scope((address, 8765), address) == 421


def in_scope(server: Any, host: str) -> int:
    """The status of GET /healthz as a server hands it over that listens at ``server``."""

    async def ask() -> int:
        wire = Wire(APP, 'GET', '/healthz', host=host)
        wire.scope['server'] = server
        async with wire:
            await wire.ended()
        return wire.status

    return asyncio.run(ask())


APP = create_app(SkillRunner(':memory:'))
