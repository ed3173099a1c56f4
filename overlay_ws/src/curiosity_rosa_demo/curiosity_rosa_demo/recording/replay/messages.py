# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Rewrite recorded messages for a replay: current stamps, and a mark on events and status texts so
that they are not taken for those of a live rover.
"""

from __future__ import annotations

from collections.abc import Iterable
import json
from typing import Any

from curiosity_rosa_demo.infra.config.topics import Topics
from curiosity_rosa_demo.infra.ros_io import read_message, UnreadableMessage
from curiosity_rosa_demo.recording.mcap.channels import message_class, STRING, TF
from curiosity_rosa_demo.trace.events import NodeStarted
from curiosity_rosa_demo.trace.trace_codec import bounded_event, decode, encode
from rclpy.node import Node
from rclpy.serialization import serialize_message
from std_msgs.msg import String

REPLAY_PREFIX = '(replay) '


def replay_message(
    role: str, type_name: str, data: bytes, *, now_ns: int, turn: int
) -> bytes | None:
    """The CDR data to publish, or None to skip the message. ``now_ns``: the new stamp, nanoseconds
    since the epoch. ``turn``: the number of the loop, which keeps event IDs unique. Raises
    UnreadableMessage.
    """
    try:
        message = read_message(data, message_class(type_name))
    except (ImportError, AttributeError, UnreadableMessage) as error:
        raise UnreadableMessage(f'{role}: {error}') from error
    if type_name == STRING:
        text = (
            _event(message.data, now_ns, turn) if role == 'trace' else _marked_text(message.data)
        )
        return None if text is None else bytes(serialize_message(String(data=text)))
    _stamp(type_name, message, now_ns)
    return bytes(serialize_message(message))


def _event(text: str, now_ns: int, turn: int) -> str | None:
    """The trace event with the current time; its data keep the recorded time and ID. None for the
    start event of a node.
    """
    event = decode(text)
    if NodeStarted.of(event):
        return None
    origin = {'replay': True, 'recorded_ts': event.ts, 'recorded_id': event.event_id}
    replayed = event.model_copy(
        update={
            'event_id': f'{event.event_id[:150]}-replay-{now_ns}-{turn}',
            'ts': now_ns * 1e-9,
            'message': REPLAY_PREFIX + event.message,
            'data': {**(event.data or {}), **origin},
        }
    )
    return encode(bounded_event(replayed))


def _marked_text(text: str) -> str:
    """A JSON status with ``replay`` true; any other text becomes an object with that key only."""
    try:
        status = json.loads(text)
    except (ValueError, RecursionError):
        status = None
    return json.dumps({**(status if isinstance(status, dict) else {}), 'replay': True})


def _stamp(type_name: str, message: Any, now_ns: int) -> None:
    """Set all stamps to ``now_ns``, except zero stamps of markers ("the newest transform")."""
    if type_name == TF:
        headers = [each.header for each in message.transforms]
    elif hasattr(message, 'markers'):
        headers = [each.header for each in message.markers]
        headers = [each for each in headers if each.stamp.sec or each.stamp.nanosec]
    else:
        headers = [message.header]
    for header in headers:
        header.stamp.sec, header.stamp.nanosec = divmod(now_ns, 1_000_000_000)


# --- Find nodes in the graph that conflict with a replay ---------------------------------------


def conflict_text(node: Node, topics: Topics, played: Iterable[str]) -> str:
    """The reason not to play, or '' without a conflict. ``played``: the topics that only the
    replay may publish.
    """
    return _service_conflict(node, topics) or _topic_conflict(node, played)


def _service_conflict(node: Node, topics: Topics) -> str:
    """Describe a node that serves a service of the rover or of the adapter, or ''."""
    services = [
        node.resolve_service_name(getattr(group, name).name)
        for group in (topics.adapter, topics.curiosity)
        for name in type(group).model_fields
    ]
    servers = _servers(node)
    for service in services:
        # The query by node sees only one of several nodes with the same name; the count sees all.
        # Humble has no count_services.
        counted = hasattr(node, 'count_services') and node.count_services(service) > 0
        if counted or service in servers:
            server = servers.get(service, 'somebody')
            return f'{server} serves {service}: a rover may be driving here'
    return ''


def _servers(node: Node) -> dict[str, str]:
    """Map each service to the name of a node that serves it."""
    servers = {}
    for name, namespace in node.get_node_names_and_namespaces():
        try:
            offered = node.get_service_names_and_types_by_node(name, namespace)
        except RuntimeError:  # the node has just exited
            continue
        servers.update({service: _full_name(name, namespace) for service, _ in offered})
    return servers


def _topic_conflict(node: Node, played: Iterable[str]) -> str:
    """Describe another publisher of a ``played`` topic, or ''."""
    for topic in played:
        others = publishers(node, topic)
        if others:
            return f'{others[0]} publishes {node.resolve_topic_name(topic)}'
    return ''


def publishers(node: Node, topic: str) -> list[str]:
    """The other publishers of ``topic``. A second node with this node's name counts as another."""
    found = [
        _full_name(each.node_name, each.node_namespace)
        for each in node.get_publishers_info_by_topic(topic)
    ]
    resolved = node.resolve_topic_name(topic)
    for publisher in node.publishers:
        if publisher.topic_name == resolved and _own_full_name(node) in found:
            found.remove(_own_full_name(node))
    return found


def _own_full_name(node: Node) -> str:
    return _full_name(node.get_name(), node.get_namespace())


def _full_name(name: str, namespace: str) -> str:
    return f'{namespace.rstrip("/")}/{name}'
