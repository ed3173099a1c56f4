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

from curiosity_rosa_demo.agent.interfaces.http.problems import no_json
from curiosity_rosa_demo.agent.llm.usage import SCOPES
from curiosity_rosa_demo.agent.robot import Robot
from curiosity_rosa_demo.agent.runtime.task_port import TaskPort
from curiosity_rosa_demo.agent.tasks import LifecycleState
from curiosity_rosa_demo.domain.brain_state import Mode
from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.trace.events import BudgetLimitReached, ModelCalled
from fastapi import APIRouter, Response
from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest, Histogram

CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
MAX_MODELS = 20  # labels: another node of the ROS domain may publish any name
STOP_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
COUNTERS = (  # name, labels, meaning
    ('http_requests', 'method route code', 'Requests by route and status code.'),
    ('trace_events', 'kind', 'Trace events by kind.'),
    ('task_events', 'event', 'What happened to tasks since the start.'),
    ('model_tokens', 'model direction', 'Tokens of the model by direction: input, output.'),
    ('model_cost', 'model currency', 'Cost of calls with a known price, in that currency.'),
    ('model_calls_without_price', 'model', 'Calls whose price is unknown.'),
    ('model_budget_refusals', 'scope', 'Calls that were not made because of llm.budget.'),
)
GAUGES = (
    ('tasks', 'state', 'Known tasks by state.'),
    ('event_clients', '', 'Clients that listen to /events.'),
    ('battery_percent', '', 'Charge of the battery.'),
    ('mode', 'mode', 'The mode of the kernel: 1 at one of them.'),
)


class Metrics:
    """``counters`` and ``gauges`` by their names in COUNTERS and GAUGES."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.counters = {
            name: Counter(f'curiosity_{name}_total', text, labels.split(), registry=registry)
            for name, labels, text in COUNTERS
        }
        self.gauges = {
            name: Gauge(f'curiosity_{name}', text, labels.split(), registry=registry)
            for name, labels, text in GAUGES
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


def metrics_routes(metrics: Metrics, port: TaskPort, robot: Robot | None) -> APIRouter:
    router = APIRouter(tags=['figures'])

    @router.get('/metrics', **no_json('text/plain'))
    async def figures() -> Response:
        """The metrics in Prometheus' text format."""
        gauges = metrics.gauges
        states = Tally(task.state for task in await port.tasks())
        for state in LifecycleState:
            gauges['tasks'].labels(state.value).set(states[state])
        metrics.count_task_events(await port.task_counts())
        if robot is not None:
            brain_state = robot.state()
            gauges['battery_percent'].set(brain_state.robot.battery_pct)
            for mode in Mode:
                gauges['mode'].labels(mode.value).set(mode is brain_state.tasks.mode)
        return Response(generate_latest(metrics.registry), media_type=CONTENT_TYPE)

    return router
