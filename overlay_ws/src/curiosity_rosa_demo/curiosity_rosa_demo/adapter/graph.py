# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Names of nodes in the ROS graph, for messages to the operator, and the thread that asks.

A look into the graph may take its time. No lane of the adapter and no holder of its lock looks
names up: the thread does, and gives the rules what it has seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
import threading
import time

from curiosity_rosa_demo.infra.config.robot import AppendageCommand
from curiosity_rosa_demo.infra.ros_io import TRANSPORT_ERRORS
from rclpy.node import Node

CLOCK = '/clock'
UNNAMED = '_NODE_NAMESPACE_UNKNOWN_/_NODE_NAME_UNKNOWN_'  # rmw's, for a node of another DDS
LOOK_PERIOD_S = 0.5
SOON_S = 0.02  # by then a call that has just arrived is on its way to the rover


class GraphThread:
    """Runs its looks one after another, each LOOK_PERIOD_S, and one ``soon`` after a request. A
    look takes the adapter's lock only for what it reports.
    """

    def __init__(self, on_crash: Callable[[Exception], None]) -> None:
        self._looks: list[Callable[[], None]] = []
        self._asked: set[Callable[[], None]] = set()
        self._on_crash, self._wake, self._closing = on_crash, threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name='adapter_graph', daemon=True)

    def add(self, look: Callable[[], None]) -> None:
        """Before ``start``."""
        self._looks.append(look)

    def start(self) -> None:
        self._thread.start()

    def soon(self, look: Callable[[], None]) -> None:
        """``look``: one of those that were added."""
        self._asked.add(look)
        self._wake.set()

    def close(self) -> None:
        self._closing.set()
        self._wake.set()
        self._thread.join(timeout=3.0)

    def _run(self) -> None:
        try:
            round_at = time.monotonic()
            while not self._closing.is_set():
                if self._wake.wait(max(0.0, round_at - time.monotonic())):
                    self._closing.wait(SOON_S)
                self._wake.clear()
                asked, self._asked = self._asked, set()
                is_round = time.monotonic() >= round_at
                if is_round:
                    round_at = time.monotonic() + LOOK_PERIOD_S
                for look in self._looks:
                    if is_round or look in asked:
                        with suppress(*TRANSPORT_ERRORS):  # without the graph no name is known
                            look()
        except Exception as error:
            self._on_crash(error)


def publishers(node: Node, topic: str) -> list[str]:
    """The full names of the nodes that publish ``topic``, one entry a publisher, sorted."""
    return sorted(
        f'{info.node_namespace.rstrip("/")}/{info.node_name}'
        for info in node.get_publishers_info_by_topic(topic)
    )


def offers(node: Node, command: AppendageCommand) -> bool:
    """Whether some node serves this command of a robot, as far as the graph is known."""
    if command.channel == 'topic':
        return bool(node.count_subscribers(command.ros_name))
    known = {name for name, _ in node.get_service_names_and_types()}
    goal = '/_action/send_goal' if command.channel == 'action' else ''
    return f'{command.ros_name}{goal}' in known


def _knows(
    ask: Callable[[str, str], Sequence[tuple[str, list[str]]]], node: str, service: str
) -> bool:
    """Whether ``service`` is among those of a node, by its full name, for which the graph is
    asked.
    """
    space, _, base = node.rpartition('/')
    try:
        return any(each == service for each, _ in ask(base, space or '/'))
    except TRANSPORT_ERRORS:  # the node has just left
        return False


def clients(node: Node, service: str) -> set[str]:
    """The full names of the nodes that have a client of ``service``, as far as they are known."""
    nodes = node.get_node_names_and_namespaces()
    names = {f'{space.rstrip("/")}/{name}' for name, space in nodes}
    return {
        name for name in names if _knows(node.get_client_names_and_types_by_node, name, service)
    }


def other_publishers(node: Node, topic: str, service: str) -> list[str]:
    """The publishers of ``topic`` without ``node`` itself and the node that serves ``service``."""
    names = sorted(set(publishers(node, topic)) - {node.get_fully_qualified_name()})
    ask = node.get_service_names_and_types_by_node
    return [name for name in names if not _knows(ask, name, service)]


def rival_publishers(node: Node, topics: Sequence[str]) -> dict[str, list[str]]:
    """The publishing nodes by topic, of those topics of the rover, and the clock, that have
    several: two rovers in one domain, or two simulators. Their messages mix, and no message says
    from whom it is. It is shown and forbids nothing: several broadcasters may share the joint
    states, and readings that contradict each other stop a motion.
    """
    clock = [CLOCK] if node.get_clock().ros_time_is_active else []
    several = [topic for topic in (*topics, *clock) if node.count_publishers(topic) > 1]
    names = {
        topic: [name.replace(UNNAMED, 'an unnamed node') for name in publishers(node, topic)]
        for topic in several
    }
    return {
        topic: [
            name if count == 1 else f'{name} ({count} times)'
            for name, count in Counter(nodes).items()
        ]
        for topic, nodes in names.items()
        if len(nodes) > 1
    }
