# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The tables of docs/reference/contracts.md, made from the running system and from the code.
``scripts/contracts.sh`` writes them anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
import json
import socket
from typing import Any
import urllib.request

from configuration_tables import table
from curiosity_rosa_demo.agent.topics.graph_answers import PARAMETER_SERVICES
from curiosity_rosa_demo.infra.config.topics import Topics
from curiosity_rosa_demo.infra.config_loader import load_config
from diagnostic_msgs.msg import DiagnosticArray
from harness import PREFIXES, ROOT, Sandbox, wait_until
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters
from rclpy.action.graph import (
    get_action_client_names_and_types_by_node,
    get_action_server_names_and_types_by_node,
)
from rclpy.parameter import parameter_value_to_python
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from std_srvs.srv import Trigger

TYPES = ROOT / 'overlay_ws/src/curiosity_rosa_interfaces'
PARTS = {'.action': ('goal', 'result', 'feedback'), '.srv': ('request', 'response')}
CONTRACTS = ROOT / 'docs/reference/contracts.md'


def with_parts(page: str, parts: Mapping[str, str]) -> str:
    """The page with each part between its markers exchanged."""
    for part, text in parts.items():
        begin, end = f'<!-- begin: {part} -->\n', f'<!-- end: {part} -->'
        before, found, rest = page.partition(begin)
        _, ended, after = rest.partition(end)
        assert found, f'the page needs the line {begin}'
        assert ended, f'the page needs the line {end}'
        page = f'{before}{begin}{text}\n{end}{after}'
    return page


# --- the running system --------------------------------------------------------------------------


ACTION = '/_action/'
ENCLAVES = '/curiosity_rosa'
ROVER = f'{ENCLAVES}/rover'
NODES = ('simulator', 'adapter', 'visualizer', 'monitor')
OF_ROS = ('/rosout', '/parameter_events', '/clock')
PARAMETERS_OF_ROS = ('use_sim_time', 'start_type_description_service')
PATIENCE_S, TURNS = 100.0, 40


@dataclass(frozen=True, order=True)
class Use:
    """A node that offers or uses a topic, service or action."""

    kind: str  # publish, subscribe, reply, request, execute, call
    name: str
    type: str
    node: str  # its full name
    qos: str = ''  # of a topic: reliability and durability, the rest does not travel

    @property
    def is_of_ros(self) -> bool:
        return self.name in OF_ROS or self.name in {
            f'{self.node}/{each}' for each in PARAMETER_SERVICES
        }


