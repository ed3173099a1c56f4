# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rover's scan, on a ROS node and a thread of its own, so that no other lane waits for it.

Each scan is projected into the base frame and given to the rules. The rover's body is that of the
present posture of its parts.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from curiosity_rosa_demo.adapter.adapter_rules import AdapterRules
from curiosity_rosa_demo.adapter.graph_names import GraphThread
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.obstacles import ObstacleView, RoverShape, view_of
from curiosity_rosa_demo.infra.ros.scan import scan_of, stamp_ns
from curiosity_rosa_demo.infra.ros_io import NEWEST_ONLY
from curiosity_rosa_demo.infra.simulation_clock import SimulationClock
from curiosity_rosa_demo.infra.tf.listener import (
    level_pose,
    make_transform_source,
    TransformUnavailable,
)
from rclpy.node import Node
from sensor_msgs.msg import LaserScan


class ScanInput:
    """Updates ``rules`` only under ``lock``, and calls ``on_input`` under it."""

    def __init__(
        self,
        config: Config,
        rules: AdapterRules,
        *,
        graph: GraphThread,
        simulation: SimulationClock,
        lock: AbstractContextManager[Any],
        on_input: Callable[[], None],
    ) -> None:
        self.node = Node('adapter_scan')
        self._rules, self._lock, self._on_input = rules, lock, on_input
        self._scans = 0
        if not rules.obstacles.enabled:
            return
        self._thresholds = config.thresholds
        self._frames = config.topics.tf
        self._topic = config.topics.rover.scan
        self._transforms = make_transform_source(self.node, config, simulation)
        self.node.create_subscription(LaserScan, self._topic, self._on_scan, NEWEST_ONLY)
        graph.add(self._check_for_publisher)

    def _on_scan(self, message: LaserScan) -> None:
        view = self._view(message)
        with self._lock:
            self._scans += 1
            self._rules.scan(view)
            self._on_input()

    def _view(self, message: LaserScan) -> ObstacleView | None:
        try:
            sensor = level_pose(
                self._transforms, self._frames, message.header.frame_id, at_ns=stamp_ns(message)
            )
        except TransformUnavailable:
            return None
        with self._lock:
            parts = self._rules.guard.appendages
            stowed = [name for name, part in parts.items() if part.is_stowed]
        return view_of(scan_of(message), sensor, RoverShape.of(self._thresholds, stowed))

    def _check_for_publisher(self) -> None:
        before = self._scans
        if self.node.count_publishers(self._topic):
            return
        with self._lock:
            if self._scans == before:  # none has arrived since the look
                self._rules.scan_gone()
