# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""In SAFE each door of the running product refuses an order at once, in the same words."""

from __future__ import annotations

from demo_bench import Bench
from http_client import Api
import pytest
from rover_parameters import turn
from test_run_task_e2e import Client, done

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]
PRESSED = ('--stand-in', 'e_stop=true')
PROBLEM = 'application/problem+json'
REFUSED = 'SAFE_MODE: refused, nothing may move. SAFE since 20'


def test_a_command_in_safe_ends_with_a_failure(bench: Bench) -> None:
    status, result, output = bench.commands(':forward 2', ':mode', options=PRESSED)
    assert status == 1
    assert not result['ok']
    assert REFUSED in output
    assert not bench.moving


def test_console_http_and_action_refuse_and_a_clear_sets_nothing_in_motion(bench: Bench) -> None:
    api = Api(bench.run(*PRESSED))
    api.run.expect('SAFE: e-stop pressed')
    api.run.send(':forward 2')
    api.run.expect(f'! {REFUSED}')
    order = {'name': 'move_forward', 'metadata': {'duration_s': 2.0}}
    answer = api.client.post('/tasks', json=order)
    assert (answer.status_code, answer.headers['content-type']) == (409, PROBLEM)
    detail = answer.json()['detail']
    assert detail.startswith(REFUSED)
    client = Client(bench)
    goal = client.send(skill='move_forward', arguments_json='{"duration_s": 2.0}')
    result = done(client.ask(goal.get_result_async), 'the goal to be aborted').result
    assert (result.ok, result.answer) == (False, detail)

    turn(bench, e_stop=False)
    api.run.expect('e-stop released')
    api.run.send(':clear')
    api.run.expect('SAFE is over')
    api.run.send(':tasks')
    api.run.expect('no tasks')
    assert not bench.moving
