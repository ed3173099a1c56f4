# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Names of nodes in the ROS graph, for messages to the operator: who drives, who publishes, and
which calls of /adapter/* were not the agent's.

A look into the graph may take its time. No lane of the adapter and no holder of its lock looks
names up: a thread does, and gives the rules what it has seen.

A ROS request does not name its caller. So the agent's heartbeat says how many calls of each
service the agent has sent, and a call that no such number covers within CLAIM_WAIT_S is another
node's. The graph, asked after the call, says which other nodes have a client: one is the caller,
or a node that the graph does not show yet. Nothing here decides whether a call is served. Times
are steady seconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
import math
from queue import SimpleQueue
import threading
import time

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.infra.config.robot import AppendageCommand
from curiosity_rosa_demo.infra.ros_io import publishers, TRANSPORT_ERRORS
from curiosity_rosa_demo.trace.trace_codec import new_event
from rclpy.node import Node

CLOCK = '/clock'
UNNAMED = '_NODE_NAMESPACE_UNKNOWN_/_NODE_NAME_UNKNOWN_'  # rmw's, for a node of another DDS
LOOK_PERIOD_S = 0.5
SOON_S = 0.02  # by then a call that has just arrived is on its way to the rover
CLAIM_WAIT_S = 2.0  # a heartbeat is due every 0.1 s
MOST_CLAIMS = 100  # of one service at once: a heartbeat may be forged


class GraphThread:
    """Runs its looks one after another, each LOOK_PERIOD_S, and SOON_S after ``soon``. A look
    takes the adapter's lock only for what it reports.
    """

    def __init__(self, on_crash: Callable[[Exception], None]) -> None:
        self._looks: Sequence[Callable[[], None]] = ()
        self._asked, self._closing = threading.Event(), threading.Event()
        self._on_crash, self.soon = on_crash, self._asked.set
        self._thread = threading.Thread(target=self._run, name='adapter_graph', daemon=True)

    def start(self, *looks: Callable[[], None]) -> None:
        self._looks = looks
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._asked.set()
        self._thread.join(timeout=3.0)

    def _run(self) -> None:
        try:
            while not self._closing.is_set():
                if self._asked.wait(LOOK_PERIOD_S):
                    self._closing.wait(SOON_S)
                    self._asked.clear()
                for look in self._looks:
                    with suppress(*TRANSPORT_ERRORS):  # without the graph no name is known
                        look()
        except Exception as error:
            self._on_crash(error)


def offers(node: Node, command: AppendageCommand) -> bool:
    """Whether some node serves this command of a robot, as far as the graph is known."""
    if command.channel == 'topic':
        return bool(node.count_subscribers(command.ros_name))
    known = {name for name, _ in node.get_service_names_and_types()}
    goal = '/_action/send_goal' if command.channel == 'action' else ''
    return f'{command.ros_name}{goal}' in known


def _that_know(
    ask: Callable[[str, str], Sequence[tuple[str, list[str]]]],
    nodes: Iterable[str],
    service: str,
) -> set[str]:
    """The nodes, by their full names, of whose services the graph, when asked, says that
    ``service`` is one.
    """
    found = set()
    for node in nodes:
        space, _, base = node.rpartition('/')
        with suppress(*TRANSPORT_ERRORS):  # the node has just left
            if any(each == service for each, _ in ask(base, space or '/')):
                found.add(node)
    return found


def clients(node: Node, service: str) -> set[str]:
    """The full names of the nodes that have a client of ``service``, as far as they are known."""
    nodes = node.get_node_names_and_namespaces()
    names = {f'{space.rstrip("/")}/{name}' for name, space in nodes}
    return _that_know(node.get_client_names_and_types_by_node, names, service)


def other_publishers(node: Node, topic: str, service: str) -> list[str]:
    """The publishers of ``topic`` without ``node`` itself and the node that serves ``service``."""
    names = set(publishers(node, topic)) - {node.get_fully_qualified_name()}
    return sorted(names - _that_know(node.get_service_names_and_types_by_node, names, service))


def rival_publishers(node: Node, topics: Sequence[str]) -> dict[str, list[str]]:
    """The publishing nodes by topic, of those topics of the rover, and the clock, that have
    several: two rovers in one domain, or two simulators. Their messages mix, and no message says
    from whom it is. It is shown and forbids nothing: several broadcasters may share the joint
    states, and readings that contradict each other stop a motion.
    """
    clock = [CLOCK] if node.get_clock().ros_time_is_active else []
    rivals = {}
    for topic in (*topics, *clock):
        nodes = publishers(node, topic) if node.count_publishers(topic) > 1 else []
        if len(nodes) > 1:
            counts = Counter(name.replace(UNNAMED, 'an unnamed node') for name in nodes)
            rivals[topic] = [
                name if count == 1 else f'{name} ({count} times)' for name, count in counts.items()
            ]
    return rivals


# --- Which calls of /adapter/* were not the agent's, told in trace events ----------------------


@dataclass(eq=False)
class Call:
    """One call. ``has_agent``: whether the agent has a client of the service; None until somebody
    has looked. ``others``: the other nodes that have one. ``answer``: '' is a success; None: it is
    not answered yet.
    """

    service: str
    at: float
    has_agent: bool | None = None
    others: set[str] = field(default_factory=set)
    answer: str | None = None


class CallLog:
    """Pure."""

    def __init__(self) -> None:
        self._unclaimed: list[Call] = []  # the oldest first
        self._claims: dict[str, list[float]] = {}  # by service: the time at which each ends
        self._sent: Mapping[str, int] | None = None  # as the agent last said it, at this tick
        self._tick = -1
        self._beat_at = -math.inf

    def begin(self, call: Call) -> None:
        """Record a call that has arrived. Its ``answer`` is set when it is served."""
        claims = [end for end in self._claims.get(call.service, ()) if end > call.at]
        self._claims[call.service] = claims[1:]
        if not claims:
            self._unclaimed.append(call)

    def unnamed(self) -> list[Call]:
        """The unclaimed calls for whose callers nobody has looked."""
        return [call for call in self._unclaimed if call.has_agent is None]

    def record_sent(self, tick: int, sent: Mapping[str, int], now: float) -> None:
        """Record how many calls of each service the agent has sent since its start. The ``tick``
        of its heartbeat rises until it restarts.
        """
        is_same_agent = self._sent is not None and tick > self._tick
        before = (is_same_agent and self._sent) or {}
        self._sent, self._tick, self._beat_at = dict(sent), tick, now
        for service, count in sent.items():
            fresh = max(0, count - before.get(service, 0))
            claimed = [call for call in self._unclaimed if call.service == service][:fresh]
            self._unclaimed = [call for call in self._unclaimed if call not in claimed]
            if is_same_agent:  # otherwise the rest are calls from before
                ends = [now + CLAIM_WAIT_S] * min(fresh - len(claimed), MOST_CLAIMS)
                self._claims.setdefault(service, []).extend(ends)

    def take_foreign(self, now: float) -> list[Call]:
        """Return and forget the answered calls that the agent has not claimed in time."""
        answered = [call for call in self._unclaimed if call.answer is not None]
        due = [call for call in answered if now - call.at >= CLAIM_WAIT_S]
        self._unclaimed = [call for call in self._unclaimed if call not in due]
        is_agent_heard = now - self._beat_at < CLAIM_WAIT_S
        # An agent that is leaving, or frozen, claims nothing. Without another node it is the
        # likely caller, and no one is accused.
        return [call for call in due if call.others or not call.has_agent or is_agent_heard]


class CallTrace:
    """Any thread may tell it what happens; the graph's thread keeps the log, and reports."""

    def __init__(
        self,
        node: Node,
        graph: GraphThread,
        heartbeat_topic: str,
        publish: Callable[[TraceEvent], None],
    ) -> None:
        self._node, self._graph, self._publish = node, graph, publish
        self._heartbeat_topic = heartbeat_topic
        self._log, self._news = CallLog(), SimpleQueue[Callable[[], None]]()

    def begin(self, service: str) -> Call:
        """Record a call that is being served; the caller sets its answer."""
        call = Call(service, time.monotonic())
        self._news.put(partial(self._log.begin, call))
        self._graph.soon()  # look while its caller is still in the graph
        return call

    def record_sent(self, tick: int, sent: Mapping[str, int]) -> None:
        """Record what a heartbeat says of the agent's calls."""
        self._news.put(partial(self._log.record_sent, tick, sent, time.monotonic()))

    def name_callers(self) -> None:
        """A look into the graph."""
        while not self._news.empty():
            self._news.get()()
        calls = self._log.unnamed()
        agents = set(publishers(self._node, self._heartbeat_topic)) if calls else set()
        callers = {name: clients(self._node, name) for name in {call.service for call in calls}}
        for call in calls:
            call.others = callers[call.service] - agents
            call.has_agent = bool(callers[call.service] & agents)

    def report(self) -> None:
        """Tell of the calls of others, after ``name_callers``."""
        due = self._log.take_foreign(time.monotonic())
        alike = Counter(
            (call.service, tuple(sorted(call.others)), call.answer or '') for call in due
        )
        for (service, callers, refusal), count in alike.items():
            times = f' ({count} times)' if count > 1 else ''
            others = f'one of {", ".join(callers)}' if callers[1:] else ''.join(callers)
            caller = others or 'an unknown node'
            text = f'{service} was called by {caller}, not by the agent{times}'
            data = {
                'node': self._node.get_name(),
                'service': service,
                'callers': list(callers),
                'count': count,
                'refusal': refusal,
            }
            event = new_event(TraceKind.OBSERVE, f'{text}: {refusal or "done"}', data=data)
            self._publish(event)
