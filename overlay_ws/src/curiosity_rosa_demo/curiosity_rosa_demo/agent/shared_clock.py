"""The policy's clock for several threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rclpy.node import Node

from curiosity_rosa_demo.agent.policy.clock import PolicyClock


class SharedClock(PolicyClock):
    """The skills of activities read it too, in their loop."""

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


def clock_of(node: Node) -> SharedClock:
    """The wall's time, or simulated time where ``use_sim_time`` is set."""
    if not node.get_parameter('use_sim_time').get_parameter_value().bool_value:
        return SharedClock()
    ros = node.get_clock()
    return SharedClock(lambda: float(ros.now().nanoseconds) * 1e-9)
