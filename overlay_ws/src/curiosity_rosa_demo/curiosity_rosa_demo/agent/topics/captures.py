# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The last captures and analyses with their pictures, and the files that a run leaves of them.

The simulator latches each captured picture, and publishes every frame while it has a subscriber.
So this module subscribes when a capture has succeeded, and unsubscribes when its picture is here.
The picture of a capture is the one with the stamp of its frame.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
import json
import math
from pathlib import Path
import threading
import time
from typing import Any, NamedTuple

from curiosity_rosa_demo.domain.models import RoverPose, TraceEvent, TraceKind
from curiosity_rosa_demo.domain.pictures import (
    AnalyzedGround,
    Capture,
    MAX_CAPTURES,
    MAX_KEPT_BYTES,
    MAX_PICTURE_BYTES,
    Picture,
)
from curiosity_rosa_demo.domain.skills import CAPTURE
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.files import replace_file
from curiosity_rosa_demo.infra.ros_io import history_qos, STEADY_CLOCK
from curiosity_rosa_demo.trace.events import CaptureTaken, GroundAnalyzed
from rclpy.node import Node
from sensor_msgs.msg import CompressedImage

PICTURE_TIMEOUT_S = 5.0  # longest wait for a picture; the capture is then dropped
POLL_PERIOD_S = 0.5
LONGEST_CAPTURE_S = 15.0  # from its call to its result
MAX_PICTURES = 5  # on a shelf


class Shelf:
    """The newest pictures of a topic by the stamp of their frame. ``lasting``: it keeps one
    subscription; else there is one between ``_subscribe`` and ``_unsubscribe``, and what is still
    in the queue of an earlier one counts no more. ``_changed`` guards it.
    """

    def __init__(self, node: Node, topic: str, *, lasting: bool) -> None:
        self._node, self._topic, self._lasting = node, topic, lasting
        self._changed = threading.Condition()
        self._pictures: deque[tuple[float, Picture]] = deque()
        self._done_with: list[Any] = []  # subscriptions to destroy in the spin thread
        self._subscription: Any = None
        if lasting:
            self._subscribe()

    def _subscribe(self) -> None:
        if self._subscription is None:
            pictures = self._pictures = deque(maxlen=MAX_PICTURES)
            self._subscription = self._node.create_subscription(
                CompressedImage,
                self._topic,
                partial(self._on_picture, pictures),
                history_qos(MAX_PICTURES),
            )

    def _unsubscribe(self) -> None:
        """Call with the lock held. The next subscription gets the latched picture."""
        if self._subscription is not None and not self._lasting:
            self._done_with.append(self._subscription)
            self._subscription = None
            self._pictures = deque()

    def _on_picture(
        self, pictures: deque[tuple[float, Picture]], message: CompressedImage
    ) -> None:
        """Runs in the spin thread. Ignores a picture that is larger than MAX_PICTURE_BYTES."""
        if len(message.data) > MAX_PICTURE_BYTES:
            return
        stamp = message.header.stamp
        picture = Picture(bytes(message.data), time.time(), time.monotonic())
        with self._changed:
            pictures.append((stamp.sec + stamp.nanosec * 1e-9, picture))
            self._take()
            self._changed.notify_all()

    def _take(self) -> None:
        """Called with the lock held when a picture has come."""

    def _find(self, stamp_s: float | None, since_s: float = math.inf) -> Picture | None:
        """Call with the lock held: the newest picture with this stamp; for None, of a frame
        without one, the newest that was received at ``since_s`` (steady seconds) or later.
        """
        for each_s, picture in reversed(self._pictures):
            if picture.received_s >= since_s if stamp_s is None else each_s == stamp_s:
                return picture
        return None


class _PendingCapture(NamedTuple):
    """A capture whose picture has not arrived, its pose, and since when (steady seconds)."""

    event: TraceEvent
    taken: CaptureTaken
    pose: RoverPose | None
    since_s: float


