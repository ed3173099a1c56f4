# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The ROS graph of a running system, as the middleware shows it: who offers and uses what, and
with which QoS. What comes and goes, such as a subscription to the camera, is seen by looking
again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from harness import Sandbox
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters
from rclpy.action.graph import (
    get_action_client_names_and_types_by_node,
    get_action_server_names_and_types_by_node,
)
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

ACTION = '/_action/'


@dataclass(frozen=True, order=True)
class Use:
    """A node that offers or uses a topic, service or action."""

    kind: str  # publish, subscribe, reply, request, execute, call
    name: str
    type: str
    node: str  # its full name
    qos: str = ''  # of a topic


@dataclass(frozen=True)
class Parameter:
    name: str
    type: str
    value: Any
    read_only: bool
    says: str


@dataclass
class Graph:
    """All that was seen so far."""

    uses: set[Use] = field(default_factory=set)
    enclaves: dict[str, str] = field(default_factory=dict)  # of each node

    def of(self, nodes: Iterable[str]) -> set[Use]:
        mine = set(nodes)
        return {use for use in self.uses if use.node in mine}

    def look(self, node: Node, wanted: Callable[[str], bool]) -> None:
        """Add what ``node`` sees now of the nodes of each enclave that is ``wanted``."""
        for name, space, enclave in node.get_node_names_and_namespaces_with_enclaves():
            if wanted(enclave):
                full = f'{space.rstrip("/")}/{name}'
                self.enclaves[full] = enclave
                self._look_at(node, name, space, full)
        for topic, _ in node.get_topic_names_and_types():
            if ACTION not in topic:
                self._look_at_topic(node, topic)

    def _look_at(self, node: Node, name: str, space: str, full: str) -> None:
        for kind, names_and_types in (
            ('reply', node.get_service_names_and_types_by_node),
            ('request', node.get_client_names_and_types_by_node),
        ):
            for service, types in names_and_types(name, space):
                if ACTION not in service:
                    self.uses.add(Use(kind, service, types[0], full))
        for kind, actions_of in (
            ('execute', get_action_server_names_and_types_by_node),
            ('call', get_action_client_names_and_types_by_node),
        ):
            for action, types in actions_of(node, name, space):
                self.uses.add(Use(kind, action, types[0], full))

    def _look_at_topic(self, node: Node, topic: str) -> None:
        for kind, endpoints in (
            ('publish', node.get_publishers_info_by_topic(topic)),
            ('subscribe', node.get_subscriptions_info_by_topic(topic)),
        ):
            for each in endpoints:
                full = f'{each.node_namespace.rstrip("/")}/{each.node_name}'
                if full in self.enclaves:
                    qos = qos_text(each.qos_profile)
                    self.uses.add(Use(kind, topic, each.topic_type, full, qos))


def qos_text(qos: Any) -> str:
    """Reliability and durability: the rest of a profile does not travel."""
    reliable = qos.reliability == ReliabilityPolicy.RELIABLE
    latched = qos.durability == DurabilityPolicy.TRANSIENT_LOCAL
    return ('reliable' if reliable else 'best effort') + (', latched' if latched else '')


def parameters(box: Sandbox, node: str) -> list[Parameter]:
    """Those that the node declares, asked of its parameter services."""
    names = box.call(ListParameters, f'{node}/list_parameters').result.names
    request = DescribeParameters.Request(names=names)
    described = box.call(DescribeParameters, f'{node}/describe_parameters', request).descriptors
    values = box.call(
        GetParameters, f'{node}/get_parameters', GetParameters.Request(names=names)
    ).values
    return [
        Parameter(
            each.name,
            TYPES[value.type],
            parameter_value_to_python(value),
            each.read_only,
            each.description,
        )
        for each, value in zip(described, values, strict=True)
    ]


TYPES = {
    ParameterType.PARAMETER_BOOL: 'bool',
    ParameterType.PARAMETER_INTEGER: 'int',
    ParameterType.PARAMETER_DOUBLE: 'double',
    ParameterType.PARAMETER_STRING: 'string',
}
