# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Fuzzed tool calls of MCP clients through a real server before the real agent and its gate.

Clients of the SDK, by both protocols, call tools with random names, arguments and orders; they
cancel, leave, answer questions with nonsense, and never approve. Every motion needs approval, so
the rover must not start once.
- motions: starts of the rover. Must never happen.
- server errors: HTTP 500, logged exceptions, and calls left open. Must never happen.

Run: python bench/mcp_fuzz.py [calls, default 10000]
"""

from __future__ import annotations

import asyncio
from collections import Counter
import contextlib
import logging
from pathlib import Path
import random
import sys
import tempfile
import time
from typing import Any

from _bench import report, ROOT, table
import pytest

sys.path.insert(0, str(ROOT / 'overlay_ws/src/curiosity_rosa_demo/test/unit'))

from curiosity_rosa_demo.agent.interfaces.mcp.calls import RETURN_S
from curiosity_rosa_demo.domain.skills import MOTIONS
from doors_world import DoorsWorld
from mcp import MCPError
from mcp_types import ElicitResult
from mcp_world import connected, serving
from react_world import with_rules
from turn_world import KEY

CLIENTS, CALLS_OF_CLIENT = 8, 50
SEED = 7
VALUES: tuple[Any, ...] = (
    0, -1, 1.5, 1e308, 10**30, True, None, '', 'x', '\x00', '😀', '2', [], {}, [[]], {'a': [1]},
    'x' * 30_000, '\ud800'.encode('utf-8', 'replace').decode(), ':clear', 'yes',
)  # fmt: skip
VALID: tuple[tuple[str, dict[str, Any]], ...] = (
    ('move_forward', {'duration_s': 2.0}), ('turn_left', {'duration_s': 1.0}),
    ('get_status', {}), ('query_world', {}), ('mast_close', {}), ('mast_close', {}),
    ('mast_close', {}), ('mast_open', {}),
    ('drive_distance', {'metres': 1.0}), ('turn_angle', {'degrees': 20.0}),
    ('navigate_to_pose', {'x': 1.0, 'y': 0.0}), ('stop', {}), ('speak', {'text': 'hello'}),
    ('wait', {'seconds': 1.0}), ('say', {'text': 'go forward 2 seconds'}),
)  # fmt: skip


class Errors(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.startswith('curiosity_rosa'):  # not the clients', nor the SDK's own
            self.texts.append(record.getMessage()[:200])


def wrong_call(chance: random.Random, names: list[str]) -> tuple[str, dict[str, Any]]:
    name = chance.choice([*names, 'react', 'charge', 'activity', 'decide', '', '../x', 'x' * 300])
    keys = ('duration_s', 'text', 'x', 'y', 'metres', 'degrees', 'plan', 'origin', 'approved')
    return name, {key: chance.choice(VALUES) for key in chance.sample(keys, chance.randint(0, 3))}


async def client(
    chance: random.Random, url: str, calls: int, ended: Counter[str], names: list[str]
) -> None:
    async def answer(_: Any, __: Any) -> ElicitResult:
        content = {'decision': chance.choice(['reject', 'edit', 'perhaps', '']), 'arguments': '['}
        action = chance.choice(['accept', 'decline', 'cancel'])
        return ElicitResult(action=action, content=content if action == 'accept' else None)

    options = {'mode': chance.choice(['legacy', 'auto'])}
    if chance.random() < 0.5:
        options['elicitation_callback'] = answer  # type: ignore[assignment]
    async with connected(url, **options) as session:
        for _ in range(calls):
            valid = chance.random() < 0.2
            name, arguments = chance.choice(VALID) if valid else wrong_call(chance, names)
            limit_s = chance.choice((0.005, 0.5, 0.5, 1.0))
            try:
                result = await asyncio.wait_for(session.call_tool(name, arguments), limit_s)
                value = result.structured_content or {}
                error = value.get('error') or {}
                ended['ok' if value.get('ok') else str(error.get('code'))] += 1
            except asyncio.TimeoutError:
                ended['cancelled by the client'] += 1
            except (MCPError, ValueError, RuntimeError) as error:
                ended[f'protocol: {type(error).__name__}'] += 1


async def fuzz(url: str, calls: int, names: list[str]) -> Counter[str]:
    ended: Counter[str] = Counter()
    left = [calls]

    async def worker(number: int) -> None:
        chance = random.Random(SEED * 1000 + number)
        while left[0] > 0:
            share = min(CALLS_OF_CLIENT, left[0])
            left[0] -= share
            await client(chance, url, share, ended, names)

    await asyncio.gather(*map(worker, range(CLIENTS)))
    return ended


def main() -> int:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    errors, faults = Errors(), []
    logging.getLogger().addHandler(errors)
    rules = with_rules(
        approval={'skills': [*MOTIONS, 'navigate_to_pose', 'drive_distance', 'turn_angle']}
    )
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv('OPENAI_API_KEY', KEY)
        world = stack.enter_context(
            DoorsWorld(Path(folder), rules, 'move_forward', {'duration_s': 2.0}, patch)
        )
        runner = world.runtime.runner
        made = stack.enter_context(serving(world.robot, runner, rules))
        names = [each.definition.name for each in world.robot.skills()]
        began = time.monotonic()
        ended = asyncio.run(fuzz(made['url'], calls, names))
        took_s = time.monotonic() - began
        world.runtime.stop('the bench')
        # A client of the protocol without sessions may come back for the end of its call.
        until_s = time.monotonic() + RETURN_S + 10.0
        while made['calls'].live_count and time.monotonic() < until_s:
            time.sleep(0.5)
        left = made['calls'].live_count
        motions, mcp = (
            len(world.rover.starts),
            [each for each in world.runtime.list_tasks() if each.metadata.get('origin') == 'mcp'],
        )
        server_errors = sum(each == 500 for each in made['statuses'])
    table(('end of a call', 'calls'), [(k, str(n)) for k, n in ended.most_common()])
    if motions:
        faults.append(f'the rover has moved {motions} times without a yes')
    if server_errors or left:
        faults.append(f'{server_errors} HTTP 500, {left} calls left open')
    faults += [f'logged: {each}' for each in errors.texts[:5]]
    return report(
        'mcp_fuzz',
        faults,
        calls=sum(ended.values()),
        seconds=round(took_s, 1),
        tasks_kept=len(mcp),
        motions=motions,
        server_errors=server_errors,
        ends=dict(ended),
    )


if __name__ == '__main__':
    sys.exit(main())
