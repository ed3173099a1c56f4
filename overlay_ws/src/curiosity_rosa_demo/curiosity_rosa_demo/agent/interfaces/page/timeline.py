# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The states of tasks over the time of day. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from curiosity_rosa_demo.agent.tasks.store import HistoryRow
from curiosity_rosa_demo.agent.tasks.texts import duration
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.drawing.columns import clip_columns
from curiosity_rosa_demo.drawing.plots import Axis, time_step, time_text, time_ticks
from curiosity_rosa_demo.drawing.svg import (
    drawing,
    element,
    escaped,
    first_fitting_label,
    label,
    line,
    MAX_TITLE_COLUMNS,
    Svg,
    title,
)

WIDTH, ROW, TOP, BOTTOM = 520.0, 24.0, 6.0, 22.0
LEFT, RIGHT_MARGIN = 148.0, 30.0  # of the time axis
NAME_COLUMNS = 17
MAX_ROWS, MAX_BARS = 20, 200  # the newest; all rows share the bars
WHY_COLUMNS = 80  # of a bar's reason
MAX_TICKS, TICK_WIDTH = 5, 72.0
MIN_SPAN_S = 10.0  # of the axis
LABEL_PADDING = 4.0  # beside a label in a bar

STATE_SIGNS: dict[LifecycleState, str] = {
    LifecycleState.PENDING: '○',
    LifecycleState.WAITING: '◔',
    LifecycleState.ACTIVE: '►',
    LifecycleState.PAUSED: '‖',
    LifecycleState.RECOVERING: '↻',
    LifecycleState.COMPLETED: '✓',
    LifecycleState.FAILED: '✕',
    LifecycleState.CANCELLED: '⊘',
}


@dataclass(frozen=True)
class TimelineRow:
    """A task: its ID, a short name, and its changes of state, the oldest first."""

    task_id: str
    name: str
    history: Sequence[HistoryRow]


def render(
    histories: Sequence[TimelineRow],
    now: datetime,
    *,
    zone: tzinfo | None = None,
    longest_s: float = 3600.0,
    width: float = WIDTH,
) -> Svg:
    """Draw the last MAX_ROWS of ``histories``, the last one lowest, over at most ``longest_s``
    up to ``now`` (timezone-aware). ``zone`` None: the local one. data-task holds the task's ID.
    Unfinished tasks go first when there are too many.
    """
    histories = _shown_rows(histories)
    span = _span(histories, now.timestamp(), longest_s, width)
    bottom = TOP + ROW * max(1, len(histories))
    most = MAX_BARS // max(1, len(histories))
    empty = [] if histories else [label('no tasks yet', width / 2, TOP + 16.0, 'middle')]
    return drawing(
        'timeline',
        width,
        bottom + BOTTOM,
        f'Tasks over time: {len(histories)}',
        *_axis(span, bottom, zone),
        *(_row(row, TOP + ROW * place, span, most) for place, row in enumerate(histories)),
        *empty,
    )


def _shown_rows(histories: Sequence[TimelineRow]) -> list[TimelineRow]:
    known = [row for row in histories if row.history]
    ranked = sorted(
        range(len(known)), key=lambda place: (known[place].history[-1].after.terminal, -place)
    )
    return [known[place] for place in sorted(ranked[:MAX_ROWS])]


def _span(histories: Sequence[TimelineRow], now: float, longest_s: float, width: float) -> Axis:
    """The time axis up to now. It starts at a whole step, so that it seldom changes."""
    first = min((row.history[0].at.timestamp() for row in histories), default=now)
    length = min(longest_s, max(MIN_SPAN_S, now - first))
    step = time_step(length, _most_ticks(width))
    return Axis((now - length) // step * step, now, LEFT, width - RIGHT_MARGIN)


def _most_ticks(width: float) -> int:
    """As many times of day as have room beside each other."""
    return max(2, min(MAX_TICKS, int((width - LEFT) / TICK_WIDTH)))


def _axis(span: Axis, bottom: float, zone: tzinfo | None) -> Iterator[Svg]:
    step = time_step(span.high - span.low, _most_ticks(span.end + RIGHT_MARGIN))
    lines, numbers = [], []
    for at in time_ticks(span.low, span.high, step, zone):
        x = span.at(at)
        lines.append(line(x, TOP, x, bottom))
        words = escaped(time_text(at, step, zone))  # a browser writes its own time instead
        moment = {'data_at': at, 'data_step': float(step)}
        numbers.append(
            element('text', words, x=x, y=bottom + 15.0, text_anchor='middle', **moment)
        )
    yield element('g', *lines, class_='cr-grid', aria_hidden='true')
    yield line(span.end, TOP, span.end, bottom, 'cr-now', 'now')
    yield element('g', *numbers, class_='cr-numbers')


def _row(row: TimelineRow, top: float, span: Axis, most_bars: int) -> Svg:
    last = row.history[-1]
    name = label(clip_columns(row.name, NAME_COLUMNS), 22.0, top + 16.0)
    sign = label(STATE_SIGNS[last.after], 6.0, top + 16.0, class_=f'cr-sign cr-{last.after.value}')
    return element(
        'g',
        title(f'{clip_columns(row.name, MAX_TITLE_COLUMNS // 2)}: {_state(last)}'),
        sign,
        name,
        *_bars(row.history[-most_bars:], top, span),
        class_='cr-task-row',
        data_task=clip_columns(row.task_id, MAX_TITLE_COLUMNS),
    )


def _bars(rows: Sequence[HistoryRow], top: float, span: Axis) -> Iterator[Svg]:
    """A bar for each state, until the next one or now; a sign for the end of the task."""
    starts = [row.at.timestamp() for row in rows]
    ends = [*starts[1:], span.high]
    for row, start, end in zip(rows, starts, ends, strict=True):
        left, right = span.at(start), span.at(end)
        if row.after.terminal:
            sign = label(STATE_SIGNS[row.after], left + 3.0, top + 16.0, class_='cr-sign')
            yield element('g', title(_state(row)), sign, class_=f'cr-{row.after.value}')
        elif right > left:
            yield _bar(row, left, right, top, end - start)


def _bar(row: HistoryRow, left: float, right: float, top: float, seconds: float) -> Svg:
    width = right - left
    box = element('rect', x=left, y=top + 4.0, width=width, height=ROW - 8.0, rx=2.0)
    sign = STATE_SIGNS[row.after]
    words = (f'{sign} {row.after.value}', sign)
    inside = first_fitting_label(
        words, left + LABEL_PADDING, top + 16.0, width - 2 * LABEL_PADDING
    )
    about = f'{duration(seconds)} {clip_columns(_state(row), WHY_COLUMNS)}'
    return element('g', title(about), box, *inside, class_=f'cr-bar cr-{row.after.value}')


def _state(row: HistoryRow) -> str:
    return f'{row.after.value}{": " + row.reason if row.reason else ""}'
