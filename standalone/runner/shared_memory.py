"""Fast DDS leaves shared-memory files behind when a process is killed; these are swept here."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

SHM = Path('/dev/shm')


def sweep(folder: Path = SHM) -> int:
    """Remove this user's Fast DDS files that no process holds any more; how many.

    A living owner holds a lock on ``<name>_el`` (exclusive) or ``<name>_sl`` (shared) beside its
    file; a lock that we can take means that the owner is gone.
    """
    removed = 0
    for lock in [*folder.glob('fastrtps_*_el'), *folder.glob('fastrtps_*_sl')]:
        with contextlib.suppress(OSError):
            if lock.stat().st_uid == os.getuid() and _abandoned(lock):
                data = folder / lock.name[:-3]
                for file in (data, folder / f'sem.{data.name}_mutex', lock):
                    if file.exists():
                        file.unlink()
                        removed += 1
    return removed


def _abandoned(lock: Path) -> bool:
    with lock.open('rb') as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
