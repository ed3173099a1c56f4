# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Rewrite recorded messages for a replay: current stamps, and a mark on events and status texts so
that they are not taken for those of a live rover.
"""

from __future__ import annotations

import json
from typing import Any

from curiosity_rosa_demo.infra.ros.serialized import read_message, UnreadableMessage
from curiosity_rosa_demo.recording.mcap.channels import STRING, TF
from curiosity_rosa_demo.recording.mcap.message_types import message_class
from curiosity_rosa_demo.trace.events import NodeStarted
from curiosity_rosa_demo.trace.trace_codec import bounded_event, decode, encode
from rclpy.serialization import serialize_message
from std_msgs.msg import String

REPLAY_PREFIX = '(replay) '


def replay_message(
    role: str, type_name: str, data: bytes, *, now_ns: int, turn: int
) -> bytes | None:
    """The CDR data to publish, or None to skip the message. ``now_ns``: the new stamp, nanoseconds
    since the epoch. ``turn``: the number of the loop, which keeps event IDs unique. Raises
    UnreadableMessage.
    """
    try:
        message = read_message(data, message_class(type_name))
    except (ImportError, AttributeError, UnreadableMessage) as error:
        raise UnreadableMessage(f'{role}: {error}') from error
    if type_name == STRING:
        text = (
            _event(message.data, now_ns, turn) if role == 'trace' else _marked_text(message.data)
        )
        return None if text is None else bytes(serialize_message(String(data=text)))
    _stamp(type_name, message, now_ns)
    return bytes(serialize_message(message))


def _event(text: str, now_ns: int, turn: int) -> str | None:
    """The trace event with the current time; its data keep the recorded time and ID. None for the
    start event of a node.
    """
    event = decode(text)
    if NodeStarted.of(event):
        return None
    origin = {'replay': True, 'recorded_ts': event.ts, 'recorded_id': event.event_id}
    replayed = event.model_copy(
        update={
            'event_id': f'{event.event_id[:150]}-replay-{now_ns}-{turn}',
            'ts': now_ns * 1e-9,
            'message': REPLAY_PREFIX + event.message,
            'data': {**(event.data or {}), **origin},
        }
    )
    return encode(bounded_event(replayed))


def _marked_text(text: str) -> str:
    """A JSON status with ``replay`` true; any other text becomes an object with that key only."""
    try:
        status = json.loads(text)
    except (ValueError, RecursionError):
        status = None
    return json.dumps({**(status if isinstance(status, dict) else {}), 'replay': True})


def _stamp(type_name: str, message: Any, now_ns: int) -> None:
    """Set all stamps to ``now_ns``, except zero stamps of markers ("the newest transform")."""
    if type_name == TF:
        headers = [each.header for each in message.transforms]
    elif hasattr(message, 'markers'):
        headers = [each.header for each in message.markers]
        headers = [each for each in headers if each.stamp.sec or each.stamp.nanosec]
    else:
        headers = [message.header]
    for header in headers:
        header.stamp.sec, header.stamp.nanosec = divmod(now_ns, 1_000_000_000)
