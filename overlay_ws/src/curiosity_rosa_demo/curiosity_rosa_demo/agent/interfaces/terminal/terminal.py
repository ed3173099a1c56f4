# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Sources of console lines: a terminal, a pipe, a list of commands; or none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
import contextlib
import os
from pathlib import Path
import queue
import signal
import sys
import threading
import time
from typing import Any

from curiosity_rosa_demo.agent.interfaces.terminal.commands import (
    COMMANDS,
    EMPTY_LINE,
    is_stop_line,
)
from curiosity_rosa_demo.agent.interfaces.terminal.options import READY_MESSAGE
from curiosity_rosa_demo.agent.interfaces.terminal.syntax import Spec
from curiosity_rosa_demo.agent.interfaces.terminal.writer import LineConsole
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.infra.files import state_folder

END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SIGNAL_POLL_S = 0.2
DOUBLE_PRESS_S = 3.0
BLOCKED_GRACE_S = 5.0  # a command of -c that waits for a person for so long has failed
STOP_TIMEOUT_S = 5.0  # of the stop after Ctrl-C
NO_OUTCOME = 'A stop ended it.'
STATUS_HINT = ':help for commands, Ctrl-C stops the rover'


class InterruptHandler:
    """Handles Ctrl-C: the first stops the rover and the turn, a second within 3 s exits.

    ``exit_at_once``: the first exits as well, so that no further command begins.
    """

    def __init__(self, console: LineConsole, *, exit_at_once: bool = False) -> None:
        self._console, self._exit_at_once = console, exit_at_once
        self._stopping: threading.Thread | None = None
        self._last = -DOUBLE_PRESS_S
        signal.signal(signal.SIGINT, self._on_signal)

    def on_interrupt(self) -> bool:
        """Handle one Ctrl-C. Returns whether it exits."""
        now = time.monotonic()
        again = now - self._last < DOUBLE_PRESS_S
        self._last = now
        if not again:
            self._stopping = threading.Thread(target=self._stop, name='stop', daemon=True)
            self._stopping.start()
        return again or self._exit_at_once

    def wait_for_stop(self) -> None:
        """Wait until the stop of the first Ctrl-C is done, STOP_TIMEOUT_S at most."""
        if self._stopping is not None:
            self._stopping.join(STOP_TIMEOUT_S)

    def _stop(self) -> None:
        outcome = self._console.stop('Ctrl-C')
        state = 'the rover is stopped' if outcome.ok else outcome.answer
        hint = '' if self._exit_at_once else '; press it again to exit'
        self._console.print_notice(f'(Ctrl-C: {state}{hint})')

    def _on_signal(self, *_: object) -> None:
        if self.on_interrupt():
            raise KeyboardInterrupt


def wait_for_go_ahead(console: LineConsole, opened: threading.Event) -> None:
    """Wait until the agent is ready, print READY_MESSAGE, and wait for a line of standard input.

    Several agents on one machine slow each other down while they start, so none drives until all
    are ready.
    """
    while not opened.wait(0.5):  # a bounded wait lets signal handlers run
        pass
    console.print_notice(READY_MESSAGE)
    if sys.stdin is not None:
        sys.stdin.readline()


def run_commands(
    console: LineConsole, commands: list[str], *, grace_s: float = BLOCKED_GRACE_S
) -> Outcome:
    """Run each command to its end. Returns the answer of the last one; ``ok``: none failed.

    A command that waits for a person for ``grace_s`` has failed: its task is cancelled, and no
    further command begins.
    """
    _wait(console)
    outcomes: list[Outcome] = []
    for command in commands:
        console.print_notice(f'> {command}')
        if not console.handle_line(command):
            break
        if why := _wait_for_end_or_block(console, grace_s):
            console.print_notice(f'! {why}')
            console.cancel_requests('No person was there to resume it')
            outcomes.append(Outcome(False, why))
            break
        ended = NO_OUTCOME if command.strip() else EMPTY_LINE
        outcomes.append(console.take_outcome() or Outcome(False, ended))
    ok = bool(outcomes) and all(outcome.ok for outcome in outcomes)
    return Outcome(ok, outcomes[-1].answer if outcomes else '')


def run_pipe(console: LineConsole, *, grace_s: float = BLOCKED_GRACE_S) -> None:
    """Run the lines of standard input until its end. A stop takes effect while a line runs.

    Then what waits for a person for ``grace_s`` is left: it is held for the next start.
    """
    _wait(console)
    for line in sys.stdin or ():  # None: standard input was closed at the start
        if not console.handle_line(line):
            break
    console.reject_questions()
    if why := _wait_for_end_or_block(console, grace_s):
        console.print_notice(f'! {why}')


