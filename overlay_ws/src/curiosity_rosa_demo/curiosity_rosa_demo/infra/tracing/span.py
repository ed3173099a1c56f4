# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Spans: what took how long, and within what.

A span exists only below the span of a task, which ``agent/runtime/execution/context.py`` opens
where tracing is on. Everywhere else ``span`` costs one look at a context variable, and nothing
here imports OpenTelemetry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
import re
from types import MappingProxyType
from typing import Any

TRACEPARENT = 'traceparent'  # the header, the key in a goal's arguments and in a task's metadata
_FORM = re.compile(r'([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?')


def is_traceparent(text: object) -> bool:
    """Whether it names the caller's span (W3C Trace Context, section 3.2)."""
    found = _FORM.fullmatch(text) if isinstance(text, str) and len(text) <= 200 else None
    if found is None:
        return False
    version, trace, span, rest = found.groups()
    is_version = version != 'ff' and not (version == '00' and rest)
    return is_version and int(trace, 16) > 0 and int(span, 16) > 0


Value = str | bool | int | float | list[str]
Attributes = Mapping[str, Value]
NONE: Attributes = MappingProxyType({})

TASK_ID, EVENT_ID = 'curiosity.task.id', 'curiosity.event.id'
MAX_TEXT_CHARS = 200  # of one attribute, and of a failure


class Span:
    """A piece of a task's work: a span of OpenTelemetry's SDK, and the TaskTrace that times it.
    Thread-safe; an ended span ignores changes.
    """

    __slots__ = ('_inner', '_trace')

    def __init__(self, inner: Any = None, trace: Any = None) -> None:
        self._inner, self._trace = inner, trace

    @property
    def recording(self) -> bool:
        return self._inner is not None and bool(self._inner.is_recording())

    def child(self, name: str, attributes: Attributes = NONE, *, is_client: bool = False) -> Span:
        """A span within this one, from now on. The caller ends it."""
        started: Span = self._trace.start(name, self._inner, attributes, is_client=is_client)
        return started

    def rename(self, name: str) -> None:
        if self.recording:
            self._inner.update_name(name)

    def set(self, attributes: Attributes) -> None:
        """Add attributes. Texts are clipped; they never hold a prompt, an answer or a secret."""
        if self.recording:
            self._inner.set_attributes(attributes)

    def add_event(self, kind: str, event_id: str) -> None:
        """Note that the TraceEvent ``event_id`` was published now."""
        if self.recording:
            self._inner.add_event(kind, {EVENT_ID: event_id}, self._trace.now_ns())

    def fail(self, code: str) -> None:
        """``code``: a code or the name of an error."""
        if self.recording:
            from opentelemetry.trace import StatusCode

            self._inner.set_status(StatusCode.ERROR, code[:MAX_TEXT_CHARS])

    def end(self) -> None:
        """End the span and export it. A second end is ignored."""
        if self.recording:
            self._inner.end(self._trace.now_ns())


NO_SPAN = Span()  # takes nothing
_OFF = nullcontext(NO_SPAN)
_current: ContextVar[Span] = ContextVar('curiosity_span', default=NO_SPAN)


def current_span() -> Span:
    """The innermost span of this context; NO_SPAN outside a traced task."""
    return _current.get()


@contextmanager
def activated(span: Span) -> Iterator[Span]:
    """``span`` is the current one within the context."""
    token = _current.set(span)
    try:
        yield span
    finally:
        _current.reset(token)


@contextmanager
def _within(started: Span) -> Iterator[Span]:
    """The same, and the span ends with the context; an exception fails it by its type."""
    try:
        with activated(started):
            yield started
    except BaseException as error:
        started.fail(type(error).__name__)
        raise
    finally:
        started.end()


def span(
    name: str, attributes: Attributes = NONE, *, is_client: bool = False
) -> AbstractContextManager[Span]:
    """A context manager: a child of the current span, which is current within it. Gives NO_SPAN
    where there is no current span. A thread has the current span only with a copied context.
    """
    parent = _current.get()
    if parent is NO_SPAN:
        return _OFF
    return _within(parent.child(name, attributes, is_client=is_client))
