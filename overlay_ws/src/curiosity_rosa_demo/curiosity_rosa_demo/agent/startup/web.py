# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The HTTP API and the page of the agent: binds its port at once, serves after ``start``."""

from __future__ import annotations

from collections.abc import Callable
import os
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.server_thread import HttpThread, HttpUnavailable
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.infra.config.agent import HttpConfig, read_fleet, TOKEN_VARIABLE
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError
from curiosity_rosa_demo.infra.process import start_parameter
from pydantic import ValidationError
from rclpy.node import Node

DEFAULT_HOST = '127.0.0.1'


# By the name in http of agent.yaml: the default, which stands for that of the file, and the help.
PARAMETERS: dict[str, tuple[Any, str]] = {
    'port': (0, 'TCP port of the API and the page; 0: http.port of agent.yaml.'),
    'body': ('', "What the page calls the rover's body; empty: http.body of agent.yaml."),
    'fleet': (
        '',
        'Robots of the page /fleet, as NAME=URL,NAME=URL; empty: http.fleet of agent.yaml.',
    ),
}


def with_http_parameters(node: Node, config: Config) -> Config:
    """The configuration with the node's parameters ``http_port``, ``http_body`` and
    ``http_fleet``, if they are set. Raises ConfigError.
    """
    for name, (default, text) in PARAMETERS.items():
        given = start_parameter(node, f'http_{name}', default, text)
        if given == default:
            continue
        try:
            value = read_fleet(given) if name == 'fleet' else given
            HttpConfig.model_validate({**config.agent.http.model_dump(), name: value})
        except ValueError as error:
            why = f'parameter http_{name} = {given!r}: {_first_error(error)}'
            raise ConfigError(why) from None
        config = config.changed(agent={'http': {name: value}})
    return config


def _first_error(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors()[0]
    return f'{first["loc"][0]} {first["input"]!r}: {first["msg"]}'


def _token() -> str:
    return os.environ.get(TOKEN_VARIABLE, '').strip()  # a secret from a file ends with its line


def check_address(settings: HttpConfig) -> None:
    """Raises ConfigError when other machines could connect without a token, or it is short."""
    token = _token()
    if not settings.enabled or (settings.host == DEFAULT_HOST and not token):
        return  # the import below would delay the start
    from curiosity_rosa_demo.agent.interfaces.http.access import check_binding

    check_binding(settings, token)


class WebServer:
    """``notice`` prints a text for the operator. Without the port the agent runs without HTTP.
    ``history`` and ``recordings``: of the page.
    """

    def __init__(
        self,
        robot: Robot,
        notice: Callable[[str], None],
        *,
        history: Path | None = None,
        recordings: Path | None = None,
    ) -> None:
        self._history, self._recordings = history, recordings
        self._robot, self._config = robot, robot.config
        self._notice = notice
        self._server: HttpThread | None = None
        self.url = ''
        settings = robot.config.agent.http
        if not settings.enabled:
            return
        try:
            self._server = HttpThread(self._app, settings)
            self.url = self._server.url
        except HttpUnavailable as error:
            self._report_missing_extra(error)

    def start(self) -> None:
        """Serve from now on. Blocks during long imports; no other thread may import meanwhile."""
        try:
            if self._server is not None:
                self._server.start()
        except HttpUnavailable as error:
            self._report_missing_extra(error)

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    def _report_missing_extra(self, error: HttpUnavailable) -> None:
        self._notice(f'! The page is not available: {error}')

    def _app(self) -> Any:
        from curiosity_rosa_demo.agent.interfaces.http.server import create_app
        from curiosity_rosa_demo.agent.interfaces.page.page import add_page

        robot, config = self._robot, self._config
        app = create_app(robot, settings=config.agent.http, token=_token())
        if config.agent.http.mcp:  # a large import, so only where it is used
            from curiosity_rosa_demo.agent.interfaces.mcp.server import add_mcp

            add_mcp(app, robot, config)
        add_page(app, robot, config, history=self._history, recordings=self._recordings)
        if config.agent.http.fleet:
            from curiosity_rosa_demo.agent.interfaces.fleet.fleet_page import add_fleet

            add_fleet(app, config)
        return app
