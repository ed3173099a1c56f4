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
from collections.abc import Callable, Coroutine, Iterator, Mapping
import contextlib
from dataclasses import replace
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
    rovers, first = Rovers(options.rovers), config.agent.http.port
    if first + len(options.rovers) - 1 > 65535:
        last = first + len(options.rovers) - 1
        raise ConfigError(f'agent.yaml: http.port = {first}: the last page would be at {last}')
    agents: dict[str, Agent] = {}
    runs: dict[str, Callable[[], Coroutine[Any, Any, int]]] = {}
    for each in of_each(options, first) if options.rovers else [options]:
        own = load_config(each.config_dir, robot=each.robot) if each.rover else config
        streams = rovers.rovers[each.rover].streams if each.rover else {}
        nodes, agents[each.rover] = _processes(_with_time(each), own, streams)
        folder = log_folder() / each.rover
        runs[each.rover] = partial(_demo, nodes, folder, agents[each.rover])

    def end() -> None:
        for front in agents.values():
            front.ending.set()

    def notify(text: str) -> None:
        for front in agents.values():
            front.notify(text)

    on_end_signals(end)
    async with contextlib.AsyncExitStack() as stack:
        if options.discovery_server:
            server = discovery_server(int(domain()))
            folder = log_folder() / 'discovery-server'
            await stack.enter_async_context(kept_running([server], folder, notify))
        if not options.rovers:
            return await runs['']()
        started = {name: run() for name, run in runs.items()}
        return await rovers.run(started, end, commands=bool(options.commands))


def _processes(
    options: Options, config: Config, streams: Mapping[str, Any]
) -> tuple[list[PlannedProcess], Agent]:
    """Those of one rover: before any starts, the options are checked. Raises ConfigError and
    FileNotFoundError.
    """
    specs, commands = config.node_specs, bool(options.commands)
    nodes = background(options, specs, BUILT, mobile_base=config.robot.mobile_base)
    return nodes, Agent(partial(agent, options, specs, BUILT), commands=commands, streams=streams)


async def _demo(nodes: list[PlannedProcess], folder: Path, front: Agent) -> int:
    """Run a rover's processes until its agent ends. Returns its exit status. Raises OSError."""
    async with kept_running(nodes, folder, front.notify):
        return await front.run()


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
