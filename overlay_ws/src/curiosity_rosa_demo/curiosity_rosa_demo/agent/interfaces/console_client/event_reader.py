# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Server-sent events out of lines. Pure.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
import json

MAX_DATA_BYTES = 1_000_000  # of one event; the rest of it is dropped


@dataclass(frozen=True)
class ServerEvent:
    """``event``: text, status or gap. ``event_id``: '' if it has none."""

    event: str
    event_id: str
    text: str


def read_events(lines: Iterable[bytes]) -> Iterator[ServerEvent]:
    """The events whose data is JSON with a text; any other event is skipped. Of the fields, only
    the ones that ``/console`` sends have a meaning.
    """
    fields: dict[str, str] = {}
    for line in lines:
        stripped = line.decode('utf-8', 'replace').rstrip('\r\n')
        if stripped:
            name, _, value = stripped.partition(':')
            if len(value) <= MAX_DATA_BYTES:
                fields[name] = value.removeprefix(' ')
            continue
        if (text := _text(fields.get('data', ''))) is not None:
            yield ServerEvent(fields.get('event', 'message'), fields.get('id', ''), text)
        fields = {}


def _text(data: str) -> str | None:
    """What a person reads of the event: its text, or the detail of a gap."""
    try:
        content = json.loads(data)
    except ValueError:
        return None
    if not isinstance(content, dict):
        return None
    text = content.get('text', content.get('detail'))
    return text if isinstance(text, str) else None
