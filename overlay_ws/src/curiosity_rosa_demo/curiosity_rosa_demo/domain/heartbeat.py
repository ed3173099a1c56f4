# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The heartbeat of the agent's kernel as JSON: a rising tick, the reason for SAFE, and how many
calls of each adapter service the agent has sent.
"""

from __future__ import annotations

from collections.abc import Mapping
import json

from curiosity_rosa_demo.domain.serde import read_object

MAX_REASON_LENGTH = 500  # characters


def encode_heartbeat(tick: int, safe_reason: str, calls: Mapping[str, int] | None = None) -> str:
    """``calls``: by service name, since the agent's start."""
    beat = {'tick': tick, 'safe_reason': safe_reason[:MAX_REASON_LENGTH], 'calls': calls or {}}
    return json.dumps(beat)


def decode_heartbeat(text: str) -> tuple[int, str] | None:
    """The tick and the reason; None if the text is no heartbeat."""
    value = read_object(text)
    tick, reason = value.get('tick'), value.get('safe_reason')
    if isinstance(tick, bool) or not isinstance(tick, int) or not isinstance(reason, str):
        return None
    return tick, reason[:MAX_REASON_LENGTH]


def decode_calls(text: str) -> dict[str, int] | None:
    """The numbers of calls in a heartbeat; None if it has none."""
    calls = read_object(text).get('calls')
    if not isinstance(calls, dict):
        return None
    return {name: count for name, count in calls.items() if type(count) is int and count >= 0}
