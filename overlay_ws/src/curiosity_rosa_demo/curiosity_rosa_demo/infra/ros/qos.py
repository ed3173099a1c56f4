# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""QoS profiles, the steady clock, and the subscriptions that need more than a profile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSProfile,
    ReliabilityPolicy,
)
from rclpy.serialization import deserialize_message
from std_msgs.msg import Bool, String

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks


NEWEST_ONLY = QoSProfile(
    history=HistoryPolicy.KEEP_LAST, depth=1, reliability=ReliabilityPolicy.BEST_EFFORT
)
# for deadlines: simulated time can jump
STEADY_CLOCK = Clock(clock_type=ClockType.STEADY_TIME)


def heartbeat_qos(lease_s: float) -> QoSProfile:
    """Newest message, and liveliness. A thread of the middleware asserts the publisher: the
    subscriber notices within ``lease_s`` that its process died, froze or lost the network.
    """
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=1,
        reliability=ReliabilityPolicy.BEST_EFFORT,
        liveliness=LivelinessPolicy.AUTOMATIC,
        liveliness_lease_duration=Duration(seconds=lease_s),
    )


def history_qos(depth: int) -> QoSProfile:
    """Reliable and transient local: late subscribers receive the last ``depth`` messages."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
    )


def subscribe_to_button(node: Node, topic: str, callback: Callable[[bool], None]) -> None:
    """Subscribe to a std_msgs/Bool, whatever the QoS of its publisher.

    A transient-local subscription matches only a transient-local publisher, a reliable one only a
    reliable publisher. So there are three subscriptions, and ``callback`` may receive a message
    more than once.
    """
    # Without the default callbacks, which log each incompatible QoS: here it is expected.
    quiet = SubscriptionEventCallbacks(use_default_callbacks=False)
    for qos in (history_qos(1), QoSProfile(depth=1), NEWEST_ONLY):
        node.create_subscription(
            Bool,
            topic,
            lambda message: callback(bool(message.data)),
            qos,
            event_callbacks=quiet,
        )


def subscribe_to_heartbeat(
    node: Node,
    topic: str,
    lease_s: float,
    on_message: Callable[[String], None],
    on_publishers: Callable[[int], None],
) -> None:
    """Subscribe to a std_msgs/String with ``heartbeat_qos``. ``on_publishers`` receives the number
    of living publishers whenever one comes to life, dies or leaves.
    """
    node.create_subscription(
        String,
        topic,
        on_message,
        heartbeat_qos(lease_s),
        event_callbacks=SubscriptionEventCallbacks(
            liveliness=lambda event: on_publishers(event.alive_count)
        ),
    )


# -----------------------------------------------------------------------------------------------
# Read the serialized bytes of a ROS message, from a raw subscription or a recording.


# The representation of the data, before the data itself. Cyclone DDS reads it without looking at
# the length: with fewer bytes it ends the process by a segmentation fault.
HEADER_BYTES = 4


class UnreadableMessage(Exception):
    """The bytes are no message of the type."""


def read_message(data: bytes, message_type: Any) -> Any:
    """Raises UnreadableMessage."""
    if len(data) < HEADER_BYTES:
        raise UnreadableMessage(f'{len(data)} bytes, and the header alone has {HEADER_BYTES}')
    try:
        return deserialize_message(data, message_type)
    except Exception as error:  # the middleware's error type is not exported
        raise UnreadableMessage(str(error)) from error
