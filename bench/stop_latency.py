# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""From the line ``:stop`` on the agent's standard input to the rover's /move_stop callback.

All nodes are up; the agent is on pipes and its model is an OpenAI client whose every call hangs
for 30 s. In each round a sentence triggers a model call. Once the server has the request, the
benchmark writes ":stop", and the rover, a bare node with rclpy.spin, records the start of its
callback. While the model call hangs, each round also measures bare round trips of a stop:
- default one hop: the rover's service
- default two hops: a minimal forwarding node, its client and the rover, all with rclpy.spin
- EventsExecutor one hop, two hops: the same with EventsExecutors from end to end, the forwarding
  node's client in a thread of its own

Aim: p99 under 3 times the two-hop round trip, printed for the default two hops and those with
EventsExecutors, for their median and their p99.

Must never happen: a stop that does not arrive within 2 s; a sentence that does not reach the
model; a task that is not CANCELLED afterwards; an agent that does not end with :quit.

Run: python bench/stop_latency.py [rounds, default 200]
"""

from __future__ import annotations

from collections import Counter
import contextlib
import json
from pathlib import Path
import re
import sqlite3
import subprocess
import sys
import time
from typing import Any

from _bench import milliseconds, Process, report, Sandbox, script, table, wait_until
from adapter import default_way, FORWARDER, OUR_ROVER, our_way, ServedTime
from chat_server import ChatServer, Hang
from harness import PREFIXES
from std_srvs.srv import Empty, Trigger

AIM = 3.0
LATEST_S = 2.0
STOP = 'from :stop to the rover'
DEFAULT, EVENTS = 'default two hops', 'EventsExecutor two hops'
WARM_UP = 5
QUIET_S = 0.1  # time without a stop at the rover, so that no late stop counts for the next round

ROVER = """
import os, time
import rclpy
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_srvs.srv import Empty
rclpy.init()
node = rclpy.create_node('bare_rover')
odometry = node.create_publisher(Odometry, '/model/curiosity_mars_rover/odometry', 10)
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

def stop(request, response):
    os.write(1, b'stop %.6f\\n' % time.perf_counter())
    return response

node.create_timer(0.1, publish)
node.create_service(Empty, 'move_stop', stop)
for name in ('move_forward', 'turn_left', 'turn_right', 'mast_open', 'mast_close', 'mast_rotate'):
    node.create_service(Empty, name, lambda request, response: response)
rclpy.spin(node)
"""

EVENTS_FORWARDER = """
import threading
import rclpy
from curiosity_rosa_demo.infra.ros_io import SpinThread, call
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


