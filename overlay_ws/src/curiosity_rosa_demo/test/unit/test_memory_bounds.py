# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""No foreign message and no event of our own takes more memory than its bound."""

from __future__ import annotations

from collections.abc import Callable
import json
import tracemalloc
from typing import Any

from curiosity_rosa_demo.domain.memory_size import memory_size
from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.trace.bus import EventBus
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
import pytest
from strategies import json_values

ALLOWANCE = 1000  # bytes: what the parser itself keeps
# Fragments of JSON whose objects are many times larger than their text.
FRAGMENTS = st.sampled_from(['[]', '{}', '[[[[]]]]', '[' * 90 + ']' * 90, '1e5', '"\u706b"'])
LARGE = {
    'one text': lambda n: {'x': f'{n}' + 'y' * 4_900_000},
    'many texts': lambda n: {'x': [f'{n}' * 1000] * 4_900},
    'nested': lambda n: {'x': [[[]]] * 5_000},
}


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


def publish(events: Callable[[int], TraceEvent], count: int) -> int:
    """The memory that a bus and a listener that keeps its events take. The least of three
    measurements: threads of earlier tests allocate, too.
    """

    def run() -> tuple[EventBus, list[TraceEvent]]:
        bus, kept = EventBus(), list[TraceEvent]()
        bus.listen('keeps all', kept.append, TraceEvent)
        for number in range(count):
            bus.publish(events(number))
        return bus, kept

    return min(traced_bytes(run) for _ in range(3))


@pytest.mark.parametrize('data', LARGE.values(), ids=LARGE)
def test_large_events_of_this_process_are_not_kept(data: Callable[[int], Any]) -> None:
    assert publish(lambda n: new_event(TraceKind.ACT, 'm', data=data(n)), 6) < 100_000


def test_large_foreign_events_are_not_kept() -> None:
    text = 'y' * 4_900_000
    assert publish(lambda n: decode(text_of(str(n), f'"{text}"')), 20) < 200_000


def test_nested_foreign_events_are_not_kept() -> None:
    nested = f'[{",".join(["[" * 90 + "]" * 90] * 88)}]'  # of almost MAX_EVENT_BYTES
    assert publish(lambda n: decode(text_of(str(n), nested)), 20) < 200_000
