# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Quality of service, clocks, and the one topic that has to be heard whatever its QoS."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    QoSProfile,
    ReliabilityPolicy,
)
from std_msgs.msg import Bool

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble
    from rclpy.qos_event import SubscriptionEventCallbacks


NEWEST_ONLY = QoSProfile(
    history=HistoryPolicy.KEEP_LAST, depth=1, reliability=ReliabilityPolicy.BEST_EFFORT
)
# for deadlines: sim time jumps, this does not
STEADY_CLOCK = Clock(clock_type=ClockType.STEADY_TIME)


def history_qos(depth: int) -> QoSProfile:
    """Reliable, with the last ``depth`` messages for late subscribers."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
    )


def subscribe_to_button(node: Node, topic: str, callback: Callable[[bool], None]) -> None:
    """Hear a std_msgs/Bool whatever the QoS of its publisher.

    A latched subscription matches only a latched publisher, a reliable one only a reliable one. A
    message may come more than once.
    """
    quiet = SubscriptionEventCallbacks(use_default_callbacks=False)  # the mismatch is meant
    for qos in (history_qos(1), QoSProfile(depth=1), NEWEST_ONLY):
        node.create_subscription(
            Bool,
            topic,
            lambda message: callback(bool(message.data)),
            qos,
            event_callbacks=quiet,
        )
