# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The latency of a stop through the HTTP server while other clients use up all that they can.

The agent's server runs in a process of its own, in front of a simulated robot, and so do the
clients of each attack. A stop is one POST /stop on a new connection. Measured for each attack: the
stops that were confirmed, and the time to the whole response.

Aim: the 99th percentile stays below 50 ms.

Must never happen: a stop that is refused or lost.

Run: python bench/stop_under_load.py [stops, default 100]
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
import socket
import subprocess
import sys
import time
from typing import Any

from _bench import milliseconds, report, ROOT, table

sys.path.insert(0, str(ROOT / 'overlay_ws/src/curiosity_rosa_demo/test/unit'))

AIM_P99_MS = 50.0
STOP_TIMEOUT_S = 10.0
RETRY_S = 0.1  # an attacker that was disconnected returns after this time
SETTLE_S = 1.0  # an attack runs for this time before the first stop
SAY = b'POST /say HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n'
EVENTS = b'GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
LINE = b'{"text": "hello"}'
WHOLE_SAY = SAY + b'Content-Length: %d\r\n\r\n%s' % (len(LINE), LINE)
STOP = b'POST /stop HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n'


# --- the attacks, in a process of their own ----------------------------------------------------


async def hold(port: int, data: bytes) -> None:
    """Send ``data`` and then nothing."""
    reader, writer = await asyncio.open_connection('127.0.0.1', port)
    try:
        writer.write(data)
        while await reader.read(65536):
            pass
    finally:
        writer.close()


async def repeat(port: int, data: bytes) -> None:
    """Send ``data`` again after each response."""
    reader, writer = await asyncio.open_connection('127.0.0.1', port)
    try:
        while True:
            writer.write(data)
            if not await reader.read(65536):
                return
    finally:
        writer.close()


async def connect_only(port: int) -> None:
    for _ in range(100):
        _, writer = await asyncio.open_connection('127.0.0.1', port)
        writer.close()


Attack = Callable[[int], Coroutine[Any, Any, None]]
ATTACKS: dict[str, tuple[int, Attack]] = {  # the number of clients, and what each does
    'half-open heads': (600, lambda port: hold(port, SAY)),
    'silent connections': (600, lambda port: hold(port, b'')),
    'slow bodies': (400, lambda port: hold(port, SAY + b'Content-Length: 9\r\n\r\n{')),
    '1,000 streams': (1000, lambda port: hold(port, EVENTS)),
    'flood of /say': (50, lambda port: repeat(port, WHOLE_SAY)),
    'flood of connections': (20, connect_only),
}


async def attack(name: str, port: int) -> None:
    """Run until standard input ends."""
    count, client = ATTACKS[name]

    async def attacker() -> None:
        while True:
            with suppress(OSError):
                await client(port)
            await asyncio.sleep(RETRY_S)

    jobs = [asyncio.create_task(attacker()) for _ in range(count)]
    await asyncio.sleep(SETTLE_S)
    print('attacking', flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for job in jobs:
        job.cancel()


# --- the server, in a process of its own -------------------------------------------------------


def serve() -> None:
    """Serve until standard input ends. Prints the port."""
    from curiosity_rosa_demo.agent.interfaces.http.server import create_app
    from curiosity_rosa_demo.agent.interfaces.http.server_thread import HttpThread
    from fake_robot import CONFIG, FakeRobot

    with FakeRobot() as robot:
        settings = CONFIG.agent.http.model_copy(update={'port': 0})
        server = HttpThread(
            lambda: create_app(robot.runner, robot=robot, settings=settings), settings
        )
        print(server.start().rstrip('/').rpartition(':')[2], flush=True)
        sys.stdin.read()
        server.close()


# --- the stops ---------------------------------------------------------------------------------


@contextmanager
def child(*arguments: str) -> Iterator[str]:
    """A process of this file; yields the first line that it prints."""
    process = subprocess.Popen(
        [sys.executable, __file__, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline().strip()
        if not line:
            raise SystemExit(f'{arguments[0]} did not start')
        yield line
    finally:
        process.communicate('', timeout=30)


def send_stop(connection: socket.socket) -> bool:
    """Whether the response is 200."""
    connection.sendall(STOP)
    received = b''
    while b'"ok":' not in received:
        part = connection.recv(65536)
        if not part:
            break
        received += part
    return received.startswith(b'HTTP/1.1 200')


def connect(port: int) -> socket.socket:
    return socket.create_connection(('127.0.0.1', port), STOP_TIMEOUT_S)


def measure(port: int, stops: int) -> dict[str, Any]:
    times, answered = [], 0
    for _ in range(stops):
        began = time.perf_counter()
        with suppress(OSError), connect(port) as connection:
            answered += send_stop(connection)
        times.append(time.perf_counter() - began)
        time.sleep(0.02)
    return {'stops': stops, 'answered': answered, **milliseconds(times)}


def main(stops: int) -> int:
    faults: list[str] = []
    results: dict[str, dict[str, Any]] = {}
    with child('--serve') as line:
        port = int(line)
        measure(port, 3)
        results['no attack'] = measure(port, stops)
        for name in ATTACKS:
            with child('--attack', name, line):
                results[name] = measure(port, stops)
    for name, each in results.items():
        if each['answered'] < each['stops']:
            faults.append(f'{name}: {each["stops"] - each["answered"]} stops were not confirmed')
    table(
        ['attack', 'confirmed', 'median ms', 'p99 ms'],
        [
            [name, f'{each["answered"]}/{each["stops"]}', each['median_ms'], each['p99_ms']]
            for name, each in results.items()
        ],
    )
    met = all(each['p99_ms'] <= AIM_P99_MS for each in results.values())
    print(f'aim {"met" if met else "missed"}: every p99 below {AIM_P99_MS:g} ms')
    return report('stop_under_load', faults, attacks=results, aim_met=met)


if __name__ == '__main__':
    if sys.argv[1:2] == ['--serve']:
        serve()
    elif sys.argv[1:2] == ['--attack']:
        asyncio.run(attack(sys.argv[2], int(sys.argv[3])))
    else:
        raise SystemExit(main(int(sys.argv[1]) if sys.argv[1:] else 100))
