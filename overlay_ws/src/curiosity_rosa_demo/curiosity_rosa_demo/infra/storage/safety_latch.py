# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The safety latch: the reason for SAFE and its time, in a file so that both survive a restart."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
import os
from pathlib import Path
import threading

UNREADABLE = 'the safety file cannot be read: {path}; look at the rover, then clear'
SINCE = '\nsince '  # between the reason and the time, as ISO 8601


class SafetyLatch:
    """Holds the reason for SAFE; ``reason`` is empty while unlatched. ``since``: when the latch
    was set; None: unlatched, or the file has no time. A file that is empty or unreadable also
    latches.
    """

    def __init__(
        self,
        path: Path,
        now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
    ) -> None:
        self._path, self._now = path, now
        self._writing = threading.Lock()
        self.since: datetime | None = None
        try:
            reason, self.since = _parsed(path.read_text(encoding='utf-8'))
            self.reason = reason or UNREADABLE.format(path=path)
        except FileNotFoundError:
            self.reason = ''
        except (OSError, UnicodeDecodeError):
            self.reason = UNREADABLE.format(path=path)

    def set(self, reason: str) -> None:
        """Change the reason in memory only; ``save`` writes it to the disk."""
        if not reason:
            self.since = None
        elif not self.reason:
            self.since = self._now()
        self.reason = reason

    def save(self) -> None:
        """Write the reason to the disk; it is durable on return. Concurrent calls run in turn, and
        each writes the newest reason. Raises OSError.
        """
        with self._writing:
            reason, since = self.reason, self.since
            if not reason:
                self._path.unlink(missing_ok=True)
            else:
                fresh = self._path.with_name(f'{self._path.name}.new')
                with fresh.open('w', encoding='utf-8') as file:
                    file.write(reason if since is None else f'{reason}{SINCE}{since.isoformat()}')
                    file.flush()
                    os.fsync(file.fileno())
                fresh.replace(self._path)
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def _parsed(text: str) -> tuple[str, datetime | None]:
    """The reason and the time. Without a readable time, all of the text is the reason."""
    reason, _, stamp = text.rpartition(SINCE)
    try:
        since = datetime.fromisoformat(stamp.strip())
    except ValueError:
        return text.strip(), None
    return reason.strip(), since if since.tzinfo else None
