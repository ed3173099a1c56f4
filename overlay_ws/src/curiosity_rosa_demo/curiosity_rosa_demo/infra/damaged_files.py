"""A database file that cannot be read is put aside, never overwritten: somebody may want it."""

from __future__ import annotations

import itertools
import os
from datetime import datetime

_ENDS = ('-wal', '-shm', '')  # SQLite's log and index, and the database itself


class Damaged(Exception):
    """The file is no database, not a sound one, or one of something else."""


def set_aside(path: str, at: datetime) -> str:
    """Rename the file and what belongs to it; the new name, which tells the time ``at`` (UTC).
    Nothing is ever overwritten. Raises OSError."""
    stem = f'{path}.corrupt-{at:%Y%m%dT%H%M%SZ}'
    names = (stem if number == 1 else f'{stem}-{number}' for number in itertools.count(1))
    aside = next(name for name in names if not any(os.path.lexists(name + end) for end in _ENDS))
    # The database comes last: its old log beside a new database would be replayed into it.
    for end in _ENDS:
        if os.path.lexists(path + end):
            os.rename(path + end, aside + end)
    return aside
