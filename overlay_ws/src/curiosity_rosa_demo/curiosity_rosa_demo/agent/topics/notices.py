# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a person is told beside the answers: that simulated time stands, or that a recording plays;
and what the rover says aloud.
"""

from __future__ import annotations

from collections.abc import Callable
import time

from curiosity_rosa_demo.domain.text import printable
from curiosity_rosa_demo.infra.clocks import SimulationClock
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.ros_io import GuardedPublisher, history_qos, LossCounter
from curiosity_rosa_demo.recording.replay import playing_text, STATUS_PERIOD_S
from rclpy.node import Node
from std_msgs.msg import String

CLOCK_IS_BACK = '/clock advances again; motions are allowed.'
MAX_AGE_S = 6.0 * STATUS_PERIOD_S  # a replay that was killed ends without a word


class ClockMonitor:
    """``problem`` is why no motion can be timed; '' while time advances. ``notice`` prints a line
    and must not block.
    """

    def __init__(self, clock: SimulationClock, notice: Callable[[str], None]) -> None:
        self._clock, self._notice = clock, notice
        self.problem = ''

    def check(self) -> None:
        """Read the clock. Called in one thread, several times a second."""
        before, self.problem = self.problem, self._clock.now().problem
        if self.problem and not before:
            self._notice(f'! {self.problem}')
        elif before and not self.problem:
            self._notice(CLOCK_IS_BACK)


class ReplayMonitor:
    """Whether a recording is played back onto the topics that the agent hears."""

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
