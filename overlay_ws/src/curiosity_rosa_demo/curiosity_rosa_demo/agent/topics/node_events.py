# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Events of the other nodes for the console: from /trace/events and from the process manager."""

from __future__ import annotations

from collections.abc import Callable
import threading
import time

from curiosity_rosa_demo.agent.memory import event_line
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.text import clip, printable
from curiosity_rosa_demo.infra.config.contracts import Config
from curiosity_rosa_demo.infra.ros_io import history_qos
from curiosity_rosa_demo.trace.events import NodeStarted
from curiosity_rosa_demo.trace.trace_codec import decode
from rclpy.node import Node
from std_msgs.msg import String


class NodeEvents:
    """Prints events and restarts of other nodes. A second start event of a node is a restart.

    ``on_trace_event`` gets every event of the topic, also this agent's own, in the thread that
    spins ``node``.
    """

    def __init__(
        self,
        node: Node,
        config: Config,
        say: Callable[[str], None],
        on_trace_event: Callable[[TraceEvent], None] = lambda event: None,
    ) -> None:
        self._say, self._on_trace_event = say, on_trace_event
        self._starts: dict[str, str] = {}  # node name -> id of its start event
        self._started_at = time.time()
        qos = history_qos(config.thresholds.trace.buffer_size)
        node.create_subscription(String, config.topics.trace.events, self._on_event, qos)

    def _on_event(self, message: String) -> None:
        event = decode(message.data)
        self._on_trace_event(event)
        source = (event.data or {}).get('node')
        if not isinstance(source, str):
            return  # an event of this agent, or of another agent
        if event.kind is TraceKind.ERROR:
            if event.ts >= self._started_at:  # the topic repeats its history to a late subscriber
                self._say(f'  {_shown(source)}: {event_line(event)}')
        elif NodeStarted.of(event):
            known = self._starts.setdefault(source, event.event_id)
            if known != event.event_id:
                self._starts[source] = event.event_id
                why = _shown(event.message)
                self._say(f'! The {_shown(source)} node was restarted: {why}')
        elif event.ts >= self._started_at:
            self._say(f'  {_shown(source)}: {event_line(event)}')


def _shown(text: str) -> str:
    """A text from the topic, on which any node may publish."""
    return clip(printable(text))


def read_process_events(descriptor: int, on_event: Callable[[str], None]) -> None:
    """Call ``on_event``, in a new thread, with each line that the process manager writes."""

    def read() -> None:
        with open(descriptor, encoding='utf-8', errors='replace') as lines:
            for text in lines:
                on_event(text.strip())

    threading.Thread(target=read, name='process-events', daemon=True).start()
