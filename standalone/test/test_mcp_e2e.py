# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""MCP clients of the SDK before a whole running demo, by HTTP and by the stdio bridge."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from typing import Any

from demo_bench import Bench
from geometry_msgs.msg import Twist
from harness import DIES_WITH_US, ROOT, wait_until
from http_client import Api
from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult
import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]
RULES = {'geofence': {'x_max': 60.0}, 'approval': {'skills': ['turn_left']}}
DRIVER = textwrap.dedent("""
    import asyncio, sys
    from mcp import Client

    async def main():
        async with Client(sys.argv[1], mode=sys.argv[2]) as client:
            await client.call_tool('move_forward', {'duration_s': 20.0})

    asyncio.run(main())
""")


async def until(condition: Any, what: str) -> None:
    await asyncio.to_thread(wait_until, condition, what, 60.0)


def drives_until_killed(bench: Bench, api: Api, url: str, mode: str) -> None:
    command = [*DIES_WITH_US, sys.executable, '-c', DRIVER, url, mode]
    with subprocess.Popen(command) as client:
        api.run.until(lambda: bench.moving, f'the drive of the {mode} client')
        client.kill()
    bench.stands(20.0)
    wait_until(lambda: api.get('/tasks?live=true') == [], 'no task to be left')


def test_list_call_refusal_question_cancel_and_a_killed_client(bench: Bench) -> None:
    config = bench.box.config_dir(agent={'http': {'mcp': True, 'port': 0}}, guardrails=RULES)
    commands = bench.box.collect(Twist, '/cmd_vel')
    api = Api(bench.run('--config-dir', config)).ready()
    url = f'{api.url}/mcp'
    asked: list[str] = []

    async def yes(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        assert not any(each.angular.z for each in commands)
        return ElicitResult(action='accept', content={'decision': 'approve'})

    async def walk(server: Any) -> None:
        reports: list[str | None] = []

        async def progress(_: float, __: float | None, message: str | None) -> None:
            reports.append(message)

        async with Client(server, mode='auto', elicitation_callback=yes) as client:
            assert 'move_forward' in {each.name for each in (await client.list_tools()).tools}
            stowed = await client.call_tool('mast_close', {})
            assert stowed.structured_content['ok'], stowed
            refused = await client.call_tool('navigate_to_pose', {'x': 62.0, 'y': 0.0})
            error = refused.structured_content['error']
            assert (refused.is_error, error['code']) == (True, 'GEOFENCE')
            assert error['rule'] == 'geofence'
            assert error['allowed']
            assert error['way_out']
            assert not any(each.linear.x for each in commands)
            turned = await client.call_tool(
                'turn_left', {'duration_s': 1.0}, progress_callback=progress
            )
            assert turned.structured_content['ok'], turned
            assert len(asked) == 1
            call = asyncio.ensure_future(client.call_tool('move_forward', {'duration_s': 20.0}))
            await until(lambda: bench.moving or call.done(), 'the drive')
            assert not call.done(), call.result()
            call.cancel()
            await asyncio.to_thread(bench.stands, 20.0)
            await until(lambda: api.get('/tasks?live=true') == [], 'no task to be left')
            picture = await client.read_resource('curiosity://map')
            assert picture.contents[0].text.startswith('<svg')

    bridge = StdioServerParameters(command=str(ROOT / 'scripts/mcp.sh'), args=['--url', url])
    asyncio.run(walk(bridge))
    drives_until_killed(bench, api, url, 'legacy')
    assert api.run.end() == 0
    assert 'Traceback' not in api.run.output()
    late = subprocess.run(
        [str(ROOT / 'scripts/mcp.sh'), '--url', url],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60.0, check=False,
    )  # fmt: skip
    assert (late.returncode, late.stdout) == (1, '')
    assert late.stderr.startswith('mcp: no agent answers at ')
