# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Answers questions about the ROS graph: data, and one text in the language of the question.

Everything is bounded: rows, text, time, questions at once. Names and contents of the graph are
data: printable and clipped. No ROS here but through the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
import threading

from curiosity_rosa_demo.agent.language.tables import say
from curiosity_rosa_demo.agent.topics.graph_links import (
    mismatched,
    NotFound,
    resolve,
    why_no_picture,
)
from curiosity_rosa_demo.agent.topics.graph_reader import RclpyGraph
from curiosity_rosa_demo.domain.brain_state import Json
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.graph import (
    Endpoint,
    GraphQuery,
    GraphSnapshot,
    Sample,
    ServiceInfo,
    TopicInfo,
)
from curiosity_rosa_demo.domain.models import ToolResult
from curiosity_rosa_demo.domain.text import clip, printable, valid_unicode
from curiosity_rosa_demo.infra.config.topics import Topics
from curiosity_rosa_demo.infra.ros_io import ServiceFailed

LISTEN_S = 2.5  # for a rate or a bandwidth
NEWEST_S = 3.0  # for a newest message
MAX_ROWS = 60
MAX_LINE_CHARS = 300
MAX_AT_ONCE = 2  # questions
PARAMETER_SERVICES = (
    'describe_parameters',
    'get_parameter_types',
    'get_parameters',
    'get_type_description',
    'list_parameters',
    'set_parameters',
    'set_parameters_atomically',
)


class GraphAnswers:
    """Thread-safe; a call blocks for a few seconds at most."""

    def __init__(self, port: RclpyGraph, topics: Topics) -> None:
        self._port, self._topics = port, topics
        self._free = threading.BoundedSemaphore(MAX_AT_ONCE)

    def __call__(self, query: GraphQuery, language: str, cancellation: Cancellation) -> ToolResult:
        """``data``: ``answer``, a text; ``query`` and ``rows``. Raises TurnCancelled."""
        if not self._free.acquire(blocking=False):
            return ToolResult.failure(say('graph.busy', language))
        try:
            asked = _Asked(self._port, self._topics, query, language, cancellation)
            return asked.result()
        finally:
            self._free.release()


