"""TraceEvent to the JSON of /trace/events and back. Decoding never raises."""

from __future__ import annotations

import time
import uuid
from typing import Any

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.serde import SerdeError, from_json, to_json

MAX_EVENT_BYTES = 16_384  # a trace is for people; what is larger belongs on a topic of its own


def new_event(kind: TraceKind, message: str, **fields: Any) -> TraceEvent:
    """An event of now, with an id of its own."""
    return TraceEvent(
        event_id=uuid.uuid4().hex, ts=time.time(), kind=kind, message=message, **fields
    )


def encode(event: TraceEvent) -> str:
    """One line of JSON, at most MAX_EVENT_BYTES long; data, then the message, give way."""
    text = to_json(event)
    if len(text.encode()) <= MAX_EVENT_BYTES:
        return text
    note = {'dropped': f'data of an event of {len(text.encode())} bytes'}
    event = event.model_copy(update={'data': note})
    excess = len(to_json(event).encode()) - MAX_EVENT_BYTES
    if excess > 0:
        keep = max(0, len(event.message) - excess - 3)
        event = event.model_copy(
            update={
                'message': event.message[: min(keep, 2000)] + '...',
                'error_reason': event.error_reason and event.error_reason[:500],
                'tool_name': event.tool_name and event.tool_name[:200],
                'event_id': event.event_id[:200],
            }
        )
    return to_json(event)


def decode(text: str) -> TraceEvent:
    """The event in ``text``; text that holds none becomes an ERROR event that says so."""
    try:
        return from_json(TraceEvent, text)
    except SerdeError as error:
        return new_event(
            TraceKind.ERROR,
            f'Unreadable trace event: {text[:200]!r}',
            ok=False,
            error_reason=str(error)[:500],
        )
