# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The MCP server before a robot in memory: the SDK's own client, a real socket, both protocols."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, suppress
import json
import os
from subprocess import PIPE, Popen
import sys
from types import SimpleNamespace
from typing import Any

from curiosity_rosa_demo.agent.interfaces.mcp import bridge
from curiosity_rosa_demo.agent.interfaces.mcp.tools import (
    answer_of,
    OUTPUT_SCHEMA,
    result_of,
    tools_of,
)
from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.domain.brain_state import ApprovalAction, Json
from curiosity_rosa_demo.domain.operation import Operation
from fake_robot import CONFIG, FakeRobot, REGISTRY
from http_world import mcp_client, served, serving_mcp, settings, until
import httpx
from hypothesis import given
from hypothesis import strategies as st
from mcp import MCPError
from mcp_types import ElicitResult
import pytest
from skill_world import LONG_S
from starlette.responses import PlainTextResponse

TOKEN = 'a-long-enough-secret'
MODES = pytest.mark.parametrize('mode', ['legacy', 'auto'])
DRIVE: tuple[str, dict[str, Any]] = ('move_forward', {'duration_s': 2.0})


@pytest.fixture
def world() -> Iterator[Any]:
    with FakeRobot() as robot, serving_mcp(robot, CONFIG, TOKEN) as made:
        yield SimpleNamespace(robot=robot, **made)


def ends(robot: FakeRobot) -> list[tuple[str, str]]:
    async def read() -> list[tuple[str, str]]:
        return [(each.name, each.state.name) for each in robot.runner.list_tasks()]

    return robot.do(read())


def task_ids(robot: FakeRobot) -> list[str]:
    async def read() -> list[str]:
        return [each.id for each in robot.runner.list_tasks()]

    return robot.do(read())


@MODES
def test_tools_resources_and_prompts_are_listed_and_read(world: Any, mode: str) -> None:
    async def walk() -> None:
        async with mcp_client(world.url, TOKEN, mode=mode) as client:
            tools = {each.name: each for each in (await client.list_tools()).tools}
            assert {'stop', 'say', 'move_forward', 'get_status'} <= set(tools)
            assert not {'react', 'charge', 'activity', 'decide'} & set(tools)
            assert tools['get_status'].annotations.read_only_hint
            assert not tools['move_stop'].annotations.read_only_hint
            assert tools['move_forward'].annotations.destructive_hint
            for each in (await client.list_resources()).resources:
                if each.name != 'capture':  # there is none yet
                    assert (await client.read_resource(each.uri)).contents[0].text
            with pytest.raises(MCPError, match='no capture yet'):
                await client.read_resource('curiosity://capture')
            shown = await client.get_prompt('demo_ground_texture', {'language': 'ja'})
            assert shown.messages[0].content.text == '地面のテクスチャを調査して'
            done = await client.call_tool('say', {'text': 'go to the light'})
            assert done.structured_content['ok']
            status = await client.call_tool('get_status', {})
            assert status.structured_content['data'] == {'n': 1}  # what it measured, as fields
            blob = (await client.read_resource('curiosity://capture')).contents[0]
            assert blob.mime_type == 'image/jpeg'

    asyncio.run(walk())


WRONG: tuple[tuple[str, dict[str, Any], str], ...] = (
    ('no_such_tool', {}, 'UNKNOWN_TOOL'),
    ('react', {'text': 'x'}, 'UNKNOWN_TOOL'),
    ('move_forward', {'duration_s': 'far'}, 'PARAM_INVALID'),
    ('say', {'text': ':clear'}, 'PARAM_INVALID'),
    ('say', {'text': '  ：yes'}, 'PARAM_INVALID'),
    ('say', {'text': 'x' * 5000}, 'PARAM_INVALID'),
)
STOPS: tuple[tuple[str, dict[str, Any]], ...] = (
    ('stop', {}),
    ('say', {'text': 'stop'}),
    ('say', {'text': ':stop'}),
)


@MODES
def test_a_wrong_call_becomes_no_task_and_stop_and_say_stop_wait_for_nothing(
    world: Any, mode: str
) -> None:
    async def walk() -> None:
        async with mcp_client(world.url, TOKEN, mode=mode) as client:
            for name, arguments, code in WRONG:
                result = await client.call_tool(name, arguments)
                assert result.is_error, name
                assert result.structured_content['error']['code'] == code
            world.robot.refusal = 'nothing may move'
            refused = await client.call_tool(*DRIVE)
            assert refused.structured_content['error']['code'] == 'SAFE_MODE'
            world.robot.not_ready = 'the other nodes are not up yet'
            for name, arguments in STOPS:
                assert (await client.call_tool(name, arguments)).structured_content['ok']
            shown = await client.read_resource('curiosity://configuration')
            assert TOKEN not in shown.contents[0].text

    asyncio.run(walk())
    assert (ends(world.robot), world.robot.stops) == ([], ['MCP'] * len(STOPS))


