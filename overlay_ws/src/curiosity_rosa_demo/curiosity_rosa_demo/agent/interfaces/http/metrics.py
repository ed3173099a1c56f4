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

from curiosity_rosa_demo.agent.interfaces.http.problems import media_type_response, problems
from curiosity_rosa_demo.agent.interfaces.http.task_routes import RunnerAccess
from curiosity_rosa_demo.agent.llm.budget import SCOPES
from curiosity_rosa_demo.agent.runtime.robot import Robot
from curiosity_rosa_demo.agent.tasks import LifecycleState, SkillRunner
from curiosity_rosa_demo.domain.brain_state import Mode
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.trace.events import BudgetLimitReached, ModelCalled
from fastapi import APIRouter, Response
from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest, Histogram

CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
MAX_MODELS = 20  # labels: another node of the ROS domain may publish any name
STOP_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
COUNTERS = (  # name, meaning, labels
    ('http_requests', 'Requests by route and status code.', ('method', 'route', 'code')),
    ('trace_events', 'Trace events by kind.', ('kind',)),
    ('task_events', 'What happened to tasks since the start.', ('event',)),
    (
        'model_tokens',
        'Tokens of the model by direction: input, output.',
        ('model', 'direction'),
    ),
    (
        'model_cost',
        'Cost of the calls with a known price, in the currency of the label.',
        ('model', 'currency'),
    ),
    ('model_calls_without_price', 'Calls whose price is unknown.', ('model',)),
    (
        'model_budget_refusals',
        'Calls that were not made because of llm.budget.',
        ('scope',),
    ),
)
GAUGES = (
    ('tasks', 'Known tasks by state.', ('state',)),
    ('event_clients', 'Clients that listen to /events.', ()),
    ('battery_percent', 'Charge of the battery.', ()),
    ('mode', 'The mode of the kernel: 1 at one of them.', ('mode',)),
)


class Metrics:
    """``counters`` and ``gauges`` by their names in COUNTERS and GAUGES."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.counters = {
            name: Counter(f'curiosity_{name}_total', text, labels, registry=registry)
            for name, text, labels in COUNTERS
        }
        self.gauges = {
            name: Gauge(f'curiosity_{name}', text, labels, registry=registry)
            for name, text, labels in GAUGES
        }
        self.stop_latency = Histogram(
            'curiosity_stop_seconds',
            'From a request to stop until the rover was told.',
            buckets=STOP_BUCKETS,
            registry=registry,
        )
        self._counted: dict[str, int] = {}  # task events so far
        self._models: set[str] = set()

    def count_task_events(self, counts: Mapping[str, int]) -> None:
        """``counts``: number of each task event since the start."""
        for event, count in counts.items():
            before = self._counted.get(event, 0)
            self.counters['task_events'].labels(event).inc(max(0, count - before))
            self._counted[event] = max(count, before)

    def traces(self, event: TraceEvent) -> None:
        self.counters['trace_events'].labels(event.kind.value).inc()
        if (call := ModelCalled.of(event)) is not None:
            self._count_model_call(call)
        elif (reached := BudgetLimitReached.of(event)) is not None:
            scope = reached.scope if reached.scope in SCOPES else 'other'
            self.counters['model_budget_refusals'].labels(scope).inc()

    def _count_model_call(self, call: ModelCalled) -> None:
        model = call.model or call.provider
        if model not in self._models and len(self._models) >= MAX_MODELS:
            model = 'other'
        self._models.add(model)
        for direction, count in (('input', call.input), ('output', call.output)):
            self.counters['model_tokens'].labels(model, direction).inc(max(0, count))
        if call.cost is None:
            self.counters['model_calls_without_price'].labels(model).inc()
        else:
            self.counters['model_cost'].labels(model, call.currency).inc(max(0.0, call.cost))


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
        gauges = metrics.gauges
        states, counters = await access.call(read_counts)
        for state in LifecycleState:
            gauges['tasks'].labels(state.value).set(states[state])
        metrics.count_task_events(counters)
        if robot is not None:
            brain_state = robot.state()
            gauges['battery_percent'].set(brain_state.robot.battery_pct)
            for mode in Mode:
                gauges['mode'].labels(mode.value).set(mode is brain_state.tasks.mode)
        return Response(generate_latest(metrics.registry), media_type=CONTENT_TYPE)

    return router
