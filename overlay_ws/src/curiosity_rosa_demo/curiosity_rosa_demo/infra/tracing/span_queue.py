# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Ended spans on their way to an exporter, which may wait for a disk or a network."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from curiosity_rosa_demo.infra.drain_thread import DrainThread
from curiosity_rosa_demo.infra.tracing.span import Span

MAX_PENDING = 2048  # spans; further ones are lost, and counted
BATCH = 64  # spans that wake the thread; so does the end of a task
END_TIMEOUT_S = 1.0


class SpanExporter(Protocol):
    def export(self, spans: Sequence[Span]) -> None:
        """Write or send the spans; may block. Raises an exception if they are lost."""

    def close(self) -> None: ...


class SpanQueue:
    """``add`` never waits. The thread lives while there is something to export. ``failed`` gets
    the errors and the number of lost spans.
    """

    def __init__(self, exporter: SpanExporter, failed: Callable[[int, Exception], None]) -> None:
        self._exporter, self._failed = exporter, failed
        self._pending: deque[Span] = deque()
        self._thread = DrainThread('spans', self._export)

    def add(self, span: Span, *, task_ended: bool = False) -> None:
        pending = self._pending
        if len(pending) >= MAX_PENDING:
            self._failed(1, BufferError(f'more than {MAX_PENDING} spans wait for the exporter'))
            return
        pending.append(span)
        if task_ended or len(pending) >= BATCH:
            self._thread.wake()

    def flush(self, timeout_s: float) -> bool:
        """Export what is there; False after ``timeout_s``."""
        self._thread.wake()
        return self._thread.wait(timeout_s)

    def close(self) -> None:
        """Export what is there, for END_TIMEOUT_S at most."""
        self.flush(END_TIMEOUT_S)
        self._exporter.close()

    def _export(self) -> None:
        while self._pending:
            batch = [self._pending.popleft() for _ in range(min(BATCH, len(self._pending)))]
            try:
                self._exporter.export(batch)
            except Exception as error:
                self._failed(len(batch), error)
