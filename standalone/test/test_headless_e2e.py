# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An agent without a console, beside the rover: by HTTP, by the action, and to its end."""

from __future__ import annotations

from collections.abc import Callable
import signal
from typing import Any

from curiosity_rosa_interfaces.action import RunTask
from curiosity_rosa_interfaces.srv import CaptureAndScore
from demo_bench import Bench, READY_S
from harness import PREFIXES, Process, wait_until
import httpx
import pytest
from std_srvs.srv import Trigger

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]
ORDERS = 'agent: headless; orders come '


class Headless:
    def __init__(self, bench: Bench, **http: object) -> None:
        self._bench, box = bench, bench.box
        box.stand_in()
        box.overlay('adapter_node')
        box.overlay('simulator_node')
        box.env.update(bench.env)  # the folder of its state
        package = 'curiosity_rosa_demo'
        program = str(PREFIXES[package] / 'lib' / package / 'agent_node')
        config = f'config_dir:={box.config_dir(agent={"http": http})}'
        self.process: Process = box.run(
            [program, '--headless', '--ros-args', '-p', config], 'agent_node'
        )

    def orders(self) -> str:
        """Where they come from, as it says itself."""
        output = wait_until(
            lambda: ORDERS in self.process.output() and self.process.output(), ORDERS, READY_S
        )
        return str(output).partition(ORDERS)[2].partition('\n')[0]

    def drives(self) -> None:
        for name in ('mast_close', 'move_forward'):
            assert self._bench.box.call(Trigger, f'/adapter/{name}', timeout_s=READY_S).success
        wait_until(lambda: self._bench.moving, 'the rover to drive')

    def ends_well(self, signum: signal.Signals) -> None:
        """It leaves with 0, and by then the rover was told to stop."""
        assert self.process.kill(signum) == 0
        wait_until(lambda: not self._bench.moving, 'the rover to stand', 5.0)
        assert 'Traceback' not in self.process.output()
        assert '[RESULT] move_stop' in self.process.output()


def answer(bench: Bench, ask: Callable[[], Any]) -> Any:
    """To what is asked in the thread that spins: in another one it may be lost."""
    asked = bench.box.node.executor.create_task(ask)
    wait_until(asked.done, 'the request to be sent')
    wait_until(asked.result().done, 'its answer', READY_S)
    return asked.result().result()


def is_ready(client: httpx.Client) -> bool:
    try:
        return client.get('/readyz').status_code == 200
    except httpx.HTTPError:  # it still imports what it needs to answer
        return False


def test_it_serves_http_without_input_until_sigterm(bench: Bench) -> None:
    agent = Headless(bench)
    url = agent.orders().partition('at ')[2].partition(' and')[0]
    with httpx.Client(base_url=url, timeout=20.0) as client:
        wait_until(lambda: is_ready(client), '/readyz to say yes', READY_S)
        said = client.post('/say', json={'text': ':mast_close'}).json()
        path = f'/tasks/{said["task"]["id"]}'
        wait_until(lambda: client.get(path).json()['state'] == 'completed', 'a stowed mast')
    agent.drives()
    agent.ends_well(signal.SIGTERM)


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
