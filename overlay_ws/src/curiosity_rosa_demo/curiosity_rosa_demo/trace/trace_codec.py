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
from curiosity_rosa_demo.domain.text import clip, valid_unicode, visible

MAX_EVENT_BYTES = 16_384  # a trace is for people; larger data belongs on its own topic


def new_event(kind: TraceKind, message: str, **fields: Any) -> TraceEvent:
    """A new event with the current time and a unique ID. Repairs text that is invalid Unicode."""
    fields = {name: valid_unicode(value) for name, value in fields.items()}
    return TraceEvent(
        event_id=uuid.uuid4().hex,
        ts=time.time(),
        kind=kind,
        message=valid_unicode(message),
        **fields,
    )


def start_event(node_name: str, message: str) -> TraceEvent:
    """The event that announces the start of a node."""
    data = {'node': node_name, 'started': True}
    return new_event(TraceKind.OBSERVE, message, data=data)


def is_start(event: TraceEvent) -> bool:
    """Whether ``event`` announces the start of a node. Such an event is not part of a turn."""
    return event.data is not None and event.data.get('started') is True


def encode(event: TraceEvent) -> str:
    """One line of JSON of at most MAX_EVENT_BYTES, without a character that a terminal obeys.
    Drops ``data`` first, then clips long texts.
    """
    text = visible(to_json(event))
    size = len(text.encode())
    if size <= MAX_EVENT_BYTES:
        return text
    event = event.model_copy(update={'data': {'dropped': f'data of an event of {size} bytes'}})
    text = visible(to_json(event))
    if len(text.encode()) <= MAX_EVENT_BYTES:
        return text
    # One character takes at most twelve bytes, so these four together stay below the limit.
    return visible(
        to_json(
            event.model_copy(
                update={
                    'message': clip(event.message, 800),
                    'error_reason': event.error_reason and clip(event.error_reason, 300),
                    'tool_name': event.tool_name and clip(event.tool_name, 100),
                    'event_id': event.event_id[:100],
                }
            )
        )
    )


def decode(text: str) -> TraceEvent:
    """The event in ``text``. Text that is invalid, or longer than encode() makes it, becomes an
    ERROR event with the reason.
    """
    try:
        if len(text) > MAX_EVENT_BYTES:  # not parsed: objects take far more memory than their text
            raise SerdeError(f'{len(text)} characters, more than {MAX_EVENT_BYTES} bytes')
        return from_json(TraceEvent, text)
    except SerdeError as error:
        return new_event(
            TraceKind.ERROR,
            f'Unreadable trace event: {text[:200]!r}',
            ok=False,
            error_reason=str(error)[:500],
        )
