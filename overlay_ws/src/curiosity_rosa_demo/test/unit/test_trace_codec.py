# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

import json

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.domain.serde import to_json
from curiosity_rosa_demo.trace.trace_codec import (
    bounded_event,
    decode,
    encode,
    MAX_EVENT_BYTES,
    new_event,
)
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import events, json_values

# From none to far too long, in characters that take one to six bytes.
long_text = st.builds(
    lambda letter, count: letter * count,
    st.sampled_from(['a', '"', 'é', '火', '🚀', '\x00', '\n']),
    st.integers(0, 5000) | st.sampled_from([16_000, 16_384, 40_000]),
)
long_events = st.builds(
    TraceEvent,
    event_id=long_text.filter(bool),
    ts=st.floats(0.0, allow_nan=False, allow_infinity=False),
    kind=st.sampled_from(TraceKind),
    message=long_text,
    tool_name=st.none() | long_text,
    ok=st.none() | st.booleans(),
    error_reason=st.none() | long_text,
    score=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    data=st.none() | st.dictionaries(long_text, long_text | st.integers(), max_size=3),
)
worst = '\x00' * 20_000  # six bytes each in JSON


@given(events)
def test_an_event_of_usual_size_comes_back_as_it_was(event: TraceEvent) -> None:
    if len(to_json(event).encode()) <= MAX_EVENT_BYTES:
        assert bounded_event(event) is event
        assert decode(encode(event)) == event


@given(long_events)
@example(
    TraceEvent(
        event_id=worst,
        ts=1.7976931348623157e308,
        kind=TraceKind.HYPOTHESIZE,
        message=worst,
        tool_name=worst,
        ok=False,
        error_reason=worst,
        score=-2.2250738585072014e-308,
        data={worst: worst},
    )
)
def test_no_text_is_larger_than_the_limit(event: TraceEvent) -> None:
    text = encode(bounded_event(event))
    assert len(text.encode()) <= MAX_EVENT_BYTES
    assert '\n' not in text
    json.loads(text)
    again = decode(text)
    assert (again.ts, again.kind, again.ok, again.score) == (
        event.ts,
        event.kind,
        event.ok,
        event.score,
    )
    for name in ('event_id', 'message', 'tool_name', 'error_reason'):
        before, after = getattr(event, name), getattr(again, name)
        assert after == before or before.startswith(after.removesuffix('...'))


def test_data_gives_way_before_the_message() -> None:
    event = new_event(TraceKind.RESULT, 'done ' * 1000, data={'picture': 'x' * 20_000})
    again = decode(encode(event))
    assert again.message == event.message
    assert again.data is not None
    assert 'dropped' in again.data
    assert again.event_id == event.event_id


@given(st.text() | json_values.map(json.dumps))
@example('')
@example('null')
@example('\ud800')
@example('\x00' * 100)
@example('[' * 1_000_000)
@example('{"event_id":"a","ts":NaN,"kind":"ACT","message":"m"}')
@example('{"event_id":"a","ts":1,"kind":"ACT","message":"m","data":{"a":1e999}}')
@example('x' * 5_000_000)
def test_decoding_never_raises(text: str) -> None:
    event = decode(text)
    assert event.kind is TraceKind.ERROR
    assert event.ok is False
    assert event.error_reason
    assert 'Unreadable trace event' in event.message
    assert len(encode(event).encode()) < 4000


@given(events, st.data())
def test_a_damaged_text_never_raises(event: TraceEvent, data: st.DataObject) -> None:
    text = encode(event)
    at = data.draw(st.integers(0, len(text) - 1))
    assert isinstance(
        decode(text[:at] + data.draw(st.text(max_size=3)) + text[at + 1 :]), TraceEvent
    )


@given(st.text(), st.dictionaries(st.text(), st.text() | st.lists(st.text())))
@example('broken \udce4', {'\ud800': ['\udfff']})
def test_a_new_event_takes_any_text(message: str, data: dict) -> None:
    event = new_event(TraceKind.ACT, message, data=data, tool_name=message, error_reason=message)
    assert decode(encode(event)) == event
    if message.isascii():
        assert event.message == message


def test_text_beyond_the_limit_is_not_parsed_but_noted() -> None:
    large = {'data': {'x': 'y' * 5_000_000}}
    text = new_event(TraceKind.ACT, 'large').model_copy(update=large).model_dump_json()
    event = decode(text)
    assert (event.kind, event.ok) == (TraceKind.ERROR, False)
    assert f'{len(text)} characters, more than {MAX_EVENT_BYTES}' in str(event.error_reason)
    assert len(encode(event)) < 2000
