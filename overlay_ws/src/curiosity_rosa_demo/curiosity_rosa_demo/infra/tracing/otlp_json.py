# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Spans as OTLP in JSON: one ``TracesData`` with one span a line, as OpenTelemetry's file exporter
writes and the collector's ``otlpjsonfile`` receiver reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
import json
from typing import Any

from curiosity_rosa_demo.infra.tracing.span import EVENT_ID, Span, Value

SCOPE = 'curiosity_rosa_demo'
INTERNAL, CLIENT = 1, 3  # span kinds
ERROR = 2  # status code
_encode = json.JSONEncoder(separators=(',', ':'), check_circular=False).encode


class OtlpJsonEncoder:
    def __init__(self, resource: Mapping[str, Value]) -> None:
        head = _encode({'attributes': _attributes(resource)})
        self._begin = (
            f'{{"resourceSpans":[{{"resource":{head},"scopeSpans":[{{"scope":{{"name":"{SCOPE}"}},'
            '"spans":['
        )

    def line(self, span: Span) -> str:
        """One line of ASCII, without its end."""
        return f'{self._begin}{_encode(_span(span))}]}}]}}]}}'


def _span(span: Span) -> dict[str, Any]:
    data: dict[str, Any] = {
        'traceId': f'{span.trace_id:032x}',
        'spanId': f'{span.span_id:016x}',
        'name': span.name,
        'kind': CLIENT if span.is_client else INTERNAL,
        'startTimeUnixNano': str(span.start_ns),
        'endTimeUnixNano': str(span.end_ns),
        'attributes': _attributes(dict(span.attributes)),
    }
    if span.parent_id:
        data['parentSpanId'] = f'{span.parent_id:016x}'
    if span.events:
        data['events'] = [
            {'timeUnixNano': str(at), 'name': kind, 'attributes': _attributes({EVENT_ID: event})}
            for at, kind, event in span.events
        ]
    if span.failure:
        data['status'] = {'code': ERROR, 'message': span.failure}
    return data


def _attributes(values: Mapping[str, Value]) -> list[dict[str, Any]]:
    return [{'key': key, 'value': _value(value)} for key, value in values.items()]


def _value(value: Value) -> dict[str, Any]:
    if isinstance(value, str):
        return {'stringValue': value}
    if isinstance(value, bool):
        return {'boolValue': value}
    if isinstance(value, int):
        return {'intValue': str(value)}
    if isinstance(value, float):
        return {'doubleValue': value}
    return {'arrayValue': {'values': [{'stringValue': each} for each in value]}}
