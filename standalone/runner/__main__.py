# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The program of scripts/run_demo.sh: nodes in the background, the agent's console in front."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import errno
import os
from pathlib import Path
import signal
import socket
import sys
import time

from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config

from runner.clock import with_time
from runner.demo import Demo, ROOT
from runner.discovery import discovery_server
from runner.options import parse
from runner.plan import of_each, Options
from runner.rovers import Rovers
from runner.shared_memory import remove_dead_segments


class CannotStart(Exception):
    """The demo cannot start. The message gives the reason and the fix."""


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the agent handles Ctrl-C
    options = parse(sys.argv[1:])
    _open_the_standard_streams()
    try:
        config = load_config(options.config_dir, robot=options.robot)
        with contextlib.ExitStack() as stack:
            lock = stack.enter_context(domain_lock())
            stack.callback(remove_dead_segments, time.time())
            return (_several if options.rovers else _one)(options, config, lock, stack)
    except (ConfigError, CannotStart, OSError) as error:
        print(f'run_demo: {error}', file=sys.stderr)
        return 2


def _one(options: Options, config: Config, lock: int, stack: contextlib.ExitStack) -> int:
    demo = Demo(with_time(options), config, log_folder(), lock=lock)
    _discovery(options, [demo], lock, stack)
    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, demo.end)
    return demo.run()


def _several(options: Options, config: Config, lock: int, stack: contextlib.ExitStack) -> int:
    http = config.agent.http
    last = http.port + len(options.rovers) - 1
    if last > 65535:
        raise CannotStart(f'agent.yaml: http.port = {http.port}: the last page would be at {last}')
    rovers = Rovers(options.rovers)
    demos = [
        Demo(
            with_time(each),
            load_config(each.config_dir, robot=each.robot),
            log_folder() / each.rover,
            lock=lock,
            streams=rovers.rovers[each.rover].streams,
        )
        for each in of_each(options, http.port)
    ]
    _discovery(options, demos, lock, stack)
    return rovers.run(demos, commands=bool(options.commands))


def _discovery(
    options: Options, demos: list[Demo], lock: int, stack: contextlib.ExitStack
) -> None:
    def notify_agents(text: str) -> None:
        for demo in demos:
            demo.notify_agent(text)

    if options.discovery_server:
        folder = log_folder() / 'discovery-server'
        server = discovery_server(int(domain()), folder, notify=notify_agents, keep_open=(lock,))
        stack.enter_context(server)


def _open_the_standard_streams() -> None:
    """Open closed standard streams on /dev/null, or a pipe or lock would get their descriptors."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
            os.set_inheritable(descriptor, True)


def domain() -> str:
    """The ROS domain ID of the environment. Raises CannotStart."""
    text = os.environ.get('ROS_DOMAIN_ID') or '0'
    if not (text.isascii() and text.isdigit() and int(text) <= 232):
        raise CannotStart(f'ROS_DOMAIN_ID={text}: must be a number from 0 to 232')
    return str(int(text))


def log_folder() -> Path:
    return ROOT / 'run' / f'domain-{domain()}'


@contextlib.contextmanager
def domain_lock() -> Iterator[int]:
    """Lock the ROS domain for one demo. Yields the descriptor: open copies of it keep the lock.

    The lock is the name of a socket in Linux's abstract namespace: no file stays behind.
    Raises CannotStart.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as lock:
        try:
            lock.bind(f'\0curiosity-rosa-{os.getuid()}-domain-{domain()}')
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise CannotStart(
                f'a demo runs in ROS domain {domain()} already; end it, or set ROS_DOMAIN_ID'
            ) from None
        yield lock.fileno()


if __name__ == '__main__':
    sys.exit(main())
