# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A task as a row of the task file, and the changes of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import partial
import json
import math
from operator import attrgetter
from typing import Any

from curiosity_rosa_demo.agent.tasks.task import BadTask, Task, to_json
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.infra.files import FileDamaged

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def to_time(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)


def to_microseconds(time: datetime) -> int:
    """Raises TypeError for a time without a zone, OverflowError for one outside UTC's years."""
    since = (time.astimezone(timezone.utc) if time.tzinfo else time) - _EPOCH
    return since // timedelta(microseconds=1)


def _finite(seconds: float) -> float:
    if not math.isfinite(seconds):
        raise ValueError(seconds)
    return seconds


@dataclass(frozen=True)
class _Kind:
    """How the values of a column are stored. ``rule`` says what ``encode`` refuses."""

    encode: Callable[[Any], Any] = lambda value: value
    decode: Callable[[Any], Any] = lambda stored: stored
    rule: str = 'it cannot be stored'


_PLAIN, _FLAG = _Kind(), _Kind(decode=bool)
_TIME = _Kind(
    to_microseconds,
    to_time,
    'it must be a time with a zone, such as datetime.now(timezone.utc)',
)
_SECONDS = _Kind(_finite, rule='it must be finite')
# A reason may quote an exception with a file name that is not valid Unicode.
_REASON = _Kind(lambda text: text.encode('utf-8', 'backslashreplace').decode())

FIXED_COLUMNS = {  # they never change after the insert
    'seq': _PLAIN,
    'id': _PLAIN,
    'idempotency_key': _PLAIN,
    'name': _PLAIN,
    'created_at': _TIME,
}
STATE = {'state': _Kind(lambda state: state.value, LifecycleState)}
CHANGING_COLUMNS = {
    'reason': _REASON,
    'updated_at': _TIME,
    'priority': _PLAIN,
    'metadata': _Kind(partial(to_json, name='metadata'), json.loads),
    'blocked_by': _Kind(partial(to_json, name='blocked_by'), lambda text: tuple(json.loads(text))),
    'deadline_s': _SECONDS,
    'not_before': _TIME,
    'max_retries': _PLAIN,
    'resources': _Kind(
        lambda names: to_json(sorted(names), 'resources'),
        lambda text: frozenset(json.loads(text)),
    ),
    'needs_approval': _FLAG,
    'held': _FLAG,
    'urgent': _FLAG,
    'attempts': _PLAIN,
    'used_s': _SECONDS,
}
COLUMNS = {**FIXED_COLUMNS, **STATE, **CHANGING_COLUMNS}
_values_of = attrgetter(*COLUMNS)


def _set(columns: Iterable[str]) -> str:
    return ', '.join(f'{column} = :{column}' for column in columns)


SELECT = f'SELECT {", ".join(COLUMNS)} FROM task'
INSERT = (
    f'INSERT INTO task ({", ".join(COLUMNS)}) '
    f'VALUES ({", ".join(f":{column}" for column in COLUMNS)})'
)
_AS_BEFORE = 'WHERE id = :id AND state = :before'
MOVE = f'UPDATE task SET {_set(["state", *CHANGING_COLUMNS])} {_AS_BEFORE}'
SAVE = f'UPDATE task SET {_set([*CHANGING_COLUMNS])} {_AS_BEFORE}'


def to_row(task: Task) -> dict[str, Any]:
    """The values of ``task`` by column. Raises BadTask if one cannot be stored exactly."""
    row = {}
    for (name, kind), value in zip(COLUMNS.items(), _values_of(task), strict=True):
        try:
            row[name] = None if value is None else kind.encode(value)
        except BadTask:
            raise
        except (TypeError, ValueError, OverflowError, AttributeError) as error:
            raise BadTask(f'{name} of task {task.id!r} is {value!r}; {kind.rule}') from error
    return row


def to_task(row: Sequence[Any]) -> Task:
    """Create the task from a row of SELECT. Raises FileDamaged."""
    values: dict[str, Any] = dict(zip(COLUMNS, row, strict=True))
    try:
        for name, kind in COLUMNS.items():
            if values[name] is not None:
                values[name] = kind.decode(values[name])
        return Task(**values)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise FileDamaged(f'task {values["id"]!r} is malformed: {error}') from error


@dataclass(eq=False)
class Change:
    """``task`` as it is now is to be stored. ``before``: the state that its row must still have;
    None: the task is new. Only a new task stores FIXED_COLUMNS. Raises BadTask.
    """

    task: Task
    before: LifecycleState | None
    statement: str = field(init=False, repr=False)
    row: dict[str, Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.row = {**to_row(self.task), 'before': self.before and self.before.value}
        known = SAVE if self.before is self.task.state else MOVE
        self.statement = INSERT if self.before is None else known
