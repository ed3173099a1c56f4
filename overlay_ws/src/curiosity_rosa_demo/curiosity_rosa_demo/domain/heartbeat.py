# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The heartbeat of the agent's kernel as JSON: a rising tick and the reason for SAFE."""

from __future__ import annotations

import json

MAX_REASON_LENGTH = 500  # characters


def encode_heartbeat(tick: int, safe_reason: str) -> str:
    return json.dumps({'tick': tick, 'safe_reason': safe_reason[:MAX_REASON_LENGTH]})


def decode_heartbeat(text: str) -> tuple[int, str] | None:
    """The tick and the reason; None if the text is no heartbeat."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    tick, reason = value.get('tick'), value.get('safe_reason')
    if isinstance(tick, bool) or not isinstance(tick, int) or not isinstance(reason, str):
        return None
    return tick, reason[:MAX_REASON_LENGTH]
