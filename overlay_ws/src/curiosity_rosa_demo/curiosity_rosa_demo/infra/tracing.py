# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The traces of tasks, on OpenTelemetry's SDK. Imported only where tracing is on."""

from __future__ import annotations

from base64 import b64decode
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
import json
import os
from pathlib import Path
import threading
from urllib.parse import urlsplit
import uuid

from curiosity_rosa_demo.infra.config.agent import TracingConfig
from curiosity_rosa_demo.infra.event_thread import DrainThread
from curiosity_rosa_demo.infra.spans import (
    MAX_TEXT_CHARS,
    read_spans,
    Span,
    TASK_ID,
    TRACEPARENT,
    tree_lines,
    TreeSpan,
)
from curiosity_rosa_demo.trace.jsonl_log import JsonLines
from google.protobuf.json_format import MessageToDict
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

PACKAGE, SERVICE = 'curiosity_rosa_demo', 'curiosity_rosa'
MAX_PENDING = 2048  # spans; further ones are lost, and counted
BATCH = 64  # spans that wake the thread; so does the end of a task
END_TIMEOUT_S = 1.0
MAX_KEPT = 2000  # newest spans that the console keeps until their tasks have ended
TRACES_PATH = '/v1/traces'
TIMEOUT_S = 5.0  # of one batch to a collector, with its retries

Export = Callable[[Sequence[ReadableSpan]], None]


