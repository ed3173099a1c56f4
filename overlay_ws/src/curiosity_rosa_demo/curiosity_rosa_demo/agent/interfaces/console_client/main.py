# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Attach a console to the running agent: ros2 run curiosity_rosa_demo console."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import getpass
import json
import os
import secrets
import socket
import sys
import threading
import time

from curiosity_rosa_demo.agent.interfaces.console_client.remote_console import (
    AgentApi,
    AgentRefused,
    AgentUnavailable,
    DEFAULT_URL,
    OPERATOR_VARIABLE,
    RemoteConsole,
    TOKEN_VARIABLE,
    URL_VARIABLE,
)
from curiosity_rosa_demo.agent.interfaces.terminal.terminal import (
    InterruptHandler,
    run_commands,
    run_pipe,
    run_terminal,
)
from curiosity_rosa_demo.agent.interfaces.terminal.writer import ConsoleWriter, use_utf8
from curiosity_rosa_demo.domain.text import visible

LAST_TEXTS = 10  # of the agent's console, shown when a person attaches
RETRY_S = 0.5
QUIET_S, QUIET_LIMIT_S = 0.5, 3.0  # the text of the last answer arrives within
EXIT_INTERRUPTED = 130


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    options = _parse(arguments)
    use_utf8(sys.stdin, sys.stdout)
    try:
        client = f'console-{secrets.token_hex(2)}'
        api = AgentApi(options.url, client=client, operator=options.operator)
    except ValueError as error:
        return _fail(f'--url: {error}')
    writer = ConsoleWriter()
    console = RemoteConsole(api, writer.write)
    is_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    interactive = is_terminal and not options.command
    try:
        _attach(console, LAST_TEXTS if interactive else 0, options.wait)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except AgentUnavailable as error:
        return _fail(f'{error}; start it, or name its address with --url')
    except AgentRefused as error:
        old = error.status == 404
        return _fail('the agent is older than this console: it has no /console' if old else error)
    writer.start()
    try:
        return _run_lines(console, options.command, interactive=interactive)
    finally:
        console.close()
        writer.close()


def _run_lines(console: RemoteConsole, commands: list[str], *, interactive: bool) -> int:
    interrupts = InterruptHandler(console, exit_at_once=bool(commands))
    try:
        if interactive:
            console.print_notice('Attached to the agent; :help lists the commands.')
            run_terminal(console, lambda: console.status, interrupts)
            console.print_notice('Detached; the agent goes on. STOP is on its page, too.')
            return 0
        if not commands:
            run_pipe(console)
            console.wait_until_quiet(QUIET_S, QUIET_LIMIT_S)
            return 0
        outcome = run_commands(console, commands)
        console.wait_until_quiet(QUIET_S, QUIET_LIMIT_S)
    except KeyboardInterrupt:
        interrupts.wait_for_stop()
        return EXIT_INTERRUPTED
    result = {'ok': outcome.ok, 'answer': outcome.answer, 'score': outcome.score}
    console.print_notice(visible(json.dumps(result, ensure_ascii=False)))
    return 0 if outcome.ok else 1


def _attach(console: RemoteConsole, last: int, wait_s: float) -> None:
    """Raises AgentUnavailable if no agent answers within ``wait_s``, AgentRefused at once."""
    deadline, told = time.monotonic() + wait_s, False
    while True:
        try:
            console.attach(last)
            return
        except AgentUnavailable:
            left = deadline - time.monotonic()
            if left <= 0.0:
                raise
        if not told:
            told = True
            print('console: waiting for the agent', file=sys.stderr, flush=True)
        threading.Event().wait(min(RETRY_S, left))


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    default = os.environ.get(URL_VARIABLE, DEFAULT_URL)
    parser = argparse.ArgumentParser(
        prog='console', description='Attach a console to the running agent.'
    )
    parser.add_argument(
        '--url',
        default=default,
        help=f'address of the agent (default: ${URL_VARIABLE}, else {DEFAULT_URL}); '
        f'the token is read from ${TOKEN_VARIABLE}',
    )
    parser.add_argument(
        '--operator',
        metavar='NAME',
        default=os.environ.get(OPERATOR_VARIABLE) or _user_at_host(),
        help='your name, for the other operators to see '
        f'(default: ${OPERATOR_VARIABLE}, else user@host)',
    )
    parser.add_argument(
        '-c', '--command', action='append', default=[], help='run this command and exit'
    )
    parser.add_argument(
        '--wait',
        metavar='SECONDS',
        type=float,
        default=0.0,
        help='how long to wait for an agent that does not answer yet (default 0)',
    )
    return parser.parse_args(arguments)


def _user_at_host() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user ID without a name
        user = str(os.getuid())
    return f'{user}@{socket.gethostname()}'


def _fail(problem: object) -> int:
    print(f'console: {problem}', file=sys.stderr, flush=True)
    return 1


if __name__ == '__main__':
    main()
