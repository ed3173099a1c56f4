# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tasks as a person reads them: every column in its place, whatever the texts are."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
import time

from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.store import HistoryRow
from curiosity_rosa_demo.agent.tasks.texts import (
    duration,
    history_table,
    mode_text,
    task_text,
    tasks_table,
)
from curiosity_rosa_demo.domain.brain_state import (
    BrainState,
    Mode,
    RobotState,
    TasksState,
    WorldState,
)
from curiosity_rosa_demo.drawing.columns import clip_columns
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth
import pytest

NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
S = LifecycleState
# Letters of one column and of two, marks of none, and spaces of all kinds.
texts = st.text(st.sampled_from('abc 光探止停e\u0301\u200d\t\n🛑ｱ'), max_size=120)


def aged(seconds: float = 0.0, **fields: object) -> Task:
    return Task('mast_open', updated_at=NOW - timedelta(seconds=seconds), **fields)  # type: ignore


@given(texts, st.integers(3, 60))
def test_what_is_cut_fits_and_what_fits_is_whole(text: str, columns: int) -> None:
    shown, whole = clip_columns(text, columns), ' '.join(text.split())
    assert get_cwidth(shown) <= columns
    if get_cwidth(whole) <= columns:
        assert shown == whole
    else:
        assert shown.endswith('...')
        assert whole.startswith(shown[:-3])
        next_width = get_cwidth(whole[len(shown) - 3])
        assert get_cwidth(shown[:-3]) + next_width > columns - 3  # not shorter than it must be


def test_a_long_text_takes_no_time() -> None:
    begin = time.monotonic()
    assert len(clip_columns('光 and shade ' * 100_000, 1000)) < 1000
    task = aged(metadata={'calls': [{'result': 'x' * 1000}] * 500})
    assert len(task_text(task)) < 2000
    assert time.monotonic() - begin < 5.0  # it took minutes when each cut measured all the rest


def test_a_table_in_full() -> None:
    rows = [
        Task(
            'react',
            5,
            id='0123456789',
            state=S.ACTIVE,
            metadata={'text': '光を探して'},
            updated_at=NOW - timedelta(seconds=12),
        ),
        Task(
            'move_forward',
            id='abcdefghij',
            state=S.PAUSED,
            held=True,
            reason='the user said pause',
            metadata={'arguments': {'duration_s': 2.0}},
            updated_at=NOW - timedelta(hours=3),
        ),
    ]
    assert tasks_table(rows, NOW).splitlines() == [
        'id        state          prio  what                          for   why',
        '01234567  ACTIVE         5     光を探して                    12 s',
        'abcdefgh  PAUSED (held)  3     move_forward(duration_s=2.0)  3 h   the user said pause',
    ]
    assert tasks_table([], NOW) == 'no tasks'


def test_a_task_that_has_ended_is_not_held() -> None:
    assert '(held)' not in tasks_table([aged(held=True, state=S.CANCELLED)], NOW)


@pytest.mark.parametrize(
    ('seconds', 'text'),
    [(-5, '0 s'), (0, '0 s'), (59, '59 s'), (60, '1 min'), (7200, '2 h'), (200_000, '2 d')],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_all_of_one_task() -> None:
    task = aged(
        priority=7,
        state=S.WAITING,
        reason='blocked by 01234567',
        blocked_by=('0123456789',),
        deadline_s=90.0,
        not_before=NOW,
        max_retries=3,
        attempts=1,
        held=True,
        metadata={'note': '光'},
    )
    lines = dict(line.split(None, 1) for line in task_text(task).splitlines())
    assert lines['id'] == task.id
    assert lines['state'] == 'WAITING: blocked by 01234567'
    assert lines['held'] == 'yes'
    assert lines['waits'] == 'for  01234567'
    assert lines['deadline'] == '90 s'
    assert lines['retries'] == '1 of 3'
    assert lines['metadata'] == '{"note": "光"}'
    assert 'deadline' not in task_text(aged())


def test_a_story_has_one_line_for_each_step() -> None:
    rows = [
        HistoryRow(NOW, None, S.PENDING, ''),
        HistoryRow(NOW, S.PENDING, S.ACTIVE, ''),
        HistoryRow(NOW, S.ACTIVE, S.FAILED, 'a reason\nof two lines'),
    ]
    lines = history_table(rows).splitlines()
    assert [line.split()[2:4] for line in lines] == [
        ['-', 'PENDING'],
        ['PENDING', 'ACTIVE'],
        ['ACTIVE', 'FAILED'],
    ]
    assert lines[2].endswith('a reason of two lines')


def test_the_mode_with_what_is_known_and_without() -> None:
    assert mode_text(BrainState()) == 'IDLE: starting'
    state = BrainState(
        tasks=TasksState(mode=Mode.SAFE, mode_reason='e-stop pressed'),
        world=WorldState(summary='at x 1.0 m'),
        robot=RobotState(safety_latch='e-stop pressed', silent=['scan', 'battery']),
    )
    assert mode_text(state).splitlines() == [
        'SAFE: e-stop pressed',
        'at x 1.0 m',
        'latched until :clear: e-stop pressed',
        'silent: scan, battery',
    ]
