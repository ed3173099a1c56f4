# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The exporters of agent.yaml's ``tracing``, for spans of OpenTelemetry's SDK."""

from __future__ import annotations

from base64 import b64decode
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
import json
import os
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from curiosity_rosa_demo.infra.config.agent import TracingConfig
from curiosity_rosa_demo.infra.tracing.span import TASK_ID
from curiosity_rosa_demo.infra.tracing.span_tree import read_spans, tree_lines, TreeSpan
from curiosity_rosa_demo.trace.jsonl_log import JsonLines
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

MAX_OPEN_TRACES, MAX_TRACE_SPANS = 20, 2000  # that the console keeps until the task has ended
TRACES_PATH = '/v1/traces'
TIMEOUT_S = 5.0  # of one batch to a collector, with its retries


class SpanExporter(Protocol):
    def export(self, spans: Sequence[ReadableSpan]) -> None:
        """Write or send the spans; may block. Raises an exception if they are lost."""

    def close(self) -> None: ...


class FileExporter:
    """Appends to a rotating file, as OpenTelemetry's file exporter does and the collector's
    ``otlpjsonfile`` receiver reads it: a ``TracesData`` with one span a line. Raises OSError.
    """

    def __init__(self, lines: JsonLines) -> None:
        self._lines = lines

    def export(self, spans: Sequence[ReadableSpan]) -> None:
        self._lines.append('\n'.join(otlp_lines(spans)).encode())

    def close(self) -> None:
        self._lines.close()


class ConsoleExporter:
    """Prints the tree of a task's spans when the task has ended."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._traces: OrderedDict[Any, list[TreeSpan]] = OrderedDict()

    def export(self, spans: Sequence[ReadableSpan]) -> None:
        for span, data in zip(spans, read_spans(otlp_lines(spans)), strict=True):
            task_id = data.attributes[TASK_ID]
            found = self._traces.setdefault(task_id, [])
            if len(found) < MAX_TRACE_SPANS or is_root(span):
                found.append(data)
            if is_root(span):
                for line in tree_lines(self._traces.pop(task_id)):
                    self._write(line)
            elif len(self._traces) > MAX_OPEN_TRACES:
                self._traces.popitem(last=False)

    def close(self) -> None: ...


class SpansRejected(Exception):
    """The collector could not be reached, or took no spans."""


class OtlpHttpExporter:
    """To a collector, over HTTP. The SDK's exporter is imported with the first span, in the thread
    that sends it. ``endpoint`` '': that of OTEL_EXPORTER_OTLP_ENDPOINT, by default
    http://localhost:4318.
    """

    def __init__(self, endpoint: str) -> None:
        path = urlsplit(endpoint).path.strip('/')
        self._endpoint = endpoint if path or not endpoint else endpoint.rstrip('/') + TRACES_PATH
        self._exporter: Any = None

    def export(self, spans: Sequence[ReadableSpan]) -> None:
        """Raises SpansRejected."""
        if self._exporter is None:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

            timeout = None if 'OTEL_EXPORTER_OTLP_TIMEOUT' in os.environ else TIMEOUT_S
            self._exporter = OTLPSpanExporter(self._endpoint or None, timeout=timeout)
        if self._exporter.export(spans) is not SpanExportResult.SUCCESS:
            where = self._endpoint or 'the endpoint of OTEL_EXPORTER_OTLP_*'
            raise SpansRejected(f'no collector took the spans at {where}; set tracing.endpoint')

    def close(self) -> None:
        if self._exporter is not None:
            self._exporter.shutdown()


def otlp_lines(spans: Sequence[ReadableSpan]) -> Iterator[str]:
    """OTLP in JSON: a line for each of some spans of one process, without its end. Protobuf's own
    JSON has the IDs in base64, OTLP's in hexadecimal.
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


def make_exporter(config: TracingConfig, file: Path, write: Callable[[str], None]) -> SpanExporter:
    """The configured exporter. ``write`` prints a line. Raises OSError."""
    if config.exporter == 'file':
        limits = {'max_bytes': config.max_file_mb * 10**6, 'max_files': config.max_files}
        return FileExporter(JsonLines(file, **limits))
    return (
        ConsoleExporter(write)
        if config.exporter == 'console'
        else OtlpHttpExporter(config.endpoint)
    )
