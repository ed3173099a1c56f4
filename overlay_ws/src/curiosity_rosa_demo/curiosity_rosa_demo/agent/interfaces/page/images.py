# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pictures of the page, in its sizes; GET /camera.jpg has the whole frame."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import math
import threading
from typing import Annotated

from curiosity_rosa_demo.agent.interfaces.http.problems import Problem
from curiosity_rosa_demo.agent.interfaces.http.streams import (
    FIRST_FRAME_TIMEOUT_S,
    wait_for_fresh_frame,
)
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.domain.pictures import Picture
from curiosity_rosa_demo.imaging.image_header import ImageError
from fastapi import APIRouter, Query, Response

MAX_PX, STEP_PX = 4096, 64
JPEG_QUALITY = 80
UNCHANGED_HEADERS = {'Cache-Control': 'private, max-age=86400, immutable'}


def image_routes(
    robot: Robot, recorded_picture: Callable[[str], bytes | None] = lambda event_id: None
) -> APIRouter:
    """``recorded_picture``: that of the capture of an event in an open recording."""
    router = APIRouter(prefix='/page', include_in_schema=False)

    scaled = ScaledFrame()

    @router.get('/frame.jpg')
    async def frame(px: Annotated[int, Query(ge=1, le=MAX_PX)] = MAX_PX) -> Response:
        """The newest frame of the camera, its longer side at most ``px``, rounded up to a multiple
        of STEP_PX. 204 if there is none, which is no error of the page.
        """
        try:
            picture = await wait_for_fresh_frame(robot, FIRST_FRAME_TIMEOUT_S)
        except Problem as problem:
            return Response(status_code=204, headers={'X-Problem': problem.detail})
        headers = {'Cache-Control': 'no-store', 'X-Timestamp': f'{picture.at:.3f}'}
        jpeg = await asyncio.to_thread(scaled.jpeg, picture, STEP_PX * math.ceil(px / STEP_PX))
        return Response(jpeg, media_type='image/jpeg', headers=headers)

    @router.get('/captures/{event_id}.jpg')
    def capture(event_id: str) -> Response:
        """The capture of the trace event ``event_id``."""
        for each in robot.captures():
            if each.event_id == event_id:
                return _unchanged(each.picture.jpeg)
        if (jpeg := recorded_picture(event_id)) is not None:
            return _unchanged(jpeg)
        raise Problem(404, f'There is no capture {event_id[:100]!r}, or it is no longer kept.')

    return router


class ScaledFrame:
    """The newest frame in the size of the last request: pages of one size share the work."""

    def __init__(self) -> None:
        self._of: tuple[float, int] | None = None
        self._jpeg = b''
        self._lock = threading.Lock()

    def jpeg(self, picture: Picture, longest_px: int) -> bytes:
        """A picture that cannot be decoded stays as it is."""
        # Imported only when needed: it imports OpenCV.
        from curiosity_rosa_demo.imaging.pixels import scaled_jpeg

        with self._lock:
            if self._of != (picture.received_s, longest_px):
                try:
                    self._jpeg = scaled_jpeg(picture.jpeg, longest_px, JPEG_QUALITY)
                except ImageError:
                    self._jpeg = picture.jpeg
                self._of = picture.received_s, longest_px
            return self._jpeg


def _unchanged(jpeg: bytes) -> Response:
    """A picture that never changes."""
    return Response(jpeg, media_type='image/jpeg', headers=UNCHANGED_HEADERS)
