# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A message that the transport does not take is counted, and hurts nobody."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from curiosity_rosa_demo.infra.config_loader import load_config
from curiosity_rosa_demo.infra.loss_counter import LossCounter
from curiosity_rosa_demo.infra.ros.publishers import GuardedPublisher
from curiosity_rosa_demo.infra.ros_io import Heartbeat, TracePublisher
import pytest
from rclpy._rclpy_pybind11 import RCLError
from rclpy.impl.implementation_singleton import rclpy_implementation

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


@pytest.mark.parametrize(
    'error',
    [
        SATURATED,
        rclpy_implementation.InvalidHandle('destruction was requested'),
        UnicodeEncodeError('utf-8', '\ud800', 0, 1, 'surrogates not allowed'),
    ],
)
def test_what_cannot_be_sent_is_counted(error: Exception) -> None:
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


def test_an_error_of_our_own_is_not_hidden() -> None:
    publisher: GuardedPublisher[str] = GuardedPublisher(
        Transport(TypeError('not a String')), '/topic', LossCounter()
    )
    with pytest.raises(TypeError):
        publisher.publish('one')


def test_a_saturated_trace_topic_does_not_hurt_what_is_traced() -> None:
    transport, losses = Transport(SATURATED), LossCounter()
    trace = TracePublisher(transport, CONFIG, losses)  # type: ignore[arg-type]
    trace.announce('adapter started')
    trace.alarm('Joint states lost: mast unknown')
    assert losses.counts() == {EVENTS: 2}


def test_a_lost_heartbeat_is_counted() -> None:
    losses = LossCounter()
    Heartbeat(Transport(SATURATED), CONFIG, losses, str).beat()  # type: ignore[arg-type]
    assert losses.counts() == {CONFIG.topics.status.kernel: 1}


def test_losses_of_several_threads_are_all_counted() -> None:
    losses = LossCounter()
    with ThreadPoolExecutor(4) as pool:
        totals = list(pool.map(lambda number: losses.count('ab'[number % 2]), range(2000)))
    assert losses.counts() == {'a': 1000, 'b': 1000}
    assert sorted(totals) == sorted([*range(1, 1001), *range(1, 1001)])