class ContractRun:
    """One run of the whole product in which everything that it ever offers or uses shows up: each
    process in the enclave of the SROS2 policies, with simulated time, a recording, captures and
    somebody who looks through the camera. What comes and goes is seen by looking again and again.
    ``box``: an entered sandbox. ``topics``: the names as they ship.
    """

    def __init__(self, box: Sandbox, topics: Topics) -> None:
        self.uses: set[Use] = set()  # all that was seen so far
        self.enclaves: dict[str, str] = {}  # of each node
        self._box, self._topics = box, topics
        self._diagnostics = box.collect(DiagnosticArray, topics.status.diagnostics)
        box.env['XDG_STATE_HOME'] = str(box.folder / 'state')
        with socket.socket() as probe:
            probe.bind(('127.0.0.1', 0))
            self.url = f'http://127.0.0.1:{probe.getsockname()[1]}'
            config = box.config_dir(agent={'http': {'port': probe.getsockname()[1]}})
        box.start('curiosity_stand_in', 'stand_in_node', '--enclave', ROVER, publish_clock=True)
        for name in NODES:  # without config_dir: its default is seen
            enclave = f'{ENCLAVES}/{name}'
            box.start(
                'curiosity_rosa_demo', f'{name}_node', '--enclave', enclave, use_sim_time=True
            )
        command = [str(PREFIXES['curiosity_rosa_demo'] / 'lib/curiosity_rosa_demo/agent_node')]
        command += ['--headless', '--record', str(box.folder / 'record')]
        command += ['--artifacts', str(box.folder / 'artifacts')]
        command += ['--ros-args', '--enclave', f'{ENCLAVES}/agent']
        command += ['-p', 'use_sim_time:=true', '-p', f'config_dir:={config}']
        box.run(command, 'agent')

    def look(self) -> ContractRun:
        """Add what is there now."""
        node = self._box.node
        for name, space, enclave in node.get_node_names_and_namespaces_with_enclaves():
            if enclave.startswith(f'{ENCLAVES}/'):
                full = f'{space.rstrip("/")}/{name}'
                self.enclaves[full] = enclave
                for kind, found in (
                    ('reply', node.get_service_names_and_types_by_node(name, space)),
                    ('request', node.get_client_names_and_types_by_node(name, space)),
                    ('execute', get_action_server_names_and_types_by_node(node, name, space)),
                    ('call', get_action_client_names_and_types_by_node(node, name, space)),
                ):
                    self.uses |= {
                        Use(kind, each, types[0], full)
                        for each, types in found
                        if ACTION not in each
                    }
        for topic, _ in node.get_topic_names_and_types():
            for kind, endpoints in (
                ('publish', node.get_publishers_info_by_topic(topic)),
                ('subscribe', node.get_subscriptions_info_by_topic(topic)),
            ):
                for each in endpoints:
                    full = f'{each.node_namespace.rstrip("/")}/{each.node_name}'
                    if full in self.enclaves and ACTION not in topic:
                        qos = qos_text(each.qos_profile)
                        self.uses.add(Use(kind, topic, each.topic_type, full, qos))
        return self

    def show_all(self) -> None:
        """Have captures made and the camera looked through, until all who listen for a while
        were seen to do so.
        """
        images = self._topics.images
        camera, picture = images.input_compressed, images.output_capture_compressed
        passing = {
            ('/simulator', camera, 'best effort'),
            ('/agent', camera, 'best effort'),
            ('/agent', picture, 'reliable, latched'),
            ('/recorder', picture, 'reliable, latched'),
        }

        def missing() -> set[tuple[str, str, str]]:
            self.look()
            return passing - {(use.node, use.name, use.qos) for use in self.uses}

        for turn in range(TURNS):
            # One of them listens for a quarter of a second only: nothing else is waited for then.
            if turn % 2:
                self._ask('/say', {'text': ':cap'})
            else:
                self._ask('/camera.jpg')
            with suppress(AssertionError):
                wait_until(lambda: not missing(), '', PATIENCE_S / TURNS)
                return
        raise AssertionError(f'waited {PATIENCE_S} s for these to be heard: {missing()}')

    @cached_property
    def parameters(self) -> list[tuple[str, tuple[str, str, bool, str], Any]]:
        """Of each node, in order: name, type, whether it is read only, what it says; the value."""
        found = []
        for node in sorted((*NODES, 'agent')):
            names = self._box.call(ListParameters, f'/{node}/list_parameters').result.names
            asked = DescribeParameters.Request(names=names)
            told = self._box.call(DescribeParameters, f'/{node}/describe_parameters', asked)
            wanted = GetParameters.Request(names=names)
            values = self._box.call(GetParameters, f'/{node}/get_parameters', wanted).values
            for each, kept in zip(told.descriptors, values, strict=True):
                value = parameter_value_to_python(kept)
                said = (each.name, type(value).__name__, each.read_only, each.description)
                if each.name not in PARAMETERS_OF_ROS:
                    found.append((node, said, value))
        return found

    def figures(self) -> dict[str, set[str]]:
        """The keys of what each node has told of itself, by its name there."""
        return {
            status.name: {each.key for each in status.values}
            for array in list(self._diagnostics)
            for status in array.status
        }

    def status(self) -> dict[str, Any]:
        """What get_status answers."""
        answer = self._box.call(Trigger, self._topics.adapter.get_status.name)
        return dict(json.loads(answer.message))

    def overlay(self) -> set[Use]:
        """What the five processes offer and use."""
        return {use for use in self.uses if self.enclaves[use.node] != ROVER}

    def _ask(self, route: str, body: Any = None) -> None:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + route, data, {'Content-Type': 'application/json'}
        )
        with suppress(OSError), urllib.request.urlopen(request, timeout=5.0) as answer:
            answer.read()  # while it starts there is nobody, and no picture yet


def qos_text(qos: Any) -> str:
    reliable = qos.reliability == ReliabilityPolicy.RELIABLE
    latched = qos.durability == DurabilityPolicy.TRANSIENT_LOCAL
    return ('reliable' if reliable else 'best effort') + (', latched' if latched else '')


# --- docs/reference/contracts.md -------------------------------------------------------------


