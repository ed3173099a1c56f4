# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy's clock with a lock, from wall time or the node's simulated time."""

from __future__ import annotations

from collections.abc import Callable
import threading
import time

from curiosity_rosa_demo.agent.policy.clock import PolicyClock
from rclpy.node import Node


class RosPolicyClock(PolicyClock):
    """A thread-safe PolicyClock. The skills of activities also read it, in their own loop."""

    def __init__(
        self, source: Callable[[], float] = time.time, epoch: Callable[[], float] = time.time
    ) -> None:
        super().__init__(source, epoch)
        self._lock = threading.Lock()

    def resume(self, at: float) -> None:
        with self._lock:
            super().resume(at)

    def now(self) -> float:
        with self._lock:
            return super().now()


def ros_clock_of(node: Node) -> RosPolicyClock:
    """A clock of wall time, or of simulated time when ``use_sim_time`` is set."""
    if not node.get_parameter('use_sim_time').get_parameter_value().bool_value:
        return RosPolicyClock()
    ros = node.get_clock()
    return RosPolicyClock(lambda: float(ros.now().nanoseconds) * 1e-9)
