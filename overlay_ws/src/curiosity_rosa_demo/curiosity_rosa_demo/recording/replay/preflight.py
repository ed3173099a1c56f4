# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Who else is in the graph that a replay must not be mixed up with."""

from __future__ import annotations

from collections.abc import Iterable

from curiosity_rosa_demo.infra.config.topics import Topics
from rclpy.node import Node


def conflict_text(node: Node, topics: Topics, played: Iterable[str]) -> str:
    """Why nothing may be played, in words; '': nobody is in the way. ``played``: the topics that
    only the robot's own nodes publish.
    """
    return _serves(node, topics) or _publishes(node, played)


def _serves(node: Node, topics: Topics) -> str:
    """Whoever can make a rover move."""
    services = [
        node.resolve_service_name(getattr(group, name).name)
        for group in (topics.adapter, topics.curiosity)
        for name in type(group).model_fields
    ]
    servers = _servers(node)
    for service in services:
        # By node, the graph tells of one of several nodes with the same name; the count knows all.
        # Humble has no count.
        counted = hasattr(node, 'count_services') and node.count_services(service) > 0
        if counted or service in servers:
            who = servers.get(service, 'somebody')
            return f'{who} serves {service}: a rover may be driving here'
    return ''


def _servers(node: Node) -> dict[str, str]:
    """A node that serves it, by service."""
    servers = {}
    for name, namespace in node.get_node_names_and_namespaces():
        try:
            offered = node.get_service_names_and_types_by_node(name, namespace)
        except RuntimeError:  # it has just left
            continue
        servers.update({service: _full(name, namespace) for service, _ in offered})
    return servers


def _publishes(node: Node, played: Iterable[str]) -> str:
    for topic in played:
        others = publishers(node, topic)
        if others:
            return f'{others[0]} publishes {node.resolve_topic_name(topic)}'
    return ''


def publishers(node: Node, topic: str) -> list[str]:
    """Who else publishes ``topic``; of two nodes with our name, one is another."""
    found = [
        _full(each.node_name, each.node_namespace)
        for each in node.get_publishers_info_by_topic(topic)
    ]
    resolved = node.resolve_topic_name(topic)
    for publisher in node.publishers:
        if publisher.topic_name == resolved and _full_of(node) in found:
            found.remove(_full_of(node))
    return found


def _full_of(node: Node) -> str:
    return _full(node.get_name(), node.get_namespace())


def _full(name: str, namespace: str) -> str:
    return f'{namespace.rstrip("/")}/{name}'
