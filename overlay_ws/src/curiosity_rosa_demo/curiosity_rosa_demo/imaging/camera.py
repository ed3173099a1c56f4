# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The newest frames of the rover's camera, with a subscription only while frames are requested.

Without a subscriber the rover renders, compresses and sends no pictures. Frames are not decoded
here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
import math
import threading
import time
from typing import Any

from curiosity_rosa_demo.domain.models import NO_IMAGE_RECEIVED
from curiosity_rosa_demo.imaging.image_header import MAX_PIXELS
from curiosity_rosa_demo.infra.config.topics import Images
from curiosity_rosa_demo.infra.ros_io import NEWEST_ONLY
from curiosity_rosa_demo.infra.tf import stamp_ns
from rclpy.node import Node
from sensor_msgs.msg import CompressedImage, Image

KEPT_FRAMES = 3  # the newest may have come before the joints' reading of its moment
RECHECK_S = 0.02  # while a frame that is here cannot be used yet
MAX_FRAME_BYTES = 4 * MAX_PIXELS  # RGBA; larger pictures are refused anyway


class NoFrame(Exception):
    """No fresh frame arrived in time. docs/reference/contracts.md lists the messages."""


@dataclass(frozen=True)
class Frame:
    """A message as received, its receive time in steady seconds, and its number, from 1."""

    message: CompressedImage | Image
    received_s: float
    number: int


class Camera:
    """``on_frame`` runs for every frame, on the thread that spins ``node``. The methods may be
    called from any thread; ``fresh`` from any other than that one.
    """

    def __init__(
        self,
        node: Node,
        images: Images,
        on_frame: Callable[[Frame], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._node = node
        self._on_frame = on_frame
        self._clock = clock
        self._type, self.topic = (
            (Image, images.input_raw)
            if images.input == 'raw'
            else (CompressedImage, images.input_compressed)
        )
        self._frame_arrived = threading.Condition()
        self._frames: deque[Frame] = deque(maxlen=KEPT_FRAMES)
        self._received = 0
        self._subscription: Any = None
        self._wanted_since_s = self._wanted_until_s = 0.0
        self._closed = False

    def request_frames(self, for_s: float) -> None:
        """Receive frames for at least ``for_s`` seconds from now."""
        with self._frame_arrived:
            self._wanted_until_s = max(self._wanted_until_s, self._clock() + for_s)
            if self._subscription is None and not self._closed:
                self._wanted_since_s = self._clock()
                self._subscription = self._node.create_subscription(
                    self._type, self.topic, self._receive, NEWEST_ONLY
                )

    def stop_if_unwanted(self) -> None:
        """Destroy the subscription once the last request has expired."""
        with self._frame_arrived:
            if self._subscription is not None and self._clock() > self._wanted_until_s:
                self._node.destroy_subscription(self._subscription)
                self._subscription = None

    def age_s(self) -> float | None:
        """Seconds since the newest frame; None before the first."""
        with self._frame_arrived:
            return self._clock() - self._frames[-1].received_s if self._frames else None

    def frame_wait_s(self) -> float | None:
        """Seconds without a frame while subscribed; None without a subscription."""
        with self._frame_arrived:
            if self._subscription is None:
                return None
            received_s = self._frames[-1].received_s if self._frames else self._wanted_since_s
            return self._clock() - max(received_s, self._wanted_since_s)

    def fresh(
        self,
        *,
        max_age_s: float,
        wait_s: float,
        why_unusable: Callable[[Frame], str] = lambda frame: '',
    ) -> Frame:
        """The newest usable frame that is at most ``max_age_s`` old, else the next one.
        ``why_unusable`` says why a frame cannot be used now; '': it can.

        Blocks: do not call it on the thread that spins ``node``. Raises NoFrame after ``wait_s``,
        at once when the camera is closed.
        """
        self.request_frames(wait_s)
        with self._frame_arrived:
            deadline = self._clock() + wait_s
            while True:
                now, why = self._clock(), ''
                for frame in reversed(self._frames):
                    if now - frame.received_s > max_age_s:
                        break
                    why_not = why_unusable(frame)
                    if not why_not:
                        return frame
                    why = why or why_not
                if now >= deadline or self._closed:
                    if not self._frames:
                        raise NoFrame(NO_IMAGE_RECEIVED)
                    age_s = now - self._frames[-1].received_s
                    raise NoFrame(why or f'Image is stale: {age_s:.1f} s old')
                self._frame_arrived.wait(min(deadline - now, RECHECK_S if why else math.inf))

    def close(self) -> None:
        """Wake every waiting ``fresh`` call and refuse new subscriptions."""
        with self._frame_arrived:
            self._closed = True
            self._frame_arrived.notify_all()

    def _receive(self, message: CompressedImage | Image) -> None:
        if len(message.data) > MAX_FRAME_BYTES:
            return  # no camera's: the newest frame goes stale, which the callers report
        with self._frame_arrived:
            if self._frames and _is_copy(message, self._frames[-1].message):
                return
            self._received += 1
            frame = Frame(message, self._clock(), self._received)
            self._frames.append(frame)
            self._frame_arrived.notify_all()
        self._on_frame(frame)


def _is_copy(message: CompressedImage | Image, before: CompressedImage | Image) -> bool:
    """Whether a frozen camera repeats its picture. Without a stamp nobody can tell."""
    at_ns = stamp_ns(message)
    return at_ns != 0 and at_ns == stamp_ns(before) and bool(message.data == before.data)
