# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rover's camera as JPEGs, received only while somebody looks."""

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

KEEP_ON_S = 3.0  # after the last look frames keep coming for so long
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
        self._number = 0  # of the frame that was looked at last
        self._picture: Picture | None = None
        self._last_error = ''  # the newest frame could not be used

    def picture(self) -> Picture | None:
        """The newest whole frame, however old; from any thread. Makes the camera wanted."""
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
        if why != self._last_error:  # once, not for every frame
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
        picture_size(data)  # refuses what is cut off
        if is_jpeg(data):
            return data
    # Not before it must: it takes OpenCV.
    from curiosity_rosa_demo.imaging.pixels import decode_picture, encode_jpeg, pixels_of

    pixels = pixels_of(message) if isinstance(message, Image) else decode_picture(data)
    return encode_jpeg(pixels, quality)
