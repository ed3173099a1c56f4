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
from contextlib import suppress
import threading
import time

from curiosity_rosa_demo.adapter.call_log import Call, caller_text, CallLog
from curiosity_rosa_demo.adapter.graph_names import clients, publishers
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.infra.guarded_publisher import TRANSPORT_ERRORS
from curiosity_rosa_demo.infra.ros_io import STEADY_CLOCK
from curiosity_rosa_demo.trace.trace_codec import new_event
from rclpy.node import Node

REPORT_PERIOD_S = 0.5


class CallTrace:
    """Thread-safe, with a lock of its own: no motion and no stop waits for a report."""

    def __init__(
        self, node: Node, heartbeat_topic: str, publish: Callable[[TraceEvent], None]
    ) -> None:
        self._node, self._heartbeat_topic, self._publish = node, heartbeat_topic, publish
        self._lock, self._log = threading.Lock(), CallLog()
        node.create_timer(REPORT_PERIOD_S, self._report, clock=STEADY_CLOCK)

    def begin(self, service: str) -> Call:
        """Record a call that is about to be served, while its caller is still in the graph."""
        agents, callers = set[str](), set[str]()
        with suppress(*TRANSPORT_ERRORS):  # without the graph the caller is unknown
            agents = set(publishers(self._node, self._heartbeat_topic))
            callers = clients(self._node, service)
        with self._lock:
            return self._log.begin(
                service,
                has_agent=bool(callers & agents),
                others=callers - agents,
                now=time.monotonic(),
            )

    def end(self, call: Call, refusal: str) -> None:
        """Record the answer: '' for a success."""
        self._node.get_logger().debug(f'{call.service}: {refusal or "done"}')
        with self._lock:
            call.answer = refusal

    def record_sent(self, tick: int, sent: Mapping[str, int]) -> None:
        """Record what a heartbeat says of the agent's calls."""
        with self._lock:
            self._log.record_sent(tick, sent, time.monotonic())

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
