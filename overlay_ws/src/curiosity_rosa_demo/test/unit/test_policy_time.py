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
from datetime import datetime, timedelta
from itertools import pairwise

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

ZONES = {
    name: time_zone(name)
    for name in (
        'UTC',
        'UTC+08:00',
        'UTC-03:30',
        'Asia/Kathmandu',  # +05:45
        'Europe/Berlin',
        'America/St_Johns',  # -03:30 and -02:30
        'Australia/Lord_Howe',  # its clocks change by half an hour
        'Pacific/Apia',  # 2011-12-30 did not exist there
    )
}
T0 = 1_767_225_600  # 2026-01-01 00:00 UTC
DAY = 86_400
DAY_MS = 1000 * DAY


def epoch(zone: str, text: str, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZONES[zone], fold=fold).timestamp()


def changes(zone: str, year: int) -> list[int]:
    """When the clocks change in ``year``, found day by day and then second by second."""

    def offset(at: int) -> timedelta | None:
        return datetime.fromtimestamp(at, ZONES[zone]).utcoffset()

    first = round(epoch('UTC', f'{year}-01-01'))
    found = []
    for day in range(first, first + 365 * DAY, DAY):
        if offset(day) != offset(day + DAY):
            hour = next(h for h in range(day, day + DAY, 900) if offset(h) != offset(h + 900))
            found.append(next(s for s in range(hour + 1, hour + 901) if offset(s) != offset(hour)))
    return found


CHANGES = {name: changes(name, 2026) for name in ZONES} | {
    'Pacific/Apia': changes('Pacific/Apia', 2011)
}


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


@st.composite
def courses(draw: st.DrawFn) -> tuple[str, int, list[float]]:
    """A zone, a tick, and times that go on, often over a change of the clocks."""
    zone = draw(st.sampled_from(sorted(ZONES)))
    tick_s = draw(st.sampled_from([1, 7, 60, 420, 900, 1000, 3600, 5400]))
    around = draw(st.sampled_from(CHANGES[zone] or [T0]))
    now = around + draw(st.floats(-3 * 3600.0, 3600.0))
    steps = draw(st.lists(st.sampled_from([0.0, 0.3, 1.0, 59.9, 60.0, 600.0, 3600.0, 5000.0])))
    times = [now]
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
    begin = 2_160_000_000 if later else (CHANGES[zone] or [T0])[0]  # in 2038 floats are coarser
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


def test_not_even_a_part_of_a_millisecond_is_anticipated() -> None:
    scheduler = TickScheduler(60.0, ZONES['UTC'])
    assert scheduler.take_due(T0 + 59.9999) == DueTick(T0, 0)
    assert next_tick(60.0, 'UTC', T0 + 59.9999) == T0 + 60


@pytest.mark.parametrize(
    ('zone', 'tick_s'), [('Australia/Lord_Howe', 900), ('Pacific/Apia', 3600), ('UTC', 3600)]
)
def test_after_a_sleep_of_years_there_is_one_tick_and_the_others_are_counted(
    zone: str, tick_s: int
) -> None:
    begin, end = T0 - 15 * 365 * DAY, T0 + 200 * DAY + 1234  # over the day that Apia skipped
    scheduler = TickScheduler(tick_s, ZONES[zone])
    first = scheduler.take_due(begin)
    assert first is not None
    offsets = [  # every offset is a whole number of quarters of an hour
        datetime.fromtimestamp(at, ZONES[zone]) for at in range(round(first.at), end, 900)
    ]
    instants = [local for local in offsets if (local.minute * 60) % tick_s == 0]
    assert scheduler.take_due(end) == DueTick(instants[-1].timestamp(), len(instants) - 2)
    assert scheduler.take_due(end) is None


def test_time_that_stands_still_or_goes_back_is_not_ticked_again() -> None:
    scheduler = TickScheduler(60.0, ZONES['UTC'])
    assert scheduler.take_due(T0 + 30.0) == DueTick(T0, 0)
    assert scheduler.take_due(T0 + 30.0) is None
    assert scheduler.take_due(T0 - 3600.0) is None
    assert scheduler.take_due(T0 + 60.0) == DueTick(T0 + 60, 0)


def test_what_an_earlier_run_ticked_is_not_ticked_again_and_its_pause_is_counted() -> None:
    scheduler = TickScheduler(60.0, ZONES['UTC'])
    scheduler.resume(T0 + 90.5)  # an event was ticked there, between two minutes
    assert scheduler.take_due(T0 + 119.0) is None
    scheduler.resume(T0 + 90.5)
    assert scheduler.take_due(T0 + 301.0) == DueTick(T0 + 300, 3)


def test_a_tick_that_is_no_part_of_a_day_is_refused() -> None:
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


readings = st.lists(
    st.one_of(
        st.floats(0.0, 1e5), st.just(0.0), st.floats(T0 - DAY, T0 + DAY), st.floats(0.0, 4e9)
    ),
    min_size=2,
)


@given(readings, st.floats(0.0, 4e9))
def test_whatever_the_source_says_it_never_goes_back(sources: list[float], resumed: float) -> None:
    told = Told(source=sources[0])
    told.clock.resume(resumed)
    said = [told.at(source) for source in sources]
    assert said[0] >= resumed
    assert all(before <= after for before, after in pairwise(said))


@given(readings, st.floats(61.0, 1e5))
def test_whatever_happened_it_goes_on_with_its_source(
    sources: list[float], seconds: float
) -> None:
    told = Told(source=sources[0])
    *_, before = [told.at(source) for source in sources]
    wall = told.source >= 1e9
    if 0.0 < told.source < 1e9 - seconds or wall:
        passed = told.at(told.source + seconds) - before
        # A wall clock that was set back a little is waited for first.
        assert seconds - MAX_BACKWARD_STEP_S * wall - 1e-3 <= passed <= seconds + 1e-3
