# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether a sentence asks about the ROS graph, and what. Pure.

A sentence with an order in it is never such a question: names of the graph are masked first, so
that ``/cmd_vel`` orders nothing, and any verb of motion that remains makes it something else.
"""

from __future__ import annotations

import re

from curiosity_rosa_demo.agent.language.fold import CJK, heard, without_gaps
from curiosity_rosa_demo.agent.language.tables import DEFAULT, finds, table
from curiosity_rosa_demo.domain.graph import GraphKind, GraphQuery

MAX_QUESTION_CHARS = 300
_NAME = re.compile(r'(?<![\w/])/(?:[A-Za-z_]\w*)(?:/\w+)*', re.ASCII)
_MASK = '#'
_SENTENCE = re.compile(r'[^.!?;。！？；\n]+(?:[.](?=\w)[^.!?;。！？；\n]+)*[.!?;。！？；]*')
# The first whose pattern matches is asked.
_PATTERNS = table(DEFAULT, 'hearing')['graph']
_KINDS = [GraphKind(name) for name in _PATTERNS if name in set(GraphKind)]  # the first counts
_MEASURES = (GraphKind.RATE, GraphKind.BANDWIDTH, GraphKind.QOS, GraphKind.TYPE)
_ENDS = (GraphKind.PUBLISHERS, GraphKind.SUBSCRIBERS)
# They need a name or the word topic.
_NEED_NAME = (*_MEASURES, *_ENDS, GraphKind.NEWEST_MESSAGE)
_NAMELESS = (
    GraphKind.NO_PICTURE,
    GraphKind.WITHOUT_SUBSCRIBERS,
    GraphKind.WITHOUT_PUBLISHERS,
)
# Without a name, a question about a node or a topic asks for the whole list.
_ALL = {
    GraphKind.NODE: GraphKind.NODES,
    **dict.fromkeys((GraphKind.TOPIC, GraphKind.TYPE, *_ENDS), GraphKind.TOPICS),
}
_GRAPH_WORD = re.compile(r'\bros\b|ros2', re.ASCII)
# Sensors: the alias of their topic, or a part of its name.
_SENSORS = (
    *('odometry', 'scan', 'camera', 'battery', 'joint_states', 'cmd_vel', 'diagnostics'),
    *('trace/events', 'adapter', 'simulator', 'agent'),
)
_WORD = re.compile(r'[A-Za-z]\w*(?:/\w+)*', re.ASCII)
_BESIDE = re.compile(
    r'\b(?:node|topic|service|action|frame)s? (?:called |named )?([a-z_][\w/]*)'
    r'|\b([a-z_][\w/]*) (?:node|topic|service|action|frame)\b',
    re.ASCII | re.IGNORECASE,
)


def is_graph_question(folded: str) -> bool:
    """Whether one folded sentence asks about the ROS graph."""
    return _kind_of(folded) is not None


def graph_query(text: str) -> GraphQuery | None:
    """What ``text`` asks about the ROS graph: its first sentence that does; None: none does."""
    for sentence in _SENTENCE.findall(text[:MAX_QUESTION_CHARS]):
        kind = _kind_of(heard(sentence))
        if kind is not None:
            return _query(kind, sentence)
    return None


def _kind_of(folded: str) -> GraphKind | None:
    masked = _NAME.sub(f' {_MASK} ', without_gaps(folded))
    masked = ' '.join(masked.strip(' .!?;,:').split())
    ordered = finds('graph.orders', masked) or finds('graph.sets', masked)
    if ordered or not finds('graph.asks', masked):
        return None
    named = _MASK in masked or finds('graph.topic', masked) or bool(_GRAPH_WORD.search(masked))
    for kind in _KINDS:
        about = named or kind not in _NEED_NAME or _about_graph(kind, masked)
        if about and finds(f'graph.{kind.value}', masked):
            return kind
    return GraphKind.TOPIC if _MASK in masked else None


def _about_graph(kind: GraphKind, masked: str) -> bool:
    """Whether a sentence without a name and without the word topic is about the graph."""
    keyword = '_' in masked or any(finds(f'graph.about.{each}', masked) for each in _SENSORS)
    if kind is GraphKind.NEWEST_MESSAGE:
        return keyword and finds('graph.message', masked)
    if kind in _ENDS:
        return keyword or finds('graph.node', masked)
    spoken = ('node', 'subscribers', 'publishers', 'measures')
    return keyword and any(finds(f'graph.{each}', masked) for each in spoken)


def _query(kind: GraphKind, sentence: str) -> GraphQuery:
    if kind in _NAMELESS:
        return GraphQuery(kind)
    names = _NAME.findall(sentence)
    words = _plain_names(kind, _NAME.sub(' ', sentence))
    if kind is GraphKind.PARAMETERS:
        parameters = [each for each in words if '_' in each or '.' in each]
        nodes = [*names, *(each for each in words if each not in parameters)]
        return GraphQuery(kind, nodes[0] if nodes else '', parameters[0] if parameters else '')
    found = [*names, *words]
    return GraphQuery(kind, found[0]) if found else GraphQuery(_ALL.get(kind, kind))


def _plain_names(kind: GraphKind, sentence: str) -> list[str]:
    """Names without a slash at their start: words with an underscore; in English those beside
    "node" or "topic", else any Latin word; and the names of sensors.
    """
    words = [each for each in _WORD.findall(sentence) if not finds('graph.no_name', each.lower())]
    found = [each for each in words if '_' in each or '/' in each]
    if re.search(f'[{CJK}]', sentence):
        found += [each for each in words if each not in found]
    else:
        beside = (one or other for one, other in _BESIDE.findall(sentence))
        usual = (each for each in beside if not finds('graph.plain', each.lower()))
        found += [each for each in usual if not finds('graph.no_name', each.lower())]
    folded = without_gaps(heard(sentence))
    is_list = kind in (GraphKind.FRAMES, GraphKind.NODE, GraphKind.TOPIC)
    if not is_list or found == []:
        found += [name for name in _SENSORS if finds(f'graph.about.{name}', folded)]
    return list(dict.fromkeys(found))