def interfaces() -> dict[str, str]:
    """The part of docs/reference/contracts.md that needs no run: the fields of our own types."""
    lines = []
    for path in (*sorted(TYPES.glob('action/*.action')), *sorted(TYPES.glob('srv/*.srv'))):
        parts = PARTS[path.suffix]
        for part, text in zip(parts, path.read_text(encoding='utf-8').split('---'), strict=True):
            for line in text.strip().splitlines():
                declared, _, says = line.partition('#')
                if declared:
                    type_, name = declared.split()
                    lines.append((path.stem, part, f'`{name}`', f'`{type_}`', says.strip()))
    return {'fields': table(('interface', 'part', 'field', 'type', ''), lines)}


def contracts(run: ContractRun, topics: Topics) -> dict[str, str]:
    """The parts of docs/reference/contracts.md that a run shows."""
    uses = run.overlay()
    own = sorted(use for use in uses if not use.is_of_ros)
    return {
        'topics': _names(own, topics, 'topic', publish='published by', subscribe='heard by'),
        'services': _names(own, topics, 'service', reply='served by', request='called by'),
        'actions': _names(own, topics, 'action', execute='served by'),
        'parameters': _parameters(run),
        'nodes': _nodes(run, uses),
    }


def names_of(topics: Topics) -> dict[str, str]:
    """The key of each name in topics.yaml."""
    found = {}
    for section, keys in topics.model_dump().items():
        for key, value in keys.items():
            name = value['name'] if isinstance(value, dict) else value
            found[name] = f'`{section}.{key}`'
    return found


def _names(uses: list[Use], topics: Topics, what: str, **roles: str) -> str:
    """``roles``: the kinds of use, each with its heading."""
    keys = names_of(topics)
    lines = [
        (
            f'`{name}`',
            keys.get(name, ''),
            f'`{type_}`',
            *(_who(uses, role, name) for role in roles),
        )
        for name, type_ in sorted({(use.name, use.type) for use in uses if use.kind in roles})
    ]
    return table((what, 'key', 'type', *roles.values()), lines)


def _who(uses: list[Use], kind: str, name: str) -> str:
    """The nodes, each with its QoS if there is one."""
    found: dict[str, list[str]] = {}
    for use in uses:
        if (use.kind, use.name) == (kind, name):
            found.setdefault(use.node.lstrip('/'), []).append(use.qos)
    said = [
        f'{node} ({" / ".join(reversed(qos))})' if any(qos) else node
        for node, qos in found.items()
    ]
    return '; '.join(said) or ('the rover' if kind == 'reply' else '')


def _parameters(run: ContractRun) -> str:
    """The value at the first node, by its name, is the default: it was given none."""
    found: dict[tuple[str, str, bool, str], list[tuple[str, Any]]] = {}
    for node, parameter, value in run.parameters:
        found.setdefault(parameter, []).append((node, value))
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


def _nodes(run: ContractRun, uses: set[Use]) -> str:
    alike: dict[tuple[str, ...], list[str]] = {}
    for enclave, node in sorted({(run.enclaves[use.node], use.node) for use in uses}):
        of_kind: dict[str, list[str]] = {'publish': [], 'subscribe': [], 'reply': []}
        for use in sorted(use for use in uses if use.node == node and use.is_of_ros):
            of_kind[use.kind].append(f'`{use.name.replace(f"{node}/", "~/")}`')
        if len(of_kind['reply']) == len(PARAMETER_SERVICES):
            of_kind['reply'] = ['its parameters and types']
        shared = (enclave.rpartition('/')[2], *map(', '.join, of_kind.values()))
        alike.setdefault(shared, []).append(node.lstrip('/'))
    lines = [(process, ', '.join(nodes), *rest) for (process, *rest), nodes in alike.items()]
    return table(('process', 'nodes', 'writes', 'hears', 'serves'), lines)


# --- writing them ----------------------------------------------------------------------------


def observed() -> dict[str, str]:
    """The parts of docs/reference/contracts.md of a run that is made for them."""
    topics = load_config().topics
    with Sandbox() as box:
        run = ContractRun(box, topics)
        run.show_all()
        seen: list[int] = []

        def settled() -> bool:
            seen.append(len(run.look().uses))
            return len(seen) > 100 and seen[-1] == seen[-100]

        wait_until(settled, 'nothing new to show up', PATIENCE_S)
        return contracts(run, topics)


def main() -> None:
    made = {**interfaces(), **observed()}
    CONTRACTS.write_text(with_parts(CONTRACTS.read_text(encoding='utf-8'), made), encoding='utf-8')
    print(f'{CONTRACTS.relative_to(ROOT)}: written')


if __name__ == '__main__':
    main()
