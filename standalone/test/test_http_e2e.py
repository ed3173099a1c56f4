# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The HTTP API of a whole running demo: what a script sees and does with it."""

from __future__ import annotations

import json
import os
from pathlib import Path
import signal
import threading

from demo_bench import Api, Bench
from geometry_msgs.msg import Twist
from harness import wait_until
import httpx
from page_site import free_port
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


def test_drive_watch_stop_survive_kill_9_and_leave(bench: Bench) -> None:
    """With a token, without which nobody comes in."""
    token = 'a-secret-that-stands-in-no-log'
    bench.env['CURIOSITY_HTTP_TOKEN'] = f'{token}\n'  # as from a file
    commands = bench.box.collect(Twist, '/cmd_vel')
    config = bench.box.config_dir(agent={'http': {'port': free_port()}})
    api = Api(bench.run('--config-dir', config), token)
    api.run.until(lambda: answers(f'{api.url}/healthz'), 'an answer')
    assert httpx.post(f'{api.url}/stop').status_code == 401
    assert httpx.get(f'{api.url}/state?token={token}').status_code == 401
    api.ready()
    heard: list[str] = []
    listening = threading.Thread(target=lambda: heard.extend(events_until_stop(api)), daemon=True)
    listening.start()

    mast = api.say(':mast_close')['task']['id']
    wait_until(lambda: api.get(f'/tasks/{mast}')['state'] == 'completed', 'a stowed mast')
    drive = api.say(':forward 20')['task']['id']
    api.run.until(lambda: bench.moving, 'the rover to drive')
    answer = api.post('/stop')
    assert answer['ok']
    api.run.until(lambda: not bench.moving, 'the rover to stand still')
    # /move_stop publishes one zero; nothing else ends a drive that is under way.
    wait_until(lambda: commands[-1].linear.x == 0.0, 'the zero')
    assert any(each.linear.x > 0.0 for each in commands)
    wait_until(lambda: api.get(f'/tasks/{drive}')['state'] == 'cancelled', 'the drive to end')
    assert api.get(f'/tasks/{drive}')['reason'] == 'Stopped by HTTP'

    listening.join(20.0)
    messages = [json.loads(each)['message'] for each in heard]
    assert any('move_forward' in each for each in messages)
    traced = [each['message'] for each in api.get('/trace')]
    assert [each for each in traced if each in messages] == messages
    assert any(each.startswith('simulator started') for each in traced)  # another node's

    def nodes() -> dict[str, bool]:
        return {each['name']: each['ok'] for each in api.get('/state')['nodes']}

    well = dict.fromkeys(('adapter', 'simulator', 'visualizer', 'kernel', 'tasks'), True)
    wait_until(lambda: nodes() == well, 'all nodes to be well')
    assert api.get('/state')['pose']['x'] > 0.0
    api.run.expect('(http) stop, by HTTP')
    path = shows_the_camera_and_a_capture(api)
    shown = api.client.get(path).content
    saved = 'tasks*.session/capture-*.json'
    wait_until(lambda: list((bench.box.folder / 'state').rglob(saved)), 'the capture to be saved')
    is_back_after_kill_9_where_it_was(bench, api)
    assert api.client.get(path).content == shown
    ends_although_a_page_is_open(api)
    assert 'Traceback' not in api.run.output()
    bench.nothing_left()
    assert token not in api.run.output()
    logs = [*Path(bench.env['XDG_STATE_HOME']).rglob('*.log'), *bench.box.folder.rglob('*.log')]
    assert any(each.name == 'agent.log' for each in logs)
    assert not [each for each in logs if token in each.read_text(errors='replace')]


def shows_the_camera_and_a_capture(api: Api) -> str:
    """The path of the capture."""
    wait_until(lambda: api.client.get('/camera.jpg').status_code == 200, 'a picture')
    assert api.client.get('/camera.jpg').content.startswith(b'\xff\xd8')
    assert api.say(':mast_open')
    capture = api.say(':cap')['task']['id']
    wait_until(lambda: api.get(f'/tasks/{capture}')['state'] == 'completed', 'the capture')
    captured = [
        each
        for each in api.get('/trace')
        if each['tool_name'] == 'capture_and_score' and each['kind'] == 'RESULT'
    ]
    path = f'/page/captures/{captured[-1]["event_id"]}.jpg'
    wait_until(lambda: api.client.get(path).status_code == 200, 'its picture')
    assert api.client.get(path).content.startswith(b'\xff\xd8')
    return path


def is_back_after_kill_9_where_it_was(bench: Bench, api: Api) -> None:
    with api.client.stream('GET', '/events') as answer:  # an open connection
        old = bench.kill('agent_node')
        with pytest.raises(httpx.HTTPError):
            for _ in answer.iter_raw():
                pass
    bench.back('agent_node', old)
    api.ready()
    wait_until(
        lambda: any('restarted after signal 9' in each['message'] for each in api.get('/trace')),
        'the restart in the trace',
    )
    assert 'is taken' not in api.run.output()


def ends_although_a_page_is_open(api: Api) -> None:
    with api.client.stream('GET', '/events') as answer:
        assert answer.status_code == 200
        os.kill(api.run.popen.pid, signal.SIGTERM)
        api.run.popen.wait(timeout=30.0)


def events_until_stop(api: Api) -> list[str]:
    """The data of the trace's events from now until a stop was answered."""
    found, kind = [], ''
    with api.client.stream('GET', '/events', timeout=60.0) as answer:
        for line in answer.iter_lines():
            name, _, value = line.partition(': ')
            if name == 'event':
                kind = value
            elif name == 'data' and kind == 'trace':
                found.append(value)
                if json.loads(value)['tool_name'] == 'move_stop':
                    break
    return found


def test_an_open_address_without_a_token_is_refused(bench: Bench) -> None:
    config = bench.box.config_dir(agent={'http': {'host': '0.0.0.0'}})
    run = bench.run('--config-dir', config)
    assert run.end() == 2
    said = [line for line in run.output().splitlines() if line.startswith('agent: ')]
    assert len(said) == 1
    assert 'CURIOSITY_HTTP_TOKEN' in said[0]
    assert 'Traceback' not in run.output()
    bench.nothing_left()


def answers(url: str) -> bool:
    try:
        return httpx.get(url).status_code == 200
    except httpx.HTTPError:
        return False
