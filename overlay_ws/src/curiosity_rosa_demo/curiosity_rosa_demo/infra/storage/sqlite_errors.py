# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Classify SQLite errors by SQLite's result codes. Pure.

Python has the code from 3.11 on (``sqlite_errorcode``). On 3.10, and for errors that Python's
sqlite3 module itself raises, the text is matched. https://www.sqlite.org/rescode.html
"""

from __future__ import annotations

from enum import Enum
import errno
import sqlite3

from curiosity_rosa_demo.infra.storage.quarantine import FileDamaged


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
