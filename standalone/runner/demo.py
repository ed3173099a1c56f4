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
from collections.abc import Iterator, Mapping
import contextlib
from dataclasses import dataclass, replace
import errno
from functools import partial
import os
from pathlib import Path
import signal
import socket
import sys
import time
from typing import Any

from curiosity_rosa_demo.infra.clocks import clock_is_published, time_text
from curiosity_rosa_demo.infra.config.topics import Config
from curiosity_rosa_demo.infra.config_loader import ConfigError, load_config

from runner.fastdds import discovery_server, remove_dead_segments
from runner.plan import agent, background, of_each, Options, parse
from runner.rovers import Rovers
from runner.supervision import Agent, kept_running, on_end_signals, PlannedProcess

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(sys.prefix).parent  # the workspaces are built beside the Python environment


@dataclass(frozen=True)
class Demo:
    """The processes of one rover. ``folder`` takes the logs."""

    name: str
    folder: Path
    nodes: list[PlannedProcess]
    agent: Agent

    async def run(self) -> int:
        """Run until the agent ends. Returns its exit status. Raises OSError."""
        async with kept_running(self.nodes, self.folder, self.agent.notify):
            return await self.agent.run()


def main() -> int:
    options = parse(sys.argv[1:])
    signal.signal(signal.SIGTSTP, lambda *_: None)  # Ctrl-Z halts the agent, not who supervises
    try:
        config = load_config(options.config_dir, robot=options.robot)
        with domain_lock():
            began = time.time()
            try:
                return asyncio.run(_run(options, config))
            finally:
                remove_dead_segments(began)
    except (ConfigError, OSError) as error:
        print(f'run_demo: {error}', file=sys.stderr)
        return 2


async def _run(options: Options, config: Config) -> int:
    rovers = Rovers(options.rovers)
    if options.rovers:
        demos = _of_each(options, config, rovers)
    else:
        demos = [_demo(options, config, log_folder(), {})]

    def end() -> None:
        for demo in demos:
            demo.agent.ending.set()

    def notify(text: str) -> None:
        for demo in demos:
            demo.agent.notify(text)

    on_end_signals(end)
    async with contextlib.AsyncExitStack() as stack:
        if options.discovery_server:
            server = discovery_server(int(domain()))
            folder = log_folder() / 'discovery-server'
            await stack.enter_async_context(kept_running([server], folder, notify))
        if not options.rovers:
            return await demos[0].run()
        runs = {demo.name: demo.run() for demo in demos}
        return await rovers.run(runs, end, commands=bool(options.commands))


def _of_each(options: Options, config: Config, rovers: Rovers) -> list[Demo]:
    first = config.agent.http.port
    last = first + len(options.rovers) - 1
    if last > 65535:
        raise ConfigError(f'agent.yaml: http.port = {first}: the last page would be at {last}')
    return [
        _demo(
            each,
            load_config(each.config_dir, robot=each.robot),
            log_folder() / each.rover,
            rovers.rovers[each.rover].streams,
        )
        for each in of_each(options, first)
    ]


def _demo(options: Options, config: Config, folder: Path, streams: Mapping[str, Any]) -> Demo:
    """Check the options before any process starts. Raises ConfigError and FileNotFoundError."""
    options = _with_time(options)
    specs = config.node_specs
    return Demo(
        options.rover,
        folder,
        background(options, specs, BUILT, mobile_base=config.robot.mobile_base),
        Agent(
            partial(agent, options, specs, BUILT), commands=bool(options.commands), streams=streams
        ),
    )


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
