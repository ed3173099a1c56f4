# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One demo whose rules hold at every door: the console, HTTP, the action, a trigger and MCP refuse
in the same words. Nothing is killed here, so its tests share the demo.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
import json
import subprocess
import sys
import threading
from typing import Any

from action_msgs.msg import GoalStatus
from curiosity_rosa_demo.agent.interfaces.action_server.server import CANCELLED_TEXT
from curiosity_rosa_demo.domain.models import AGENT_IS_SAFE, STOP_NOT_CONFIRMED
from curiosity_rosa_interfaces.action import RunTask
from demo_bench import Api, Bench, READY_S, Run
from geometry_msgs.msg import Twist
from harness import DIES_WITH_US, ROOT, Sandbox, wait_until
from mcp import Client as McpClient
from mcp import StdioServerParameters
from mcp_types import ElicitResult
import pytest
from std_srvs.srv import Trigger

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]
PROCESSES = ('stand_in', 'adapter', 'simulator', 'visualizer', 'agent')
PROBLEM = 'application/problem+json'
DRIVER_PERIOD_S = 0.02
FAR = {'duration_s': 18.0}  # beyond the fence
RULES = {
    'geofence': {'x_max': 22.0},
    'approval': {'skills': ['turn_left']},
    'origins': dict.fromkeys(('console', 'page', 'http', 'action'), 'ask'),
}
LOW = {
    'name': 'low',
    'watch': {
        'topic': '/battery_state', 'type': 'sensor_msgs/msg/BatteryState', 'field': 'percentage'
    },
    'below': 0.8,
    'rearm_above': 0.85,
    'skill': 'move_forward',
    'arguments': FAR,
}  # fmt: skip
MCP_DRIVER = """
import asyncio, sys
from mcp import Client

async def main():
    async with Client(sys.argv[1], mode='legacy') as client:
        await client.call_tool('move_forward', {'duration_s': 5.0})

asyncio.run(main())
"""


class Goals:
    """A client of the action."""

    def __init__(self, bench: Bench) -> None:
        self.feedback: list[RunTask.Feedback] = []
        self.ask = bench.box.ask
        self._client = bench.box.action_client(RunTask, '/agent/run_task')
        bench.box.introduce(self._client, RunTask.Goal(), READY_S)

    def send(self, **goal: str) -> tuple[Any, Any]:
        """The handle of a goal that was accepted, and the future of its result."""
        self.feedback.clear()
        handle = done(
            self.ask(
                lambda: self._client.send_goal_async(
                    RunTask.Goal(**goal),
                    feedback_callback=lambda message: self.feedback.append(message.feedback),
                )
            ),
            'the goal to be answered',
        )
        assert handle.accepted
        return handle, self.ask(handle.get_result_async)


def done(future: Any, what: str) -> Any:
    wait_until(future.done, what, READY_S)
    return future.result()


@dataclass
class Doors:
    bench: Bench
    api: Api
    goals: Goals
    commands: list[Twist]
    questions: set[str] = field(default_factory=set)

    @property
    def run(self) -> Run:
        return self.api.run

    def goal(self, skill: str, **arguments: float) -> Any:
        """The end of a goal of the action."""
        goal = {'skill': skill, 'arguments_json': json.dumps(arguments) if arguments else ''}
        return done(self.goals.send(**goal)[1], f'the goal {skill}')

    def failed(self, task_id: str) -> Any:
        path = f'/tasks/{task_id}'
        wait_until(lambda: self.api.get(path)['state'] == 'failed', 'the task to fail')
        return self.api.get(path)

    def order(self, name: str, **arguments: float) -> str:
        """The ID of a task that was ordered by HTTP."""
        return str(self.api.post('/tasks', {'name': name, 'metadata': arguments})['id'])

    def question(self) -> str:
        """The path of the next question."""
        (asked,) = wait_until(
            lambda: [e for e in self.api.get('/approvals') if e['id'] not in self.questions],
            'the question',
        )
        self.questions.add(asked['id'])
        assert asked['text'] == 'turn_left(duration_s=2.0)'
        assert asked['reasons'] == ['turn_left is in approval.skills']
        return f'/approvals/{asked["id"]}'


@pytest.fixture(scope='module')
def shared() -> Iterator[Doors]:
    with Sandbox() as box, closing(Bench(box)) as bench:
        commands = box.collect(Twist, '/cmd_vel')
        agent = {'http': {'mcp': True}}
        config = box.config_dir(agent=agent, guardrails=RULES, triggers={'triggers': [LOW]})
        api = Api(bench.run('--config-dir', config)).ready()
        doors = Doors(bench, api, Goals(bench), commands)
        assert doors.goal('mast_close').result.ok
        yield doors
        assert api.run.end() == 0
        assert 'Traceback' not in api.run.output()


