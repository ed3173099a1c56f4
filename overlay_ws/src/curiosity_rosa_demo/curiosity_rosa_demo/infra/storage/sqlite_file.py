# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A SQLite file for one process: open, make durable, check, lock, and set aside when damaged."""

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
    """Another process holds the lock. ``pid``: its process ID, or '' if unknown."""

    def __init__(self, pid: str) -> None:
        super().__init__(f'in use by process {pid or "?"}')
        self.pid = pid


def connect(database: str, *, patience_s: float, is_uri: bool = False) -> sqlite3.Connection:
    """Open a connection without implicit transactions, for use from any thread. ``patience_s``:
    the longest wait while another program has locked the file. Raises sqlite3.Error.
    """
    return sqlite3.connect(
        database, uri=is_uri, timeout=patience_s, isolation_level=None, check_same_thread=False
    )


def make_durable(connection: sqlite3.Connection) -> str:
    """Enable the write-ahead log and sync it on each commit. Returns the journal mode, which is
    not 'wal' if the file system lacks shared memory. Raises sqlite3.Error.
    """
    (mode,) = connection.execute('PRAGMA journal_mode = WAL').fetchone()
    connection.execute('PRAGMA synchronous = FULL')
    return str(mode)


def check_integrity(connection: sqlite3.Connection) -> None:
    """Run SQLite's quick check. Raises FileDamaged, sqlite3.Error."""
    (verdict,) = connection.execute('PRAGMA quick_check(1)').fetchone()
    if verdict != 'ok':
        raise FileDamaged(verdict)


def open_or_set_aside(
    path: str, at: datetime, open_file: Callable[[], T]
) -> tuple[T, tuple[FileDamaged, str] | None]:
    """Call ``open_file``. If it raises FileDamaged, set the file aside and call it again.

    Returns the result, and None or the damage with the new path of the damaged file. Raises
    OSError and the errors of ``open_file``.
    """
    try:
        return open_file(), None
    except FileDamaged as damage:
        aside = set_aside(path, at)
        return open_file(), (damage, aside)


def lock_file(path: str) -> int:
    """Lock ``path`` and write the process ID into it. Returns the file descriptor; the lock ends
    when it is closed or the process exits. Raises FileInUse, OSError.
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
