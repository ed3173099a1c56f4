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
from typing import TextIO

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.trace.trace_codec import decode, encode


class TraceRecorder:
    """Appends to ``path``, making its folder. Raises OSError where that cannot be done."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        torn = _ends_in_mid_line(self.path)
        self._file: TextIO = self.path.open('a', encoding='utf-8', buffering=1)
        if torn:
            self._file.write('\n')  # else the next event would be lost with the torn one

    def record(self, event: TraceEvent) -> None:
        self._file.write(encode(event) + '\n')

    def close(self) -> None:
        self._file.close()


def _ends_in_mid_line(path: Path) -> bool:
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
