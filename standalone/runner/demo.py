# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The demo: a rover, or several, each with its nodes in the background and its agent in front."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
import contextlib
from dataclasses import replace
import errno
from functools import partial
import os
from pathlib import Path
import signal
import socket
import sys

from curiosity_rosa_demo.infra.clocks import clock_is_published, time_text
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config

from runner.agents import Agent, Console
from runner.fastdds import clean_shared_memory, discovery_server
from runner.plan import agent, background, of_each, Options, parse
from runner.supervision import kept_running

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(sys.prefix).parent  # the workspaces are built beside the Python environment


def main() -> int:
    options = parse(sys.argv[1:])
    signal.signal(signal.SIGTSTP, lambda *_: None)  # Ctrl-Z halts the agent, not who supervises
    try:
        config = load_config(options.config_dir, robot=options.robot)
        with domain_lock():
            try:
                return asyncio.run(_run(options, config))
            finally:
                clean_shared_memory()
    except (ConfigError, OSError) as error:
        print(f'run_demo: {error}', file=sys.stderr)
        return 2


async def _run(options: Options, config: Config) -> int:
    first, count = config.agent.http.port, len(options.rovers)
    if first + count - 1 > 65535:
        last = first + count - 1
        raise ConfigError(f'agent.yaml: http.port = {first}: the last page would be at {last}')
    agents: dict[str, Agent] = {}

    def end() -> None:
        for front in agents.values():
            front.ending.set()

    def notify(text: str) -> None:
        for front in agents.values():
            front.notify(text)

    console, commands = Console(end), bool(options.commands)
    for each in of_each(options, first) if options.rovers else [options]:
        of_rover = _with_time(each)
        own = load_config(each.config_dir, robot=each.robot) if each.rover else config
        agents[each.rover] = Agent(
            partial(agent, of_rover, own.node_specs, BUILT),
            background(of_rover, own.node_specs, BUILT, mobile_base=own.robot.mobile_base),
            log_folder() / each.rover,
            commands=commands,
            output=console.output(each.rover) if each.rover else None,
        )
    for signum in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(signum, end)
    around = [discovery_server(int(domain()))] if options.discovery_server else []
    async with kept_running(around, log_folder() / 'discovery-server', notify):
        if options.rovers:
            return await console.run(agents, commands=commands)
        return await agents[''].run()


def _with_time(options: Options) -> Options:
    """The options with the time of a rover that already runs, if no option says which it is: with
    simulated time if its clock has a publisher. Tells on standard error which it took.
    """
    if options.body or options.outside_sim_time is not None:
        return options
    published = clock_is_published(options.clock)
    text = time_text(options.clock, published, '--sim-time true')
    print(f'run_demo: {text}', file=sys.stderr)
    return replace(options, outside_sim_time=published)


def domain() -> str:
    """The ROS domain ID of the environment. Raises ConfigError."""
    text = os.environ.get('ROS_DOMAIN_ID') or '0'
    if not (text.isascii() and text.isdigit() and int(text) <= 232):
        raise ConfigError(f'ROS_DOMAIN_ID={text}: must be a number from 0 to 232')
    return str(int(text))


def log_folder() -> Path:
    return ROOT / 'run' / f'domain-{domain()}'


@contextlib.contextmanager
def domain_lock() -> Iterator[None]:
    """Lock the ROS domain for one demo. Raises ConfigError.

    The lock is the name of a socket in Linux's abstract namespace: no file stays behind.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as lock:
        try:
            lock.bind(f'\0curiosity-rosa-{os.getuid()}-domain-{domain()}')
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise ConfigError(
                f'a demo runs in ROS domain {domain()} already; end it, or set ROS_DOMAIN_ID'
            ) from None
        yield


if __name__ == '__main__':
    sys.exit(main())