@pytest.fixture
def doors(shared: Doors) -> Doors:
    shared.commands.clear()
    return shared


def no_drive(doors: Doors) -> bool:
    return not any(each.linear.x or each.angular.z for each in doors.commands)


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
    doors.run.send(':forward 18')
    doors.run.expect('GEOFENCE: may lead to x ')
    reason = doors.failed(doors.order('move_forward', **FAR))['reason']
    assert reason.startswith('GEOFENCE: may lead to x ')
    refused = doors.goal('move_forward', **FAR)
    assert refused.status == GoalStatus.STATUS_ABORTED
    assert refused.result.answer == reason
    doors.run.send(f':submit move_forward {json.dumps(FAR)}')
    doors.run.expect(f'! {reason}', times=2)
    assert no_drive(doors)


def test_an_event_starts_a_task_that_the_fence_binds(doors: Doors) -> None:
    def by_trigger() -> list[Any]:
        tasks = doors.api.get('/tasks')
        return [each for each in tasks if each['metadata'].get('origin') == 'trigger']

    doors.run.expect('Trigger low armed')
    doors.bench.turn(battery=0.75)
    doors.run.expect('Trigger low fired')
    wait_until(by_trigger, 'the task of the trigger')
    (task,) = by_trigger()
    assert doors.failed(task['id'])['reason'].startswith('GEOFENCE: may lead to x ')
    doors.run.send(':triggers')
    doors.run.expect('low  fired  when /battery_state percentage below 0.8')
    doors.run.send(':stop')
    doors.run.expect('stopped')
    (trigger,) = doors.api.get('/triggers')
    assert (trigger['state'], trigger['fired_count']) == ('off', 1)
    assert trigger['why_not'].startswith('off since a stop by')
    assert doors.api.post('/triggers/low', {'on': True})['state'] == 'unarmed'
    assert no_drive(doors)


def test_a_listed_motion_asks_at_every_door(doors: Doors) -> None:
    """With ``ask`` in the table of origins, people and scripts are asked as a model is."""
    no, why = {'action': 'reject', 'why': 'not now'}, 'NOT_APPROVED: rejected by the operator'
    doors.run.send(':left 2')
    doors.question()
    doors.run.send(':reject not now')
    doors.run.expect(f'! {why}: not now')
    turn = doors.order('turn_left', duration_s=2.0)
    doors.api.post(doors.question(), no)
    task = doors.failed(turn)
    assert task['reason'].startswith(f'{why}: not now')
    assert task['metadata']['outcome']['refusal']['code'] == 'NOT_APPROVED'
    _, result = doors.goals.send(skill='turn_left', arguments_json='{"duration_s": 2.0}')
    doors.api.post(doors.question(), no)
    assert done(result, 'the goal').result.answer == task['reason']
    assert no_drive(doors)

    turn = doors.order('turn_left', duration_s=2.0)
    doors.api.post(doors.question(), {'action': 'edit', 'arguments': {'duration_s': 0.5}})
    doors.run.until(lambda: doors.api.get(f'/tasks/{turn}')['state'] == 'completed', 'the turn')
    assert any(each.angular.z for each in doors.commands)


def test_a_goal_of_the_action_is_cancelled_half_way(doors: Doors) -> None:
    handle, result = doors.goals.send(text=':forward 6')
    doors.run.until(lambda: doors.bench.moving, 'the rover to drive')
    asked = doors.goals.ask(handle.cancel_goal_async)
    assert done(asked, 'the cancel request').goals_canceling
    cancelled = done(result, 'the goal to be cancelled')
    assert cancelled.status == GoalStatus.STATUS_CANCELED
    assert (cancelled.result.ok, cancelled.result.answer) == (False, CANCELLED_TEXT)
    doors.run.expect('(action) :forward 6')
    doors.bench.stands(10.0)
    assert {'ACTIVE', 'ACT'} <= {each.kind for each in doors.goals.feedback}


async def until(condition: Any, what: str) -> None:
    await asyncio.to_thread(wait_until, condition, what, 60.0)


