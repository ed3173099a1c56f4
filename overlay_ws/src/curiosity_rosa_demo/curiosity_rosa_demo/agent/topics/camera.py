# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rover's camera as JPEGs. Subscribes only while a client requests pictures."""

from __future__ import annotations

import logging
import threading
import time

from curiosity_rosa_demo.agent.topics.captures import Captures
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.pictures import Capture, Picture, WHOLE
from curiosity_rosa_demo.imaging.camera import Camera, Frame
from curiosity_rosa_demo.imaging.image_header import ImageError, is_jpeg, picture_size
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.ros_io import STEADY_CLOCK
from rclpy.node import Node
from sensor_msgs.msg import Image

KEEP_ON_S = 3.0  # frames keep coming so long after the last request
REST_CHECK_PERIOD_S = 1.0

_log = logging.getLogger('curiosity_rosa.camera')


class CameraFeed:
    def __init__(self, node: Node, config: Config) -> None:
        self._quality = config.thresholds.capture.jpeg_quality
        self._newest: Frame | None = None
        self._camera = Camera(node, config.topics.images, self._keep_frame)
        self._timer = node.create_timer(
            REST_CHECK_PERIOD_S, self._camera.stop_if_unwanted, clock=STEADY_CLOCK
        )
        self._encoding = threading.Lock()
        self._number = 0  # of the frame that was encoded last
        self._valid: Frame | None = None  # the newest that could be
        self._pictures: dict[int, Picture] = {}  # of it, by the longest side
        self._last_error = ''  # why the newest frame could not be used

    def picture(self, longest_px: int = WHOLE) -> Picture | None:
        """The newest valid frame, of any age; keeps the camera on for KEEP_ON_S. Its longer side
        is at most ``longest_px``, twice that of a camera that sends JPEGs. Thread-safe. Who asks
        for the same size shares the work.
        """
        self._camera.request_frames(KEEP_ON_S)
        with self._encoding:
            frame = self._newest
            is_new = frame is not None and frame.number != self._number
            if frame is None or not is_new:
                frame = self._valid
            if frame is not None and (is_new or longest_px not in self._pictures):
                self._number = frame.number
                try:
                    picture = _picture_of(frame, longest_px, self._quality)
                    known = {} if is_new else self._pictures
                    self._valid, self._pictures = frame, {**known, longest_px: picture}
                except ImageError as error:
                    self._log_once(str(error))
            return self._pictures.get(longest_px)

    def _log_once(self, why: str) -> None:
        if why != self._last_error:  # log once, not for every frame
            _log.warning('event=frame_unusable why=%r', why)
        self._last_error = why

    def close(self) -> None:
        self._camera.close()

    def _keep_frame(self, frame: Frame) -> None:
        self._newest = frame


def _picture_of(frame: Frame, longest_px: int, quality: int) -> Picture:
    """Raises ImageError."""
    at = time.time() - (time.monotonic() - frame.received_s)
    return Picture(_jpeg_of(frame, longest_px, quality), at, frame.received_s)


def _jpeg_of(frame: Frame, longest_px: int, quality: int) -> bytes:
    """A part of a JPEG's pixels, or all, is made quickly; any other size of them is not."""
    message = frame.message
    data = b'' if isinstance(message, Image) else bytes(message.data)
    # picture_size raises ImageError for a truncated image
    if data and max(picture_size(data)) <= 2 * longest_px and is_jpeg(data):
        return data
    # Imported only when needed: it imports OpenCV.
    from curiosity_rosa_demo.imaging.pixels import decode_picture, encode_jpeg, raw_pixels, shrunk

    if isinstance(message, Image):
        return encode_jpeg(shrunk(raw_pixels(message), longest_px), quality)
    return encode_jpeg(shrunk(decode_picture(data, longest_px), 2 * longest_px), quality)


# --- The rover's pictures for the skill ``look`` and for a model that can see ------------------


FRAME_TIMEOUT_S = 5.0  # a camera that was off takes a moment
OLDEST_FRAME_S = 1.0
POLL_PERIOD_S = 0.05


class RoverPictures:
    """A PictureSource."""

    def __init__(self, captures: Captures, camera: CameraFeed) -> None:
        self._captures, self._camera = captures, camera

    def camera_picture(self, cancellation: Cancellation) -> Picture | None:
        asked_s = time.monotonic()
        while time.monotonic() < asked_s + FRAME_TIMEOUT_S:
            picture = self._camera.picture()
            if picture is not None and picture.received_s > asked_s - OLDEST_FRAME_S:
                return picture
            cancellation.sleep(POLL_PERIOD_S)
        return None

    def newest_capture(self, cancellation: Cancellation) -> Capture | None:
        while self._captures.is_waiting():  # for PICTURE_TIMEOUT_S at most
            cancellation.sleep(POLL_PERIOD_S)
        captures = self._captures.recent()
        return captures[-1] if captures else None
