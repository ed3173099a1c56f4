# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The texts of answers about the ROS graph, in English, Japanese and Chinese. Data.

Only these texts are format strings; a name or a value of the graph is always a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from curiosity_rosa_demo.agent.language.tables import say
from curiosity_rosa_demo.agent.topics.graph.reader import GraphPort, mismatched
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.graph import GraphSnapshot, TopicInfo
from curiosity_rosa_demo.infra.config.topics import Images

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
    port: GraphPort,
    snapshot: GraphSnapshot,
    images: Images,
    language: str,
    cancellation: Cancellation,
) -> tuple[str, str]:
    """The key of the broken link (``picture_ok``: none) and its text. Raises TurnCancelled."""
    chosen: str = images.input
    other = 'raw' if chosen == 'compressed' else 'compressed'
    names = {'raw': images.input_raw, 'compressed': images.input_compressed}
    topic = snapshot.topic(names[chosen]) or TopicInfo(names[chosen], ())
    capture = images.output_capture_compressed

    def link(key: str, **values: object) -> tuple[str, str]:
        return key, say(f'graph.{key}', language, topic=topic.name, **values)

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
        key, text = link('camera_qos', reasons='; '.join(each.reasons), node=each.publisher)
        return key, text.replace(topic.name, capture)
    if not shown.subscriptions:
        return link('no_viewer', capture=capture)
    return link('picture_ok', node=camera.node, simulator=simulator, capture=capture)
