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

from curiosity_rosa_demo.recording.channels import Channel
from curiosity_rosa_demo.recording.file import LIMITS, MB, RunFile

PERIOD_S = 0.5  # between flushes; a kill -9 loses this much and the time of one flush
MAX_QUEUED_BYTES = 64 * 1024 * 1024  # limit of queued messages
RECORD_OVERHEAD_BYTES = 200  # memory per queued message besides its data
MAX_UNFLUSHED_BYTES = 4 * MB  # a file exceeds its limit by this and one message at most
MAX_REPEATED_MESSAGES = 50  # of the role below
REPEATED_ROLE = 'tf_static'  # its publishers send it once; each file needs it
CLOSE_WAIT_S = 5.0


@dataclass(frozen=True)
class Progress:
    """State of a recording: its newest file with the size in bytes, the number of its files and
    the messages in all of them. ``problem``: the error that ended it, or ''.
    """

    path: Path
    size: int
    messages: int
    dropped: int
    problem: str
    files: int = 1


class RunWriter:
    """Writes queued messages to ``file``, which it owns and closes. A file that has reached
    ``max_bytes`` is finished, and the recording continues in ``next_file()``. The writer thread
    calls ``next_file``, and ``notify`` with messages for the operator.
    """

    def __init__(
        self,
        file: RunFile,
        notify: Callable[[str], None],
        *,
        period_s: float = PERIOD_S,
        max_waiting: int = MAX_QUEUED_BYTES,
        max_bytes: int | None = None,
        next_file: Callable[[], RunFile] | None = None,
    ) -> None:
        self._file, self._notify = file, notify
        self._max_bytes, self._next_file = max_bytes, next_file
        self._files, self._earlier_messages = 1, 0
        self._repeated: deque[tuple[Channel, bytes]] = deque(maxlen=MAX_REPEATED_MESSAGES)
        self._too_large = ''  # the first message that was too large, as text
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
        """Queue a message. Returns False if it is too large for a reader, if the queue is full or
        if the recording has ended.
        ``at_ns``: nanoseconds since the epoch; by default now. Thread-safe.
        """
        at_ns = time.time_ns() if at_ns is None else at_ns
        size = len(data) + RECORD_OVERHEAD_BYTES
        with self._lock:
            if self._problem or self._closing.is_set():
                return False
            if len(data) > LIMITS.message:
                self._dropped += 1
                self._too_large = self._too_large or f'{len(data) / MB:.1f} MB on {channel.topic}'
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
            messages = self._earlier_messages + file.messages
            return Progress(
                file.path, file.size, messages, self._dropped, self._problem, self._files
            )

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
            self._finish_file(self._why)
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
            dropped, too_large = self._dropped, self._too_large
        unflushed = 0
        for channel, data, at_ns in batch:
            self._file.write(channel, data, at_ns)
            if channel.role == REPEATED_ROLE:
                self._repeated.append((channel, data))
            unflushed += len(data)
            if unflushed >= MAX_UNFLUSHED_BYTES:
                self._flush()
                unflushed = 0
        self._flush()
        if dropped and not self._reported_drops:
            self._reported_drops = True
            why = (
                f'A message of {too_large} is too large for the recording'
                if too_large
                else 'The disk is too slow for the recording'
            )
            self._notify(f'! {why}: some messages are left out.')

    def _flush(self) -> None:
        """Flush the file; continue in the next one if it is full."""
        self._file.flush()
        if self._next_file is None or self._max_bytes is None or self._file.size < self._max_bytes:
            return
        following = self._next_file()
        try:
            self._finish_file(f'continued in {following.path.name}')
        except BaseException:
            following.close()
            raise
        with self._lock:
            self._earlier_messages += self._file.messages
            self._files += 1
            self._file = following
        now_ns = time.time_ns()
        for channel, data in self._repeated:
            following.write(channel, data, now_ns)

    def _finish_file(self, why: str) -> None:
        """``messages`` and ``dropped``: of the whole recording so far."""
        done = self.progress
        end = {'messages': str(done.messages), 'dropped': str(done.dropped), 'why': why}
        self._file.finish(end)
