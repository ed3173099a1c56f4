# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One bus: numbered events in one order, a bounded past, and nobody who waits for another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import threading
from typing import Any

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.infra.event_thread import EventThread
from curiosity_rosa_demo.trace.bus import EventBus, EventsLost, Published
from curiosity_rosa_demo.trace.trace_codec import new_event
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

WAIT_S = 20.0


@dataclass(frozen=True)
class Note:
    """An event that is no trace event."""

    text: str


def event(text: str) -> TraceEvent:
    return new_event(TraceKind.OBSERVE, text)


def listen(bus: EventBus, heard: list[Any], **options: Any) -> Callable[[], None]:
    return bus.listen('a', heard.append, TraceEvent, **options)


# --- listeners ---------------------------------------------------------------------------------


def test_a_listener_gets_what_it_wants_until_it_leaves() -> None:
    bus, own, every, notes = EventBus(), list[Any](), list[Any](), list[Any]()
    bus.publish(event('before'))
    leave = listen(bus, own, own_only=True)
    listen(bus, every)
    bus.listen('notes', notes.append, Note)
    ours, theirs, note = event('ours'), event('theirs'), Note('x')
    bus.publish(ours)
    bus.publish(ours.model_copy(), own=False)  # as it comes back from the topic
    bus.publish(theirs, own=False)
    bus.publish(note)
    leave()
    leave()
    after = event('after')
    bus.publish(after)
    assert (own, every, notes) == ([ours], [ours, theirs, after], [note])
    assert [each.message for each in bus.trace_events()] == ['before', 'ours', 'theirs', 'after']
    assert bus.trace_events(1) == [after]
    assert bus.trace_events(0) == []


@given(st.lists(st.booleans(), max_size=6), st.booleans())
def test_a_listener_that_fails_hurts_no_other_and_stays_and_is_reported_by_name(
    broken: list[bool], report_fails: bool
) -> None:
    heard, failed = list[tuple[int, TraceEvent]](), list[str]()

    def report(name: str, error: Exception) -> None:
        failed.append(f'{name}: {error}')
        if report_fails:
            raise BrokenPipeError

    def subscribe(number: int, raises: bool) -> None:
        def listener(each: TraceEvent) -> None:
            if raises:
                raise OSError('disk full')
            heard.append((number, each))

        bus.listen(str(number), listener, TraceEvent)

    bus = EventBus(report)
    for number, raises in enumerate(broken):
        subscribe(number, raises)
    events = [event(str(number)) for number in range(2)]
    for each in events:
        bus.publish(each)
    well = [number for number, raises in enumerate(broken) if not raises]
    assert heard == [(number, each) for each in events for number in well]
    assert failed == [f'{number}: disk full' for number, raises in enumerate(broken) if raises] * 2
    assert bus.trace_events() == events


def test_a_request_to_end_the_process_is_no_failure_of_a_listener() -> None:
    bus, heard = EventBus(), list[Any]()

    def leave(each: TraceEvent) -> None:
        raise SystemExit(143)

    unsubscribe = bus.listen('console', leave, TraceEvent)
    with pytest.raises(SystemExit):
        bus.publish(event('x'))
    unsubscribe()
    listen(bus, heard)
    bus.publish(event('y'))
    assert [each.message for each in heard] == ['y']


def test_what_a_listener_publishes_follows_for_all_of_them() -> None:
    bus, heard = EventBus(), list[str]()

    def first(each: TraceEvent) -> None:
        if each.message == '1':
            bus.publish(event('2'))
            leave()  # it may also leave while it is called

    leave = bus.listen('first', first, TraceEvent)
    bus.listen('second', lambda each: heard.append(each.message), TraceEvent)
    bus.publish(event('1'))
    assert heard == ['1', '2'] == [each.message for each in bus.trace_events()]


@settings(deadline=None, max_examples=examples(20))
@given(st.integers(1, 8), st.integers(1, 40))
def test_all_hear_one_order_between_threads_and_nothing_is_lost(threads: int, each: int) -> None:
    bus, heard, threaded = EventBus(), list[Any](), list[Any]()
    listen(bus, heard)
    thread = EventThread(bus, 'thread', threaded.append, TraceEvent)
    place = bus.subscribe('reader', TraceEvent)

    def publish() -> None:
        for _ in range(each):
            bus.publish(event('x'))

    working = [threading.Thread(target=publish) for _ in range(threads)]
    for worker in working:
        worker.start()
    for worker in working:
        worker.join()
    thread.close(WAIT_S)
    read = place.read()
    assert heard == bus.trace_events() == threaded == [one.event for one in read.events]
    assert [one.number for one in read.events] == list(range(1, threads * each + 1))


# --- the ring and its readers ------------------------------------------------------------------


@given(
    st.integers(1, 8),
    st.lists(st.integers(0, 6) | st.sampled_from(['note', 'foreign']), max_size=40),
    st.integers(-1, 12),
)
def test_a_reader_gets_every_event_or_a_count_of_those_that_are_gone(
    kept: int, steps: list[int | str], start: int
) -> None:
    """A number reads so many events at most; 0 reads all."""
    bus, model = EventBus(max_events=kept), list[Published[Any]]()
    place = bus.subscribe('a', TraceEvent, after=start, own_only=True)
    after, lost = start, 0
    for step in steps:
        if isinstance(step, str):
            own = step != 'foreign'
            one: object = Note('x') if step == 'note' else event('x')
            bus.publish(one, own=own)
            model.append(Published(len(model) + 1, one, own))
            bus.publish(event(f'own {len(model)}'))
            model.append(Published(len(model) + 1, bus.trace_events()[-1], True))
            assert bus.last_number == len(model)
            continue
        ring = model[-kept:]
        oldest = ring[0].number if ring else 1
        lost += max(0, oldest - 1 - after)
        wanted = [
            each
            for each in ring
            if each.number > after and each.own and isinstance(each.event, TraceEvent)
        ]
        expected = wanted[:step] if step else wanted
        batch = place.read(step or None)
        assert batch.events == expected
        assert place.lost == lost
        is_limited = step and len(expected) == step
        after = expected[-1].number if is_limited else max(after, len(model))


@pytest.mark.parametrize('size', [0, -3])
def test_a_bus_keeps_at_least_one_event(size: int) -> None:
    with pytest.raises(ValueError, match=f'at least 1, not {size}'):
        EventBus(max_events=size)


# --- threads -----------------------------------------------------------------------------------


def test_a_slow_subscriber_delays_no_publisher_and_is_marked_when_it_loses_events() -> None:
    failed: list[tuple[str, Exception]] = []
    bus = EventBus(lambda name, error: failed.append((name, error)), max_events=10)
    waiting, released, heard = threading.Event(), threading.Event(), list[str]()

    def slow(each: TraceEvent) -> None:
        waiting.set()
        assert released.wait(WAIT_S)
        heard.append(each.message)
        if each.message == '25':
            raise OSError('disk full')

    thread = EventThread(bus, 'disk', slow, TraceEvent)
    bus.publish(event('0'))
    assert waiting.wait(WAIT_S)
    for number in range(1, 31):
        bus.publish(event(str(number)))
    bus.publish(event('theirs'), own=False)
    released.set()
    thread.close(WAIT_S)
    bus.publish(event('too late'))
    assert heard == ['0', *(str(number) for number in range(22, 31))]
    (lost, full) = failed
    assert lost[0] == full[0] == 'disk'
    assert isinstance(lost[1], EventsLost)
    assert lost[1].count == 21
    assert str(full[1]) == 'disk full'
