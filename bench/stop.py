# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""From a stop to the rover: called, typed while a model call hangs, by HTTP under attack.

- adapter: from the call of a start or a stop until the rover serves it, in blocks in turn, and the
  CPU time between the two on top of its idling. The adapter answers a stop later, once odometry
  confirms the standstill. The rover is a bare node with rclpy's default executor, like the demo's
  run_demo; in the first row with an EventsExecutor, like the stand-in. The peer is a
  minimal forwarding node (async callback that awaits its client, rclpy.spin), called from a node
  that is spun alike; the floor a direct call.
- console: all nodes are up, the agent is on pipes, and its model is a server whose every call
  hangs. In each round a sentence triggers a model call; then ":stop" is written, and the rover, a
  bare node with rclpy.spin, records the start of its callback.
- http: the same nodes and bare rover; the clients of each attack are in a process of their own. A
  stop is one POST /stop on a new connection.

Must never happen: a stop that is refused, lost, or does not arrive within 2 s; a sentence that
does not reach the model; a task that is not CANCELLED afterwards; an agent that does not end with
:quit.

Run: python bench/stop.py [adapter] [console] [http] [--size ROUNDS] [--smoke]
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing, contextmanager, ExitStack, suppress
from functools import partial
import json
import math
import mmap
from pathlib import Path
import re
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
import time
from typing import Any

from _bench import cpu_percent, cpu_seconds, main, milliseconds, Part, Result
from chat_server import ChatServer, Hang
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.ros_io import call
from harness import PREFIXES, Process, Sandbox, wait_until
import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_srvs.srv import Empty, Trigger

NODES = 40  # in the domain, beside those that take part
ACTS = {'start': 'move_forward', 'stop': 'move_stop'}
BLOCK = 10
PAUSE_S = 0.2  # before each call: the adapter takes as long to confirm a stop, the others do not
IDLE_S = 6.0
AIM_CHAIN = 0.6  # of the time of the forwarding node
AIM_CPU_MS = 2.5
AIM_TIMES = 1.5  # of the round trip over two hops
LATEST_S = 2.0
STOP = ':stop on standard input to the rover'
EVENTS = 'EventsExecutor, two hops (peer)'
WARM_UP = 5
DATABASE = 'tasks.db'
AIM_P99_MS = 50.0
STOP_TIMEOUT_S = 10.0
RETRY_S = 0.1  # an attacker that was disconnected returns after this time
SETTLE_S = 1.0  # an attack runs for this time before the first stop
SAY = b'POST /say HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n'
STREAM = b'GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
LINE = b'{"text": "hello"}'
WHOLE_SAY = SAY + b'Content-Length: %d\r\n\r\n%s' % (len(LINE), LINE)
POST_STOP = b'POST /stop HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n'
PAGE = re.compile(r'The page: http://127\.0\.0\.1:(\d+)')
ROVER = """
import mmap, struct, sys, time
import rclpy
from rclpy.experimental import EventsExecutor
from std_srvs.srv import Empty
with open(sys.argv[1], 'r+b') as file:
    served = mmap.mmap(file.fileno(), 8)

def serve(request, response):
    if served[:8] == bytes(8):  # the first since the caller has cleared it
        served[:8] = struct.pack('q', time.monotonic_ns())
    return response

rclpy.init()
node = rclpy.create_node('rover', namespace=sys.argv[2])
for name in ('move_forward', 'turn_left', 'turn_right', 'move_stop', 'mast_open', 'mast_close',
             'mast_rotate'):
    node.create_service(Empty, name, serve)
executor = EventsExecutor() if sys.argv[2:] == ['/our_rover'] else rclpy.get_global_executor()
executor.add_node(node)
while rclpy.ok():
    executor.spin_once(timeout_sec=1.0)
"""
OTHERS = """
import sys, threading
import rclpy
rclpy.init()
nodes = [rclpy.create_node(f'node_{number}') for number in range(int(sys.argv[1]))]
threading.Event().wait()
"""
STANDING = """
import sys
import rclpy
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
rclpy.init()
node = rclpy.create_node('standing')
odometry = node.create_publisher(Odometry, sys.argv[1], 10)
joints = node.create_publisher(JointState, '/joint_states', 10)
still = Odometry()
still.header.frame_id, still.child_frame_id = 'odom', 'base_footprint'
still.pose.pose.orientation.w = 1.0
stowed = JointState(
    name=['mast_p_joint', 'mast_02_joint', 'mast_cameras_joint'], position=[1.57, -1.57, 0.0])
def publish():
    still.header.stamp = stowed.header.stamp = node.get_clock().now().to_msg()
    odometry.publish(still)
    joints.publish(stowed)
node.create_timer(0.05, publish)
rclpy.spin(node)
"""
FORWARDER = """
import rclpy
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from std_srvs.srv import Empty, Trigger
rclpy.init()
node = rclpy.create_node('forwarder')
# A separate group: in the default group the client and its callback would deadlock.
group = MutuallyExclusiveCallbackGroup()

def serve(name):
    client = node.create_client(Empty, f'/{name}', callback_group=group)
    client.wait_for_service()

    async def forward(request, response):
        await client.call_async(Empty.Request())
        response.success = True
        return response

    node.create_service(Trigger, f'/forwarder/{name}', forward)

for name in ('move_forward', 'move_stop'):
    serve(name)
rclpy.spin(node)
"""
EVENTS_FORWARDER = """
import threading
import rclpy
from curiosity_rosa_demo.infra.process import SpinThread
from curiosity_rosa_demo.infra.ros_io import call
from std_srvs.srv import Empty, Trigger
rclpy.init()
asking = rclpy.create_node('events_forwarder_asking')
client = asking.create_client(Empty, '/our_rover/move_stop')
SpinThread('asking', asking, on_crash=print)

def forward(request, response):
    call(client, Empty.Request(), timeout_s=20.0)
    response.success = True
    return response

serving = rclpy.create_node('events_forwarder')
serving.create_service(Trigger, '/events_forwarder/move_stop', forward)
SpinThread('serving', serving, on_crash=print)
threading.Event().wait()
"""


