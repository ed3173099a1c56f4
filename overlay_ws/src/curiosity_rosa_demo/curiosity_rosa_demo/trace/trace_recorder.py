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
        self._file: TextIO = self.path.open('a', encoding='utf-8', buffering=1)

    def record(self, event: TraceEvent) -> None:
        self._file.write(encode(event) + '\n')

    def close(self) -> None:
        self._file.close()


def read_trace(path: str | Path) -> list[TraceEvent]:
    """The events of a recorded file; a torn last line becomes an ERROR event."""
    with Path(path).open(encoding='utf-8') as file:
        return [decode(line) for line in file if line.strip()]
