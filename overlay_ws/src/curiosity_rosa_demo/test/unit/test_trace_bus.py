# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""All trace events for whoever follows: once, in one order, whatever a follower does."""

from __future__ import annotations

import threading

from curiosity_rosa_demo.domain.models import TraceEvent, TraceKind
from curiosity_rosa_demo.trace.bus import MAX_KEPT_EVENTS, TraceBus
from curiosity_rosa_demo.trace.trace_codec import new_event
from hypothesis import given, settings
from hypothesis import strategies as st

WAIT_S = 20.0


def event(text: str) -> TraceEvent:
    return new_event(TraceKind.OBSERVE, text)


def test_followers_hear_what_comes_from_now_on() -> None:
    event_bus, heard = TraceBus(), list[str]()
    event_bus.publish(event('before'))
    leave = event_bus.subscribe(lambda each: heard.append(each.message))
    event_bus.publish(event('during'))
    leave()
    leave()
    event_bus.publish(event('after'))
    assert heard == ['during']
    assert [each.message for each in event_bus.recent()] == ['before', 'during', 'after']
    assert [each.message for each in event_bus.recent(1)] == ['after']


def test_an_event_that_comes_twice_counts_once() -> None:
    event_bus, heard = TraceBus(), list[TraceEvent]()
    event_bus.subscribe(heard.append)
    ours = event('ours')
    event_bus.publish(ours)
    event_bus.publish(ours.model_copy())  # as it comes back from the topic
    assert heard == [ours]
    assert event_bus.recent() == [ours]


def test_the_same_function_may_follow_twice() -> None:
    event_bus, heard = TraceBus(), list[TraceEvent]()
    leave = event_bus.subscribe(heard.append)
    event_bus.subscribe(heard.append)
    leave()
    event_bus.publish(event('x'))
    assert len(heard) == 1


def test_a_follower_that_raises_is_left_out() -> None:
    event_bus, heard, calls = TraceBus(), list[TraceEvent](), list[TraceEvent]()

    def broken(each: TraceEvent) -> None:
        calls.append(each)
        raise RuntimeError('broken')

    event_bus.subscribe(broken)
    event_bus.subscribe(heard.append)
    event_bus.publish(event('1'))
    event_bus.publish(event('2'))
    assert len(calls) == 1
    assert len(heard) == 2


def test_a_follower_may_leave_while_it_hears() -> None:
    event_bus, heard = TraceBus(), list[TraceEvent]()
    leaves = []

    def once(each: TraceEvent) -> None:
        heard.append(each)
        leaves[0]()

    leaves.append(event_bus.subscribe(once))
    event_bus.publish(event('1'))
    event_bus.publish(event('2'))
    assert len(heard) == 1


def test_all_followers_hear_the_same_order() -> None:
    event_bus, first, second = TraceBus(), list[str](), list[str]()
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

    event_bus.subscribe(slow)
    event_bus.subscribe(quick)
    event_bus.publish(event('1'))
    others[0].join(WAIT_S)
    assert first == second == [each.message for each in event_bus.recent()] == ['1', '2']


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 8), st.integers(1, 40))
def test_nothing_is_lost_between_threads(threads: int, each: int) -> None:
    event_bus, heard = TraceBus(), list[str]()
    event_bus.subscribe(lambda one: heard.append(one.event_id))

    def tell() -> None:
        for _ in range(each):
            event_bus.publish(event('x'))

    working = [threading.Thread(target=tell) for _ in range(threads)]
    for thread in working:
        thread.start()
    for thread in working:
        thread.join()
    assert heard == [one.event_id for one in event_bus.recent()]
    assert len(heard) == threads * each


def test_it_is_bounded() -> None:
    event_bus = TraceBus()
    for number in range(MAX_KEPT_EVENTS + 5):
        event_bus.publish(event(str(number)))
    kept = [each.message for each in event_bus.recent()]
    assert len(kept) == MAX_KEPT_EVENTS
    assert kept[0] == '5'
