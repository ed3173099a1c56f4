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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
import logging
import time

from curiosity_rosa_demo.agent.interfaces.fleet.robot_client import (
    NewestFrame,
    RobotClient,
    RobotState,
    RobotUnavailable,
    StopAll,
    StopResult,
    summary,
)
from curiosity_rosa_demo.agent.interfaces.http.guard import FLEET_PAGE, FLEET_STOP_PATH
from curiosity_rosa_demo.agent.interfaces.http.problems import Problem
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


@dataclass(frozen=True)
class Sighting:
    """What is known of a robot. ``state``: the last good answer. ``failure``: why the newest read
    failed; '' if it did not.
    """

    name: str
    url: str
    state: RobotState | None = None
    failure: str = ''

    def link(self, now: float) -> Link:
        if self.failure or (self.state is not None and now - self.state.at > LOST_S):
            return Link.LOST
        return Link.WAITING if self.state is None else Link.LIVE

    def age_s(self, now: float) -> float | None:
        """Of the last good answer."""
        return None if self.state is None else round(max(0.0, now - self.state.at), 2)

    def document(self, stop: StopResult | None, now: float) -> Document:
        """``now``: steady seconds. A lost robot keeps its last state, which the page marks."""
        known: Document = {} if self.state is None else self.state.shown
        return {
            'name': self.name,
            'url': f'{self.url}/',
            'link': self.link(now).value,
            'failure': self.failure,
            'stop': stop and RobotStopView.of(self.name, stop).model_dump(),
            **known,
        }


# --- Reads all robots, once for all open pages, and only while a page is open ------------------


READ_PERIOD_S = 1.0

_log = logging.getLogger('curiosity_rosa.page')


class FleetFeed:
    """Reads the robots while snapshots are taken; the time-out of one delays no other."""

    def __init__(
        self,
        robots: Sequence[RobotClient],
        stops: StopAll,
        *,
        read_period_s: float = READ_PERIOD_S,
    ) -> None:
        self._robots, self._stops = robots, stops
        self._read_period_s = read_period_s
        self._sightings = {each.name: Sighting(each.name, each.url) for each in robots}
        self._reads: dict[str, tuple[float, asyncio.Task[None]]] = {}  # the newest, and its start

    def snapshot(self) -> Snapshot:
        clock = time.monotonic()
        for robot in self._robots:
            began, reading = self._reads.get(robot.name, (float('-inf'), None))
            if clock - began >= self._read_period_s and (reading is None or reading.done()):
                job = asyncio.get_running_loop().create_task(self._read(robot))
                self._reads[robot.name] = (clock, job)
        results, sightings = self._stops.results(), self._sightings
        robots = {
            name: each.document(results.get(name), clock) for name, each in sightings.items()
        }
        shown = {'name_chars': MAX_OPERATOR_CHARS, 'limit_s': LOST_S, 'robots': robots}
        ages = {f'robot:{name}': each.age_s(clock) for name, each in sightings.items()}
        return Snapshot(patched({}, shown), ages, time.time(), clock)

    async def _read(self, robot: RobotClient) -> None:
        before = self._sightings[robot.name]
        try:
            after = replace(before, state=await robot.read(), failure='')
        except RobotUnavailable as error:
            after = replace(before, failure=str(error))
        except Exception:  # the next read may succeed
            _log.exception('event=fleet_robot_not_read robot=%s', robot.name)
            after = replace(
                before, failure='it could not be read; the log of this agent says more'
            )
        self._sightings[robot.name] = after


# --- POST /fleet/stop, and the pictures of the page /fleet -------------------------------------


class RobotStopView(BaseModel):
    name: str
    ok: bool
    answer: str
    took_ms: int

    @classmethod
    def of(cls, name: str, result: StopResult) -> RobotStopView:
        took_ms = round(1000 * result.took_s)
        return cls(name=name, ok=result.ok, answer=result.answer, took_ms=took_ms)


class FleetStopView(BaseModel):
    ok: bool
    answer: str
    robots: list[RobotStopView]


def fleet_routes(robots: Sequence[RobotClient], stops: StopAll) -> APIRouter:
    router = APIRouter(tags=['fleet'])
    frames = {each.name: NewestFrame(each) for each in robots}

    @router.post(FLEET_STOP_PATH)
    async def stop(operator: Operator = '') -> FleetStopView:
        """Stop all robots of the fleet at once. The response comes when each has answered or its
        time is over. 503: not all have confirmed; ``robots`` has the result of each.
        """
        results = await stops.stop(operator)
        views = _views(results)
        if not all(each.ok for each in views):
            raise Problem(503, summary(results), robots=[each.model_dump() for each in views])
        return FleetStopView(ok=True, answer=summary(results), robots=views)

    @router.get('/fleet/{name}/frame.jpg', include_in_schema=False)
    async def frame(name: str) -> Response:
        """The newest frame of the robot. 204 if there is none, which is no error of the page."""
        if (newest := frames.get(name)) is None:
            raise Problem(404, f'No robot {name[:100]!r}; the fleet has {", ".join(frames)}')
        found, why = await newest.get()
        if found is None:
            return Response(status_code=204, headers={'X-Problem': why})
        headers = {'Cache-Control': 'no-store', 'X-Timestamp': f'{found.at:.3f}'}
        return Response(found.jpeg, media_type='image/jpeg', headers=headers)

    return router


def _views(results: Mapping[str, StopResult]) -> list[RobotStopView]:
    return [RobotStopView.of(name, result) for name, result in results.items()]


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
