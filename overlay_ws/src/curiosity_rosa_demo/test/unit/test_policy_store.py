# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What the policy keeps and tells: its file, its decisions as a diary, its clock and its ticks.
standalone/test/test_durable_files.py spoils the file.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import pairwise
from pathlib import Path
import re
import sqlite3
from tempfile import TemporaryDirectory
from typing import Any

from curiosity_rosa_demo.agent.policy.clock import (
    DueTick,
    MAX_BACKWARD_STEP_S,
    PolicyClock,
    TickScheduler,
)
from curiosity_rosa_demo.agent.policy.store import (
    Decision,
    decision_log,
    MAX_TEXT_COLUMNS,
    PolicyStore,
    PolicyStoreError,
)
from curiosity_rosa_demo.agent.policy.world import Ongoing, Rejection, Source, WorldState
from curiosity_rosa_demo.infra.config.agent import PolicyConfig
from curiosity_rosa_demo.infra.config.base import time_zone
from curiosity_rosa_demo.infra.config.behaviour import WorldView
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_world import COMPANION, instant, SETTINGS, world_of
from pydantic import ValidationError
import pytest
from skill_world import no_file_beyond
from strategies import whole_model

WORLD = world_of(COMPANION)
VIEW = COMPANION
STATE = WorldState.first(VIEW)
TEXT = st.text(max_size=15) | st.sampled_from(['a\nTue 24 Nov 07:20  stop', '\x1b[2J', '\u2028x'])
TIME = st.floats(0.0, 4e9)
ONGOING = whole_model(Ongoing, activity=st.sampled_from([*VIEW.activities]))
STATES = whole_model(
    WorldState,
    place=st.sampled_from(['', *VIEW.places]),
    energy=st.floats(0.0, 1.0),
    activity=st.none() | ONGOING,
    suspended=st.lists(ONGOING, max_size=3),
    devices=st.fixed_dictionaries(dict.fromkeys(VIEW.devices, st.booleans())),
    ticked_at=st.just(0.0),
)
DECISIONS = st.builds(
    Decision,
    number=st.integers(0),
    at=TIME,
    cause=TEXT,
    missed=st.integers(0, 3),
    path=st.lists(TEXT, max_size=4),
    answer_text=TEXT,
    rejected=st.lists(
        st.builds(Rejection, type=TEXT, by=st.sampled_from(Source), reason=TEXT), max_size=2
    ),
    done=TEXT,
    place=st.sampled_from(['', *VIEW.places]),
    energy=st.floats(0.0, 1.0),
    activity=st.sampled_from(['', 'rest']),
)


def decision(number: int, at: float = 1e9, **values: Any) -> Decision:
    usual: dict[str, Any] = {'cause': 'minute', 'place': 'home', 'energy': 0.5}
    return Decision(number=number, at=at, **usual | values)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / 'new folder' / 'pölicy #1?.db'


@pytest.fixture
def store(file: Path) -> Iterator[PolicyStore]:
    store = PolicyStore(file, 10, VIEW)
    yield store
    store.close()


def opened(file: Path, view: WorldView = VIEW) -> tuple[WorldState | None, PolicyStore]:
    """What is in the file; the store is closed."""
    store = PolicyStore(file, 10, view)
    store.close()
    return store.state, store


def numbers(store: PolicyStore, count: int = 9) -> list[int]:
    return [each.number for each in store.recent_decisions(count)]


def change(file: Path, *statements: str) -> None:
    connection = sqlite3.connect(file)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


# --- it comes back ---------------------------------------------------------------------------


@settings(max_examples=examples(30))
@given(ticks=st.lists(st.tuples(STATES, DECISIONS, st.booleans()), min_size=1, max_size=4))
def test_what_was_saved_comes_back_as_it_was(
    ticks: list[tuple[WorldState, Decision, bool]],
) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / 'policy.db'
        store = PolicyStore(file, 10, VIEW)
        for state, each, auto in ticks:
            store.save(state, each, auto)
        store.close()
        store = PolicyStore(file, 10, VIEW)
        state, each, auto = ticks[-1]
        assert store.state == state.model_copy(update={'ticked_at': each.at})
        assert store.was_on is auto
        assert store.recent_decisions(10) == [each for _, each, _ in ticks]
        store.close()
        assert store.notes == []


