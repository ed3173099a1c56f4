# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A ROS graph in memory: nodes, topics and services between simulated processes.

``install`` puts it where the product finds rclpy's nodes and executors. Messages travel for a time
that the network draws; it can lose, double and reorder them. A node of a killed process stays in
the graph until its lease ends, as with DDS, and what is sent to it is lost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
import importlib.util
import logging
import random
from types import SimpleNamespace
from typing import Any, ClassVar

from missions.scheduler import (
    Scheduler,
    SimulatedProcess,
    SimulatedThread,
    Timer,
)
from missions.threads import EPOCH_S
import rclpy
from rclpy.clock import ClockType
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from rclpy.task import Future
from rclpy.time import Time

LATENCY_S = (0.0003, 0.003)  # of a message on an idle machine
GRAPH_LEASE_S = 20.0  # a dead participant stays in the graph for so long
RESEND_S = 0.2  # a reliable message that was lost arrives this much later


@dataclass
class Conditions:
    """State of the network. Rates are probabilities of one message."""

    delay_s: float = 0.0  # largest additional delay
    loss: float = 0.0
    doubling: float = 0.0
    reordering: float = 0.0


@dataclass(eq=False)
class Publication:
    node: SimulatedNode
    topic: str
    message_type: type
    qos: QoSProfile
    kept: deque[Any] = field(default_factory=deque)  # for late subscribers

    @property
    def lease_s(self) -> float:
        lease = self.qos.liveliness_lease_duration
        return float(lease.nanoseconds) * 1e-9


@dataclass(eq=False)
class Subscription:
    node: SimulatedNode
    topic: str
    message_type: type
    callback: Callable[[Any], None]
    qos: QoSProfile
    raw: bool
    on_liveliness: Callable[[Any], None] | None
    waiting: deque[Any] = field(default_factory=deque)
    last_arrival_s: dict[Publication, float] = field(default_factory=dict)
    alive: list[Publication] = field(default_factory=list)
    destroyed: bool = False

    def arrive(self, message: Any) -> None:
        if self.destroyed:
            return
        if self.qos.history == HistoryPolicy.KEEP_LAST and len(self.waiting) >= self.qos.depth:
            self.waiting.popleft()
        self.waiting.append(message)
        self.node.post(self._take)

    def _take(self) -> None:
        if self.waiting and not self.destroyed:
            message = self.waiting.popleft()
            self.callback(serialize_message(message) if self.raw else message)


@dataclass(eq=False)
class Service:
    node: SimulatedNode
    name: str
    service_type: Any
    callback: Callable[[Any, Any], Any]


