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

from curiosity_rosa_demo.agent.tasks import LifecycleState, Task
from curiosity_rosa_demo.agent.tasks.store import HistoryRow
from curiosity_rosa_demo.agent.tasks.texts import (
    duration,
    history_table,
    MAX_REASON_COLUMNS,
    MAX_TASK_COLUMNS,
    mode_text,
    TABLE_HEADINGS,
    task_summary,
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
from curiosity_rosa_demo.domain.text import printable
from curiosity_rosa_demo.drawing.columns import clip_columns
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
S = LifecycleState
# Letters of one column and of two, marks of none, and spaces of all kinds.
texts = st.text(st.sampled_from('abc 光探止停e\u0301\u200d\t\n🛑ｱ'), max_size=120)
tasks = st.builds(
    Task,
    name=st.sampled_from(['react', 'mast_open']),
    priority=st.integers(-1000, 1000),
    state=st.sampled_from(S),
    metadata=st.builds(lambda text: {'text': text}, texts) | st.just({}),
    reason=texts,
    held=st.booleans(),
    updated_at=st.integers(0, 10**6).map(lambda seconds: NOW - timedelta(seconds=seconds)),
)


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


def column_starts(line: str) -> list[int]:
    """Columns in which a cell may begin: after two spaces, measured as a terminal does."""
    return [
        get_cwidth(line[:i])
        for i in range(len(line))
        if i == 0 or (line[i - 2 : i] == '  ' and line[i] != ' ')
    ]


@given(st.lists(tasks, min_size=1, max_size=6))
@settings(max_examples=examples(100))
def test_the_cells_of_a_table_stand_below_their_heads(rows: list[Task]) -> None:
    head, *lines = tasks_table(rows, NOW).splitlines()
    assert head.split() == list(TABLE_HEADINGS)
    assert len(lines) == len(rows)
    starts = dict(zip(TABLE_HEADINGS, column_starts(head), strict=True))
    for line, task in zip(lines, rows, strict=True):
        assert line == line.rstrip()
        cells = {
            'id': task.id[:8],
            'state': task.state.name,
            'prio': str(task.priority),
            'what': clip_columns(task_summary(task), MAX_TASK_COLUMNS),
            'for': duration((NOW - task.updated_at).total_seconds()),
            'why': clip_columns(printable(task.reason), MAX_REASON_COLUMNS),
        }
        for name, cell in cells.items():
            assert part_from(line, starts[name]).startswith(cell.rstrip()), name


def part_from(line: str, column: int) -> str:
    """What stands in ``line`` from a column of the terminal on."""
    width = 0
    for i, character in enumerate(line):
        # A mark without a width belongs to the letter before it.
        if width >= column and (column == 0 or line[i - 1] == ' '):
            return line[i:]
        width += get_cwidth(character)
    return ''


def test_what_a_row_a_duration_a_step_and_the_mode_say() -> None:
    for shown, fields in {
        'PAUSED (held)  3     mast_open': {'state': S.PAUSED, 'held': True},
        'CANCELLED      3     mast_open': {'state': S.CANCELLED, 'held': True},
        'PENDING        3     光を探して': {'metadata': {'text': '光を探して'}},
        'PENDING        3     mast_open(a=2.0)': {'metadata': {'arguments': {'a': 2.0}}},
    }.items():
        rows = [aged(12.0, **fields), aged(state=S.PAUSED, held=True)]
        assert shown in tasks_table(rows, NOW).splitlines()[1]
    assert tasks_table([], NOW) == 'no tasks'
    shown_s = [duration(seconds) for seconds in (-5, 0, 59, 60, 7200, 200_000)]
    assert shown_s == ['0 s', '0 s', '59 s', '1 min', '2 h', '2 d']
    lines = history_table([HistoryRow(NOW, None, S.ACTIVE, 'a reason\nof two')]).splitlines()
    assert [' '.join(line.split()[2:]) for line in lines] == ['- ACTIVE a reason of two']
    assert mode_text(BrainState()) == 'IDLE: starting'
    state = BrainState(
        tasks=TasksState(mode=Mode.SAFE, mode_reason='e-stop pressed'),
        world=WorldState(summary='at x 1.0 m'),
        robot=RobotState(safety_latch='e-stop pressed', silent=['scan', 'battery']),
    )
    latched = 'latched until :clear: e-stop pressed'
    said = ['SAFE: e-stop pressed', 'at x 1.0 m', latched, 'silent: scan, battery']
    assert mode_text(state).splitlines() == said


def test_all_of_one_task() -> None:
    task = aged(
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
    told = {'id': task.id, 'state': 'WAITING: blocked by 01234567', 'held': 'yes'}
    told |= {'waits': 'for  01234567', 'deadline': '90 s', 'retries': '1 of 3'}
    assert {**lines, **told, 'metadata': '{"note": "光"}'} == lines
    assert 'deadline' not in task_text(aged())
    # It took minutes when each cut measured all the rest.
    assert len(clip_columns('光 and shade ' * 100_000, 1000)) < 1000
    assert len(task_text(aged(metadata={'calls': [{'result': 'x' * 1000}] * 500}))) < 2000
