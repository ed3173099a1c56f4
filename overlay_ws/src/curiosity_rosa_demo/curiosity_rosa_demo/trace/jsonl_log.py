# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Trace events to a JSONL file, one whole line at a time."""

from __future__ import annotations

from pathlib import Path
import threading

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.trace.trace_codec import decode, encode


class JsonlTraceLog:
    """Appends to ``path``, making its folder. Raises OSError where that cannot be done."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()  # turns, stops, the kernel and the policy all trace
        self._torn = _ends_mid_line(self.path)
        # Unbuffered: what a full disk has not taken must not come out later, in mid line.
        self._file = self.path.open('ab', buffering=0)

    def write(self, event: TraceEvent) -> None:
        """From any thread; an event after ``close`` is left out. Raises OSError when the disk does
        not take the event: the next one may be recorded all the same.
        """
        line = encode(event).encode() + b'\n'
        with self._lock:
            if self._file.closed:
                return
            if self._torn:
                line = b'\n' + line  # else this event would be lost with the torn one
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
    """Whether the last writer was killed within a line."""
    if not path.is_file() or path.stat().st_size == 0:
        return False
    with path.open('rb') as file:
        file.seek(-1, 2)
        return file.read() != b'\n'


def read_trace(path: str | Path) -> list[TraceEvent]:
    """The events of a recorded file; a torn line becomes an ERROR event. Raises OSError."""
    # A line may be torn within a character: replace, and let decode say what is left.
    with Path(path).open(encoding='utf-8', errors='replace') as file:
        return [decode(line) for line in file if line.strip()]
