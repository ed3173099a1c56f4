# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Names of nodes in the ROS graph, for messages to the operator."""

from __future__ import annotations

from curiosity_rosa_demo.infra.config.appendage import AppendageCommand
from curiosity_rosa_demo.infra.guarded_publisher import TRANSPORT_ERRORS
from rclpy.node import Node


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


def clients(node: Node, service: str) -> set[str]:
    """The full names of the nodes that have a client of ``service``, as far as they are known."""
    found = set()
    for name, space in node.get_node_names_and_namespaces():
        try:
            called = node.get_client_names_and_types_by_node(name, space)
        except TRANSPORT_ERRORS:  # the node has just left
            continue
        if any(each == service for each, _ in called):
            found.add(f'{space.rstrip("/")}/{name}')
    return found


def other_publishers(node: Node, topic: str, service: str) -> list[str]:
    """The publishers of ``topic`` without ``node`` itself and the node that serves ``service``."""
    own = f'{node.get_namespace().rstrip("/")}/{node.get_name()}'
    names = sorted(set(publishers(node, topic)) - {own})
    return [name for name in names if not _serves(node, name, service)]


def _serves(node: Node, name: str, service: str) -> bool:
    space, _, base = name.rpartition('/')
    try:
        served = node.get_service_names_and_types_by_node(base, space or '/')
    except TRANSPORT_ERRORS:  # the node has just left
        return False
    return any(each == service for each, _ in served)
