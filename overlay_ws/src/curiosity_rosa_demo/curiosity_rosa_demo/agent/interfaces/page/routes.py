# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The routes of what a page shows beside those of the API's rooms: the view of now and of another
time, one task in full, an event, the recordings, a rehearsal.
"""

from __future__ import annotations

from functools import partial
import json
from typing import Annotated, Any

from curiosity_rosa_demo.agent.interfaces.http.models import Body, Metadata, Name
from curiosity_rosa_demo.agent.interfaces.http.problems import Problem
from curiosity_rosa_demo.agent.interfaces.http.task_routes import arguments_of, TaskId
from curiosity_rosa_demo.agent.interfaces.page.drawings import DrawingCache, drawn
from curiosity_rosa_demo.agent.interfaces.page.feed import PageFeed
from curiosity_rosa_demo.agent.interfaces.page.past_view import (
    RecordingLibrary,
    RecordingNotShown,
    Story,
)
from curiosity_rosa_demo.agent.interfaces.page.status_rows import rehearsal_lines
from curiosity_rosa_demo.agent.interfaces.page.view_model import PageSnapshot
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.infra.event_thread import run_in_thread
from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict

Recording = Annotated[str, Query(max_length=200, description='its file; empty: this robot')]
Moment = Annotated[
    float | None, Query(allow_inf_nan=False, description='seconds since the epoch; left out: now')
]
Looks = Annotated[
    str,
    Query(
        max_length=2000,
        description='how to draw: {"map": {"width": 480, "height": 400}}, in pixels; also plot, '
        'times and steps. Of the map also x, y (metres) and scale (pixels a metre)',
    ),
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


def view_routes(
    robot: Robot, feed: PageFeed, library: RecordingLibrary, drawings: DrawingCache
) -> APIRouter:
    """``drawings``: of other times."""
    router = APIRouter(tags=['view'])

    async def story_of(name: str) -> Story:
        if not name:
            return feed.story
        try:
            return await run_in_thread('recording-reader', partial(library.open, name))
        except RecordingNotShown as error:
            raise Problem(404, str(error)) from None

    @router.get('/view')
    async def view(at: Moment = None, recording: Recording = '', looks: Looks = '{}') -> Response:
        """What a page shows, ready to be read, now or at another time. A WebSocket of the same
        path follows it: it sends all first, then what changes.
        """
        shown = feed.snapshot()
        if at is not None:
            shown = (await story_of(recording)).view(at, shown, drawings)
        return Response(_document(shown, looks), media_type='application/json')

    @router.get('/view/tasks/{task_id}')
    async def task(task_id: TaskId) -> dict[str, Any]:
        """One of the newest tasks in full: its plan, progress, captures and history."""
        if (found := await feed.detail(task_id)) is None:
            raise Problem(404, f'There is no task {task_id[:100]!r} among the newest.')
        return found

    @router.get('/trace/{event_id}')
    async def event(event_id: Annotated[str, Path(max_length=200)]) -> TraceEvent:
        """A trace event of this robot, also from before a restart, or of a recording that is
        shown.
        """
        known = (*feed.story.events(), *library.events())
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
        story = await story_of(name)
        facts = story.history.facts(story.note, ended=True)
        return StoryView(**{**facts, 'marks': [list(each) for each in facts['marks']]})

    @router.post('/rehearsals')
    async def rehearse(new: NewRehearsal) -> RehearsalView:
        """What a task would do by the state now. Nothing moves, and nothing is ordered."""
        found = await robot.rehearse(robot.make_task(new.name, arguments_of(new.metadata)))
        return RehearsalView(
            refusal=robot.order_refusal(new.name),
            lines=rehearsal_lines(found),
            path=[] if found is None else [list(place) for place in found.path],
        )

    return router


def _document(shown: PageSnapshot, looks: str) -> str:
    try:
        given = json.loads(looks)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise Problem(422, 'looks: it must be a JSON object, such as {"map": {"width": 480}}')
    inside = ','.join(f'"{name}":{text}' for name, text in drawn(shown.drawings, given).items())
    document = {
        'parts': dict(shown.parts),
        'lines': list(shown.lines),
        'count': shown.count,
        'ages': dict(shown.ages),
        'now': shown.now,
    }
    text = json.dumps(document, default=str)
    return f'{text[:-1]}, "drawings": {{{inside}}}}}'
