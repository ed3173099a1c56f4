# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The disk under SQLite: its connections fail, dawdle, and die with their process.

The files are real. What a commit needs to outlive the loss of power is asked of each connection
that writes: a write-ahead log, synced at each commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import random
import sqlite3
from typing import Any

WRITES = frozenset(('INSERT', 'UPDATE', 'DELETE', 'REPLACE', 'CREATE', 'COMMIT'))
ROWS = frozenset(('INSERT', 'UPDATE', 'DELETE', 'REPLACE'))
READS = frozenset(('SELECT',))
FULL, IO_ERROR = 13, 10  # https://www.sqlite.org/rescode.html
TEXTS = {FULL: 'database or disk is full', IO_ERROR: 'disk I/O error'}
SYNCED = (('wal',), (2,))  # PRAGMA journal_mode, synchronous: FULL
MEMORY = ':memory:'


@dataclass(frozen=True)
class DiskFaults:
    """``full``, ``errors``, ``slow``: rates of statements; ``slow_max_s``: what one takes then."""

    full: float = 0.0
    errors: float = 0.0
    slow: float = 0.0
    slow_max_s: float = 0.0


NO_FAULTS = DiskFaults()


class Disk:
    """``owner``: of a connection that is opened now. ``charge``: lets a statement take seconds.
    ``on_write``: is told the file and whether what is written would outlive the loss of power.
    """

    def __init__(
        self,
        chance: random.Random,
        *,
        owner: Callable[[], object] = lambda: None,
        charge: Callable[[float], None] = lambda _: None,
        on_write: Callable[[str, bool], None] = lambda *_: None,
    ) -> None:
        self.faults = NO_FAULTS
        self.fail_at = 0  # the write, counted from now, that fails once; 0: none
        self._chance, self._owner, self._charge, self._on_write = chance, owner, charge, on_write
        self._connections: list[tuple[object, DiskConnection]] = []

    def adopt(self, connection: DiskConnection, file: str) -> None:
        connection.disk, connection.file = self, file
        self._connections.append((self._owner(), connection))

    def kill(self, process: object) -> None:
        """Let the connections of ``process`` end as by SIGKILL: what is not committed is gone."""
        for owner, connection in list(self._connections):
            if owner is process:
                self._connections.remove((owner, connection))
                connection.close()

    def before(self, connection: DiskConnection, statement: str) -> None:
        """Raises sqlite3.OperationalError."""
        word = statement.split(None, 1)[0].upper() if statement.strip() else ''
        faults, chance = self.faults, self._chance
        if word not in WRITES | READS or connection.file == MEMORY:
            return
        if faults.slow and chance.random() < faults.slow:
            self._charge(chance.uniform(0.0, faults.slow_max_s))
        if word in WRITES and self.fail_at:
            self.fail_at -= 1
            if not self.fail_at:
                self._fail(connection, FULL)
        if word in WRITES and faults.full and chance.random() < faults.full:
            self._fail(connection, FULL)
        if faults.errors and chance.random() < faults.errors / (1 if word in WRITES else 4):
            self._fail(connection, IO_ERROR)
        if word in ROWS:
            self._on_write(connection.file, connection.settings() == SYNCED)

    def _fail(self, connection: DiskConnection, code: int) -> None:
        if self._chance.random() < 0.5:  # SQLite may roll back by itself, or leave it to us
            connection.rollback()
        error: Any = sqlite3.OperationalError(TEXTS[code])
        error.sqlite_errorcode = code
        raise error


class DiskConnection(sqlite3.Connection):
    """``file``: the path or URI with which it was opened."""

    disk: Disk
    file: str

    def cursor(self, factory: Any = None) -> Any:
        return super().cursor(factory or DiskCursor)

    def execute(self, sql: str, *parameters: Any) -> Any:
        return self.cursor().execute(sql, *parameters)

    def executemany(self, sql: str, *parameters: Any) -> Any:
        return self.cursor().executemany(sql, *parameters)

    def commit(self) -> None:
        if self.in_transaction:
            self.disk.before(self, 'COMMIT')
        super().commit()

    def settings(self) -> tuple[object, object]:
        plain = sqlite3.Cursor(self)
        mode, synchronous = (
            plain.execute(f'PRAGMA {name}').fetchone() for name in ('journal_mode', 'synchronous')
        )
        return mode, synchronous


class DiskCursor(sqlite3.Cursor):
    connection: DiskConnection

    def execute(self, sql: str, *parameters: Any) -> DiskCursor:
        self.connection.disk.before(self.connection, sql)
        super().execute(sql, *parameters)
        return self

    def executemany(self, sql: str, *parameters: Any) -> DiskCursor:
        self.connection.disk.before(self.connection, sql)
        super().executemany(sql, *parameters)
        return self


@contextmanager
def installed(disk: Disk) -> Iterator[Disk]:
    """Let every connection that is opened meanwhile be one of ``disk``."""
    connect: Any = sqlite3.connect

    def on_disk(database: str, *arguments: Any, **named: Any) -> sqlite3.Connection:
        connection: DiskConnection = connect(database, *arguments, factory=DiskConnection, **named)
        in_memory = MEMORY in database
        disk.adopt(connection, MEMORY if in_memory else database)
        return connection

    any_sqlite: Any = sqlite3
    any_sqlite.connect = on_disk
    try:
        yield disk
    finally:
        any_sqlite.connect = connect
