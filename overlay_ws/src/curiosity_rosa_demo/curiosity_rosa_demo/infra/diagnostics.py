# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a node says of itself on the diagnostics topic, once a second.

Its name there is ``<node>: <part>`` with the namespace, if there is one, as diagnostic_updater has
it, so that several overlays may share one topic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
import math

from curiosity_rosa_demo.domain.text import valid_unicode
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.guarded_publisher import GuardedPublisher
from curiosity_rosa_demo.infra.loss_counter import LossCounter
from curiosity_rosa_demo.infra.ros_io import STEADY_CLOCK
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from rclpy.qos import QoSProfile

PERIOD_S = 1.0
HARDWARE_ID = 'curiosity_mars_rover'
MAX_MESSAGES = 10  # the four nodes publish in the same moment


class Level(IntEnum):
    """Those of diagnostic_msgs/DiagnosticStatus that a node may say of itself."""

    OK = 0
    WARN = 1
    ERROR = 2


@dataclass(frozen=True)
class Finding:
    """How it is: the worst of what is amiss, all of it in words, and the figures."""

    level: Level = Level.OK
    message: str = ''
    values: Mapping[str, object] = field(default_factory=dict)


def finding(
    amiss: Mapping[str, Level], well: str, values: Mapping[str, object] | None = None
) -> Finding:
    """``amiss``: what is not as it should be, in words; '' counts for nothing. ``well`` is said
    when there is nothing of the kind.
    """
    found = {words: level for words, level in amiss.items() if words}
    worst = max(found.values(), default=Level.OK)
    return Finding(worst, '; '.join(found) or well, values or {})


def with_losses(
    found: Finding, counts: Mapping[str, int], reported: Mapping[str, int] | None = None
) -> Finding:
    """``found`` with what the node has lost since it started, by destination. What was lost since
    ``reported`` is a warning.
    """
    reported = reported or {}
    lost = {name: count - reported.get(name, 0) for name, count in counts.items()}
    news = '; '.join(f'Lost {count} for {name}' for name, count in lost.items() if count > 0)
    values = {**found.values, **{f'lost {name}': count for name, count in counts.items()}}
    if not news:
        return replace(found, values=values)
    amiss = found.level is not Level.OK
    return Finding(
        max(found.level, Level.WARN), f'{found.message}; {news}' if amiss else news, values
    )


def value_text(value: object) -> str:
    """A figure as text: None is ``unknown``, numbers have three places."""
    if value is None:
        return 'unknown'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f'{value:.3f}' if math.isfinite(value) else 'unknown'
    return valid_unicode(str(value))  # no lone surrogates: ROS cannot send them


def status_of(node_name: str, part: str, found: Finding) -> DiagnosticStatus:
    """``node_name`` with its namespace, the leading slash or not."""
    return DiagnosticStatus(
        level=bytes([found.level]),
        name=f'{node_name.lstrip("/")}: {part}',
        message=value_text(found.message),
        hardware_id=HARDWARE_ID,
        values=[KeyValue(key=key, value=value_text(each)) for key, each in found.values.items()],
    )


class Diagnostics:
    """Asks ``diagnose`` on the thread that spins ``node``; that must be quick and not raise."""

    def __init__(
        self,
        node: Node,
        config: Config,
        part: str,
        diagnose: Callable[[], Finding],
        losses: LossCounter,
    ) -> None:
        self._node, self._part, self._diagnose, self._losses = node, part, diagnose, losses
        self._reported_losses: dict[str, int] = {}  # the losses in the last message that was sent
        self._name = node.get_fully_qualified_name()
        self._publisher = GuardedPublisher.create(
            node,
            DiagnosticArray,
            config.topics.status.diagnostics,
            QoSProfile(depth=MAX_MESSAGES),
            losses,
        )
        node.create_timer(PERIOD_S, self._publish, clock=STEADY_CLOCK)

    def _publish(self) -> None:
        counts = self._losses.counts()
        found = with_losses(self._diagnose(), counts, self._reported_losses)
        array = DiagnosticArray(status=[status_of(self._name, self._part, found)])
        array.header.stamp = self._node.get_clock().now().to_msg()
        if self._publisher.publish(array):
            self._reported_losses = counts