def test_only_the_last_decisions_are_kept_and_the_time_of_a_tick_never_goes_back(
    store: PolicyStore, file: Path
) -> None:
    made = [*range(30), *range(4)]  # their numbers begin anew
    for number in made:
        store.save(STATE.model_copy(update={'ticked_at': 2e9}), decision(number), False)
        assert len(numbers(store, 1000)) <= 10
    assert numbers(store, 1000) == made[-10:]
    assert (numbers(store, 2), numbers(store, 0)) == ([2, 3], [])
    store.close()
    state, _ = opened(file)
    assert state is not None
    assert state.ticked_at == 2e9


# --- it does not fit -------------------------------------------------------------------------


def going_on(name: str = 'rest', **values: Any) -> WorldState:
    ongoing = Ongoing(activity=name, by=Source.ROUTINE, began_at=0.0, energy_at=0.0)
    return STATE.model_copy(update={'activity': ongoing} | values)


@pytest.mark.parametrize(
    ('state', 'why'),
    [
        (going_on('dance'), "no activity 'dance'; it has sleep, "),
        (going_on(suspended=[going_on('sing').activity]), "no activity 'sing'; it has sleep, "),
        (going_on(place='moon'), "no place 'moon'; it has home, school"),
    ],
)
def test_a_state_of_another_world_is_dropped_and_the_decisions_stay(
    store: PolicyStore, file: Path, state: WorldState, why: str
) -> None:
    store.save(state, decision(7), True)
    store.close()
    store = PolicyStore(file, 10, VIEW)
    assert store.state is None
    (note,) = store.notes
    assert note.startswith(f'the state in {file} was dropped: the world view has {why}')
    assert (store.was_on, numbers(store)) == (True, [7])
    store.save(STATE, decision(8), True)
    store.close()
    state, store = opened(file)
    assert (state, store.notes) == (STATE.model_copy(update={'ticked_at': 1e9}), [])


def test_what_has_another_shape_is_left_out(store: PolicyStore, file: Path) -> None:
    for number in range(3):
        store.save(STATE, decision(number), False)
    store.close()
    change(file, "UPDATE decision SET decision = '{}' WHERE seq = 2")
    again = PolicyStore(file, 10, VIEW)
    assert numbers(again) == [0, 2]
    again.close()
    for text, why in (('{}', "('place',): Field required"), ('no JSON', '(): Invalid JSON')):
        change(file, f"UPDATE kept SET state = '{text}'")
        state, again = opened(file)
        (note,) = again.notes
        assert state is None
        assert note.startswith(f'the state in {file} cannot be read ({why}')
        assert note.endswith('it was dropped')


def test_devices_are_those_of_the_world_view(store: PolicyStore, file: Path) -> None:
    devices = {'phone': False, 'lamp': True, 'radio': True}
    store.save(STATE.model_copy(update={'devices': devices}), decision(1), False)
    store.close()
    phone = VIEW.devices['phone']
    gone = phone.model_copy(update={'available': False})
    for view in ({'phone': phone, 'bell': phone}, {'phone': phone, 'bell': phone, 'lamp': gone}):
        state, _ = opened(file, VIEW.model_copy(update={'devices': view}))
        assert state is not None
        assert state.devices == dict.fromkeys(view, False) | {'bell': True}


def test_when_the_disk_fails_nothing_is_half_kept_and_it_goes_on_afterwards(
    store: PolicyStore, file: Path
) -> None:
    store.save(STATE, decision(1), True)
    with no_file_beyond(50_000):
        for _ in range(2):
            with pytest.raises(PolicyStoreError, match='free some space or check the disk'):
                store.save(going_on(), decision(2, answer_text='x' * 100_000), False)
        assert (numbers(store), store.was_on) == ([1], True)
    store.save(going_on(), decision(3), True)
    store.close()
    again = PolicyStore(file, 10, VIEW)
    assert (again.state, numbers(again)) == (going_on(ticked_at=1e9), [1, 3])
    again.close()


# --- the diary: whole days of it are in corpus/policy_days.tsv --------------------------------


@given(st.lists(DECISIONS, max_size=8), st.lists(st.integers(1, 4), min_size=8, max_size=8))
def test_each_tick_is_told_and_no_text_passes_for_a_line_of_its_own(
    decisions: list[Decision], repeats: list[int]
) -> None:
    several = [each for each, times in zip(decisions, repeats, strict=False) for _ in range(times)]
    told = decision_log(several, WORLD)
    assert all(char.isprintable() or char == '\n' for char in told)
    lines = told.split('\n') if told else []
    heads = [line for line in lines if not line.startswith('    ')]
    assert all(re.match(r'[A-Z][a-z]{2} \d\d [A-Z][a-z]{2} \d\d:\d\d  ', line) for line in heads)
    folded = [int(found[1]) for line in heads if (found := re.match(r'.{18}(\d+) ticks?: ', line))]
    assert sum(folded) + len(heads) - len(folded) == len(several)
    assert len(lines) >= 2 * len(heads) + sum(len(each.rejected) for each in several)


