# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The latency of a stop through the adapter, compared with rclpy's default executor.

Measures the time from the call of a stop until the rover serves it, interleaved in blocks. The
adapter answers later, once odometry confirms the standstill. The rover is a bare node that serves
/move_stop with rclpy.spin, like the demo's run_demo; in the first row with an EventsExecutor, like
the stand-in. Another node publishes the odometry of a rover that stands still.
- adapter, our rover: the chain of the standalone start, EventsExecutor from end to end
- adapter: /adapter/move_stop, called as this project's nodes do, in front of the default rover
- default two hops: a minimal forwarding node (async callback that awaits its client, rclpy.spin),
  called from a node that is spun alike
- default one hop (floor): a direct call of the rover's service, likewise
- tutorial two hops: the forwarding node called with rclpy.spin_until_future_complete; only its
  first 100 calls, because each takes longer than the one before

Aim: our chain 1.5 times as fast as the default two hops. Then the adapter's CPU time while it is
idle beside the stand-in, and while one of its calls to the rover hangs. Aim: waiting adds nothing.

Must never happen: a stop whose response is no success; a wait that takes a tenth of a core more
than idling.

Run: python bench/adapter.py [calls of each kind, default 150]
"""

from __future__ import annotations

from collections.abc import Callable
import json
import mmap
from pathlib import Path
import struct
import sys
import threading
import time
from typing import Any

from _bench import (
    cpu_percent,
    cpu_seconds,
    milliseconds,
    Process,
    report,
    Sandbox,
    script,
    SMOKE,
    table,
    wait_until,
)
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.ros_io import call
import rclpy
from std_srvs.srv import Empty, Trigger

BLOCK = 25
PAUSE_S = 0.2  # before each call: the adapter takes as long to confirm a stop, the others do not
WARM_UP = 3 if SMOKE else 30
TUTORIAL = 'tutorial two hops'
CPU_S = 1.0 if SMOKE else 6.0
MAX_WAIT_CPU = 10.0  # percent of a core on top of idling

SERVED = """
import mmap, struct, sys, time
with open(sys.argv[1], 'r+b') as file:
    served = mmap.mmap(file.fileno(), 8)

def serve(request, response):
    if served[:8] == bytes(8):  # the first since the caller has cleared it
        served[:8] = struct.pack('q', time.monotonic_ns())
    return response
"""

ROVER = f"""{SERVED}
import rclpy
from std_srvs.srv import Empty
rclpy.init()
node = rclpy.create_node('bare_rover')
for name in ('move_forward', 'turn_left', 'turn_right', 'move_stop', 'mast_open', 'mast_close',
             'mast_rotate'):
    node.create_service(Empty, name, serve)
rclpy.spin(node)
"""

OUR_ROVER = f"""{SERVED}
import rclpy
from rclpy.experimental import EventsExecutor
from std_srvs.srv import Empty
rclpy.init()
node = rclpy.create_node('our_rover')
node.create_service(Empty, '/our_rover/move_stop', serve)
executor = EventsExecutor()
executor.add_node(node)
while rclpy.ok():
    executor.spin_once(timeout_sec=1.0)
"""

ODOMETRY = """
import sys
import rclpy
from nav_msgs.msg import Odometry
rclpy.init()
node = rclpy.create_node('odometry')
publisher = node.create_publisher(Odometry, sys.argv[1], 10)
node.create_timer(0.05, lambda: publisher.publish(Odometry()))
rclpy.spin(node)
"""

FORWARDER = """
import rclpy
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from std_srvs.srv import Empty, Trigger
rclpy.init()
node = rclpy.create_node('forwarder')
# A separate group: in the default group the client and its callback would deadlock.
client = node.create_client(
    Empty, '/move_stop', callback_group=MutuallyExclusiveCallbackGroup())
client.wait_for_service()

async def forward(request, response):
    await client.call_async(Empty.Request())
    response.success = True
    return response

