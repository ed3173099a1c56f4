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

from curiosity_rosa_demo.infra.tracing.span import EVENT_ID, Span, Value

SCOPE = 'curiosity_rosa_demo'
INTERNAL, CLIENT = 1, 3  # span kinds
ERROR = 2  # status code
_text = json.encoder.encode_basestring_ascii  # a JSON string, with its quotes


class OtlpJsonEncoder:
    """Writes the JSON itself: half the time of a dict and json.dumps, and it is most of the time
    that tracing takes.
    """

    def __init__(self, resource: Mapping[str, Value]) -> None:
        self._begin = (
            f'{{"resourceSpans":[{{"resource":{{"attributes":{_attributes(resource)}}},'
            f'"scopeSpans":[{{"scope":{{"name":"{SCOPE}"}},"spans":['
        )

    def line(self, span: Span) -> str:
        """One line of ASCII, without its end."""
        return f'{self._begin}{_span(span)}]}}]}}]}}'


def _span(span: Span) -> str:
    parent = f'"parentSpanId":"{span.parent_id:016x}",' if span.parent_id else ''
    events = status = ''
    if span.events:
        events = f',"events":[{",".join(map(_event, list(span.events)))}]'
    if span.failure:
        status = f',"status":{{"code":{ERROR},"message":{_text(span.failure)}}}'
    return (
        f'{{"traceId":"{span.trace_id:032x}","spanId":"{span.span_id:016x}",{parent}'
        f'"name":{_text(span.name)},"kind":{CLIENT if span.is_client else INTERNAL},'
        f'"startTimeUnixNano":"{span.start_ns}","endTimeUnixNano":"{span.end_ns}",'
        f'"attributes":{_attributes(dict(span.attributes))}{events}{status}}}'
    )


def _event(event: tuple[int, str, str]) -> str:
    at_ns, kind, event_id = event
    named = _attributes({EVENT_ID: event_id})
    return f'{{"timeUnixNano":"{at_ns}","name":{_text(kind)},"attributes":{named}}}'


def _attributes(values: Mapping[str, Value]) -> str:
    parts = [f'{{"key":{_text(key)},"value":{_value(value)}}}' for key, value in values.items()]
    return f'[{",".join(parts)}]'


def _value(value: Value) -> str:
    if isinstance(value, str):
        return f'{{"stringValue":{_text(value)}}}'
    if isinstance(value, bool):
        return f'{{"boolValue":{"true" if value else "false"}}}'
    if isinstance(value, int):
        return f'{{"intValue":"{value}"}}'
    if isinstance(value, float):
        return f'{{"doubleValue":{value!r}}}'
    return f'{{"arrayValue":{{"values":[{",".join(map(_value, value))}]}}}}'
