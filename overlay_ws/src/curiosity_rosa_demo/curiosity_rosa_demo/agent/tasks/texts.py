# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Tasks as text for people. Pure, except that times are in the local time zone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
import json

from curiosity_rosa_demo.agent.tasks.store import HistoryRow
from curiosity_rosa_demo.agent.tasks.task import Task
from curiosity_rosa_demo.domain.brain_state import BrainState
from curiosity_rosa_demo.domain.text import printable
from curiosity_rosa_demo.drawing.columns import clip_columns, columns_of

MAX_TASK_COLUMNS, MAX_REASON_COLUMNS = 40, 50  # columns
TABLE_HEADINGS = ('id', 'state', 'prio', 'what', 'age', 'why')


def tasks_table(tasks: Iterable[Task], now: datetime) -> str:
    """One line per task; ``age``: the time since its last change."""
    rows = [
        (
            task.id[:8],
            f'{task.state.name}{" (held)" if task.held and not task.terminal else ""}',
            str(task.priority),
            clip_columns(task_summary(task), MAX_TASK_COLUMNS),
            duration((now - task.updated_at).total_seconds()),
            clip_columns(printable(task.reason), MAX_REASON_COLUMNS),
        )
        for task in tasks
    ]
    return table([TABLE_HEADINGS, *rows]) if rows else 'no tasks'


def task_text(task: Task) -> str:
    """All details of one task."""
    lines = [
        ('id', task.id),
        ('what', task_summary(task)),
        ('state', f'{task.state.name}{": " + printable(task.reason) if task.reason else ""}'),
        ('priority', str(task.priority)),
        ('created', _time_text(task.created_at)),
        ('changed', _time_text(task.updated_at)),
    ]
    optional = {
        'held': 'yes' if task.held else '',
        'waits for': ', '.join(each[:8] for each in task.blocked_by),
        'deadline': f'{task.deadline_s:g} s' if task.deadline_s is not None else '',
        'not before': _time_text(task.not_before) if task.not_before else '',
        'retries': f'{task.attempts} of {task.max_retries}' if task.max_retries else '',
        'metadata': clip_columns(json.dumps(task.metadata, ensure_ascii=False), 1000),
    }
    lines += [(name, text) for name, text in optional.items() if text]
    return '\n'.join(f'{name:<10} {text}' for name, text in lines)


def history_table(rows: Iterable[HistoryRow]) -> str:
    return table(
        [
            (
                _time_text(row.at),
                f'{row.before.name if row.before else "-"}',
                row.after.name,
                printable(row.reason),
            )
            for row in rows
        ]
    )


def mode_text(state: BrainState) -> str:
    """The kernel's mode with its reason, and the kernel's view of the rover."""
    optional = {
        '': state.world.summary,
        'latched until :clear: ': state.robot.safety_latch,
        'silent: ': ', '.join(state.robot.silent),
    }
    mode = f'{state.tasks.mode.value}: {state.tasks.mode_reason or "starting"}'
    lines = [mode, *(f'{name}{text}' for name, text in optional.items() if text)]
    return '\n'.join(map(printable, lines))  # the rover's own texts come by topic


def task_summary(task: Task) -> str:
    """A task in a few words."""
    if isinstance(text := task.metadata.get('text'), str):
        return printable(text)
    arguments = task.metadata.get('arguments')
    if not isinstance(arguments, dict):
        return printable(task.name)
    shown = ', '.join(f'{key}={json.dumps(value)}' for key, value in arguments.items())
    return printable(f'{task.name}({shown})')


def duration(seconds: float) -> str:
    for size, unit in ((86400, 'd'), (3600, 'h'), (60, 'min')):
        if seconds >= size:
            return f'{seconds / size:.0f} {unit}'
    return f'{max(0.0, seconds):.0f} s'


def table(rows: Sequence[Sequence[str]]) -> str:
    """Align ``rows``, which have equal lengths, in columns."""
    widths = [max(columns_of(row[i]) for row in rows) for i in range(len(rows[0]))]
    return '\n'.join(
        '  '.join(
            cell + ' ' * (width - columns_of(cell))
            for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    )


def _time_text(at: datetime) -> str:
    return at.astimezone().strftime('%Y-%m-%d %H:%M:%S')
