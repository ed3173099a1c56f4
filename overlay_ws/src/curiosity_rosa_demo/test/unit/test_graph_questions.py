# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Questions about the ROS graph: what a sentence asks, its answer, and that none writes."""

from __future__ import annotations

import ast
from itertools import product
from pathlib import Path

from curiosity_rosa_demo.agent.kernel.hci_ingress import classify
from curiosity_rosa_demo.agent.kernel.intent.graph_questions import graph_query
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
from hypothesis import given
from hypothesis import strategies as st
from orders_world import fields
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

ROWS = fields('graph_questions.tsv')
ORDERS = [
    row[-1]
    for name in ('orders_dev.tsv', 'orders_dev2.tsv', 'orders_held.tsv')
    for row in fields(name)
]
TOPICS = load_config().topics
CAMERA, CAPTURE = TOPICS.images.input_compressed, TOPICS.images.output_capture_compressed
BEST, RELIABLE = Qos(False, False), Qos(True, False)
PICTURE = 'sensor_msgs/msg/CompressedImage'


@pytest.mark.parametrize('language', ['en', 'ja', 'zh'])
def test_every_question_is_read_as_it_was_labelled(language: str) -> None:
    chosen = [row for row in ROWS if row[0] == language]
    assert chosen
    wrong = []
    for _, kind, name, parameter, text in chosen:
        wanted = GraphQuery(
            GraphKind(kind), *('' if each == '-' else each for each in (name, parameter))
        )
        read = (graph_query(text), classify(text).payload)
        if read != (wanted, {'topics': ['graph']}):
            wrong.append((text, read))
    assert wrong == []


def test_no_order_of_any_corpus_is_a_question_about_the_graph() -> None:
    assert ORDERS
    assert [text for text in ORDERS if graph_query(text) is not None] == []


@given(st.sampled_from(ROWS), st.sampled_from(['drive forward', '前進して', '前进两米']))
def test_an_order_beside_a_question_is_not_lost(row: list[str], order: str) -> None:
    assert classify(f'{row[4]} {order}.').payload.get('topics') != ['graph']


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
        reliability=ReliabilityPolicy.RELIABLE if qos.reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL
        if qos.transient_local
        else DurabilityPolicy.VOLATILE,
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


def topic(name: str, publishers: int, subscribers: int, **changes: Qos | str) -> TopicInfo:
    kind = str(changes.get('type', PICTURE))
    offered, requested = changes.get('offered', BEST), changes.get('requested', BEST)
    assert isinstance(offered, Qos)
    assert isinstance(requested, Qos)
    return TopicInfo(
        name,
        (kind,),
        tuple(Endpoint(f'/p{i}', kind, offered) for i in range(publishers)),
        tuple(Endpoint(f'/s{i}', kind, requested) for i in range(subscribers)),
    )


def answered(graph: Graph, kind: GraphKind, name: str = '', language: str = 'en') -> str:
    result = GraphAnswers(graph, TOPICS)(GraphQuery(kind, name), language, Cancellation())
    return str(result.data['answer']) if result.ok else result.error_reason


@pytest.mark.parametrize(
    ('graph', 'broken'),
    [
        (Graph(), f'No node publishes the camera topic {CAMERA}'),
        (Graph(topic(TOPICS.images.input_raw, 1, 0)), 'Set images.input to raw'),
        (Graph(topic(CAMERA, 1, 0, type='x/msg/Y')), 'has the type x/msg/Y'),
        (Graph(topic(CAMERA, 1, 1, requested=RELIABLE)), 'reliability: best effort / reliable'),
        (Graph(topic(CAMERA, 1, 0), sample=Sample(2.0)), 'no frame came in 2.0 s'),
        (Graph(topic(CAMERA, 1, 0), sample=Sample(1.0, 1, stamp_age_s=9.0)), '9.0 s old'),
        (Graph(topic(CAMERA, 1, 0)), 'the simulator node is not running'),
        (Graph(topic(CAMERA, 1, 0), topic(CAPTURE, 1, 0)), f'nobody subscribes to {CAPTURE}'),
        (Graph(topic(CAMERA, 1, 0), topic(CAPTURE, 1, 1)), 'The whole chain works'),
    ],
)
def test_no_picture_names_the_first_broken_link(graph: Graph, broken: str) -> None:
    assert broken in answered(graph, GraphKind.NO_PICTURE)


@pytest.mark.parametrize('language', ['en', 'ja', 'zh'])
def test_everything_is_answered_within_bounds_and_on_printable_lines(language: str) -> None:
    """Names of the graph are data, however many there are and whatever they hold."""
    many = [topic(f'/t{i}\x1b[2J\n:stop', 1, 0) for i in range(3 * MAX_ROWS)]
    for kind, name in product(GraphKind, ('', '/t1', '/nothing', 'agent')):
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
    folder = Path(reader.__file__).parent
    names, services, calls = set(), set(), set()
    for file in folder.glob('*.py'):
        for node in ast.walk(ast.parse(file.read_text(encoding='utf-8'))):
            if isinstance(node, ast.ImportFrom) and str(node.module).endswith('.srv'):
                services |= {each.name for each in node.names}
            if isinstance(node, ast.Attribute):
                names.add(node.attr)
            if isinstance(node, ast.Import):
                calls |= {each.name for each in node.names}
    assert services == {'GetParameters', 'ListParameters'}
    assert not names & {'create_publisher', 'publish', 'set_parameters', 'call_async', 'trigger'}
    assert not calls & {'subprocess', 'os', 'socket'}