class SpanQueue(SpanProcessor):
    """Ended spans on their way to ``export``, which may wait for a disk or a network. Unlike the
    SDK's BatchSpanProcessor, it counts what it loses, ends in time whatever ``export`` does, and
    has a thread only while there is something to export. ``failed`` gets the number of lost spans
    and the error; ``close`` ends what ``export`` uses.
    """

    def __init__(
        self,
        export: Export,
        failed: Callable[[int, Exception], None],
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self._send, self._failed, self._close = export, failed, close
        self._pending: deque[ReadableSpan] = deque()
        self._thread = DrainThread('spans', self._export)

    def on_end(self, span: ReadableSpan) -> None:
        """Never waits."""
        pending = self._pending
        if len(pending) >= MAX_PENDING:
            self._failed(1, BufferError(f'more than {MAX_PENDING} spans wait for the exporter'))
            return
        pending.append(span)
        if len(pending) >= BATCH or is_root(span):
            self._thread.wake()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Export what is there; False after the time-out."""
        self._thread.wake()
        return self._thread.wait(timeout_millis / 1e3)

    def shutdown(self) -> None:
        """Export what is there, for END_TIMEOUT_S at most."""
        self.force_flush(round(END_TIMEOUT_S * 1e3))
        self._close()

    def _export(self) -> None:
        while self._pending:
            batch = [self._pending.popleft() for _ in range(min(BATCH, len(self._pending)))]
            try:
                self._send(batch)
            except Exception as error:
                self._failed(len(batch), error)


def tree_printer(write: Callable[[str], None]) -> Export:
    """Prints the tree of a task's spans when the task has ended."""
    kept: deque[TreeSpan] = deque(maxlen=MAX_KEPT)

    def export(spans: Sequence[ReadableSpan]) -> None:
        for span, data in zip(spans, read_spans(otlp_lines(spans)), strict=True):
            kept.append(data)
            if is_root(span):
                task_id = data.attributes[TASK_ID]
                for line in tree_lines(s for s in kept if s.attributes[TASK_ID] == task_id):
                    write(line)

    return export


def collector(endpoint: str) -> tuple[Export, Callable[[], None]]:
    """The export to a collector over HTTP, and its end. ``endpoint`` '': that of
    OTEL_EXPORTER_OTLP_ENDPOINT, by default http://localhost:4318.
    """
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    if endpoint and not urlsplit(endpoint).path.strip('/'):
        endpoint = endpoint.rstrip('/') + TRACES_PATH
    timeout_s = None if 'OTEL_EXPORTER_OTLP_TIMEOUT' in os.environ else TIMEOUT_S
    exporter = OTLPSpanExporter(endpoint or None, timeout=timeout_s)

    def export(spans: Sequence[ReadableSpan]) -> None:
        if exporter.export(spans) is not SpanExportResult.SUCCESS:
            where = endpoint or 'the endpoint of OTEL_EXPORTER_OTLP_*'
            raise OSError(f'no collector took the spans at {where}; set tracing.endpoint')

    return export, exporter.shutdown


def otlp_lines(spans: Sequence[ReadableSpan]) -> Iterator[str]:
    """OTLP in JSON: a line for each of some spans of one process, without its end, as the
    collector's ``otlpjsonfile`` receiver reads it. Protobuf's own JSON has the IDs in base64,
    OTLP's in hexadecimal.
    """
    data = MessageToDict(encode_spans(spans), use_integers_for_enums=True)
    (resource,) = data['resourceSpans']
    (scope,) = resource['scopeSpans']
    for span in scope.pop('spans'):
        for key in ('traceId', 'spanId', 'parentSpanId'):
            if key in span:
                span[key] = b64decode(span[key]).hex()
        lone = {**resource, 'scopeSpans': [{**scope, 'spans': [span]}]}
        yield json.dumps({'resourceSpans': [lone]}, separators=(',', ':'))


def is_root(span: ReadableSpan) -> bool:
    """Whether this is the span of a task, whose parent, if any, is its caller's."""
    return span.parent is None or span.parent.is_remote


class _TaskIds(threading.local, RandomIdGenerator):
    """Random IDs, but those of the root that this thread is about to start."""

    root = 0  # the number of its trace

    def generate_trace_id(self) -> int:
        return self.root or super().generate_trace_id()

    def generate_span_id(self) -> int:
        return self.root % 2**64 or super().generate_span_id()


class TaskTracer:
    """Begins the trace of each task. ``processor`` gets the ended spans."""

    def __init__(self, processor: SpanProcessor, resource: Resource | None = None) -> None:
        self._processor, self._ids = processor, _TaskIds()
        provider = TracerProvider(
            ALWAYS_ON,
            resource,
            shutdown_on_exit=False,
            id_generator=self._ids,
            span_limits=SpanLimits(max_attribute_length=MAX_TEXT_CHARS),
        )
        provider.add_span_processor(processor)
        self._tracer = provider.get_tracer(PACKAGE)

    def root(self, name: str, task_id: str, traceparent: object, *, start_ns: int) -> Span | None:
        """The span of a task; None if the caller, who sent ``traceparent``, does not record. An
        invalid ``traceparent`` counts as none.
        """
        within = TraceContextTextMapPropagator().extract(
            {TRACEPARENT: str(traceparent)}, Context()
        )
        caller = get_current_span(within).get_span_context()
        if caller.is_valid and not caller.trace_flags.sampled:
            return None
        # The ID of a task's trace, unless a caller sent its own: a UUID without its hyphens. The
        # ID of the root is the end of it: a task that outlives the process remains one trace.
        try:
            self._ids.root = uuid.UUID(task_id).int
        except ValueError:
            self._ids.root = uuid.uuid5(uuid.NAMESPACE_OID, task_id).int
        own = {TASK_ID: task_id}
        started = self._tracer.start_span(name, within, attributes=own, start_time=start_ns)
        self._ids.root = 0
        return Span(started, self._tracer)

    def flush(self, timeout_s: float) -> bool:
        """Export what is there; False after ``timeout_s``."""
        return self._processor.force_flush(round(timeout_s * 1e3))

    def close(self) -> None:
        self._processor.shutdown()


def make_task_tracer(
    config: TracingConfig,
    *,
    file: Path,
    node: str,
    namespace: str,
    write: Callable[[str], None],
    failed: Callable[[int, Exception], None],
) -> TaskTracer:
    """``write`` prints a line. Raises OSError."""
    try:
        package_version = version(PACKAGE)
    except PackageNotFoundError:
        package_version = 'unknown'
    # What OpenTelemetry calls the resource: the process that makes the spans.
    attributes: dict[str, str | int] = {
        'service.name': os.environ.get('OTEL_SERVICE_NAME') or SERVICE,
        'service.version': package_version,
        'process.pid': os.getpid(),
        'ros.domain_id': os.environ.get('ROS_DOMAIN_ID') or '0',
        'ros.node': f'{namespace.rstrip("/")}/{node}',
        'ros.distro': os.environ.get('ROS_DISTRO', ''),
    }
    if config.exporter == 'otlp':
        export, close = collector(config.endpoint)
        return TaskTracer(SpanQueue(export, failed, close), Resource.create(attributes))
    if config.exporter == 'console':
        return TaskTracer(SpanQueue(tree_printer(write), failed), Resource(attributes))
    limits = {'max_bytes': config.max_file_mb * 10**6, 'max_files': config.max_files}
    lines = JsonLines(file, **limits)

    def append(spans: Sequence[ReadableSpan]) -> None:
        lines.append('\n'.join(otlp_lines(spans)).encode())

    return TaskTracer(SpanQueue(append, failed, lines.close), Resource(attributes))
