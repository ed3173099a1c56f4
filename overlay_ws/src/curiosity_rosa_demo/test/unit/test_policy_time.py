# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The policy's clock never goes back, and its ticks are the aligned instants of local time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import pairwise

from curiosity_rosa_demo.agent.policy.autonomy.suggestion_model import RosPolicyClock
from curiosity_rosa_demo.agent.policy.tick_scheduler import (
    DueTick,
    floor_ms,
    MAX_BACKWARD_STEP_S,
    PolicyClock,
    TickScheduler,
)
from curiosity_rosa_demo.infra.config.base import time_zone
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

CHANGES = {  # when the clocks change, in UTC
    **{zone: ['2026-01-01'] for zone in ('UTC', 'UTC+08:00', 'UTC-03:30', 'Asia/Kathmandu')},
    'Europe/Berlin': ['2026-03-29T01:00', '2026-10-25T01:00'],
    'America/St_Johns': ['2026-03-08T05:30', '2026-11-01T04:30'],  # -03:30 and -02:30
    'Australia/Lord_Howe': ['2026-04-04T15:00', '2026-10-03T15:30'],  # by half an hour
    'Pacific/Apia': ['2011-09-24T14:00', '2011-12-30T10:00'],  # 2011-12-30 did not exist there
}
ZONES = {name: time_zone(name) for name in CHANGES}
T0 = 1_767_225_600  # 2026-01-01 00:00 UTC
DAY = 86_400
DAY_MS = 1000 * DAY


def changes(zone: str) -> list[int]:
    texts = CHANGES[zone]
    return [int(datetime.fromisoformat(f'{text}+00:00').timestamp()) for text in texts]


def aligned(zone: str, tick_s: int, begin: int, end: int) -> list[int]:
    """The instants in [begin, end], each second looked at."""
    result = []
    for second in range(begin, end + 1):
        local = datetime.fromtimestamp(second, ZONES[zone])
        if (local.hour * 3600 + local.minute * 60 + local.second) % tick_s == 0:
            result.append(second)
    return result


def next_tick(tick_s: float, zone: str, now: float) -> float:
    """The first instant at which a scheduler that ticked at ``now`` is due, to the millisecond."""

    def is_due(at_ms: int) -> bool:
        scheduler = TickScheduler(tick_s, ZONES[zone])
        scheduler.resume(now)
        return scheduler.take_due(at_ms / 1000.0) is not None

    later = range(floor_ms(now) + 1, floor_ms(now) + 2 * DAY_MS)
    return later[bisect_left(later, True, key=is_due)] / 1000.0


def test_the_clocks_change_when_it_is_written_here() -> None:
    for zone in ('Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Apia'):
        for at in changes(zone):
            before, after = (datetime.fromtimestamp(each, ZONES[zone]) for each in (at - 1, at))
            assert before.utcoffset() != after.utcoffset(), (zone, at)


@st.composite
def courses(draw: st.DrawFn) -> tuple[str, int, list[float]]:
    """A zone, a tick, and times that go on, often over a change of the clocks."""
    zone = draw(st.sampled_from(sorted(ZONES)))
    tick_s = draw(st.sampled_from([1, 7, 60, 420, 900, 1000, 3600, 5400]))
    around = draw(st.sampled_from(changes(zone)))
    times = [around + draw(st.floats(-3 * 3600.0, 3600.0))]
    steps = draw(st.lists(st.sampled_from([0.0, 0.3, 1.0, 59.9, 60.0, 600.0, 3600.0, 5000.0])))
    for step in steps[:12]:
        times.append(times[-1] + step)
    return zone, tick_s, times


@given(courses())
@settings(max_examples=examples(60))
def test_each_instant_is_ticked_or_counted_as_missed_once(
    course: tuple[str, int, list[float]],
) -> None:
    zone, tick_s, times = course
    scheduler = TickScheduler(tick_s, ZONES[zone])
    instants = aligned(zone, tick_s, int(times[0]) - 2 * 5400, int(times[-1]))
    ticked = -1  # index of the last instant that was ticked
    for now in times:
        latest = bisect_right(instants, now) - 1
        due = scheduler.take_due(now)
        if latest == ticked:
            assert due is None
            continue
        missed = 0 if ticked < 0 else latest - ticked - 1
        assert due == DueTick(at=instants[latest], missed=missed)
        ticked = latest


