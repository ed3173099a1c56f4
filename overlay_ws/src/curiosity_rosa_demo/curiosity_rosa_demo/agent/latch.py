"""Why nothing may move, kept in a file: a latch that a restart released would be none."""

from __future__ import annotations

import os
import threading
from pathlib import Path

UNREADABLE = 'the safety file cannot be read: {path}; look at the rover, then clear'


class Latch:
    """``reason`` is empty when there is none. A file that is there but tells nothing latches."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writing = threading.Lock()
        try:
            self.reason = path.read_text(encoding='utf-8').strip() or UNREADABLE.format(path=path)
        except FileNotFoundError:
            self.reason = ''
        except (OSError, UnicodeDecodeError):
            self.reason = UNREADABLE.format(path=path)

    def set(self, reason: str) -> None:
        """In memory at once; ``save`` puts it on the disk."""
        self.reason = reason

    def save(self) -> None:
        """Safe on the disk when it returns; the last of several that are called at once counts.
        Raises OSError."""
        with self._writing:
            reason = self.reason
            if not reason:
                self._path.unlink(missing_ok=True)
            else:
                fresh = self._path.with_name(f'{self._path.name}.new')
                with fresh.open('w', encoding='utf-8') as file:
                    file.write(reason)
                    file.flush()
                    os.fsync(file.fileno())
                fresh.replace(self._path)
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
