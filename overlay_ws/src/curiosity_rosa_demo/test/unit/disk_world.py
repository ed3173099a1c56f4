# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A program that commits to a database on a simulated disk, dies again and again, and checks each
time what it finds: acknowledged commits, all of them; others whole or not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from random import Random
import sqlite3
from typing import NamedTuple

from missions.disk import Disk, DiskFaults, installed

DATABASE = '/robot/a.db'
ROWS = 3  # of each transaction
HONEST = DiskFaults()
DURABLE = {'WAL': 'FULL', 'DELETE': 'EXTRA'}  # FULL would not sync the deletion of the journal


class Damage(AssertionError):
    """The disk or SQLite broke its promise."""


class Life(NamedTuple):
    """One run of the program. It ends at its change of the disk number ``changes``."""

    changes: int
    loses_power: bool  # or is killed
    checkpoint_pages: int
    closes: bool  # Python closes the dead connection before the next life, else some time later


class Program:
    """``faults``: while it commits, but not while it opens the file, nor while it checks."""

    def __init__(self, disk: Disk, mode: str, faults: DiskFaults, chance: Random) -> None:
        self.disk, self._mode, self._faults, self._chance = disk, mode, faults, chance
        self.acknowledged: set[int] = set()
        self.begun = 0
        self.errors: Counter[int] = Counter()
        self._left_open: list[sqlite3.Connection] = []

    def live(self, lives: Sequence[Life]) -> None:
        """Raises Damage."""
        with installed(self.disk):
            for life in lives:
                self._live(life)
            with closing(self._open(1000)) as connection:
                self._check(connection)

    def _live(self, life: Life) -> None:
        connection = self._open(life.checkpoint_pages)
        seen = self._check(connection)
        over: list[bool] = []

        def end() -> None:
            over.append(True)
            if life.loses_power:
                self.disk.power_loss()
            else:
                self.disk.process_killed('')

        self.disk.call_after(life.changes, end)
        self.disk.faults = self._faults
        while not over:
            transaction, self.begun = self.begun, self.begun + 1
            if self._commit(connection, transaction):
                seen.add(transaction)
                self.acknowledged |= seen  # the log is synced from its beginning
        self.disk.faults = HONEST
        if life.closes:
            connection.close()
        else:
            self._left_open.append(connection)

    def _open(self, checkpoint_pages: int) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(DATABASE, isolation_level=None, timeout=0.0)
            connection.execute(f'PRAGMA journal_mode = {self._mode}')
            connection.execute(f'PRAGMA synchronous = {DURABLE[self._mode]}')
            connection.execute(f'PRAGMA wal_autocheckpoint = {checkpoint_pages}')
            connection.execute('CREATE TABLE IF NOT EXISTS one (number, row, content)')
            connection.execute('CREATE TABLE IF NOT EXISTS sum (id PRIMARY KEY, transactions)')
        except sqlite3.Error as error:
            raise Damage(f'The database cannot be opened: {error}') from error
        return connection

    def _check(self, connection: sqlite3.Connection) -> set[int]:
        """The transactions in the file. Raises Damage."""
        try:
            (verdict,) = connection.execute('PRAGMA integrity_check').fetchone()
            rows = Counter(number for (number,) in connection.execute('SELECT number FROM one'))
            sums = connection.execute('SELECT transactions FROM sum').fetchall()
        except sqlite3.Error as error:
            raise Damage(f'The database cannot be read: {error}') from error
        if verdict != 'ok':
            raise Damage(verdict)
        lost = self.acknowledged - rows.keys()
        if lost:
            raise Damage(f'acknowledged commits are lost: {sorted(lost)}')
        if set(rows.values()) - {ROWS} or sums != [(len(rows),)][: len(rows)]:
            raise Damage(f'a transaction is half there: {rows}, {sums}')
        if not rows.keys() <= set(range(self.begun)):
            raise Damage(f'there are transactions that never began: {rows}')
        return set(rows)

    def _commit(self, connection: sqlite3.Connection, transaction: int) -> bool:
        """Whether SQLite reported success."""
        content = self._chance.randbytes(self._chance.randrange(3000))
        try:
            connection.execute('BEGIN IMMEDIATE')
            for row in range(ROWS):
                connection.execute('INSERT INTO one VALUES (?, ?, ?)', (transaction, row, content))
            connection.execute(
                'INSERT OR REPLACE INTO sum SELECT 1, count(DISTINCT number) FROM one'
            )
            older = (self._chance.randrange(transaction + 1),)
            connection.execute('UPDATE one SET content = zeroblob(9) WHERE number = ?', older)
            connection.execute('COMMIT')
        except sqlite3.Error as error:
            self.errors[getattr(error, 'sqlite_errorcode', 10) & 0xFF] += 1
            if connection.in_transaction:
                connection.rollback()
            return False
        return True
