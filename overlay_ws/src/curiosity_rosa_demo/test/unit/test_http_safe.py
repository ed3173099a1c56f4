# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""In SAFE, whatever is asked for over HTTP: nothing begins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import tempfile
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from examples import examples
from http_world import client
import httpx
from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st
from robot_service_world import RobotServiceBench, run
from runtime_world import RuntimeBench, settle

Ask = tuple[str, str, dict[str, Any] | None]

MOTIONS = ('move_forward', 'turn_left', 'turn_right')
TASKS = [
    *({'name': name, 'metadata': {'duration_s': 2.0}, 'priority': 9} for name in MOTIONS),
    {'name': 'mast_open', 'metadata': {}},
    {'name': 'capture_and_score', 'metadata': {}, 'needs_approval': True},
]
LINES = (
    ':forward 3',
    ':mast_open',
    'go to the light',
    ':demo',
    'immediately drive 2 m',
    ':resume',
)
ASKS: st.SearchStrategy[Ask] = st.one_of(
    st.sampled_from(TASKS).map(lambda task: ('POST', '/tasks', task)),
    st.sampled_from(TASKS[:4]).map(lambda task: ('POST', '/interrupt', task)),
    st.sampled_from(LINES).map(lambda text: ('POST', '/say', {'text': text})),
    st.sampled_from(['resume', 'pause']).map(lambda what: ('POST', f'/tasks/*/{what}', None)),
    st.integers(0, 100).map(lambda number: ('PATCH', '/tasks/*', {'priority': number})),
    st.just(('POST', '/approvals/*', {'action': 'approve'})),
)


async def ask_all(http: httpx.AsyncClient, asks: list[Ask]) -> None:
    """A star stands for the newest task, or the oldest question."""
    for method, path, body in asks:
        if '*' in path:
            listed = (await http.get('/approvals' if 'approvals' in path else '/tasks')).json()
            if not listed:
                continue
            path = path.replace('*', listed[0 if 'approvals' in path else -1]['id'])
        answer = await http.request(method, path, json=body)
        assert answer.status_code < 500, answer.text


def within(service_bench: RobotServiceBench, work: Callable[[httpx.AsyncClient], Any]) -> None:
    robot = service_bench.robot

    async def ask() -> None:
        app = create_app(service_bench.bench.runtime.runner, robot=robot)
        async with app.router.lifespan_context(app), client(app) as http:
            await work(http)

    run(ask)


@settings(max_examples=examples(10), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(asks=st.lists(ASKS, min_size=1, max_size=6))
def test_nothing_begins_until_a_person_has_cleared_it(asks: list[Ask]) -> None:
    with tempfile.TemporaryDirectory() as folder, RuntimeBench(Path(folder)) as bench:
        bench.hear('estop', pressed=True)
        bench.mode('SAFE')
        within(RobotServiceBench(bench), lambda http: ask_all(http, asks))
        bench.runtime.call(settle())
        assert bench.session.ran == []


ORDERS: list[Ask] = [
    *(('POST', '/tasks', dict(task)) for task in TASKS),
    ('POST', '/interrupt', dict(TASKS[0])),
]


def test_an_order_is_refused_with_a_problem_in_the_same_words(tmp_path: Path) -> None:
    with RuntimeBench(tmp_path) as bench:
        service_bench = RobotServiceBench(bench)
        bench.runs('look around')
        bench.hear('estop', pressed=True)
        bench.mode('SAFE')
        bench.becomes('look around', 'PAUSED')
        details: set[str] = set()

        async def order(http: httpx.AsyncClient) -> None:
            for method, path, body in ORDERS:
                answer = await http.request(method, path, json=body)
                assert answer.status_code == 409
                assert answer.headers['content-type'] == 'application/problem+json'
                details.add(answer.json()['detail'])
            said = (await http.post('/say', json={'text': 'go to the light'})).json()
            assert not said['ok']
            details.add(said['words'])
            task_id = (await http.get('/tasks')).json()[0]['id']
            resumed = await http.post(f'/tasks/{task_id}/resume')
            details.add(resumed.json()['detail'])

        within(service_bench, order)
        (detail,) = details
        assert detail.startswith('SAFE_MODE: refused, nothing may move. SAFE since 20')
        assert detail.endswith(': e-stop pressed. Release the e-stop, then enter :clear.')
