# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Each trace event reaches each listener once, in one order, whatever a listener does."""

from __future__ import annotations

import threading

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.trace.bus import MAX_KEPT_EVENTS, TraceBus
from curiosity_rosa_demo.trace.trace_codec import new_event
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

WAIT_S = 20.0


def event(text: str) -> TraceEvent:
    return new_event(TraceKind.OBSERVE, text)


def bus(*, ordered: bool = True) -> TraceBus:
    return TraceBus(lambda name, error: None, ordered=ordered)


def test_followers_hear_what_comes_from_now_on() -> None:
    event_bus, heard = bus(), list[str]()
    event_bus.publish(event('before'))
    leave = event_bus.subscribe('a', lambda each: heard.append(each.message))
    event_bus.publish(event('during'))
    leave()
    leave()
    event_bus.publish(event('after'))
    assert heard == ['during']
    assert [each.message for each in event_bus.recent()] == ['before', 'during', 'after']
    assert [each.message for each in event_bus.recent(1)] == ['after']


def test_an_event_that_comes_twice_counts_once() -> None:
    event_bus, heard = bus(), list[TraceEvent]()
    event_bus.subscribe('a', heard.append)
    ours = event('ours')
    event_bus.publish(ours)
    event_bus.publish(ours.model_copy())  # as it comes back from the topic
    assert heard == [ours]
    assert event_bus.recent() == [ours]


def test_the_same_function_may_follow_twice() -> None:
    event_bus, heard = bus(), list[TraceEvent]()
    leave = event_bus.subscribe('a', heard.append)
    event_bus.subscribe('a', heard.append)
    leave()
    event_bus.publish(event('x'))
    assert len(heard) == 1


class Listeners:
    """Subscribed to a bus; ``broken`` says of each whether it raises."""

    def __init__(self, broken: list[bool], *, report_fails: bool, ordered: bool) -> None:
        self.heard: list[tuple[int, TraceEvent]] = []
        self.failed: list[tuple[str, str]] = []
        self.report_fails = report_fails
        self.event_bus = TraceBus(self._report, ordered=ordered)
        for number, raises in enumerate(broken):
            self._subscribe(number, raises)

    def _subscribe(self, number: int, raises: bool) -> None:
        def listener(each: TraceEvent) -> None:
            if raises:
                raise OSError(28, 'No space left on device')
            self.heard.append((number, each))

        self.event_bus.subscribe(f'listener {number}', listener)

    def _report(self, name: str, error: Exception) -> None:
        self.failed.append((name, str(error)))
        if self.report_fails:
            raise BrokenPipeError


@given(st.lists(st.booleans(), max_size=6), st.booleans(), st.booleans())
def test_a_listener_that_fails_hurts_no_other_and_stays_and_is_counted(
    broken: list[bool], report_fails: bool, ordered: bool
) -> None:
    world = Listeners(broken, report_fails=report_fails, ordered=ordered)
    events = [event(str(number)) for number in range(2)]
    for each in events:
        world.event_bus.publish(each)
    well = [number for number, raises in enumerate(broken) if not raises]
    assert world.heard == [(number, each) for each in events for number in well]
    ill = [f'listener {number}' for number, raises in enumerate(broken) if raises]
    assert [name for name, _ in world.failed] == ill * 2
    assert all('No space left' in error for _, error in world.failed)
    assert world.event_bus.recent() == events


@pytest.mark.parametrize('ordered', [True, False])
def test_a_request_to_end_the_process_is_no_failure_of_a_listener(ordered: bool) -> None:
    event_bus = bus(ordered=ordered)

    def leave(each: TraceEvent) -> None:
        raise SystemExit(143)

    event_bus.subscribe('console', leave)
    with pytest.raises(SystemExit):
        event_bus.publish(event('x'))


def test_a_follower_may_leave_while_it_hears() -> None:
    event_bus, heard = bus(), list[TraceEvent]()
    leaves = []

    def once(each: TraceEvent) -> None:
        heard.append(each)
        leaves[0]()

    leaves.append(event_bus.subscribe('a', once))
    event_bus.publish(event('1'))
    event_bus.publish(event('2'))
    assert len(heard) == 1


def test_all_followers_hear_the_same_order() -> None:
    event_bus, first, second = bus(), list[str](), list[str]()
    overtaken = threading.Event()
    others: list[threading.Thread] = []

    def slow(each: TraceEvent) -> None:
        first.append(each.message)
        if each.message == '1':
            others.append(threading.Thread(target=event_bus.publish, args=(event('2'),)))
            others[0].start()
            assert not overtaken.wait(0.3)  # the other thread has its time to come first

    def quick(each: TraceEvent) -> None:
        second.append(each.message)
        if each.message == '2':
            overtaken.set()

    event_bus.subscribe('a', slow)
    event_bus.subscribe('a', quick)
    event_bus.publish(event('1'))
    others[0].join(WAIT_S)
    assert first == second == [each.message for each in event_bus.recent()] == ['1', '2']


def test_a_listener_that_waits_delays_only_its_publisher_on_an_unordered_bus() -> None:
    event_bus, heard = bus(ordered=False), list[str]()
    waiting, released = threading.Event(), threading.Event()

    def slow(each: TraceEvent) -> None:
        if each.message == '1':
            waiting.set()
            assert released.wait(WAIT_S)
        heard.append(each.message)

    event_bus.subscribe('slow', slow)
    other = threading.Thread(target=event_bus.publish, args=(event('1'),))
    other.start()
    assert waiting.wait(WAIT_S)
    event_bus.publish(event('2'))
    assert heard == ['2']
    released.set()
    other.join(WAIT_S)
    assert heard == ['2', '1']
    assert [each.message for each in event_bus.recent()] == ['1', '2']


@settings(deadline=None, max_examples=examples(20))
@given(st.integers(1, 8), st.integers(1, 40), st.booleans())
def test_nothing_is_lost_between_threads(threads: int, each: int, ordered: bool) -> None:
    event_bus, heard = bus(ordered=ordered), list[str]()
    event_bus.subscribe('a', lambda one: heard.append(one.event_id))

    def tell() -> None:
        for _ in range(each):
            event_bus.publish(event('x'))

    working = [threading.Thread(target=tell) for _ in range(threads)]
    for thread in working:
        thread.start()
    for thread in working:
        thread.join()
    recent = [one.event_id for one in event_bus.recent()]
    assert (heard == recent) if ordered else (sorted(heard) == sorted(recent))
    assert len(heard) == threads * each


def test_it_is_bounded() -> None:
    event_bus = bus()
    for number in range(MAX_KEPT_EVENTS + 5):
        event_bus.publish(event(str(number)))
    kept = [each.message for each in event_bus.recent()]
    assert len(kept) == MAX_KEPT_EVENTS
    assert kept[0] == '5'