node.create_service(Trigger, '/forwarder/move_stop', forward)
rclpy.spin(node)
"""


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
        """On the clock of time.monotonic(), which all processes of a machine share."""
        (nanoseconds,) = struct.unpack('q', self._shared[:8])
        assert nanoseconds, 'the rover has not served the stop'
        return float(nanoseconds) / 1e9


class Contender:
    """One way to call a stop; ``pids`` are the processes between this one and the rover."""

    def __init__(
        self,
        name: str,
        served: ServedTime,
        ask: Callable[[], Any],
        *between: Process,
        limit: int = 1_000_000,
    ) -> None:
        self.name, self._served, self.ask, self._limit = name, served, ask, limit
        self.pids = [process.pid for process in between]
        self.times: list[float] = []
        self.cpu_s = 0.0

    def block(self, calls: int) -> None:
        before = sum(map(cpu_seconds, self.pids))
        for _ in range(min(calls, self._limit - len(self.times))):
            threading.Event().wait(PAUSE_S)
            self._served.clear()
            began = time.monotonic()
            response = self.ask()
            self.times.append(self._served.seconds() - began)
            if response is None or not getattr(response, 'success', True):
                raise AssertionError(f'{self.name}: a stop failed: {response}')
        self.cpu_s += sum(map(cpu_seconds, self.pids)) - before


def default_way(box: Sandbox, srv_type: Any, name: str) -> Callable[[], Any]:
    """A call from a node that a thread spins with the default executor."""
    client = box.default_node(f'asker_of{name.replace("/", "_")}').create_client(srv_type, name)
    return lambda: call(client, srv_type.Request(), timeout_s=20.0)


def tutorial_way(box: Sandbox, srv_type: Any, name: str) -> Callable[[], Any]:
    """A call that spins its own node until the response."""
    node = box.further_node('asker_of_a_tutorial')
    client = node.create_client(srv_type, name)
    assert client.wait_for_service(timeout_sec=20.0), f'{name} did not appear'

    def ask() -> Any:
        future = client.call_async(srv_type.Request())
        rclpy.spin_until_future_complete(node, future, timeout_sec=20.0)
        return future.result()

    return ask


def our_way(box: Sandbox, srv_type: Any, name: str) -> Callable[[], Any]:
    client = box.node.create_client(srv_type, name)
    return lambda: call(client, srv_type.Request(), timeout_s=20.0)


def round_trips(calls: int) -> list[Contender]:
    with Sandbox() as box:
        served, ours_served = (ServedTime(box.folder / name) for name in ('bare', 'ours'))
        script(box, ROVER, 'bare_rover', str(served.file))
        script(box, ODOMETRY, 'odometry', load_config().topics.rover.odometry)
        forwarder = script(box, FORWARDER, 'forwarder')
        adapter = box.overlay('adapter_node')
        script(box, OUR_ROVER, 'our_rover', str(ours_served.file))
        move_stop = {'kind': 'service', 'name': '/our_rover/move_stop'}
        folder = box.config_dir(topics={'curiosity': {'move_stop': move_stop}})
        second = box.start(
            'curiosity_rosa_demo', 'adapter_node', '-r', '__ns:=/ours', config_dir=folder
        )
        contenders = [
            Contender(
                'adapter, our rover',
                ours_served,
                our_way(box, Trigger, '/ours/adapter/move_stop'),
                second,
            ),
            Contender('adapter', served, our_way(box, Trigger, '/adapter/move_stop'), adapter),
            Contender(
                'default two hops',
                served,
                default_way(box, Trigger, '/forwarder/move_stop'),
                forwarder,
            ),
            Contender('default one hop (floor)', served, default_way(box, Empty, '/move_stop')),
            Contender(
                TUTORIAL,
                served,
                tutorial_way(box, Trigger, '/forwarder/move_stop'),
                forwarder,
                limit=100,
            ),
        ]
        for contender in contenders[:2]:
            wait_until(lambda c=contender: c.ask().success, contender.name)
        for contender in contenders:
            for _ in range(WARM_UP):
                contender.ask()
        for start in range(0, calls, BLOCK):
            for contender in contenders:
                contender.block(min(BLOCK, calls - start))
        return contenders


def waiting() -> dict[str, float]:
    """CPU load of the adapter in percent of a core: idle, and while a call to the rover hangs."""
    with Sandbox() as box:
        box.stand_in(fault_services=['mast_close:hang'])
        folder = box.config_dir(thresholds={'motion': {'service_timeout_s': 60.0}})
        adapter = box.overlay('adapter_node', config_dir=folder)
        status = our_way(box, Trigger, '/adapter/get_status')
        wait_until(lambda: not json.loads(status().message)['moving'], 'a rover that stands')
        pids = {'adapter': adapter.pid}
        idle = cpu_percent(pids, CPU_S)['adapter']
        client = box.node.create_client(Trigger, '/adapter/mast_close')
        assert client.wait_for_service(timeout_sec=20.0)
        hanging = client.call_async(Trigger.Request())
        wait_until(lambda: json.loads(status().message)['mast'] == 'closing', 'the hanging call')
        hung = cpu_percent(pids, CPU_S)['adapter']
        assert not hanging.done(), 'the call was meant to hang'
        return {'idle_percent': round(idle, 2), 'waiting_percent': round(hung, 2)}


def main() -> int:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 150
    faults: list[str] = []
    contenders = round_trips(calls)
    figures = {contender.name: milliseconds(contender.times) for contender in contenders}
    table(
        ('stop, until the rover serves it', 'median ms', 'p99 ms', 'CPU ms between'),
        [
            (
                contender.name,
                *figures[contender.name].values(),
                1e3 * contender.cpu_s / len(contender.times) if contender.pids else '-',
            )
            for contender in contenders
        ],
    )
    ours, adapter, peer, floor = (
        figures[contender.name]['median_ms'] for contender in contenders[:4]
    )
    print(
        f'the default two hops take {peer / ours:.2f} times as long as our chain (aim 1.5), '
        f'and {peer / adapter:.2f} times as long as the adapter before the same rover;\n'
        f'the adapter takes {adapter / floor:.2f} of the default one hop'
    )
    cpu = waiting()
    print(
        f'adapter beside the stand-in: {cpu["idle_percent"]:.1f} % of a core idle, '
        f'{cpu["waiting_percent"]:.1f} % while a call to the rover hangs'
    )
    if cpu['waiting_percent'] - cpu['idle_percent'] > MAX_WAIT_CPU:
        faults.append('waiting for the rover burns CPU')
    status: int = report(
        'adapter',
        faults,
        round_trips=figures,
        times_default=round(peer / ours, 3),
        times_default_same_rover=round(peer / adapter, 3),
        aim_times_default=1.5,
        **cpu,
    )
    return status


if __name__ == '__main__':
    sys.exit(main())
