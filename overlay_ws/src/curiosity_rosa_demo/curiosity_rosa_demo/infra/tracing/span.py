# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Spans: what took how long, and within what.

A span exists only below the span of a task, which ``agent/runtime/execution/context.py`` opens
where tracing is on. Everywhere else ``span`` costs one look at a context variable. Spans are plain
objects, not those of the OpenTelemetry SDK: a span of the SDK costs several times as much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass
import hashlib
import random
import re
import time
from types import MappingProxyType, TracebackType
import uuid

# --- The IDs of a task's trace, and W3C's header ``traceparent`` -------------------------------
# A task's trace has the ID of the task (a UUID without its hyphens), unless a caller sent its own.
# The ID of the root follows from the task too: a task that outlives the process remains one trace.


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


Value = str | bool | int | float | list[str]
Attributes = Mapping[str, Value]
Sink = Callable[['Span'], None]
NONE: Attributes = MappingProxyType({})

TASK_ID, EVENT_ID = 'curiosity.task.id', 'curiosity.event.id'
MAX_EVENTS = 128  # of one span; the SDK's limit
MAX_TEXT_CHARS = 200  # of one attribute

_ids = random.Random()  # seeded by the system


class Span:
    """A piece of a task's work. ``start_ns`` and ``end_ns``: nanoseconds since the epoch, by one
    steady clock within a trace; ``end_ns`` is 0 until the end. ``failure``: a code or the name of
    an error; '' for none. Thread-safe; an ended span ignores changes.
    """

    __slots__ = (
        '_clock_offset_ns',
        '_is_root',
        '_sink',
        'attributes',
        'end_ns',
        'events',
        'failure',
        'is_client',
        'name',
        'parent_id',
        'span_id',
        'start_ns',
        'task_id',
        'trace_id',
    )

    def __init__(
        self,
        name: str,
        *,
        trace_id: int,
        span_id: int,
        parent_id: int,
        task_id: str,
        start_ns: int,
        clock_offset_ns: int,
        sink: Sink,
        is_root: bool = False,
    ) -> None:
        self.name, self.trace_id, self.span_id, self.parent_id = name, trace_id, span_id, parent_id
        self.task_id, self.start_ns, self.end_ns = task_id, start_ns, 0
        self.attributes: dict[str, Value] = {TASK_ID: task_id}
        self.events: list[tuple[int, str, str]] = []  # time, kind, ID of the TraceEvent
        self.failure, self.is_client = '', False
        self._clock_offset_ns, self._sink, self._is_root = clock_offset_ns, sink, is_root

    @property
    def is_root(self) -> bool:
        """Whether this is the span of the task, whose ID follows from the task's."""
        return self._is_root

    @property
    def recording(self) -> bool:
        return self.end_ns == 0

    def child(self, name: str, attributes: Attributes = NONE, *, is_client: bool = False) -> Span:
        """A span within this one, from now on. The caller ends it."""
        offset = self._clock_offset_ns
        started = Span(
            name,
            trace_id=self.trace_id,
            span_id=new_span_id(),
            parent_id=self.span_id,
            task_id=self.task_id,
            start_ns=offset + time.monotonic_ns(),
            clock_offset_ns=offset,
            sink=self._sink,
        )
        started.is_client = is_client
        if attributes:
            started.set(attributes)
        return started

    def set(self, attributes: Attributes) -> None:
        """Add attributes. Texts are clipped; they never hold a prompt, an answer or a secret."""
        if self.end_ns:
            return
        for key, value in attributes.items():
            self.attributes[key] = value[:MAX_TEXT_CHARS] if isinstance(value, str) else value

    def add_event(self, kind: str, event_id: str) -> None:
        """Note that the TraceEvent ``event_id`` was published now."""
        if not self.end_ns and len(self.events) < MAX_EVENTS:
            now_ns = self._clock_offset_ns + time.monotonic_ns()
            self.events.append((now_ns, kind, event_id))

    def fail(self, code: str) -> None:
        if not self.end_ns:
            self.failure = code[:MAX_TEXT_CHARS]

    def end(self) -> None:
        """End the span and export it. A second end is ignored."""
        if not self.end_ns:
            self.end_ns = self._clock_offset_ns + time.monotonic_ns()
            self._sink(self)


def new_span_id() -> int:
    return _ids.getrandbits(64) or 1


def _no_span() -> Span:
    nothing = Span(
        '',
        trace_id=0,
        span_id=0,
        parent_id=0,
        task_id='',
        start_ns=0,
        clock_offset_ns=0,
        sink=lambda span: None,
    )
    nothing.end_ns = 1
    return nothing


NO_SPAN = _no_span()  # ended, so it takes nothing
_current: ContextVar[Span] = ContextVar('curiosity_span', default=NO_SPAN)


def current_span() -> Span:
    """The innermost span of this context; NO_SPAN outside a traced task."""
    return _current.get()


class Activated:
    """Makes ``span`` the current one within the context."""

    __slots__ = ('_span', '_token')

    def __init__(self, span: Span) -> None:
        self._span = span

    def __enter__(self) -> Span:
        self._token: Token[Span] = _current.set(self._span)
        return self._span

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _current.reset(self._token)


class _Started(Activated):
    """Ends the span as well; an exception fails it by its type."""

    __slots__ = ()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _current.reset(self._token)
        if kind is not None:
            self._span.fail(kind.__name__)
        self._span.end()


class _Off:
    __slots__ = ()

    def __enter__(self) -> Span:
        return NO_SPAN

    def __exit__(self, *error: object) -> None:
        return None


_OFF = _Off()


def span(
    name: str,
    attributes: Attributes = NONE,
    *,
    is_client: bool = False,
) -> Activated | _Off:
    """A context manager: a child of the current span, which is current within it. Gives NO_SPAN
    where there is no current span. A thread has the current span only with a copied context.
    """
    parent = _current.get()
    if parent is NO_SPAN:
        return _OFF
    return _Started(parent.child(name, attributes, is_client=is_client))
