# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The mission simulator: its parts, and missions in processes of their own."""

from __future__ import annotations

from collections.abc import Sequence
import hashlib
import os
from pathlib import Path
import random
import subprocess
import sys

from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from missions.happenings import (
    as_test,
    draw_happenings,
    FAULTS,
    from_test,
    Happening,
    KINDS,
    shrink,
    START_S,
    story,
)
from missions.scheduler import Scheduler, SimulatedProcess, Spinning
from our_sources import ROOT
import pytest

MISSIONS = sorted((ROOT / 'standalone/missions/kept').glob('*.json'))
SEEDS = {'quick': 10, 'thorough': 10_000}.get(os.environ.get('HYPOTHESIS_PROFILE', ''), 60)
SEEDS_AT_ONCE = min(SEEDS, max(20, SEEDS // 40))  # each start costs some seconds
MINUTES = 0.25
TIMEOUT_S = 900.0
HAPPENINGS = st.lists(
    st.builds(
        Happening,
        at_s=st.floats(START_S, 100.0),
        kind=st.sampled_from(sorted(KINDS)),
        for_s=st.floats(0.0, 20.0),
        value=st.floats(0.0, 5.0),
        text=st.text(max_size=10),
    ),
    max_size=12,
)


def simulate(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, '-W', 'ignore', '-m', 'missions', *arguments]
    # Coverage would trace each mission, and take several times as long.
    environment = {name: value for name, value in os.environ.items() if name[:3] != 'COV'}
    environment['PYTHONPATH'] = f'{ROOT / "standalone"}:{environment.get("PYTHONPATH", "")}'
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        cwd=ROOT,
        env=environment,
        check=False,
    )


# --- the scheduler ----------------------------------------------------------------------------


def order_of(seed: int, sleeps: Sequence[float]) -> list[tuple[float, int]]:
    scheduler = Scheduler(random.Random(seed))
    process, seen = SimulatedProcess('p'), list[tuple[float, int]]()

    def work(number: int) -> None:
        for _ in range(3):
            scheduler.park(sleeps[number])
            seen.append((scheduler.now_s, number))

    for number in range(len(sleeps)):
        scheduler.spawn(process, str(number), lambda number=number: work(number))
    scheduler.run_until(1000.0)
    assert not scheduler.defects
    return seen


@given(seed=st.integers(0, 99), sleeps=st.lists(st.floats(0.001, 9.0), min_size=1, max_size=6))
@settings(max_examples=examples(50))
def test_a_seed_has_one_order_and_time_only_passes(seed: int, sleeps: list[float]) -> None:
    seen = order_of(seed, sleeps)
    assert seen == order_of(seed, sleeps)
    assert seen == sorted(seen, key=lambda each: each[0])
    assert len(seen) == 3 * len(sleeps)


def test_other_seeds_draw_other_orders() -> None:
    assert len({tuple(order_of(seed, [1.0] * 4)) for seed in range(20)}) > 5


def test_a_killed_process_does_nothing_more_and_cleans_nothing_up() -> None:
    scheduler, did = Scheduler(random.Random(1)), list[str]()
    process = SimulatedProcess('p')

    def work() -> None:
        try:
            while True:
                scheduler.park(1.0)
                did.append('lived')
        finally:
            did.append('cleaned up')

    scheduler.spawn(process, 'main', work)
    scheduler.call_later(2.5, lambda: scheduler.kill(process))
    scheduler.run_until(10.0)
    assert did == ['lived', 'lived']


def test_a_frozen_process_goes_on_after_the_thaw() -> None:
    scheduler, woke = Scheduler(random.Random(1)), list[float]()
    process = SimulatedProcess('p')

    def work() -> None:
        for _ in range(3):
            scheduler.park(1.0)
            woke.append(scheduler.now_s)

    scheduler.spawn(process, 'main', work)
    scheduler.call_later(1.5, lambda: scheduler.freeze(process))
    scheduler.call_later(5.0, lambda: scheduler.thaw(process))
    scheduler.run_until(10.0)
    assert woke == [1.0, 5.0, 6.0]


def test_threads_that_keep_each_other_busy_are_named() -> None:
    scheduler = Scheduler(random.Random(1))
    process = SimulatedProcess('p')

    def work() -> None:
        while True:
            scheduler.wake(scheduler.current)  # type: ignore[arg-type]
            scheduler.park()
            scheduler.give_way()

    scheduler.spawn(process, 'busy', work)
    with pytest.raises(Spinning, match='p/busy'):
        scheduler.run_until(1.0)


# --- happenings, shrinking, files -------------------------------------------------------------


def test_each_kind_of_fault_can_be_set() -> None:
    from missions.faults import SETTERS

    assert set(SETTERS) == set(FAULTS)
    assert len(FAULTS) >= 14


@given(seed=st.integers(0, 10_000), minutes=st.floats(0.1, 5.0))
@settings(max_examples=examples(50))
def test_a_seed_draws_the_same_happenings_within_its_time(seed: int, minutes: float) -> None:
    drawn = draw_happenings(seed, minutes)
    assert drawn == draw_happenings(seed, minutes)
    assert all(START_S <= each.at_s <= START_S + 60 * minutes for each in drawn)
    assert [each.at_s for each in drawn] == sorted(each.at_s for each in drawn)


@given(happenings=HAPPENINGS, data=st.data())
@settings(max_examples=examples(100))
def test_shrinking_keeps_what_is_needed_and_nothing_else(
    happenings: list[Happening], data: st.DataObject
) -> None:
    numbers = range(len(happenings))
    needed = data.draw(st.sets(st.sampled_from(numbers)) if happenings else st.just(set[int]()))
    marked = list(enumerate(happenings))

    def fails(fewer: Sequence[tuple[int, Happening]]) -> bool:
        return needed <= {number for number, _ in fewer}

    fewest = shrink(marked, fails, budget=10_000)  # type: ignore[arg-type]
    assert {number for number, _ in fewest} == needed  # type: ignore[misc]


@given(happenings=HAPPENINGS, seed=st.integers(0, 10**9))
@settings(max_examples=examples(100))
def test_a_mission_survives_its_file(happenings: list[Happening], seed: int) -> None:
    assert from_test(as_test(seed, 1.5, happenings, [])) == (seed, 1.5, happenings)


@pytest.mark.parametrize(
    'text', ['', '[]', '{"seed": 1}', '{"seed": 1, "minutes": 1, "happenings": [{"x": 1}]}']
)
def test_a_file_that_is_no_mission_says_so(text: str) -> None:
    with pytest.raises(ValueError, match='no file of a mission'):
        from_test(text)


def test_a_story_has_the_happenings_the_last_seconds_and_the_violation() -> None:
    lines = ['    1.000  person    :forward 3', '   60.000  call      /agent /adapter/move_stop']
    happening = Happening(12.0, 'agent dies', for_s=2.0)
    told = story(7, [happening], lines, ['S2 at 61 s: it moves'], 61.0)
    assert '12.0 s: agent dies for 2.0 s' in told
    assert '/adapter/move_stop' in told
    assert ':forward 3' not in told
    assert told.endswith('S2 at 61 s: it moves')


# --- missions ---------------------------------------------------------------------------------


def test_two_runs_of_one_seed_have_the_same_record(tmp_path: Path) -> None:
    records = []
    for name in ('one', 'two'):
        file = tmp_path / name
        ran = simulate('--seed', '11', '--minutes', '1', '--record', str(file))
        assert ran.returncode == 0, ran.stdout + ran.stderr
        records.append(file.read_bytes())
    assert records[0] == records[1]
    assert b'/adapter/' in records[0]
    after_another = simulate('--seed', '10', '--seeds', '2', '--minutes', '1')
    assert f' {hashlib.sha256(records[0]).hexdigest()}' in after_another.stdout


@pytest.mark.timeout(TIMEOUT_S)
@pytest.mark.parametrize('first', range(1, SEEDS + 1, SEEDS_AT_ONCE))
def test_no_seed_violates_a_rule(first: int) -> None:
    ran = simulate(
        *('--seed', str(first), '--seeds', str(SEEDS_AT_ONCE)),
        *('--minutes', str(MINUTES), '--quiet'),
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f'{SEEDS_AT_ONCE} missions' in ran.stdout


@pytest.mark.parametrize('file', MISSIONS, ids=lambda file: file.stem)
def test_a_kept_mission_holds(file: Path) -> None:
    ran = simulate('--mission', str(file))
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        (('--seed', 'x'), "'x' is no int"),
        (('--minutes', '0'), "'0' is no float from 0.01 to 1440"),
        (('--seeds', '0'), "'0' is no int from 1"),
        (('--mission', 'none.json'), 'none.json'),
    ],
)
def test_a_wrong_argument_is_named(arguments: tuple[str, ...], said: str) -> None:
    ran = simulate(*arguments)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert 'Traceback' not in ran.stderr
