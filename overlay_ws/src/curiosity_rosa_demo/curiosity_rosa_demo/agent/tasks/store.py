# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The task file: one SQLite database, written by one thread, a transaction for each ``write``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
import logging
import os
from pathlib import Path
from queue import SimpleQueue
import sqlite3
from threading import Lock, Thread
from typing import Any, TypeVar

from curiosity_rosa_demo.agent.tasks.rows import (
    Change,
    SELECT,
    to_microseconds,
    to_task,
    to_time,
)
from curiosity_rosa_demo.agent.tasks.task import (
    BadTask,
    now,
    StoreError,
    Task,
    TaskError,
    UnknownTask,
)
from curiosity_rosa_demo.domain.task_state import LifecycleState, TRANSITIONS
from curiosity_rosa_demo.infra.files import (
    check_integrity,
    connect,
    fault_of,
    FileDamaged,
    FileFault,
    FileInUse,
    lock_file,
    make_durable,
    open_or_set_aside,
)

MEMORY_PATH = ':memory:'
PRUNE_PERIOD = timedelta(hours=1)

R = TypeVar('R')
Done = Callable[[Exception | None], object]  # what it has raised
Jobs = SimpleQueue[tuple[Sequence[Change] | None, Done]]  # None: close the file

_log = logging.getLogger('curiosity_rosa.tasks')

APPLICATION_ID = 0x43524F54  # 'CROT', in the header of the file
VERSION = 1
# must equal the condition of the index in schema.sql, or SQLite does not use the index
ENDED_CONDITION = "state IN ('completed', 'failed', 'cancelled')"
SCHEMA = Path(__file__).with_name('schema.sql')


@dataclass(frozen=True)
class HistoryRow:
    """One change of state. ``before`` is None for the submission."""

    at: datetime
    before: LifecycleState | None
    after: LifecycleState
    reason: str

    @classmethod
    def of(cls, row: Sequence[Any]) -> HistoryRow:
        at, before, after, reason = row
        return cls(to_time(at), before and LifecycleState(before), LifecycleState(after), reason)


