# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A fleet of simulated robots, each with a server of its own; the first one serves /fleet."""

from __future__ import annotations

from collections.abc import Sequence
import socket
from typing import Any

from curiosity_rosa_demo.agent.interfaces.fleet.fleet_page import add_fleet
from curiosity_rosa_demo.agent.interfaces.http.server import create_app
from curiosity_rosa_demo.agent.interfaces.http.server_thread import HttpThread
from curiosity_rosa_demo.agent.interfaces.page.images import image_routes
from curiosity_rosa_demo.agent.interfaces.page.page import add_page
from curiosity_rosa_demo.infra.config.fleet import FleetRobot
from curiosity_rosa_demo.infra.config.topics import Config
from fake_robot import CONFIG, FakeRobot


def free_ports(count: int) -> list[int]:
    listeners = [socket.create_server(('127.0.0.1', 0)) for _ in range(count)]
    ports = [int(each.getsockname()[1]) for each in listeners]
    for each in listeners:
        each.close()
    return ports


class Fleet:
    """The robots ``r1``, ``r2``, ... The page of one robot is that of the first: there is one page
    in a process.
    """

    def __init__(self, robots: Sequence[FakeRobot], token: str = '') -> None:
        self.robots, self.token = list(robots), token
        ports = free_ports(len(robots))
        urls = [f'http://127.0.0.1:{port}' for port in ports]
        fleet = [FleetRobot(name=f'r{n}', url=url) for n, url in enumerate(urls, 1)]
        http = CONFIG.agent.http.model_copy(update={'fleet': fleet})
        agent = CONFIG.agent.model_copy(update={'http': http})
        self._config: Config = CONFIG.model_copy(update={'agent': agent})
        self._threads = [self._serve(n, port) for n, port in enumerate(ports)]
        self.urls = [f'{url}/' for url in urls]
        self.url = self.urls[0]

    def _serve(self, number: int, port: int) -> HttpThread:
        settings = self._config.agent.http.model_copy(update={'port': port})

        def make() -> Any:
            robot = self.robots[number]
            app = create_app(robot.runner, robot=robot, settings=settings, token=self.token)
            if number == 0:
                add_page(app, robot, robot.runner, self._config)
                add_fleet(app, self._config)
            else:
                app.include_router(image_routes(robot))
            return app

        thread = HttpThread(make, settings)
        thread.start()
        return thread

    def end(self, name: str) -> None:
        """The server of the robot ends."""
        self._threads[int(name[1:]) - 1].close()

    def close(self) -> None:
        for each in self._threads:
            each.close()
