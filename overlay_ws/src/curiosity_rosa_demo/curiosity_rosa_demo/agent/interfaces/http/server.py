# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The HTTP API of a whole agent, or of a SkillRunner alone.

app = create_app(robot)   # the rover and its tasks
app = create_app(runner)  # tasks; its lifespan runs the runner
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from functools import cache

from curiosity_rosa_demo.agent.interfaces.http.access import Sessions
from curiosity_rosa_demo.agent.interfaces.http.guard import Guard
from curiosity_rosa_demo.agent.interfaces.http.metrics import Metrics, metrics_routes
from curiosity_rosa_demo.agent.interfaces.http.models import StatusView
from curiosity_rosa_demo.agent.interfaces.http.problems import (
    add_handlers,
    describe,
    error_answers,
    Problem,
    RETRY_SOON,
)
from curiosity_rosa_demo.agent.interfaces.http.robot_routes import not_ready_reasons, robot_routes
from curiosity_rosa_demo.agent.interfaces.http.streams import (
    camera_routes,
    console_routes,
    event_routes,
    EventFeed,
    Streams,
)
from curiosity_rosa_demo.agent.interfaces.http.talk import TalkLines
from curiosity_rosa_demo.agent.interfaces.http.task_routes import task_routes
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.agent.runtime.task_port import LocalTasks, TaskPort
from curiosity_rosa_demo.agent.tasks import SkillRunner
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.infra.config.agent import HttpConfig
from curiosity_rosa_demo.infra.config_loader import load_config
from fastapi import APIRouter, FastAPI


@cache
def shipped_settings() -> HttpConfig:
    """Those of agent.yaml as it is shipped."""
    return load_config().agent.http


def create_app(
    of: Robot | SkillRunner,
    *,
    settings: HttpConfig | None = None,
    token: str = '',
) -> FastAPI:
    """``token``: empty if none is needed; check_binding() has the rule. ``app.state.talk`` is
    for the page. Without ``settings``, in-process test clients may use any host name; requests
    through a socket are still checked.
    """
    in_process = settings is None
    settings = settings or shipped_settings()
    port: Robot | LocalTasks = LocalTasks(of) if isinstance(of, SkillRunner) else of
    robot = None if isinstance(port, LocalTasks) else port
    metrics, sessions = Metrics(), Sessions(token)
    events = EventFeed(port.event_bus)
    feeds, streams = [events], Streams(max(1, settings.max_connections // 2))
    metrics.gauges['event_clients'].set_function(lambda: events.client_count)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with port.running() if isinstance(port, LocalTasks) else nullcontext():
            leave = port.event_bus.listen('HTTP metrics', metrics.traces, TraceEvent)
            try:
                yield
            finally:
                leave()
                for feed in feeds:
                    feed.close()

    app = FastAPI(
        title='Curiosity ROSA',
        version='1.0.0',
        description='Tasks, and the rover that carries them out.',
        lifespan=lifespan,
        responses=error_answers(),
        docs_url=None,
        redoc_url=None,
    )
    app.state.sessions, app.state.talk = sessions, TalkLines()
    add_handlers(app)
    routers = [
        _health_routes(port, robot),
        task_routes(port, robot),
        event_routes(events, streams),
        metrics_routes(metrics, port, robot),
    ]
    if robot is not None:
        feeds.append(EventFeed(robot.console_texts, robot.console_status))
        routers += [
            robot_routes(robot, metrics),
            camera_routes(robot, streams, settings.camera_hz),
            console_routes(feeds[-1], streams),
        ]
    for router in routers:
        app.include_router(router)
    describe(app)
    app.add_middleware(
        Guard,
        settings=settings,
        token=token,
        sessions=sessions,
        requests=metrics.counters['http_requests'],
        in_process=in_process,
    )
    return app


def _health_routes(port: TaskPort, robot: Robot | None) -> APIRouter:
    router = APIRouter(tags=['health'])

    @router.get('/healthz')
    async def alive() -> StatusView:
        """The server answers. Needs no token."""
        return StatusView(status='ok')

    @router.get('/readyz')
    async def ready() -> StatusView:
        """503 with ``reasons``: no task can be carried out, for example in SAFE or without
        adapter, simulator or rover, in a replay, or because the store has failed.
        """
        why = [] if robot is None else not_ready_reasons(robot)
        await port.task_counts()  # their loop answers, and their file could be opened
        if why := why or [*filter(None, [port.store_failure])]:
            raise Problem(503, f'Not ready: {"; ".join(why)}', headers=RETRY_SOON, reasons=why)
        return StatusView(status='ok')

    return router
