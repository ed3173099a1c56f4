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
from pathlib import Path
import time

from curiosity_rosa_demo.agent.interfaces.fleet.robot_client import (
    HttpRobotClient,
    NewestFrame,
    result_text,
    RobotClient,
    RobotState,
    RobotUnavailable,
    StopAll,
    StopResult,
    summary,
)
from curiosity_rosa_demo.agent.interfaces.http.guard import FLEET_PAGE, FLEET_STOP_PATH
from curiosity_rosa_demo.agent.interfaces.http.problems import Problem, problems
from curiosity_rosa_demo.agent.interfaces.http.task_routes import Operator
from curiosity_rosa_demo.agent.interfaces.page.head_rows import battery_row, wheels_text
from curiosity_rosa_demo.agent.interfaces.page.layout import head_html
from curiosity_rosa_demo.agent.interfaces.page.open_pages import (
    BrowserSettings,
    OpenPage,
    OpenPages,
    UPDATE_PERIOD_S,
)
from curiosity_rosa_demo.agent.interfaces.page.page import PageMount
from curiosity_rosa_demo.agent.interfaces.page.panels import ConnectionMonitor, Panel
from curiosity_rosa_demo.agent.interfaces.page.status_rows import clipped, PanelData
from curiosity_rosa_demo.domain.brain_state import BrainState, Mode
from curiosity_rosa_demo.domain.origin import operator_name
from curiosity_rosa_demo.drawing.columns import clip_columns
from curiosity_rosa_demo.infra.config.topics import Config
from fastapi import APIRouter, FastAPI, Response
from nicegui import Client, ui
from nicegui.events import GenericEventArguments
from pydantic import BaseModel

# --- The robots of the fleet as JSON for the page. Pure. Durations are in seconds --------------


LOST_S = 4.0  # without an answer: two reads, each at its time-out, are longer
MAX_TASK_COLUMNS = 80


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
        return None if self.state is None else max(0.0, now - self.state.at)


def robot_row(sighting: Sighting, stop: StopResult | None, now: float) -> PanelData:
    """``now``: steady seconds. A lost robot keeps its last state, which the page marks."""
    state = sighting.state
    return {
        'name': sighting.name,
        'url': f'{sighting.url}/',
        'link': sighting.link(now).value,
        'failure': clipped(sighting.failure),
        'stop': None if stop is None else {'ok': stop.ok, 'text': clipped(result_text(stop))},
        'age': f'robot:{sighting.name}',
        'limit': LOST_S,
        **({} if state is None else _state_data(state)),
    }


def _state_data(state: RobotState) -> PanelData:
    brain = state.brain
    return {
        'mode': brain.tasks.mode.value,
        'doing': clip_columns(_doing(brain) or state.not_ready, MAX_TASK_COLUMNS),
        'facts': _facts(brain),
        'questions': [clipped(each.text) for each in state.questions],
    }


def _doing(brain: BrainState) -> str:
    """The task that runs, or why the robot is in this mode."""
    tasks = brain.tasks
    active = next((each for each in tasks.queue if each.task_id == tasks.active_task_id), None)
    return tasks.mode_reason if active is None or tasks.mode is Mode.SAFE else active.goal


def _facts(brain: BrainState) -> list[PanelData]:
    robot = brain.robot
    battery = battery_row(brain, {})
    wheels_silent = 'odometry' in robot.silent
    rows = [
        ('Wheels', f'{wheels_text(brain)}{", odometry silent" * wheels_silent}', wheels_silent),
        ('Battery', battery['text'], battery['bad'] or 'battery' in robot.silent),
        ('Mast', robot.mast, False),
    ]
    if robot.estop:
        rows.append(('E-stop', 'PRESSED', True))
    return [{'name': name, 'text': clipped(text), 'bad': bad} for name, text, bad in rows]


def fleet_head(sightings: Sequence[Sighting], now: float) -> PanelData:
    """What stands above all robots: counts, and what calls a person."""
    live = [each for each in sightings if each.link(now) is Link.LIVE]
    lost = sum(each.link(now) is Link.LOST for each in sightings)
    states = [each.state for each in live if each.state is not None]
    safe = sum(each.brain.tasks.mode is Mode.SAFE for each in states)
    questions = sum(len(each.questions) for each in states)
    return {
        'robots': len(sightings),
        'live': len(live),
        'lost': lost,
        'safe': safe,
        'questions': questions,
    }


def ages(sightings: Sequence[Sighting], now: float) -> Mapping[str, float | None]:
    return {f'robot:{each.name}': each.age_s(now) for each in sightings}


# -----------------------------------------------------------------------------------------------
# Reads all robots of the fleet, once for all open pages, and only while a page is open. Runs in
# the page's loop.


READ_PERIOD_S = 1.0

_log = logging.getLogger('curiosity_rosa.page')


@dataclass(frozen=True)
class FleetSnapshot:
    """``rows``: by robot; an unchanged one stays the same object. ``now``: seconds since the
    epoch; ``clock``: steady seconds.
    """

    head: PanelData
    rows: Mapping[str, PanelData]
    ages: Mapping[str, float | None]
    now: float
    clock: float


