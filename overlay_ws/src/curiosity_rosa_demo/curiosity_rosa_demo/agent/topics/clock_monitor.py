# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Reports on console and page that simulated time stands, and that it advances again."""

from __future__ import annotations

from collections.abc import Callable
import time

from curiosity_rosa_demo.infra.clocks import SimulationClock
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.ros_io import history_qos
from curiosity_rosa_demo.recording.replay import playing_text, STATUS_PERIOD_S
from rclpy.node import Node
from std_msgs.msg import String

CLOCK_IS_BACK = '/clock advances again; motions are allowed.'


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


# --- Whether a recording is played back onto the topics that the agent hears -------------------


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
