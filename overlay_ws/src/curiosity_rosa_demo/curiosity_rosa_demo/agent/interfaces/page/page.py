# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page on the server of the HTTP API: static files, and the routes on which they live. A
browser loads no file from other servers.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
import hashlib
import logging
from pathlib import Path

from curiosity_rosa_demo.agent.interfaces.http.problems import Problem
from curiosity_rosa_demo.agent.interfaces.page.feed import PageFeed
from curiosity_rosa_demo.agent.interfaces.page.history import HistoryFile
from curiosity_rosa_demo.agent.interfaces.page.recordings import RecordingLibrary
from curiosity_rosa_demo.agent.interfaces.page.routes import image_routes, view_routes
from curiosity_rosa_demo.agent.interfaces.page.views import Views
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.domain.origin import caller_text, PAGE_CLIENT
from curiosity_rosa_demo.drawing.svg import css
from curiosity_rosa_demo.infra.config.topics import Config
from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

WEB = Path(__file__).parent / 'web'
# The part of the page that loads first, and in it: STOP, and the check of the connection.
HEAD_SCRIPTS = ('link', 'browser_settings', 'stop', 'alert', 'attention', 'panels')
PAGE = """<!doctype html>
<html lang="en-US" data-view="{view}"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<style>{style}</style>{scripts}{preloads}</head>
<body>{frame}<main id="app" class="page{kind}"></main>
<script type="module" src="{app}"></script></body></html>
"""
POLICY = (
    "default-src 'none'; script-src 'self' {scripts}; style-src {style}; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)

_log = logging.getLogger('curiosity_rosa.page')


class PageFiles:
    """Their address has their version, so that no browser uses old ones after an update."""

    def __init__(self) -> None:
        found = sorted(each for each in WEB.rglob('*') if each.suffix == '.js')
        self._files = {str(each.relative_to(WEB)): each.read_bytes() for each in found}
        version = hashlib.sha256(b''.join(self._files.values())).hexdigest()
        self.folder = f'/static/{version[:12]}'

    @property
    def preloads(self) -> str:
        """Links for what the page imports, so that no file waits for another one."""
        return ''.join(
            f'<link rel="modulepreload" href="{self.folder}/{name}">'
            for name in self._files
            if '/' in name and not name.startswith('head/')
        )

    async def serve(self, request: Request) -> Response:
        body = self._files.get(request.path_params['name'])
        if body is None:
            raise Problem(404, 'The page has no such file; reload it.')
        headers = {'Cache-Control': 'private, max-age=31536000, immutable'}
        return Response(body, media_type='text/javascript', headers=headers)


def page_html(
    files: PageFiles, name: str, *, title: str, view: str, frame: str
) -> Callable[[Request], Awaitable[Response]]:
    """The page that ``NAME.js`` draws, with its content security policy, as an endpoint."""
    styles = ('page.css',) if name == 'app' else ('page.css', f'{name}.css')
    style = css() + ''.join(map(_text, styles))
    scripts = [_text(f'head/{each}.js') for each in HEAD_SCRIPTS]
    text = PAGE.format(
        view=view,
        title=title,
        style=style,
        scripts=''.join(f'<script>{each}</script>' for each in scripts),
        frame=_text(frame),
        kind='' if name == 'app' else f' {name}',
        preloads=files.preloads,
        app=f'{files.folder}/{name}.js',
    )
    policy = POLICY.format(scripts=' '.join(map(_hash, scripts)), style=_hash(style))
    headers = {'Content-Security-Policy': policy, 'Cache-Control': 'no-store'}

    async def page(request: Request) -> Response:
        return HTMLResponse(text, headers=headers)

    return page


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _text(name: str) -> str:
    return (WEB / name).read_text(encoding='utf-8')


def add_page(
    app: FastAPI,
    robot: Robot,
    config: Config,
    *,
    history: Path | None = None,
    recordings: Path | None = None,
) -> None:
    """Serve the page at ``/``. Call it before the server starts. ``http/guard.py`` controls the
    access and the sessions.

    ``history``: the file in which what the page shows outlives the agent. ``recordings``: the
    folder of the recordings that a page can show.
    """
    feed = PageFeed(robot, config, app.state.talk, _history_file(history))
    library = RecordingLibrary(recordings)
    views = Views(
        feed.snapshot,
        lambda name: asyncio.wrap_future(robot.stop(caller_text(PAGE_CLIENT, name))),
    )
    files = PageFiles()
    page = page_html(files, 'app', title='Curiosity ROSA', view='/view', frame='frame.html')
    app.add_route('/', page, include_in_schema=False)
    app.add_route(files.folder + '/{name:path}', files.serve, include_in_schema=False)
    app.add_api_websocket_route('/view', views.follow)
    app.include_router(view_routes(robot, feed, library))
    app.include_router(image_routes(robot, library.pictures))

    @asynccontextmanager
    async def recording(_: FastAPI) -> AsyncIterator[None]:
        recorder = asyncio.create_task(feed.record())
        try:
            yield
        finally:
            recorder.cancel()
            await asyncio.wait([recorder])
            await feed.close()

    app.include_router(APIRouter(lifespan=recording))


def _history_file(path: Path | None) -> HistoryFile | None:
    """None, too, where it cannot be written: the page then works without it."""
    try:
        return None if path is None else HistoryFile(path)
    except OSError as error:
        _log.warning('event=page_history_not_kept error=%r', str(error))
        return None