class FleetFeed:
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
        self._readers: list[asyncio.Task[None]] = []
        self._pages = OpenPages(self.snapshot)
        self._head: PanelData = {}
        self._rows: dict[str, PanelData] = {}
        self._last: FleetSnapshot | None = None

    def add_page(self, page: OpenPage[FleetSnapshot]) -> None:
        self._pages.add(page)
        if all(each.done() for each in self._readers):
            loop = asyncio.get_running_loop()
            self._readers = [loop.create_task(self._read(each)) for each in self._robots]

    def remove_page(self, page: OpenPage[FleetSnapshot]) -> None:
        self._pages.remove(page)
        if not len(self._pages):
            for reader in self._readers:
                reader.cancel()
            self._readers = []

    def snapshot(self) -> FleetSnapshot:
        """At most UPDATE_PERIOD_S old."""
        clock = time.monotonic()
        if self._last is not None and clock - self._last.clock <= UPDATE_PERIOD_S:
            return self._last
        sightings, results = list(self._sightings.values()), self._stops.results()
        for each in sightings:
            row = robot_row(each, results.get(each.name), clock)
            if self._rows.get(each.name) != row:
                self._rows[each.name] = row
        head = fleet_head(sightings, clock)
        self._head = self._head if self._head == head else head
        known = {
            name: None if age is None else round(age, 2)
            for name, age in ages(sightings, clock).items()
        }
        self._last = FleetSnapshot(self._head, dict(self._rows), known, time.time(), clock)
        return self._last

    async def _read(self, robot: RobotClient) -> None:
        """Read one robot again and again: its time-outs delay no other."""
        while True:
            began = time.monotonic()
            before = self._sightings[robot.name]
            try:
                state = await robot.read()
                self._sightings[robot.name] = replace(before, state=state, failure='')
            except RobotUnavailable as error:
                self._sightings[robot.name] = replace(before, failure=str(error))
            except Exception:  # the next read may succeed
                _log.exception('event=fleet_robot_not_read robot=%s', robot.name)
                failure = 'it could not be read; the log of this agent says more'
                self._sightings[robot.name] = replace(before, failure=failure)
            wait_s = self._read_period_s - (time.monotonic() - began)
            await asyncio.sleep(max(self._read_period_s / 4, wait_s))


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

    @router.post(FLEET_STOP_PATH, responses=problems())
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


TITLE = 'Curiosity ROSA: fleet'
SCRIPTS = (
    'link.js',
    'browser_settings.js',
    'stop.js',
    'alert.js',
    'attention.js',
    'panels.js',
)
_STATIC = Path(__file__).parent / 'static'


class FleetHead(Panel, component='components/fleet_head.js'): ...


class FleetRobotPanel(Panel, component='components/fleet_robot.js'): ...


class FleetPage:
    """The page of one browser tab."""

    def __init__(self, snapshot: FleetSnapshot, stops: StopAll) -> None:
        self._stops, self._operator = stops, ''
        ui.add_head_html(head_html(SCRIPTS, _static('fleet.css')))
        ui.add_body_html(_static('frame.html'))
        ui.context.client.content.classes(replace='page fleet')
        self._head = FleetHead()
        self._robots: dict[str, FleetRobotPanel] = {}
        with ui.element('div').classes('robots'):
            for name in snapshot.rows:
                self._robots[name] = FleetRobotPanel()
                self._robots[name].props['robots'] = len(snapshot.rows)
        BrowserSettings().on('operator', self._on_operator)
        self._pulse = ConnectionMonitor()
        self._pulse.on('stop', self._on_stop).on('echo', self._on_echo)
        self._head.set(snapshot.head)
        for name, panel in self._robots.items():
            panel.set(snapshot.rows[name])
        self._sent = snapshot

    def update(self, snapshot: FleetSnapshot, pages: int) -> None:
        if snapshot.head is not self._sent.head:
            self._head.set(snapshot.head)
        for name, panel in self._robots.items():
            if snapshot.rows[name] is not self._sent.rows[name]:
                panel.set(snapshot.rows[name])
        self._sent = snapshot
        beat = {
            'clock': snapshot.clock,
            'now': snapshot.now,
            'ages': dict(snapshot.ages),
            'pages': pages,
        }
        self._pulse.run_method('beat', beat)

    def _on_operator(self, event: GenericEventArguments) -> None:
        self._operator = operator_name(event.args)

    async def _on_stop(self) -> None:
        """Through the socket; the page first tries POST /fleet/stop."""
        results = await self._stops.stop(self._operator)
        ok = all(each.ok for each in results.values())
        self._pulse.run_method('stopped', ok, summary(results))

    def _on_echo(self, event: GenericEventArguments) -> None:
        """The page measures the round trip."""
        self._pulse.run_method('echoed', event.args if isinstance(event.args, float | int) else 0)


def add_fleet(app: FastAPI, config: Config) -> None:
    """Serve the page and its routes in ``app``. Call it after ``add_page``."""
    robots: Sequence[RobotClient] = [HttpRobotClient(each) for each in config.agent.http.fleet]
    stops = StopAll(robots)
    feed = FleetFeed(robots, stops)

    @ui.page(FLEET_PAGE, title=TITLE)
    def fleet() -> None:
        page = FleetPage(feed.snapshot(), stops)

        def on_disconnect(client: Client) -> None:
            if not client.has_socket_connection:  # otherwise the client has reconnected already
                feed.remove_page(page)

        client = ui.context.client
        client.on_connect(lambda: feed.add_page(page))
        client.on_disconnect(on_disconnect)
        client.on_delete(lambda: feed.remove_page(page))

    app.include_router(fleet_routes(robots, stops))
    app.router.routes.append(PageMount(FLEET_PAGE))


def _static(name: str) -> str:
    return (_STATIC / name).read_text(encoding='utf-8')
