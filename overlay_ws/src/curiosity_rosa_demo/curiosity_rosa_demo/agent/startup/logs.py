# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The agent's log: key=value lines in a file. No thread that logs waits for the disk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
import logging
from logging.handlers import QueueHandler, RotatingFileHandler
from pathlib import Path
import queue

from curiosity_rosa_demo.domain.text import without_controls
from curiosity_rosa_demo.infra.event_thread import DrainThread

CLOSE_TIMEOUT_S = 3.0
LOGGER_NAME = 'curiosity_rosa'
MAX_BYTES, MAX_BACKUPS = 1_000_000, 3
LOG_FORMAT = '%(asctime)s %(levelname)s %(name)s %(message)s'


class IndentingFormatter(logging.Formatter):
    """Formats a record so that no text in it can look like another record: each line after the
    first is indented.
    """

    def format(self, record: logging.LogRecord) -> str:
        first, *more = super().format(record).split('\n')
        return '\n    '.join(map(without_controls, [first, *more]))


class LogFile:
    """Writes all records of the logger ``LOGGER_NAME`` and its children to a file.

    ``debug``: also those at debug level, and all of them to standard error too. Raises OSError
    when the file cannot be opened.
    """

    def __init__(self, path: Path, *, debug: bool = False) -> None:
        self._file = RotatingFileHandler(
            path, maxBytes=MAX_BYTES, backupCount=MAX_BACKUPS, encoding='utf-8'
        )
        # Open until the process ends: faulthandler writes to its descriptor.
        self.stack_stream = path.open('a', encoding='utf-8')
        outputs: list[logging.Handler] = [self._file]
        if debug:
            outputs.append(logging.StreamHandler())
        for output in outputs:
            output.setFormatter(IndentingFormatter(LOG_FORMAT))
        lines: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
        self._thread = DrainThread('log', partial(_write, lines, outputs))
        self._handler = _WakingHandler(lines, self._thread)
        self._logger = logging.getLogger(LOGGER_NAME)
        self._logger.addHandler(self._handler)
        self._logger.setLevel(logging.DEBUG if debug else logging.INFO)
        self._logger.propagate = False

    def close(self) -> None:
        self._logger.removeHandler(self._handler)
        self._logger.propagate = True
        self._thread.wait(CLOSE_TIMEOUT_S)
        self._file.close()


def _write(
    lines: queue.SimpleQueue[logging.LogRecord], outputs: Sequence[logging.Handler]
) -> None:
    while not lines.empty():  # one thread at a time reads
        record = lines.get()
        for output in outputs:
            output.handle(record)


class _WakingHandler(QueueHandler):
    def __init__(self, lines: queue.SimpleQueue[logging.LogRecord], thread: DrainThread) -> None:
        super().__init__(lines)
        self._thread = thread

    def enqueue(self, record: logging.LogRecord) -> None:
        super().enqueue(record)
        self._thread.wake()
