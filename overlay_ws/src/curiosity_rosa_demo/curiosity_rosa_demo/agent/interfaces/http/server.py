# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The HTTP API of a SkillRunner alone, or of a whole agent.

app = create_app(runner)               # tasks; its lifespan runs the runner
app = create_app(runner, robot=robot)  # and the rover; the runner belongs to the robot's thread
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
import logging

from curiosity_rosa_demo.agent.interfaces.http import problems
from curiosity_rosa_demo.agent.interfaces.http.auth import Auth
from curiosity_rosa_demo.agent.interfaces.http.camera import camera_routes
from curiosity_rosa_demo.agent.interfaces.http.console_stream import console_routes, ConsoleHub
from curiosity_rosa_demo.agent.interfaces.http.event_stream import ConnectionSlots, EventHub
from curiosity_rosa_demo.agent.interfaces.http.host_check import CrossSiteCheck, HostCheck
from curiosity_rosa_demo.agent.interfaces.http.limits import BodyLimit, RateLimit
from curiosity_rosa_demo.agent.interfaces.http.metrics import (
    CountRequests,
    Metrics,
    metrics_routes,
)
from curiosity_rosa_demo.agent.interfaces.http.models import StatusView
from curiosity_rosa_demo.agent.interfaces.http.openapi import describe
from curiosity_rosa_demo.agent.interfaces.http.openapi import problems as may_answer
from curiosity_rosa_demo.agent.interfaces.http.readiness import not_ready_reasons
from curiosity_rosa_demo.agent.interfaces.http.robot_routes import event_routes, robot_routes
from curiosity_rosa_demo.agent.interfaces.http.session import RunnerAccess, Sessions
from curiosity_rosa_demo.agent.interfaces.http.talk import TalkLines
from curiosity_rosa_demo.agent.interfaces.http.task_routes import task_routes
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.agent.tasks import SkillRunner
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.infra.config.agent import HttpConfig
from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

STANDALONE_SETTINGS = HttpConfig(
    enabled=True,
    host='127.0.0.1',
    port=8765,
    hosts=[],
    max_body_bytes=262_144,
    max_connections=100,
    requests_per_s=50.0,
    camera_hz=10.0,
    mcp=False,
    body='',
    fleet=[],
)
HTTP_METHODS = ('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE')

_log = logging.getLogger('curiosity_rosa.http')


def create_app(
    runner: SkillRunner,
    *,
    robot: Robot | None = None,
    settings: HttpConfig | None = None,
    token: str = '',
) -> FastAPI:
    """``token``: empty if none is needed; check_binding() has the rule. ``app.state.talk`` is
    for the page. Without ``settings``, in-process test clients may use any host name; requests
    through a socket are still checked.
    """
    in_process = settings is None
    settings = settings or STANDALONE_SETTINGS
    access, metrics = RunnerAccess(runner, robot), Metrics()
    hub = EventHub(runner.event_bus)
    hubs = [hub]
    metrics.clients.set_function(lambda: len(hub.listeners))
    seats = ConnectionSlots(max(1, settings.max_connections // 2))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with access.running():
            leave = runner.event_bus.listen('HTTP metrics', metrics.traces, TraceEvent)
            try:
                yield
            finally:
                leave()
                for each in hubs:
                    each.close()

    app = FastAPI(
        title='Curiosity ROSA',
        version='1.0.0',
        description='Tasks, and the rover that carries them out.',
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.state.sessions = sessions = Sessions(token)
    app.state.talk = TalkLines()
    problems.add_handlers(app)
    routers = [
        _health_routes(access, robot),
        task_routes(access, robot),
        event_routes(hub, seats),
        metrics_routes(metrics, access, robot),
    ]
    if robot is not None:
        routers.append(robot_routes(robot, metrics))
        routers.append(camera_routes(robot, seats, settings.camera_hz))
        console_hub = ConsoleHub(robot.console_texts, robot.console_status)
        hubs.append(console_hub)
        routers.append(console_routes(console_hub, seats))
    for router in routers:
        app.include_router(router)
    app.router.routes += _method_not_allowed_routes(routers)
    describe(app)
    # The middleware that is added last is the outermost.
    app.add_middleware(Auth, token=token, sessions=sessions)
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    app.add_middleware(RateLimit, per_s=settings.requests_per_s)
    app.add_middleware(CrossSiteCheck)
    app.add_middleware(HostCheck, settings=settings, in_process=in_process)
    app.add_middleware(CountRequests, metrics=metrics)
    app.add_middleware(UnhandledErrorMiddleware)
    return app


def _health_routes(access: RunnerAccess, robot: Robot | None) -> APIRouter:
    router = APIRouter(tags=['health'])

    async def failed(runner: SkillRunner) -> str:
        return '' if runner.failed is None else str(runner.failed)

    @router.get('/healthz', responses=may_answer())
    async def alive() -> StatusView:
        """The server answers. Needs no token."""
        return StatusView(status='ok')

    @router.get('/readyz', responses=may_answer())
    async def ready() -> StatusView:
        """503 with ``reasons``: no task can be carried out, for example in SAFE or without
        adapter, simulator or rover, in a replay, or because the store has failed.
        """
        why = [] if robot is None else not_ready_reasons(robot)
        if not why and (failure := await access.call(failed)):
            why = [failure]
        if why:
            headers = {'Retry-After': '1'}
            detail = f'Not ready: {"; ".join(why)}'
            raise problems.Problem(503, detail, headers=headers, reasons=why)
        return StatusView(status='ok')

    return router


def _method_not_allowed_routes(routers: Iterable[APIRouter]) -> list[Route]:
    """Routes that answer 405 with all methods of a path, also below a mounted page."""
    known: defaultdict[str, set[str]] = defaultdict(set)
    for router in routers:
        for route in router.routes:
            if isinstance(route, Route):
                known[route.path] |= route.methods or set()
    return [
        Route(
            path,
            _method_not_allowed(methods),
            methods=[each for each in HTTP_METHODS if each not in methods],
        )
        for path, methods in known.items()
    ]


def _method_not_allowed(methods: set[str]) -> Callable[[Request], Awaitable[Response]]:
    allowed = ', '.join(sorted(methods))

    async def refuse(request: Request) -> Response:
        detail = f'{request.url.path} takes {allowed}, not {request.method[:20]}.'
        raise problems.Problem(405, detail, headers={'Allow': allowed})

    return refuse


class UnhandledErrorMiddleware:
    """Middleware: answers an unexpected exception with a plain problem and logs it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception as error:
            if scope['type'] != 'http':
                raise
            _log.exception('event=request_failed path=%r error=%r', scope['path'], error)
            if not started:
                detail = 'An internal error, which the log of the agent tells.'
                await problems.refuse(scope, receive, send, 500, detail)
