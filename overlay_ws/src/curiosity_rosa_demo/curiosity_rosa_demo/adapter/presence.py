# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Publishes the adapter's presence, and tells the rules of other adapters of the same rover."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
import time
from typing import Any
import uuid

from curiosity_rosa_demo.adapter.adapter_rules import AdapterRules
from curiosity_rosa_demo.adapter.other_adapters import (
    decode_presence,
    encode_presence,
    OtherAdapters,
    PERIOD_S,
    Presence,
)
from curiosity_rosa_demo.infra.config.topics import RoverTopics
from curiosity_rosa_demo.infra.loss_counter import LossCounter
from curiosity_rosa_demo.infra.ros.publishers import GuardedPublisher
from curiosity_rosa_demo.infra.ros_io import STEADY_CLOCK
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

PRESENCE_QOS = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)


class PresenceLink:
    """Updates the rules only under ``lock``, and calls ``on_input`` under the same lock."""

    def __init__(
        self,
        node: Node,
        rover: RoverTopics,
        rules: AdapterRules,
        losses: LossCounter,
        *,
        lock: AbstractContextManager[Any],
        on_input: Callable[[], None],
    ) -> None:
        self._rules, self._lock, self._on_input = rules, lock, on_input
        own = Presence(node.get_fully_qualified_name(), uuid.uuid4().hex, rover.cmd_vel)
        self._message = String(data=encode_presence(own))
        self._others = OtherAdapters(own)
        topic = rover.adapter_presence
        self._publisher = GuardedPublisher.create(node, String, topic, PRESENCE_QOS, losses)
        node.create_subscription(String, topic, self._on_presence, PRESENCE_QOS)
        node.create_timer(PERIOD_S, self._on_timer, clock=STEADY_CLOCK)

    def _on_presence(self, message: String) -> None:
        presence = decode_presence(message.data)
        if presence is not None:
            self._others.record(presence, time.monotonic())
            self._update_rules()

    def _on_timer(self) -> None:
        self._publisher.publish(self._message)
        self._update_rules()

    def _update_rules(self) -> None:
        names = self._others.names(time.monotonic())
        with self._lock:
            if names != self._rules.guard.other_adapters:
                self._rules.adapters(names)
                self._on_input()
