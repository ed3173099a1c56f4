# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The adapter watches the agent, and says unasked how it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
import json
import threading
import time
from typing import Any

from adapter_world import AdapterWorld
from curiosity_rosa_demo.adapter.status import PERIOD_S
from curiosity_rosa_demo.domain.adapter_status import without_measured
from curiosity_rosa_demo.domain.models import AGENT_IS_SILENT, NEED_TO_CLOSE_MAST
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.ros_io import history_qos
from harness import Sandbox, wait_until
import pytest
from std_msgs.msg import Empty, String

pytestmark = pytest.mark.ros

HEARTBEAT, STATUS = '/kernel/heartbeat', '/adapter/status'
MAX_AGE_S = load_config().thresholds.motion.heartbeat_max_age_s
SILENCE = f'The agent fell silent for {MAX_AGE_S:g} s: the rover was stopped'


class Agent:
    """Publishes heartbeats until it freezes or leaves."""

    def __init__(self, box: Sandbox, topic: str) -> None:
        self._box = box
        self._publisher = box.node.create_publisher(Empty, topic, 1)
        wait_until(lambda: self._publisher.get_subscription_count() == 1, 'the adapter to listen')
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        while not self._ended.wait(0.05):
            self._publisher.publish(Empty())

    def freeze(self) -> None:
        self._ended.set()
        self._thread.join(timeout=5.0)

    def leave(self) -> None:
        self.freeze()
        self._box.node.destroy_publisher(self._publisher)


@contextmanager
def living_agent(box: Sandbox, topic: str = HEARTBEAT) -> Iterator[Agent]:
    agent = Agent(box, topic)
    try:
        yield agent
    finally:
        agent.freeze()


def statuses(sandbox: Sandbox, topic: str = STATUS) -> list[tuple[float, dict[str, Any]]]:
    """Each status that is published, and when it came."""
    received: list[tuple[float, dict[str, Any]]] = []
    sandbox.node.create_subscription(
        String,
        topic,
        lambda message: received.append((time.monotonic(), json.loads(message.data))),
        history_qos(1),
    )
    wait_until(lambda: received, 'a status')
    return received


def test_a_rover_whose_agent_freezes_is_stopped(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox)
    with living_agent(sandbox) as agent:
        world.drive()
        begun = world.x
        wait_until(lambda: world.x > begun + 5.0, 'a watched rover to go its way')
        assert world.moves()
        agent.freeze()
        world.wait_until_it_stands()
        assert world.wait_for_status(moving=False)['last_error_reason'] == SILENCE
        assert not world.status()['move_allowed']
        assert world.refuses('turn_left') == AGENT_IS_SILENT
        world.does('move_stop')
        world.does('mast_open')
        world.does('mast_close')
    with living_agent(sandbox):
        world.wait_for_status(move_allowed=True)
        world.does('move_forward')
        wait_until(world.moves, 'the rover to move for the next agent')


def test_an_agent_that_has_left_is_not_waited_for(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox).close_mast()
    with living_agent(sandbox) as agent:
        world.does('move_forward')
        wait_until(lambda: world.x > 2.0, 'the rover to get along')
        agent.leave()
        world.wait_until_it_stands()
    assert SILENCE in world.status()['last_error_reason']
    world.wait_for_status(move_allowed=True)
    world.does('move_forward')
    begun = world.x
    wait_until(lambda: world.x > begun + 5.0, 'the rover to be driven by hand')
    assert world.moves()


def test_the_status_comes_every_second_and_is_that_of_get_status(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox).close_mast()
    received = statuses(sandbox)
    wait_until(lambda: received[-1][1]['move_allowed'], 'the closed mast')
    quiet = len(received)
    wait_until(lambda: len(received) >= quiet + 4, 'three more seconds')
    times = [at for at, _ in received[quiet:]]
    assert times[-1] - times[0] > 2.5 * PERIOD_S  # nothing changed, so no more than that
    assert without_measured(received[-1][1]) == without_measured(world.status())
    assert received[-1][1]['rover_x'] == pytest.approx(0.0)


def test_a_change_of_the_status_does_not_wait_for_the_second(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox).settle()
    received = statuses(sandbox)
    wait_until(lambda: received[-1][1]['mast'] == 'open', 'the raised mast')
    seen = len(received) - 1
    for _ in range(3):  # a quarter of a second each way
        world.does('mast_close')
        world.does('mast_open')
    assert world.refuses('move_forward') == NEED_TO_CLOSE_MAST
    wait_until(lambda: received[-1][1]['last_error_reason'] == NEED_TO_CLOSE_MAST, 'the refusal')
    masts = [mast for mast, _ in groupby(status['mast'] for _, status in received[seen:])]
    assert masts == ['open', *['closing', 'closed', 'opening', 'open'] * 3]


def test_in_a_namespace_both_topics_move(sandbox: Sandbox) -> None:
    world = AdapterWorld(sandbox, namespace='r1')
    received = statuses(sandbox, f'/r1{STATUS}')
    with living_agent(sandbox, f'/r1{HEARTBEAT}') as agent:
        world.drive()
        agent.freeze()
        world.wait_until_it_stands()
    wait_until(lambda: received[-1][1]['last_error_reason'] == SILENCE, 'the silence')