@pytest.mark.parametrize(
    ('stored', 'code'),
    [
        ({}, 'FAILED'),
        ({'code': 'NAV_BLOCKED'}, 'NAV_BLOCKED'),
        ({'code': 'SAFETY_VIOLATION', 'refusal': {'code': 'GEOFENCE'}}, 'GEOFENCE'),
    ],
)
def test_the_code_of_a_failure_is_not_read_from_its_words(stored: Json, code: str) -> None:
    outcome = {'ok': False, 'answer': 'SAFE_MODE: said by a skill', **stored}
    task = Task('move_forward', state=LifecycleState.FAILED, metadata={'outcome': outcome})
    assert result_of(task).structured_content['error']['code'] == code


@MODES
@pytest.mark.parametrize('how', ['cancelled', 'closed'])
def test_a_call_ends_with_its_client(world: Any, mode: str, how: str) -> None:
    world.robot.paused = True

    async def ended() -> None:
        await until(lambda: ends(world.robot) == [('move_forward', 'CANCELLED')], 'its end')

    async def walk() -> None:
        async with mcp_client(world.url, TOKEN, mode=mode) as client:
            call = asyncio.ensure_future(client.call_tool(*DRIVE))
            await until(lambda: ('move_forward', 'ACTIVE') in ends(world.robot), 'the drive')
            if how == 'cancelled':
                call.cancel()
                await ended()
        await asyncio.gather(call, return_exceptions=True)
        await ended()

    asyncio.run(walk())


@MODES
@pytest.mark.parametrize('action', ['APPROVE', 'REJECT', 'EDIT'])
def test_the_client_is_asked_about_its_own_task_alone(world: Any, mode: str, action: str) -> None:
    robot = world.robot
    robot.paused = True
    for other in ('', 'another task'):  # the same order, of others
        robot.ask('another order', Operation(*DRIVE), task_id=other)
    edited = {'duration_s': 1.0}

    async def answer(_: Any, params: Any) -> ElicitResult:
        assert 'move_forward' in params.message
        content = {'decision': action.lower(), 'why': 'x', 'arguments': json.dumps(edited)}
        return ElicitResult(action='accept', content=content)

    async def walk() -> None:
        async with mcp_client(world.url, TOKEN, mode=mode, elicitation_callback=answer) as client:
            call = asyncio.ensure_future(client.call_tool(*DRIVE))
            await until(lambda: ('move_forward', 'ACTIVE') in ends(robot), 'the drive')
            asked = robot.ask('move_forward', Operation(*DRIVE), task_id=task_ids(robot)[0])
            await until(lambda: robot.answers, 'the answer')
            robot.paused = False
            assert (await call).structured_content['ok']
            arguments = edited if action == 'EDIT' else None
            assert robot.answers == [(asked.id, ApprovalAction[action], arguments, 'x')]

    asyncio.run(walk())
    assert len(robot.questions()) == 2


def test_the_checks_of_the_http_server_are_before_it(world: Any) -> None:
    right = {'Authorization': f'Bearer {TOKEN}'}
    for headers, status in (
        ({}, 401),
        ({**right, 'Host': 'evil.example'}, 421),
        ({**right, 'Origin': 'https://evil.example'}, 403),
        ({**right, 'Content-Type': 'text/plain'}, 400),
    ):
        answer = httpx.post(world.url, content=b'{', headers=headers)
        assert answer.status_code in (status, 406), (headers, answer.text)
        assert 'Traceback' not in answer.text
    large = httpx.post(world.url, content=b' ' * 300_000, headers=right)
    assert large.status_code == 413


def test_a_client_that_asks_too_often_can_always_stop() -> None:
    with FakeRobot() as robot, serving_mcp(robot, CONFIG, requests_per_s=0.5) as world:
        headers = {'Accept': 'application/json, text/event-stream'}

        def post(request: dict[str, Any]) -> httpx.Response:
            body = {'jsonrpc': '2.0', **request}
            return httpx.post(world['url'], json=body, headers=headers, timeout=30.0)

        def call(name: str, **arguments: Any) -> httpx.Response:
            params = {'name': name, 'arguments': arguments}
            return post({'id': 3, 'method': 'tools/call', 'params': params})

        headers['Mcp-Session-Id'] = post(HELLO).headers['mcp-session-id']
        post({'method': 'notifications/initialized'})
        codes = [post(PING).status_code for _ in range(5)]
        assert (codes[0], codes[-1]) == (200, 429)
        for stop in (call('stop'), call('say', text='Stop!')):
            assert '"ok":true' in stop.text, stop.text
        assert len(robot.stops) == 2
        for other in (call('say', text='go on'), call('move_forward', duration_s=1.0), post(PING)):
            assert other.status_code == 429
        odd = ('', '[]', '{', '\ud800', '{"method": "tools/call", "params": []}')
        for body in odd:
            content = body.encode('utf-8', 'surrogatepass')
            assert httpx.post(world['url'], content=content, headers=headers).status_code == 429
        assert httpx.get(world['url'], headers=headers).status_code == 429
        assert not ends(robot)


