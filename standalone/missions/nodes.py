# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""Nodes and executors in place of rclpy's, for a graph in memory.

``install`` puts them where the product finds those of rclpy.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import importlib.util
import logging
from types import SimpleNamespace
from typing import Any, ClassVar

from missions.graph import Graph, Publication, Service, Subscription
from missions.primitives import EPOCH_S
from missions.scheduler import (
    Scheduler,
    SimulatedProcess,
    SimulatedThread,
    Timer,
)
import rclpy
from rclpy.clock import ClockType
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.task import Future
from rclpy.time import Time


class _Current:
    graph: Graph | None = None


def use(graph: Graph) -> None:
    """Let the nodes that are made from now on join ``graph``."""
    _Current.graph = graph


class SimulatedPublisher:
    def __init__(self, graph: Graph, publication: Publication) -> None:
        self._graph, self._publication = graph, publication

    def publish(self, msg: Any) -> None:
        if not self._publication.node.destroyed:
            self._graph.send(self._publication, msg)

    def get_subscription_count(self) -> int:
        return len(self._graph.subscriptions(self._publication.topic))


class SimulatedClient:
    def __init__(self, node: SimulatedNode, name: str) -> None:
        self.node, self.srv_name = node, name
        self.pending: list[Future] = []

    def service_is_ready(self) -> bool:
        return bool(self.node.graph.servers(self.srv_name))

    def wait_for_service(self, timeout_sec: float | None = None) -> bool:
        import time

        until = None if timeout_sec is None else time.monotonic() + timeout_sec
        while not self.service_is_ready():
            if until is not None and time.monotonic() >= until:
                return False
            time.sleep(0.05)
        return True

    def call_async(self, request: Any) -> Future:
        future = Future()
        self.pending.append(future)
        self.node.graph.call(self, request, future)
        return future

    def remove_pending_request(self, future: Future) -> None:
        if future in self.pending:
            self.pending.remove(future)

    def complete(self, future: Future, response: Any) -> None:
        if future in self.pending:
            self.pending.remove(future)
            future.set_result(response)


class SimulatedTimer:
    def __init__(self, node: SimulatedNode, period_s: float, callback: Callable[[], None]) -> None:
        self._node, self._period_s, self._callback = node, period_s, callback
        self._is_due = self._cancelled = False
        self._timer: Timer | None = None
        self._schedule()

    def _schedule(self) -> None:
        self._timer = self._node.graph.scheduler.call_later(self._period_s, self._fire)

    def _fire(self) -> None:
        node = self._node
        if self._cancelled or node.destroyed or not node.process.alive:
            return
        self._schedule()
        if not self._is_due:  # a late timer fires once
            self._is_due = True
            node.post(self._run)

    def _run(self) -> None:
        self._is_due = False
        if not self._cancelled:
            self._callback()

    def cancel(self) -> None:
        self._cancelled = True

    destroy = cancel


class SimulatedClock:
    """A ROS clock without simulated time: the machine's."""

    ros_time_is_active = False
    clock_type = ClockType.ROS_TIME

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def now(self) -> Time:
        nanoseconds = round((EPOCH_S + self._scheduler.now_s) * 1e9)
        return Time(nanoseconds=nanoseconds, clock_type=ClockType.ROS_TIME)


class _Logger:
    def get_effective_level(self) -> int:
        return logging.INFO

    def debug(self, *_: Any, **__: Any) -> None: ...

    info = warn = warning = error = fatal = debug


