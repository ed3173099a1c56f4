# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The newest analyses of the ground with their annotated pictures.

The simulator publishes a picture only for an analysis, so a standing subscription costs nothing.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
import threading
import time

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.pictures import AnalyzedGround, MAX_PICTURE_BYTES, Picture
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.ros_io import history_qos
from curiosity_rosa_demo.trace.events import GroundAnalyzed
from rclpy.node import Node
from sensor_msgs.msg import CompressedImage

MAX_PICTURES = 5
PICTURE_TIMEOUT_S = 3.0


class Analyses:
    """Keeps the last MAX_PICTURES annotated pictures by the stamp of their frame."""

    def __init__(self, node: Node, config: Config) -> None:
        self._changed = threading.Condition()
        self._pictures: deque[tuple[float, Picture]] = deque(maxlen=MAX_PICTURES)
        self._newest: tuple[AnalyzedGround, float | None] | None = None  # with its stamp
        topic = config.topics.images.output_analysis_compressed
        self._subscription = node.create_subscription(
            CompressedImage, topic, self._on_picture, history_qos(1)
        )

    def picture_of(self, event: TraceEvent) -> Picture | None:
        """The annotated picture of an analysis. Waits for it; None: none came in time."""
        analyzed = GroundAnalyzed.of(event)
        stamp_s = None if analyzed is None else analyzed.stamp_s
        with self._changed:
            self._changed.wait_for(lambda: self._of(stamp_s) is not None, PICTURE_TIMEOUT_S)
            return self._of(stamp_s)

    def newest(self) -> AnalyzedGround | None:
        """The newest analysis of this agent; its picture may follow. Does not wait."""
        with self._changed:
            if self._newest is None:
                return None
            analyzed, stamp_s = self._newest
            return replace(analyzed, picture=self._of(stamp_s))

    def record_event(self, event: TraceEvent) -> None:
        """Record an event of this agent. Callable from any thread."""
        analyzed = GroundAnalyzed.of(event)
        if analyzed is not None and (analysis := analyzed.analysis) is not None:
            newest = AnalyzedGround(event.event_id, event.ts, analysis, None)
            with self._changed:
                self._newest = newest, analyzed.stamp_s

    def _of(self, stamp_s: float | None) -> Picture | None:
        """Call with the lock held."""
        return next((each for at, each in self._pictures if at == stamp_s), None)

    def _on_picture(self, message: CompressedImage) -> None:
        """Runs in the spin thread. Ignores a picture that is larger than MAX_PICTURE_BYTES."""
        if len(message.data) > MAX_PICTURE_BYTES:
            return
        stamp = message.header.stamp
        picture = Picture(bytes(message.data), time.time(), time.monotonic())
        with self._changed:
            self._pictures.append((stamp.sec + stamp.nanosec * 1e-9, picture))
            self._changed.notify_all()
