# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A whole running demo whose agent dies, and one whose rover obeys somebody else."""

from __future__ import annotations

from collections.abc import Iterator
import signal
import threading

from curiosity_rosa_demo.domain.models import AGENT_IS_SAFE, STOP_NOT_CONFIRMED
from demo_bench import Bench, ODOMETRY
from geometry_msgs.msg import Twist
from harness import Sandbox, wait_until
from http_client import Api, drives, PAGE
from nav_msgs.msg import Odometry
import pytest
from std_srvs.srv import Trigger

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

DRIVER_PERIOD_S = 0.02


@pytest.fixture(scope='module')
def bench() -> Iterator[Bench]:
    """One demo for all."""
    with Sandbox() as box:
        bench = Bench(box)
        try:
            Api(bench.run('--speed', '2')).ready()
            yield bench
        finally:
            bench.close()


def test_the_captures_of_a_killed_agent_are_on_the_page_of_the_next(bench: Bench) -> None:
    (run,) = bench.runs
    api = Api(run).ready()
    for line, done in ((':mast_open', 'mast_open: done'), (':cap', 'capture_and_score: ')):
        api.say(line)
        run.expect(rf'[RESULT] {done}')
    events = api.get('/trace?count=100')
    [capture] = [
        each['event_id']
        for each in events
        if each['kind'] == 'RESULT' and each['tool_name'] == 'capture_and_score'
    ]
    url = f'/page/captures/{capture}.jpg'
    shown = wait_until(lambda: jpeg(api, url), 'the capture on the page')
    saved = 'tasks*.session/capture-*.json'
    wait_until(lambda: list((bench.box.folder / 'state').rglob(saved)), 'the capture to be saved')
    bench.back('agent_node', bench.kill('agent_node'))
    run.until(lambda: len(PAGE.findall(run.output())) == 2, 'the page of the next agent')
    assert jpeg(Api(run).ready(), url) == shown


def jpeg(api: Api, url: str) -> bytes | None:
    answer = api.client.get(url)
    return answer.content if answer.status_code == 200 else None


def test_a_stop_that_somebody_undoes_is_not_done_and_latches_safe(bench: Bench) -> None:
    api = Api(bench.runs[0]).ready()
    drives(bench, api)
    publisher = bench.box.node.create_publisher(Twist, '/cmd_vel', 10)
    ended, twist = threading.Event(), Twist()
    twist.linear.x = 2.0

    def drive() -> None:
        while not ended.wait(DRIVER_PERIOD_S):
            publisher.publish(twist)

    driver = threading.Thread(target=drive, daemon=True)
    driver.start()
    answer = api.client.post('/stop')
    assert answer.status_code == 503
    assert STOP_NOT_CONFIRMED in answer.text
    wait_until(lambda: mode(api)['mode'] == 'SAFE', 'SAFE')
    assert '/test_client' in mode(api)['mode_reason']

    ended.set()
    driver.join()
    bench.stands(20.0)
    for name in ('move_forward', 'mast_open'):  # of a caller that asks no agent
        refusal = bench.box.call(Trigger, f'/adapter/{name}')
        assert not refusal.success
        assert refusal.message.startswith(AGENT_IS_SAFE)
    api.say(':clear')
    wait_until(lambda: mode(api)['mode'] != 'SAFE', 'the way out')
    assert api.client.post('/stop').json() == {'ok': True, 'answer': 'stopped'}


def mode(api: Api) -> dict[str, str]:
    """The kernel's mode and its reason."""
    tasks: dict[str, str] = api.get('/state')['brain_state']['tasks']
    return tasks


def test_the_rover_of_a_dead_agent_stands_before_a_watchdog_would_see_it(bench: Bench) -> None:
    """A heartbeat that is missed for two seconds is two metres at this speed."""
    odometry = bench.box.collect(Odometry, ODOMETRY)
    api = Api(bench.runs[0]).ready()
    drives(bench, api)
    agent = wait_until(lambda: bench.find('agent_node'), 'the agent')
    died_x = odometry[-1].pose.pose.position.x
    agent.send_signal(signal.SIGSTOP)
    wait_until(lambda: not bench.moving, 'the rover to stand')
    assert odometry[-1].pose.pose.position.x - died_x < 1.5
    bench.stands(10.0)