class SimulatedNode:
    """As rclpy's Node, as far as the product uses it."""

    parameters: ClassVar[
        dict[str, Any]
    ] = {}  # values of declared parameters, by name; else the default

    def __init__(
        self, node_name: str, *, process: SimulatedProcess | None = None, **_: Any
    ) -> None:
        graph = _Current.graph
        if graph is None:
            raise RuntimeError('No mission is running')
        if process is None:
            thread = graph.scheduler.current
            assert thread is not None, 'a node outside any process'
            process = thread.process
        self.graph, self.process, self._name = graph, process, node_name
        self.full_name = f'/{node_name}'
        self.executor: SimulatedExecutor | None = None
        self.destroyed = False
        self.publications: list[Publication] = []
        self.subscriptions_: list[Subscription] = []
        self.services_: list[Service] = []
        self.clients_: list[SimulatedClient] = []
        self._backlog: list[Callable[[], None]] = []
        self._declared: dict[str, Any] = {}
        self._clock = SimulatedClock(graph.scheduler)
        graph.nodes.append(self)

    def post(self, work: Callable[[], None]) -> None:
        """Have the executor of this node run ``work``."""
        if self.destroyed or not self.process.alive:
            return
        if self.executor is None:
            self._backlog.append(work)
        else:
            self.executor.post(work)

    def set_executor(self, executor: SimulatedExecutor | None) -> None:
        self.executor = executor
        if executor is not None:
            for work in self._backlog:
                executor.post(work)
            self._backlog = []

    # --- rclpy --------------------------------------------------------------------------------

    def get_name(self) -> str:
        return self._name

    def get_namespace(self) -> str:
        return '/'

    def get_fully_qualified_name(self) -> str:
        return self.full_name

    def resolve_topic_name(self, topic: str) -> str:
        return topic

    def get_logger(self) -> _Logger:
        return _Logger()

    def get_clock(self) -> SimulatedClock:
        return self._clock

    def declare_parameter(self, name: str, value: Any = None, *_: Any, **__: Any) -> Any:
        self._declared[name] = self.parameters.get(name, value)
        return SimpleNamespace(value=self._declared[name])

    def get_parameter(self, name: str) -> Parameter:
        return Parameter(name, value=self._declared.get(name, False))  # use_sim_time, too

    def create_publisher(self, kind: type, topic: str, qos: Any, **_: Any) -> SimulatedPublisher:
        publication = Publication(self, topic, kind, _profile(qos))
        self.publications.append(publication)
        self.graph.join(publication)
        return SimulatedPublisher(self.graph, publication)

    def create_subscription(
        self,
        kind: type,
        topic: str,
        callback: Callable[[Any], None],
        qos: Any,
        *,
        event_callbacks: Any = None,
        raw: bool = False,
        **_: Any,
    ) -> Subscription:
        liveliness = getattr(event_callbacks, 'liveliness', None)
        subscription = Subscription(self, topic, kind, callback, _profile(qos), raw, liveliness)
        self.subscriptions_.append(subscription)
        self.graph.subscribe(subscription)
        return subscription

    def destroy_subscription(self, subscription: Subscription) -> bool:
        subscription.destroyed = True
        if subscription in self.subscriptions_:
            self.subscriptions_.remove(subscription)
        return True

    def create_client(self, _: Any, name: str, **__: Any) -> SimulatedClient:
        client = SimulatedClient(self, name)
        self.clients_.append(client)
        return client

    def create_service(self, kind: Any, name: str, callback: Any, **_: Any) -> Service:
        service = Service(self, name, kind, callback)
        self.services_.append(service)
        return service

    def create_timer(self, period_s: float, callback: Callable[[], None], **_: Any) -> Any:
        return SimulatedTimer(self, period_s, callback)

    def destroy_node(self) -> None:
        self.graph.leave(self)

    # --- the graph as rclpy tells it ------------------------------------------------------------

    def count_publishers(self, topic: str) -> int:
        return len(self.graph.publications(topic))

    def get_publishers_info_by_topic(self, topic: str) -> list[Any]:
        return [
            SimpleNamespace(node_name=each.node.get_name(), node_namespace='/')
            for each in self.graph.publications(topic)
        ]

    def get_node_names_and_namespaces(self) -> list[tuple[str, str]]:
        return [(each.get_name(), '/') for each in self.graph.known_nodes()]

    def _named(self, name: str) -> list[SimulatedNode]:
        return [each for each in self.graph.known_nodes() if each.get_name() == name]

    def count_clients(self, service: str) -> int:
        nodes = self.graph.known_nodes()
        return sum(c.srv_name == service for node in nodes for c in node.clients_)

    def get_client_names_and_types_by_node(self, name: str, _: str) -> list[Any]:
        return [(c.srv_name, []) for node in self._named(name) for c in node.clients_]

    def get_service_names_and_types_by_node(self, name: str, _: str) -> list[Any]:
        return [(s.name, []) for node in self._named(name) for s in node.services_]


class WorldNode(SimulatedNode):
    """A node of the world outside the product: the scheduler itself runs its callbacks."""

    hung = False

    def post(self, work: Callable[[], None]) -> None:
        if self.destroyed or not self.process.alive:
            return
        if self.hung or self.process.frozen:
            self._backlog.append(work)
        else:
            work()

    def resume(self) -> None:
        """Run what arrived while the node hung."""
        self.hung = False
        backlog, self._backlog = self._backlog, []
        for work in backlog:
            self.post(work)


def _profile(qos: Any) -> QoSProfile:
    return QoSProfile(depth=qos) if isinstance(qos, int) else qos


class SimulatedExecutor:
    """Runs the callbacks of its nodes, one at a time, in the thread that spins it."""

    def __init__(self, **_: Any) -> None:
        self._due: deque[Callable[[], object]] = deque()
        self._waiting: SimulatedThread | None = None

    def add_node(self, node: SimulatedNode) -> bool:
        node.set_executor(self)
        return True

    def post(self, work: Callable[[], object]) -> None:
        self._due.append(work)
        graph = _Current.graph
        if self._waiting is not None and graph is not None:
            graph.scheduler.wake(self._waiting)

    def create_task(self, callback: Callable[..., object], *args: Any, **kwargs: Any) -> None:
        self.post(lambda: callback(*args, **kwargs))

    def spin_once(self, timeout_sec: float | None = None) -> None:
        if not self._due:
            graph = _Current.graph
            assert graph is not None
            self._waiting = graph.scheduler.current
            try:
                graph.scheduler.park(timeout_sec)
            finally:
                self._waiting = None
        if self._due:
            self._due.popleft()()

    def shutdown(self, *_: Any, **__: Any) -> bool:
        return True


class InRounds(SimulatedExecutor):
    """Not taken where rclpy has an EventsExecutor, which has one queue, as its twin here has."""


class SimulatedActionServer:
    """The simulator has no clients of actions."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def destroy(self) -> None: ...


def install() -> None:
    """Replace rclpy's nodes and executors in this process, before the product is imported."""
    any_rclpy: Any = rclpy
    any_rclpy.ok = lambda *_: True
    replacements: dict[str, dict[str, Any]] = {
        'rclpy.node': {'Node': SimulatedNode},
        'rclpy.executors': {'SingleThreadedExecutor': InRounds},
        'rclpy.action': {'ActionServer': SimulatedActionServer},
        'rclpy.experimental': {'EventsExecutor': SimulatedExecutor},  # not in Humble
    }
    for name, attributes in replacements.items():
        if importlib.util.find_spec(name) is not None:
            module = importlib.import_module(name)
            for attribute, value in attributes.items():
                setattr(module, attribute, value)
