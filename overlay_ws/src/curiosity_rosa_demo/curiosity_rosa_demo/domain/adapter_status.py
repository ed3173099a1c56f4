# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the nodes say of themselves: the adapter's status, the heartbeat of the agent's kernel, the
health of a node, the triggers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
import json
from typing import Any

from curiosity_rosa_demo.domain.serde import read_object
from curiosity_rosa_demo.domain.text import valid_unicode
from pydantic import JsonValue

# measured values and looked-up names: they change without an event
MEASURED_FIELDS = frozenset(
    (
        *('rover_x', 'rover_y', 'yaw_rad', 'mast_yaw_rad', 'obstacle_ahead_m', 'free_m'),
        *('real_time_factor', 'rival_publishers'),
    )
)

Status = dict[str, Any]


def without_measured(status: Status) -> Status:
    """The fields of ``status`` that change by decisions and events only."""
    return {key: value for key, value in status.items() if key not in MEASURED_FIELDS}


def rival_texts(status: Mapping[str, Any]) -> list[str]:
    """A line for each topic of ``rival_publishers``: who publishes it, and the way out."""
    rivals = status.get('rival_publishers')
    if not isinstance(rivals, dict):
        return []
    return [
        f'several publishers of {topic}: {", ".join(map(str, nodes))}; end one rover or '
        'simulator, or give each its own ROS_DOMAIN_ID'
        for topic, nodes in rivals.items()
        if isinstance(nodes, list)
    ]


# --- The heartbeat of the agent's kernel, as JSON ------------------------------------------------

MAX_REASON_LENGTH = 500  # characters


def encode_heartbeat(tick: int, safe_reason: str, calls: Mapping[str, int] | None = None) -> str:
    """``tick`` rises; ``safe_reason``: of SAFE. ``calls``: how many calls of each adapter service
    the agent has sent since its start.
    """
    beat = {'tick': tick, 'safe_reason': safe_reason[:MAX_REASON_LENGTH], 'calls': calls or {}}
    return json.dumps(beat)


def decode_heartbeat(text: str) -> tuple[int, str, dict[str, int] | None] | None:
    """The tick, the reason and the numbers of calls; None if the text is no heartbeat."""
    beat = read_object(text)
    tick, reason, calls = (beat.get(key) for key in ('tick', 'safe_reason', 'calls'))
    if type(tick) is not int or not isinstance(reason, str):
        return None
    if isinstance(calls, dict):
        calls = {name: n for name, n in calls.items() if type(n) is int and n >= 0}
    return (
        tick,
        valid_unicode(reason[:MAX_REASON_LENGTH]),
        calls if isinstance(calls, dict) else None,
    )


# --- Health of a node --------------------------------------------------------------------------


@dataclass(frozen=True)
class NodeStatus:
    """Health of one node. ``age_s``: seconds since its last message; None before the first."""

    name: str
    ok: bool
    age_s: float | None
    text: str = ''


# --- What the operator sees of a trigger --------------------------------------------------------


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

    def __init__(self, name: str, known: Sequence[str]) -> None:
        there_are = ', '.join(known) or 'none (triggers.yaml)'
        super().__init__(f'no trigger {name[:60]!r}; there are {there_are}')
