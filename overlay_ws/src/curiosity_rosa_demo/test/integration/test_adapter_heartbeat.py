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
import json
import signal
import sys
import threading
import time
from typing import Any

from adapter_world import AdapterWorld, SharedAdapter
from curiosity_rosa_demo.adapter.status import PERIOD_S
from curiosity_rosa_demo.domain.adapter_status import without_measured
from curiosity_rosa_demo.domain.heartbeat import encode_heartbeat
from curiosity_rosa_demo.domain.models import (
    AGENT_IS_SILENT,
    STOP_NOT_CONFIRMED,
    TWO_AGENTS,
)
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.ros_io import heartbeat_qos, history_qos
from harness import Sandbox, wait_until
import pytest
from std_msgs.msg import String

pytestmark = pytest.mark.ros

HEARTBEAT, STATUS = '/kernel/heartbeat', '/adapter/status'
MOTION = load_config().thresholds.motion
MAX_AGE_S, LEASE_S = MOTION.heartbeat_max_age_s, MOTION.agent_lease_s
SILENCE = f'The agent fell silent for {MAX_AGE_S:g} s: the rover was stopped'
GONE = 'The agent is gone: the rover was stopped'


# The agent's heartbeat in a process of its own, so that it can be killed and frozen. It is in SAFE
# until SIGUSR1, so that a test knows when the adapter has heard it.
AGENT = """
import signal, threading
import rclpy
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.loss_counter import LossCounter
from curiosity_rosa_demo.infra.ros_io import Heartbeat
rclpy.init()
reasons = ['starting']
signal.signal(signal.SIGUSR1, lambda *_: reasons.append(''))
node = rclpy.create_node('agent')
heartbeat = Heartbeat(node, load_config(), LossCounter(), lambda: reasons[-1])
while True:
    heartbeat.beat()
    threading.Event().wait(0.05)
"""

# Drives after SIGUSR1, when the nodes have long discovered it.
FOREIGN_DRIVER = """
import signal
import threading
import rclpy
from geometry_msgs.msg import Twist
go = threading.Event()
signal.signal(signal.SIGUSR1, lambda *_: go.set())
rclpy.init(signal_handler_options=rclpy.signals.SignalHandlerOptions.NO)
publisher = rclpy.create_node('joystick').create_publisher(Twist, '/cmd_vel', 10)
while publisher.get_subscription_count() < 2:  # the rover, and this test
    threading.Event().wait(0.05)
print('ready', flush=True)
while not go.wait(0.05):
    pass
twist = Twist()
twist.linear.x = 2.0
publisher.publish(twist)
print('drives', flush=True)
while True:
    publisher.publish(twist)
    threading.Event().wait(0.02)
"""


class Agent:
    """Publishes heartbeats until it freezes or leaves."""

    def __init__(self, box: Sandbox) -> None:
        self._box = box
        self.safe_reason, self._tick = '', 0
        self._publisher: Any = box.node.create_publisher(String, HEARTBEAT, heartbeat_qos(LEASE_S))
        wait_until(lambda: self._publisher.get_subscription_count() == 1, 'the adapter to listen')
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        while not self._ended.wait(0.05):
            self._tick += 1
            text = encode_heartbeat(self._tick, self.safe_reason)
            self._publisher.publish(String(data=text))

    def freeze(self) -> None:
        self._ended.set()
        self._thread.join(timeout=5.0)

    def leave(self) -> None:
        self.freeze()
        if self._publisher is not None:
            self._box.node.destroy_publisher(self._publisher)
            self._publisher = None


@contextmanager
def living_agent(box: Sandbox) -> Iterator[Agent]:
    agent = Agent(box)
    try:
        yield agent
    finally:
        agent.leave()


def last_status(received: list[String]) -> dict[str, Any]:
    status: dict[str, Any] = json.loads(received[-1].data)
    return status


