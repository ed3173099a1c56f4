# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The traces of tasks, on OpenTelemetry's SDK. Imported only where tracing is on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
import os
from pathlib import Path
import threading
import time

from curiosity_rosa_demo.infra.config.agent import TracingConfig
from curiosity_rosa_demo.infra.event_thread import DrainThread
from curiosity_rosa_demo.infra.tracing.exporters import is_root, make_exporter, SpanExporter
from curiosity_rosa_demo.infra.tracing.span import (
    Attributes,
    MAX_TEXT_CHARS,
    Span,
    TASK_ID,
    task_trace_ids,
    TraceIds,
)
from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import (
    NonRecordingSpan,
    set_span_in_context,
    SpanContext,
    SpanKind,
    TraceFlags,
    Tracer,
)
from opentelemetry.trace import Span as SdkSpan

PACKAGE, SERVICE = 'curiosity_rosa_demo', 'curiosity_rosa'
MAX_PENDING = 2048  # spans; further ones are lost, and counted
BATCH = 64  # spans that wake the thread; so does the end of a task
END_TIMEOUT_S = 1.0


class SpanQueue(SpanProcessor):
    """Ended spans on their way to an exporter, which may wait for a disk or a network. Unlike the
    SDK's BatchSpanProcessor, it counts what it loses, ends in time whatever the exporter does, and
    has a thread only while there is something to export. ``failed`` gets the number of lost spans
    and the error.
    """

    def __init__(self, exporter: SpanExporter, failed: Callable[[int, Exception], None]) -> None:
        self._exporter, self._failed = exporter, failed
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
        self._exporter.close()

    def _export(self) -> None:
        while self._pending:
            batch = [self._pending.popleft() for _ in range(min(BATCH, len(self._pending)))]
            try:
                self._exporter.export(batch)
            except Exception as error:
                self._failed(len(batch), error)


class _TaskIds(threading.local, RandomIdGenerator):
    """Random IDs, but those of the root that this thread is about to start."""

    root: TraceIds | None = None

    def generate_trace_id(self) -> int:
        return super().generate_trace_id() if self.root is None else self.root.trace_id

    def generate_span_id(self) -> int:
        return super().generate_span_id() if self.root is None else self.root.span_id


@dataclass(frozen=True)
class TaskTrace:
    """What the spans of a task share: one steady clock among it, in ns since the epoch."""

    tracer: Tracer
    task_id: str
    clock_offset_ns: int

    def now_ns(self) -> int:
        return self.clock_offset_ns + time.monotonic_ns()

    def start(
        self, name: str, parent: SdkSpan, attributes: Attributes, *, is_client: bool
    ) -> Span:
        inner = self.tracer.start_span(
            name,
            set_span_in_context(parent, Context()),
            SpanKind.CLIENT if is_client else SpanKind.INTERNAL,
            {TASK_ID: self.task_id, **attributes},
            start_time=self.now_ns(),
        )
        return Span(inner, self)


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
        """The span of a task; None if the caller, who sent ``traceparent``, does not record."""
        ids = task_trace_ids(task_id, traceparent)
        if not ids.sampled:
            return None
        trace = TaskTrace(self._tracer, task_id, time.time_ns() - time.monotonic_ns())
        sampled = TraceFlags(TraceFlags.SAMPLED)
        caller = SpanContext(ids.trace_id, ids.parent_id, is_remote=True, trace_flags=sampled)
        within = set_span_in_context(NonRecordingSpan(caller), Context())
        self._ids.root = ids
        try:
            inner = self._tracer.start_span(
                name, within, attributes={TASK_ID: task_id}, start_time=start_ns
            )
        finally:
            self._ids.root = None
        return Span(inner, trace)

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
    attributes = resource_attributes(node, namespace)
    if config.exporter == 'otlp':
        if os.environ.get('OTEL_SERVICE_NAME'):
            attributes.pop('service.name')
        resource = Resource.create(attributes)
    else:
        resource = Resource(attributes)
    return TaskTracer(SpanQueue(make_exporter(config, file, write), failed), resource)


def resource_attributes(node: str, namespace: str) -> dict[str, str | int]:
    """What OpenTelemetry calls the resource: the process that makes the spans."""
    try:
        package_version = version(PACKAGE)
    except PackageNotFoundError:
        package_version = 'unknown'
    return {
        'service.name': SERVICE,
        'service.version': package_version,
        'process.pid': os.getpid(),
        'ros.domain_id': os.environ.get('ROS_DOMAIN_ID') or '0',
        'ros.node': f'{namespace.rstrip("/")}/{node}',
        'ros.distro': os.environ.get('ROS_DISTRO', ''),
    }
