# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An action client before the whole product: what it starts, cancels, and is told at the end."""

from __future__ import annotations

from collections.abc import Callable
import signal
from typing import Any

from action_msgs.msg import GoalStatus
from curiosity_rosa_demo.agent.interfaces.action_server.server import CANCELLED, SERVER_CLOSED
from curiosity_rosa_interfaces.action import RunTask
from demo_bench import Bench, READY_S
from geometry_msgs.msg import Twist
from harness import wait_until
from http_client import Api
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]
SPEED = ('--speed', '4', '--stand-in', 'initial_x=-2.0')


class Client:
    def __init__(self, bench: Bench) -> None:
        self.feedback: list[RunTask.Feedback] = []
        self._node = bench.box.node
        self._client = bench.box.action_client(RunTask, '/agent/run_task')
        bench.box.introduce(self._client, RunTask.Goal(), READY_S)

    def send(self, **goal: str) -> Any:
        """The handle of a goal that was accepted."""
        self.feedback.clear()
        future = self.ask(
            lambda: self._client.send_goal_async(
                RunTask.Goal(**goal),
                feedback_callback=lambda message: self.feedback.append(message.feedback),
            )
        )
        wait_until(future.done, 'the goal to be answered', READY_S)
        handle = future.result()
        assert handle.accepted
        return handle

    def ask(self, ask: Callable[[], Any]) -> Any:
        """What it returns in the thread that spins: in another one an answer may be lost."""
        asked = self._node.executor.create_task(ask)
        wait_until(asked.done, 'the request to be sent')
        return asked.result()

    def kinds(self) -> set[str]:
        return {each.kind for each in self.feedback}


def done(future: Any, what: str) -> Any:
    wait_until(future.done, what, 100.0)
    return future.result()


def test_a_demo_is_cancelled_half_way_and_then_done(bench: Bench) -> None:
    run = bench.run(*SPEED)
    run.expect('Type :help')
    client = Client(bench)
    goal = client.send(text=':demo')
    result = client.ask(goal.get_result_async)
    run.until(lambda: bench.moving, 'the rover to drive')
    assert done(client.ask(goal.cancel_goal_async), 'the cancel request').goals_canceling
    cancelled = done(result, 'the goal to be cancelled')
    assert cancelled.status == GoalStatus.STATUS_CANCELED
    assert (cancelled.result.ok, cancelled.result.answer) == (False, CANCELLED)
    run.expect('(action) :demo')
    run.expect(f'[ERROR] {CANCELLED}')
    bench.stands(10.0)
    assert {'ACTIVE', 'OBSERVE', 'DECIDE', 'ACT', 'RESULT'} <= client.kinds()

    again = done(client.ask(client.send(text=':demo').get_result_async), 'the demo')
    assert again.status == GoalStatus.STATUS_SUCCEEDED, again.result.answer
    assert again.result.ok
    assert again.result.score >= 0.8
    assert again.result.task_id != cancelled.result.task_id
    assert max(each.step for each in client.feedback) > 3

    status = done(client.ask(client.send(skill='get_status').get_result_async), 'the status')
    assert status.result.ok
    assert 'rover_x' in status.result.answer

    # Who leaves with a goal under way tells its client.
    stow = client.ask(client.send(skill='mast_close').get_result_async)
    assert done(stow, 'the mast to be stowed').result.ok
    arguments = '{"duration_s": 5.0}'
    driving = client.ask(client.send(skill='turn_left', arguments_json=arguments).get_result_async)
    run.until(lambda: 'ACT' in client.kinds(), 'the turn to begin')
    run.popen.send_signal(signal.SIGTERM)
    left = done(driving, 'the goal to end with the agent')
    assert left.status == GoalStatus.STATUS_ABORTED
    assert left.result.answer in (SERVER_CLOSED, 'The agent ends; ask the next one')
    run.popen.wait(timeout=READY_S)
    assert not [
        each for each in ('Traceback', '(http)', 'not by the agent') if each in run.output()
    ]
    bench.nothing_left()


def test_a_listed_motion_asks_at_every_door(bench: Bench) -> None:
    """With ``ask`` in the table of origins, people and scripts are asked as a model is."""
    commands = bench.box.collect(Twist, '/cmd_vel')
    rules = {
        'approval': {'skills': ['move_forward']},
        'origins': dict.fromkeys(('console', 'page', 'http', 'action'), 'ask'),
    }
    run = bench.run('--config-dir', bench.box.config_dir(guardrails=rules))
    api, client = Api(run).ready(), Client(bench)
    assert done(client.ask(client.send(skill='mast_close').get_result_async), 'the mast').result.ok
    why = 'NOT_APPROVED: rejected by the operator: not now'

    seen: set[str] = set()

    def question() -> dict[str, Any]:
        (asked,) = wait_until(
            lambda: [each for each in api.get('/approvals') if each['id'] not in seen],
            'the question',
        )
        seen.add(asked['id'])
        assert asked['text'] == 'move_forward(duration_s=12.0)'
        assert asked['reasons'] == ['move_forward is in approval.skills']
        return dict(asked)

    run.send(':forward 12')
    question()
    run.send(':reject not now')
    run.expect(f'! {why}')
    order = {'name': 'move_forward', 'metadata': {'duration_s': 12.0}}
    drive = api.post('/tasks', order)['id']
    api.post(f'/approvals/{question()["id"]}', {'action': 'reject', 'why': 'not now'})
    wait_until(lambda: api.get(f'/tasks/{drive}')['state'] == 'failed', 'the task to fail')
    task = api.get(f'/tasks/{drive}')
    assert task['reason'].startswith(why)
    assert task['metadata']['outcome']['refusal']['code'] == 'NOT_APPROVED'
    goal = client.send(skill='move_forward', arguments_json='{"duration_s": 12.0}')
    api.post(f'/approvals/{question()["id"]}', {'action': 'reject', 'why': 'not now'})
    assert done(client.ask(goal.get_result_async), 'the goal').result.answer == task['reason']
    assert not any(each.linear.x for each in commands)

    drive = api.post('/tasks', {**order, 'metadata': {'duration_s': 12.0}})['id']
    edit = {'action': 'edit', 'arguments': {'duration_s': 1.0}}
    api.post(f'/approvals/{question()["id"]}', edit)
    wait_until(lambda: api.get(f'/tasks/{drive}')['state'] == 'completed', 'the drive', 60.0)
    assert any(each.linear.x for each in commands)
