# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.
"""What the agent remembers, in few words and little memory."""

from __future__ import annotations

from collections.abc import Callable
import json
import tracemalloc
from typing import Any

from curiosity_rosa_demo.agent.memory import event_line, LINE_LENGTH, recall
from curiosity_rosa_demo.domain.memory_size import memory_size
from curiosity_rosa_demo.domain.models import ToolResult, TraceEvent, TraceKind
from curiosity_rosa_demo.trace.reporter import finite_float, result_summary, trace_result
from curiosity_rosa_demo.trace.trace_buffer import TraceBuffer
from curiosity_rosa_demo.trace.trace_codec import (
    bounded_event,
    decode,
    event_memory,
    MAX_EVENT_BYTES,
    MAX_EVENT_MEMORY,
    new_event,
)
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import events, json_objects, json_values, names


def traced(tool: str, result: ToolResult) -> TraceEvent:
    """The one event of a result."""
    told: list[TraceEvent] = []

    def trace(kind: TraceKind, message: str, **fields: object) -> None:
        told.append(new_event(kind, message, **fields))

    trace_result(trace, tool, result)
    (event,) = told
    return event


def test_the_last_events_are_told_oldest_first() -> None:
    past = [new_event(TraceKind.OBSERVE, f'number {i}') for i in range(5)]
    assert recall(past, 2).splitlines() == [
        'Recent events, oldest first:',
        '[OBSERVE] number 3',
        '[OBSERVE] number 4',
    ]


def test_a_reason_stands_behind_a_message_that_does_not_hold_it() -> None:
    told = new_event(TraceKind.ERROR, 'move_forward', error_reason='Need to close mast')
    assert event_line(told) == '[ERROR] move_forward (Need to close mast)'
    told = new_event(TraceKind.ERROR, 'x: Need to close mast', error_reason='Need to close mast')
    assert event_line(told) == '[ERROR] x: Need to close mast'


@given(past=st.lists(events, max_size=6), count=st.integers(0, 8))
def test_each_event_is_one_short_line(past: list[TraceEvent], count: int) -> None:
    told = recall(past, count).splitlines()
    assert len(told) == (min(count, len(past)) + 1 if count and past else 0)
    for text, event in zip(told[1:], past[-count:] if count else [], strict=True):
        assert text.startswith(f'[{event.kind.value}]')
        assert len(text) <= LINE_LENGTH


@given(tool=names, data=json_objects)
def test_every_result_can_be_told(tool: str, data: dict[str, object]) -> None:
    good, bad = ToolResult.success(**data), ToolResult.failure('Mast is closed', **data)
    assert result_summary(good)
    assert result_summary(bad) == 'Mast is closed'
    told = traced(tool, good)
    assert (told.kind, told.ok, told.error_reason) == (TraceKind.RESULT, True, None)
    # An event keeps what fits in it; a character takes at most twelve bytes.
    assert told.data == good.data or len(json.dumps(good.data)) > 1000
    told = traced(tool, bad)
    assert (told.kind, told.ok, told.error_reason) == (TraceKind.ERROR, False, 'Mast is closed')
    assert told.message == f'{tool}: Mast is closed'


def test_a_result_is_told_in_few_words() -> None:
    result = ToolResult.success(score=0.123456, is_good=False, image_topic='/a', cost=1.0, x=None)
    assert result_summary(result) == 'score 0.123, is_good false'
    assert result_summary(ToolResult.success(cost=2.0)) == 'done'
    assert result_summary(ToolResult.success(rocks=[{'x': 1}, {'x': 2}])) == 'rocks 2'
    drive = ToolResult.success(duration_s=2.0, distance_m=0.983, x=0.983, y=-0.0, yaw_rad=0.1)
    words = 'duration 2.0 s, distance 0.98 m, x 0.98 m, y 0.00 m, yaw 0.10 rad'
    assert result_summary(drive) == words
    assert traced('capture_and_score', result).score == 0.123456


@given(st.integers() | st.floats() | st.booleans() | st.none() | st.text() | st.just(10**400))
def test_a_score_is_a_finite_number_or_nothing(value: object) -> None:
    found = finite_float(value)
    assert found is None or (type(found) is float and abs(found) < float('inf'))
    if type(value) is int and abs(value) < 2**1000:
        assert found == float(value)
    if isinstance(value, bool):
        assert found is None


ALLOWANCE = 1000  # bytes: what the parser itself keeps
# Fragments of JSON whose objects are many times larger than their text.
FRAGMENTS = st.sampled_from(['[]', '{}', '[[[[]]]]', '[' * 90 + ']' * 90, '1e5', '"\u706b"'])


def traced_bytes(make: Callable[[], Any]) -> int:
    """The memory that the result of ``make`` takes."""
    tracemalloc.start()
    try:
        result = make()
        size = tracemalloc.get_traced_memory()[0]
        del result
        return size
    finally:
        tracemalloc.stop()


def text_of(event_id: str, data: str) -> str:
    head = f'"event_id": "{event_id}", "ts": 1.0, "kind": "ACT", "message": "m"'
    return f'{{{head}, "data": {{"x": {data}}}}}'


@given(json_values)
def test_a_value_takes_no_more_memory_than_is_counted(value: object) -> None:
    text = json.dumps(value)
    assert traced_bytes(lambda: json.loads(text)) <= memory_size(json.loads(text)) + ALLOWANCE


@settings(max_examples=examples(25), deadline=None)
@given(FRAGMENTS, st.integers(0, 6000))
def test_an_event_of_the_topic_is_bounded_by_its_memory(fragment: str, count: int) -> None:
    text = text_of('a', f'[{",".join([fragment] * count)}]')
    event = decode(text)
    assert event_memory(event) <= MAX_EVENT_MEMORY
    assert (event.kind is TraceKind.ERROR) == (len(text) > MAX_EVENT_BYTES)
    assert bounded_event(event) is event


@given(st.lists(st.integers(1, 3000), max_size=40), st.integers(1, 20), st.integers(1, 20_000))
def test_a_buffer_keeps_the_newest_events_that_fit(
    lengths: list[int], size: int, max_bytes: int
) -> None:
    buffer = TraceBuffer(size, max_bytes)
    sent = [new_event(TraceKind.ACT, 'x' * length) for length in lengths]
    for each in sent:
        buffer.append(each)
    kept = buffer.last()
    assert kept == sent[len(sent) - len(kept) :]
    assert len(kept) <= size
    assert sum(map(event_memory, kept)) <= max_bytes or len(kept) == 1
    one_more = sent[-len(kept) - 1 :]
    assert len(kept) in (size, len(sent)) or sum(map(event_memory, one_more)) > max_bytes
