# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The health of the other nodes, from their reports on the diagnostics topic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
import time

from curiosity_rosa_demo.domain.brain_state import Reading
from curiosity_rosa_demo.domain.health import NodeStatus
from curiosity_rosa_demo.domain.text import clip
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.diagnostics import MAX_MESSAGES, PERIOD_S
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node
from rclpy.qos import QoSProfile

NODES = ('adapter', 'simulator', 'visualizer')
MAX_AGE_S = 3.5 * PERIOD_S
MAX_TEXT = 500  # characters of a report


@dataclass(frozen=True)
class _NodeReport:
    """The last report of a node: time of arrival (steady seconds), error flag and text."""

    at_s: float
    failed: bool
    text: str


class NodeHealth:
    """``readings`` returns the kernel's readings. The adapter publishes a change on its status
    topic sooner than in its diagnostics.
    """

    def __init__(
        self, node: Node, config: Config, readings: Callable[[], Mapping[str, Reading]]
    ) -> None:
        self._readings = readings
        self._adapter_max_age_s = config.thresholds.telemetry.adapter_max_age_s
        space = node.get_namespace().strip('/')
        self._names = {f'{space}/{name}'.lstrip('/'): name for name in NODES}
        self._reports: dict[str, _NodeReport] = {}
        node.create_subscription(
            DiagnosticArray,
            config.topics.status.diagnostics,
            self._on_diagnostics,
            QoSProfile(depth=MAX_MESSAGES),
        )

    def node_statuses(self) -> list[NodeStatus]:
        """The status of each of NODES. Thread-safe. A silent node is not ok after MAX_AGE_S."""
        now = time.monotonic()
        found = [self._status_of(name, now) for name in NODES]
        status = self._readings().get('adapter')
        if status is not None:
            age = now - status.received_s
            adapter = found[0]
            ok = age <= self._adapter_max_age_s and not self._failed('adapter')
            found[0] = NodeStatus('adapter', ok, age, adapter.text)
        return found

    def _status_of(self, name: str, now: float) -> NodeStatus:
        report = self._reports.get(name)
        if report is None:
            return NodeStatus(name, False, None)
        age = now - report.at_s
        return NodeStatus(name, age <= MAX_AGE_S and not report.failed, age, report.text)

    def _failed(self, name: str) -> bool:
        return name in self._reports and self._reports[name].failed

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        """Runs in the thread that spins the node."""
        for status in message.status:
            name = self._names.get(status.name.partition(':')[0])
            if name is not None:
                failed = status.level not in (DiagnosticStatus.OK, DiagnosticStatus.WARN)
                text = (
                    '' if status.level == DiagnosticStatus.OK else clip(status.message, MAX_TEXT)
                )
                self._reports[name] = _NodeReport(time.monotonic(), failed, text)