def test_the_last_entries_are_told_with_what_was_refused_and_long_words_are_cut() -> None:
    at = instant('2026-11-24 07:20', WORLD)
    days = [decision(n, at + 60 * n, done='woke' * (n == 2)) for n in range(5)]
    for entries, first in ((None, 0), (0, 3), (1, 2), (2, 1), (3, 0), (99, 0)):
        told = decision_log(days, WORLD, entries)
        beginnings = re.findall('^Tue 24 Nov 07:(..)', told, re.MULTILINE)
        assert beginnings == ['20', '22', '23'][first:]
    wishes = [Rejection(type=name, by=Source.MODEL, reason='not now') for name in ('nap', 'eat')]
    rare = [decision(1, missed=1), decision(2, missed=2, rejected=wishes, answer_text='hungry')]
    lines = decision_log(rare, WORLD).splitlines()
    assert '    1 tick was slept through before' in lines
    assert '    2 ticks were slept through before' in lines
    assert '    the model said "nap" (hungry): refused, not now' in lines
    assert '    the model said "eat": refused, not now' in lines
    wordy = [Rejection(type='y', by=Source.MODEL, reason='z' * 5000)]
    long = decision_log([decision(1, answer_text='x' * 5000, rejected=wordy)], WORLD)
    assert max(map(len, long.splitlines())) < 2 * MAX_TEXT_COLUMNS + 60


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


@st.composite
def courses(draw: st.DrawFn) -> tuple[str, int, list[float]]:
    """A zone, a tick, and times that go on, often over a change of the clocks."""
    zone = draw(st.sampled_from(sorted(ZONES)))
    tick_s = draw(st.sampled_from([1, 4, 60, 180, 300, 900]))
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
    scheduler = TickScheduler(tick_s)
    instants = aligned(zone, tick_s, int(times[0]) - 900, int(times[-1]))
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


def test_no_instant_is_anticipated_or_ticked_again_also_after_a_restart() -> None:
    scheduler = TickScheduler(60.0)
    scheduler.resume(T0 + 90.5)  # an event was ticked there, between two minutes
    for seconds in (119.0, -3600.0, 119.9999):
        assert scheduler.take_due(T0 + seconds) is None
    assert scheduler.take_due(T0 + 301.0) == DueTick(T0 + 300, 3)
    for tick_s in (0.0, -60.0, 7.0, 1.2, 1800.0):
        with pytest.raises(ValidationError, match='tick_s'):
            PolicyConfig.model_validate(SETTINGS.model_dump() | {'tick_s': tick_s})


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
    'set back a little': ((100, 100), (99, 100), (100 - MAX_BACKWARD_STEP_S, 100), (101, 101)),
    'set back by much': ((0, 0), (-DAY, 0), (5 - DAY, 5)),
    'not told yet': ((-T0, 0), (5000 - T0, 0), (5001 - T0, 1)),
    'simulated, begun anew': ((100 - T0, 0), (130 - T0, 30), (3 - T0, 30), (4 - T0, 31)),
    'simulated, a little back': ((100 - T0, 0), (130 - T0, 30), (110 - T0, 30), (111 - T0, 31)),
    'another kind': ((50 - T0, 0), (10, 10), (60 - T0, 10), (61 - T0, 11)),
}


@pytest.mark.parametrize('course', COURSES.values(), ids=COURSES)
def test_whatever_becomes_of_its_source_time_goes_on(
    course: tuple[tuple[float, float], ...],
) -> None:
    """Times since T0; a source that says little is that of a simulation."""
    told = Told(source=T0 + course[0][0])
    assert [told.at(T0 + source) - T0 for source, _ in course] == [said for _, said in course]


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
    clock = PolicyClock(lambda: float(next(times)), lambda: 0.0)
    with ThreadPoolExecutor(4) as pool:
        reads = [pool.submit(lambda: [clock.now() for _ in range(2000)]) for _ in range(4)]
    for read in reads:
        assert read.result() == sorted(read.result())
    clock.resume(2e9)
    assert clock.now() >= 2e9