# --- the bridge for clients that start a program ------------------------------------------------


HELLO = {
    'id': 1,
    'method': 'initialize',
    'params': {
        'protocolVersion': '2025-06-18',
        'capabilities': {},
        'clientInfo': {'name': 'x', 'version': '1'},
    },
}
PING = {'id': 2, 'method': 'ping'}
NOTIFICATION = {'method': 'notifications/roots/list_changed'}


@pytest.mark.parametrize(
    ('gone', 'then', 'status', 'said'),
    [
        ('client', None, 0, ''),
        ('agent', None, 1, 'mcp: no agent answers at http://'),
        ('agent', NOTIFICATION, 1, 'mcp: the connection to http://'),
        ('session', PING, 1, 'mcp: the agent at http://'),  # its agent was restarted at once
    ],
)
def test_the_bridge_ends_with_its_client_or_its_agent_and_asks_no_proxy(
    gone: str, then: dict[str, Any] | None, status: int, said: str
) -> None:
    proxies = dict.fromkeys(('http_proxy', 'HTTP_PROXY', 'ALL_PROXY'), 'http://127.0.0.1:9')
    env = {**os.environ, bridge.TOKEN_VARIABLE: TOKEN, **proxies, 'NO_PROXY': '', 'no_proxy': ''}
    with FakeRobot() as robot, ExitStack() as serving:
        url = serving.enter_context(serving_mcp(robot, CONFIG, TOKEN))['url']
        # Between two agents, and before a message, its own look would find none.
        watch_s = 3600.0 if then else bridge.WATCH_PERIOD_S
        program = f'from {bridge.__package__} import bridge as b; b.WATCH_PERIOD_S = {watch_s}'
        command = [sys.executable, '-c', f'{program}; b.main()', '--url', url]
        with Popen(command, 0, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=env) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None

            def send(message: dict[str, Any]) -> None:
                assert process.stdin is not None
                with suppress(BrokenPipeError):  # it has met the new agent by itself
                    process.stdin.write(json.dumps({'jsonrpc': '2.0', **message}).encode() + b'\n')

            try:
                for each in (HELLO, {'method': 'notifications/initialized'}, PING):
                    send(each)
                assert b'serverInfo' in process.stdout.readline()
                assert b'"id":2' in process.stdout.readline()
                (process.stdin if gone == 'client' else serving).close()
                if gone == 'session':
                    again = serving_mcp(robot, CONFIG, TOKEN, httpx.URL(url).port or 0)
                    serving.enter_context(again)
                if then:
                    send(then)
                assert process.wait(LONG_S) == status
                told = process.stderr.read().decode().splitlines()
                assert all(line.startswith('mcp: ') for line in told), told
                assert (told or [''])[-1].startswith(said)
            finally:
                process.kill()


@pytest.mark.parametrize(
    ('status', 'said'),
    [
        (401, 'refuses the token'),
        (404, 'serves no MCP'),
        (421, 'answers 421: No such host.$'),
        (503, 'answers 503: No such host.$'),
    ],
)
def test_an_error_of_the_agent_is_told_before_a_client_is_served(
    status: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(lambda: PlainTextResponse('No such\nhost.', status), settings()) as url:
        monkeypatch.setattr('sys.argv', ['mcp', '--url', f'{url}/mcp'])
        with pytest.raises(SystemExit, match=said):
            bridge.main()


def test_every_tool_has_its_own_schema_and_the_common_output() -> None:
    for tool, skill in zip(tools_of(REGISTRY.for_model())[2:], REGISTRY.for_model(), strict=True):
        assert tool.input_schema == skill.definition.args_schema
        assert tool.output_schema == OUTPUT_SCHEMA


@given(
    st.sampled_from(['accept', 'decline', 'cancel']),
    st.dictionaries(
        st.sampled_from(['decision', 'arguments', 'why']),
        st.one_of(st.text(), st.sampled_from(['approve', 'reject', 'edit', '{}']), st.booleans()),
    ),
)
def test_only_an_explicit_decision_approves(action: str, content: dict[str, Any]) -> None:
    answer = answer_of(ElicitResult(action=action, content=content))  # type: ignore[arg-type]
    if answer is not None and answer[0] is not ApprovalAction.REJECT:
        assert action == 'accept'
        assert content['decision'] == answer[0].value.lower()