# --- through the adapter -----------------------------------------------------------------------


class ServedTime:
    """The time at which a rover served the first stop since ``clear``; ``file`` is shared."""

    def __init__(self, file: Path) -> None:
        self.file = file
        file.write_bytes(bytes(8))
        with file.open('r+b') as opened:
            self._shared = mmap.mmap(opened.fileno(), 8)

    def clear(self) -> None:
        self._shared[:8] = bytes(8)

    def seconds(self) -> float:
        """On the clock of time.monotonic(), which all processes of a machine share; 0: never."""
        return float(struct.unpack('q', self._shared[:8])[0]) / 1e9


class Contender:
    """One way to call ``ACTS``, each by ``way`` under ``prefix``. ``between``: the process between
    this one and the rover.
    """

    def __init__(
        self, way: Way, kind: Any, prefix: str, served: ServedTime, between: Process | None = None
    ) -> None:
        self.asks = {act: way(kind, f'{prefix}/{name}') for act, name in ACTS.items()}
        self._served, self._between = served, between
        self.begin()

    def begin(self) -> None:
        self.times: dict[str, list[float]] = {act: [] for act in ACTS}
        self.cpu_s = self.took_s = 0.0

    def block(self, calls: int) -> None:
        """So many starts, each with its stop."""
        began, cpu_s = time.monotonic(), self._cpu_s()
        for act in list(ACTS) * calls:
            threading.Event().wait(PAUSE_S)
            self._served.clear()
            asked = time.monotonic()
            response = self.asks[act]()
            self.times[act].append(self._served.seconds() - asked)
            if self.times[act][-1] < 0.0 or not getattr(response, 'success', True):
                raise AssertionError(f'a {act} failed: {response}')
        self.took_s += time.monotonic() - began
        self.cpu_s += self._cpu_s() - cpu_s

    def figures(self) -> tuple[float | None, ...]:
        """Median and p99 of each act, and CPU of a call on top of the idling between calls."""
        times = [figure for act in ACTS for figure in milliseconds(self.times[act])]
        if self._between is None:
            return *times, None
        calls = sum(map(len, self.times.values()))
        idle = cpu_percent({'': self._between.pid}, IDLE_S)[''] / 100
        return *times, round(1e3 * (self.cpu_s - idle * self.took_s) / calls, 2)

    def _cpu_s(self) -> float:
        return cpu_seconds(self._between.pid) if self._between else 0.0


