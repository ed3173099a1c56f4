# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from curiosity_rosa_demo.agent.interfaces.page.timeline import (
    MAX_ROWS,
    render,
    STATE_SIGNS,
    TimelineRow,
)
from curiosity_rosa_demo.agent.tasks.store import HistoryRow
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.drawing.time_axis import time_step, time_text, time_ticks
from curiosity_rosa_demo.infra.config.time_zone import time_zone
from drawing_checks import checked, classed, HOSTILE, texts, titles, words
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

quick = settings(deadline=None, max_examples=examples(60))

S = LifecycleState
NOON = datetime(2026, 11, 22, 12, 0, tzinfo=timezone.utc)
ZONES = [timezone.utc, timezone(timedelta(hours=9)), time_zone('Asia/Kathmandu')]

moments = st.datetimes(
    datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(timezone.utc)
) | st.integers(-7200, 7200).map(lambda s: NOON + timedelta(seconds=s))
rows = st.builds(HistoryRow, moments, st.none() | st.sampled_from(S), st.sampled_from(S), texts)
timeline_rows = st.builds(TimelineRow, texts, texts, st.lists(rows, max_size=8))


def task_row(task_id: str, *states: tuple[float, LifecycleState], name: str = '') -> TimelineRow:
    """States by the minute before noon in which they began."""
    return TimelineRow(
        task_id,
        name or task_id,
        [HistoryRow(NOON - timedelta(minutes=m), None, state, '') for m, state in states],
    )


def bars(drawing: str) -> list[tuple[str, float, float]]:
    """Class, begin and end of each."""
    found = []
    for bar in classed(checked(drawing), 'cr-bar'):
        box = next(bar.iter('rect'))
        left, width = float(box.attrib['x']), float(box.attrib['width'])
        found.append((bar.attrib['class'], left, left + width))
    return found


@quick
@given(
    st.lists(timeline_rows, max_size=6),
    moments,
    st.none() | st.sampled_from(ZONES),
    st.floats(10.0, 1e8),
)
def test_every_time_line_is_a_sound_drawing(
    many: list[TimelineRow], now: datetime, zone: timezone | None, longest_s: float
) -> None:
    checked(render(many, now, zone=zone, longest_s=longest_s))


def test_each_state_is_a_bar_to_the_next_one_and_the_last_to_now() -> None:
    one = task_row('a', (40, S.PENDING), (30, S.ACTIVE), (10, S.PAUSED))
    (first, a, b), (second, c, d), (third, e, f) = bars(render([one], NOON))
    assert (first, second, third) == ('cr-bar cr-pending', 'cr-bar cr-active', 'cr-bar cr-paused')
    assert (b, d) == pytest.approx((c, e), abs=0.02)
    assert d - c == pytest.approx(2 * (b - a), abs=0.05)
    assert f - e == pytest.approx(b - a, abs=0.05)
    assert f == pytest.approx(490.0, abs=0.02)  # now


def test_a_task_that_has_ended_has_a_sign_and_no_bar_after_it() -> None:
    one = task_row('a', (40, S.ACTIVE), (20, S.COMPLETED))
    root = checked(render([one], NOON))
    [(_, _, end)] = bars(render([one], NOON))
    signs = [each for each in classed(root, 'cr-sign') if float(each.attrib['x']) > 148.0]
    assert [sign.text for sign in signs] == ['✓']
    assert float(signs[0].attrib['x']) == pytest.approx(end + 3.0, abs=0.02)


@pytest.mark.parametrize('state', list(S))
def test_a_state_is_told_by_its_colour_a_sign_and_words(state: LifecycleState) -> None:
    root = checked(render([task_row('a', (30, state))], NOON))
    assert classed(root, f'cr-{state.value}')
    assert STATE_SIGNS[state] in ''.join(words(root))
    assert any(state.value in told for told in titles(root))


def test_no_two_states_have_the_same_sign() -> None:
    assert set(STATE_SIGNS) == set(S)
    assert len(set(STATE_SIGNS.values())) == len(S)


def test_a_long_bar_names_its_state() -> None:
    shown = words(checked(render([task_row('a', (30, S.ACTIVE))], NOON)))
    assert '► active' in shown


