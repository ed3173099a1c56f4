# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""JSONL log of trace events."""

from __future__ import annotations

from pathlib import Path

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.trace.json_lines import JsonLines
from curiosity_rosa_demo.trace.trace_codec import decode, encode

MAX_TAIL_BYTES = 8_000_000  # read back after a restart


class JsonlTraceLog(JsonLines):
    """As JsonLines, of trace events."""

    def write(self, event: TraceEvent) -> None:
        """Append one event. Thread-safe; ignored after ``close``. Raises OSError when the write
        fails; a later event may still be recorded.
        """
        self.append(encode(event).encode())


def read_trace(path: str | Path) -> list[TraceEvent]:
    """The events of a recorded file; a torn line becomes an ERROR event. Raises OSError."""
    # A line may be torn within a character: replace the character, and let decode report the line.
    with Path(path).open(encoding='utf-8', errors='replace') as file:
        return [decode(line) for line in file if line.strip()]


def read_newest(path: str | Path, count: int) -> list[TraceEvent]:
    """The newest ``count`` events of a log, also of the file before it was rotated, of at most
    MAX_TAIL_BYTES in each; the oldest first. Empty when it cannot be read, such as before the
    first run. A torn line becomes an ERROR event.
    """
    lines = _newest_lines(Path(path))[-count:]
    if len(lines) < count:
        lines = [*_newest_lines(Path(f'{path}.1')), *lines][-count:]
    return [decode(line.decode(errors='replace')) for line in lines]


def _newest_lines(file_path: Path) -> list[bytes]:
    try:
        if not file_path.is_file():  # a pipe has no end
            return []
        with file_path.open('rb') as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - MAX_TAIL_BYTES))
            lines = file.read(MAX_TAIL_BYTES).split(b'\n')
    except OSError:
        return []
    if size > MAX_TAIL_BYTES:
        lines = lines[1:]  # its beginning is cut off
    return [line for line in lines if line.strip()]
