# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""JSONL log of trace events, written one whole line at a time."""

from __future__ import annotations

from pathlib import Path
import threading

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.trace.trace_codec import decode, encode


class JsonlTraceLog:
    """Appends to ``path`` and creates its folder. Raises OSError when that fails."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()  # turns, stops, the kernel and the policy all trace
        self._torn = _ends_mid_line(self.path)
        # Unbuffered: bytes that a full disk rejected must not be written later, in mid line.
        self._file = self.path.open('ab', buffering=0)

    def write(self, event: TraceEvent) -> None:
        """Append one event. Thread-safe; ignored after ``close``. Raises OSError when the write
        fails; a later event may still be recorded.
        """
        line = encode(event).encode() + b'\n'
        with self._lock:
            if self._file.closed:
                return
            if self._torn:
                line = b'\n' + line  # separate this event from the torn line
            written = 0
            try:
                while written < len(line):
                    written += self._file.write(line[written:]) or 0
            finally:
                if written:
                    self._torn = written < len(line)

    def close(self) -> None:
        with self._lock:
            self._file.close()


def _ends_mid_line(path: Path) -> bool:
    """Whether the last writer left an incomplete line."""
    if not path.is_file() or path.stat().st_size == 0:
        return False
    with path.open('rb') as file:
        file.seek(-1, 2)
        return file.read() != b'\n'


def read_trace(path: str | Path) -> list[TraceEvent]:
    """The events of a recorded file; a torn line becomes an ERROR event. Raises OSError."""
    # A line may be torn within a character: replace the character, and let decode report the line.
    with Path(path).open(encoding='utf-8', errors='replace') as file:
        return [decode(line) for line in file if line.strip()]
