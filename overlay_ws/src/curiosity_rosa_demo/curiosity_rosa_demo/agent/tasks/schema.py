# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The schema of the task file, its migrations, and the conversion of tasks to rows.

Over 300 lines in one file: the migrations, the columns and the rows must agree.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from functools import cache
import json
import math
import sqlite3
from typing import Any

from curiosity_rosa_demo.agent.tasks.task import BadTask, StoreError, StoreNewer, Task
from curiosity_rosa_demo.domain.models import MAX_DEPTH
from curiosity_rosa_demo.domain.task_state import LifecycleState, TRANSITIONS
from curiosity_rosa_demo.infra.files import FileDamaged

APPLICATION_ID = 0x43524F54  # 'CROT', in the header of the file
ILLEGAL_TRANSITION = 'illegal transition'
# must equal the condition of the index, or SQLite does not use the index
ENDED_CONDITION = "state IN ('completed', 'failed', 'cancelled')"

# Times are microseconds since 1970 in UTC. seq is the row's number; floor.seq is the highest seq
# ever deleted. The triggers reject illegal transitions and write a history row for each change of
# state, for every program that writes to the file.
MIGRATIONS: tuple[str, ...] = (
    f"""
    CREATE TABLE task (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        idempotency_key TEXT,
        name TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        state TEXT NOT NULL,
        reason TEXT NOT NULL,
        updated_at INTEGER NOT NULL,
        priority INTEGER NOT NULL,
        metadata TEXT NOT NULL,
        blocked_by TEXT NOT NULL,
        deadline_s REAL,
        not_before INTEGER,
        max_retries INTEGER NOT NULL,
        resources TEXT,
        needs_approval INTEGER NOT NULL,
        held INTEGER NOT NULL,
        urgent INTEGER NOT NULL,
        attempts INTEGER NOT NULL,
        used_s REAL NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX task_key ON task (idempotency_key) WHERE idempotency_key IS NOT NULL;
    CREATE INDEX task_ended ON task (updated_at) WHERE {ENDED_CONDITION};

    CREATE TABLE history (
        seq INTEGER NOT NULL,
        step INTEGER NOT NULL,
        at INTEGER NOT NULL,
        before TEXT,
        after TEXT NOT NULL,
        reason TEXT NOT NULL,
        PRIMARY KEY (seq, step)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE floor (seq INTEGER NOT NULL) STRICT;
    INSERT INTO floor VALUES (0);

    CREATE TABLE allowed (
        before TEXT NOT NULL, after TEXT NOT NULL, PRIMARY KEY (before, after)
    ) STRICT, WITHOUT ROWID;

    CREATE TRIGGER task_moves BEFORE UPDATE OF state ON task
    WHEN NOT EXISTS (SELECT 1 FROM allowed WHERE before = old.state AND after = new.state)
    BEGIN SELECT RAISE(ABORT, '{ILLEGAL_TRANSITION}'); END;

    CREATE TRIGGER task_inserted AFTER INSERT ON task
    BEGIN
        INSERT INTO history VALUES (new.seq, 1, new.updated_at, NULL, new.state, new.reason);
    END;

    CREATE TRIGGER task_moved AFTER UPDATE OF state ON task
    BEGIN
        INSERT INTO history SELECT
            new.seq, max(step) + 1, new.updated_at, old.state, new.state, new.reason
        FROM history WHERE seq = new.seq;
    END;

    CREATE TRIGGER task_deleted AFTER DELETE ON task
    BEGIN
        DELETE FROM history WHERE seq = old.seq;
        UPDATE floor SET seq = max(seq, old.seq);
    END;
    """,
)


