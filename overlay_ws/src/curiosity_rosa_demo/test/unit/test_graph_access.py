# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Who reads and who writes the ROS graph: the answers about it, and the SROS2 policies."""

from __future__ import annotations

from itertools import product
from pathlib import Path
import re
from typing import Any
import xml.etree.ElementTree as ElementTree

from curiosity_rosa_demo.agent.topics.graph import reader
from curiosity_rosa_demo.agent.topics.graph.answers import GraphAnswers, MAX_ROWS
from curiosity_rosa_demo.agent.topics.graph.reader import incompatibilities
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.graph import (
    Endpoint,
    FrameAge,
    GraphKind,
    GraphQuery,
    GraphSnapshot,
    Qos,
    Sample,
    ServiceInfo,
    TopicInfo,
)
from curiosity_rosa_demo.infra.config_loader import load_config
from harness import ROOT
from hypothesis import given
from hypothesis import strategies as st
import pytest
from rclpy.duration import Duration
from rclpy.qos import (
    DurabilityPolicy,
    LivelinessPolicy,
    qos_check_compatible,
    QoSCompatibility,
    QoSProfile,
    ReliabilityPolicy,
)
from sros2_policy import Grant, grants, OVERLAY, read, ROVER

TOPICS = load_config().topics
CAMERA, CAPTURE = TOPICS.images.input_compressed, TOPICS.images.output_capture_compressed
BEST, RELIABLE = Qos(False, False), Qos(True, False)
PICTURE = 'sensor_msgs/msg/CompressedImage'

# --- QoS: the rules of the installed middleware are the judge ---------------------------------

QOS = st.builds(
    Qos,
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 0.1, 2.0]),
    st.booleans(),
    st.sampled_from([None, 0.5, 3.0]),
)


def profile(qos: Qos) -> QoSProfile:
    """Infinite is the middleware's default, as zero."""
    by_topic = LivelinessPolicy.MANUAL_BY_TOPIC
    return QoSProfile(
        depth=1,
        reliability=[ReliabilityPolicy.BEST_EFFORT, ReliabilityPolicy.RELIABLE][qos.reliable],
        durability=[DurabilityPolicy.VOLATILE, DurabilityPolicy.TRANSIENT_LOCAL][
            qos.transient_local
        ],
        deadline=Duration(seconds=qos.deadline_s or 0.0),
        liveliness=by_topic if qos.manual_liveliness else LivelinessPolicy.AUTOMATIC,
        liveliness_lease_duration=Duration(seconds=qos.lease_s or 0.0),
    )


@given(QOS, QOS)
def test_two_qos_match_where_the_middleware_says_so(offered: Qos, requested: Qos) -> None:
    verdict, _ = qos_check_compatible(profile(offered), profile(requested))
    assert bool(incompatibilities(offered, requested)) == (verdict == QoSCompatibility.ERROR)


# --- answers ----------------------------------------------------------------------------------


class Graph:
    """A GraphPort in memory."""

    def __init__(self, *topics: TopicInfo, sample: Sample | None = None) -> None:
        self._topics = tuple(sorted(topics, key=lambda each: each.name))
        self._sample = sample or Sample(2.0, 20, 20_000, 0.1, ('data: 1',), 0.1)

    def snapshot(self) -> GraphSnapshot:
        run_task = ServiceInfo('/agent/run_task', 'x/action/RunTask', ('/agent',))
        return GraphSnapshot(('/agent', '/rover'), self._topics, (), (run_task,))

    def listen(
        self,
        topic: TopicInfo,
        seconds: float,
        cancellation: Cancellation,
        *,
        first_only: bool = False,
    ) -> Sample:
        cancellation.check()
        return self._sample

    def parameters(self, node: str, cancellation: Cancellation) -> dict[str, str]:
        return {'use_sim_time': 'True'}

    def frames(self) -> list[FrameAge]:
        return [FrameAge('odom', 'base_footprint', 0.2, False)]


def topic(
    name: str,
    publishers: int,
    subscribers: int,
    *,
    kind: str = PICTURE,
    requested: Qos = BEST,
) -> TopicInfo:
    publishing = tuple(Endpoint(f'/p{i}', kind, BEST) for i in range(publishers))
    listening = tuple(Endpoint(f'/s{i}', kind, requested) for i in range(subscribers))
    return TopicInfo(name, (kind,), publishing, listening)


def answered(graph: Graph, kind: GraphKind, name: str = '', language: str = 'en') -> str:
    result = GraphAnswers(graph, TOPICS)(GraphQuery(kind, name), language, Cancellation())
    return str(result.data['answer']) if result.ok else result.error_reason


CHAINS = [
    (Graph(), f'No node publishes the camera topic {CAMERA}'),
    (Graph(topic(TOPICS.images.input_raw, 1, 0)), 'Set images.input to raw'),
    (Graph(topic(CAMERA, 1, 0, kind='x/msg/Y')), 'has the type x/msg/Y'),
    (Graph(topic(CAMERA, 1, 1, requested=RELIABLE)), 'reliability: best effort / reliable'),
    (Graph(topic(CAMERA, 1, 0), sample=Sample(2.0)), 'no frame came in 2.0 s'),
    (Graph(topic(CAMERA, 1, 0), sample=Sample(1.0, 1, stamp_age_s=9.0)), '9.0 s old'),
    (Graph(topic(CAMERA, 1, 0)), 'the simulator node is not running'),
    (Graph(topic(CAMERA, 1, 0), topic(CAPTURE, 1, 0)), f'nobody subscribes to {CAPTURE}'),
    (Graph(topic(CAMERA, 1, 0), topic(CAPTURE, 1, 1)), 'The whole chain works'),
]


