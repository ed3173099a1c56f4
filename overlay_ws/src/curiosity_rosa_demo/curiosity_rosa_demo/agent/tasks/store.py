# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The task store. A change survives any crash once the future of write() is done.

One SQLite file in WAL mode with fsync. One thread writes (store_writer.py), so the loop never
waits for a write. Reads run in the caller's thread and see committed data.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
import os
from pathlib import Path
import sqlite3
from threading import Lock
from typing import Any, TypeVar

from curiosity_rosa_demo.agent.tasks import schema
from curiosity_rosa_demo.agent.tasks.store_writer import (
    Change,
    Insert,
    Move,
    Save,
    store_error,
    StoreWriter,
    to_row,
    WriteUnit,
    WrittenCallback,
)
from curiosity_rosa_demo.agent.tasks.task import now, StoreError, StoreLocked, Task
from curiosity_rosa_demo.domain.task_state import LifecycleState
from curiosity_rosa_demo.infra.files import (
    check_integrity,
    connect,
    FileDamaged,
    FileInUse,
    lock_file,
    make_durable,
    open_or_set_aside,
)

__all__ = ['Change', 'HistoryRow', 'Insert', 'Move', 'Save', 'TaskStore']

MEMORY_PATH = ':memory:'
PRUNE_PERIOD = timedelta(hours=1)

R = TypeVar('R')


@dataclass(frozen=True)
class HistoryRow:
    """One change of state. ``before`` is None for the submission."""

    at: datetime
    before: LifecycleState | None
    after: LifecycleState
    reason: str