def run_terminal(
    console: LineConsole,
    status: Callable[[], str],
    interrupts: InterruptHandler,
    commands: Mapping[str, Spec] = COMMANDS,
    skills: Iterable[str] = (),
) -> None:
    """Read lines from a terminal, with editing, history, completion of ``commands`` and ``skills``
    and a status line. ``status`` is the text of that line; '' stands for a hint.
    """
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.patch_stdout import patch_stdout

    def toolbar() -> str:
        return f' {status() or STATUS_HINT}'

    choices = {name: spec.choices for name, spec in commands.items()} | {'submit': (*skills,)}
    prompt: Any = PromptSession(
        history=FileHistory(str(_history_file())),
        completer=WordCompleter(
            [
                *(f':{name}' for name in commands),
                *(f':{name} {choice}' for name in commands for choice in choices[name]),
            ],
            sentence=True,
        ),
        complete_while_typing=False,
        bottom_toolbar=toolbar,
        refresh_interval=1.0,
    )
    exit_requested = False

    def leave(*_: object) -> None:
        # An exception raised inside the prompt's event loop would leave the prompt hanging.
        nonlocal exit_requested
        exit_requested = True
        app = prompt.app
        if app.loop is None or not app.is_running:
            raise SystemExit(143)
        app.loop.call_soon_threadsafe(lambda: app.is_done or app.exit(exception=EOFError()))

    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, leave)
    with patch_stdout(), _errors_above_the_prompt(console):
        while not exit_requested:
            try:
                line = prompt.prompt('rover> ')
            except KeyboardInterrupt:
                if interrupts.on_interrupt():
                    return
                continue
            except EOFError:
                break
            except OSError:  # the terminal is gone
                exit_requested = True
                break
            if not _handle_entry(console, line):
                return
    if exit_requested:
        raise SystemExit(143)


def _handle_entry(console: LineConsole, text: str) -> bool:
    """Run the lines of ``text``: a paste has several. Those before its last stop are dropped, as a
    stop ends what was entered before it. Returns False after ``:quit``.
    """
    lines = text.splitlines()
    dropped = max((at for at, line in enumerate(lines[1:], 1) if is_stop_line(line)), default=0)
    goes_on = all(console.handle_line(line) for line in lines[dropped:])
    if dropped:
        console.print_notice(f'({dropped} pasted before the stop dropped)')
    return goes_on


def print_addresses(url: str, action: str) -> None:
    """Print the addresses of the agent to standard error. ``url`` is empty without a page."""
    page = f'at {url} and from' if url else 'without a page, only from'
    print(f'agent: headless; orders come {page} the action {action}', file=sys.stderr, flush=True)


def wait_for_a_signal() -> None:
    """Block until one of END_SIGNALS arrives. Call it in the main thread.

    The handler uses SimpleQueue.put, which is reentrant, because a second signal can interrupt
    the handler of the first. The wait is bounded and repeated: a signal that arrives just before
    a wait does not end it.
    """
    signals: queue.SimpleQueue[int] = queue.SimpleQueue()
    for signum in END_SIGNALS:
        signal.signal(signum, lambda number, _: signals.put(number))
    while True:
        with contextlib.suppress(queue.Empty):
            signals.get(timeout=SIGNAL_POLL_S)
            return


@contextlib.contextmanager
def _errors_above_the_prompt(console: LineConsole) -> Iterator[None]:
    """Redirect file descriptor 2 to notices: rclpy and DDS write there."""
    read_fd, write_fd = os.pipe()
    before = os.dup(2)
    os.dup2(write_fd, 2)
    os.close(write_fd)

    def pump() -> None:
        with open(read_fd, encoding='utf-8', errors='replace') as lines:
            for line in lines:
                console.print_notice(line.rstrip())

    thread = threading.Thread(target=pump, name='stderr', daemon=True)
    thread.start()
    try:
        yield
    finally:
        os.dup2(before, 2)  # closes the pipe, which ends the thread
        os.close(before)
        thread.join(timeout=1.0)


def _wait_for_end_or_block(console: LineConsole, grace_s: float) -> str:
    """Wait until the console is idle. Returns why it stays blocked for ``grace_s``, else ''."""
    blocked_since: float | None = None
    while not console.wait_until_idle(min(0.5, grace_s)):
        why, now = console.blocked_reason(), time.monotonic()
        if not why:
            blocked_since = None
        elif blocked_since is None:
            blocked_since = now
        elif now - blocked_since >= grace_s:
            return why
    return ''


def _wait(console: LineConsole) -> None:
    # A bounded wait in a loop: an unbounded one would keep Python from handling signals.
    while not console.wait_until_idle(0.5):
        pass


def _history_file() -> Path:
    try:
        path = state_folder() / 'history'
        path.touch(mode=0o600)
    except OSError:
        return Path(os.devnull)
    return path
