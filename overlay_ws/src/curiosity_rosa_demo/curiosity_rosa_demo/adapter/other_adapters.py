# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Which other adapters are in front of the same rover. Pure.

Each adapter publishes its presence: its node's name, an identity of its own and the rover's topic
of Twists. Two adapters may have one name, and one of them may be in another namespace.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
import json

from curiosity_rosa_demo.domain.models import OTHER_ADAPTER

PERIOD_S = 0.5  # between two messages of an adapter
MAX_AGE_S = 3.0  # an adapter that was silent for longer has left


@dataclass(frozen=True)
class Presence:
    """One adapter. ``rover`` is the topic to which it publishes Twists."""

    node: str
    identity: str
    rover: str


def encode_presence(presence: Presence) -> str:
    return json.dumps(asdict(presence))


def decode_presence(text: str) -> Presence | None:
    """None for a text that is no presence."""
    try:
        fields = json.loads(text)
        presence = Presence(**fields)
    except (ValueError, TypeError, RecursionError):
        return None
    return presence if all(isinstance(each, str) for each in fields.values()) else None


class OtherAdapters:
    """Times are seconds of a steady clock."""

    def __init__(self, own: Presence) -> None:
        self._own = own
        self._heard: dict[str, tuple[str, float]] = {}  # by identity: name, time

    def record(self, presence: Presence, now: float) -> None:
        if presence.rover == self._own.rover and presence.identity != self._own.identity:
            self._heard[presence.identity] = (presence.node, now)

    def names(self, now: float) -> tuple[str, ...]:
        """The nodes of the others, sorted."""
        self._heard = {
            identity: (node, at)
            for identity, (node, at) in self._heard.items()
            if now - at <= MAX_AGE_S
        }
        return tuple(sorted(node for node, _ in self._heard.values()))


def contest(names: tuple[str, ...]) -> str:
    """Why the rover may not move; '' without another adapter."""
    return f'{OTHER_ADAPTER}: {", ".join(names)}' if names else ''


def stopped_for_others(names: tuple[str, ...]) -> str:
    """Why a motion has ended."""
    return f'{contest(names)}; the rover was stopped'
