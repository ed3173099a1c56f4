"""Where the console's lines come from: a terminal, a pipe, or a list of commands."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.agent.commands import COMMANDS
from curiosity_rosa_demo.agent.console import Console
from curiosity_rosa_demo.agent.session import Session

TWICE_WITHIN_S = 3.0


class Interrupts:
    """Ctrl-C: once stops the rover and then the turn, twice leaves."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = -TWICE_WITHIN_S
        self._stopping: threading.Thread | None = None

    def press(self) -> bool:
        """One Ctrl-C; True when the user wants to leave."""
        now = time.monotonic()
        again = now - self._last < TWICE_WITHIN_S
        self._last = now
        if again:
            return True
        self._stopping = threading.Thread(target=self._stop, daemon=True)
        self._stopping.start()
        return False

    def _stop(self) -> None:
        outcome = self._console.stop('Ctrl-C')
        state = 'the rover is stopped' if outcome.ok else outcome.answer
        self._console.notice(f'(Ctrl-C: {state}; again to leave)')


def run_commands(console: Console, commands: list[str]) -> None:
    """Run each command to its end; the outcome of the last one is ``console.last``."""
    _on_sigint(Interrupts(console))
    for command in commands:
        console.notice(f'> {command}')
        if not console.enter(command):
            break
        _wait(console)


def run_pipe(console: Console) -> None:
    """Lines of standard input until its end. A stop is taken while another line still runs."""
    _on_sigint(Interrupts(console))
    for line in sys.stdin:
        if not console.enter(line):
            break
    _wait(console)


def run_terminal(console: Console, session: Session) -> None:
    """Line editing, history, completion, and a status line while something runs."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.patch_stdout import patch_stdout

    interrupts = Interrupts(console)

    def toolbar() -> str:
        activity = session.activity
        if activity is None:
            return ' :help for commands, Ctrl-C stops the rover'
        return f' {activity.what}  {time.monotonic() - activity.since:.0f} s'

    prompt: Any = PromptSession(
        history=FileHistory(str(_history_file())),
        completer=WordCompleter([f':{name}' for name in COMMANDS], sentence=True),
        complete_while_typing=False,
        bottom_toolbar=toolbar,
        refresh_interval=0.5,
    )
    with patch_stdout(raw=True):
        while True:
            try:
                line = prompt.prompt('rover> ')
            except KeyboardInterrupt:
                if interrupts.press():
                    return
                continue
            except EOFError:
                return
            if not console.enter(line):
                return


def _wait(console: Console) -> None:
    # A bounded wait in a loop: a plain one would not let Python handle the signal.
    while not console.wait(0.5):
        pass


def _on_sigint(interrupts: Interrupts) -> None:
    def handle(*_: object) -> None:
        if interrupts.press():
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, handle)


def _history_file() -> Path:
    state = os.environ.get('XDG_STATE_HOME') or os.path.expanduser('~/.local/state')
    path = Path(state, 'curiosity_rosa', 'history')
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError:
        return Path(os.devnull)
    return path
