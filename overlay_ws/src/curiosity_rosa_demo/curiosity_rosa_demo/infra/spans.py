# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Spans: what took how long, and within what; and the tree of those in a file, for people without
a collector.

A span exists only below the span of a task, which ``agent/runtime/task_spans.py`` opens where
tracing is on. Everywhere else ``span`` costs one look at a context variable, and nothing here
imports OpenTelemetry.

Run: ros2 run curiosity_rosa_demo spans FILE
Without ros2: python -m curiosity_rosa_demo.infra.spans FILE
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
import json
from pathlib import Path
import re
import signal
import sys
from typing import Any

from curiosity_rosa_demo.domain.text import printable

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
Attributes = Mapping[str, Value] | None

TASK_ID, EVENT_ID = 'curiosity.task.id', 'curiosity.event.id'
MAX_TEXT_CHARS = 200  # of one attribute, and of a failure


class Span:
    """A piece of a task's work: a span of OpenTelemetry's SDK, and the tracer that began it.
    Thread-safe; an ended span ignores changes.
    """

    __slots__ = ('_inner', '_tracer')

    def __init__(self, inner: Any = None, tracer: Any = None) -> None:
        self._inner, self._tracer = inner, tracer

    @property
    def recording(self) -> bool:
        return self._inner is not None and bool(self._inner.is_recording())

    def child(self, name: str, attributes: Attributes = None, *, is_client: bool = False) -> Span:
        """A span within this one, from now on. The caller ends it."""
        from opentelemetry.trace import set_span_in_context, SpanKind

        started = self._tracer.start_span(
            name,
            set_span_in_context(self._inner),
            SpanKind.CLIENT if is_client else SpanKind.INTERNAL,
            {TASK_ID: self._inner.attributes[TASK_ID], **(attributes or {})},
        )
        return Span(started, self._tracer)

    def rename(self, name: str) -> None:
        if self.recording:
            self._inner.update_name(name)

    def set(self, attributes: Mapping[str, Value]) -> None:
        """Add attributes. Texts are clipped; they never hold a prompt, an answer or a secret."""
        if self.recording:
            self._inner.set_attributes(attributes)

    def add_event(self, kind: str, event_id: str) -> None:
        """Note that the TraceEvent ``event_id`` was published now."""
        if self.recording:
            self._inner.add_event(kind, {EVENT_ID: event_id})

    def fail(self, code: str) -> None:
        """``code``: a code or the name of an error."""
        if self.recording:
            from opentelemetry.trace import StatusCode

            self._inner.set_status(StatusCode.ERROR, code[:MAX_TEXT_CHARS])

    def end(self) -> None:
        """End the span and export it. A second end is ignored."""
        if self.recording:
            self._inner.end()


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
    name: str, attributes: Attributes = None, *, is_client: bool = False
) -> AbstractContextManager[Span]:
    """A context manager: a child of the current span, which is current within it. Gives NO_SPAN
    where there is no current span. A thread has the current span only with a copied context.
    """
    parent = _current.get()
    if parent is NO_SPAN:
        return _OFF
    return _within(parent.child(name, attributes, is_client=is_client))


# --- The spans of a file as a tree -------------------------------------------------------------

# Of an attribute, the last part of its name is shown.
SHOWN = (
    'curiosity.skill',
    'curiosity.task.origin',
    'curiosity.task.state',
    'curiosity.guard.verdict',
    'curiosity.guard.rule',
    'curiosity.guard.code',
    'curiosity.approval.answer',
    'curiosity.skill.status',
    'gen_ai.usage.input_tokens',
    'gen_ai.usage.output_tokens',
    'gen_ai.response.finish_reasons',
)


@dataclass(frozen=True)
class TreeSpan:
    """Times in ns since the epoch. ``trace``, ``id`` and ``parent`` in hexadecimal."""

    trace: str
    id: str
    parent: str
    name: str
    start_ns: int
    end_ns: int
    attributes: dict[str, Any]
    failure: str


def read_spans(lines: Iterable[str]) -> Iterator[TreeSpan]:
    """The spans of OTLP's JSON lines. Raises ValueError for a line that is none."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            for resource in json.loads(line)['resourceSpans']:
                for scope in resource['scopeSpans']:
                    yield from map(_span_of, scope['spans'])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f'line {number} is no span in OTLP JSON ({error!r})') from None


def _span_of(data: dict[str, Any]) -> TreeSpan:
    attributes = {each['key']: _plain(each['value']) for each in data.get('attributes', ())}
    status = data.get('status', {})
    return TreeSpan(
        str(data['traceId']),
        str(data['spanId']),
        str(data.get('parentSpanId', '')),
        str(data['name']),
        int(data['startTimeUnixNano']),
        int(data['endTimeUnixNano']),
        attributes,
        str(status.get('message') or 'error') if status.get('code') == 2 else '',
    )


def _plain(value: dict[str, Any]) -> Any:
    ((kind, content),) = value.items()
    if kind == 'arrayValue':
        return [_plain(each) for each in content.get('values', ())]
    return int(content) if kind == 'intValue' else content


def tree_lines(spans: Iterable[TreeSpan]) -> Iterator[str]:
    """A line for each span, below its parent: duration, name, attributes. A span whose parent is
    not there, such as that of a task that has not ended, begins a tree of its own.
    """
    every = sorted(spans, key=lambda each: each.start_ns)
    known = {each.id for each in every}
    children: dict[str, list[TreeSpan]] = defaultdict(list)
    for each in every:
        children[each.parent if each.parent in known else ''].append(each)
    todo = [(each, '', '') for each in reversed(children[''])]
    while todo:
        each, lead, below = todo.pop()
        took_ms = (each.end_ns - each.start_ns) / 1e6
        yield f'{took_ms:10.1f} ms  {lead}{printable(_label(each, is_root=not lead))}'
        within = children[each.id]
        for place, child in reversed(list(enumerate(within))):
            last = place == len(within) - 1
            todo.append(
                (child, f'{below}{"└─ " if last else "├─ "}', f'{below}{"   " if last else "│  "}')
            )


def _label(span: TreeSpan, *, is_root: bool) -> str:
    shown = [
        f'{key.rpartition(".")[2]}={",".join(value) if isinstance(value, list) else value}'
        for key in SHOWN
        if (value := span.attributes.get(key)) is not None
    ]
    if is_root:
        shown.append(f'task={span.attributes.get(TASK_ID, "")} trace={span.trace}')
    if span.failure:
        shown.append(f'! {span.failure}')
    return ' '.join((span.name, *shown))


def main() -> None:
    parser = argparse.ArgumentParser(prog='spans', description='Print the spans of a file.')
    parser.add_argument('file', type=Path, help='of tracing.exporter: file')
    parser.add_argument('--task', default='', help='only that of the task with this ID')
    options = parser.parse_args()
    try:
        with options.file.open(encoding='utf-8', errors='replace') as file:
            found = list(read_spans(file))
    except (OSError, ValueError) as error:
        sys.exit(f'spans: {options.file}: {error}')
    wanted = [
        each for each in found if options.task in ('', str(each.attributes.get(TASK_ID, '')))
    ]
    if not wanted:
        sys.exit(f'spans: {options.file}: no span of task {options.task!r}; leave out --task')
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # end quietly with a pager or head
    for line in tree_lines(wanted):
        print(line)


if __name__ == '__main__':
    main()
