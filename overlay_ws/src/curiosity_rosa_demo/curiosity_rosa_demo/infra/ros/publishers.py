# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Publishers of trace events and of the kernel's heartbeat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import time
from typing import Any, Generic, Protocol, TypeVar

from curiosity_rosa_demo.domain.heartbeat import encode_heartbeat
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.loss_counter import LossCounter
from curiosity_rosa_demo.infra.ros.qos import heartbeat_qos, history_qos
from curiosity_rosa_demo.trace.events import NodeStarted
from curiosity_rosa_demo.trace.trace_codec import encode, new_event
from rclpy.duration import Duration
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import String

# --- A publisher that counts a lost message instead of raising ---------------------------------
# ``rclpy`` raises RCLError ("cannot publish data") when the transport is saturated, InvalidHandle
# after the node is destroyed, and UnicodeEncodeError for a lone surrogate. GuardedPublisher
# catches these three; it drops the message and counts it.


Message = TypeVar('Message')

TRANSPORT_ERRORS = (rclpy_implementation.RCLError, rclpy_implementation.InvalidHandle)
PUBLISH_ERRORS = (*TRANSPORT_ERRORS, UnicodeEncodeError)


class Publisher(Protocol):
    """The methods of rclpy's Publisher that GuardedPublisher calls."""

    def publish(self, msg: Any) -> None: ...

    def get_subscription_count(self) -> int: ...

    def wait_for_all_acked(self, timeout: Duration) -> bool: ...


class GuardedPublisher(Generic[Message]):
    """Publishes from any thread and does not raise when a message cannot be sent."""

    def __init__(self, publisher: Publisher, topic: str, losses: LossCounter) -> None:
        self._publisher, self._topic, self._losses = publisher, topic, losses
        self.last_error = ''  # error of the last publish(); '' on success

    @classmethod
    def create(
        cls,
        node: Node,
        message_type: type[Message],
        topic: str,
        qos: QoSProfile | int,
        losses: LossCounter,
    ) -> GuardedPublisher[Message]:
        return cls(node.create_publisher(message_type, topic, qos), topic, losses)

    def publish(self, message: Message | bytes) -> bool:
        """Publish a message, or its serialized form. Returns whether the transport accepted it."""
        try:
            self._publisher.publish(message)
        except PUBLISH_ERRORS as error:
            self.last_error = str(error)
            self._losses.count(self._topic)
            return False
        self.last_error = ''
        return True

    def get_subscription_count(self) -> int:
        return self._publisher.get_subscription_count()

    def wait_for_all_acked(self, timeout: Duration) -> bool:
        return self._publisher.wait_for_all_acked(timeout)


HEARTBEAT_S = 0.08  # at every idle tick: each message renews the liveliness lease


class TracePublisher:
    """Publishes trace events, with history for late subscribers. Thread-safe. An event that
    cannot be sent is counted in ``losses``.
    """

    def __init__(self, node: Node, config: Config, losses: LossCounter) -> None:
        qos = history_qos(config.thresholds.trace.buffer_size)
        self._publisher = GuardedPublisher.create(
            node, String, config.topics.trace.events, qos, losses
        )
        self._node_name = node.get_name()

    def announce(self, message: str) -> None:
        """Publish the node's start event. The agent detects a restart by a second one."""
        self.publish(new_event(**NodeStarted(self._node_name).trace_fields(message)))

    def alarm(self, message: str) -> None:
        """Publish an ERROR event for an error outside any service call."""
        data = {'node': self._node_name}
        self.publish(
            new_event(TraceKind.ERROR, message, ok=False, error_reason=message, data=data)
        )

    def publish(self, event: TraceEvent) -> None:
        self._publisher.publish(String(data=encode(event)))


class Heartbeat:
    """Publishes the kernel's heartbeat, which the adapter monitors. ``safe_reason`` returns the
    kernel's reason for SAFE, or '' in another mode; ``calls`` how many calls of each adapter
    service this agent has sent.
    """

    def __init__(
        self,
        node: Node,
        config: Config,
        losses: LossCounter,
        safe_reason: Callable[[], str],
        calls: Callable[[], Mapping[str, int]] = dict,
    ) -> None:
        qos = heartbeat_qos(config.thresholds.motion.agent_lease_s)
        self._publisher = GuardedPublisher.create(
            node, String, config.topics.status.kernel, qos, losses
        )
        self._safe_reason, self._published_reason, self._calls = safe_reason, '', calls
        self._tick, self._next = 0, 0.0

    def beat(self) -> None:
        """Publish if the last heartbeat is HEARTBEAT_S or older, or the reason has changed. Call
        it at every tick of the kernel.
        """
        now, reason = time.monotonic(), self._safe_reason()
        self._tick += 1
        if now >= self._next or reason != self._published_reason:
            self._next, self._published_reason = now + HEARTBEAT_S, reason
            # The adapter stops the rover if it misses them.
            text = encode_heartbeat(self._tick, reason, self._calls())
            self._publisher.publish(String(data=text))
