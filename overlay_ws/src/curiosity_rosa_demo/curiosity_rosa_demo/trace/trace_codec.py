# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Encodes a TraceEvent as the JSON of /trace/events and decodes it. Decoding never raises."""

from __future__ import annotations

import time
from typing import Any
import uuid

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.serde import from_json, SerdeError, to_json
from curiosity_rosa_demo.domain.text import clip, memory_size, valid_unicode, visible

MAX_EVENT_BYTES = 16_384  # of JSON; a trace is for people, larger data has its own topic
MAX_EVENT_MEMORY = 65_536  # bytes; 16 kB of nested lists would take 700 kB
MODEL_OVERHEAD_BYTES = 600  # of a TraceEvent besides its fields
UNREADABLE = 'unreadable'  # the type of the event that stands for a text that is none


def new_event(kind: TraceKind, message: str, **fields: Any) -> TraceEvent:
    """A new event, bounded, with the current time and a unique ID. Repairs text that is invalid
    Unicode.
    """
    fields = {name: valid_unicode(value) for name, value in fields.items()}
    return bounded_event(
        TraceEvent(
            event_id=uuid.uuid4().hex,
            ts=time.time(),
            kind=kind,
            message=valid_unicode(message),
            **fields,
        )
    )


def encode(event: TraceEvent) -> str:
    """One line of JSON without a character that a terminal obeys. That of a bounded event has at
    most MAX_EVENT_BYTES.
    """
    return visible(to_json(event))


def bounded_event(event: TraceEvent) -> TraceEvent:
    """``event`` if its JSON has at most MAX_EVENT_BYTES and it takes at most MAX_EVENT_MEMORY
    bytes. Otherwise a copy without ``data``, and with long texts clipped if that is not enough.
    """
    size = len(encode(event).encode())
    if _fits(event, size):
        return event
    event = event.model_copy(update={'data': {'dropped': f'data of an event of {size} bytes'}})
    if _fits(event, len(encode(event).encode())):
        return event
    # One character takes at most twelve bytes, so these four together stay below the limit.
    return event.model_copy(
        update={
            'message': clip(event.message, 800),
            'error_reason': event.error_reason and clip(event.error_reason, 300),
            'tool_name': event.tool_name and clip(event.tool_name, 100),
            'event_id': event.event_id[:100],
        }
    )


def _fits(event: TraceEvent, json_bytes: int) -> bool:
    return json_bytes <= MAX_EVENT_BYTES and event_memory(event) <= MAX_EVENT_MEMORY


def event_memory(event: TraceEvent) -> int:
    """Bytes of memory that ``event`` takes."""
    return memory_size(event.__dict__) + MODEL_OVERHEAD_BYTES


def decode(text: str) -> TraceEvent:
    """The bounded event in ``text``. Text that is invalid, or longer than MAX_EVENT_BYTES,
    becomes an ERROR event with the reason.
    """
    try:
        if len(text) > MAX_EVENT_BYTES:  # not parsed: objects take far more memory than their text
            raise SerdeError(f'{len(text)} characters, more than {MAX_EVENT_BYTES} bytes')
        return bounded_event(from_json(TraceEvent, text))
    except SerdeError as error:
        return new_event(
            TraceKind.ERROR,
            f'Unreadable trace event: {text[:200]!r}',
            ok=False,
            error_reason=str(error)[:500],
            type=UNREADABLE,
        )