@given(
    st.sampled_from(sorted(ZONES)),
    st.integers(1000, 60_000),
    st.booleans(),
    st.integers(0, 2 * DAY),
    st.floats(0.0, 1.0),
)
@settings(max_examples=examples(60))
def test_whoever_sleeps_until_the_next_instant_misses_none(
    zone: str, tick_ms: int, later: bool, after_s: int, part: float
) -> None:
    """Also where ticks are fractions of a second and no fraction of a day."""
    scheduler = TickScheduler(tick_ms / 1000.0, ZONES[zone])
    begin = 2_160_000_000 if later else changes(zone)[0]  # in 2038 floats are coarser
    now = begin - DAY + after_s + part
    first = scheduler.take_due(now)
    assert first is not None
    assert now - tick_ms / 1000.0 < first.at <= now
    for _ in range(20):
        now = next_tick(tick_ms / 1000.0, zone, now)
        assert scheduler.take_due(now) == DueTick(now, 0)
        assert scheduler.take_due(now) is None
        local = datetime.fromtimestamp(now // 1, ZONES[zone])
        seconds = local.hour * 3600 + local.minute * 60 + local.second
        assert (seconds * 1000 + round(now % 1 * 1000)) % tick_ms == 0


def test_no_instant_is_anticipated_or_ticked_again_also_after_a_restart() -> None:
    scheduler = TickScheduler(60.0, ZONES['UTC'])
    assert scheduler.take_due(T0 + 59.9999) == DueTick(T0, 0)
    assert next_tick(60.0, 'UTC', T0 + 59.9999) == T0 + 60
    assert scheduler.take_due(T0 + 59.9999) is None
    assert scheduler.take_due(T0 - 3600.0) is None
    assert scheduler.take_due(T0 + 60.0) == DueTick(T0 + 60, 0)
    for _ in range(2):
        scheduler.resume(T0 + 90.5)  # an event was ticked there, between two minutes
        assert scheduler.take_due(T0 + 119.0) is None
    assert scheduler.take_due(T0 + 301.0) == DueTick(T0 + 300, 3)
    for tick_s in (0.0, -60.0, 0.0001, DAY + 1.0):
        with pytest.raises(ValueError, match='tick_s = '):
            TickScheduler(tick_s, ZONES['UTC'])


# --- the clock -------------------------------------------------------------------------------


class Told:
    """A source that says what it is told."""

    def __init__(self, *, source: float, epoch: float = T0) -> None:
        self.source, self.epoch = source, epoch
        self.clock = PolicyClock(lambda: self.source, lambda: self.epoch)

    def at(self, source: float) -> float:
        self.source = source
        return self.clock.now()


COURSES = {  # of the source: what the clock says
    'set back a little': [
        *((100.0, 100.0), (99.0, 100.0), (100.0 - MAX_BACKWARD_STEP_S, 100.0), (101.0, 101.0))
    ],
    'set back by much': [(0.0, 0.0), (-DAY, 0.0), (5.0 - DAY, 5.0)],
    'not told yet': [(-T0, 0.0), (5000.0 - T0, 0.0), (5001.0 - T0, 1.0)],
    'simulated, begun anew': [
        *((100.0 - T0, 0.0), (130.0 - T0, 30.0), (3.0 - T0, 30.0), (4.0 - T0, 31.0))
    ],
    'simulated, a little back': [
        *((100.0 - T0, 0.0), (130.0 - T0, 30.0), (110.0 - T0, 30.0), (111.0 - T0, 31.0))
    ],
    'another kind': [(50.0 - T0, 0.0), (10.0, 10.0), (60.0 - T0, 10.0), (61.0 - T0, 11.0)],
}


@pytest.mark.parametrize('course', COURSES.values(), ids=COURSES)
def test_whatever_becomes_of_its_source_time_goes_on(course: list[tuple[float, float]]) -> None:
    """Times since T0; a source that says little is that of a simulation."""
    told = Told(source=T0 + course[0][0])
    assert [told.at(T0 + source) - T0 for source, _ in course] == [said for _, said in course]


@pytest.mark.parametrize('source', [5.0, float(T0)])
def test_what_passed_between_two_runs_has_passed(source: float) -> None:
    told = Told(source=source)
    told.clock.resume(T0 - DAY)
    assert told.at(source) == T0
    assert told.at(source + 100.0) == T0 + 100.0
    told.clock.resume(T0 - DAY)
    assert told.at(source + 90.0) == T0 + 100.0


@given(
    st.lists(
        st.floats(0.0, 1e5) | st.just(0.0) | st.floats(T0 - DAY, T0 + DAY) | st.floats(0.0, 4e9),
        min_size=2,
    ),
    st.floats(0.0, 4e9),
    st.floats(61.0, 1e5),
)
def test_whatever_the_source_says_it_never_goes_back_and_goes_on_with_its_source(
    sources: list[float], resumed: float, seconds: float
) -> None:
    told = Told(source=sources[0])
    told.clock.resume(resumed)
    said = [told.at(source) for source in sources]
    assert said[0] >= resumed
    assert all(before <= after for before, after in pairwise(said))
    told = Told(source=sources[0])
    *_, before = [told.at(source) for source in sources]
    wall = told.source >= 1e9
    if 0.0 < told.source < 1e9 - seconds or wall:
        passed = told.at(told.source + seconds) - before
        # A wall clock that was set back a little is waited for first.
        assert seconds - MAX_BACKWARD_STEP_S * wall - 1e-3 <= passed <= seconds + 1e-3


def test_a_clock_for_several_threads_goes_back_for_none() -> None:
    times = iter(range(10**9, 10**9 + 10**6))
    clock = RosPolicyClock(lambda: float(next(times)), lambda: 0.0)
    with ThreadPoolExecutor(4) as pool:
        reads = [pool.submit(lambda: [clock.now() for _ in range(2000)]) for _ in range(4)]
    for read in reads:
        assert read.result() == sorted(read.result())
    clock.resume(2e9)
    assert clock.now() >= 2e9
