# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""One rover: its nodes behind, its agent in front."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
import sys

from curiosity_rosa_demo.infra.config.nodes import NodeSpec

from runner.agent import Agent, Streams
from runner.plan import agent, background, Options
from runner.supervision import die_with_parent, Supervisor

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(sys.prefix).parent  # the workspaces' builds stand beside the environment
OWN_STREAMS = Streams()


class Demo:
    """``folder`` takes the logs. What is wrong with the options is said before anything starts:
    raises ConfigError and FileNotFoundError.
    """

    def __init__(
        self,
        options: Options,
        nodes: list[NodeSpec],
        folder: Path,
        *,
        lock: int,
        streams: Streams = OWN_STREAMS,
    ) -> None:
        self.name = options.rover
        self._folder, self._lock = folder, lock
        self._planned = background(options, nodes, BUILT)
        news_read, self._news = os.pipe()
        os.set_blocking(self._news, False)

        def command(crash: str) -> list[str]:
            words = agent(options, nodes, BUILT, crash=crash, news_fd=news_read)
            return die_with_parent(words)

        command('')
        self._agent = Agent(
            command, commands=bool(options.commands), news=news_read, streams=streams
        )

    def run(self) -> int:
        """Until the agent ends; its exit status. The thread that calls this must live until then:
        the processes die with it. Raises OSError.
        """
        supervisor = Supervisor(
            self._planned, self._folder, notify=self.notify_agent, keep_open=(self._lock,)
        )
        try:
            return self._agent.run()
        finally:
            supervisor.stop()

    def end(self, *_: object) -> None:
        """Have the agent leave; from any thread, and from a signal's handler."""
        self._agent.end()

    def notify_agent(self, text: str) -> None:
        """News of the processes, for the agent; from any thread."""
        with contextlib.suppress(OSError):  # full, while no agent reads
            os.write(self._news, f'{text}\n'.encode())
