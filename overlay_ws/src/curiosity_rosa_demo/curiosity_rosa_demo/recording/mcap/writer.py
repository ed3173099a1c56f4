# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Write messages to a file in a background thread. ``enqueue`` never waits for the disk."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
import threading
import time

from curiosity_rosa_demo.recording.mcap.channels import Channel
from curiosity_rosa_demo.recording.mcap.file import RunFile

PERIOD_S = 0.5  # between flushes; a kill -9 loses this much and the time of one flush
MAX_QUEUED_BYTES = 64 * 1024 * 1024  # limit of queued messages
RECORD_OVERHEAD_BYTES = 200  # memory per queued message besides its data
CLOSE_WAIT_S = 5.0


@dataclass(frozen=True)
class Progress:
    """State of a recording; ``size`` is in bytes. ``problem``: the error that ended it, or ''."""

    path: Path
    size: int
    messages: int
    dropped: int
    problem: str


class RunWriter:
    """Writes queued messages to ``file``, which it owns and closes. The writer thread calls
    ``notify`` with messages for the operator.
    """

    def __init__(
        self,
        file: RunFile,
        notify: Callable[[str], None],
        *,
        period_s: float = PERIOD_S,
        max_waiting: int = MAX_QUEUED_BYTES,
    ) -> None:
        self._file, self._notify = file, notify
        self._period_s, self._max_waiting = period_s, max_waiting
        self._lock = threading.Lock()
        self._queue: deque[tuple[Channel, bytes, int]] = deque()
        self._waiting = 0
        self._dropped = 0
        self._reported_drops = False
        self._problem = ''
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name='recording-writer', daemon=True)
        self._thread.start()

    def enqueue(self, channel: Channel, data: bytes, at_ns: int | None = None) -> bool:
        """Queue a message. Returns False if the queue is full or the recording has ended.
        ``at_ns``: nanoseconds since the epoch; by default now. Thread-safe.
        """
        at_ns = time.time_ns() if at_ns is None else at_ns
        size = len(data) + RECORD_OVERHEAD_BYTES
        with self._lock:
            if self._problem or self._closing.is_set():
                return False
            if self._waiting + size > self._max_waiting:
                self._dropped += 1
                return False
            self._waiting += size
            self._queue.append((channel, data, at_ns))
            return True

    @property
    def progress(self) -> Progress:
        file = self._file
        with self._lock:
            return Progress(file.path, file.size, file.messages, self._dropped, self._problem)

    def close(self, why: str) -> Progress:
        """Write the queued messages and finish the file, which stores ``why``. Joins the writer
        thread for at most CLOSE_WAIT_S.
        """
        self._why = why
        with self._lock:
            self._closing.set()
        self._thread.join(CLOSE_WAIT_S)
        if self._thread.is_alive() and not self._problem:
            self._problem = f'the disk has not answered for {CLOSE_WAIT_S:g} s'
        return self.progress

    def _run(self) -> None:
        try:
            while not self._closing.wait(self._period_s):
                self._write()
            self._write()
            done = self.progress
            end = {'messages': str(done.messages), 'dropped': str(done.dropped), 'why': self._why}
            self._file.finish(end)
        except Exception as error:  # full disk or a bug: end the file, not the process
            with self._lock:
                self._problem = str(error) if isinstance(error, OSError) else repr(error)
                self._queue.clear()
            self._file.close()
            path = self._file.path
            self._notify(f'! The recording ended: {self._problem}. {path} is whole so far.')

    def _write(self) -> None:
        with self._lock:
            batch, self._queue, self._waiting = self._queue, deque(), 0
            dropped = self._dropped
        for channel, data, at_ns in batch:
            self._file.write(channel, data, at_ns)
        self._file.flush()
        if dropped and not self._reported_drops:
            self._reported_drops = True
            self._notify('! The disk is too slow for the recording: some messages are left out.')
