# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The pictures of the page. These routes are not part of the API; GET /camera.jpg is."""

from __future__ import annotations

from curiosity_rosa_demo.agent.interfaces.http.camera import (
    FIRST_FRAME_TIMEOUT_S,
    wait_for_fresh_frame,
)
from curiosity_rosa_demo.agent.interfaces.http.problems import Problem
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.domain.pictures import Picture
from fastapi import APIRouter, Response


def image_routes(robot: Robot) -> APIRouter:
    router = APIRouter(prefix='/page', include_in_schema=False)

    @router.get('/frame.jpg')
    async def frame() -> Response:
        """The newest frame of the camera. 204 if there is none, which is no error of the page."""
        try:
            picture = await wait_for_fresh_frame(robot, FIRST_FRAME_TIMEOUT_S)
        except Problem as problem:
            return Response(status_code=204, headers={'X-Problem': problem.detail})
        headers = {'Cache-Control': 'no-store', 'X-Timestamp': f'{picture.at:.3f}'}
        return Response(picture.jpeg, media_type='image/jpeg', headers=headers)

    @router.get('/captures/{event_id}.jpg')
    def capture(event_id: str) -> Response:
        """The capture of the trace event ``event_id``."""
        for each in robot.captures():
            if each.event_id == event_id:
                return _jpeg(each.picture)
        raise Problem(404, f'There is no capture {event_id[:100]!r}, or it is no longer kept.')

    @router.get('/ground/{event_id}.jpg')
    def ground(event_id: str) -> Response:
        """The annotated picture of the newest analysis, whose trace event is ``event_id``."""
        newest = robot.ground()
        if newest is None or newest.event_id != event_id or newest.picture is None:
            raise Problem(
                404, f'There is no analysis {event_id[:100]!r}, or it is not the newest.'
            )
        return _jpeg(newest.picture)

    return router


def _jpeg(picture: Picture) -> Response:
    """A picture that never changes."""
    headers = {'Cache-Control': 'private, max-age=86400, immutable'}
    return Response(picture.jpeg, media_type='image/jpeg', headers=headers)
