# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the operator sees of a trigger, and the port to see and switch them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from pydantic import JsonValue


class TriggerState(str, Enum):
    OFF = 'off'
    UNARMED = 'unarmed'  # the condition must be seen not to hold first
    ARMED = 'armed'
    PENDING = 'pending'  # the condition holds, not yet for ``for_s``
    FIRED = 'fired'  # waits for the re-arm


@dataclass(frozen=True)
class TriggerStatus:
    """``value``: the last one that could be used. ``fired_s_ago``: steady seconds; None: not in
    this run. ``why_not``: why it does not fire now; '' when only its condition is missing.
    """

    name: str
    state: TriggerState
    condition: str
    action: str
    value: JsonValue
    fired_s_ago: float | None
    fired_count: int
    why_not: str


class UnknownTrigger(ValueError):
    """There is no trigger of this name. The message lists the names."""


class Triggers(Protocol):
    """Thread-safe; no method blocks."""

    def statuses(self) -> Sequence[TriggerStatus]:
        """All triggers, in the order of triggers.yaml."""

    def switch(self, name: str, on: bool) -> TriggerStatus:
        """Switch the trigger on or off, until the agent ends. Raises UnknownTrigger."""


class NoTriggers:
    """For an agent without triggers."""

    def statuses(self) -> Sequence[TriggerStatus]:
        return ()

    def switch(self, name: str, on: bool) -> TriggerStatus:
        raise unknown_trigger(name, ())


def unknown_trigger(name: str, known: Sequence[str]) -> UnknownTrigger:
    return UnknownTrigger(
        f'no trigger {name[:60]!r}; there are {", ".join(known) or "none (triggers.yaml)"}'
    )