class TaskStore:
    """With ``path`` ':memory:' the store is not durable. Methods raise the errors of errors.py.

    ``notes`` lists repairs and migrations of the file by open(). ``counters``: commits (units),
    groups (transactions), largest_group (units).
    """

    def __init__(
        self,
        path: str | Path,
        *,
        retention_days: float = 30.0,
        clock: Callable[[], datetime] = now,
    ) -> None:
        if not retention_days >= 0:
            raise ValueError(f'retention_days is {retention_days}; it must be at least 0')
        self.path = MEMORY_PATH if str(path) == MEMORY_PATH else os.path.realpath(path)
        self.notes: list[str] = []
        self.counters = {'commits': 0, 'groups': 0, 'largest_group': 0}
        self._retention_us = retention_days * 86_400e6
        self._clock = clock
        self._pruned_at = clock()
        self._lock_file: int | None = None
        self._writer: StoreWriter | None = None
        self._reader: sqlite3.Connection | None = None
        self._reading = Lock()

    def open(self) -> list[Task]:
        """Open the file. Returns all tasks that have not ended, in order of submission.

        Blocks. Raises StoreError.
        """
        if self._writer is not None:
            raise StoreError(f'The task store {self.path} is already open')
        self.notes = []
        try:
            if self.path != MEMORY_PATH:
                Path(self.path).parent.mkdir(parents=True, exist_ok=True)
                self._lock_file = _lock(f'{self.path}.lock')
            connection, tasks, note = open_or_set_aside(
                self.path, self._clock(), self._load, patience_s=2.0
            )
            self.notes = [note, *self.notes] if note else self.notes
            reader = self._open_reader(connection)
        except (OSError, sqlite3.Error, FileDamaged) as error:
            self._unlock()
            raise store_error(error, self.path) from None
        except StoreError:
            self._unlock()
            raise
        self._writer = StoreWriter(
            connection,
            self.path,
            counters=self.counters,
            after_group=self._prune_if_due,
            at_end=self._unlock,
        )
        self._reader = reader
        if reader is connection:
            self._reading = self._writer.lock
        return tasks

    def _open_reader(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """Open a read-only connection. On an error, close ``connection``, which the writer thread
        does not own yet. Raises sqlite3.Error.
        """
        if self.path == MEMORY_PATH:
            return connection
        try:
            return connect(f'{Path(self.path).as_uri()}?mode=ro', patience_s=0.1, is_uri=True)
        except sqlite3.Error:
            connection.close()
            raise

    def _load(self, connection: sqlite3.Connection) -> list[Task]:
        """Check, migrate and prune the file. Raises FileDamaged, StoreError, sqlite3.Error."""
        version = schema.version(connection, self.path)  # before any change to the file
        mode = make_durable(connection)
        if mode not in ('wal', 'memory'):
            raise StoreError(
                f'{self.path} is on a disk without shared memory (journal {mode}, not wal); '
                'set tasks.db_path to a local disk'
            )
        check_integrity(connection)
        schema.migrate(connection, version)
        if 0 < version < len(schema.MIGRATIONS):
            self.notes.append(
                f'{self.path} was brought from version {version} to {len(schema.MIGRATIONS)}'
            )
        schema.update_allowed_transitions(connection)
        self._prune(connection)
        connection.executescript(schema.CHANGE_VIEW)
        rows = connection.execute(
            f'{schema.SELECT} WHERE NOT {schema.ENDED_CONDITION} ORDER BY seq'
        )
        return [schema.to_task(row) for row in rows]

    def write(
        self, changes: Sequence[Change], on_written: WrittenCallback | None = None
    ) -> asyncio.Future[None]:
        """Write ``changes`` atomically. Returns a future that is done once they are on the disk.

        The tasks are read during the call: if a task changes twice, the first change needs a
        snapshot of its first state. ``on_written`` is called with the future as soon as that is
        done, in the same iteration of the loop. Call from one loop only. The call raises BadTask.
        The future raises TaskError if the changes conflict with the stored rows, and StoreError if
        they could not be written. The store stays usable.
        """
        if self._writer is None:
            raise self._not_open()
        rows = [to_row(change) for change in changes]
        done = asyncio.get_running_loop().create_future()
        self._writer.put(WriteUnit(rows, done, on_written))
        return done

    async def close(self) -> None:
        """Commit all accepted changes, then close the file."""
        writer, self._writer = self._writer, None
        if writer is None:
            return
        with self._reading:
            if self._reader is not None and self.path != MEMORY_PATH:
                self._reader.close()
            self._reader = None
        await writer.stop()

    def get(self, task_id: str) -> Task | None:
        return self._one(f'{schema.SELECT} WHERE id = ?', task_id)

    def by_key(self, idempotency_key: str) -> Task | None:
        return self._one(f'{schema.SELECT} WHERE idempotency_key = ?', idempotency_key)

    def last(self, count: int) -> list[Task]:
        """The ``count`` tasks that ended last, the newest first."""
        ended = f'{schema.SELECT} WHERE {schema.ENDED_CONDITION}'
        return self._read(
            schema.to_task, f'{ended} ORDER BY updated_at DESC, seq DESC LIMIT ?', count
        )

    def history(self, task_id: str) -> list[HistoryRow]:
        """The changes of state, the oldest first; empty for an unknown task."""
        return self._read(
            _history_row,
            'SELECT at, before, after, history.reason FROM history JOIN task USING (seq) '
            'WHERE id = ? ORDER BY step',
            task_id,
        )

    def next_seq(self) -> int:
        """A ``seq`` greater than that of every task ever committed."""
        [highest] = self._read(
            lambda row: int(row[0]),
            'SELECT max(seq, (SELECT ifnull(max(seq), 0) FROM task)) FROM floor',
        )
        return highest + 1

    def _one(self, sql: str, value: str) -> Task | None:
        return next(iter(self._read(schema.to_task, sql, value)), None)

    def _read(self, decode: Callable[[tuple[Any, ...]], R], sql: str, *values: Any) -> list[R]:
        with self._reading:
            if self._reader is None:
                raise self._not_open()
            try:
                return [decode(row) for row in self._reader.execute(sql, values)]
            except UnicodeEncodeError:  # an ID with a lone surrogate is never stored
                return []
            except (sqlite3.Error, ValueError, FileDamaged) as error:
                raise store_error(error, self.path) from None

    def _not_open(self) -> StoreError:
        return StoreError(f'The task store {self.path} is not open; call open() first')

    def _prune(self, connection: sqlite3.Connection) -> None:
        self._pruned_at = self._clock()
        limit = schema.to_microseconds(self._pruned_at) - self._retention_us
        connection.execute(
            f'DELETE FROM task WHERE {schema.ENDED_CONDITION} AND updated_at < ?', (limit,)
        )

    def _prune_if_due(self, connection: sqlite3.Connection) -> None:
        if self._clock() - self._pruned_at >= PRUNE_PERIOD:
            self._prune(connection)

    def _unlock(self) -> None:
        if self._lock_file is not None:
            os.close(self._lock_file)
            self._lock_file = None


def _history_row(row: tuple[Any, ...]) -> HistoryRow:
    at, before, after, reason = row
    return HistoryRow(
        schema.to_time(at), before and LifecycleState(before), LifecycleState(after), reason
    )


def _lock(path: str) -> int:
    """Raises StoreLocked, OSError."""
    try:
        return lock_file(path)
    except FileInUse as holder:
        raise StoreLocked(
            f'{path.removesuffix(".lock")} is in use by process {holder.pid or "?"}; end that '
            'process, or set tasks.db_path to another file'
        ) from None