@dataclass
class _Asked:
    """One question while it is answered: by the method that is called as its GraphKind."""

    port: RclpyGraph
    names: Topics
    query: GraphQuery
    language: str
    cancellation: Cancellation

    def result(self) -> ToolResult:
        self.cancellation.check()
        try:
            self.graph = self.port.snapshot()
            head, rows = getattr(self, self.query.kind.value)()
        except NotFound as missing:
            return ToolResult.failure(self._missing_text(missing))
        except ServiceFailed as failure:
            why = printable(str(failure))
            return ToolResult.failure(self.text('node_silent', name=self.query.name, why=why))
        lines = [clip(printable(valid_unicode(row)), MAX_LINE_CHARS) for row in rows]
        shown = lines[:MAX_ROWS]
        if len(lines) > MAX_ROWS:
            shown.append(self.text('more', count=len(lines) - MAX_ROWS))
        head = clip(printable(valid_unicode(head)), 4 * MAX_LINE_CHARS)
        query: Json = {'kind': self.query.kind.value, 'name': self.query.name}
        return ToolResult.success(
            answer='\n'.join([head, *(f'- {row}' for row in shown)]),
            query=query,
            rows=lines[:MAX_ROWS],
            count=len(lines),
        )

    def text(self, key: str, **values: object) -> str:
        return say(f'graph.{key}', self.language, **values)

    def _missing_text(self, missing: NotFound) -> str:
        asked = clip(printable(missing.asked), MAX_LINE_CHARS)
        if missing.candidates:
            known = printable(', '.join(missing.candidates))
            return self.text('ambiguous', asked=asked, known=clip(known, MAX_LINE_CHARS))
        if not asked:
            return self.text('which_topic')
        return self.text('not_found', asked=asked)

    # --- what a name means --------------------------------------------------------------------

    def _topic(self) -> TopicInfo:
        images, rover = self.names.images, self.names.rover
        camera = images.input_raw if images.input == 'raw' else images.input_compressed
        aliases = {'camera': camera, 'odometry': rover.odometry, 'odom': rover.odometry}
        aliases |= {'lidar': rover.scan, 'laser': rover.scan, 'scan': rover.scan}
        aliases |= {'battery': rover.battery_state, 'e-stop': rover.e_stop}
        if not self.query.name:
            raise NotFound('', [])
        name = resolve(self.query.name, [each.name for each in self.graph.topics], aliases)
        found = self.graph.topic(name)
        assert found is not None
        return found

    def _node(self) -> str:
        """Exact nodes go first: ``adapter`` is a node, although other nodes contain it."""
        return resolve(self.query.name, self.graph.nodes)

    # --- the answers --------------------------------------------------------------------------

    def nodes(self) -> _Rows:
        return self.text('nodes', count=len(self.graph.nodes)), self.graph.nodes

    def topics(self) -> _Rows:
        return self._topic_rows('topics', lambda each: True)

    def without_subscribers(self) -> _Rows:
        return self._topic_rows(
            'without_subscribers', lambda each: bool(each.publishers) and not each.subscriptions
        )

    def without_publishers(self) -> _Rows:
        return self._topic_rows(
            'without_publishers', lambda each: bool(each.subscriptions) and not each.publishers
        )

    def _topic_rows(self, key: str, is_wanted: Callable[[TopicInfo], bool]) -> _Rows:
        rows = [f'{e.name} [{", ".join(e.types)}]' for e in self.graph.topics if is_wanted(e)]
        return self.text(key, count=len(rows)), rows

    def topic(self) -> _Rows:
        head, publishers = self.publishers()
        second, subscribers = self.subscribers()
        return head, [*publishers, second, *subscribers]

    def type(self) -> _Rows:
        try:
            topic = self._topic()
        except NotFound:
            services = {each.name: each for each in (*self.graph.services, *self.graph.actions)}
            service = services[resolve(self.query.name, services)]
            return self.text('type', name=service.name, type=service.type), ()
        return self.text('type', name=topic.name, type=', '.join(topic.types)), ()

    qos = topic

    def publishers(self) -> _Rows:
        return self._ends('publishers', 'publishes', lambda topic: topic.publishers)

    def subscribers(self) -> _Rows:
        return self._ends('subscribers', 'subscribes', lambda topic: topic.subscriptions)

    def _ends(
        self, key: str, node_key: str, ends: Callable[[TopicInfo], tuple[Endpoint, ...]]
    ) -> _Rows:
        """Of a topic; if no topic has that name, the topics of the node that has it."""
        try:
            topic = self._topic()
        except NotFound as missing:
            try:
                node = self._node()
            except NotFound:
                raise missing from None
            rows = [
                f'{each.name} [{", ".join(each.types)}]'
                for each in self.graph.topics
                if any(end.node == node for end in ends(each))
            ]
            return self.text(node_key, name=node, count=len(rows)), rows
        found = ends(topic)
        types = ', '.join(topic.types)
        rows = [f'{end.node} ({end.qos.text})' for end in found]
        return self.text(key, name=topic.name, type=types, count=len(found)), rows

    def node(self) -> _Rows:
        if not self.query.name:
            return self.nodes()
        node, parts = self._node(), []
        for key, names in (
            ('publishes', [e.name for e in self.graph.topics if _has(e.publishers, node)]),
            ('subscribes', [e.name for e in self.graph.topics if _has(e.subscriptions, node)]),
            ('serves', [e.name for e in _own_services(self.graph) if node in e.nodes]),
        ):
            parts += [self.text(key, name=node, count=len(names)), *names]
        return parts[0], parts[1:]

    def qos_mismatches(self) -> _Rows:
        found = mismatched(self.graph)
        if self.query.name:
            name = self._topic().name
            found = [each for each in found if each.topic == name]
        if not found:
            return self.text('no_mismatch'), ()
        return self.text('mismatches', count=len(found)), [
            f'{each.topic}: {each.publisher} -> {each.subscriber} ({"; ".join(each.reasons)})'
            for each in found
        ]

    def services(self) -> _Rows:
        return self._service_rows('services', _own_services(self.graph))

    def actions(self) -> _Rows:
        return self._service_rows('actions', self.graph.actions)

    def _service_rows(self, key: str, known: Iterable[ServiceInfo]) -> _Rows:
        """All; of the service that the name means; or of the node that it means."""
        found = list(known)
        if self.query.name:
            try:
                name = resolve(self.query.name, [each.name for each in found])
            except NotFound:
                node = self._node()
                found = [each for each in found if node in each.nodes]
            else:
                found = [each for each in found if each.name == name]
        rows = [
            self.text(
                'served_by', name=e.name, type=e.type, nodes=', '.join(e.nodes) or '?'
            )
            for e in found
        ]  # fmt: skip
        return self.text(key, count=len(rows)), rows

    def parameters(self) -> _Rows:
        if not self.query.name:
            known = clip(', '.join(self.graph.nodes), MAX_LINE_CHARS)
            return self.text('which_node', known=known), ()
        node, parameter = self._node(), self.query.parameter
        values = self.port.parameters(node, self.cancellation)
        if not parameter:
            rows = [f'{name}: {value}' for name, value in values.items()]
            return self.text('parameters', name=node, count=len(rows)), rows
        if parameter not in values:
            known = clip(', '.join(values), MAX_LINE_CHARS)
            return self.text('no_parameter', name=node, parameter=parameter, known=known), ()
        value = values[parameter]
        return self.text('parameter', name=node, parameter=parameter, value=value), ()

    def rate(self) -> _Rows:
        return self._measured('rate')

    def bandwidth(self) -> _Rows:
        return self._measured('bandwidth')

    def _measured(self, key: str) -> _Rows:
        topic = self._topic()
        sample = self.port.listen(topic, LISTEN_S, self.cancellation)
        if sample.count < 2 or sample.interval_s is None:
            return self._too_few(topic, sample), ()
        rate, mean = 1.0 / max(sample.interval_s, 1e-6), sample.bytes / sample.count
        values = {'rate': rate, 'kilobytes': mean * rate / 1e3, 'mean': round(mean)}
        heard = {'count': sample.count, 'seconds': sample.seconds}
        return self.text(key, name=topic.name, **values, **heard), ()

    def _too_few(self, topic: TopicInfo, sample: Sample) -> str:
        if sample.problem:
            return self.text('unheard', name=topic.name, why=sample.problem)
        values = {'name': topic.name, 'seconds': sample.seconds}
        if sample.count:
            return self.text('one_message', count=sample.count, **values)
        return self.text('silent', count=len(topic.publishers), **values)

    def newest_message(self) -> _Rows:
        topic = self._topic()
        sample = self.port.listen(topic, NEWEST_S, self.cancellation, first_only=True)
        if not sample.message:
            return self._too_few(topic, sample), ()
        age = sample.stamp_age_s
        shown = '' if age is None else self.text('age', age=age)
        return self.text('message', name=topic.name, age=shown), sample.message

    def frames(self) -> _Rows:
        found = sorted(self.port.frames(), key=lambda each: each.child)
        if self.query.name:
            wanted = resolve(self.query.name, [each.child for each in found])
            found = [each for each in found if each.child == wanted]
        rows = [
            self.text(
                'static_frame' if each.static else 'frame',
                child=each.child,
                parent=each.parent,
                age=each.age_s,
            )
            for each in found
        ]
        return self.text('frames', count=len(rows)), rows

    def no_picture(self) -> _Rows:
        images, language = self.names.images, self.language
        return why_no_picture(self.port, self.graph, images, language, self.cancellation), ()


_Rows = tuple[str, Iterable[str]]


def _has(ends: Iterable[Endpoint], node: str) -> bool:
    return any(end.node == node for end in ends)


def _own_services(graph: GraphSnapshot) -> list[ServiceInfo]:
    return [
        each for each in graph.services if each.name.rpartition('/')[2] not in PARAMETER_SERVICES
    ]
