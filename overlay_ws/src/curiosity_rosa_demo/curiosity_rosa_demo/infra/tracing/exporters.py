# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The exporters of agent.yaml's ``tracing``. Only ``otlp`` imports OpenTelemetry's SDK."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from curiosity_rosa_demo.infra.config.agent import TracingConfig
from curiosity_rosa_demo.infra.tracing.otlp_json import OtlpJsonEncoder
from curiosity_rosa_demo.infra.tracing.span import Span, Value
from curiosity_rosa_demo.infra.tracing.span_queue import SpanExporter
from curiosity_rosa_demo.infra.tracing.span_tree import tree_lines, TreeSpan
from curiosity_rosa_demo.trace.jsonl_log import JsonLines

MAX_OPEN_TRACES, MAX_TRACE_SPANS = 20, 2000  # that the console keeps until the task has ended


class FileExporter:
    """Appends to a rotating file. Raises OSError."""

    def __init__(self, lines: JsonLines, resource: Mapping[str, Value]) -> None:
        self._lines, self._encoder = lines, OtlpJsonEncoder(resource)

    def export(self, spans: Sequence[Span]) -> None:
        self._lines.append('\n'.join(map(self._encoder.line, spans)).encode())

    def close(self) -> None:
        self._lines.close()


class ConsoleExporter:
    """Prints the tree of a task's spans when the task has ended."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._traces: OrderedDict[str, list[TreeSpan]] = OrderedDict()

    def export(self, spans: Sequence[Span]) -> None:
        for each in spans:
            found = self._traces.setdefault(each.task_id, [])
            if len(found) < MAX_TRACE_SPANS or each.is_root:
                found.append(TreeSpan.of(each))
            if each.is_root:
                for line in tree_lines(self._traces.pop(each.task_id)):
                    self._write(line)
            elif len(self._traces) > MAX_OPEN_TRACES:
                self._traces.popitem(last=False)

    def close(self) -> None: ...


def make_exporter(
    config: TracingConfig,
    file: Path,
    resource: Mapping[str, Value],
    write: Callable[[str], None],
) -> SpanExporter | None:
    """The configured exporter; None if tracing is off. ``write`` prints a line. Raises OSError."""
    if config.exporter == 'file':
        limits = {'max_bytes': config.max_file_mb * 10**6, 'max_files': config.max_files}
        return FileExporter(JsonLines(file, **limits), resource)
    if config.exporter == 'console':
        return ConsoleExporter(write)
    if config.exporter == 'otlp':
        from curiosity_rosa_demo.infra.tracing.otlp_http import OtlpHttpExporter

        return OtlpHttpExporter(config.endpoint, resource)
    return None
