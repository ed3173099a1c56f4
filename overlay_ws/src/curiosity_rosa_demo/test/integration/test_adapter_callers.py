# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Many callers at once, on every executor: no deadlock, and never a motion with the mast up."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, ExitStack, suppress
import random
import threading

from adapter_world import (
    AdapterWorld,
    CLOSED,
    EXECUTORS,
    in_motion,
    mast_of,
    MASTS,
    MOVES,
    near,
)
from curiosity_rosa_demo.domain.models import (
    MOVE_IN_PROGRESS,
    NEED_TO_CLOSE_MAST,
    NEED_TO_OPEN_MAST,
)
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.loss_counter import LossCounter
from curiosity_rosa_demo.infra.ros_io import (
    call,
    Heartbeat,
    history_qos,
    make_executor,
    ServiceFailed,
)
from curiosity_rosa_demo.tools.rover_client import RoverClient
from curiosity_rosa_demo.trace.trace_codec import decode
from harness import Sandbox, wait_until
import pytest
import rclpy
from rclpy.executors import Executor, MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger

pytestmark = pytest.mark.ros

STORM_S = 3.0
# A mast that is soon where it is wanted leaves time for more requests.
SPEED = 10.0
MAST = {'open_duration_s': 0.1, 'close_duration_s': 0.1, 'rotate_duration_s': 0.6}
DRIVER = (*MOVES, *MOVES, 'mast_close', 'mast_close', 'move_stop', 'get_status')
MEDDLER = (*MOVES, *MASTS, 'move_stop', 'move_stop', 'get_status')
REFUSALS = {
    MOVE_IN_PROGRESS,
    NEED_TO_CLOSE_MAST,
    NEED_TO_OPEN_MAST,
    'Mast is moving',
    'Stopped while starting',
}
CALLERS = (
    (make_executor, DRIVER),
    (SingleThreadedExecutor, DRIVER),
    (MultiThreadedExecutor, MEDDLER),
    (make_executor, MEDDLER),
)


@contextmanager
def spinning(executor: Executor, node: Node) -> Iterator[None]:
    ended = threading.Event()

    def spin() -> None:
        while not ended.is_set():
            executor.spin_once(timeout_sec=0.2)

    executor.add_node(node)
    thread = threading.Thread(target=spin)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(timeout=10)
        assert not thread.is_alive(), f'{node.get_name()} spins on'
        node.destroy_node()


class Caller(threading.Thread):
    """Asks for something at random until told to end, and counts the answers."""

    def __init__(self, number: int, requests: Sequence[str], ended: threading.Event) -> None:
        super().__init__(name=f'caller-{number}')
        self.node = rclpy.create_node(f'caller_{number}', start_parameter_services=False)
        self._clients = {
            name: self.node.create_client(Trigger, f'/adapter/{name}') for name in set(requests)
        }
        self._requests = requests
        self._random = random.Random(number)
        self._ended = ended
        self.answers: Counter[str] = Counter()
        self.problem: Exception | None = None

    def run(self) -> None:
        try:
            while not self._ended.is_set():
                self._ask(self._random.choice(self._requests))
                self._ended.wait(self._random.uniform(0.0, 0.2))
        except Exception as problem:  # shown by the test
            self.problem = problem

    def _ask(self, name: str) -> None:
        response = call(self._clients[name], Trigger.Request(), timeout_s=30.0)
        self.answers[f'{name} done' if response.success else response.message] += 1


@EXECUTORS
def test_a_storm_of_callers_neither_blocks_it_nor_gets_past_its_rules(
    sandbox: Sandbox, program: str
) -> None:
    world = AdapterWorld(sandbox, speed=SPEED, thresholds={'mast': MAST}, program=program).settle()
    ended = threading.Event()
    callers = [Caller(number, requests, ended) for number, (_, requests) in enumerate(CALLERS)]
    with ExitStack() as stack:
        for (executor, _), caller in zip(CALLERS, callers, strict=True):
            stack.enter_context(spinning(executor(), caller.node))
        for caller in callers:
            caller.start()
        ended.wait(STORM_S)
        ended.set()
        for caller in callers:
            caller.join(timeout=40)
        assert not [caller.name for caller in callers if caller.is_alive()], 'blocked'
    assert not [caller.problem for caller in callers if caller.problem]

    answers = sum((caller.answers for caller in callers), Counter[str]())
    print(answers)
    done = {name for name in answers if name.endswith(' done')}
    assert set(answers) - done <= REFUSALS, answers
    assert 'move_stop done' in done
    assert {f'{move} done' for move in MOVES} & done, 'the storm has never moved the rover'

    world.does('move_stop')
    world.does('get_status')
    assert world.stands()
    never_with_the_mast_up(world)


def never_with_the_mast_up(world: AdapterWorld) -> None:
    """By the last joint states before each odometry, 100 a second."""
    masts = sorted((stamp_of(each), near(mast_of(each), *CLOSED)) for each in list(world.joints))
    stamps = [stamp for stamp, _ in masts]
    moving = [stamp_of(message) for message in list(world.odometry) if in_motion(message)]
    judged = [masts[bisect.bisect_right(stamps, at) - 1][1] for at in moving if at >= stamps[0]]
    assert len(judged) > 10, 'too little motion to judge'
    assert all(judged)


def test_only_calls_of_other_nodes_are_trace_events_with_their_caller(sandbox: Sandbox) -> None:
    config = load_config()
    trace = sandbox.collect(String, config.topics.trace.events, history_qos(100))
    sandbox.stand_in(time_scale=SPEED)
    spec = next(node for node in config.nodes.nodes if node.name == 'adapter')
    levels = spec.log_arguments('', debug=True)
    adapter = sandbox.start('curiosity_rosa_demo', 'adapter_node', *levels)
    agent = rclpy.create_node('agent')
    client = RoverClient(agent, config)
    said = ['not heard yet']
    heartbeat = Heartbeat(agent, config, LossCounter(), lambda: said[0], client.sent_calls)
    agent.create_timer(0.1, heartbeat.beat)

    def hears(reason: str) -> bool:
        with suppress(ServiceFailed):  # which is not discovered yet
            return bool(client.status()['agent_safe_reason'] == reason)
        return False

    def called() -> list[tuple[object, object]]:
        """The services and callers of the calls that the trace reports."""
        data = [decode(each.data).data or {} for each in trace]
        return [(each['service'], each['callers']) for each in data if 'callers' in each]

    with spinning(make_executor(), agent):
        for said[0] in ('not heard yet', ''):  # it counts the calls from its first heartbeat on
            wait_until(lambda: hears(said[0]), 'the adapter to hear the heartbeat')
        client.trigger('mast_close')
        client.trigger('move_stop')
        assert sandbox.call(Trigger, '/adapter/move_stop').success
        client.trigger('move_stop')
        wait_until(called, 'the call in the trace')
    assert called() == [('/adapter/move_stop', ['/test_client'])]
    debug_lines = [line for line in adapter.output().splitlines() if 'DEBUG' in line]
    assert len([line for line in debug_lines if '/adapter/move_stop: done' in line]) == 3
    assert [line for line in debug_lines if '[adapter]' not in line] == []


def stamp_of(message: object) -> tuple[int, int]:
    stamp = message.header.stamp  # type: ignore[attr-defined]
    return stamp.sec, stamp.nanosec
