# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An agent without a console and without HTTP; test_console_client_e2e.py has one with it."""

from __future__ import annotations

from collections.abc import Callable
import signal
from typing import Any

from curiosity_rosa_interfaces.action import RunTask
from curiosity_rosa_interfaces.srv import CaptureAndScore
from demo_bench import Bench, READY_S
from harness import wait_until
from headless_agent import Headless
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


def answer(bench: Bench, ask: Callable[[], Any]) -> Any:
    """To what is asked in the thread that spins: in another one it may be lost."""
    asked = bench.box.node.executor.create_task(ask)
    wait_until(asked.done, 'the request to be sent')
    wait_until(asked.result().done, 'its answer', READY_S)
    return asked.result().result()


def test_without_http_it_serves_the_action_until_sigint(bench: Bench) -> None:
    agent = Headless(bench, enabled=False)
    assert agent.orders() == 'without a page, only from the action /agent/run_task'
    wait_until(
        lambda: bench.box.call(CaptureAndScore, '/capture_and_score', timeout_s=READY_S).ok,
        'a camera',
        READY_S,
    )
    client = bench.box.action_client(RunTask, '/agent/run_task')
    bench.box.introduce(client, RunTask.Goal(), READY_S)
    goal = answer(bench, lambda: client.send_goal_async(RunTask.Goal(text=':cap')))
    assert answer(bench, goal.get_result_async).result.ok
    agent.drives()
    agent.ends_well(signal.SIGINT)
