# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Why nothing may move, kept in a file: a latch that a restart released would be none."""

from __future__ import annotations

import os
from pathlib import Path
import threading

UNREADABLE = 'the safety file cannot be read: {path}; look at the rover, then clear'


class SafetyLatch:
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
        Raises OSError.
        """
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
