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

from curiosity_rosa_demo.domain.pictures import Picture
from curiosity_rosa_demo.imaging.camera import Camera, Frame
from curiosity_rosa_demo.imaging.image_header import ImageError, is_jpeg, picture_size
from curiosity_rosa_demo.infra.config.contracts import Config
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
        self._picture: Picture | None = None
        self._last_error = ''  # why the newest frame could not be used

    def picture(self) -> Picture | None:
        """The newest valid frame, of any age; keeps the camera on for KEEP_ON_S. Thread-safe."""
        self._camera.request_frames(KEEP_ON_S)
        with self._encoding:
            frame = self._newest
            if frame is not None and frame.number != self._number:
                self._number = frame.number
                try:
                    self._picture = _picture_of(frame, self._quality)
                except ImageError as error:
                    self._log_once(str(error))
            return self._picture

    def _log_once(self, why: str) -> None:
        if why != self._last_error:  # log once, not for every frame
            _log.warning('event=frame_unusable why=%r', why)
        self._last_error = why

    def close(self) -> None:
        self._camera.close()

    def _keep_frame(self, frame: Frame) -> None:
        self._newest = frame


def _picture_of(frame: Frame, quality: int) -> Picture:
    """Raises ImageError."""
    at = time.time() - (time.monotonic() - frame.received_s)
    return Picture(_jpeg_of(frame, quality), at, frame.received_s)


def _jpeg_of(frame: Frame, quality: int) -> bytes:
    message = frame.message
    if not isinstance(message, Image):
        data = bytes(message.data)
        picture_size(data)  # raises ImageError for a truncated image
        if is_jpeg(data):
            return data
    # Imported only when needed: it imports OpenCV.
    from curiosity_rosa_demo.imaging.pixels import decode_picture, encode_jpeg, pixels_of

    pixels = pixels_of(message) if isinstance(message, Image) else decode_picture(data)
    return encode_jpeg(pixels, quality)
