# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Whether a publisher and a subscription match, by the rules of DDS (request versus offered).

OMG DDS 1.4, section 2.2.3: the offered reliability, durability and liveliness must be at least
those requested; the offered deadline and lease must be at most those requested. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import math

from curiosity_rosa_demo.domain.graph import Endpoint, GraphSnapshot, Qos, TopicInfo


@dataclass(frozen=True)
class Mismatch:
    topic: str
    publisher: str
    subscriber: str
    reasons: tuple[str, ...]


def incompatibilities(offered: Qos, requested: Qos) -> tuple[str, ...]:
    """The policies that keep the two apart, as "name: offered, requested"; empty: they match."""
    checks = (
        ('reliability', requested.reliable and not offered.reliable, 'best effort', 'reliable'),
        (
            'durability',
            requested.transient_local and not offered.transient_local,
            'volatile',
            'transient local',
        ),
        ('deadline', *_slower(offered.deadline_s, requested.deadline_s)),
        (
            'liveliness',
            requested.manual_liveliness and not offered.manual_liveliness,
            'automatic',
            'by topic',
        ),
        ('lease', *_slower(offered.lease_s, requested.lease_s)),
    )
    return tuple(f'{name}: {has} / {wants}' for name, bad, has, wants in checks if bad)


def _slower(offered_s: float | None, requested_s: float | None) -> tuple[bool, str, str]:
    offered = math.inf if offered_s is None else offered_s
    requested = math.inf if requested_s is None else requested_s
    return offered > requested, f'{offered:g} s', f'{requested:g} s'


def mismatches_of(topic: TopicInfo) -> Iterator[Mismatch]:
    for publisher in topic.publishers:
        for subscriber in topic.subscriptions:
            reasons = _reasons(publisher, subscriber)
            if reasons:
                yield Mismatch(topic.name, publisher.node, subscriber.node, reasons)


def _reasons(publisher: Endpoint, subscriber: Endpoint) -> tuple[str, ...]:
    qos = incompatibilities(publisher.qos, subscriber.qos)
    if publisher.type != subscriber.type:
        return (f'type: {publisher.type} / {subscriber.type}', *qos)
    return qos


def mismatched(snapshot: GraphSnapshot) -> list[Mismatch]:
    """Pairs of one topic that exchange no message. A pair is not mismatched if another publisher
    of the same node matches: subscribers of an unknown QoS subscribe several times.
    """
    found = []
    for topic in snapshot.topics:
        matched = {
            (publisher.node, subscriber.node)
            for publisher in topic.publishers
            for subscriber in topic.subscriptions
            if not _reasons(publisher, subscriber)
        }
        found += [
            each
            for each in mismatches_of(topic)
            if (each.publisher, each.subscriber) not in matched
        ]
    return list(dict.fromkeys(found))
