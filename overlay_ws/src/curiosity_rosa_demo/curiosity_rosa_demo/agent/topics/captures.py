# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The last captures with their pictures.

The simulator latches each captured picture, and publishes every frame while it has a subscriber.
So this module subscribes when a capture has succeeded, and unsubscribes when its picture is here.
The picture of a capture is the one with the stamp of its frame.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
import threading
import time
from typing import Any

from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent
from curiosity_rosa_demo.domain.pictures import (
    Capture,
    MAX_CAPTURES,
    MAX_KEPT_BYTES,
    MAX_PICTURE_BYTES,
    Picture,
)
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.ros_io import history_qos, STEADY_CLOCK
from curiosity_rosa_demo.trace.events import CaptureTaken
from rclpy.node import Node
from sensor_msgs.msg import CompressedImage

PICTURE_TIMEOUT_S = 3.0  # longest wait for a picture; the capture is then dropped
POLL_PERIOD_S = 0.5


@dataclass(frozen=True)
class _PendingCapture:
    """A capture whose picture has not arrived, its pose, and its deadline (steady seconds)."""

    event: TraceEvent
    taken: CaptureTaken
    pose: RoverPose | None
    until_s: float

    def has(self, stamp_s: float) -> bool:
        """Whether a picture with this stamp is its own; any is, if its frame has no stamp."""
        return self.taken.stamp_s in (None, stamp_s)


class Captures:
    """``pose`` returns the rover's pose; None: unknown. ``always_on``: keep one subscription. A
    new one finds no publisher while a discovery server is away.
    """

    def __init__(
        self,
        node: Node,
        config: Config,
        pose: Callable[[], RoverPose | None],
        *,
        always_on: bool = False,
    ) -> None:
        self._node, self._pose, self._always_on = node, pose, always_on
        self._topic = config.topics.images.output_capture_compressed
        self._threshold = config.thresholds.quality.score_threshold
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._pending: deque[_PendingCapture] = deque(maxlen=MAX_CAPTURES)
        self._subscription: Any = self._subscribe() if always_on else None
        # of a lasting subscription: the picture may come before its capture is recorded here
        self._last: tuple[float, Picture] | None = None
        self._done_with: list[Any] = []  # subscriptions to destroy in the spin thread
        self._captures: deque[Capture] = deque(maxlen=MAX_CAPTURES)
        self._timer = node.create_timer(POLL_PERIOD_S, self._drop_expired, clock=STEADY_CLOCK)

    def recent(self) -> list[Capture]:
        """The recent captures, the oldest first. Thread-safe."""
        with self._lock:
            return list(self._captures)

    def is_waiting(self) -> bool:
        """Whether the picture of a capture is due. Thread-safe."""
        with self._lock:
            return bool(self._pending)

    def of(self, event: TraceEvent) -> Capture | None:
        """The capture of a recorded event. Waits for its picture; None: none came in time."""

        def known() -> Capture | None:
            found = (each for each in self._captures if each.event_id == event.event_id)
            return next(found, None)

        def settled() -> bool:
            return known() is not None or all(each.event is not event for each in self._pending)

        with self._lock:
            self._changed.wait_for(settled, PICTURE_TIMEOUT_S)
            return known()

    def record_event(self, event: TraceEvent) -> None:
        """Record an event of this agent. Callable from any thread except the spin thread."""
        taken = CaptureTaken.of(event)
        if taken is None or not taken.ok or taken.score is None:
            return
        pending = _PendingCapture(event, taken, self._pose(), time.monotonic() + PICTURE_TIMEOUT_S)
        with self._lock:
            if taken.stamp_s is not None and self._last and pending.has(self._last[0]):
                self._keep(pending, self._last[1])
                return
            self._pending.append(pending)
            if self._subscription is None:
                self._subscription = self._subscribe()

    def _subscribe(self) -> Any:
        return self._node.create_subscription(
            CompressedImage, self._topic, self._on_picture, history_qos(1)
        )

    def _on_picture(self, message: CompressedImage) -> None:
        """Runs in the spin thread. Ignores a picture that is larger than MAX_PICTURE_BYTES."""
        if len(message.data) > MAX_PICTURE_BYTES:
            return
        picture = Picture(bytes(message.data), time.time(), time.monotonic())
        stamp = message.header.stamp
        stamp_s = stamp.sec + stamp.nanosec * 1e-9
        with self._lock:
            if self._always_on:
                self._last = stamp_s, picture
            pending = next((each for each in reversed(self._pending) if each.has(stamp_s)), None)
            if pending is None:
                return
            while self._pending.popleft() is not pending:
                pass  # a newer picture has replaced theirs
            self._keep(pending, picture)
            if not self._pending:
                self._unsubscribe()

    def _keep(self, pending: _PendingCapture, picture: Picture) -> None:
        """Call with the lock held."""
        self._captures.append(_capture_of(pending, picture, self._threshold))
        while sum(len(each.picture.jpeg) for each in self._captures) > MAX_KEPT_BYTES:
            self._captures.popleft()
        self._changed.notify_all()

    def _unsubscribe(self) -> None:
        """Call with the lock held. The next capture subscribes anew and gets the latched picture.

        The old subscription may already have received that picture before its capture was
        recorded here.
        """
        if self._subscription is not None and not self._always_on:
            self._done_with.append(self._subscription)
            self._subscription = None

    def _drop_expired(self) -> None:
        """Drop captures whose picture is overdue. Runs in the spin thread."""
        with self._lock:
            while self._pending and self._pending[0].until_s < time.monotonic():
                self._pending.popleft()
                self._changed.notify_all()
            if not self._pending:
                self._unsubscribe()
            while self._done_with:
                self._node.destroy_subscription(self._done_with.pop())


def _capture_of(pending: _PendingCapture, picture: Picture, threshold: float) -> Capture:
    taken, event_id = pending.taken, pending.event.event_id
    is_good = taken.is_good(threshold)
    return Capture(event_id, picture, taken.score or 0.0, is_good, pending.pose)
