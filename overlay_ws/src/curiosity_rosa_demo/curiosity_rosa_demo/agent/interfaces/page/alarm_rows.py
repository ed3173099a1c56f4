# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What an operator must not miss, as JSON: SAFE, a replay, and what has failed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from curiosity_rosa_demo.agent.interfaces.page.status_rows import clipped, PanelData
from curiosity_rosa_demo.agent.kernel.safe_orders import way_out
from curiosity_rosa_demo.agent.tasks import Task
from curiosity_rosa_demo.agent.tasks.texts import task_summary
from curiosity_rosa_demo.domain.brain_state import BatteryLevel, BrainState, Mode
from curiosity_rosa_demo.domain.health import NodeStatus
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.drawing.columns import clip_columns

FAILURE_SHOWN = timedelta(minutes=15)  # a task that failed longer ago is in the list of tasks only
MAX_FAILED_TASKS = 2  # the newest
MAX_COLUMNS = 120


def alarm_data(
    state: BrainState,
    health: Iterable[NodeStatus],
    tasks: Sequence[Task],
    now: datetime,
    *,
    waits_for: str,
    replay: bool,
    replay_text: str = '',
) -> PanelData:
    """``waits_for``: why no task can run yet. ``replay``: a recording is shown; ``replay_text``:
    which, while it is played. ``now``: timezone-aware.
    """
    safe = state.tasks.mode is Mode.SAFE
    return {
        'safe': _safe(state) if safe else None,
        'replay': replay,
        'replay_text': clipped(replay_text),
        'rows': [
            *_conditions(state, waits_for),
            *(_row(f'node:{each.name}', _node_text(each)) for each in health if not each.ok),
            *_failed_tasks(tasks, now),
            *_held_tasks(tasks),
        ],
    }


def _safe(state: BrainState) -> PanelData:
    return {
        'cause': clipped(state.tasks.mode_reason or state.robot.safety_latch or 'cause unknown'),
        'way_out': way_out(state, 'press Clear'),
        'latched': bool(state.robot.safety_latch),
    }


def _conditions(state: BrainState, waits_for: str) -> Iterator[PanelData]:
    robot, safe = state.robot, state.tasks.mode is Mode.SAFE
    if waits_for:
        yield _row('waits', f'Nothing can run yet: {waits_for}')
    if robot.safety_latch and not safe:
        latched = _row('latch', f'Held: {robot.safety_latch}')
        yield {**latched, 'line': ':clear', 'button': 'Clear'}
    if robot.estop and not safe:
        yield _row('estop', 'The e-stop is pressed')
    for source in robot.silent:
        yield _row(f'silent:{source}', f'{source} is silent')
    if robot.battery_state is BatteryLevel.LOW:
        yield _row('battery', f'The battery is low: {robot.battery_pct:.0f} %')


def _node_text(node: NodeStatus) -> str:
    return f'{node.name}: {node.text or "not well"}'


def _failed_tasks(tasks: Sequence[Task], now: datetime) -> Iterator[PanelData]:
    failed = [
        task
        for task in tasks
        if task.state is LifecycleState.FAILED and now - task.updated_at < FAILURE_SHOWN
    ]
    failed.sort(key=lambda task: task.updated_at, reverse=True)
    for task in failed[:MAX_FAILED_TASKS]:
        why = f': {task.reason}' if task.reason else ''
        text = f'Task {task.id[:8]} failed: {task_summary(task)}{why}'
        yield {**_row(f'task:{task.id}', clip_columns(text, MAX_COLUMNS)), 'dismissable': True}


def _held_tasks(tasks: Sequence[Task]) -> Iterator[PanelData]:
    """No failure, but nothing goes on without a person."""
    held = sum(task.held and not task.terminal for task in tasks)
    if held:
        row = _row('held', f'{count_text(held, "task")} held until a person resumes')
        yield {**row, 'told': True, 'line': ':resume', 'button': 'Resume'}


def _row(row_id: str, text: str) -> PanelData:
    return {'id': row_id, 'text': clipped(text)}
