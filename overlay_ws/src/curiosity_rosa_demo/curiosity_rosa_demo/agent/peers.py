"""What the other nodes say of themselves on /trace/events: restarts and errors, for the console."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from std_msgs.msg import String

from curiosity_rosa_demo.agent.memory import line
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.infra.config_models import Config
from curiosity_rosa_demo.infra.ros_io import trace_qos
from curiosity_rosa_demo.trace.trace_codec import decode


class Peers:
    """Every node announces its start; a second start of the same node is a restart."""

    def __init__(self, node: Node, config: Config, say: Callable[[str], None]) -> None:
        self._say = say
        self._starts: dict[str, str] = {}  # node name -> id of its start event
        qos = trace_qos(config.thresholds.trace.buffer_size)
        node.create_subscription(String, config.topics.trace.events, self._hear, qos)

    def _hear(self, message: String) -> None:
        event = decode(message.data)
        source = (event.data or {}).get('node')
        if not isinstance(source, str):
            return  # our own, or somebody else's
        if event.kind is TraceKind.ERROR:
            self._say(f'  {source}: {line(event)}')
        elif (event.data or {}).get('started') is True:
            known = self._starts.setdefault(source, event.event_id)
            if known != event.event_id:
                self._starts[source] = event.event_id
                self._say(f'! The {source} node was restarted: {event.message}')
