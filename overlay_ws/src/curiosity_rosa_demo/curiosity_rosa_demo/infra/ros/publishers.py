# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Publishers of trace events and of the kernel's heartbeat."""

from __future__ import annotations

import time

from curiosity_rosa_demo.domain.models import (
    TraceEvent,
    TraceKind,
)
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.guarded_publisher import GuardedPublisher
from curiosity_rosa_demo.infra.loss_counter import LossCounter
from curiosity_rosa_demo.infra.ros.qos import history_qos, NEWEST_ONLY
from curiosity_rosa_demo.trace.trace_codec import encode, new_event, start_event
from rclpy.node import Node
from std_msgs.msg import Empty, String

HEARTBEAT_S = 0.2


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
        self.publish(start_event(self._node_name, message))

    def alarm(self, message: str) -> None:
        """Publish an ERROR event for an error outside any service call."""
        data = {'node': self._node_name}
        self.publish(
            new_event(TraceKind.ERROR, message, ok=False, error_reason=message, data=data)
        )

    def publish(self, event: TraceEvent) -> None:
        self._publisher.publish(String(data=encode(event)))


class Heartbeat:
    """Publishes the kernel's heartbeat, which the adapter monitors."""

    def __init__(self, node: Node, config: Config, losses: LossCounter) -> None:
        self._publisher = GuardedPublisher.create(
            node, Empty, config.topics.status.kernel, NEWEST_ONLY, losses
        )
        self._next = 0.0

    def beat(self) -> None:
        """Publish if the last heartbeat is HEARTBEAT_S or older. Call it more often than that."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + HEARTBEAT_S
            self._publisher.publish(Empty())  # the adapter stops the rover if it misses them
