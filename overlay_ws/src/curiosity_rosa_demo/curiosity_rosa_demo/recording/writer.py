# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Write messages to files in a background thread. ``enqueue`` never waits for the disk."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path
import threading
import time

from curiosity_rosa_demo.domain.text import count_text
from curiosity_rosa_demo.recording.channels import Channel
from curiosity_rosa_demo.recording.file import MAX_MESSAGE_BYTES, MB, RunFile

PERIOD_S = 0.5  # between flushes; a kill -9 loses this much and the time of one flush
MAX_QUEUED_BYTES = 64 * 1024 * 1024  # limit of queued messages
RECORD_OVERHEAD_BYTES = 200  # memory per queued message besides its data
MAX_UNFLUSHED_BYTES = 4 * MB  # a file exceeds its limit by this and one message at most
MAX_REPEATED_MESSAGES = 50  # of the role below
REPEATED_ROLE = 'tf_static'  # its publishers send it once; each file needs it
CLOSE_WAIT_S = 5.0


class RunWriter:
    """Writes queued messages to files that ``create`` makes, and closes them: one that has reached
    ``max_mb`` is finished, and the recording continues in the next. The writer thread calls
    ``create`` for these, and ``notify`` with messages for the operator.

    ``files`` and ``dropped``: so far. ``problem``: the error that ended the recording, or ''.
    """

    def __init__(
        self, create: Callable[[], RunFile], notify: Callable[[str], None], max_mb: float
    ) -> None:
        """Raises OSError when there is no first file."""
        self._create, self._notify, self._max_mb = create, notify, max_mb
        self._file = create()
        self.files, self._earlier_messages = 1, 0
        self._repeated: deque[tuple[Channel, bytes]] = deque(maxlen=MAX_REPEATED_MESSAGES)
        self._lock = threading.Lock()
        self._queue: deque[tuple[Channel, bytes, int]] = deque()
        self._waiting = 0  # bytes
        self.dropped, self._loss = 0, ''  # the first loss, until it is told
        self.problem = ''
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name='recording-writer', daemon=True)
        self._thread.start()

    def enqueue(self, channel: Channel, data: bytes) -> bool:
        """Queue a message that was received now. False if it is too large for a reader, if the
        queue is full or if the recording has ended. Thread-safe.
        """
        size, loss = len(data) + RECORD_OVERHEAD_BYTES, ''
        with self._lock:
            if self.problem or self._closing.is_set():
                return False
            if len(data) > MAX_MESSAGE_BYTES:
                loss = f'A message of {len(data) / MB:.1f} MB on {channel.topic} is too large'
            elif self._waiting + size > MAX_QUEUED_BYTES:
                loss = 'The disk is too slow'
            if loss:
                self._loss = self._loss if self.dropped else loss
                self.dropped += 1
                return False
            self._waiting += size
            self._queue.append((channel, data, time.time_ns()))
            return True

    @property
    def path(self) -> Path:
        """The newest file."""
        return self._file.path

    @property
    def messages(self) -> int:
        """Those in all files."""
        with self._lock:
            return self._earlier_messages + self._file.messages

    @property
    def text(self) -> str:
        """The state of the recording."""
        parts = [
            str(self.path),
            *([f'file {self.files} of this recording'] if self.files > 1 else []),
            f'{self._file.size / MB:.1f} MB',
            count_text(self.messages, 'message'),
            f'{self.dropped} dropped' if self.dropped else 'none dropped',
            *([f'ended by itself: {self.problem}'] if self.problem else []),
        ]
        return ', '.join(parts)

    def close(self, why: str) -> None:
        """Write the queued messages and finish the file, which stores ``why``. Joins the writer
        thread for at most CLOSE_WAIT_S.
        """
        self._why = why
        with self._lock:
            self._closing.set()
        self._thread.join(CLOSE_WAIT_S)
        if self._thread.is_alive() and not self.problem:
            self.problem = f'the disk has not answered for {CLOSE_WAIT_S:g} s'

    def _run(self) -> None:
        try:
            while not self._closing.wait(PERIOD_S):
                self._write()
            self._write()
            self._finish_file(self._why)
        except Exception as error:  # full disk or a bug: end the file, not the process
            with self._lock:
                self.problem = str(error) if isinstance(error, OSError) else repr(error)
                self._queue.clear()
            self._file.close()
            path = self._file.path
            self._notify(f'! The recording ended: {self.problem}. {path} is whole so far.')

    def _write(self) -> None:
        with self._lock:
            batch, self._queue, self._waiting = self._queue, deque(), 0
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
        if self._loss:
            self._notify(f'! {self._loss} for the recording: some messages are left out.')
            self._loss = ''

    def _flush(self) -> None:
        """Flush the file; continue in the next one if it is full."""
        self._file.flush()
        if self._file.size < self._max_mb * MB:
            return
        following = self._create()
        try:
            self._finish_file(f'continued in {following.path.name}')
        except BaseException:
            following.close()
            raise
        with self._lock:
            self._earlier_messages += self._file.messages
            self.files += 1
            self._file = following
        now_ns = time.time_ns()
        for channel, data in self._repeated:
            following.write(channel, data, now_ns)
        limit = f'recording.max_file_mb: {self._max_mb:g}'
        self._notify(f'The recording continues in {following.path} ({limit}).')

    def _finish_file(self, why: str) -> None:
        """``messages`` and ``dropped``: of the whole recording so far."""
        end = {'messages': str(self.messages), 'dropped': str(self.dropped), 'why': why}
        self._file.finish(end)
