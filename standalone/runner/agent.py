# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The agent process of one rover in the foreground, restarted after each crash."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import json
import signal
import subprocess
import sys
import termios
import time
from typing import Any, TextIO

FINAL = (0, 1, 2, 130, 143)  # the agent's own exit statuses; anything else is a crash
MAX_CRASHES, CRASH_WINDOW_S = 5, 60.0
# Resets line wrap, cursor, bracketed paste and colours of a terminal.
SANE = '\x1b[?7h\x1b[?25h\x1b[?2004l\x1b[0m'


@dataclass(frozen=True)
class Streams:
    """The standard streams of the agent; None: inherited from this process."""

    lines: int | None = None
    out: TextIO | None = None
    errors: TextIO | None = None


class Agent:
    """Runs the agent. ``command`` makes its command line from the text of the last crash.

    ``commands``: the agent has console commands to run, and is not restarted after a crash.
    ``news``: descriptor from which the agent reads about the other processes.
    """

    def __init__(
        self,
        command: Callable[[str], list[str]],
        *,
        commands: bool,
        process_events_fd: int,
        streams: Streams,
    ) -> None:
        self._command, self._commands = command, commands
        self._process_events_fd = process_events_fd
        self._streams = streams
        self._process: subprocess.Popen[bytes] | None = None
        self._end_requested = False

    def run(self) -> int:
        """Run until the agent ends without a restart. Returns its exit status, as in a shell."""
        out, errors = self._streams.out, self._streams.errors
        terminal = _terminal_state() if self._streams.lines is None else None
        crash = ''
        crashes: list[float] = []
        while not self._end_requested:
            status = self._run_once(crash)
            final = status in FINAL and not (status == 1 and not self._commands)
            if self._end_requested or final:
                return status if status >= 0 else 128 - status
            _restore(terminal)
            crash = f'signal {-status}' if status < 0 else f'exit status {status}'
            if self._commands:
                print(json.dumps(failed(f'The agent ended by {crash}.')), file=out, flush=True)
                return 1
            crashes = [at for at in crashes if time.monotonic() - at < CRASH_WINDOW_S]
            crashes.append(time.monotonic())
            if len(crashes) > MAX_CRASHES:
                text = f'run_demo: the agent crashed {len(crashes)} times a minute'
                print(text, file=errors or sys.stderr, flush=True)
                return 1
        return 143

    def _run_once(self, crash: str) -> int:
        self._process = process = subprocess.Popen(
            self._command(crash),
            pass_fds=(self._process_events_fd,),
            stdin=self._streams.lines,
            stdout=self._streams.out,
            stderr=self._streams.errors,
        )
        if self._end_requested:  # while the process was starting
            process.terminate()
        return process.wait()

    def end(self) -> None:
        """End the agent with SIGTERM. Safe in any thread and in a signal handler."""
        self._end_requested = True
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)


def failed(answer: str) -> dict[str, Any]:
    """The result of commands that did not finish."""
    return {'ok': False, 'answer': answer, 'score': None, 'image': None, 'trace': None}


def _terminal_state() -> list[Any] | None:
    # sys.stdin is None if standard input was closed before the start.
    return termios.tcgetattr(sys.stdin) if sys.stdin is not None and sys.stdin.isatty() else None


def _restore(state: list[Any] | None) -> None:
    """Restore the terminal: a killed console leaves it in raw mode."""
    if state is not None:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, state)
        if sys.stdout is not None and sys.stdout.isatty():
            print(SANE, flush=True)
