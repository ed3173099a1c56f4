# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The NiceGUI page on the server of the HTTP API. A browser loads no file from other servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
import logging
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.agent.interfaces.http.guard import FLEET_PAGE
from curiosity_rosa_demo.agent.interfaces.page.controller import PageController
from curiosity_rosa_demo.agent.interfaces.page.drawings import DrawingCache
from curiosity_rosa_demo.agent.interfaces.page.feed import PageFeed
from curiosity_rosa_demo.agent.interfaces.page.history import HistoryFile
from curiosity_rosa_demo.agent.interfaces.page.images import image_routes
from curiosity_rosa_demo.agent.interfaces.page.layout import Page
from curiosity_rosa_demo.agent.interfaces.page.past_view import RecordingLibrary
from curiosity_rosa_demo.agent.interfaces.page.time_view import TimeView
from curiosity_rosa_demo.agent.interfaces.page.timeline import TalkLines
from curiosity_rosa_demo.agent.interfaces.terminal.commands import with_templates
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.agent.tasks import SkillRunner
from curiosity_rosa_demo.infra.config.topics import Config
from fastapi import FastAPI
from nicegui import Client, core, ui
from starlette.routing import Match, Mount
from starlette.types import Scope

TITLE = 'Curiosity ROSA'
RECONNECT_S = 5.0  # a page that was disconnected for longer is built anew
PAGE_PATHS = ('/', '/favicon.ico')
PAGE_FOLDERS = ('/_nicegui/', '/_nicegui_ws/')

_log = logging.getLogger('curiosity_rosa.page')


class PageMount(Mount):
    """Matches only ``paths`` and the library's own. The API answers 404 for all others."""

    def __init__(self, *paths: str) -> None:
        super().__init__('/', app=core.app)
        self._paths = paths

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        path = scope.get('path', '')
        if (path in self._paths and scope.get('method') == 'GET') or path.startswith(PAGE_FOLDERS):
            return super().matches(scope)
        return Match.NONE, {}


def add_page(
    app: FastAPI,
    robot: Robot,
    runner: SkillRunner,
    config: Config,
    *,
    history: Path | None = None,
    recordings: Path | None = None,
) -> None:
    """Mount the page at ``/``. Call it before the server starts. ``http/guard.py`` controls the
    access and the sessions.

    NiceGUI has one application per process, so only the app of the last call has the page.
    ``history``: the file in which what the page shows outlives the agent. ``recordings``: the
    folder of the recordings that a page can show.
    """
    controller, talk_lines = PageController(robot, runner), TalkLines()
    feed = PageFeed(robot, runner, config, talk_lines, _history_file(history))
    library = RecordingLibrary(recordings)

    @ui.page('/', title=TITLE)
    def index() -> None:
        page = Page(
            controller,
            talk_lines,
            feed.snapshot(),
            TimeView(feed.story, library, DrawingCache(config)),
            camera_hz=config.agent.http.camera_hz,
            commands=with_templates(config.prompts.templates).values(),
        )

        def on_disconnect(client: Client) -> None:
            if not client.has_socket_connection:  # otherwise the client has reconnected already
                feed.remove_page(page)

        if config.agent.http.fleet:
            ui.link('All robots', FLEET_PAGE).classes('to-fleet')
        client = ui.context.client
        client.on_connect(lambda: feed.add_page(page))
        client.on_disconnect(on_disconnect)
        client.on_delete(lambda: feed.remove_page(page))

    app.include_router(image_routes(robot, library.picture))
    _record_while_serving(app, feed)
    core.app.user_middleware.clear()  # added by an earlier call, and already started
    core.app.middleware_stack = None
    # Quasar's bar runs for each frame of the camera, and has no name for a screen reader.
    core.app.config.quasar_config['loadingBar']['skipHijack'] = True
    ui.run_with(
        app,
        title=TITLE,
        dark=None,
        language='en-US',
        tailwind=False,
        reconnect_timeout=RECONNECT_S,
        show_welcome_message=False,
    )
    app.router.routes.pop()  # NiceGUI's own mount, which would match every path
    app.router.routes.append(PageMount(*PAGE_PATHS))


def _history_file(path: Path | None) -> HistoryFile | None:
    """None, too, where it cannot be written: the page then works without it."""
    try:
        return None if path is None else HistoryFile(path)
    except OSError as error:
        _log.warning('event=page_history_not_kept error=%r', str(error))
        return None


def _record_while_serving(app: FastAPI, feed: PageFeed) -> None:
    serving = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[Any]:
        async with serving(app) as state:
            recorder = asyncio.create_task(feed.record())
            try:
                yield state
            finally:
                recorder.cancel()
                await asyncio.wait([recorder])
                await feed.close()

    app.router.lifespan_context = lifespan