class TaskStore:
    """With ``path`` ':memory:' the store is not durable. ``notes``: what open() has repaired."""

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
        self._retention_us = retention_days * 86_400e6
        self._clock = clock
        self._pruned_at = clock()
        self._lock_file: int | None = None
        self._jobs: Jobs | None = None  # of the thread that writes
        self._reader: sqlite3.Connection | None = None
        self._lock = Lock()  # of the connection that reads; in memory it is the one that writes

    def open(self) -> list[Task]:
        """Open the file. Returns all tasks that have not ended, in order of submission.

        Blocks. Raises StoreError.
        """
        if self._jobs is not None:
            raise StoreError(f'The task store {self.path} is already open')
        try:
            if self.path != MEMORY_PATH:
                Path(self.path).parent.mkdir(parents=True, exist_ok=True)
                self._lock_file = lock_file(f'{self.path}.lock')
            connection, tasks, note = open_or_set_aside(
                self.path, self._clock(), self._load, patience_s=2.0
            )
            self._reader = self._open_reader(connection)
        except FileInUse as holder:
            raise StoreError(
                f'{self.path} is in use by process {holder.pid or "?"}; end that process, or set '
                'tasks.db_path to another file'
            ) from None
        except (OSError, sqlite3.Error, FileDamaged, StoreError) as error:
            self._unlock()
            raise store_error(error, self.path) from None
        self.notes = [note] if note else []
        self._jobs = SimpleQueue()
        work = (self._jobs, connection)
        Thread(target=self._run, args=work, name='task-store', daemon=True).start()
        return tasks

    def _open_reader(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """A connection that waits for no commit. Raises sqlite3.Error."""
        if self.path == MEMORY_PATH:
            return connection
        try:
            return connect(f'{Path(self.path).as_uri()}?mode=ro', patience_s=0.1, is_uri=True)
        except sqlite3.Error:
            connection.close()
            raise

    def _load(self, connection: sqlite3.Connection) -> list[Task]:
        """Check and prune the file. Raises FileDamaged, StoreError, sqlite3.Error."""
        version = self._version(connection)  # before any change to the file
        mode = make_durable(connection)
        if mode not in ('wal', 'memory'):
            raise StoreError(
                f'{self.path} is on a disk without shared memory (journal {mode}, not wal); '
                'set tasks.db_path to a local disk'
            )
        check_integrity(connection)
        if not version:
            connection.executescript(
                f'BEGIN IMMEDIATE; {SCHEMA.read_text(encoding="utf-8")}'
                f'PRAGMA application_id = {APPLICATION_ID};'
                f'PRAGMA user_version = {VERSION}; COMMIT'
            )
        connection.execute('BEGIN IMMEDIATE')  # fails early on a read-only file
        connection.execute('DELETE FROM allowed')
        connection.executemany(
            'INSERT INTO allowed VALUES (?, ?)',
            [(before.value, after.value) for before, to in TRANSITIONS.items() for after in to],
        )
        connection.execute('COMMIT')
        self._prune(connection)
        rows = connection.execute(f'{SELECT} WHERE NOT {ENDED_CONDITION} ORDER BY seq')
        return [to_task(row) for row in rows]

    def _version(self, connection: sqlite3.Connection) -> int:
        """0 for a new file. Raises StoreError for that of another program or a newer version."""
        (version,) = connection.execute('PRAGMA user_version').fetchone()
        (application,) = connection.execute('PRAGMA application_id').fetchone()
        (tables,) = connection.execute('SELECT count(*) FROM sqlite_master').fetchone()
        if application != APPLICATION_ID and (application or version or tables):
            raise StoreError(
                f'{self.path} is a database of something else; set tasks.db_path to another'
            )
        if version > VERSION:
            raise StoreError(
                f'{self.path} has version {version}, this program knows versions up to {VERSION}; '
                'run the newer program, or move the file away'
            )
        return int(version)

    # --- writing -----------------------------------------------------------------------------

    def write(self, changes: Sequence[Change]) -> asyncio.Future[None]:
        """Write all ``changes`` in one transaction, or none. The future is done once they are on
        the disk. It raises TaskError if a change conflicts with its stored row, and StoreError if
        the file could not be written. The store stays usable.
        """
        if self._jobs is None:
            raise self._not_open()
        return _put(self._jobs, changes)

    async def close(self) -> None:
        """Commit all accepted changes, then close the file."""
        jobs, self._jobs = self._jobs, None
        if jobs is None:
            return
        with self._lock:
            if self._reader is not None and self.path != MEMORY_PATH:
                self._reader.close()
            self._reader = None
        await _put(jobs, None)

    def _run(self, jobs: Jobs, connection: sqlite3.Connection) -> None:
        """The thread that writes."""
        changes: Sequence[Change] | None = ()
        while changes is not None:
            changes, done = jobs.get()
            failed: Exception | None = None
            try:
                if changes is None:
                    connection.close()
                    self._unlock()
                else:
                    self._commit(connection, changes)
            except Exception as error:  # whatever it is, the caller must learn of it
                failed = error
            with suppress(RuntimeError):  # the caller's loop is closed
                done(failed)

    def _commit(self, connection: sqlite3.Connection, changes: Sequence[Change]) -> None:
        with self._lock if self.path == MEMORY_PATH else nullcontext():
            try:
                connection.execute('BEGIN IMMEDIATE')
                for change in changes:
                    self._apply(connection, change)
                connection.execute('COMMIT')
            except Exception as error:
                try:
                    if connection.in_transaction:
                        connection.execute('ROLLBACK')
                except sqlite3.Error as fault:
                    _log.warning('event=rollback_failed error=%r', str(fault))
                if isinstance(error, TaskError):
                    raise
                raise store_error(error, self.path) from None
            self._prune_if_due(connection)

    def _apply(self, connection: sqlite3.Connection, change: Change) -> None:
        """Raises TaskError, sqlite3.Error."""
        task_id, before, after = change.task.id, change.before, change.task.state.name
        try:
            found = connection.execute(change.statement, change.row).rowcount
        except _REFUSALS as error:
            was = '' if before is None else f'{before.name}, now '
            why = f'Task {task_id!r}, {was}{after}, cannot be stored in {self.path}: {error}'
            raise BadTask(why) from None
        if found:
            return
        row = connection.execute('SELECT state FROM task WHERE id = ?', (task_id,)).fetchone()
        if row is None:
            raise UnknownTask(task_id)
        assert before is not None
        raise TaskError(
            f'Task {task_id!r} is {row[0].upper()} in {self.path}, not {before.name}; '
            f'it was not changed to {after}'
        )

    def _prune(self, connection: sqlite3.Connection) -> None:
        self._pruned_at = self._clock()
        limit = to_microseconds(self._pruned_at) - self._retention_us
        connection.execute(
            f'DELETE FROM task WHERE {ENDED_CONDITION} AND updated_at < ?', (limit,)
        )

    def _prune_if_due(self, connection: sqlite3.Connection) -> None:
        if self._clock() - self._pruned_at >= PRUNE_PERIOD:
            try:
                self._prune(connection)
            except sqlite3.Error as error:  # the next period tries again
                _log.warning('event=prune_failed error=%r', str(error))

    def _unlock(self) -> None:
        if self._lock_file is not None:
            os.close(self._lock_file)
            self._lock_file = None

    # --- reading, from any thread ------------------------------------------------------------

    def get(self, task_id: str) -> Task | None:
        return self._one(f'{SELECT} WHERE id = ?', task_id)

    def by_key(self, idempotency_key: str) -> Task | None:
        return self._one(f'{SELECT} WHERE idempotency_key = ?', idempotency_key)

    def last(self, count: int) -> list[Task]:
        """The ``count`` tasks that ended last, the newest first."""
        ended = f'{SELECT} WHERE {ENDED_CONDITION}'
        return self._read(to_task, f'{ended} ORDER BY updated_at DESC, seq DESC LIMIT ?', count)

    def history(self, task_id: str) -> list[HistoryRow]:
        """The changes of state, the oldest first; empty for an unknown task."""
        return self._read(
            HistoryRow.of,
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
        return next(iter(self._read(to_task, sql, value)), None)

    def _read(self, decode: Callable[[tuple[Any, ...]], R], sql: str, *values: Any) -> list[R]:
        with self._lock:
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


# Errors of a row, not of the file. The last four come from values that SQLite cannot store: other
# types, integers of more than 64 bits, text that is not Unicode.
_REFUSALS = (
    *(sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError),
    *(OverflowError, ValueError),
)


def _put(jobs: Jobs, changes: Sequence[Change] | None) -> asyncio.Future[None]:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def settle(error: Exception | None) -> None:
        if done.cancelled():  # whoever waited has stopped waiting
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    jobs.put((changes, lambda error: loop.call_soon_threadsafe(settle, error)))
    return done


def store_error(error: Exception, name: str) -> StoreError:
    """Convert ``error`` to a StoreError that names the file, the problem and the remedy."""
    if isinstance(error, StoreError):
        return error
    fault = FileFault.DAMAGED if isinstance(error, ValueError) else fault_of(error)
    texts = {
        FileFault.FULL: f'cannot be written: {error}; free some space or check the disk',
        FileFault.READ_ONLY: f'cannot be written: {error}; make the file and its folder '
        'writable, or set tasks.db_path to another',
        FileFault.LOCKED: 'is locked by another program; close that program',
        FileFault.DAMAGED: f'is damaged: {error}; restart, then it is set aside',
    }
    return StoreError(f'{name} {texts.get(fault, f"cannot be used: {error}")}')
