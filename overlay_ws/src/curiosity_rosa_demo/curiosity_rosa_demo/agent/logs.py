"""The agent's log: key=value lines in a file, written by a thread of its own."""

from __future__ import annotations

import logging
import queue
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path

LOGGER = 'curiosity_rosa'
MAX_BYTES, KEPT = 1_000_000, 3
FORMAT = '%(asctime)s %(levelname)s %(name)s %(message)s'


class LogFile:
    """Takes all that is logged below ``LOGGER``. Raises OSError when it cannot be opened."""

    def __init__(self, path: Path) -> None:
        self._file = RotatingFileHandler(
            path, maxBytes=MAX_BYTES, backupCount=KEPT, encoding='utf-8'
        )
        self._file.setFormatter(logging.Formatter(FORMAT))
        lines: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
        self._handler = QueueHandler(lines)
        self._listener = QueueListener(lines, self._file)
        self._logger = logging.getLogger(LOGGER)
        self._logger.addHandler(self._handler)
        self._logger.setLevel(logging.INFO)
        self._logger.propagate = False
        self._listener.start()

    def close(self) -> None:
        self._logger.removeHandler(self._handler)
        self._logger.propagate = True
        self._listener.stop()
        self._file.close()
