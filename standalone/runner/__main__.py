"""scripts/run_demo.sh: rover and nodes behind, the agent's console in front."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config
from runner.options import parse
from runner.plan import Options, agent, background
from runner.supervision import Supervisor, die_with_parent

ROOT = Path(__file__).resolve().parents[2]
FINAL = (0, 1, 2, 130, 143)  # the agent's own exit statuses; anything else is a crash
MAX_CRASHES, CRASH_WINDOW_S = 5, 60.0
# Line wrap, cursor, bracketed paste and colours, as a terminal has them by itself.
SANE = '\x1b[?7h\x1b[?25h\x1b[?2004l\x1b[0m'


class CannotStart(Exception):
    """The message says why, and what to do."""


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the agent's
    options = parse(sys.argv[1:])
    _open_the_standard_streams()
    try:
        nodes = load_config(options.config_dir).nodes.nodes
        planned = background(options, nodes, ROOT)
        news_read, news_write = os.pipe()
        os.set_blocking(news_write, False)

        def command(crash: str) -> list[str]:
            return die_with_parent(agent(options, nodes, ROOT, crash=crash, news_fd=news_read))

        def tell(text: str) -> None:
            with contextlib.suppress(OSError):  # full, while no agent reads
                os.write(news_write, f'{text}\n'.encode())

        command('')  # what is wrong with it is said before anything starts
        with domain_lock() as lock:
            supervisor = Supervisor(planned, log_folder(), tell=tell, keep_open=(lock,))
            try:
                return foreground(options, command, news_read)
            finally:
                supervisor.stop()
    except (ConfigError, CannotStart, OSError) as error:
        print(f'run_demo: {error}', file=sys.stderr)
        return 2


def _open_the_standard_streams() -> None:
    """One that was closed before we began would give its number to a pipe or a lock of ours."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
            os.set_inheritable(descriptor, True)


def domain() -> str:
    """The ROS domain. Raises CannotStart."""
    text = os.environ.get('ROS_DOMAIN_ID') or '0'
    if not (text.isascii() and text.isdigit() and int(text) <= 232):
        raise CannotStart(f'ROS_DOMAIN_ID={text}: must be a number from 0 to 232')
    return str(int(text))


def log_folder() -> Path:
    return ROOT / 'run' / f'domain-{domain()}'


@contextlib.contextmanager
def domain_lock() -> Iterator[int]:
    """One demo in a ROS domain; the descriptor whose holders keep others out."""
    path = Path(tempfile.gettempdir(), f'curiosity-rosa-{os.getuid()}-domain-{domain()}.lock')
    with path.open('w') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotStart(
                f'a demo runs in ROS domain {domain()} already; end it, or set ROS_DOMAIN_ID'
            ) from None
        yield lock.fileno()


def foreground(options: Options, command: Any, news: int) -> int:
    """The agent in this terminal, again after each crash; the exit status of the last one."""
    terminal = _terminal_state()
    crash = ''
    crashes: list[float] = []
    while True:
        process = subprocess.Popen(command(crash), pass_fds=(news,))
        status, told_to_end = _wait(process)
        if told_to_end or (status in FINAL and not (status == 1 and not options.commands)):
            return status if status >= 0 else 128 - status
        _restore(terminal)
        crash = f'signal {-status}' if status < 0 else f'exit status {status}'
        if options.commands:
            answer = f'The agent ended by {crash}.'
            failed = {'ok': False, 'answer': answer, 'score': None, 'image': None, 'trace': None}
            print(json.dumps(failed), flush=True)
            return 1
        crashes = [at for at in crashes if time.monotonic() - at < CRASH_WINDOW_S]
        crashes.append(time.monotonic())
        if len(crashes) > MAX_CRASHES:
            print(f'run_demo: the agent crashed {len(crashes)} times a minute', file=sys.stderr)
            return 1


def _wait(process: subprocess.Popen[bytes]) -> tuple[int, bool]:
    """The agent's exit status, and whether we were told to end: TERM and HUP are handed on."""
    told_to_end = False

    def hand_on(*_: Any) -> None:
        nonlocal told_to_end
        told_to_end = True
        process.send_signal(signal.SIGTERM)

    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, hand_on)
    return process.wait(), told_to_end


def _terminal_state() -> list[Any] | None:
    # None: standard input was closed before we began.
    return termios.tcgetattr(sys.stdin) if sys.stdin is not None and sys.stdin.isatty() else None


def _restore(state: list[Any] | None) -> None:
    """A killed console leaves the terminal raw."""
    if state is not None:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, state)
        if sys.stdout is not None and sys.stdout.isatty():
            print(SANE, flush=True)


if __name__ == '__main__':
    sys.exit(main())
