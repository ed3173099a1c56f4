# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The API and the page of an agent: what its address may be, and what is told of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
import subprocess
import sys

from curiosity_rosa_demo.agent.startup.web import check_address, WebServer
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError
import httpx
import pytest
from robot_service_world import RobotServiceBench
from runtime_world import CONFIG, RuntimeBench


def config_with(**changes: object) -> Config:
    http = CONFIG.agent.http.model_copy(update={'port': 0, **changes})
    return CONFIG.model_copy(update={'agent': CONFIG.agent.model_copy(update={'http': http})})


@pytest.fixture
def service_bench(tmp_path: Path) -> Iterator[RobotServiceBench]:
    with RuntimeBench(tmp_path) as bench:
        yield RobotServiceBench(bench)


def web_of(service_bench: RobotServiceBench, config: Config) -> tuple[WebServer, list[str]]:
    told: list[str] = []
    return WebServer(
        service_bench.service, service_bench.bench.runtime.runner, config, told.append
    ), told


def test_the_api_and_the_page_are_at_one_address(service_bench: RobotServiceBench) -> None:
    web, told = web_of(service_bench, config_with())
    with closing(web):
        web.start()
        assert httpx.get(f'{web.url}health').json()['status'] == 'ok'
        page = httpx.get(web.url, headers={'Accept': 'text/html'})
        assert page.status_code == 200
        assert '<title>Curiosity ROSA</title>' in page.text
    assert told == []


def test_a_taken_port_is_told_and_nothing_else_happens(service_bench: RobotServiceBench) -> None:
    with closing(web_of(service_bench, config_with())[0]) as first:
        port = int(first.url[:-1].rsplit(':', 1)[1])
        second, told = web_of(service_bench, config_with(port=port))
        with closing(second):
            second.start()
            assert second.url == ''
    assert told == [
        f'! The page is not available: 127.0.0.1:{port} is taken; set http.port in agent.yaml'
    ]


def test_switched_off_it_listens_nowhere(service_bench: RobotServiceBench) -> None:
    web, told = web_of(service_bench, config_with(enabled=False))
    with closing(web):
        web.start()
        assert (web.url, told) == ('', [])


SECRET = 'a-secret-that-is-long'


@pytest.mark.parametrize('host', ['127.0.0.1', '127.0.0.2', '::1', 'localhost'])
@pytest.mark.parametrize(('token', 'fine'), [('', True), (SECRET, True), ('secret', False)])
def test_this_machine_needs_no_token(
    monkeypatch: pytest.MonkeyPatch, host: str, token: str, fine: bool
) -> None:
    check(monkeypatch, host, token, fine)


@pytest.mark.parametrize('host', ['0.0.0.0', '192.0.2.7', 'rover.local'])
@pytest.mark.parametrize(
    ('token', 'fine'), [('', False), ('  ', False), ('fifteen letters', False), (SECRET, True)]
)
def test_others_come_in_with_a_token_only(
    monkeypatch: pytest.MonkeyPatch, host: str, token: str, fine: bool
) -> None:
    check(monkeypatch, host, token, fine)


def check(monkeypatch: pytest.MonkeyPatch, host: str, token: str, fine: bool) -> None:
    monkeypatch.setenv('CURIOSITY_HTTP_TOKEN', token)
    if fine:
        check_address(config_with(host=host).agent.http)
        return
    with pytest.raises(ConfigError, match=r'agent\.yaml: http\.host .*CURIOSITY_HTTP_TOKEN'):
        check_address(config_with(host=host).agent.http)
    check_address(config_with(host=host, enabled=False).agent.http)


def test_the_start_of_the_agent_does_not_wait_for_a_web_framework() -> None:
    code = (
        'import sys\n'
        'from curiosity_rosa_demo.agent import agent_node\n'
        'from curiosity_rosa_demo.agent.startup.web import check_address\n'
        'from curiosity_rosa_demo.infra.config_loader import load_config\n'
        'check_address(load_config().agent.http)\n'
        'late = ("fastapi", "starlette", "uvicorn", "nicegui", "cv2", "langchain")\n'
        'print([name for name in late if name in sys.modules])\n'
    )
    ended = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, timeout=60
    )
    assert ended.stdout == '[]\n', ended.stderr
