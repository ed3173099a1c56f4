# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The routes of what a page shows beside those of the API's rooms: the view of now and of another
time, an event, the recordings, a rehearsal.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
import json
import math
from typing import Annotated, Any

from curiosity_rosa_demo.agent.interfaces.http.models import Body, Metadata, Name
from curiosity_rosa_demo.agent.interfaces.http.problems import Problem
from curiosity_rosa_demo.agent.interfaces.http.streams import (
    FIRST_FRAME_TIMEOUT_S,
    fresh_picture,
    jpeg_response,
)
from curiosity_rosa_demo.agent.interfaces.http.task_routes import arguments_of
from curiosity_rosa_demo.agent.interfaces.page.document import Document
from curiosity_rosa_demo.agent.interfaces.page.feed import MAX_LINES, PageFeed
from curiosity_rosa_demo.agent.interfaces.page.recordings import (
    Recording,
    RecordingLibrary,
    RecordingNotShown,
)
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.domain.text import visible
from curiosity_rosa_demo.infra.event_thread import run_in_thread
from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict

RecordingName = Annotated[str, Query(max_length=200, description='its file; empty: this robot')]
Moment = Annotated[
    float | None, Query(allow_inf_nan=False, description='seconds since the epoch; left out: now')
]


class NewRehearsal(Body):
    """As of a task."""

    model_config = ConfigDict(
        json_schema_extra={
            'examples': [{'name': 'navigate_to_pose', 'metadata': {'x': 6.5, 'y': 0.0}}]
        }
    )

    name: Name
    metadata: Metadata


class RehearsalView(BaseModel):
    """``refusal``: why the order would be refused now; '': it would not. ``path`` in metres."""

    refusal: str
    lines: list[str]
    path: list[list[float]]


class StoryView(BaseModel):
    """What is known of a time. ``start`` and ``end``: seconds since the epoch; ``end`` null: now.
    ``marks``: times of an error, capture, question or restart. ``note``: what is missing.
    """

    start: float | None
    end: float | None
    marks: list[list[float | str]]
    note: str


def view_routes(robot: Robot, feed: PageFeed, library: RecordingLibrary) -> APIRouter:
    router = APIRouter(tags=['view'])

    async def recording_of(name: str) -> Recording:
        try:
            return await run_in_thread('recording-reader', partial(library.open, name))
        except RecordingNotShown as error:
            raise Problem(404, str(error)) from None

    @router.get('/view')
    async def view(at: Moment = None, recording: RecordingName = '') -> Response:
        """What a page shows, now or at another time, or the nearest that is known. ``document``:
        what the other routes give, such as ``state`` and ``tasks``. ``lines``: the newest trace
        events; the last one has number ``count``. A WebSocket of the same path follows it: it
        sends all first, then what changes, as a JSON Merge Patch (RFC 7396).
        """
        live = feed.snapshot()
        if at is None:
            return _view(live.document, live.lines, live.count, ages=live.ages, now=live.now)
        if recording:
            history = (await recording_of(recording)).history
            pictures: Collection[str] = library.pictures()
        else:
            history = feed.history
            pictures = {each.event_id for each in robot.captures()}
        at = min(max(at, history.start or 0.0), max(history.end, live.now))
        document, count = history.view(at, pictures), history.lines.count_until(at)
        return _view(document, history.lines.newest(MAX_LINES, count), count)

    @router.get('/trace/{event_id}')
    async def event(event_id: Annotated[str, Path(max_length=200)]) -> TraceEvent:
        """A trace event of this robot, also from before a restart, or of a recording that is
        shown.
        """
        ours = (*robot.earlier_events(), *robot.event_bus.trace_events())
        known = (*ours, *library.events())
        found = next((each for each in reversed(known) if each.event_id == event_id), None)
        if found is None:
            raise Problem(404, 'This event is no longer kept.')
        return found

    @router.get('/recordings')
    def recordings() -> list[str]:
        """The newest recordings of the folder."""
        return library.names()

    @router.get('/recordings/{name}')
    async def recording_facts(name: Annotated[str, Path(max_length=200)]) -> StoryView:
        """What a recording holds, for ``GET /view?recording=``."""
        found = await recording_of(name)
        return StoryView(**found.history.facts(found.note, ended=True))

    @router.post('/rehearsals')
    async def rehearse(new: NewRehearsal) -> RehearsalView:
        """What a task would do by the state now. Nothing moves, and nothing is ordered."""
        found = await robot.rehearse(robot.make_task(new.name, arguments_of(new.metadata)))
        return RehearsalView(
            refusal=robot.order_refusal(new.name),
            lines=[] if found is None else list(map(visible, found.text.splitlines())),
            path=[] if found is None else [list(place) for place in found.path],
        )

    return router


def _view(document: Document, lines: Sequence[str], count: int, **more: Any) -> Response:
    text = json.dumps({'document': document, 'count': count, **more}, default=str)
    body = f'{text[:-1]},"lines":[{",".join(lines)}]}}'
    return Response(body, media_type='application/json')


# --- The pictures of the page, in its sizes; GET /camera.jpg has the whole frame ---------------


MAX_PX, STEP_PX = 4096, 64
UNCHANGED_HEADERS = {'Cache-Control': 'private, max-age=86400, immutable'}


def image_routes(
    robot: Robot, recorded_pictures: Callable[[], Mapping[str, bytes]] = dict
) -> APIRouter:
    """``recorded_pictures``: those of the captures in open recordings, by their events."""
    router = APIRouter(prefix='/page', include_in_schema=False)

    @router.get('/frame.jpg')
    async def frame(px: Annotated[int, Query(ge=1, le=MAX_PX)] = MAX_PX) -> Response:
        """The newest frame of the camera, its longer side at most ``px``, rounded up to a multiple
        of STEP_PX; a JPEG of the camera that is not much larger comes as it is. 204 if there is
        none, which is no error of the page.
        """
        try:
            size = STEP_PX * math.ceil(px / STEP_PX)
            picture = await fresh_picture(robot, FIRST_FRAME_TIMEOUT_S, size)
        except Problem as problem:
            return Response(status_code=204, headers={'X-Problem': problem.detail})
        return jpeg_response(picture, picture.at)

    @router.get('/captures/{event_id}.jpg')
    def capture(event_id: str) -> Response:
        """The capture of the trace event ``event_id``."""
        for each in robot.captures():
            if each.event_id == event_id:
                return _unchanged(each.picture.jpeg)
        if (jpeg := recorded_pictures().get(event_id)) is not None:
            return _unchanged(jpeg)
        raise Problem(404, f'There is no capture {event_id[:100]!r}, or it is no longer kept.')

    return router


def _unchanged(jpeg: bytes) -> Response:
    """A picture that never changes."""
    return Response(jpeg, media_type='image/jpeg', headers=UNCHANGED_HEADERS)
