# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the adapter knows of the agent: who publishes the heartbeat, and the reason of SAFE. Pure.
``Rules`` ask ``stop_reason`` and stop the rover by it.

The middleware reports how many publishers of the heartbeat are alive (DDS liveliness): none after
a death, a SIGSTOP or a loss of the network, two when somebody forges the heartbeat or a second
overlay runs in this domain. The age of the last beat shows a frozen kernel in a living process. A
beat counts only if its tick is newer than that of the last one.

The latch is the agent's reason for SAFE. It outlives the agent: only a beat without a latch, of a
single agent, lifts it. Without any agent, a person may call the services. Times are seconds of a
steady clock.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

from curiosity_rosa_demo.domain.models import (
    AGENT_IS_GONE,
    agent_is_safe,
    AGENT_IS_SILENT,
    Model,
    OTHER_ADAPTER,
    TWO_AGENTS,
)
from curiosity_rosa_demo.domain.refusal import RefusalCode
from curiosity_rosa_demo.infra.clocks import SimulatedTime
from pydantic import ValidationError

NO_TICK = -1


class AgentLink:
    """Silence counts only after a first beat."""

    def __init__(self, max_age_s: float, time: SimulatedTime) -> None:
        self._max_age_s, self._time = max_age_s, time
        self._beat_at: float | None = None
        self._tick = NO_TICK  # of the last beat
        self.alive = -1  # publishers; -1: the middleware has not reported any
        self.names: Sequence[str] = ()  # of their nodes, as far as they are known
        self._contest = ''  # who publishes the heartbeat, if there are several
        self.latch = ''  # the agent's reason for SAFE; '' without one

    @property
    def received(self) -> bool:
        return self._beat_at is not None

    def beat(self, tick: int, latch: str) -> None:
        """Record a heartbeat. While two agents publish, it can set the latch and do no more."""
        if self._contest:
            self.latch = latch or self.latch
        elif tick > self._tick:
            self._tick, self.latch = tick, latch
            self._beat_at = self._time.steady

    def set_publishers(self, alive: int, names: Sequence[str]) -> None:
        """Record how many publishers of the heartbeat are alive, and the names of their nodes."""
        if alive != self.alive:
            self._tick = NO_TICK  # a restarted agent counts from the beginning
        self.alive, self.names = alive, names
        nodes = ', '.join(sorted(names)) or 'unnamed nodes'
        self._contest = f'{TWO_AGENTS}: {nodes}' if alive > 1 else ''

    def forget(self) -> None:
        """The agent has left for good. Its latch stays."""
        self._beat_at, self._tick = None, NO_TICK

    def refusal(self) -> str:
        """The reason why the base may not move; '' if it may."""
        beat_at, now = self._beat_at, self._time.steady
        missed = beat_at is not None and (self.alive == 0 or now - beat_at > self._max_age_s)
        return self._contest or (AGENT_IS_SILENT if missed else '')

    def safe_refusal(self) -> str:
        """The reason of SAFE and the way out; '' without a latch."""
        return agent_is_safe(self.latch) if self.latch else ''

    def stop_reason(self) -> str:
        """The reason why a running motion must end; '' if it may go on."""
        reason = self.safe_refusal() or self.refusal()
        if reason == AGENT_IS_SILENT:
            fell_silent = RefusalCode.AGENT_FELL_SILENT.text(seconds=self._max_age_s)
            reason = AGENT_IS_GONE if self.alive == 0 else fell_silent
        return f'{reason}: the rover was stopped' if reason else ''

    def next_wakeup(self) -> float:
        """The time at which a silence begins."""
        if self._beat_at is None or self._time.steady - self._beat_at > self._max_age_s:
            return math.inf
        return self._beat_at + self._max_age_s + 0.01


# --- Which other adapters are in front of the same rover. Pure ---------------------------------
# Each adapter publishes its presence: its node's name, an identity of its own and the rover's
# topic of Twists. Two adapters may have one name, and one of them may be in another namespace.

PERIOD_S = 0.5  # between two messages of an adapter
MAX_AGE_S = 3.0  # an adapter that was silent for longer has left


class Presence(Model):
    """One adapter. ``rover`` is the topic to which it publishes Twists."""

    node: str
    identity: str
    rover: str


class OtherAdapters:
    """Times are seconds of a steady clock."""

    def __init__(self, own: Presence) -> None:
        self._own = own
        self._heard: dict[str, tuple[str, float]] = {}  # by identity: name, time

    def record(self, text: str, now: float) -> None:
        """A message has arrived. One that is no presence is ignored."""
        try:
            presence = Presence.model_validate_json(text)
        except ValidationError:
            return
        if presence.rover == self._own.rover and presence.identity != self._own.identity:
            self._heard[presence.identity] = (presence.node, now)

    def names(self, now: float) -> tuple[str, ...]:
        """The nodes of the others, sorted."""
        return tuple(sorted(node for node, at in self._heard.values() if now - at <= MAX_AGE_S))


def contest(names: tuple[str, ...]) -> str:
    """Why the rover may not move; '' without another adapter."""
    return f'{OTHER_ADAPTER}: {", ".join(names)}' if names else ''