async def walk_of_a_model(doors: Doors, server: Any) -> None:
    """A refusal, a question and a cancelled drive."""
    asked: list[str] = []

    async def yes(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        assert no_drive(doors)
        return ElicitResult(action='accept', content={'decision': 'approve'})

    async with McpClient(server, mode='auto', elicitation_callback=yes) as client:
        assert 'move_forward' in {each.name for each in (await client.list_tools()).tools}
        refused = await client.call_tool('navigate_to_pose', {'x': 62.0, 'y': 0.0})
        error = refused.structured_content['error']
        assert (refused.is_error, error['code'], error['rule']) == (True, 'GEOFENCE', 'geofence')
        assert error['allowed']
        assert error['way_out']
        turned = await client.call_tool('turn_left', {'duration_s': 0.5})
        assert turned.structured_content['ok'], turned
        assert len(asked) == 1
        call = asyncio.ensure_future(client.call_tool('move_forward', {'duration_s': 5.0}))
        await until(lambda: doors.bench.moving or call.done(), 'the drive')
        assert not call.done(), call.result()
        call.cancel()
        await asyncio.to_thread(doors.bench.stands, 20.0)
        await until(lambda: doors.api.get('/tasks?live=true') == [], 'no task to be left')
        picture = await client.read_resource('curiosity://map')
        assert picture.contents[0].text.startswith('<svg')


def test_a_model_behind_mcp_is_refused_asked_cancelled_and_killed(doors: Doors) -> None:
    url, bridge = f'{doors.api.url}/mcp', str(ROOT / 'scripts/mcp.sh')
    stdio = StdioServerParameters(command=bridge, args=['--url', url])
    asyncio.run(walk_of_a_model(doors, stdio))
    with subprocess.Popen([*DIES_WITH_US, sys.executable, '-c', MCP_DRIVER, url]) as client:
        doors.run.until(lambda: doors.bench.moving, 'the drive of the client')
        client.kill()
    doors.bench.stands(20.0)
    wait_until(lambda: doors.api.get('/tasks?live=true') == [], 'no task to be left')
    nobody = subprocess.run(
        [bridge, '--url', 'http://127.0.0.1:9/mcp'],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60.0, check=False,
    )  # fmt: skip
    assert (nobody.returncode, nobody.stdout) == (1, '')
    assert nobody.stderr.startswith('mcp: no agent answers at ')


def test_safe_binds_every_door_and_a_clear_sets_nothing_in_motion(doors: Doors) -> None:
    doors.bench.turn(e_stop=True)
    doors.run.expect('SAFE: e-stop pressed')
    order = {'name': 'move_forward', 'metadata': {'duration_s': 2.0}}
    answer = doors.api.client.post('/tasks', json=order)
    assert (answer.status_code, answer.headers['content-type']) == (409, PROBLEM)
    detail = answer.json()['detail']
    assert detail.startswith('SAFE_MODE: refused, nothing may move. SAFE since 20')
    doors.run.send(':forward 2')
    doors.run.expect(f'! {detail}')
    result = doors.goal('move_forward', duration_s=2.0).result
    assert (result.ok, result.answer) == (False, detail)

    doors.bench.turn(e_stop=False)
    doors.run.expect('e-stop released')
    doors.run.send(':clear')
    doors.run.expect('SAFE is over')
    assert doors.api.get('/tasks?live=true') == []
    assert no_drive(doors)


def test_a_stop_that_somebody_undoes_is_not_done_and_latches_safe(doors: Doors) -> None:
    def mode() -> dict[str, str]:
        """The kernel's mode and its reason."""
        tasks: dict[str, str] = doors.api.get('/state')['brain_state']['tasks']
        return tasks

    doors.api.say(':forward 5')
    doors.run.until(lambda: doors.bench.moving, 'the rover to drive')
    publisher = doors.bench.box.node.create_publisher(Twist, '/cmd_vel', 10)
    ended, twist = threading.Event(), Twist()
    twist.linear.x = -2.0

    def drive() -> None:
        while not ended.wait(DRIVER_PERIOD_S):
            publisher.publish(twist)

    driver = threading.Thread(target=drive, daemon=True)
    driver.start()
    try:
        answer = doors.api.client.post('/stop')
        assert answer.status_code == 503
        assert STOP_NOT_CONFIRMED in answer.text
        wait_until(lambda: mode()['mode'] == 'SAFE', 'SAFE')
        assert '/test_client' in mode()['mode_reason']
    finally:
        ended.set()
        driver.join()
    doors.bench.stands(20.0)
    for name in ('move_forward', 'mast_open'):  # of a caller that asks no agent
        refusal = doors.bench.box.call(Trigger, f'/adapter/{name}')
        assert not refusal.success
        assert refusal.message.startswith(AGENT_IS_SAFE)
    doors.api.say(':clear')
    wait_until(lambda: mode()['mode'] != 'SAFE', 'the way out')
    assert doors.api.client.post('/stop').json() == {'ok': True, 'answer': 'stopped'}