class Captures(Shelf):
    """``pose`` returns the rover's pose; None: unknown. ``always_on``: keep one subscription. A
    new one finds no publisher while a discovery server is away, and on a busy computer only after
    seconds: so it is made when the capture is called, not when its result has come.
    """

    def __init__(
        self,
        node: Node,
        config: Config,
        pose: Callable[[], RoverPose | None],
        *,
        always_on: bool = False,
    ) -> None:
        self._pose, self._threshold = pose, config.thresholds.quality.score_threshold
        self._pending: deque[_PendingCapture] = deque(maxlen=MAX_CAPTURES)
        self._captures: deque[Capture] = deque(maxlen=MAX_CAPTURES)
        self._called_until_s = 0.0  # a picture may come of a capture that was called (steady)
        topic = config.topics.images.output_capture_compressed
        super().__init__(node, topic, lasting=always_on)
        self._timer = node.create_timer(POLL_PERIOD_S, self._drop_expired, clock=STEADY_CLOCK)

    def recent(self) -> list[Capture]:
        """The recent captures, the oldest first. Thread-safe."""
        with self._changed:
            return list(self._captures)

    def is_waiting(self) -> bool:
        """Whether the picture of a capture is due. Thread-safe."""
        with self._changed:
            return bool(self._pending)

    def of(self, event: TraceEvent) -> Capture | None:
        """The capture of a recorded event. Waits for its picture; None: none came in time."""
        with self._changed:
            self._changed.wait_for(
                lambda: all(each.event is not event for each in self._pending), PICTURE_TIMEOUT_S
            )
            found = (each for each in self._captures if each.event_id == event.event_id)
            return next(found, None)

    def record_event(self, event: TraceEvent) -> None:
        """Record an event of this agent. Callable from any thread except the spin thread."""
        if event.tool_name == CAPTURE:
            is_called = event.kind is TraceKind.ACT
            with self._changed:
                self._called_until_s = time.monotonic() + LONGEST_CAPTURE_S if is_called else 0.0
                if is_called:
                    self._subscribe()
        taken = CaptureTaken.of(event)
        if taken is None or not taken.ok or taken.score is None:
            return
        pending = _PendingCapture(event, taken, self._pose(), time.monotonic())
        with self._changed:
            if taken.stamp_s is None:  # only the next subscription tells it from earlier ones
                self._unsubscribe()
            self._pending.append(pending)
            self._take()  # its picture may have come before its event
            if self._pending:
                self._subscribe()

    def _take(self) -> None:
        """Call with the lock held: keep the newest capture whose picture has come."""
        for pending in reversed(self._pending):
            picture = self._find(pending.taken.stamp_s, pending.since_s)
            if picture is None:
                continue
            while self._pending.popleft() is not pending:
                pass  # a newer picture has replaced theirs
            score, is_good = pending.taken.score or 0.0, pending.taken.is_good(self._threshold)
            event_id = pending.event.event_id
            self._captures.append(Capture(event_id, picture, score, is_good, pending.pose))
            while sum(len(each.picture.jpeg) for each in self._captures) > MAX_KEPT_BYTES:
                self._captures.popleft()
            break
        if not self._pending and time.monotonic() >= self._called_until_s:
            self._unsubscribe()
        self._changed.notify_all()

    def _drop_expired(self) -> None:
        """Drop captures whose picture is overdue. Runs in the spin thread."""
        oldest_s = time.monotonic() - PICTURE_TIMEOUT_S
        with self._changed:
            while self._pending and self._pending[0].since_s < oldest_s:
                self._pending.popleft()
            self._take()
            while self._done_with:
                self._node.destroy_subscription(self._done_with.pop())


class Analyses(Shelf):
    """The newest analyses of the ground with their annotated pictures. The simulator publishes a
    picture only for an analysis, so a lasting subscription costs nothing.
    """

    def __init__(self, node: Node, config: Config) -> None:
        self._newest: tuple[AnalyzedGround, float | None] | None = None  # with its stamp
        super().__init__(node, config.topics.images.output_analysis_compressed, lasting=True)

    def picture_of(self, event: TraceEvent) -> Picture | None:
        """The annotated picture of an analysis. Waits for it; None: none came in time."""
        analyzed = GroundAnalyzed.of(event)
        stamp_s = None if analyzed is None else analyzed.stamp_s
        with self._changed:
            return self._changed.wait_for(lambda: self._find(stamp_s), PICTURE_TIMEOUT_S)

    def newest(self) -> AnalyzedGround | None:
        """The newest analysis of this agent; its picture may follow. Does not wait."""
        with self._changed:
            if self._newest is None:
                return None
            analyzed, stamp_s = self._newest
            return replace(analyzed, picture=self._find(stamp_s))

    def record_event(self, event: TraceEvent) -> None:
        """Record an event of this agent. Callable from any thread."""
        analyzed = GroundAnalyzed.of(event)
        if analyzed is not None:
            newest = AnalyzedGround(event.event_id, event.ts, analyzed.analysis, None)
            with self._changed:
                self._newest = newest, analyzed.stamp_s


# -----------------------------------------------------------------------------------------------
# The artifacts of a run in a folder: the last capture, the last analysis, and the trace.


class Artifacts:
    """Writes capture.jpg, analysis.json and analysis.jpg, and names trace.jsonl, in ``folder``,
    which it makes. Raises OSError.

    ``capture_of`` waits for the capture of an event and its picture, ``analysis_of`` for the
    picture of an analysis; None: the event has none. ``fresh``: remove the files of an earlier
    run. A restarted agent keeps them.
    """

    def __init__(
        self,
        folder: str,
        capture_of: Callable[[TraceEvent], Capture | None],
        analysis_of: Callable[[TraceEvent], Picture | None],
        *,
        fresh: bool,
    ) -> None:
        self._capture_of, self._analysis_of = capture_of, analysis_of
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self.picture = self._folder / 'capture.jpg'
        self.analysis = self._folder / 'analysis.json'
        self.analysis_picture = self._folder / 'analysis.jpg'
        self.trace = self._folder / 'trace.jsonl'
        if fresh:
            written = (self.picture, self.analysis, self.analysis_picture)
            for stale in (*written, *self._folder.glob('trace.jsonl*')):
                stale.unlink(missing_ok=True)

    def record_event(self, event: TraceEvent) -> None:
        """Write the files of a successful capture or analysis, each atomically. Those of an
        earlier one are removed first, and an earlier analysis with its capture. Raises OSError.
        """
        if GroundAnalyzed.of(event):
            self._record_analysis(event)
            return
        taken = CaptureTaken.of(event)
        if taken is None or not taken.ok:
            return
        for stale in (self.picture, self.analysis, self.analysis_picture):
            stale.unlink(missing_ok=True)
        capture = self._capture_of(event)
        if capture is None:
            raise TimeoutError('the picture of the capture has not come')
        replace_file(self.picture, capture.picture.jpeg)

    def _record_analysis(self, event: TraceEvent) -> None:
        self.analysis_picture.unlink(missing_ok=True)
        text = json.dumps(event.data or {}, ensure_ascii=False, indent=1)
        replace_file(self.analysis, f'{text}\n'.encode())
        picture = self._analysis_of(event)
        if picture is None:
            raise TimeoutError('the picture of the analysis has not come')
        replace_file(self.analysis_picture, picture.jpeg)
