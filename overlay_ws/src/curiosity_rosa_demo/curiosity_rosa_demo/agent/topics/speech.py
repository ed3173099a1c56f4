# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The agent's spoken messages, on the console and on the speech topic."""

from __future__ import annotations

from collections.abc import Callable

from curiosity_rosa_demo.domain.text import printable
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.ros_io import GuardedPublisher, LossCounter
from rclpy.node import Node
from std_msgs.msg import String


class SpeechPublisher:
    """Publishes and prints one spoken message. Thread-safe. ``say`` prints a line."""

    def __init__(
        self, node: Node, config: Config, say: Callable[[str], None], losses: LossCounter
    ) -> None:
        self._publisher = GuardedPublisher(node, String, config.topics.agent.speech, 10, losses)
        self._say = say

    def __call__(self, text: str) -> None:
        self._say(f'Rover: {printable(text)}')
        if not self._publisher.publish(String(data=text)):
            self._say(f'! Not published: {self._publisher.last_error}')