class Rover:
    """The output of the rover's process: perf_counter seconds, comparable between processes."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def stops(self) -> list[float]:
        return [float(each) for each in re.findall(r'^stop (\S+)\n', self._process.output(), re.M)]

    def quiet(self) -> bool:
        return time.perf_counter() - max(self.stops(), default=0.0) > QUIET_S


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


def measure(rounds: int, faults: list[str]) -> dict[str, list[float]]:
    """Run all rounds. Returns the seconds of each round by kind."""
    with Sandbox() as box, ChatServer(Hang()) as server, contextlib.ExitStack() as stack:
        rover = Rover(script(box, ROVER, 'bare_rover'))
        script(box, FORWARDER, 'forwarder')
        served = ServedTime(box.folder / 'served')
        script(box, OUR_ROVER, 'our_rover', str(served.file))
        script(box, EVENTS_FORWARDER, 'events_forwarder')
        llm = {'provider': 'openai', 'model': 'none', 'base_url': server.url, 'timeout_s': 60.0}
        database = box.folder / 'tasks.db'
        folder = box.config_dir(agent={'llm': llm, 'tasks': {'db_path': str(database)}})
        for node in ('simulator_node', 'adapter_node', 'visualizer_node'):
            box.overlay(node, config_dir=folder)
        agent = Agent(box, folder)
        stack.callback(agent.end)
        ways = {
            'default one hop': default_way(box, Empty, '/move_stop'),
            DEFAULT: default_way(box, Trigger, '/forwarder/move_stop'),
            'EventsExecutor one hop': our_way(box, Empty, '/our_rover/move_stop'),
            EVENTS: our_way(box, Trigger, '/events_forwarder/move_stop'),
        }
        times: dict[str, list[float]] = {name: [] for name in (STOP, *ways)}
        for way in ways.values():
            way()  # waits for the service
        status = our_way(box, Trigger, '/adapter/get_status')
        wait_until(lambda: not json.loads(status().message)['moving'], 'a rover that stands still')
        # The adapter treats the mast as stowed only after a close confirmed by the joint states.
        closed = our_way(box, Trigger, '/adapter/mast_close')()
        assert closed.success, closed.message
        try:
            for number in range(-WARM_UP, rounds):
                found = one_round(number, agent, rover, server, ways)
                ended = number + WARM_UP + 1
                wait_until(
                    lambda ended=ended: states_of(database) == {'cancelled': ended},
                    f'task {ended} to be CANCELLED',
                )
                wait_until(rover.quiet, 'the rover to be left alone')
                if number >= 0:
                    for name, seconds in found.items():
                        times[name].append(seconds)
            agent.enter(':status')
            wait_until(lambda: '; mast ' in agent.output(), 'the answer to :status')
            if exit_status := agent.leave():
                faults.append(f'the agent ended with status {exit_status}')
        except (AssertionError, BrokenPipeError, subprocess.TimeoutExpired) as error:
            faults.append(f'{error}; the agent said {agent.output()[-500:]!r}')
        return times


def one_round(
    number: int, agent: Agent, rover: Rover, server: ChatServer, ways: dict[str, Any]
) -> dict[str, float]:
    """Run one round. Returns seconds by kind. Raises AssertionError for a forbidden event."""
    asked = len(server.requests)
    agent.enter(f'What do you see? ({number})')
    wait_until(lambda: len(server.requests) > asked, f'sentence {number} to reach the model')
    found = {}
    for name, way in ways.items():
        began = time.perf_counter()
        way()
        found[name] = time.perf_counter() - began
    began = time.perf_counter()
    agent.enter(':stop')
    after = wait_until(
        lambda: [at for at in rover.stops() if at > began], f'stop {number}', 2 * LATEST_S
    )
    found[STOP] = after[0] - began
    assert found[STOP] < LATEST_S, f'stop {number} took {found[STOP]:.3f} s'
    return found


def states_of(database: Path) -> Counter[str]:
    """The number of tasks of the sentences by state."""
    with contextlib.closing(sqlite3.connect(f'{database.as_uri()}?mode=ro', uri=True)) as reader:
        return Counter(
            state for (state,) in reader.execute("SELECT state FROM task WHERE name = 'react'")
        )


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    faults: list[str] = []
    times = measure(rounds, faults)
    if not all(times.values()):
        return int(report('stop_latency', faults))
    figures = {name: milliseconds(seconds) for name, seconds in times.items()}
    table(
        ('while the model hangs', 'median ms', 'p99 ms'),
        [(name, *row.values()) for name, row in figures.items()],
    )
    p99 = figures[STOP]['p99_ms']
    ratios = {
        name: {of: round(p99 / figures[name][f'{of}_ms'], 3) for of in ('median', 'p99')}
        for name in (DEFAULT, EVENTS)
    }
    for name, row in ratios.items():
        texts = ' and '.join(f'{value:.2f} times the {of}' for of, value in row.items())
        print(f'the p99 of a stop is {texts} of the {name} (aim {AIM})')
    status: int = report(
        'stop_latency',
        faults,
        rounds=len(times[STOP]),
        **{name.replace(' ', '_').replace(':', ''): row for name, row in figures.items()},
        stop_p99_to_two_hops=ratios,
        aim=AIM,
    )
    return status


if __name__ == '__main__':
    sys.exit(main())