def test_the_axis_is_in_local_time() -> None:
    tasks = [task_row('a', (50, S.ACTIVE))]
    assert '11:30' in words(checked(render(tasks, NOON, zone=timezone.utc)))
    assert '20:30' in words(checked(render(tasks, NOON, zone=timezone(timedelta(hours=9)))))


def test_what_was_long_ago_is_cut_off() -> None:
    old = task_row('old', (600, S.PENDING), (500, S.FAILED))
    long = task_row('long', (600, S.ACTIVE))
    root = checked(render([old, long], NOON))
    [(_, left, right)] = bars(render([old, long], NOON))
    assert (left, right) == (148.0, 490.0)
    assert {'old', 'long', '✕'} <= set(words(root))


def test_each_row_carries_its_task() -> None:
    tasks = [task_row('a', (3, S.ACTIVE)), task_row('b', (2, S.PENDING))]
    shown = classed(checked(render(tasks, NOON)), 'cr-task-row')
    assert [row.attrib['data-task'] for row in shown] == ['a', 'b']


def test_of_too_many_tasks_those_that_live_and_the_newest_are_shown() -> None:
    alive = task_row('alive', (59, S.WAITING))
    ended = [task_row(f'e{i}', (50, S.ACTIVE), (40, S.COMPLETED)) for i in range(MAX_ROWS + 5)]
    shown = classed(checked(render([alive, *ended], NOON)), 'cr-task-row')
    assert [row.attrib['data-task'] for row in shown] == [
        'alive',
        *(f'e{i}' for i in range(6, MAX_ROWS + 5)),
    ]


def test_a_life_of_thousands_of_states_stays_small() -> None:
    history = [
        HistoryRow(
            NOON - timedelta(seconds=5000 - i), None, S.ACTIVE if i % 2 else S.PAUSED, 'why'
        )
        for i in range(5000)
    ]
    for count in (1, 100):
        checked(render([TimelineRow('a', 'a', history)] * count, NOON), 60_000)


def test_no_tasks_is_said() -> None:
    assert 'no tasks yet' in words(checked(render([], NOON)))
    assert 'no tasks yet' in words(checked(render([TimelineRow('a', 'a', [])], NOON)))


@pytest.mark.parametrize('hostile', HOSTILE)
def test_names_and_reasons_are_no_markup(hostile: str) -> None:
    row = HistoryRow(NOON - timedelta(minutes=5), None, S.ACTIVE, hostile)
    checked(render([TimelineRow(hostile, hostile, [row])], NOON), 9_000)


def test_a_long_name_does_not_push_the_state_out_of_the_title() -> None:
    told = titles(checked(render([task_row('a', (5, S.ACTIVE), name='n' * 5000)], NOON)))
    assert any(each.startswith('nnn') and each.endswith('…: active') for each in told)


def test_a_clock_that_jumped_back_draws_nothing_backwards() -> None:
    one = task_row('a', (10, S.PENDING), (20, S.ACTIVE), (-30, S.PAUSED))
    for _, left, right in bars(render([one], NOON)):
        assert left < right


# --- the axis ---------------------------------------------------------------------------------


@quick
@given(st.floats(10.0, 1e8), st.integers(2, 8))
def test_there_are_few_ticks(span: float, most: int) -> None:
    step = time_step(span, most)
    assert span / step <= most + 1e-9
    assert len(time_ticks(1e9, 1e9 + span, step, timezone.utc)) <= most + 1


@pytest.mark.parametrize('zone', ZONES)
def test_ticks_are_round_in_local_time(zone: timezone) -> None:
    begin = NOON.timestamp() + 17.3
    marks = time_ticks(begin, begin + 7200, 1800, zone)
    assert len(marks) == 4
    assert {time_text(at, 1800, zone)[-2:] for at in marks} == {'00', '30'}


@pytest.mark.parametrize(
    ('step', 'shown'), [(15, '12:00:00'), (60, '12:00'), (86400, '11-22'), (172800, '11-22')]
)
def test_a_tick_says_no_more_than_it_must(step: int, shown: str) -> None:
    assert time_text(NOON.timestamp(), step, timezone.utc) == shown
