# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rover's pictures for the skill ``look`` and for a model that can see."""

from __future__ import annotations

import time

from curiosity_rosa_demo.agent.topics.camera import CameraFeed
from curiosity_rosa_demo.agent.topics.captures import Captures
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.pictures import Capture, Picture

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
