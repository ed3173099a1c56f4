# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The agent's log: key=value lines in a file, written by a separate thread."""

from __future__ import annotations

import logging
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path
import queue

from curiosity_rosa_demo.domain.text import without_controls

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
        self._handler = QueueHandler(lines)
        self._listener = QueueListener(lines, *outputs)
        self._logger = logging.getLogger(LOGGER_NAME)
        self._logger.addHandler(self._handler)
        self._logger.setLevel(logging.DEBUG if debug else logging.INFO)
        self._logger.propagate = False
        self._listener.start()

    def close(self) -> None:
        self._logger.removeHandler(self._handler)
        self._logger.propagate = True
        self._listener.stop()
        self._file.close()
