"""docker/health.py: whether the container is well."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

from harness import Sandbox

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


def test_it_is_well_when_every_node_speaks(
    sandbox: Sandbox, health: Callable[..., tuple[int, str]]
) -> None:
    with speaking(sandbox, 'adapter', 'simulator', 'visualizer'):
        assert health() == (0, 'all nodes live')


def test_the_silent_ones_are_named(
    sandbox: Sandbox, health: Callable[..., tuple[int, str]]
) -> None:
    with speaking(sandbox, 'simulator', 'visualizer'):
        assert health(CURIOSITY_AGENT='headless') == (1, 'silent: adapter, agent')
