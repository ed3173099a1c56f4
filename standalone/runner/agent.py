# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The agent of one rover in front, again after each crash."""

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
# Line wrap, cursor, bracketed paste and colours, as a terminal has them by itself.
SANE = '\x1b[?7h\x1b[?25h\x1b[?2004l\x1b[0m'


@dataclass(frozen=True)
class Streams:
    """What the agent reads and where it writes; None: what we have ourselves."""

    lines: int | None = None
    out: TextIO | None = None
    errors: TextIO | None = None


class Agent:
    """``command`` is that of the process, given how the one before it ended. ``commands``: it
    has some to carry out, and is not started again.
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
        self._told_to_end = False

    def run(self) -> int:
        """Until it ends for good; the exit status of the last one, as a shell has it."""
        out, errors = self._streams.out, self._streams.errors
        terminal = _terminal_state() if self._streams.lines is None else None
        crash = ''
        crashes: list[float] = []
        while not self._told_to_end:
            status = self._run_once(crash)
            final = status in FINAL and not (status == 1 and not self._commands)
            if self._told_to_end or final:
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
        if self._told_to_end:  # meanwhile
            process.terminate()
        return process.wait()

    def end(self) -> None:
        """Have it leave; from any thread, and from a signal's handler."""
        self._told_to_end = True
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)


def failed(answer: str) -> dict[str, Any]:
    """The result of commands that came to no end."""
    return {'ok': False, 'answer': answer, 'score': None, 'image': None, 'trace': None}


def _terminal_state() -> list[Any] | None:
    # None: standard input was closed before we began.
    return termios.tcgetattr(sys.stdin) if sys.stdin is not None and sys.stdin.isatty() else None


def _restore(state: list[Any] | None) -> None:
    """A killed console leaves the terminal raw."""
    if state is not None:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, state)
        if sys.stdout is not None and sys.stdout.isatty():
            print(SANE, flush=True)
