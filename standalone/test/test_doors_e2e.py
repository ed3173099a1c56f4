# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One demo whose rules hold at every door: the console, HTTP and the action refuse in the same
words. Nothing is killed here, so its tests share the demo.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from action_msgs.msg import GoalStatus
from demo_bench import Bench, Run
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist
from harness import Sandbox, wait_until
from http_client import Api
import pytest
from rover_parameters import turn
from test_run_task_e2e import Client, done

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]
DIAGNOSED = ('adapter: rover', 'agent: runtime', 'simulator: camera', 'visualizer: markers')
PROCESSES = ('stand_in', 'adapter', 'simulator', 'visualizer', 'agent')
PROBLEM = 'application/problem+json'
RULES = {'geofence': {'x_max': 3.0}}
LOW = {
    'name': 'low',
    'watch': {
        'topic': '/battery_state', 'type': 'sensor_msgs/msg/BatteryState', 'field': 'percentage'
    },
    'below': 0.8,
    'rearm_above': 0.85,
    'skill': 'move_forward',
    'arguments': {'duration_s': 12.0},
}  # fmt: skip


@dataclass
class Doors:
    bench: Bench
    api: Api
    client: Client
    commands: list[Twist]

    @property
    def run(self) -> Run:
        return self.api.run

    def goal(self, skill: str, arguments: str = '') -> Any:
        """The end of a goal of the action."""
        handle = self.client.send(skill=skill, arguments_json=arguments)
        return done(self.client.ask(handle.get_result_async), f'the goal {skill}')

    def failed(self, task_id: str) -> Any:
        path = f'/tasks/{task_id}'
        wait_until(lambda: self.api.get(path)['state'] == 'failed', 'the task to fail')
        return self.api.get(path)


@pytest.fixture(scope='module')
def doors() -> Iterator[Doors]:
    with Sandbox() as box:
        bench = Bench(box)
        try:
            commands = box.collect(Twist, '/cmd_vel')
            config = box.config_dir(guardrails=RULES, triggers={'triggers': [LOW]})
            api = Api(bench.run('--config-dir', config)).ready()
            doors = Doors(bench, api, Client(bench), commands)
            assert doors.goal('mast_close').result.ok
            yield doors
            assert api.run.end() == 0
            assert 'Traceback' not in api.run.output()
        finally:
            bench.close()


def test_each_node_tells_how_it_is(doors: Doors) -> None:
    arrays: list[DiagnosticArray] = doors.bench.box.collect(DiagnosticArray, '/diagnostics')

    def last() -> dict[str, Any]:
        return {status.name: status for array in list(arrays) for status in array.status}

    doors.run.until(lambda: sorted(last()) == sorted(DIAGNOSED), 'the four of them')
    doors.run.until(
        lambda: (
            all(status.level == b'\0' for status in last().values())
            and last()['agent: runtime'].message == 'IDLE'
        ),
        'all to be well and the agent idle',
    )
    values = {each.key: each.value for each in last()['agent: runtime'].values}
    assert (values['mode'], values['ready'], values['model']) == ('IDLE', 'true', 'routine')


def test_the_nodes_talk_on_this_machine_alone_and_not_through_shared_memory(doors: Doors) -> None:
    """Through shared memory the successor of a killed node may stay deaf."""
    for name in PROCESSES:
        node = doors.bench.find(f'{name}_node')
        assert node is not None, name
        assert {each.laddr.ip for each in node.net_connections('udp')} == {'127.0.0.1'}
        shared = [each.path for each in node.memory_maps() if each.path.startswith('/dev/shm/')]
        assert [path for path in shared if 'fast' in path] == []


def test_the_fence_binds_every_door(doors: Doors) -> None:
    """An order that no model has proposed is refused as one that it has, in the same words."""
    doors.run.send(':forward 12')
    doors.run.expect('GEOFENCE: may lead to x ')
    order = {'name': 'move_forward', 'metadata': {'duration_s': 12.0}}
    reason = doors.failed(doors.api.post('/tasks', order)['id'])['reason']
    assert reason.startswith('GEOFENCE: may lead to x ')
    refused = doors.goal('move_forward', '{"duration_s": 12.0}')
    assert refused.status == GoalStatus.STATUS_ABORTED
    assert refused.result.answer == reason
    doors.run.send(':submit move_forward {"duration_s": 12.0}')
    doors.run.expect(f'! {reason}', times=2)
    assert not any(each.linear.x for each in doors.commands)


def by_trigger(doors: Doors) -> list[Any]:
    tasks = doors.api.get('/tasks')
    return [each for each in tasks if each['metadata'].get('origin') == 'trigger']


def test_an_event_starts_a_task_that_the_fence_binds(doors: Doors) -> None:
    doors.run.expect('Trigger low armed')
    turn(doors.bench, battery=0.75)
    doors.run.expect('Trigger low fired')
    wait_until(lambda: by_trigger(doors), 'the task of the trigger')
    (task,) = by_trigger(doors)
    assert doors.failed(task['id'])['reason'].startswith('GEOFENCE: may lead to x ')
    doors.run.send(':triggers')
    doors.run.expect('low  fired  when /battery_state percentage below 0.8')
    doors.run.send(':stop')
    doors.run.expect('stopped')
    (trigger,) = doors.api.get('/triggers')
    assert (trigger['state'], trigger['fired_count']) == ('off', 1)
    assert trigger['why_not'].startswith('off since a stop by')
    assert doors.api.post('/triggers/low', {'on': True})['state'] == 'unarmed'
    assert not any(each.linear.x for each in doors.commands)


def test_safe_binds_every_door_and_a_clear_sets_nothing_in_motion(doors: Doors) -> None:
    turn(doors.bench, e_stop=True)
    doors.run.expect('SAFE: e-stop pressed')
    order = {'name': 'move_forward', 'metadata': {'duration_s': 2.0}}
    answer = doors.api.client.post('/tasks', json=order)
    assert (answer.status_code, answer.headers['content-type']) == (409, PROBLEM)
    detail = answer.json()['detail']
    assert detail.startswith('SAFE_MODE: refused, nothing may move. SAFE since 20')
    doors.run.send(':forward 2')
    doors.run.expect(f'! {detail}')
    result = doors.goal('move_forward', '{"duration_s": 2.0}').result
    assert (result.ok, result.answer) == (False, detail)

    turn(doors.bench, e_stop=False)
    doors.run.expect('e-stop released')
    doors.run.send(':clear')
    doors.run.expect('SAFE is over')
    assert doors.api.get('/tasks?live=true') == []
    assert not any(each.linear.x for each in doors.commands)
