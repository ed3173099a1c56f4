# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the transport loses, refuses, tears or floods is counted, asked again or refused."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from autonomy_world import AutonomyBench
from curiosity_rosa_demo.agent.topics.telemetry import MessageIntake, WINDOW_S
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.loss_counter import LossCounter
from curiosity_rosa_demo.infra.ros.publishers import GuardedPublisher
from curiosity_rosa_demo.infra.ros.qos import read_message, UnreadableMessage
from curiosity_rosa_demo.infra.ros_io import call, Heartbeat, ServiceFailed, TracePublisher
from hypothesis import given
from hypothesis import strategies as st
from nav_msgs.msg import Odometry
from our_sources import imports, PACKAGE, trees
import pytest
from rclpy._rclpy_pybind11 import RCLError
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.serialization import serialize_message
from rclpy.task import Future

CONFIG = load_config()
EVENTS = CONFIG.topics.trace.events


class Transport:
    """A publisher, and the node that makes it, of a transport that fails with ``error``."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error, self.sent = error, list[Any]()

    def create_publisher(self, *_: object) -> Transport:
        return self

    def get_name(self) -> str:
        return 'adapter'

    def publish(self, message: Any) -> None:
        if self.error is not None:
            raise self.error
        self.sent.append(message)

    def get_subscription_count(self) -> int:
        return 1

    def wait_for_all_acked(self, timeout: Any) -> bool:
        return True


SATURATED = RCLError('Failed to publish: cannot publish data')


def test_what_cannot_be_sent_is_counted_and_an_error_of_our_own_not_hidden() -> None:
    invalid = rclpy_implementation.InvalidHandle('destruction was requested')
    unsaid = UnicodeEncodeError('utf-8', '\ud800', 0, 1, 'surrogates not allowed')
    for error in (SATURATED, invalid, unsaid):
        transport, losses = Transport(error), LossCounter()
        publisher: GuardedPublisher[str] = GuardedPublisher(transport, '/topic', losses)
        assert not publisher.publish('one')
        assert not publisher.publish('two')
        assert losses.counts() == {'/topic': 2}
        assert publisher.last_error == str(error)
        transport.error = None
        assert publisher.publish('three')
        assert (transport.sent, losses.counts()) == (['three'], {'/topic': 2})
        assert publisher.last_error == ''
    transport.error = TypeError('not a String')
    with pytest.raises(TypeError):
        publisher.publish('one')
    # As is what the trace and the heartbeat lose.
    any_transport: Any = Transport(SATURATED)
    trace = TracePublisher(any_transport, CONFIG, losses)
    trace.announce('adapter started')
    trace.alarm('Joint states lost: mast unknown')
    Heartbeat(any_transport, CONFIG, losses, str).beat()
    assert losses.counts() == {'/topic': 2, EVENTS: 2, CONFIG.topics.status.kernel: 1}


class Client:
    """Answers the request number ``answers`` (from 1) with its number; 0: none. The transport does
    not take the first ``refuses``.
    """

    srv_name = '/capture_and_score'

    def __init__(self, answers: int, refuses: int = 0) -> None:
        self.answers, self.sent, self.removed, self.refuses = answers, 0, 0, refuses

    def service_is_ready(self) -> bool:
        return True

    def call_async(self, _: Any) -> Any:
        self.sent += 1
        if self.sent <= self.refuses:
            raise RCLError('Failed to send request: cannot publish data')
        future: Any = Future()
        if self.sent == self.answers:
            future.set_result(self.sent)
        return future

    def remove_pending_request(self, _: Any) -> None:
        self.removed += 1


def ask(client: Client, **options: Any) -> Any:
    return call(client, None, **options)  # type: ignore[arg-type]


def test_a_request_is_sent_once_and_again_where_asked_for_or_not_taken() -> None:
    client = Client(answers=3)  # a killed server took the first two with it
    assert ask(client, timeout_s=30.0, again_s=0.01) == 3
    assert (client.sent, client.removed) == (3, 2)
    client = Client(answers=2)
    with pytest.raises(ServiceFailed, match='Service timeout: /capture_and_score'):
        ask(client, timeout_s=0.05)
    assert (client.sent, client.removed) == (1, 1)
    client = Client(answers=3, refuses=2)
    assert ask(client, timeout_s=30.0) == client.sent == 3


def test_a_stop_between_two_tries_keeps_the_second_from_being_sent() -> None:
    client, button, tries = Client(answers=2, refuses=1), Cancellation(), []

    def sending() -> AbstractContextManager[None]:
        if tries:
            button.cancel('Stopped by the operator')
        tries.append('try')
        return button.hold_back()

    with pytest.raises(TurnCancelled, match='Stopped by the operator'):
        ask(client, timeout_s=30.0, sending=sending)
    assert (len(tries), client.sent) == (2, 1)


def test_a_message_is_read_and_a_torn_one_refused() -> None:
    """Cyclone DDS would read behind the end of less than a header."""
    data = bytes(serialize_message(Odometry(child_frame_id='base')))
    assert read_message(data, Odometry).child_frame_id == 'base'
    sizes = {size: f'^{size} bytes, and the header alone has 4' for size in range(4)}
    for size, told in {**sizes, 20: '.'}.items():
        with pytest.raises(UnreadableMessage, match=told):
            read_message(data[:size], Odometry)


def test_all_of_the_product_reads_serialized_bytes_there() -> None:
    readers = {
        file.relative_to(PACKAGE).as_posix()
        for file, tree in trees().items()
        if file.is_relative_to(PACKAGE / 'curiosity_rosa_demo')
        if any(name == 'rclpy.serialization.deserialize_message' for _, name in imports(tree))
    }
    assert readers == {'curiosity_rosa_demo/infra/ros/qos.py'}


TOPIC = '/agent/messages'


class Intake:
    """An intake with a clock, and what came of its messages."""

    def __init__(self, per_min: int) -> None:
        self.at_s = 0.0
        self.posted_s: list[float] = []
        self.said: list[str] = []
        self.losses = LossCounter()
        self.intake = MessageIntake(
            TOPIC,
            per_min,
            post=lambda text: self.posted_s.append(self.at_s),
            say=self.said.append,
            losses=self.losses,
            clock=lambda: self.at_s,
        )


@given(st.integers(1, 8), st.lists(st.floats(0.0, 40.0), max_size=80))
def test_no_minute_has_more_messages_than_it_may(per_min: int, pauses: list[float]) -> None:
    world = Intake(per_min)
    for pause in pauses:
        world.at_s += pause
        world.intake.take('hello')
    for at_s in world.posted_s:
        within = [each for each in world.posted_s if at_s <= each < at_s + WINDOW_S]
        assert len(within) <= per_min
    dropped = world.losses.counts().get(TOPIC, 0)
    assert dropped + len(world.posted_s) == len(pauses)
    assert bool(world.said) is bool(dropped)  # told once, and not for each


def test_a_message_that_may_not_interrupt_is_only_said(tmp_path: Path) -> None:
    with AutonomyBench(tmp_path) as bench:
        bench.on()
        bench.goes_on('survey')
        begun = bench.session.stops
        assert bench.autonomy.post_message('rain is coming', interrupts=False).ok
        bench.until(lambda: bench.spoken == ['A message came: rain is coming'], 'it to be spoken')
        bench.pass_time(60.0)
        assert bench.activity == 'survey'
        assert bench.states('react') == ['ACTIVE']
        assert bench.session.stops == begun
        assert not any('by the emergency' in each.done for each in bench.decisions())
