# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Metrics for Prometheus, in a separate registry."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping

from curiosity_rosa_demo.agent.interfaces.http.openapi import media_type_response, problems
from curiosity_rosa_demo.agent.interfaces.http.session import RunnerAccess
from curiosity_rosa_demo.agent.llm.budget import SCOPES
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.agent.tasks import LifecycleState, SkillRunner
from curiosity_rosa_demo.domain.brain_state import Mode
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.trace.events import BudgetLimitReached, ModelCalled
from fastapi import APIRouter, Response
from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
KNOWN_METHODS = ('GET', 'POST', 'PATCH', 'DELETE')
MAX_MODELS = 20  # labels: another node of the ROS domain may publish any name
STOP_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter(
            'curiosity_http_requests_total',
            'Requests by route and status code.',
            ['method', 'route', 'code'],
            registry=registry,
        )
        self.traced = Counter(
            'curiosity_trace_events_total', 'Trace events by kind.', ['kind'], registry=registry
        )
        self.stop_latency = Histogram(
            'curiosity_stop_seconds',
            'From a request to stop until the rover was told.',
            buckets=STOP_BUCKETS,
            registry=registry,
        )
        self.tasks = Gauge(
            'curiosity_tasks', 'Known tasks by state.', ['state'], registry=registry
        )
        self._task_events = Counter(
            'curiosity_task_events_total',
            'What happened to tasks since the start.',
            ['event'],
            registry=registry,
        )
        self._counted: dict[str, int] = {}  # task events so far
        self.clients = Gauge(
            'curiosity_event_clients', 'Clients that listen to /events.', registry=registry
        )
        self.battery = Gauge(
            'curiosity_battery_percent', 'Charge of the battery.', registry=registry
        )
        self.mode = Gauge(
            'curiosity_mode',
            'The mode of the kernel: 1 at one of them.',
            ['mode'],
            registry=registry,
        )
        self._models: set[str] = set()
        self._model_tokens = Counter(
            'curiosity_model_tokens_total',
            'Tokens of the model by direction: input, output.',
            ['model', 'direction'],
            registry=registry,
        )
        self._model_cost = Counter(
            'curiosity_model_cost_total',
            'Cost of the calls with a known price, in the currency of the label.',
            ['model', 'currency'],
            registry=registry,
        )
        self._unpriced = Counter(
            'curiosity_model_calls_without_price_total',
            'Calls whose price is unknown.',
            ['model'],
            registry=registry,
        )
        self._budget_refusals = Counter(
            'curiosity_model_budget_refusals_total',
            'Calls that were not made because of llm.budget.',
            ['scope'],
            registry=registry,
        )

    def count_task_events(self, counts: Mapping[str, int]) -> None:
        """``counts``: number of each task event since the start."""
        for event, count in counts.items():
            self._task_events.labels(event).inc(max(0, count - self._counted.get(event, 0)))
            self._counted[event] = max(count, self._counted.get(event, 0))

    def traces(self, event: TraceEvent) -> None:
        self.traced.labels(event.kind.value).inc()
        if (call := ModelCalled.of(event)) is not None:
            self._count_model_call(call)
        elif (reached := BudgetLimitReached.of(event)) is not None:
            scope = reached.scope if reached.scope in SCOPES else 'other'
            self._budget_refusals.labels(scope).inc()

    def _count_model_call(self, call: ModelCalled) -> None:
        model = call.model or call.provider
        if model not in self._models and len(self._models) >= MAX_MODELS:
            model = 'other'
        self._models.add(model)
        for direction, count in (('input', call.input), ('output', call.output)):
            self._model_tokens.labels(model, direction).inc(max(0, count))
        if call.cost is None:
            self._unpriced.labels(model).inc()
        else:
            self._model_cost.labels(model, call.currency).inc(max(0.0, call.cost))


class CountRequests:
    """Middleware that counts requests."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._requests = app, metrics.requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope['type'] != 'http':
            await self._app(scope, receive, send)
            return

        async def counted(message: Message) -> None:
            if message['type'] == 'http.response.start':
                # The path of the route, not of the request: the number of labels stays bounded.
                route = getattr(scope.get('route'), 'path', '') or 'other'
                method = scope['method'] if scope['method'] in KNOWN_METHODS else 'other'
                self._requests.labels(method, route, str(message['status'])).inc()
            await send(message)

        await self._app(scope, receive, counted)


def metrics_routes(metrics: Metrics, access: RunnerAccess, robot: Robot | None) -> APIRouter:
    router = APIRouter(tags=['figures'])

    async def read_counts(runner: SkillRunner) -> tuple[Tally[LifecycleState], dict[str, int]]:
        return Tally(task.state for task in runner.list_tasks()), runner.counters

    @router.get(
        '/metrics',
        response_class=Response,
        responses={**media_type_response('text/plain'), **problems()},
    )
    async def figures() -> Response:
        """The metrics in Prometheus' text format."""
        states, counters = await access.call(read_counts)
        for state in LifecycleState:
            metrics.tasks.labels(state.value).set(states[state])
        metrics.count_task_events(counters)
        if robot is not None:
            brain_state = robot.state()
            metrics.battery.set(brain_state.robot.battery_pct)
            for mode in Mode:
                metrics.mode.labels(mode.value).set(mode is brain_state.tasks.mode)
        return Response(generate_latest(metrics.registry), media_type=CONTENT_TYPE)

    return router
