# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page /fleet on the server of the HTTP API."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from enum import Enum
import time

from curiosity_rosa_demo.agent.interfaces.fleet.robot_client import (
    Newest,
    RobotClient,
    RobotStopView,
    StopAll,
    summary,
)
from curiosity_rosa_demo.agent.interfaces.http.guard import FLEET_PAGE, FLEET_STOP_PATH
from curiosity_rosa_demo.agent.interfaces.http.problems import Problem
from curiosity_rosa_demo.agent.interfaces.http.streams import jpeg_response
from curiosity_rosa_demo.agent.interfaces.http.task_routes import Operator
from curiosity_rosa_demo.agent.interfaces.page.document import Document, patched
from curiosity_rosa_demo.agent.interfaces.page.page import page_html, PageFiles
from curiosity_rosa_demo.agent.interfaces.page.views import Snapshot, Views
from curiosity_rosa_demo.domain.origin import MAX_OPERATOR_CHARS, operator_name
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.infra.config.topics import Config
from fastapi import APIRouter, FastAPI, Response
from pydantic import BaseModel

# --- The robots of the fleet as JSON for the page. Durations are in seconds ---------------------


LOST_S = 4.0  # without an answer: two reads, each at its time-out, are longer


class Link(str, Enum):
    WAITING = 'waiting'  # for the first answer
    LIVE = 'live'
    LOST = 'lost'


def link_of(known: Newest[Document], now: float) -> Link:
    if known.failure or (known.at is not None and now - known.at > LOST_S):
        return Link.LOST
    return Link.WAITING if known.at is None else Link.LIVE


def age_s(known: Newest[Document], now: float) -> float | None:
    """Of the last good answer."""
    return None if known.at is None else round(max(0.0, now - known.at), 2)


def document_of(
    robot: RobotClient, known: Newest[Document], stop: RobotStopView | None, now: float
) -> Document:
    """``now``: steady seconds. A lost robot keeps its last state, which the page marks."""
    return {
        'name': robot.name,
        'url': f'{robot.url}/',
        'link': link_of(known, now).value,
        'failure': known.failure,
        'stop': stop and stop.model_dump(),
        **(known.answer or {}),
    }


# --- Reads all robots, once for all open pages, and only while a page is open ------------------


READ_PERIOD_S = 1.0


class FleetFeed:
    """Reads the robots while snapshots are taken; the time-out of one delays no other."""

    def __init__(
        self,
        robots: Sequence[RobotClient],
        stops: StopAll,
        *,
        read_period_s: float = READ_PERIOD_S,
    ) -> None:
        self._stops = stops
        self._known = [(each, Newest(each.name, each.read, read_period_s)) for each in robots]

    def snapshot(self) -> Snapshot:
        clock, results = time.monotonic(), self._stops.results()
        for _, known in self._known:
            known.request()
        robots = {
            robot.name: document_of(robot, known, results.get(robot.name), clock)
            for robot, known in self._known
        }
        shown = {'name_chars': MAX_OPERATOR_CHARS, 'limit_s': LOST_S, 'robots': robots}
        ages = {f'robot:{robot.name}': age_s(known, clock) for robot, known in self._known}
        return Snapshot(patched({}, shown), ages, time.time(), clock)


# --- POST /fleet/stop, and the pictures of the page /fleet -------------------------------------


FRAME_PERIOD_S = 1.0
WAIT_S = 1.0  # a page does not wait longer; the next request finds what has come
MAX_AGE_S = 10.0  # an older frame is not shown at all


class FleetStopView(BaseModel):
    ok: bool
    answer: str
    robots: list[RobotStopView]


def fleet_routes(robots: Sequence[RobotClient], stops: StopAll) -> APIRouter:
    router = APIRouter(tags=['fleet'])
    frames = {each.name: Newest(each.name, each.frame, FRAME_PERIOD_S) for each in robots}

    @router.post(FLEET_STOP_PATH)
    async def stop(operator: Operator = '') -> FleetStopView:
        """Stop all robots of the fleet at once. The response comes when each has answered or its
        time is over. 503: not all have confirmed; ``robots`` has the result of each.
        """
        results = await stops.stop(operator)
        robots = [*results.values()]
        if not all(each.ok for each in robots):
            raise Problem(503, summary(results), robots=[each.model_dump() for each in robots])
        return FleetStopView(ok=True, answer=summary(results), robots=robots)

    @router.get('/fleet/{name}/frame.jpg', include_in_schema=False)
    async def frame(name: str) -> Response:
        """The newest frame of the robot. 204 if there is none, which is no error of the page."""
        if (newest := frames.get(name)) is None:
            raise Problem(404, f'No robot {name[:100]!r}; the fleet has {", ".join(frames)}')
        await asyncio.wait([newest.request()], timeout=WAIT_S)
        found = newest.answer
        if found is None or time.monotonic() - found.received_s > MAX_AGE_S:
            problem = newest.failure or 'no picture yet'
            return Response(status_code=204, headers={'X-Problem': problem})
        return jpeg_response(found, found.at)

    return router


def add_fleet(app: FastAPI, config: Config) -> None:
    """Serve the page and its routes in ``app``. Call it after ``add_page``."""
    robots: Sequence[RobotClient] = [RobotClient(each) for each in config.agent.http.fleet]
    stops = StopAll(robots)

    async def stop(operator: str) -> Outcome:
        results = await stops.stop(operator_name(operator))
        return Outcome(all(each.ok for each in results.values()), summary(results))

    title, view = 'Curiosity ROSA: fleet', '/fleet/view'
    page = page_html(PageFiles(), 'fleet', title=title, view=view, frame='fleet_frame.html')
    app.add_route(FLEET_PAGE, page, include_in_schema=False)
    app.add_api_websocket_route(
        '/fleet/view', Views(FleetFeed(robots, stops).snapshot, stop).follow
    )
    app.include_router(fleet_routes(robots, stops))
