# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The numbers of SQLite's C interface that a file layer needs. https://www.sqlite.org/c3ref"""

from __future__ import annotations

from typing import Final

OK: Final = 0
BUSY: Final = 5
IOERR: Final = 10
NOTFOUND: Final = 12
FULL: Final = 13
CANTOPEN: Final = 14
IOERR_READ: Final = IOERR | 1 << 8
IOERR_SHORT_READ: Final = IOERR | 2 << 8
IOERR_WRITE: Final = IOERR | 3 << 8
IOERR_FSYNC: Final = IOERR | 4 << 8
IOERR_TRUNCATE: Final = IOERR | 6 << 8
IOERR_DELETE_NOENT: Final = IOERR | 23 << 8

OPEN_READONLY: Final = 0x1
OPEN_CREATE: Final = 0x4
OPEN_DELETEONCLOSE: Final = 0x8
OPEN_EXCLUSIVE: Final = 0x10
OPEN_MAIN_JOURNAL: Final = 0x800
OPEN_SUPER_JOURNAL: Final = 0x4000
OPEN_WAL: Final = 0x80000

IOCAP_POWERSAFE_OVERWRITE: Final = 0x1000

LOCK_NONE: Final = 0
LOCK_SHARED: Final = 1
LOCK_RESERVED: Final = 2
LOCK_PENDING: Final = 3
LOCK_EXCLUSIVE: Final = 4

SHM_UNLOCK: Final = 1
SHM_LOCK: Final = 2
SHM_SHARED: Final = 4
SHM_EXCLUSIVE: Final = 8


class DiskError(Exception):
    """An operation failed with SQLite's result ``code``."""

    def __init__(self, code: int) -> None:
        super().__init__(f'SQLite result code {code}')
        self.code = code
