# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A SQLite file of one program: opened, made durable, checked, locked, set aside when damaged."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
import fcntl
import os
import sqlite3
from typing import TypeVar

from curiosity_rosa_demo.infra.storage.quarantine import FileDamaged, set_aside

T = TypeVar('T')


class FileInUse(Exception):
    """Another process has the lock; ``pid`` is its number, '' where it is not known."""

    def __init__(self, pid: str) -> None:
        super().__init__(f'in use by process {pid or "?"}')
        self.pid = pid


def connect(database: str, *, patience_s: float, is_uri: bool = False) -> sqlite3.Connection:
    """A connection without implicit transactions, for use from any thread. ``patience_s``: for
    how long to wait for another program that has the file locked. Raises sqlite3.Error.
    """
    return sqlite3.connect(
        database, uri=is_uri, timeout=patience_s, isolation_level=None, check_same_thread=False
    )


def make_durable(connection: sqlite3.Connection) -> str:
    """A write-ahead log, on the disk after each commit. The journal mode that the file has now:
    another one than 'wal' where the disk has no shared memory. Raises sqlite3.Error.
    """
    (mode,) = connection.execute('PRAGMA journal_mode = WAL').fetchone()
    connection.execute('PRAGMA synchronous = FULL')
    return str(mode)


def check_integrity(connection: sqlite3.Connection) -> None:
    """Raises FileDamaged, sqlite3.Error."""
    (verdict,) = connection.execute('PRAGMA quick_check(1)').fetchone()
    if verdict != 'ok':
        raise FileDamaged(verdict)


def open_or_set_aside(
    path: str, at: datetime, open_file: Callable[[], T]
) -> tuple[T, tuple[FileDamaged, str] | None]:
    """What ``open_file`` returns; if it raises FileDamaged, the file is set aside and
    ``open_file`` makes a new one. With the damage and the name that the damaged file has now, if
    it was.
    """
    try:
        return open_file(), None
    except FileDamaged as damage:
        aside = set_aside(path, at)
        return open_file(), (damage, aside)


def lock_file(path: str) -> int:
    """An open file that no other process can lock until this one closes it or ends. Raises
    FileInUse, OSError.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(file, 0)
        os.pwrite(file, f'{os.getpid()}\n'.encode(), 0)
    except BlockingIOError:
        pid = os.pread(file, 20, 0).decode(errors='replace').strip()
        os.close(file)
        raise FileInUse(pid) from None
    except OSError:
        os.close(file)
        raise
    return file
