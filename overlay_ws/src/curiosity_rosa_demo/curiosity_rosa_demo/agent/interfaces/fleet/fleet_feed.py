# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Reads all robots of the fleet, once for all open pages, and only while a page is open. Runs in
the page's loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
import logging
import time

from curiosity_rosa_demo.agent.interfaces.fleet.fleet_rows import (
    ages,
    fleet_head,
    robot_row,
    Sighting,
)
from curiosity_rosa_demo.agent.interfaces.fleet.robot_client import RobotClient, RobotUnavailable
from curiosity_rosa_demo.agent.interfaces.fleet.stop_all import StopAll
from curiosity_rosa_demo.agent.interfaces.page.open_pages import (
    OpenPage,
    OpenPages,
    UPDATE_PERIOD_S,
)
from curiosity_rosa_demo.agent.interfaces.page.status_rows import PanelData

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
