# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Decide whether a sentence is an order, a question or neither for sure. Rules only. Pure.

The rules read a text after ``understand`` has excluded a stop, a pause and an answer. A question
that asks politely for an action is an order ("could you drive forward?"). An order with a question
mark, a suggestion, or a question about an ability is a doubt ("drive forward?", "can you drive?").
A question that no topic covers is open: only the model can answer it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import auto, Enum
import re
from typing import Any

from curiosity_rosa_demo.agent.language.fold import CJK, heard, without_gaps
from curiosity_rosa_demo.agent.language.tables import DEFAULT, finds, pattern, table
from curiosity_rosa_demo.domain.graph import GraphKind, GraphQuery
from curiosity_rosa_demo.infra.config.agent import LANGUAGES

MAX_QUESTION_CHARS = 300  # a longer text is an order; this also bounds the matching time


class Topic(str, Enum):
    """What a reply is about. The last three reply to a sentence that may be an order."""

    HELP = 'help'
    HOWTO = 'howto'  # how to give an order, and what the rover can do
    WHY = 'why'  # why the rover stands still, and what was decided
    ERRORS = 'errors'
    PLAN = 'plan'
    BATTERY = 'battery'
    MAST = 'mast'
    HISTORY = 'history'
    TASKS = 'tasks'
    PICTURE = 'picture'  # the last picture and its score
    POSITION = 'position'
    STATUS = 'status'
    DISTANCE = 'distance'  # to the light, and to where the pose was known first
    GRAPH = 'graph'  # the ROS graph
    DOUBT = 'doubt'  # a question or an order? the agent asks back
    DROPPED = 'dropped'  # a no to that question
    UNCLEAR_YES = 'unclear_yes'  # a yes that could answer two questions


class Kind(Enum):
    ORDER = auto()  # or a statement: the agent reads it as a goal
    QUESTION = auto()  # about a topic
    OPEN_QUESTION = auto()
    DOUBT = auto()  # a question or an order


@dataclass(frozen=True)
class Reading:
    """``topics``: of a QUESTION, one for each of its sentences, without repetitions."""

    kind: Kind
    topics: tuple[Topic, ...] = ()


_ORDER, _OPEN = Reading(Kind.ORDER), Reading(Kind.OPEN_QUESTION)
_FIXED = {'order': _ORDER, 'open': _OPEN, 'doubt': Reading(Kind.DOUBT)}
_SENTENCE = re.compile(r'[^.!?;]*(?:\.(?=\d)[^.!?;]*)*[.!?;]*')


def read_text(folded: str, language: str) -> Reading:
    """The reading of a text in ``language`` as ``heard`` gives it. One order in it makes it an
    order. Beside Japanese or Chinese, a sentence in other letters is English.
    """
    if len(folded) > MAX_QUESTION_CHARS:
        return _ORDER
    with_cjk = re.search(f'[{CJK}]', folded) is not None
    readings: list[Reading] = []
    for each in _SENTENCE.findall(without_gaps(folded)):
        sentence = each.strip(' .!;,:')
        is_english = with_cjk and re.search(f'[{CJK}]', sentence) is None
        reading = _read_sentence(sentence, DEFAULT if is_english else language)
        if reading is not None:
            readings.append(reading)
    kinds = {reading.kind for reading in readings}
    for kind in (Kind.ORDER, Kind.DOUBT, Kind.OPEN_QUESTION):
        if kind in kinds:
            return Reading(kind)
    topics = dict.fromkeys(topic for reading in readings for topic in reading.topics)
    return Reading(Kind.QUESTION, tuple(topics)) if topics else _ORDER


def order_in(text: str) -> str:
    """The order in a doubtful ``text``, without the frame that makes a question of it."""
    order = text.strip().rstrip('?？ ')
    for language in LANGUAGES:
        for frame, by in table(language, 'hearing').get('frames', ()):
            order = re.sub(frame, by, order, flags=re.IGNORECASE)
    return order or text


def _read_sentence(sentence: str, language: str) -> Reading | None:
    """None: it says nothing but perhaps a name."""
    address = pattern('questions.address', language)
    plain = sentence.strip('? ')
    if not plain or (address is not None and address.fullmatch(f'{plain} ')):
        return None
    if _kind_of(sentence) is not None:
        return Reading(Kind.QUESTION, (Topic.GRAPH,))
    marked = sentence.endswith('?')
    sentence = sentence.rstrip('? ')
    if address is not None:
        sentence = address.sub('', sentence)
    return _read_by(table(language, 'hearing')['rows'], sentence, language, marked)


def _read_by(
    rows: Sequence[dict[str, Any]], sentence: str, language: str, marked: bool
) -> Reading:
    """The reading of the first row of the table whose patterns are, or are not, in the sentence:
    an order if there is none.
    """

    def holds(names: str) -> bool:
        return any(_has(each, sentence, language, marked) for each in names.split('|'))

    for row in rows:
        unless = any(holds(each) for each in row.get('unless', '').split())
        if unless or not all(holds(each) for each in row.get('if', '').split()):
            continue
        is_a = row['is']
        if is_a == 'told':  # the rest of the sentence is the question
            tell = pattern('questions.tell', language)
            rest = sentence if tell is None else tell.sub('', sentence, count=1).strip()
            return _read_by(table(language, 'hearing')['told'], rest, language, marked)
        if is_a in _FIXED:
            return _FIXED[is_a]
        if is_a != 'topic':
            return Reading(Kind.QUESTION, (Topic(is_a),))
        topic = next(_topics(sentence, language), None)
        if topic is not None:
            return Reading(Kind.QUESTION, (topic,))
        if 'else' not in row:
            return _OPEN
        other = row['else']
        return _FIXED.get(other) or Reading(Kind.QUESTION, (Topic(other),))
    return _ORDER


def _has(name: str, sentence: str, language: str, marked: bool) -> bool:
    if name == 'marked':
        return marked
    if name == 'known':
        return next(_topics(sentence, language), None) is not None
    found = pattern(f'questions.{name}', language)
    return found is not None and found.search(sentence) is not None


def _topics(sentence: str, language: str) -> Iterator[Topic]:
    """The topics that the sentence names, the first that counts first."""
    for name in table(language, 'hearing')['topics']:
        found = pattern(f'topics.{name}', language)
        if found is not None and found.search(sentence):
            yield Topic(name)


# --- The ROS graph -----------------------------------------------------------------------------
# Names are masked first, so that ``/cmd_vel`` orders nothing; any verb of motion that remains
# makes the sentence something else.

_NAME = re.compile(r'(?<![\w/])/(?:[A-Za-z_]\w*)(?:/\w+)*', re.ASCII)
_MASK = '#'
_GRAPH_SENTENCE = re.compile(r'[^.!?;。！？；\n]+(?:[.](?=\w)[^.!?;。！？；\n]+)*[.!?;。！？；]*')
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


def graph_query(text: str) -> GraphQuery | None:
    """What ``text`` asks about the ROS graph: its first sentence that does; None: none does."""
    for sentence in _GRAPH_SENTENCE.findall(text[:MAX_QUESTION_CHARS]):
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
