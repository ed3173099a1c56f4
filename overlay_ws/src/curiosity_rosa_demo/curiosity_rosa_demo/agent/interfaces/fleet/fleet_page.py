# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page /fleet on the server of the HTTP API."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from curiosity_rosa_demo.agent.interfaces.fleet.fleet_feed import FleetFeed, FleetSnapshot
from curiosity_rosa_demo.agent.interfaces.fleet.fleet_routes import fleet_routes
from curiosity_rosa_demo.agent.interfaces.fleet.robot_client import HttpRobotClient, RobotClient
from curiosity_rosa_demo.agent.interfaces.fleet.stop_all import StopAll, summary
from curiosity_rosa_demo.agent.interfaces.http.auth import FLEET_PAGE
from curiosity_rosa_demo.agent.interfaces.page.browser_settings import BrowserSettings
from curiosity_rosa_demo.agent.interfaces.page.layout import head_html
from curiosity_rosa_demo.agent.interfaces.page.page import PageMount
from curiosity_rosa_demo.agent.interfaces.page.panels import ConnectionMonitor, Panel
from curiosity_rosa_demo.domain.caller import operator_name
from curiosity_rosa_demo.infra.config.contracts import Config
from fastapi import FastAPI
from nicegui import Client, ui
from nicegui.events import GenericEventArguments

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
