"""Fast DDS leaves shared-memory files behind, most of them when it is killed; swept up here."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

SHM = Path('/dev/shm')
LOCKS = ('_el', '_sl')


def sweep(folder: Path = SHM) -> int:
    """Remove this user's Fast DDS files that nobody uses any more; how many.

    A living owner of ``fastrtps_NAME`` has it mapped, and holds a lock on ``fastrtps_NAME_el``
    (exclusive) or ``fastrtps_NAME_sl`` (shared); a lock that we can take means that it is gone.
    """
    removed = 0
    mapped = _mapped(str(folder / 'fastrtps_'))
    for name in {file.name.removesuffix('_el').removesuffix('_sl') for file in _ours(folder)}:
        data = folder / name
        locks = [folder / f'{name}{end}' for end in LOCKS]
        if str(data) not in mapped and all(_abandoned(lock) for lock in locks):
            for file in (data, folder / f'sem.{name}_mutex', *locks):
                with contextlib.suppress(FileNotFoundError):  # another sweep
                    file.unlink()
                    removed += 1
    return removed


def _ours(folder: Path) -> list[Path]:
    ours = []
    for file in folder.glob('fastrtps_*'):
        with contextlib.suppress(FileNotFoundError):
            if file.stat().st_uid == os.getuid() and file.is_file():
                ours.append(file)
    return ours


def _mapped(prefix: str) -> set[str]:
    """Paths that begin so and that some process of ours has in its memory."""
    paths = set()
    for maps in Path('/proc').glob('[0-9]*/maps'):
        with contextlib.suppress(OSError):  # it has ended, or is not ours
            for line in maps.read_text(errors='replace').splitlines():
                path = line.partition(prefix)
                if path[1]:
                    paths.add(prefix + path[2])
    return paths


def _abandoned(lock: Path) -> bool:
    try:
        with lock.open('rb') as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return True
    except OSError:  # held, or not ours
        return False
    return True