def script(box: Sandbox, source: str, name: str, *arguments: str) -> Process:
    """Run a piece of Python in the benchmark's domain."""
    return box.run([sys.executable, '-c', source, *arguments], name)


@contextmanager
def default_way(srv_type: Any, name: str) -> Iterator[Callable[[], Any]]:
    """A call from a node that a thread spins with rclpy's default executor."""
    node, executor = (
        rclpy.create_node(f'asker_of{name.replace("/", "_")}'),
        SingleThreadedExecutor(),
    )
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    client = node.create_client(srv_type, name)
    try:
        yield lambda: call(client, srv_type.Request(), timeout_s=20.0)
    finally:
        executor.shutdown()
        thread.join(10.0)
        node.destroy_node()


def our_way(box: Sandbox, srv_type: Any, name: str) -> Callable[[], Any]:
    client = box.node.create_client(srv_type, name)
    return lambda: call(client, srv_type.Request(), timeout_s=20.0)


def adapter(options: argparse.Namespace) -> Result:
    with Sandbox() as box, ExitStack() as stack:
        script(box, OTHERS, 'others', str(NODES))
        served, ours_served = (ServedTime(box.folder / name) for name in ('bare', 'ours'))
        script(box, ROVER, 'bare_rover', str(served.file), '/')
        script(box, ROVER, 'our_rover', str(ours_served.file), '/our_rover')
        script(box, STANDING, 'standing', load_config().topics.rover.odometry)
        forwarder = script(box, FORWARDER, 'forwarder')
        services = {
            name: {'kind': 'service', 'name': f'/our_rover/{name}'}
            for name in (*ACTS.values(), 'mast_close')
        }
        adapter = box.overlay(
            'adapter_node', config_dir=box.config_dir(topics={'curiosity': services})
        )

        def usual(kind: Any, name: str) -> Callable[[], Any]:
            return stack.enter_context(default_way(kind, name))

        our = partial(our_way, box)
        contenders = {
            'adapter, EventsExecutor from end to end': Contender(
                our, Trigger, '/adapter', ours_served, adapter
            ),
            'bare forwarding node, default executor everywhere (peer)': Contender(
                usual, Trigger, '/forwarder', served, forwarder
            ),
            'one hop, default executor (floor)': Contender(usual, Empty, '', served),
        }
        ours = next(iter(contenders.values()))
        wait_until(lambda: ours.asks['stop']().success, 'a stop of the adapter')
        closed = our(Trigger, '/adapter/mast_close')()
        assert closed.success, closed.message
        for contender in contenders.values():
            contender.block(2 if options.smoke else 15)  # warm up
            contender.begin()
        for begun in range(0, options.size, BLOCK):
            for contender in contenders.values():
                contender.block(min(BLOCK, options.size - begun))
        rows = [(name, *contender.figures()) for name, contender in contenders.items()]
    (_, start, _, stop, _, cpu_ms), (_, peer_start, _, peer_stop, *_) = rows[:2]
    return Result(
        f'A start and a stop through the adapter, {NODES} other nodes in the domain',
        'From the call until the rover serves it, each after a pause of 0.2 s.',
        ('way', 'start, median ms', 'p99 ms', 'stop, median ms', 'p99 ms', 'CPU ms a call'),
        rows,
        f'{AIM_CHAIN:g} of the time of the forwarding node, {AIM_CPU_MS:g} ms of CPU',
        start <= AIM_CHAIN * peer_start and stop <= AIM_CHAIN * peer_stop and cpu_ms <= AIM_CPU_MS,
    )


# --- typed, while a model call hangs -----------------------------------------------------------