def version(connection: sqlite3.Connection, name: str) -> int:
    """The schema version; 0 for a new file. Raises StoreNewer, or StoreError for another program's
    file.
    """
    (version,) = connection.execute('PRAGMA user_version').fetchone()
    (application,) = connection.execute('PRAGMA application_id').fetchone()
    (tables,) = connection.execute('SELECT count(*) FROM sqlite_master').fetchone()
    if application != APPLICATION_ID and (application or version or tables):
        raise StoreError(f'{name} is a database of something else; set tasks.db_path to another')
    if version > len(MIGRATIONS):
        raise StoreNewer(
            f'{name} has version {version}, this program knows versions up to {len(MIGRATIONS)}; '
            'run the newer program, or move the file away'
        )
    return int(version)


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Migrate the file from ``version`` to the newest, each step in its own transaction."""
    for number, script in enumerate(MIGRATIONS[version:], version + 1):
        try:
            connection.executescript(
                f'BEGIN IMMEDIATE; {script}; PRAGMA application_id = {APPLICATION_ID};'
                f'PRAGMA user_version = {number}; COMMIT'
            )
        finally:
            if connection.in_transaction:
                connection.execute('ROLLBACK')


def update_allowed_transitions(connection: sqlite3.Connection) -> None:
    """Store TRANSITIONS in the table ``allowed``."""
    pairs = {(before.value, after.value) for before, to in TRANSITIONS.items() for after in to}
    connection.execute('BEGIN IMMEDIATE')  # also without a change: fails early on a read-only file
    if set(connection.execute('SELECT before, after FROM allowed')) != pairs:
        connection.execute('DELETE FROM allowed')
        connection.executemany('INSERT INTO allowed VALUES (?, ?)', sorted(pairs))
    connection.execute('COMMIT')


# never change after the insert
FIXED_COLUMNS = ('seq', 'id', 'idempotency_key', 'name', 'created_at')
CHANGING_COLUMNS = (
    *('reason', 'updated_at', 'priority', 'metadata', 'blocked_by', 'deadline_s', 'not_before'),
    *('max_retries', 'resources', 'needs_approval', 'held', 'urgent', 'attempts', 'used_s'),
)
COLUMNS = (*FIXED_COLUMNS, 'state', *CHANGING_COLUMNS)
SELECT = f'SELECT {", ".join(COLUMNS)} FROM task'

# The writer inserts changes into this view. It is temporary, not part of the file. A row with op
# NULL does nothing.
CHANGE_COLUMNS = ('op', 'before', *COLUMNS)
NO_CHANGE = (None,) * len(CHANGE_COLUMNS)
NOT_AS_BEFORE = 'not as before'


def _set(columns: Iterable[str]) -> str:
    return ', '.join(f'{column} = new.{column}' for column in columns)


CHANGE_VIEW = f"""
    PRAGMA temp_store = MEMORY;
    CREATE TEMP VIEW change AS SELECT NULL AS op, NULL AS before, {', '.join(COLUMNS)} FROM task;

    CREATE TEMP TRIGGER change_insert INSTEAD OF INSERT ON change WHEN new.op = 'insert'
    BEGIN
        INSERT INTO task ({', '.join(COLUMNS)})
        VALUES ({', '.join(f'new.{column}' for column in COLUMNS)});
    END;

    CREATE TEMP TRIGGER change_move INSTEAD OF INSERT ON change WHEN new.op = 'move'
    BEGIN
        UPDATE task SET {_set(('state', *CHANGING_COLUMNS))}
        WHERE id = new.id AND state = new.before;
        SELECT RAISE(ABORT, '{NOT_AS_BEFORE}') WHERE changes() = 0;
    END;

    CREATE TEMP TRIGGER change_save INSTEAD OF INSERT ON change WHEN new.op = 'save'
    BEGIN
        UPDATE task SET {_set(CHANGING_COLUMNS)} WHERE id = new.id;
        SELECT RAISE(ABORT, '{NOT_AS_BEFORE}') WHERE changes() = 0;
    END;
