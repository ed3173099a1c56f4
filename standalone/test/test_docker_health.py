# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""docker/health.py: whether the container is well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import subprocess
import sys

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from harness import Sandbox
import pytest

pytestmark = pytest.mark.ros
HEALTH = Path(__file__).resolve().parents[2] / 'docker/health.py'


@contextmanager
def speaking(sandbox: Sandbox, *names: str) -> Iterator[None]:
    """Each says ten times a second that it lives, as the nodes do once a second."""
    publisher = sandbox.node.create_publisher(DiagnosticArray, '/diagnostics', 10)
    status = [DiagnosticStatus(name=f'{name}: itself') for name in names]
    timer = sandbox.node.create_timer(
        0.1, lambda: publisher.publish(DiagnosticArray(status=status))
    )
    yield
    sandbox.node.destroy_timer(timer)


@pytest.fixture
def health(sandbox: Sandbox) -> Callable[..., tuple[int, str]]:
    def run(**env: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, str(HEALTH)],
            env={**os.environ, **sandbox.env, **env},
            capture_output=True,
            text=True,
            timeout=40,
        )
        assert 'Traceback' not in done.stderr
        return done.returncode, done.stdout.strip()

    return run


def test_it_is_well_when_every_node_speaks_and_names_the_silent_ones(
    sandbox: Sandbox, health: Callable[..., tuple[int, str]]
) -> None:
    with speaking(sandbox, 'adapter', 'simulator', 'visualizer'):
        assert health() == (1, 'silent: agent')
        assert health(CURIOSITY_AGENT='none') == (0, 'all nodes live')
