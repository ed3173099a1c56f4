# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The ROS graph as data: what can be asked of it, and what was seen. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class GraphKind(str, Enum):
    """What is asked. ``name`` of the query is a node for NODE and PARAMETERS, else a topic, a
    service, an action or a frame.
    """

    NODES = 'nodes'
    NODE = 'node'
    TOPICS = 'topics'
    TOPIC = 'topic'
    TYPE = 'type'
    PUBLISHERS = 'publishers'
    SUBSCRIBERS = 'subscribers'
    WITHOUT_SUBSCRIBERS = 'without_subscribers'
    WITHOUT_PUBLISHERS = 'without_publishers'
    QOS = 'qos'
    QOS_MISMATCHES = 'qos_mismatches'
    SERVICES = 'services'
    ACTIONS = 'actions'
    PARAMETERS = 'parameters'
    RATE = 'rate'
    BANDWIDTH = 'bandwidth'
    NEWEST_MESSAGE = 'newest_message'
    FRAMES = 'frames'
    NO_PICTURE = 'no_picture'


@dataclass(frozen=True)
class GraphQuery:
    """``name`` may be a part of a name; empty: all. ``parameter``: the one to read."""

    kind: GraphKind
    name: str = ''
    parameter: str = ''


@dataclass(frozen=True)
class Qos:
    """What decides whether two ends match. Durations in seconds; None: infinite."""

    reliable: bool
    transient_local: bool
    deadline_s: float | None = None
    manual_liveliness: bool = False
    lease_s: float | None = None

    @property
    def text(self) -> str:
        parts = [
            'reliable' if self.reliable else 'best effort',
            'transient local' if self.transient_local else 'volatile',
        ]
        if self.deadline_s is not None:
            parts.append(f'deadline {self.deadline_s:g} s')
        if self.manual_liveliness:
            parts.append('liveliness by topic')
        if self.lease_s is not None:
            parts.append(f'lease {self.lease_s:g} s')
        return ', '.join(parts)


@dataclass(frozen=True)
class Endpoint:
    """A publisher or a subscription of ``node``, by its full name."""

    node: str
    type: str
    qos: Qos


@dataclass(frozen=True)
class TopicInfo:
    name: str
    types: tuple[str, ...]
    publishers: tuple[Endpoint, ...] = ()
    subscriptions: tuple[Endpoint, ...] = ()


@dataclass(frozen=True)
class ServiceInfo:
    """A service or an action, and the full names of the nodes that serve it."""

    name: str
    type: str
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True)
class GraphSnapshot:
    """Topics, services and actions are sorted by name. Hidden topics are not in it."""

    nodes: tuple[str, ...] = ()
    topics: tuple[TopicInfo, ...] = ()
    services: tuple[ServiceInfo, ...] = ()
    actions: tuple[ServiceInfo, ...] = ()

    def topic(self, name: str) -> TopicInfo | None:
        return next((each for each in self.topics if each.name == name), None)


@dataclass(frozen=True)
class Sample:
    """What a topic brought while it was listened to. ``seconds``: how long. ``message``: fields
    of the newest, one a line. ``stamp_age_s``: age of its stamp by the ROS clock; None: no stamp.
    ``interval_s``: mean time between messages; None with fewer than two. ``problem``: why nothing
    could be heard.
    """

    seconds: float = 0.0
    count: int = 0
    bytes: int = 0
    interval_s: float | None = None
    message: tuple[str, ...] = ()
    stamp_age_s: float | None = None
    problem: str = ''


@dataclass(frozen=True)
class FrameAge:
    """``age_s``: since the stamp of this frame last changed; static frames do not age."""

    parent: str
    child: str
    age_s: float
    static: bool
