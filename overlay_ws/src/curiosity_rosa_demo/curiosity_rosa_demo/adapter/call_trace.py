# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Trace events of the calls that are not the agent's. ``call_log.py`` decides which these are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
import threading
import time

from curiosity_rosa_demo.adapter.call_log import Call, caller_text, CallLog
from curiosity_rosa_demo.adapter.graph_names import ClientNames, GraphThread, publishers
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.trace.trace_codec import new_event
from rclpy.node import Node


class CallTrace:
    """Thread-safe, with a lock of its own: no motion and no stop waits for a report."""

    def __init__(
        self,
        node: Node,
        graph: GraphThread,
        heartbeat_topic: str,
        publish: Callable[[TraceEvent], None],
    ) -> None:
        self._node, self._graph, self._publish = node, graph, publish
        self._heartbeat_topic, self._clients = heartbeat_topic, ClientNames(node)
        self._lock, self._log = threading.Lock(), CallLog()
        graph.add(self._name_callers)
        graph.add(self._report)

    def begin(self, service: str) -> Call:
        """Record a call that is being served."""
        with self._lock:
            call = self._log.begin(service, time.monotonic())
        self._graph.soon(self._name_callers)  # while its caller is still in the graph
        return call

    def end(self, call: Call, refusal: str) -> None:
        """Record the answer: '' for a success."""
        self._node.get_logger().debug(f'{call.service}: {refusal or "done"}')
        with self._lock:
            call.answer = refusal

    def record_sent(self, tick: int, sent: Mapping[str, int]) -> None:
        """Record what a heartbeat says of the agent's calls."""
        with self._lock:
            self._log.record_sent(tick, sent, time.monotonic())

    def _name_callers(self) -> None:
        with self._lock:
            services = self._log.unnamed()
        if not services:
            return
        now = time.monotonic()
        agents = set(publishers(self._node, self._heartbeat_topic))
        for service in services:
            callers = self._clients.of(service)
            with self._lock:
                self._log.name(
                    service,
                    has_agent=bool(callers & agents),
                    others=callers - agents,
                    until=now,
                )

    def _report(self) -> None:
        with self._lock:
            due = self._log.take_foreign(time.monotonic())
        alike = Counter(
            (call.service, tuple(sorted(call.others)), call.answer or '') for call in due
        )
        for (service, callers, refusal), count in alike.items():
            times = f' ({count} times)' if count > 1 else ''
            text = f'{service} was called by {caller_text(callers)}, not by the agent{times}'
            data = {
                'node': self._node.get_name(),
                'service': service,
                'callers': list(callers),
                'count': count,
                'refusal': refusal,
            }
            event = new_event(TraceKind.OBSERVE, f'{text}: {refusal or "done"}', data=data)
            self._publish(event)
