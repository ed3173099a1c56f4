"""One rover: its nodes behind, its agent in front."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from curiosity_rosa_demo.infra.config_models import NodeSpec
from runner.agent import Agent, Streams
from runner.plan import Options, agent, background
from runner.supervision import Supervisor, die_with_parent

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(sys.prefix).parent  # the workspaces' builds stand beside the environment
OWN_STREAMS = Streams()


class Demo:
    """``folder`` takes the logs. What is wrong with the options is said before anything starts:
    raises ConfigError and FileNotFoundError."""

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
        the processes die with it. Raises OSError."""
        supervisor = Supervisor(
            self._planned, self._folder, tell=self.tell, keep_open=(self._lock,)
        )
        try:
            return self._agent.run()
        finally:
            supervisor.stop()

    def end(self, *_: object) -> None:
        """Have the agent leave; from any thread, and from a signal's handler."""
        self._agent.end()

    def tell(self, text: str) -> None:
        """News of the processes, for the agent; from any thread."""
        with contextlib.suppress(OSError):  # full, while no agent reads
            os.write(self._news, f'{text}\n'.encode())
