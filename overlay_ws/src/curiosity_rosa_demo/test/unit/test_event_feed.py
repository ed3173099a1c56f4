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
from curiosity_rosa_demo.trace.bus import EventFeed, KEPT
from curiosity_rosa_demo.trace.trace_codec import new_event
from hypothesis import given, settings
from hypothesis import strategies as st

WAIT_S = 20.0


def event(text: str) -> TraceEvent:
    return new_event(TraceKind.OBSERVE, text)


def test_followers_hear_what_comes_from_now_on() -> None:
    feed, heard = EventFeed(), list[str]()
    feed.hear(event('before'))
    leave = feed.follow(lambda each: heard.append(each.message))
    feed.hear(event('during'))
    leave()
    leave()
    feed.hear(event('after'))
    assert heard == ['during']
    assert [each.message for each in feed.last()] == ['before', 'during', 'after']
    assert [each.message for each in feed.last(1)] == ['after']


def test_an_event_that_comes_twice_counts_once() -> None:
    feed, heard = EventFeed(), list[TraceEvent]()
    feed.follow(heard.append)
    ours = event('ours')
    feed.hear(ours)
    feed.hear(ours.model_copy())  # as it comes back from the topic
    assert heard == [ours]
    assert feed.last() == [ours]


def test_the_same_function_may_follow_twice() -> None:
    feed, heard = EventFeed(), list[TraceEvent]()
    leave = feed.follow(heard.append)
    feed.follow(heard.append)
    leave()
    feed.hear(event('x'))
    assert len(heard) == 1


def test_a_follower_that_raises_is_left_out() -> None:
    feed, heard, calls = EventFeed(), list[TraceEvent](), list[TraceEvent]()

    def broken(each: TraceEvent) -> None:
        calls.append(each)
        raise RuntimeError('broken')

    feed.follow(broken)
    feed.follow(heard.append)
    feed.hear(event('1'))
    feed.hear(event('2'))
    assert len(calls) == 1
    assert len(heard) == 2


def test_a_follower_may_leave_while_it_hears() -> None:
    feed, heard = EventFeed(), list[TraceEvent]()
    leaves = []

    def once(each: TraceEvent) -> None:
        heard.append(each)
        leaves[0]()

    leaves.append(feed.follow(once))
    feed.hear(event('1'))
    feed.hear(event('2'))
    assert len(heard) == 1


def test_all_followers_hear_the_same_order() -> None:
    feed, first, second = EventFeed(), list[str](), list[str]()
    overtaken = threading.Event()
    others: list[threading.Thread] = []

    def slow(each: TraceEvent) -> None:
        first.append(each.message)
        if each.message == '1':
            others.append(threading.Thread(target=feed.hear, args=(event('2'),)))
            others[0].start()
            assert not overtaken.wait(0.3)  # the other thread has its time to come first

    def quick(each: TraceEvent) -> None:
        second.append(each.message)
        if each.message == '2':
            overtaken.set()

    feed.follow(slow)
    feed.follow(quick)
    feed.hear(event('1'))
    others[0].join(WAIT_S)
    assert first == second == [each.message for each in feed.last()] == ['1', '2']


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 8), st.integers(1, 40))
def test_nothing_is_lost_between_threads(threads: int, each: int) -> None:
    feed, heard = EventFeed(), list[str]()
    feed.follow(lambda one: heard.append(one.event_id))

    def tell() -> None:
        for _ in range(each):
            feed.hear(event('x'))

    working = [threading.Thread(target=tell) for _ in range(threads)]
    for thread in working:
        thread.start()
    for thread in working:
        thread.join()
    assert heard == [one.event_id for one in feed.last()]
    assert len(heard) == threads * each


def test_it_is_bounded() -> None:
    feed = EventFeed()
    for number in range(KEPT + 5):
        feed.hear(event(str(number)))
    kept = [each.message for each in feed.last()]
    assert len(kept) == KEPT
    assert kept[0] == '5'