"""


@cache
def insert_changes(rows: int) -> str:
    row = f'({", ".join("?" * len(CHANGE_COLUMNS))})'
    return f'INSERT INTO change VALUES {", ".join([row] * rows)}'


def to_row(task: Task) -> tuple[Any, ...]:
    """The values of ``task`` for COLUMNS. Raises BadTask if a value cannot be stored exactly."""
    for name in ('deadline_s', 'used_s'):
        number = getattr(task, name)
        if number is not None and not math.isfinite(number):
            raise BadTask(f'{name} of task {task.id!r} is {number}; it must be finite')
    resources = task.resources
    return (
        task.seq,
        task.id,
        task.idempotency_key,
        task.name,
        _microseconds(task, 'created_at'),
        task.state.value,
        # A reason may quote an exception with a file name that is not valid Unicode.
        task.reason.encode('utf-8', 'backslashreplace').decode(),
        _microseconds(task, 'updated_at'),
        task.priority,
        to_json(task.metadata, 'metadata') if task.metadata else '{}',
        to_json(task.blocked_by, 'blocked_by') if task.blocked_by else '[]',
        task.deadline_s,
        None if task.not_before is None else _microseconds(task, 'not_before'),
        task.max_retries,
        None if resources is None else to_json(sorted(resources), 'resources'),
        task.needs_approval,
        task.held,
        task.urgent,
        task.attempts,
        task.used_s,
    )


def to_task(row: Iterable[Any]) -> Task:
    """Create the task from a row of SELECT. Raises FileDamaged."""
    values = dict(zip(COLUMNS, row, strict=True))
    try:
        values['state'] = LifecycleState(values['state'])
        for name in ('created_at', 'updated_at', 'not_before'):
            if values[name] is not None:
                values[name] = to_time(values[name])
        values['metadata'] = json.loads(values['metadata'])
        values['blocked_by'] = tuple(json.loads(values['blocked_by']))
        if values['resources'] is not None:
            values['resources'] = frozenset(json.loads(values['resources']))
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise FileDamaged(f'task {values["id"]!r} is malformed: {error}') from error
    for name in ('needs_approval', 'held', 'urgent'):
        values[name] = bool(values[name])
    return Task(**values)


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def to_time(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)


def to_microseconds(time: datetime) -> int:
    """Raises TypeError for a time without a zone, OverflowError for one outside UTC's years."""
    since = (time.astimezone(timezone.utc) if time.tzinfo else time) - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _microseconds(task: Task, name: str) -> int:
    time = getattr(task, name)
    try:
        return to_microseconds(time)
    except (TypeError, OverflowError, AttributeError) as error:
        raise BadTask(
            f'{name} of task {task.id!r} is {time!r}; it must be a time with a zone, such as '
            'datetime.now(timezone.utc)'
        ) from error


_encode = json.JSONEncoder(allow_nan=False, separators=(',', ':')).encode


def to_json(value: Any, name: str) -> str:
    """Encode ``value`` as JSON that decodes to an equal value, with lists in place of tuples.

    Raises BadTask with the key that JSON cannot carry.
    """
    try:
        text = _encode(value)
        deep = text.count('[') + text.count('{') > MAX_DEPTH
        if not deep and json.loads(text) == value:
            return text
    except (TypeError, ValueError, RecursionError):
        text = ''
    _check_json(value, name, MAX_DEPTH)
    return text


def _check_json(value: Any, where: str, levels: int) -> None:
    if isinstance(value, dict | list | tuple):
        if levels == 0:
            raise BadTask(f'{where[:200]}... is nested deeper than {MAX_DEPTH} levels')
        if not isinstance(value, dict):
            for index, item in enumerate(value):
                _check_json(item, f'{where}[{index}]', levels - 1)
            return
        for key, item in value.items():
            if not isinstance(key, str):
                raise BadTask(f'{where} has the key {key!r}; keys must be strings')
            _check_json(key, f'key {key!a} of {where}', levels)
            _check_json(item, f'{where}[{key!a}]', levels - 1)
        return
    try:
        same = json.loads(_encode(value)) == value
    except (TypeError, ValueError):
        same = False
    if not same:
        kind = type(value).__name__
        raise BadTask(f'{where} holds a {kind} that JSON does not give back; use text or numbers')
