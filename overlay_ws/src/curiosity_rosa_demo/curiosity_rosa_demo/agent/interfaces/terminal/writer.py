# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Standard output from a separate thread: a blocked terminal does not block the callers."""

from __future__ import annotations

import io
import os
import queue
import shutil
import signal
import sys
import threading
from typing import Protocol, TextIO

from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.domain.text import printable_lines
from curiosity_rosa_demo.drawing.columns import columns_of
from curiosity_rosa_demo.trace.trace_buffer import EventBus
from wcwidth import wrap

CLOSE_TIMEOUT_S = 3.0
CONTINUATION = '    '  # before the rest of a long line: an event stands two columns in


def use_utf8(*streams: TextIO | None) -> None:
    """Whatever the locale says: a character that cannot be read or printed must end nothing."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):  # None: it was closed at the start
            stream.reconfigure(encoding='utf-8', errors='replace')


class ConsoleWriter:
    """Prints from ``start`` on what is queued, also before. ``printed`` gets each text at once."""

    def __init__(self, printed: EventBus | None = None) -> None:
        self._printed = printed
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name='console-writer', daemon=True)

    def start(self) -> None:
        self._thread.start()

    def write(self, text: str) -> None:
        """Queue ``text`` for printing, in the order of the calls. Callable from any thread.

        No control sequence reaches the terminal. A text from outside has no line break here:
        Console and the builders of its tables have removed it.
        """
        text = printable_lines(text)
        self._lines.put(text)
        if self._printed is not None:
            self._printed.publish(text)

    def close(self) -> None:
        """Wait until all text is printed, CLOSE_TIMEOUT_S at most."""
        self._lines.put(None)
        if self._thread.ident is not None:
            self._thread.join(CLOSE_TIMEOUT_S)

    def _run(self) -> None:
        while (text := self._lines.get()) is not None:
            try:
                print(_wrapped(text), flush=True)
            except (OSError, ValueError):  # the reader has closed the pipe or stream
                null_fd = os.open(os.devnull, os.O_WRONLY)
                if null_fd != 1:  # it is 1 when descriptor 1 was closed
                    os.dup2(null_fd, 1)
                    os.close(null_fd)
                os.kill(os.getpid(), signal.SIGTERM)
                return


def _wrapped(text: str) -> str:
    """In a terminal, lines longer than it is wide break between words."""
    if sys.stdout is None or not sys.stdout.isatty():
        return text
    columns = shutil.get_terminal_size().columns
    return '\n'.join(
        '\n'.join(wrap(line, columns, subsequent_indent=CONTINUATION))
        if columns_of(line) > columns
        else line
        for line in text.split('\n')
    )


# -----------------------------------------------------------------------------------------------
# What a source of lines needs of a console: that of this process, or of a running agent.


class LineConsole(Protocol):
    """Every method is thread-safe."""

    def handle_line(self, line: str) -> bool:
        """Run a line of the operator. Returns False for ``:quit``."""

    def stop(self, by: str) -> Outcome:
        """Stop the rover and end all tasks. Blocks until the rover's answer."""

    def print_notice(self, text: str) -> None:
        """Print a text that is not the outcome of a command."""

    def wait_until_idle(self, timeout_s: float | None = None) -> bool:
        """Wait until all requests of the operator have ended; False after ``timeout_s``."""

    def take_outcome(self) -> Outcome | None:
        """The outcome of the operator's last request; None: there is none since the last call."""

    def blocked_reason(self) -> str:
        """Why the operator's requests wait for a person; '': they do not."""

    def cancel_requests(self, why: str) -> None:
        """Cancel the unfinished tasks that the operator asked for."""

    def reject_questions(self) -> None:
        """No further line of this console can answer a question."""
