# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Move an unreadable database aside. It is never overwritten, so it can still be recovered."""

from __future__ import annotations

from datetime import datetime
import itertools
import os

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
