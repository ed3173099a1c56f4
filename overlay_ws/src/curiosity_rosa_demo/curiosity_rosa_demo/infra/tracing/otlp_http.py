# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Spans to an OTLP collector over HTTP, by OpenTelemetry's SDK. The SDK is imported with the first
span, in the thread that sends it: the start of the agent does not wait for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import os
from typing import Any
from urllib.parse import urlsplit

from curiosity_rosa_demo.infra.tracing.otlp_json import SCOPE
from curiosity_rosa_demo.infra.tracing.span import EVENT_ID, Span, Value

TRACES_PATH = '/v1/traces'
TIMEOUT_S = 5.0  # of one batch, with its retries


class SpansRejected(Exception):
    """The collector could not be reached, or took no spans."""


class OtlpHttpExporter:
    """``endpoint`` '': that of OTEL_EXPORTER_OTLP_ENDPOINT, by default http://localhost:4318."""

    def __init__(self, endpoint: str, resource: Mapping[str, Value]) -> None:
        path = urlsplit(endpoint).path.strip('/')
        self._endpoint = endpoint if path or not endpoint else endpoint.rstrip('/') + TRACES_PATH
        self._attributes: dict[str, Any] = dict(resource)
        if os.environ.get('OTEL_SERVICE_NAME'):
            self._attributes.pop('service.name', None)
        self._exporter: Any = None
        self._resource: Any = None

    def export(self, spans: Sequence[Span]) -> None:
        """Raises SpansRejected."""
        from opentelemetry.sdk.trace.export import SpanExportResult

        if self._exporter is None:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource

            self._resource = Resource.create(self._attributes)
            timeout = None if 'OTEL_EXPORTER_OTLP_TIMEOUT' in os.environ else TIMEOUT_S
            self._exporter = OTLPSpanExporter(self._endpoint or None, timeout=timeout)
        result = self._exporter.export([readable_span(each, self._resource) for each in spans])
        if result is not SpanExportResult.SUCCESS:
            where = self._endpoint or 'the endpoint of OTEL_EXPORTER_OTLP_*'
            raise SpansRejected(f'no collector took the spans at {where}; set tracing.endpoint')

    def close(self) -> None:
        if self._exporter is not None:
            self._exporter.shutdown()


def readable_span(span: Span, resource: Any = None) -> Any:
    """The span as the SDK's exporters take it."""
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

    def context(span_id: int) -> SpanContext:
        return SpanContext(span.trace_id, span_id, False, TraceFlags(TraceFlags.SAMPLED))

    return ReadableSpan(
        span.name,
        context=context(span.span_id),
        parent=context(span.parent_id) if span.parent_id else None,
        resource=resource,
        attributes=dict(span.attributes),
        events=[Event(kind, {EVENT_ID: event}, at) for at, kind, event in span.events],
        kind=SpanKind.CLIENT if span.is_client else SpanKind.INTERNAL,
        status=Status(StatusCode.ERROR, span.failure) if span.failure else Status(),
        start_time=span.start_ns,
        end_time=span.end_ns,
        instrumentation_scope=InstrumentationScope(SCOPE),
    )