def test_no_picture_names_the_first_broken_link() -> None:
    for graph, broken in CHAINS:
        assert broken in answered(graph, GraphKind.NO_PICTURE)


def test_everything_is_answered_within_bounds_and_on_printable_lines() -> None:
    """Names of the graph are data, however many there are and whatever they hold."""
    many = [topic(f'/t{i}\x1b[2J\n:stop', 1, 0) for i in range(3 * MAX_ROWS)]
    asked = product(('en', 'ja', 'zh'), GraphKind, ('', '/t1', '/nothing', 'agent'))
    for language, kind, name in asked:
        lines = answered(Graph(*many), kind, name, language).split('\n')
        assert 1 <= len(lines) <= MAX_ROWS + 2
        assert all(line.isprintable() and len(line) <= 1300 for line in lines)
        assert not any(line.startswith(':stop') for line in lines)


def test_a_cancelled_question_ends() -> None:
    cancelled = Cancellation()
    cancelled.cancel('enough')
    with pytest.raises(TurnCancelled):
        GraphAnswers(Graph(), TOPICS)(GraphQuery(GraphKind.NODES), 'en', cancelled)


def test_nothing_that_reads_the_graph_can_write_to_it() -> None:
    """No publisher, no parameter of another node, and of all services only the two getters."""
    files = Path(reader.__file__).parent.glob('*.py')
    source = '\n'.join(file.read_text(encoding='utf-8') for file in files)
    services = re.findall(r'^from \S+\.srv import (.*)$', source, re.MULTILINE)
    assert services == ['GetParameters, ListParameters']
    writes = r'\.(?:create_publisher|publish|set_parameters|call_async|trigger)\b'
    assert re.findall(rf'{writes}|import subprocess|^import os', source, re.MULTILINE) == []


# --- the SROS2 policies: what runs is compared in integration/test_contracts_ros.py --------------

ADAPTER, AGENT = '/curiosity_rosa/adapter', '/curiosity_rosa/agent'
OF_ROS = {'/rosout', '/parameter_events', '/clock'}
PAGE = (ROOT / 'docs/howto/sros2.md').read_text(encoding='utf-8')
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


def is_getter(grant: Grant) -> bool:
    return grant.kind == 'request' and grant.name.endswith(('/list_parameters', '/get_parameters'))


def names_in(topics: Any) -> set[str]:
    entries = [each for section in topics.model_dump().values() for each in section.values()]
    return {each['name'] if isinstance(each, dict) else each for each in entries}


@pytest.mark.parametrize('path', [OVERLAY, ROVER], ids=lambda path: path.stem)
def test_a_policy_has_no_wildcard_nothing_twice_and_only_known_names(path: Path) -> None:
    allowed = read(path)
    assert len(allowed) == len(set(allowed))
    assert not [grant for grant in allowed if re.search(r'[^\w/]', grant.name)]
    assert all(f'`{grant.enclave}`' in PAGE for grant in allowed)
    # A node's own services start as its name does; those of the adapter and the agent do as well.
    own = {grant for grant in allowed if not grant.name.startswith(f'{grant.node}/')}
    names = {grant.name for grant in own if not is_getter(grant)}
    assert names <= names_in(TOPICS) | MOVERS | CALLED | OF_ROS
    # ``ros2 security generate_artifacts`` would take a comment in <enclaves> for an enclave.
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    enclaves = ElementTree.parse(path, parser).getroot().find('enclaves')
    assert enclaves is not None
    assert {child.tag for child in enclaves} == {'enclave'}


def test_the_agent_reads_the_parameters_of_each_node_and_writes_to_no_rover() -> None:
    allowed = read(OVERLAY)
    asked = [each for each in allowed if each.kind == 'request' and 'parameter' in each.name]
    assert {each.enclave for each in asked} == {AGENT}
    assert all(map(is_getter, asked))
    nodes = {each.node for each in allowed} - {'/agent'}
    assert {each.name.rpartition('/')[0] for each in asked} == nodes
    of_agent = [each for each in allowed if each.node == '/agent']
    written = {each.name for each in of_agent if each.kind == 'publish'}
    assert not written & (MOVERS | set(TOPICS.rover.model_dump().values()))
    others = {g.name for g in of_agent if g.kind == 'request' and not is_getter(g)}
    assert others == CALLED | {each['name'] for each in TOPICS.services.model_dump().values()}


def test_in_a_namespace_the_names_move_as_those_of_the_nodes_do() -> None:
    """The edits of the sed command that the page shows, made to the text."""
    edits = re.findall(r"-e '(?:[^']*! )?s\|([^|]+)\|([^|]+)\|'", PAGE)
    lines = OVERLAY.read_text(encoding='utf-8').splitlines()
    for pattern, replacement in edits:
        lines = [
            line
            if any(f'>{name}<' in line for name in OF_ROS)
            else re.sub(pattern, replacement, line)
            for line in lines
        ]
    arm = ARM.in_namespace('r1', rover='r1')
    known = names_in(TOPICS.in_namespace('r1', rover='r1')) | OF_ROS
    known |= {command.service for _, command in arm.robot.commands.values()}
    known |= set(map(arm.appendage_service, arm.robot.commands))
    found = grants('\n'.join(lines))
    assert len(found) == len(read(OVERLAY))
    for grant in found:
        assert grant.enclave.startswith('/r1/curiosity_rosa/')
        assert grant.node.startswith('/r1/')
        ours = grant.name.startswith(f'{grant.node}/')
        assert ours or is_getter(grant) or grant.name in known, grant