class Graph:
    """All nodes of one mission. ``watch`` is called with the kind, the name and the content of
    each message and request when it is sent.
    """

    def __init__(self, scheduler: Scheduler, chance: random.Random) -> None:
        self.scheduler, self._chance = scheduler, chance
        self.conditions = Conditions()
        self.nodes: list[SimulatedNode] = []
        self.watch: Callable[[str, str, str, Any], None] = lambda *_: None

    # --- the network --------------------------------------------------------------------------

    def _arrivals(self, *, reliable: bool) -> list[float]:
        """The delays after which a message arrives: none, one or two."""
        now, chance = self.conditions, self._chance
        delay = chance.uniform(*LATENCY_S)
        if now.delay_s:
            delay += chance.uniform(0.0, now.delay_s)
        if now.loss and chance.random() < now.loss:
            if not reliable:
                return []
            delay += RESEND_S
        if now.doubling and chance.random() < now.doubling:
            return [delay, delay + chance.uniform(*LATENCY_S)]
        return [delay]

    def send(self, publication: Publication, message: Any) -> None:
        node = publication.node
        self.watch('publish', publication.topic, node.full_name, message)
        if publication.qos.durability == DurabilityPolicy.TRANSIENT_LOCAL:
            publication.kept.append(message)
            while len(publication.kept) > publication.qos.depth:
                publication.kept.popleft()
        for subscription in self.subscriptions(publication.topic):
            if compatible(publication.qos, subscription.qos):
                self._transmit(publication, subscription, message)

    def _transmit(self, publication: Publication, to: Subscription, message: Any) -> None:
        reliable = to.qos.reliability == ReliabilityPolicy.RELIABLE
        for delay in self._arrivals(reliable=reliable):
            at = self.scheduler.now_s + delay
            before = to.last_arrival_s.get(publication, 0.0)
            out_of_order = self.conditions.reordering
            if not (out_of_order and self._chance.random() < out_of_order):
                at = max(at, before)
            to.last_arrival_s[publication] = max(before, at)
            self.scheduler.call_later(at - self.scheduler.now_s, lambda: _arrive(to, message))

    def call(self, client: SimulatedClient, request: Any, future: Future) -> None:
        self.watch('call', client.srv_name, client.node.full_name, request)
        servers = self.servers(client.srv_name)
        if not servers:
            return
        for delay in self._arrivals(reliable=False):
            self.scheduler.call_later(
                delay, lambda: self._serve(servers[0], client, request, future)
            )

    def _serve(
        self, service: Service, client: SimulatedClient, request: Any, future: Future
    ) -> None:
        if not service.node.process.alive or service.node.destroyed:
            return

        def work() -> None:
            response = service.callback(request, service.service_type.Response())
            self.watch('answer', service.name, service.node.full_name, response)
            for delay in self._arrivals(reliable=False):
                self.scheduler.call_later(delay, lambda: self._answer(client, future, response))

        service.node.post(work)

    def _answer(self, client: SimulatedClient, future: Future, response: Any) -> None:
        if client.node.process.alive and future in client.pending:
            client.node.post(lambda: client.complete(future, response))

    # --- the graph ------------------------------------------------------------------------------

    def known_nodes(self) -> list[SimulatedNode]:
        return [node for node in self.nodes if not node.destroyed]

    def publications(self, topic: str) -> list[Publication]:
        return [p for node in self.known_nodes() for p in node.publications if p.topic == topic]

    def subscriptions(self, topic: str) -> list[Subscription]:
        return [
            each
            for node in self.known_nodes()
            for each in node.subscriptions_
            if each.topic == topic
        ]

    def servers(self, name: str) -> list[Service]:
        """The newest first: a restarted server is the one that answers."""
        found = [s for node in self.known_nodes() for s in node.services_ if s.name == name]
        return found[::-1]

    def join(self, publication: Publication) -> None:
        for subscription in self.subscriptions(publication.topic):
            self._revive(publication, subscription)

    def subscribe(self, subscription: Subscription) -> None:
        for publication in self.publications(subscription.topic):
            process = publication.node.process
            if not process.alive or process.frozen:  # nobody new discovers it
                continue
            if not compatible(publication.qos, subscription.qos):
                continue
            if subscription.qos.durability == DurabilityPolicy.TRANSIENT_LOCAL:
                for message in publication.kept:
                    self._transmit(publication, subscription, message)
            self._revive(publication, subscription)

    def _revive(self, publication: Publication, subscription: Subscription) -> None:
        if subscription.on_liveliness is None or publication in subscription.alive:
            return
        subscription.alive.append(publication)
        self._tell_liveliness(subscription)

    def _expire(self, publication: Publication, subscription: Subscription) -> None:
        if publication in subscription.alive:
            subscription.alive.remove(publication)
            self._tell_liveliness(subscription)

    def _tell_liveliness(self, subscription: Subscription) -> None:
        callback = subscription.on_liveliness
        assert callback is not None

        def tell() -> None:
            callback(SimpleNamespace(alive_count=len(subscription.alive)))

        delay = self._chance.uniform(*LATENCY_S)
        self.scheduler.call_later(delay, lambda: subscription.node.post(tell))

    def _leased(self, process: SimulatedProcess) -> list[tuple[Publication, Subscription]]:
        return [
            (publication, subscription)
            for node in self.nodes
            if node.process is process
            for publication in node.publications
            for subscription in self.subscriptions(publication.topic)
            if subscription.on_liveliness is not None
        ]

    # --- processes --------------------------------------------------------------------------

    def kill(self, process: SimulatedProcess) -> None:
        for publication, subscription in self._leased(process):
            self._expire_later(publication, subscription)
        self.scheduler.call_later(GRAPH_LEASE_S, lambda: self._forget(process))
        self.scheduler.kill(process)

    def freeze(self, process: SimulatedProcess) -> None:
        self.scheduler.freeze(process)
        for publication, subscription in self._leased(process):
            self._expire_later(publication, subscription)

    def thaw(self, process: SimulatedProcess) -> None:
        self.scheduler.thaw(process)
        for publication, subscription in self._leased(process):
            self._revive(publication, subscription)

    def _expire_later(self, publication: Publication, subscription: Subscription) -> None:
        def expire() -> None:
            process = publication.node.process
            if process.frozen or not process.alive:
                self._expire(publication, subscription)

        self.scheduler.call_later(publication.lease_s, expire)

    def _forget(self, process: SimulatedProcess) -> None:
        for node in self.nodes:
            if node.process is process:
                node.destroyed = True

    def leave(self, node: SimulatedNode) -> None:
        node.destroyed = True
        for publication in node.publications:
            for subscription in self.subscriptions(publication.topic):
                if subscription.on_liveliness is not None:
                    self._expire(publication, subscription)


def compatible(offered: QoSProfile, asked: QoSProfile) -> bool:
    """Whether a subscription with the QoS ``asked`` matches a publisher with ``offered``."""
    lasts = DurabilityPolicy.TRANSIENT_LOCAL
    if asked.durability == lasts and offered.durability != lasts:
        return False
    reliable = ReliabilityPolicy.RELIABLE
    return not (asked.reliability == reliable and offered.reliability != reliable)


def _arrive(subscription: Subscription, message: Any) -> None:
    if subscription.node.process.alive and not subscription.node.destroyed:
        subscription.arrive(message)


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

    def wait_for_all_acked(self, timeout: Any = None) -> bool:
        return True


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

    def is_canceled(self) -> bool:
        return self._cancelled

    def reset(self) -> None:
        if self._cancelled:
            self._cancelled = False
            self._schedule()

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
        'rclpy.executors': {'SingleThreadedExecutor': SimulatedExecutor},
        'rclpy.action': {'ActionServer': SimulatedActionServer},
        'rclpy.experimental': {'EventsExecutor': SimulatedExecutor},  # not in Humble
    }
    for name, attributes in replacements.items():
        if importlib.util.find_spec(name) is not None:
            module = importlib.import_module(name)
            for attribute, value in attributes.items():
                setattr(module, attribute, value)
