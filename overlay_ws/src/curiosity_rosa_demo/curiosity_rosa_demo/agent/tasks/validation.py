# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Validate submitted tasks, and find the reason why a task must wait. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
import math

from curiosity_rosa_demo.agent.tasks.schema import to_json
from curiosity_rosa_demo.agent.tasks.task import BadTask, SkillFailed, Task
from curiosity_rosa_demo.domain.task_state import LifecycleState

ALLOWED_PRIORITIES = range(-1000, 1001)
ALLOWED_RETRIES = range(101)
MAX_BACKOFF_S = 60.0


def check_task(task: Task, resources: frozenset[str]) -> None:
    """Raises BadTask with the invalid field, its value and the rule."""
    for name in ('name', 'id'):
        _require(_text(getattr(task, name)), task, name, 'it must be a text that is not empty')
    _require(
        task.idempotency_key is None or _text(task.idempotency_key),
        *(task, 'idempotency_key', 'it must be None or a text that is not empty'),
    )
    _require(
        task.state is LifecycleState.PENDING,
        *(task, 'state', 'a task is submitted once, as PENDING; submit a new Task'),
    )
    for name, allowed in (('priority', ALLOWED_PRIORITIES), ('max_retries', ALLOWED_RETRIES)):
        number = getattr(task, name)
        whole = isinstance(number, int) and not isinstance(number, bool) and number in allowed
        _require(whole, task, name, f'it must be a whole number, {allowed[0]} to {allowed[-1]}')
    deadline = task.deadline_s
    _require(
        deadline is None
        or (isinstance(deadline, int | float) and math.isfinite(deadline) and deadline > 0),
        *(task, 'deadline_s', 'it must be None or finite seconds above 0'),
    )
    start = task.not_before
    _require(
        start is None or (isinstance(start, datetime) and start.utcoffset() is not None),
        *(task, 'not_before', 'it must be None or a time with a zone'),
    )
    _require(
        isinstance(task.blocked_by, tuple) and all(map(_text, task.blocked_by)),
        *(task, 'blocked_by', 'it must be a tuple of task ids'),
    )
    # A task can only be blocked by tasks submitted earlier. So the only possible cycle is a task
    # that blocks itself.
    _require(
        task.id not in task.blocked_by,
        task,
        'blocked_by',
        'a task cannot wait for itself (a cycle)',
    )
    _require(
        task.resources is None
        or (isinstance(task.resources, frozenset) and task.resources <= resources),
        *(task, 'resources', f'it must be None or a frozenset out of {sorted(resources)}'),
    )
    _require(isinstance(task.metadata, dict), task, 'metadata', 'it must be a dict')
    if task.metadata:
        to_json(task.metadata, 'metadata')


def metadata_fault(task: Task) -> str:
    """The reason why the metadata of ``task`` cannot be stored; '' if it can."""
    try:
        if task.metadata or not isinstance(task.metadata, dict):
            _require(isinstance(task.metadata, dict), task, 'metadata', 'it must be a dict')
            to_json(task.metadata, 'metadata')
    except BadTask as error:
        return str(error)
    return ''


def _text(value: object) -> bool:
    # A lone surrogate is refused: SQLite and JSON cannot store it.
    return isinstance(value, str) and value.strip() != '' and _is_unicode(value)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _require(holds: bool, task: Task, name: str, rule: str) -> None:
    if not holds:
        raise BadTask(f'{name} of the task is {getattr(task, name)!r}; {rule}')


def task_label(task: Task) -> str:
    """The name and short ID of ``task``, for messages."""
    return f'{task.name} {task.id[:8]}'


@dataclass(frozen=True)
class WaitReason:
    reason: str  # '': keep the reason that the task has
    again_s: float | None = None  # seconds to the next check; None: an event triggers it


def wait_reason_of(
    task: Task, blockers: Iterable[Task], retry_in_s: float | None, wall: datetime
) -> WaitReason | None:
    """Why ``task`` must wait, or None. ``blockers`` are its blockers that have not ended."""
    if task.needs_approval:
        return WaitReason('waiting for approval')
    for blocker in blockers:
        return WaitReason(f'waiting for {task_label(blocker)}')
    if task.not_before is not None and task.not_before > wall:
        until = task.not_before.isoformat(timespec='seconds')
        return WaitReason(f'waiting until {until}', (task.not_before - wall).total_seconds())
    if retry_in_s is not None and retry_in_s > 0.0:
        return WaitReason('', retry_in_s)
    return None


def backoff_s(first_s: float, attempts: int) -> float:
    """Seconds from a failure to the next attempt, after ``attempts`` earlier retries."""
    return min(first_s * 2.0 ** min(attempts, 60), MAX_BACKOFF_S)


def error_text(error: BaseException) -> str:
    """The type and text of ``error`` in one line; for SkillFailed only the text."""
    kind = '' if isinstance(error, SkillFailed) else f'{type(error).__name__}: '
    return ' '.join(f'{kind}{error}'.split()).removesuffix(':') or type(error).__name__
