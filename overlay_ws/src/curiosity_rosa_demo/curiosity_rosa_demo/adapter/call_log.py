# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Which calls of /adapter/* were not the agent's. Pure; times are seconds of a steady clock.

A ROS request does not name its caller. So the agent's heartbeat says how many calls of each
service the agent has sent, and a call that no such number covers within CLAIM_WAIT_S is another
node's. The graph, asked after the call, says which other nodes have a client: one is the caller,
or a node that the graph does not show yet. Nothing here decides whether a call is served.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
import math

CLAIM_WAIT_S = 2.0  # a heartbeat is due every 0.1 s


@dataclass(eq=False)
class Call:
    """One call. ``has_agent``: whether the agent has a client of the service; None until somebody
    has looked. ``others``: the other nodes that have one. ``answer``: '' is a success; None: it is
    not answered yet.
    """

    service: str
    at: float
    has_agent: bool | None = None
    others: set[str] = field(default_factory=set)
    answer: str | None = None


class CallLog:
    def __init__(self) -> None:
        self._unclaimed: list[Call] = []  # the oldest first
        self._claims: dict[str, list[float]] = {}  # by service: the time at which each ends
        self._sent: dict[str, int] | None = None  # as the agent last said it, at this tick
        self._tick = -1
        self._beat_at = -math.inf

    def begin(self, service: str, now: float) -> Call:
        """Record a call that has arrived. Set its ``answer`` when it is served."""
        call = Call(service, now)
        claims = [end for end in self._claims.get(service, ()) if end > now]
        if claims:
            claims.pop(0)
        else:
            self._unclaimed.append(call)
        self._claims[service] = claims
        return call

    def unnamed(self) -> set[str]:
        """The services of unclaimed calls for whose callers nobody has looked."""
        return {call.service for call in self._unclaimed if call.has_agent is None}

    def name(
        self, service: str, *, has_agent: bool, others: Collection[str], until: float
    ) -> None:
        """Record who has a client of ``service``, for the calls that came before ``until``."""
        for call in self._unclaimed:
            if call.service == service and call.has_agent is None and call.at <= until:
                call.has_agent, call.others = has_agent, set(others)

    def record_sent(self, tick: int, sent: Mapping[str, int], now: float) -> None:
        """Record how many calls of each service the agent has sent since its start. The ``tick``
        of its heartbeat rises until it restarts.
        """
        is_same_agent = self._sent is not None and tick > self._tick
        before = (is_same_agent and self._sent) or {}
        self._sent, self._tick, self._beat_at = dict(sent), tick, now
        for service, count in sent.items():
            fresh = max(0, count - before.get(service, 0))
            claimed = [call for call in self._unclaimed if call.service == service][:fresh]
            self._unclaimed = [call for call in self._unclaimed if call not in claimed]
            if is_same_agent:  # otherwise the rest are calls from before
                ends = [now + CLAIM_WAIT_S] * (fresh - len(claimed))
                self._claims.setdefault(service, []).extend(ends)

    def take_foreign(self, now: float) -> list[Call]:
        """Return and forget the answered calls that the agent has not claimed in time."""
        due = [
            call
            for call in self._unclaimed
            if call.answer is not None and now - call.at >= CLAIM_WAIT_S
        ]
        self._unclaimed = [call for call in self._unclaimed if call not in due]
        is_agent_heard = now - self._beat_at < CLAIM_WAIT_S
        # An agent that is leaving, or frozen, claims nothing. Without another node it is the
        # likely caller, and no one is accused.
        return [call for call in due if call.others or not call.has_agent or is_agent_heard]


def caller_text(others: Collection[str]) -> str:
    """Who has called, as far as the graph tells."""
    names = sorted(others)
    if not names:
        return 'an unknown node'
    return names[0] if len(names) == 1 else f'one of {", ".join(names)}'
