# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The links of the ROS graph: which name a question means, which two ends exchange no message, and
which link between the camera and a viewer is broken. Pure, but for the reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import math
from typing import NamedTuple

from curiosity_rosa_demo.agent.language.tables import say
from curiosity_rosa_demo.agent.topics.graph_reader import RclpyGraph
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.graph import Endpoint, GraphSnapshot, Qos, TopicInfo
from curiosity_rosa_demo.infra.config.topics import Images

# --- Whether a publisher and a subscription match, by the rules of DDS (request versus offered) --
# OMG DDS 1.4, section 2.2.3: the offered reliability, durability and liveliness must be at least
# those requested; the offered deadline and lease must be at most those requested. Pure.


class Mismatch(NamedTuple):
    topic: str
    publisher: str
    subscriber: str
    reasons: tuple[str, ...]


LEVELS = {  # policy: the field of Qos, its lower and its higher level
    'reliability': ('reliable', 'best effort', 'reliable'),
    'durability': ('transient_local', 'volatile', 'transient local'),
    'liveliness': ('manual_liveliness', 'automatic', 'by topic'),
}


def incompatibilities(offered: Qos, requested: Qos) -> tuple[str, ...]:
    """The policies that keep the two apart, as "name: offered, requested"; empty: they match."""
    found = [
        f'{policy}: {low} / {high}'
        for policy, (field, low, high) in LEVELS.items()
        if getattr(requested, field) and not getattr(offered, field)
    ]
    for policy, has, wants in (
        ('deadline', offered.deadline_s, requested.deadline_s),
        ('lease', offered.lease_s, requested.lease_s),
    ):
        if wants is not None and (has is None or has > wants):
            found.append(f'{policy}: {math.inf if has is None else has:g} s / {wants:g} s')
    return tuple(found)


def _reasons(publisher: Endpoint, subscriber: Endpoint) -> tuple[str, ...]:
    qos = incompatibilities(publisher.qos, subscriber.qos)
    if publisher.type != subscriber.type:
        return (f'type: {publisher.type} / {subscriber.type}', *qos)
    return qos


def mismatched(snapshot: GraphSnapshot) -> list[Mismatch]:
    """Pairs of one topic that exchange no message. A pair is not mismatched if another publisher
    of the same node matches: subscribers of an unknown QoS subscribe several times.
    """
    pairs = [
        Mismatch(topic.name, publisher.node, subscriber.node, _reasons(publisher, subscriber))
        for topic in snapshot.topics
        for publisher in topic.publishers
        for subscriber in topic.subscriptions
    ]
    matched = {each[:3] for each in pairs if not each.reasons}
    return [each for each in dict.fromkeys(pairs) if each.reasons and each[:3] not in matched]


# --- Which name of the graph a question means. Pure --------------------------------------------


MAX_CANDIDATES = 5


class NotFound(Exception):
    """No name fits, or several do: ``candidates``, which may be empty."""

    def __init__(self, asked: str, candidates: Sequence[str]) -> None:
        super().__init__(asked)
        self.asked, self.candidates = asked, tuple(candidates[:MAX_CANDIDATES])


def resolve(asked: str, names: Iterable[str], aliases: Mapping[str, str] | None = None) -> str:
    """The name of ``names`` that ``asked`` means: the same, the same but for the first slash, the
    only one that ends in it, or the only one that contains it. Case does not count. Raises
    NotFound.
    """
    known = list(dict.fromkeys(names))
    asked = (aliases or {}).get(asked.lower(), asked)
    folded = asked.lower().strip('/')
    for fits in (
        lambda name: name == asked,
        lambda name: name.lower().strip('/') == folded,
        lambda name: name.lower().endswith(f'/{folded}'),
        lambda name: folded in name.lower(),
    ):
        found = [name for name in known if fits(name)]
        if len(found) == 1:
            return found[0]
        if found:
            raise NotFound(asked, found)
    raise NotFound(asked, [])


# --- Why there is no picture: the first broken link between the camera and a viewer ------------
# camera publisher -> type -> QoS -> frames and their age -> simulator node -> capture topic -> its
# subscribers.


LISTEN_S = 2.0
OLD_S = 2.0  # a frame with an older stamp is no view of now
TYPES = {'raw': 'sensor_msgs/msg/Image', 'compressed': 'sensor_msgs/msg/CompressedImage'}


def why_no_picture(
    port: RclpyGraph,
    snapshot: GraphSnapshot,
    images: Images,
    language: str,
    cancellation: Cancellation,
) -> str:
    """The first broken link, as a text. Raises TurnCancelled."""
    chosen: str = images.input
    other = 'raw' if chosen == 'compressed' else 'compressed'
    names = {'raw': images.input_raw, 'compressed': images.input_compressed}
    topic = snapshot.topic(names[chosen]) or TopicInfo(names[chosen], ())
    capture = images.output_capture_compressed

    def link(key: str, about: TopicInfo = topic, **values: object) -> str:
        return say(f'graph.{key}', language, topic=about.name, **values)

    if not topic.publishers:
        beside = snapshot.topic(names[other])
        if beside is not None and beside.publishers:
            return link('other_input', other=beside.name, value=other)
        return link('no_camera')
    camera = topic.publishers[0]
    if camera.type != TYPES[chosen]:
        return link('camera_type', type=camera.type, expected=TYPES[chosen])
    for each in mismatched(GraphSnapshot(topics=(topic,))):
        return link('camera_qos', reasons='; '.join(each.reasons), node=each.publisher)
    sample = port.listen(topic, LISTEN_S, cancellation, first_only=True)
    if not sample.count:
        return link('camera_silent', node=camera.node, seconds=sample.seconds)
    if sample.stamp_age_s is not None and sample.stamp_age_s > OLD_S:
        return link('camera_old', age=sample.stamp_age_s)
    shown = snapshot.topic(capture)
    if shown is None or not shown.publishers:
        return link('no_simulator', capture=capture)
    # It subscribes to the camera only while it takes a picture or somebody looks.
    simulator = shown.publishers[0].node
    for each in mismatched(GraphSnapshot(topics=(shown,))):
        return link('camera_qos', shown, reasons='; '.join(each.reasons), node=each.publisher)
    # The page looks at the camera itself.
    if not shown.subscriptions and all(each.node == simulator for each in topic.subscriptions):
        return link('no_viewer', capture=capture)
    return link('picture_ok', node=camera.node, simulator=simulator, capture=capture)
