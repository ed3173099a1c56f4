# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Which calls of /adapter/* were not the agent's, told in trace events.

A ROS request does not name its caller. So the agent's heartbeat says how many calls of each
service the agent has sent, and a call that no such number covers within CLAIM_WAIT_S is another
node's. The graph, asked after the call, says which other nodes have a client: one is the caller,
or a node that the graph does not show yet. Nothing here decides whether a call is served. Times
are steady seconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
import math
from queue import SimpleQueue
import time

from curiosity_rosa_demo.adapter.graph import clients, GraphThread, publishers
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.trace.trace_codec import new_event
from rclpy.node import Node

CLAIM_WAIT_S = 2.0  # a heartbeat is due every 0.1 s


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
                ends = [now + CLAIM_WAIT_S] * (fresh - len(claimed))
                self._claims.setdefault(service, []).extend(ends)

    def take_foreign(self, now: float) -> list[Call]:
        """Return and forget the answered calls that the agent has not claimed in time."""
        due = [
            call
            for call in self._unclaimed
            if call.answer is not None and now - call.at >= CLAIM_WAIT_S
        ]
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
        graph.add(self._name_callers)
        graph.add(self._report)

    def begin(self, service: str) -> Call:
        """Record a call that is being served."""
        call = Call(service, time.monotonic())
        self._news.put(partial(self._log.begin, call))
        self._graph.soon(self._name_callers)  # while its caller is still in the graph
        return call

    def end(self, call: Call, refusal: str) -> None:
        """Record the answer: '' for a success."""
        self._node.get_logger().debug(f'{call.service}: {refusal or "done"}')
        call.answer = refusal

    def record_sent(self, tick: int, sent: Mapping[str, int]) -> None:
        """Record what a heartbeat says of the agent's calls."""
        self._news.put(partial(self._log.record_sent, tick, sent, time.monotonic()))

    def _name_callers(self) -> None:
        while not self._news.empty():
            self._news.get()()
        calls = self._log.unnamed()
        agents = set(publishers(self._node, self._heartbeat_topic)) if calls else set()
        callers = {name: clients(self._node, name) for name in {call.service for call in calls}}
        for call in calls:
            call.others = callers[call.service] - agents
            call.has_agent = bool(callers[call.service] & agents)

    def _report(self) -> None:
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
