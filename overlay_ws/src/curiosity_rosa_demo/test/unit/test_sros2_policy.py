# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The SROS2 policies by themselves. What runs is compared in integration/test_contracts_ros.py."""

from __future__ import annotations

from itertools import product
from pathlib import Path
import re
import xml.etree.ElementTree as ElementTree

from curiosity_rosa_demo.infra.config_loader import load_config
from harness import ROOT
import pytest
from sros2_policy import Grant, grants, OVERLAY, read, ROVER

CONFIG = load_config()
TOPICS = CONFIG.topics
ADAPTER, AGENT = '/curiosity_rosa/adapter', '/curiosity_rosa/agent'
OF_ROS = {'/rosout', '/parameter_events', '/clock'}
PAGE = (ROOT / 'docs/howto/sros2.md').read_text(encoding='utf-8')
BOTH = pytest.mark.parametrize('path', [OVERLAY, ROVER], ids=lambda path: path.stem)


ARM = load_config(robot='curiosity')
MOVERS = {
    *(each['name'] for each in TOPICS.curiosity.model_dump().values()),
    *(command.service for _, command in ARM.robot.commands.values()),
}
OWN = {
    TOPICS.rover.cmd_vel,
    TOPICS.rover.wheel_commands,
    TOPICS.rover.adapter_presence,
}  # of the rover's, the adapter's to write
CAMERA = TOPICS.images.input_compressed
THEIRS = {
    *(MOVERS | set(TOPICS.rover.model_dump().values())),
    *(CAMERA, TOPICS.images.input_raw, TOPICS.tf.topic, TOPICS.tf.static_topic),
}
MONITORS_STOP = Grant(
    '/curiosity_rosa/monitor', '/monitor', 'request', TOPICS.adapter.move_stop.name
)
CALLED = {
    *(each['name'] for each in TOPICS.adapter.model_dump().values()),
    *map(ARM.appendage_service, ARM.robot.commands),
}


@pytest.mark.parametrize(
    ('kinds', 'names', 'granted', 'enclaves'),
    [
        ({'request', 'reply'}, MOVERS, MOVERS, {ADAPTER}),
        ({'publish'}, THEIRS, OWN, {ADAPTER}),
        ({'request'}, CALLED, CALLED, {AGENT}),
        ({'subscribe'}, {CAMERA}, {CAMERA}, {'/curiosity_rosa/simulator', AGENT}),
    ],
    ids=['move the rover', 'write to the rover', 'call the adapter', 'hear the camera'],
)
def test_only_who_must_may(
    kinds: set[str], names: set[str], granted: set[str], enclaves: set[str]
) -> None:
    found = [
        each
        for each in read(OVERLAY)
        if each.kind in kinds and each.name in names and each != MONITORS_STOP
    ]
    assert {each.name for each in found} == granted
    assert {(each.enclave, each.name) for each in found} == set(product(enclaves, granted))
    if ADAPTER in enclaves:
        assert {each.node for each in found} == {'/adapter'}
        assert {each.kind for each in found} <= {'request', 'publish'}


@BOTH
def test_a_policy_has_no_wildcard_nothing_twice_and_only_known_names(path: Path) -> None:
    allowed = read(path)
    assert len(allowed) == len(set(allowed))
    assert not [grant for grant in allowed if re.search(r'[^\w/]', grant.name)]
    dumped = TOPICS.model_dump()
    known = {
        each['name'] if isinstance(each, dict) else each
        for section in dumped.values()
        for each in section.values()
    }
    own = {grant for grant in allowed if not grant.name.startswith(f'{grant.node}/')}
    # A node's own services start as its name does; those of the adapter and the agent do as well.
    names = {grant.name for grant in own if not _reads_parameters(grant)}
    assert names <= known | MOVERS | CALLED | OF_ROS


def _reads_parameters(grant: Grant) -> bool:
    is_getter = grant.name.endswith(('/list_parameters', '/get_parameters'))
    return grant.kind == 'request' and is_getter


def test_the_agent_reads_the_parameters_of_each_node_and_no_enclave_sets_any() -> None:
    allowed = read(OVERLAY)
    asked = [each for each in allowed if each.kind == 'request' and 'parameter' in each.name]
    assert {each.enclave for each in asked} == {AGENT}
    assert all(map(_reads_parameters, asked))
    nodes = {each.node for each in allowed} - {'/agent'}
    assert {each.name.rpartition('/')[0] for each in asked} == nodes


def test_what_answers_about_the_graph_need_lets_the_agent_write_nothing() -> None:
    written = {g.name for g in read(OVERLAY) if g.node == '/agent' and g.kind == 'publish'}
    assert not written & (MOVERS | set(TOPICS.rover.model_dump().values()))
    requested = {g for g in read(OVERLAY) if g.node == '/agent' and g.kind == 'request'}
    others = {g.name for g in requested if not _reads_parameters(g)}
    assert others == CALLED | {each['name'] for each in TOPICS.services.model_dump().values()}


@BOTH
def test_a_comment_beside_the_enclaves_would_end_the_sros2_tool(path: Path) -> None:
    """``ros2 security generate_artifacts`` takes each child of <enclaves> for an enclave."""
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    enclaves = ElementTree.parse(path, parser).getroot().find('enclaves')
    assert enclaves is not None
    assert {child.tag for child in enclaves} == {'enclave'}


def test_in_a_namespace_the_names_move_as_those_of_the_nodes_do() -> None:
    """The two edits that the page shows, made to the text."""
    text = OVERLAY.read_text(encoding='utf-8')
    for pattern, replacement in _edits():
        text = '\n'.join(
            line if _is_of_ros(line) else re.sub(pattern, replacement, line)
            for line in text.splitlines()
        )
    moved = TOPICS.in_namespace('r1', rover='r1').model_dump()
    known = {
        each['name'] if isinstance(each, dict) else each
        for section in moved.values()
        for each in section.values()
    }
    arm = ARM.in_namespace('r1', rover='r1')
    known |= {command.service for _, command in arm.robot.commands.values()}
    known |= set(map(arm.appendage_service, arm.robot.commands))
    found = grants(text)
    assert len(found) == len(read(OVERLAY))
    for grant in found:
        assert grant.enclave.startswith('/r1/curiosity_rosa/')
        assert grant.node.startswith('/r1/')
        ours = grant.name.startswith(f'{grant.node}/')
        assert ours or _reads_parameters(grant) or grant.name in known | OF_ROS, grant


def _edits() -> list[tuple[str, str]]:
    """The expressions of the sed command of the page."""
    return re.findall(r"-e '(?:[^']*! )?s\|([^|]+)\|([^|]+)\|'", PAGE)


def _is_of_ros(line: str) -> bool:
    return any(f'>{name}<' in line for name in OF_ROS)


def test_the_page_names_every_enclave() -> None:
    enclaves = {grant.enclave for grant in (*read(OVERLAY), *read(ROVER))}
    assert all(f'`{enclave}`' in PAGE for enclave in enclaves)


@pytest.mark.parametrize(
    'text',
    [
        '<policy version="0.1.0"/>',
        '<permissions/>',
        '<policy version="0.2.0"><enclaves><enclave path="/a"><profiles><profile ns="/" node="n">'
        '<topics publish="DENY"><topic>x</topic></topics></profile></profiles></enclave>'
        '</enclaves></policy>',
    ],
)
def test_what_is_no_such_policy_is_not_read(text: str) -> None:
    with pytest.raises(ValueError, match=r'policy|DENY'):
        grants(text)
