# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The threads of a real agent, in this process, without other nodes."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
import re
import threading

from curiosity_rosa_demo.agent import agent_node
from curiosity_rosa_demo.agent.interfaces.terminal.options import parse_arguments
from curiosity_rosa_demo.agent.runtime.execution.session import AgentSession
from curiosity_rosa_demo.agent.startup import startup
from curiosity_rosa_demo.infra.config.topics import Config
from harness import ROOT, Sandbox, wait_until
import pytest
from rclpy.node import Node

pytestmark = pytest.mark.ros

MAP = (ROOT / 'docs/explanation/architecture.md').read_text(encoding='utf-8')
PATIENT_S = 120.0  # the imports of the web framework
MOST_THREADS = 9
SUBSCRIBER = re.compile(r'(?<=^events ).+')


def names_in(section: str) -> set[str]:
    """The threads in the first column of the section's table."""
    rows = MAP.partition(f'### {section}\n')[2].partition('\n### ')[0]
    return {
        name
        for row in re.findall(r'^\| ([^|]+) \|', rows, re.MULTILINE)
        for name in re.findall(r'`([^`]+)`', row)
    }


def with_any_port(node: Node, config: Config) -> Config:
    http = config.agent.http.model_copy(update={'port': 0})
    agent = config.agent.model_copy(update={'http': http})
    return config.model_copy(update={'agent': agent})


def test_the_threads_of_an_agent_are_those_on_the_map(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path))
    monkeypatch.setattr(agent_node, 'with_http_port', with_any_port)
    monkeypatch.setattr(startup, 'wait_for_nodes', lambda *_: None)
    monkeypatch.setattr(AgentSession, 'warm_up', lambda *_: None)  # its imports take a while
    monkeypatch.setattr(AgentSession, 'wait_for_model', lambda _: None)
    before = set(threading.enumerate())

    def names() -> set[str]:
        """A thread that has a number is one of several; one of a subscriber has its name."""
        threads = set(threading.enumerate()) - before
        return {re.sub(r'_\d+$', '', SUBSCRIBER.sub('<name>', each.name)) for each in threads}

    for_the_run = names_in('Agent: for the whole run')
    for_a_while = names_in('Agent: for a while')
    with closing(agent_node.AgentApp(parse_arguments(['--headless']))) as app:
        assert names() == set(), 'a constructor has started a thread'
        app.start()
        assert app.startup_complete.wait(PATIENT_S)
        wait_until(lambda: names() >= for_the_run, f'{for_the_run}', PATIENT_S)
        assert names() <= for_the_run | for_a_while
        wait_until(lambda: names() == for_the_run, 'the others to end', PATIENT_S)
        assert len(for_the_run) + 1 <= MOST_THREADS  # and the main thread
    assert names() <= for_a_while