def test_a_rover_whose_agent_freezes_is_stopped(world: AdapterWorld) -> None:
    with living_agent(world.box) as agent:
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
        agent.leave()
        world.wait_for_status(move_allowed=True)  # one that has left is not waited for
        world.does('move_forward')
        wait_until(world.moves, 'the rover to be driven by hand')
        world.does('move_stop')
    with living_agent(world.box) as agent:
        agent.safe_reason = 'starting'  # until the adapter has heard it
        world.wait_for_status(agent_safe_reason='starting')
        agent.safe_reason = ''
        world.wait_for_status(move_allowed=True)
        world.does('move_forward')
        wait_until(world.moves, 'the rover to move for the next agent')
        world.does('move_stop')


def test_a_forged_heartbeat_does_not_keep_the_motion_of_a_frozen_agent(
    world: AdapterWorld,
) -> None:
    with living_agent(world.box) as agent:
        world.drive()
        agent.freeze()
        with living_agent(world.box) as forger:
            world.wait_until_it_stands()
            refusal = world.refuses('move_forward')
            assert refusal.startswith(TWO_AGENTS)
            assert '/test_client' in refusal
            forger.leave()
        world.wait_for_status(moving=False)


def test_a_stop_that_a_foreign_driver_undoes_is_not_done(world: AdapterWorld) -> None:
    driver = world.box.run([sys.executable, '-c', FOREIGN_DRIVER], 'driver')
    wait_until(lambda: 'ready' in driver.output(), 'the foreign driver')
    world.drive()
    driver.popen.send_signal(signal.SIGUSR1)
    wait_until(lambda: 'drives' in driver.output(), 'its Twists')
    answer = world.ask('move_stop')
    assert not answer.success
    assert answer.message.startswith(STOP_NOT_CONFIRMED)
    violation = world.status()['violation']
    assert '/joystick' in violation
    assert '/adapter' not in violation
    seen = len(world.twists)
    wait_until(
        lambda: sum(not each.linear.x for each in list(world.twists)[seen:]) >= 50,
        'zero Twists that hold it back',
    )
    driver.kill(signal.SIGKILL)
    world.wait_for_status(moving=False, violation='')


def test_the_status_comes_every_second_and_at_once_when_it_changes(world: AdapterWorld) -> None:
    received = world.box.collect(String, STATUS, history_qos(1))
    wait_until(lambda: received and last_status(received)['move_allowed'], 'the closed mast')
    quiet, began = len(received), time.monotonic()
    wait_until(lambda: len(received) >= quiet + 3, 'three more seconds')
    assert time.monotonic() - began > 1.5 * PERIOD_S  # nothing changed, so no more than that
    assert without_measured(last_status(received)) == without_measured(world.status())

    seen = len(received)
    for skill, mast in [('mast_open', 'open'), ('mast_close', 'closed')] * 3:
        world.does(skill)  # a quarter of a second each way; a busy subscriber gets the latest
        wait_until(lambda mast=mast: last_status(received)['mast'] == mast, f'the {mast} mast')
    masts = {json.loads(each.data)['mast'] for each in received[seen:]}
    assert masts == {'opening', 'open', 'closing', 'closed'}


@pytest.mark.parametrize('signum', [signal.SIGKILL, signal.SIGSTOP])
def test_the_rover_of_a_dead_agent_stands_soon(
    shared_adapter: SharedAdapter, signum: signal.Signals
) -> None:
    with shared_adapter.lend(speed=1.0) as world:
        agent = world.box.run([sys.executable, '-c', AGENT], 'agent')
        world.wait_for_status('the agent to be heard', agent_safe_reason='starting')
        agent.popen.send_signal(signal.SIGUSR1)
        world.wait_for_status(move_allowed=True)
        world.does('move_forward')
        wait_until(world.moves, 'the rover to move')
        agent.popen.send_signal(signum)
        wait_until(lambda: not world.moves(), 'the rover to stand')
        assert world.stands()
        # By its lease: a watchdog of heartbeats would have called it silent.
        assert world.status()['last_error_reason'] == GONE
        agent.kill(signal.SIGKILL)