class Agent:
    """The agent's node, with standard input from a pipe."""

    def __init__(self, box: Sandbox, config_dir: str) -> None:
        self.log = box.folder / 'agent.log'
        program = PREFIXES['curiosity_rosa_demo'] / 'lib/curiosity_rosa_demo/agent_node'
        with self.log.open('wb') as out:
            self.popen = subprocess.Popen(
                [str(program), '--ros-args', '-p', f'config_dir:={config_dir}'],
                env={**box.env, 'OPENAI_API_KEY': 'none', 'XDG_STATE_HOME': str(box.folder)},
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=subprocess.STDOUT,
                bufsize=0,
            )

    def enter(self, line: str) -> None:
        assert self.popen.stdin is not None
        self.popen.stdin.write(f'{line}\n'.encode())

    def output(self) -> str:
        return self.log.read_text(errors='replace')

    def leave(self) -> int:
        """Quit. Returns the exit status. Raises subprocess.TimeoutExpired after 30 s."""
        self.enter(':quit')
        return self.popen.wait(timeout=30)

    def end(self) -> None:
        if self.popen.poll() is None:
            self.popen.kill()
            self.popen.wait(timeout=10)


@contextmanager
def overlay(box: Sandbox, **agent_yaml: Any) -> Iterator[tuple[Agent, ServedTime]]:
    """All nodes, before a bare rover that stands with its mast stowed."""
    served = ServedTime(box.folder / 'bare')
    script(box, ROVER, 'bare_rover', str(served.file), '/')
    script(box, STANDING, 'standing', load_config().topics.rover.odometry)
    agent_yaml['tasks'] = {'db_path': str(box.folder / DATABASE)}
    folder = box.config_dir(agent=agent_yaml)
    for node in ('simulator_node', 'adapter_node', 'visualizer_node'):
        box.overlay(node, config_dir=folder)
    agent = Agent(box, folder)
    try:
        status = our_way(box, Trigger, '/adapter/get_status')
        wait_until(lambda: not json.loads(status().message)['moving'], 'a rover that stands')
        # The adapter treats the mast as stowed only after a confirmed close.
        closed = our_way(box, Trigger, '/adapter/mast_close')()
        assert closed.success, closed.message
        yield agent, served
    finally:
        agent.end()


def console(options: argparse.Namespace) -> Result:
    faults: list[str] = []
    times: dict[str, list[float]] = {}
    with Sandbox() as box, ChatServer(Hang()) as server, ExitStack() as stack:
        peer_served = ServedTime(box.folder / 'peer')
        script(box, ROVER, 'our_rover', str(peer_served.file), '/our_rover')
        script(box, EVENTS_FORWARDER, 'events_forwarder')
        llm = {'provider': 'openai', 'model': 'none', 'base_url': server.url, 'timeout_s': 1.0}
        agent, served = stack.enter_context(overlay(box, llm=llm))
        database = box.folder / DATABASE
        ways = {
            'EventsExecutor, one hop': our_way(box, Empty, '/our_rover/move_stop'),
            EVENTS: our_way(box, Trigger, '/events_forwarder/move_stop'),
        }
        times = {name: [] for name in (STOP, *ways)}
        for way in ways.values():
            way()  # waits for the service
        try:
            for number in range(-WARM_UP, options.size):
                found = one_round(number, agent, served, server, ways)
                ended = number + WARM_UP + 1
                wait_until(
                    lambda ended=ended: states_of(database) == {'cancelled': ended},
                    f'task {ended} to be CANCELLED',
                )
                for name, seconds in found.items() if number >= 0 else ():
                    times[name].append(seconds)
            agent.enter(':status')
            wait_until(lambda: '; mast ' in agent.output(), 'the answer to :status')
            if exit_status := agent.leave():
                faults.append(f'the agent ended with status {exit_status}')
        except (AssertionError, BrokenPipeError, subprocess.TimeoutExpired) as error:
            faults.append(f'{error}; the agent said {agent.output()[-500:]!r}')
    figures = {name: milliseconds(each) for name, each in times.items() if each}
    peer = figures.get(EVENTS)
    return Result(
        'A stop that is typed while a model call hangs',
        'The peers are bare round trips of a stop, over a minimal forwarding node or without one.',
        ('way', 'median ms', 'p99 ms'),
        [(name, *row) for name, row in figures.items()],
        f'both at most {AIM_TIMES:g} times the two hops of EventsExecutors',
        peer and all(a <= AIM_TIMES * b for a, b in zip(figures[STOP], peer, strict=True)),
        faults,
    )


