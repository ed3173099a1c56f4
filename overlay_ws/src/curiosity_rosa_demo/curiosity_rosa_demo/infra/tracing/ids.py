# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The IDs of a task's trace, and W3C's header ``traceparent``.

A task's trace has the ID of the task (a UUID without its hyphens), unless a caller sent its own.
The ID of the root follows from the task too: a task that outlives the process remains one trace.
"""

from __future__ import annotations

from dataclasses import dataclass
import hashlib
import re
import uuid

TRACEPARENT = 'traceparent'  # the header, the key in a goal's arguments and in a task's metadata
_FORM = re.compile(r'([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?')


@dataclass(frozen=True)
class TraceIds:
    """``parent_id``: the caller's span; 0 for none. ``sampled``: whether the caller records."""

    trace_id: int
    span_id: int
    parent_id: int = 0
    sampled: bool = True


def task_trace_ids(task_id: str, traceparent: object = None) -> TraceIds:
    """The IDs of the task's root span. An invalid ``traceparent`` counts as none."""
    try:
        own = uuid.UUID(task_id).int
    except ValueError:
        own = int.from_bytes(hashlib.blake2b(task_id.encode(), digest_size=16).digest(), 'big')
    span_id = own & (2**64 - 1) or 1
    caller = parse_traceparent(traceparent)
    if caller is None:
        return TraceIds(own or 1, span_id)
    return TraceIds(caller.trace_id, span_id, caller.span_id, caller.sampled)


def parse_traceparent(text: object) -> TraceIds | None:
    """The caller's span; None if ``text`` is no valid header (W3C Trace Context, section 3.2)."""
    found = _FORM.fullmatch(text) if isinstance(text, str) and len(text) <= 200 else None
    if found is None:
        return None
    version, trace, span, flags, rest = found.groups()
    trace_id, span_id = int(trace, 16), int(span, 16)
    if version == 'ff' or (version == '00' and rest) or not trace_id or not span_id:
        return None
    return TraceIds(trace_id, span_id, sampled=bool(int(flags, 16) & 1))
