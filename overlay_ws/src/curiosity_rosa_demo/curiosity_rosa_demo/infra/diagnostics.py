# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Publish the status of a node on the diagnostics topic, once a second.

The status name is ``<node>: <part>``, as in diagnostic_updater. The node name includes the
namespace, so several overlays can share one topic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
import math

from curiosity_rosa_demo.domain.text import valid_unicode
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.ros_io import GuardedPublisher, LossCounter, STEADY_CLOCK
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from rclpy.qos import QoSProfile

PERIOD_S = 1.0
HARDWARE_ID = 'curiosity_mars_rover'
MAX_MESSAGES = 10  # the four nodes publish at the same time


class Level(IntEnum):
    """Levels of diagnostic_msgs/DiagnosticStatus. STALE is missing: only an aggregator sets it."""

    OK = 0
    WARN = 1
    ERROR = 2


@dataclass(frozen=True)
class Finding:
    """State of a node. ``problems``: each text with its level; an empty text is none."""

    problems: Mapping[str, Level]
    ok_message: str
    values: Mapping[str, object]

    @property
    def level(self) -> Level:
        """The highest of its problems."""
        return max((level for text, level in self.problems.items() if text), default=Level.OK)

    @property
    def message(self) -> str:
        """All problems; without any, ``ok_message``."""
        return '; '.join(filter(None, self.problems)) or self.ok_message


def value_text(value: object) -> str:
    """Format a value: None or a non-finite float is ``unknown``, floats have three decimals."""
    if value is None:
        return 'unknown'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f'{value:.3f}' if math.isfinite(value) else 'unknown'
    return valid_unicode(str(value))  # a lone surrogate would fail to serialize


def status_of(node_name: str, part: str, found: Finding) -> DiagnosticStatus:
    """Build the status message. ``node_name`` is fully qualified; a leading slash is dropped."""
    return DiagnosticStatus(
        level=bytes([found.level]),
        name=f'{node_name.lstrip("/")}: {part}',
        message=value_text(found.message),
        hardware_id=HARDWARE_ID,
        values=[KeyValue(key=key, value=value_text(each)) for key, each in found.values.items()],
    )


class Diagnostics:
    """Publishes the result of ``diagnose`` and the new losses. The timer calls ``diagnose`` on the
    thread that spins ``node``, so it must return quickly and not raise.
    """

    def __init__(
        self,
        node: Node,
        config: Config,
        part: str,
        diagnose: Callable[[], Finding],
        losses: LossCounter,
    ) -> None:
        self._node, self._part, self._diagnose, self._losses = node, part, diagnose, losses
        self._reported = Counter[str]()  # losses in the last message that was sent
        self._name = node.get_fully_qualified_name()
        self._publisher = GuardedPublisher(
            node,
            DiagnosticArray,
            config.topics.status.diagnostics,
            QoSProfile(depth=MAX_MESSAGES),
            losses,
        )
        node.create_timer(PERIOD_S, self._publish, clock=STEADY_CLOCK)

    def _publish(self) -> None:
        found, counts = self._diagnose(), Counter(self._losses.counts())
        new = counts - self._reported
        lost = {f'Lost {count} for {name}': Level.WARN for name, count in new.items()}
        values = {**found.values, **{f'lost {name}': count for name, count in counts.items()}}
        found = Finding({**found.problems, **lost}, found.ok_message, values)
        array = DiagnosticArray(status=[status_of(self._name, self._part, found)])
        array.header.stamp = self._node.get_clock().now().to_msg()
        if self._publisher.publish(array):
            self._reported = counts
