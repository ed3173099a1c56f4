# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether a recording is played back onto the topics that the agent hears."""

from __future__ import annotations

import time

from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.ros_io import history_qos
from curiosity_rosa_demo.recording.replay.main import playing_text, STATUS_PERIOD_S
from rclpy.node import Node
from std_msgs.msg import String

MAX_AGE_S = 6.0 * STATUS_PERIOD_S  # a replay that was killed ends without a word


class ReplayMonitor:
    def __init__(self, node: Node, config: Config) -> None:
        self._heard = ('', 0.0)  # the text, and its time of arrival in steady seconds
        topic = config.topics.status.replay
        node.create_subscription(String, topic, self._on_status, history_qos(1))

    def text(self) -> str:
        """File, position and speed of the replay; empty: none plays. Thread-safe."""
        text, at_s = self._heard
        return text if time.monotonic() - at_s <= MAX_AGE_S else ''

    def _on_status(self, message: String) -> None:
        """Runs in the thread that spins the node."""
        self._heard = (playing_text(message.data), time.monotonic())
