# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rover's camera: a single JPEG, or an MJPEG stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
import time

from curiosity_rosa_demo.agent.interfaces.http.event_stream import (
    ConnectionSlots,
    StreamingResponse,
)
from curiosity_rosa_demo.agent.interfaces.http.openapi import media_type_response, problems
from curiosity_rosa_demo.agent.interfaces.http.problems import Problem
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.domain.pictures import Picture
from fastapi import APIRouter, Response

FIRST_FRAME_TIMEOUT_S = 2.0  # the first request switches the camera on
MAX_FRAME_AGE_S = 2.0
POLL_PERIOD_S = 0.05
BOUNDARY = 'frame'
MJPEG_TYPE = f'multipart/x-mixed-replace; boundary={BOUNDARY}'


class FrameStream:
    """Yields each new picture once, at most ``hz`` per second. Never queues a picture."""

    def __init__(self, robot: Robot, hz: float) -> None:
        self.is_closed = asyncio.Event()
        self._robot, self._period_s = robot, 1.0 / hz

    async def chunks(self) -> AsyncIterator[bytes]:
        shown = float('-inf')
        while True:
            picture = self._robot.picture()
            if (
                picture is not None
                and picture.received_s > shown
                and _age_s(picture) <= MAX_FRAME_AGE_S
            ):
                shown = picture.received_s
                yield multipart_chunk(picture)
            await asyncio.sleep(self._period_s)

    def close(self) -> None:
        pass


def multipart_chunk(picture: Picture) -> bytes:
    """One part of the stream. ``X-Timestamp``: time of arrival in seconds since the epoch."""
    head = (
        f'--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(picture.jpeg)}\r\n'
        f'X-Timestamp: {picture.at:.3f}\r\n\r\n'
    )
    return head.encode() + picture.jpeg + b'\r\n'


async def wait_for_fresh_frame(robot: Robot, wait_s: float) -> Picture:
    """A picture that is at most MAX_FRAME_AGE_S old. Raises Problem after ``wait_s``."""
    until = time.monotonic() + wait_s
    while True:
        picture = robot.picture()
        if picture is not None and _age_s(picture) <= MAX_FRAME_AGE_S:
            return picture
        if time.monotonic() >= until:
            break
        await asyncio.sleep(POLL_PERIOD_S)
    why = 'has come' if picture is None else f'but one that is {_age_s(picture):.0f} s old'
    raise Problem(
        503, f'No picture of the camera {why}; is it switched on?', headers={'Retry-After': '2'}
    )


def _age_s(picture: Picture) -> float:
    return time.monotonic() - picture.received_s


def camera_routes(
    robot: Robot, seats: ConnectionSlots, hz: float, *, wait_s: float = FIRST_FRAME_TIMEOUT_S
) -> APIRouter:
    router = APIRouter(tags=['camera'])

    @router.get(
        '/camera.jpg',
        response_class=Response,
        responses={**media_type_response('image/jpeg'), **problems()},
    )
    async def jpeg() -> Response:
        """The newest picture. 503: no picture arrived within the last seconds."""
        picture = await wait_for_fresh_frame(robot, wait_s)
        headers = {'Cache-Control': 'no-store', 'X-Timestamp': f'{picture.at:.3f}'}
        return Response(picture.jpeg, media_type='image/jpeg', headers=headers)

    @router.get(
        '/camera.mjpg',
        response_class=Response,
        responses={**media_type_response('multipart/x-mixed-replace'), **problems()},
    )
    async def mjpeg() -> StreamingResponse:
        """A stream of pictures. A slow client gets fewer."""
        await wait_for_fresh_frame(robot, wait_s)
        return StreamingResponse(lambda: FrameStream(robot, hz), MJPEG_TYPE, seats)

    return router
