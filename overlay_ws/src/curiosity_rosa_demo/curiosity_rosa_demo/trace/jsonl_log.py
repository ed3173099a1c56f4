# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A rotating file of lines of JSON, such as trace events; each line is written whole."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from pathlib import Path
import threading

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.trace.trace_codec import decode, encode

MAX_FILE_BYTES, MAX_FILES = 100_000_000, 5


class JsonLines:
    """Appends to ``path`` and creates its folder. Raises OSError when that fails.

    Before the file exceeds ``max_bytes`` it becomes PATH.1, PATH.1 becomes PATH.2 and so on;
    ``max_files`` files remain. A pipe or device does not rotate.
    """

    def __init__(
        self, path: str | Path, *, max_bytes: int = MAX_FILE_BYTES, max_files: int = MAX_FILES
    ) -> None:
        self.path, self._max_bytes, self._max_files = Path(path), max_bytes, max_files
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()  # turns, stops, the kernel and the policy all trace
        # Unbuffered: bytes that a full disk rejected must not be written later, in mid line.
        self._file = self.path.open('ab', buffering=0)
        self._size = self.path.stat().st_size  # bytes
        self._torn = False  # the last writer left an incomplete line
        if self._size and self.path.is_file():
            with self.path.open('rb') as file:
                file.seek(-1, 2)
                self._torn = file.read() != b'\n'

    def append(self, line: bytes) -> None:
        """Append ``line``, or several, without the last end of line. Thread-safe; ignored after
        ``close``. Raises OSError when the write fails; a later line may still be written.
        """
        line += b'\n'
        with self._lock:
            if self._file.closed:
                return
            if self._size and self._size + len(line) > self._max_bytes and self.path.is_file():
                self._rotate()
            if self._torn:
                line = b'\n' + line  # separate it from the torn line
            written = 0
            try:
                while written < len(line):
                    written += self._file.write(line[written:]) or 0
            finally:
                self._size += written
                if written:
                    self._torn = written < len(line)

    def _rotate(self) -> None:
        """Start a new file. Raises OSError; if it cannot be created, the old ones stay."""
        fresh = Path(f'{self.path}.new')
        file = fresh.open('wb', buffering=0)
        names = [self.path, *(Path(f'{self.path}.{n}') for n in range(1, self._max_files))]
        for older, newer in zip(reversed(names), reversed(names[:-1]), strict=False):
            if newer.exists():
                newer.replace(older)
        fresh.replace(self.path)
        self._file.close()
        self._file, self._size, self._torn = file, 0, False

    def write(self, event: TraceEvent) -> None:
        """As ``append``, of a trace event."""
        self.append(encode(event).encode())

    def close(self) -> None:
        with self._lock:
            self._file.close()


def read_newest(path: str | Path, count: int | None = None) -> list[TraceEvent]:
    """The newest ``count`` events of a log (all when None), also of the file before it was
    rotated; the oldest first. Empty when it cannot be read, such as before the first run. A line
    that cannot be read becomes an event of the type UNREADABLE, of now.
    """
    newest: deque[str] = deque(maxlen=count)
    for each in (Path(f'{path}.1'), Path(path)):
        with suppress(OSError):
            if each.is_file():  # a pipe has no end
                # A line may be torn within a character, too: decode reports the line.
                with each.open(encoding='utf-8', errors='replace') as file:
                    newest.extend(filter(str.strip, file))
    return [decode(line) for line in newest]
