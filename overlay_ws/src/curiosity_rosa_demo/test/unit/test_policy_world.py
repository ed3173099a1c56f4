# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Windows and days in local time, places by zones, and what an activity does to the energy."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time, timedelta

from curiosity_rosa_demo.agent.policy.world_state import Ongoing, Source, WorldState
from curiosity_rosa_demo.agent.policy.world_view import energy_now, WorldModel
from curiosity_rosa_demo.infra.config.time_zone import time_zone
from curiosity_rosa_demo.infra.config.world import DAYS
from curiosity_rosa_demo.infra.config_loader import load_world, shipped_config_dir
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

ROVER = load_world('world_view', shipped_config_dir())
PUPIL = load_world('companion', shipped_config_dir())
ZONES = ('UTC', 'UTC+08:00', 'Asia/Kathmandu', 'Europe/Berlin', 'Australia/Lord_Howe')
BERLIN = WorldModel(PUPIL, time_zone('Europe/Berlin'))
T0 = 1_767_225_600.0  # Thursday, 2026-01-01 00:00 UTC
YEAR = 365 * 86_400


def berlin(text: str, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN.zone, fold=fold).timestamp()


def windows_that_begin_on(day: datetime, window: str) -> tuple[datetime, datetime]:
    """Begin and end of the window of that day, as a calendar shows them."""
    if not window:
        return day, day + timedelta(days=1)
    begin, end = (datetime.combine(day, time.fromisoformat(part)) for part in window.split('-'))
    return begin, end if end > begin else end + timedelta(days=1)


def in_the_calendar(local: datetime, window: str, days: Sequence[str]) -> bool:
    now = local.replace(tzinfo=None)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for day in (today - timedelta(days=1), today):
        begin, end = windows_that_begin_on(day, window)
        if begin <= now < end and (not days or f'{day:%a}'.lower() in days):
            return True
    return False


clock_times = st.times().map(lambda each: f'{each:%H:%M}')
windows = st.one_of(
    st.just(''),
    st.tuples(clock_times, clock_times).filter(lambda pair: pair[0] != pair[1]).map('-'.join),
)


@given(
    st.sampled_from(ZONES),
    windows,
    st.lists(st.sampled_from(DAYS), max_size=4),
    st.floats(T0, T0 + YEAR),
    st.sampled_from([None, 'begin', 'end']),
)
@settings(deadline=None, max_examples=examples(400))
def test_a_window_is_that_of_the_calendar(
    zone: str, window: str, days: list[str], at: float, edge: str | None
) -> None:
    world = WorldModel(PUPIL, time_zone(zone))
    if edge and window:  # often on the minute of its begin or its end
        hour, minute = map(int, window.split('-')[edge == 'end'].split(':'))
        local = world.local(at).replace(hour=hour, minute=minute, second=0, microsecond=0)
        at = local.timestamp()
    assert world.within(window, days, at) == in_the_calendar(world.local(at), window, days)
    assert world.local(at) == datetime.fromtimestamp(at, time_zone(zone))


def test_a_window_that_the_clocks_skip_is_left_out_and_one_they_repeat_comes_twice() -> None:
    skipped = berlin('2026-03-29 01:59:59')
    assert not any(BERLIN.within('02:15-02:45', (), skipped + s) for s in range(0, 7200, 60))
    first, second = (berlin('2026-10-25 02:30', fold) for fold in (0, 1))
    assert second - first == 3600.0
    assert BERLIN.within('02:15-02:45', (), first)
    assert not BERLIN.within('02:15-02:45', (), first + 1800.0)
    assert BERLIN.within('02:15-02:45', (), second)


def test_the_time_is_told_in_words() -> None:
    assert BERLIN.describe(berlin('2026-01-05 07:20')) == 'Monday, 2026-01-05 07:20'


@pytest.mark.parametrize(
    ('zones', 'place'),
    [
        (['base'], 'base'),
        (['bright'], 'bright_zone'),
        (['bright', 'base'], 'base'),
        ([], 'field'),
        (['shade'], 'field'),
    ],
)
def test_the_place_is_the_one_whose_zone_was_measured(zones: list[str], place: str) -> None:
    assert WorldModel(ROVER, time_zone('UTC')).place_of(zones) == place


def asleep(energy: float, *, activity: str = 'sleep', **ongoing: object) -> WorldState:
    values = {'activity': activity, 'by': Source.ROUTINE, 'began_at': T0, 'energy_at': T0}
    slept = Ongoing.model_validate({**values, **ongoing})
    return WorldState(place='home', energy=energy, activity=slept)


@pytest.mark.parametrize(
    ('state', 'energy'),
    [
        (asleep(0.5), 0.5 + 2 * 0.12),
        (asleep(0.5, energy_at=T0 + 3600.0), 0.5 + 0.12),
        (asleep(0.5, until=T0 + 1800.0), 0.5 + 0.06),  # nobody looked when it ended
        (asleep(0.9), 1.0),
        (asleep(0.05, activity='go_to_school'), 0.0),
        (asleep(0.5, held=True), 0.5),
        (asleep(0.5, energy_at=T0 + 9000.0), 0.5),
        (asleep(0.5, activity='of_yesterdays_world'), 0.5),
        (WorldState(place='home', energy=0.5), 0.5),
    ],
)
def test_an_activity_changes_the_energy_by_the_hour(state: WorldState, energy: float) -> None:
    assert energy_now(state, BERLIN, T0 + 7200.0) == pytest.approx(energy)


def test_measured_energy_is_left_as_it_is() -> None:
    world = WorldModel(ROVER, time_zone('UTC'))
    assert energy_now(asleep(0.5), world, T0 + 7200.0) == 0.5
