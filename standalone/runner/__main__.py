"""scripts/run_demo.sh: rover and nodes behind, the agent's console in front."""

from __future__ import annotations

import argparse
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
from curiosity_rosa_demo.infra.config_models import NodeSpec
from runner.plan import Options, agent, background
from runner.shared_memory import sweep
from runner.supervision import Supervisor, die_with_parent

ROOT = Path(__file__).resolve().parents[2]
FINAL = (0, 1, 2, 130, 143)  # the agent's own exit statuses; anything else is a crash
MAX_CRASHES, CRASH_WINDOW_S = 5, 60.0


class AlreadyRunning(Exception):
    """Another demo runs in this ROS domain."""


def main() -> int:
    options = parse(sys.argv[1:])
    try:
        nodes = load_config(options.config_dir).nodes.nodes
        with domain_lock():
            supervisor = Supervisor(background(options, nodes, ROOT), log_folder())
            try:
                return foreground(options, nodes)
            finally:
                supervisor.stop()
                sweep()
    except (ConfigError, AlreadyRunning, FileNotFoundError) as error:
        print(f'run_demo: {error}', file=sys.stderr)
        return 2


def parse(arguments: list[str]) -> Options:
    parser = argparse.ArgumentParser(
        prog='run_demo.sh',
        description='Start the rover and its nodes and open the console of the agent.',
    )
    parser.add_argument(
        '-c', metavar='COMMAND', action='append', default=[],
        help='run this console command and leave; the last line printed is one JSON object',
    )  # fmt: skip
    parser.add_argument('--speed', type=float, default=1.0, help='simulated time, 0.1 to 20')
    parser.add_argument('--artifacts', metavar='DIR', default='', help='capture.jpg, trace.jsonl')
    parser.add_argument('--config-dir', metavar='DIR', default='', help='your YAML contracts')
    parser.add_argument(
        '--no-stand-in', action='store_true', help='a rover is here already (the Gazebo demo)'
    )
    parser.add_argument(
        '--stand-in', metavar='NAME=VALUE', action='append', default=[],
        help='a parameter of the stand-in rover, e.g. initial_x=-3.0',
    )  # fmt: skip
    given = parser.parse_args(arguments)
    if not 0.1 <= given.speed <= 20.0:
        parser.error(f'--speed {given.speed:g}: must be from 0.1 to 20')
    for each in given.stand_in:
        if '=' not in each:
            parser.error(f'--stand-in {each}: must be NAME=VALUE')
    if given.no_stand_in and (given.speed != 1.0 or given.stand_in):
        parser.error('--speed and --stand-in are for the stand-in rover')
    return Options(
        commands=tuple(given.c),
        speed=given.speed,
        artifacts=os.path.abspath(given.artifacts) if given.artifacts else '',
        stand_in=not given.no_stand_in,
        config_dir=os.path.abspath(given.config_dir) if given.config_dir else '',
        stand_in_parameters=tuple(given.stand_in),
    )


def domain() -> str:
    return os.environ.get('ROS_DOMAIN_ID') or '0'


def log_folder() -> Path:
    return ROOT / 'run' / f'domain-{domain()}'


@contextlib.contextmanager
def domain_lock() -> Iterator[None]:
    path = Path(tempfile.gettempdir(), f'curiosity-rosa-{os.getuid()}-domain-{domain()}.lock')
    with path.open('w') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(
                f'a demo runs in ROS domain {domain()} already; end it, or set ROS_DOMAIN_ID'
            ) from None
        yield


def foreground(options: Options, nodes: list[NodeSpec]) -> int:
    """The agent in this terminal, again after each crash; the exit status of the last one."""
    terminal = _terminal_state()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the agent's
    crash = ''
    crashes: list[float] = []
    while True:
        process = subprocess.Popen(
            die_with_parent(agent(options, nodes, ROOT, crash)),
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        status = _wait(process)
        if status in FINAL and not (status == 1 and not options.commands):
            return status
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


def _wait(process: subprocess.Popen[bytes]) -> int:
    """The agent's exit status. TERM and HUP are handed on to it."""

    def hand_on(signum: int, _: Any) -> None:
        process.send_signal(signal.SIGTERM)

    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, hand_on)
    return process.wait()


def _terminal_state() -> list[Any] | None:
    return termios.tcgetattr(sys.stdin) if sys.stdin.isatty() else None


def _restore(state: list[Any] | None) -> None:
    """A killed console leaves the terminal raw."""
    if state is not None:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, state)
        print()


if __name__ == '__main__':
    sys.exit(main())
