# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What a ROS graph showed, as the tables of docs/reference/contracts.md. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import json
from typing import Any

from curiosity_rosa_demo.infra.config.topics import Topics
from ros_graph import Graph, Parameter, Use

OF_ROS = ('/rosout', '/parameter_events', '/clock')
OWN_SERVICES = (
    'describe_parameters',
    'get_parameter_types',
    'get_parameters',
    'get_type_description',
    'list_parameters',
    'set_parameters',
    'set_parameters_atomically',
)
PARAMETERS_OF_ROS = ('use_sim_time', 'start_type_description_service')


def table(head: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    cells = [list(head), *map(list, lines)]
    cells.insert(1, ['---'] * len(cells[0]))
    return '\n'.join(f'| {" | ".join(_cell(each) for each in line)} |' for line in cells)


def _cell(text: str) -> str:
    return text.replace('|', '\\|')


def contracts(
    graph: Graph, uses: set[Use], parameters: Mapping[str, list[Parameter]], topics: Topics
) -> dict[str, str]:
    """The parts of docs/reference/contracts.md, of the nodes whose ``uses`` are given."""
    keys = names_of(topics)
    own = {use for use in uses if not _is_of_ros(use)}
    nodes = sorted({use.node for use in uses})
    return {
        'topics': _topics([use for use in own if use.qos], keys),
        'services': _services(own, keys),
        'actions': _actions(own, keys),
        'parameters': _parameters(parameters),
        'nodes': _nodes(nodes, graph, uses),
    }


def names_of(topics: Topics) -> dict[str, str]:
    """The key of each name in topics.yaml."""
    found = {}
    for section, keys in topics.model_dump().items():
        for key, value in keys.items():
            name = value['name'] if isinstance(value, dict) else value
            found[name] = f'`{section}.{key}`'
    return found


def _is_of_ros(use: Use) -> bool:
    return use.name in OF_ROS or use.name in {f'{use.node}/{each}' for each in OWN_SERVICES}


def _who(uses: Iterable[Use], kind: str, name: str) -> str:
    """The nodes, each with its QoS if there is one."""
    found: dict[str, list[str]] = {}
    for use in sorted(uses):
        if (use.kind, use.name) == (kind, name):
            found.setdefault(use.node.lstrip('/'), []).append(use.qos)
    return '; '.join(
        f'{node} ({" / ".join(reversed(qos))})' if any(qos) else node
        for node, qos in found.items()
    )


def _topics(uses: list[Use], keys: Mapping[str, str]) -> str:
    lines = [
        (
            f'`{name}`',
            keys.get(name, ''),
            f'`{type_}`',
            _who(uses, 'publish', name),
            _who(uses, 'subscribe', name),
        )
        for name, type_ in sorted({(use.name, use.type) for use in uses})
    ]
    return table(('topic', 'key', 'type', 'published by', 'heard by'), lines)


def _services(uses: set[Use], keys: Mapping[str, str]) -> str:
    services = {(use.name, use.type) for use in uses if use.kind in ('reply', 'request')}
    lines = [
        (
            f'`{name}`',
            keys.get(name, ''),
            f'`{type_}`',
            _who(uses, 'reply', name) or 'the rover',
            _who(uses, 'request', name),
        )
        for name, type_ in sorted(services)
    ]
    return table(('service', 'key', 'type', 'served by', 'called by'), lines)


def _actions(uses: set[Use], keys: Mapping[str, str]) -> str:
    lines = [
        (f'`{use.name}`', keys.get(use.name, ''), f'`{use.type}`', use.node.lstrip('/'))
        for use in sorted(uses)
        if use.kind == 'execute'
    ]
    return table(('action', 'key', 'type', 'served by'), lines)


def _parameters(of_nodes: Mapping[str, list[Parameter]]) -> str:
    """The value at the first node, by its name, is the default: it was given none."""
    found: dict[tuple[str, str, bool, str], list[tuple[str, Any]]] = {}
    for node, declared in sorted(of_nodes.items()):
        for each in declared:
            if each.name not in PARAMETERS_OF_ROS:
                same = (each.name, each.type, each.read_only, each.says)
                found.setdefault(same, []).append((node, each.value))
    lines = [
        (
            f'`{name}`',
            ', '.join(node for node, _ in nodes),
            type_,
            f'`{json.dumps(nodes[0][1])}`',
            'at the start' if read_only else 'at any time',
            says,
        )
        for (name, type_, read_only, says), nodes in sorted(found.items())
    ]
    return table(('parameter', 'nodes', 'type', 'default', 'can be set', ''), lines)


def _nodes(nodes: list[str], graph: Graph, uses: set[Use]) -> str:
    lines = []
    for node in sorted(nodes, key=lambda each: (graph.enclaves[each], each)):
        mine = sorted(use for use in uses if use.node == node and _is_of_ros(use))
        writes = [f'`{use.name}`' for use in mine if use.kind == 'publish']
        hears = [f'`{use.name}`' for use in mine if use.kind == 'subscribe']
        serves = {use.name.rpartition('/')[2] for use in mine if use.kind == 'reply'}
        services = sorted(f'`~/{each}`' for each in serves)
        if serves == set(OWN_SERVICES):
            services = ['its parameters and types']
        process = graph.enclaves[node].rpartition('/')[2]
        lines.append((process, node.lstrip('/'), *map(', '.join, (writes, hears, services))))
    return table(('process', 'node', 'writes', 'hears', 'serves'), lines)