def one_round(
    number: int, agent: Agent, served: ServedTime, server: ChatServer, ways: dict[str, Any]
) -> dict[str, float]:
    """Run one round. Returns seconds by kind. Raises AssertionError for a forbidden event."""
    asked = len(server.requests)
    agent.enter(f'What do you see? ({number})')
    wait_until(lambda: len(server.requests) > asked, f'sentence {number} to reach the model')
    found = {}
    for name, way in ways.items():
        began = time.monotonic()
        way()
        found[name] = time.monotonic() - began
    served.clear()
    began = time.monotonic()
    agent.enter(':stop')
    found[STOP] = wait_until(served.seconds, f'stop {number}', 2 * LATEST_S) - began
    assert found[STOP] < LATEST_S, f'stop {number} took {found[STOP]:.3f} s'
    return found


def states_of(database: Path) -> Counter[str]:
    """The number of tasks of the sentences by state."""
    with closing(sqlite3.connect(f'{database.as_uri()}?mode=ro', uri=True)) as reader:
        return Counter(
            state for (state,) in reader.execute("SELECT state FROM task WHERE name = 'react'")
        )


# --- by HTTP, while other clients take all that they can ---------------------------------------


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


Way = Callable[[Any, str], Callable[[], Any]]

Attack = Callable[[int], Coroutine[Any, Any, None]]
ATTACKS: dict[str, tuple[int, Attack]] = {  # the number of clients, and what each does
    'half-open heads': (600, lambda port: hold(port, SAY)),
    'slow bodies': (400, lambda port: hold(port, SAY + b'Content-Length: 9\r\n\r\n{')),
    '1,000 streams': (1000, lambda port: hold(port, STREAM)),
    'flood of /say': (50, lambda port: repeat(port, WHOLE_SAY)),
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
    connection.sendall(POST_STOP)
    received = b''
    while b'"ok":' not in received:
        part = connection.recv(65536)
        if not part:
            break
        received += part
    return received.startswith(b'HTTP/1.1 200')


def connect(port: int) -> socket.socket:
    return socket.create_connection(('127.0.0.1', port), STOP_TIMEOUT_S)


def stops(port: int, count: int, served: ServedTime) -> tuple[list[float], list[float], int]:
    """The seconds of each until the rover was called and until it was answered, and how many were
    confirmed.
    """
    called, answered, confirmed = [], [], 0
    for _ in range(count):
        served.clear()
        began = time.monotonic()
        with suppress(OSError), connect(port) as connection:
            confirmed += send_stop(connection)
        answered.append(time.monotonic() - began)
        called.append((served.seconds() or math.inf) - began)
        time.sleep(2 * PAUSE_S)  # a turn that a stop cancels may send another, which is confirmed
    return called, answered, confirmed


def http(options: argparse.Namespace) -> Result:
    found: dict[str, tuple[list[float], list[float], int]] = {}
    with Sandbox() as box, overlay(box) as (agent, served):
        page = wait_until(lambda: PAGE.search(agent.output()), 'the address of the page')
        port = int(page[1])
        stops(port, WARM_UP, served)
        found['none'] = stops(port, options.size, served)
        for name in ATTACKS:
            with child('--attack', name, str(port)):
                found[name] = stops(port, options.size, served)
    rows = [
        (name, n, *milliseconds(called), *milliseconds(answered))
        for name, (called, answered, n) in found.items()
    ]
    return Result(
        'A stop by HTTP while other clients take all that they can',
        'One POST /stop on a new connection, while no other stop is under way: until the rover is '
        'called, and until the response, for which the adapter confirms that the rover stands.',
        ('attack', 'confirmed', 'called, median ms', 'p99 ms', 'answered, median ms', 'p99 ms'),
        rows,
        f'all; the rover called with every p99 below {AIM_P99_MS:g} ms',
        all(row[3] <= AIM_P99_MS for row in rows),
        [f'{name}: {options.size - n} stops were not confirmed'
         for name, n, *_ in rows if n < options.size],
    )  # fmt: skip


if __name__ == '__main__':
    if sys.argv[1:2] == ['--attack']:
        asyncio.run(attack(sys.argv[2], int(sys.argv[3])))
    else:
        sys.exit(
            main(
                Part('adapter', adapter, 'calls', 150, 3),
                Part('console', console, 'rounds', 200, 1),
                Part('http', http, 'stops', 100, 3),
            )
        )
