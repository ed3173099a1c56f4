# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A publisher that counts a lost message instead of raising.

``rclpy`` raises RCLError ("cannot publish data") when the transport is saturated, InvalidHandle
after the node is destroyed, and UnicodeEncodeError for a lone surrogate. GuardedPublisher catches
these three; it drops the message and counts it.
"""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar

from curiosity_rosa_demo.infra.loss_counter import LossCounter
from rclpy.duration import Duration
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile

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
