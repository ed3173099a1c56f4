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
from enum import Enum
import errno
import fcntl
import itertools
import os
import sqlite3
from typing import TypeVar

# -----------------------------------------------------------------------------------------------
# Move an unreadable database aside. It is never overwritten, so it can still be recovered.


_SQLITE_SUFFIXES = ('-wal', '-shm', '')  # write-ahead log, shared memory, database


class FileDamaged(Exception):
    """The file is not a database, is corrupt, or belongs to another program."""


def set_aside(path: str, at: datetime) -> str:
    """Rename the database with its log and shared memory. Returns the new path, which contains the
    time ``at`` (UTC). Never overwrites a file. Raises OSError.
    """
    stem = f'{path}.corrupt-{at:%Y%m%dT%H%M%SZ}'
    names = (stem if number == 1 else f'{stem}-{number}' for number in itertools.count(1))
    aside = next(
        name for name in names if not any(os.path.lexists(name + end) for end in _SQLITE_SUFFIXES)
    )
    # The database comes last: SQLite would replay an old log into a new database.
    for end in _SQLITE_SUFFIXES:
        if os.path.lexists(path + end):
            os.rename(path + end, aside + end)
    return aside


# --- Classify SQLite errors by SQLite's result codes. Pure -------------------------------------
# Python has the code from 3.11 on (``sqlite_errorcode``). On 3.10, and for errors that Python's
# sqlite3 module itself raises, the text is matched. https://www.sqlite.org/rescode.html


class FileFault(Enum):
    FULL = 'no space is left, or the disk failed'
    READ_ONLY = 'the file or its folder cannot be written, or not be opened'
    LOCKED = 'another program has the file'
    DAMAGED = 'the file is no database, or not a sound one'
    OTHER = 'anything else'


_FAULTS_BY_CODE = {  # the primary result codes
    5: FileFault.LOCKED,  # SQLITE_BUSY
    6: FileFault.LOCKED,  # SQLITE_LOCKED
    8: FileFault.READ_ONLY,  # SQLITE_READONLY
    10: FileFault.FULL,  # SQLITE_IOERR
    11: FileFault.DAMAGED,  # SQLITE_CORRUPT
    13: FileFault.FULL,  # SQLITE_FULL
    14: FileFault.READ_ONLY,  # SQLITE_CANTOPEN
    26: FileFault.DAMAGED,  # SQLITE_NOTADB
}
_FAULTS_BY_TEXT = {
    'is full': FileFault.FULL,
    'disk I/O': FileFault.FULL,
    'readonly': FileFault.READ_ONLY,
    'unable to open': FileFault.READ_ONLY,
    'locked': FileFault.LOCKED,
    'malformed': FileFault.DAMAGED,
    'not a database': FileFault.DAMAGED,
    'decode to UTF-8': FileFault.DAMAGED,  # raised by Python, without a code
}
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_OTHER_TABLES = ('no such table', 'no such column')  # SQLite has no code for these


def fault_of(error: BaseException) -> FileFault:
    """Classify an error of SQLite or of the operating system, or a FileDamaged."""
    if isinstance(error, FileDamaged):
        return FileFault.DAMAGED
    if isinstance(error, OSError):
        return FileFault.FULL if error.errno in _NO_SPACE else FileFault.READ_ONLY
    if not isinstance(error, sqlite3.Error):
        return FileFault.OTHER
    code = getattr(error, 'sqlite_errorcode', None)
    if code is not None:
        return _FAULTS_BY_CODE.get(code & 0xFF, FileFault.OTHER)
    text = str(error)
    return next(
        (fault for part, fault in _FAULTS_BY_TEXT.items() if part in text), FileFault.OTHER
    )


def has_other_tables(error: BaseException) -> bool:
    """Whether the file is a valid database with other tables than ours."""
    text = str(error)
    return isinstance(error, sqlite3.Error) and any(part in text for part in _OTHER_TABLES)


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
