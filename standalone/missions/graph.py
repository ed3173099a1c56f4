# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A ROS graph in memory: topics and services between the nodes of simulated processes.

Messages travel for a time that the network draws; it can lose, double and reorder them. A node of
a killed process stays in the graph until its lease ends, as with DDS, and what is sent to it is
lost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
import random
from types import SimpleNamespace
from typing import Any, TYPE_CHECKING

from missions.scheduler import (
    Scheduler,
    SimulatedProcess,
)
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from rclpy.task import Future

if TYPE_CHECKING:
    from missions.nodes import SimulatedClient, SimulatedNode

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
