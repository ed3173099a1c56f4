# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One rover: its nodes in the background and its agent in the foreground."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
import sys

from curiosity_rosa_demo.infra.config.topics import Config

from runner.agent import Agent, Streams
from runner.plan import agent, background, Options
from runner.supervision import die_with_parent, Supervisor

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(sys.prefix).parent  # the workspaces are built beside the Python environment
OWN_STREAMS = Streams()


class Demo:
    """The processes of one rover. ``folder`` takes the logs.

    The constructor checks the options before any process starts. Raises ConfigError and
    FileNotFoundError.
    """

    def __init__(
        self,
        options: Options,
        config: Config,
        folder: Path,
        *,
        lock: int,
        streams: Streams = OWN_STREAMS,
    ) -> None:
        self.name = options.rover
        self._folder, self._lock = folder, lock
        nodes = config.node_specs
        self._planned = background(options, nodes, BUILT, mobile_base=config.robot.mobile_base)
        read_fd, self._process_events_fd = os.pipe()
        os.set_blocking(self._process_events_fd, False)

        def command(crash: str) -> list[str]:
            words = agent(options, nodes, BUILT, crash=crash, process_events_fd=read_fd)
            return die_with_parent(words, parent=os.getpid())

        command('')  # raises now if the options are wrong
        self._agent = Agent(
            command, commands=bool(options.commands), process_events_fd=read_fd, streams=streams
        )

    def run(self) -> int:
        """Run until the agent ends. Returns its exit status. Raises OSError.

        The calling thread must not end before: its end kills the processes.
        """
        supervisor = Supervisor(
            self._planned, self._folder, notify=self.notify_agent, keep_open=(self._lock,)
        )
        try:
            return self._agent.run()
        finally:
            supervisor.stop()

    def end(self, *_: object) -> None:
        """End the agent. Safe in any thread and in a signal handler."""
        self._agent.end()

    def notify_agent(self, text: str) -> None:
        """Send a process event to the agent. Callable from any thread."""
        with contextlib.suppress(OSError):  # full, while no agent reads
            os.write(self._process_events_fd, f'{text}\n'.encode())
