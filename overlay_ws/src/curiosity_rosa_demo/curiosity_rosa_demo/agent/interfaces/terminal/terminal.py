# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Where the console's lines come from: a terminal, a pipe, or a list of commands."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import os
from pathlib import Path
import signal
import sys
import threading
import time
from typing import Any

from curiosity_rosa_demo.agent.interfaces.terminal.commands import COMMANDS
from curiosity_rosa_demo.agent.interfaces.terminal.options import READY_MESSAGE
from curiosity_rosa_demo.agent.react.turn.texts import question_summary
from curiosity_rosa_demo.agent.runtime.execution.session import AgentSession
from curiosity_rosa_demo.agent.runtime.operator_console import OperatorConsole
from curiosity_rosa_demo.infra.storage.paths import state_folder

DOUBLE_PRESS_S = 3.0


class InterruptHandler:
    """Ctrl-C: once stops the rover and then the turn, twice leaves."""

    def __init__(self, console: OperatorConsole) -> None:
        self._console = console
        self._last = -DOUBLE_PRESS_S
        signal.signal(signal.SIGINT, self._on_signal)

    def on_interrupt(self) -> bool:
        """One Ctrl-C; True when the user wants to leave."""
        now = time.monotonic()
        again = now - self._last < DOUBLE_PRESS_S
        self._last = now
        if not again:
            threading.Thread(target=self._stop, daemon=True).start()
        return again

    def _stop(self) -> None:
        outcome = self._console.stop('Ctrl-C')
        state = 'the rover is stopped' if outcome.ok else outcome.answer
        self._console.print_notice(f'(Ctrl-C: {state}; press it again to exit)')

    def _on_signal(self, *_: object) -> None:
        if self.on_interrupt():
            raise KeyboardInterrupt


def wait_for_go_ahead(console: OperatorConsole, opened: threading.Event) -> None:
    """Say that the agent is ready, when it is, and wait for a line: several agents on one machine
    slow each other down while they start, and should not drive meanwhile.
    """
    while not opened.wait(0.5):  # bounded, for the signals
        pass
    console.print_notice(READY_MESSAGE)
    if sys.stdin is not None:
        sys.stdin.readline()


def run_commands(console: OperatorConsole, commands: list[str]) -> None:
    """Run each command to its end; the outcome of the last one is ``console.last``."""
    _wait(console)
    for command in commands:
        console.print_notice(f'> {command}')
        if not console.handle_line(command):
            break
        _wait(console)


def run_pipe(console: OperatorConsole) -> None:
    """Lines of standard input until its end. A stop is taken while another line still runs."""
    _wait(console)
    for line in sys.stdin or ():  # None: it was closed before we began
        if not console.handle_line(line):
            break
    console.reject_questions()
    _wait(console)


def run_terminal(
    console: OperatorConsole, session: AgentSession, interrupts: InterruptHandler
) -> None:
    """Line editing, history, completion, and a status line while something runs."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.patch_stdout import patch_stdout

    def toolbar() -> str:
        if (asked := console.pending_question) is not None:
            return f' {question_summary(asked)}'
        activity = session.current_activity
        if activity is None:
            return ' :help for commands, Ctrl-C stops the rover'
        return f' {activity.description}  {time.monotonic() - activity.since:.0f} s'

    prompt: Any = PromptSession(
        history=FileHistory(str(_history_file())),
        completer=WordCompleter([f':{name}' for name in COMMANDS], sentence=True),
        complete_while_typing=False,
        bottom_toolbar=toolbar,
        refresh_interval=1.0,
    )
    told_to_end = False

    def leave(*_: object) -> None:
        # An exception raised in the midst of the prompt's event loop would leave it hanging.
        nonlocal told_to_end
        told_to_end = True
        app = prompt.app
        if app.loop is None or not app.is_running:
            raise SystemExit(143)
        app.loop.call_soon_threadsafe(lambda: app.is_done or app.exit(exception=EOFError()))

    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, leave)
    with patch_stdout(), _errors_above_the_prompt(console):
        while not told_to_end:
            try:
                line = prompt.prompt('rover> ')
            except KeyboardInterrupt:
                if interrupts.on_interrupt():
                    return
                continue
            except EOFError:
                break
            except OSError:  # the terminal is gone
                told_to_end = True
                break
            if not console.handle_line(line):
                return
    if told_to_end:
        raise SystemExit(143)


@contextlib.contextmanager
def _errors_above_the_prompt(console: OperatorConsole) -> Iterator[None]:
    """What rclpy and DDS write to the error stream by themselves would tear the prompt."""
    ours, theirs = os.pipe()
    before = os.dup(2)
    os.dup2(theirs, 2)
    os.close(theirs)

    def pump() -> None:
        with open(ours, encoding='utf-8', errors='replace') as lines:
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


def _wait(console: OperatorConsole) -> None:
    # A bounded wait in a loop: a plain one would not let Python handle the signal.
    while not console.wait_until_idle(0.5):
        pass


def _history_file() -> Path:
    try:
        path = state_folder() / 'history'
        path.touch(mode=0o600)
    except OSError:
        return Path(os.devnull)
    return path
