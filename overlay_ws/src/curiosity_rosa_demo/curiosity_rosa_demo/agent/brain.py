"""ROSA with its model, made in the background: its import takes longer than the node's start."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from curiosity_rosa_demo.agent.cancellation import Cancellation
from curiosity_rosa_demo.infra.config_models import Config
from curiosity_rosa_demo.tools.rover_tools import RoverTools

if TYPE_CHECKING:
    from curiosity_rosa_demo.agent.reporting import Trace
    from curiosity_rosa_demo.agent.rosa_agent_factory import CuriosityRosa
    from curiosity_rosa_demo.agent.turn import TurnResult


class BrainUnavailable(Exception):
    """No turn is possible; the message says why and what to do."""


@dataclass(frozen=True)
class TurnRecord:
    """Where a turn notes its calls; ``save`` returns when they are safe."""

    calls: list[dict[str, Any]] = field(default_factory=list)
    save: Callable[[], None] = lambda: None


class Brain:
    def __init__(
        self, tools: RoverTools, config: Config, trace: Trace, memory: Callable[[], str]
    ) -> None:
        self._tools, self._config = tools, config
        self._trace, self._memory = trace, memory
        self._rosa: Future[CuriosityRosa] = Future()
        self._thread = threading.Thread(target=self._make, name='import-rosa', daemon=True)
        self._starting = threading.Lock()

    def start(self) -> None:
        """Begin, once. Not earlier than it must: the import takes a core from nodes that start."""
        with self._starting:
            if self._thread.ident is None:
                self._thread.start()

    def _make(self) -> None:
        try:
            from curiosity_rosa_demo.agent.rosa_agent_factory import (
                CuriosityRosa,
                ModelSetupError,
                make_chat_model,
            )
            from curiosity_rosa_demo.tools.tool_impl import make_tools
        except Exception as error:  # not installed, or installed by halves
            self._rosa.set_exception(BrainUnavailable(f'ROSA cannot be imported: {error}'))
            return
        try:
            model = make_chat_model(self._config.agent.llm)
            tools = make_tools(self._tools, self._config)
            rosa = CuriosityRosa(
                model, tools, self._config, trace=self._trace, memory=self._memory
            )
        except ModelSetupError as error:
            self._rosa.set_exception(BrainUnavailable(str(error)))
        except Exception as error:  # such as an integration that cannot bind tools
            self._rosa.set_exception(
                BrainUnavailable(
                    f"The model '{self._config.agent.llm.model}' of "
                    f'{self._config.agent.llm.provider} cannot be used ({type(error).__name__}).'
                )
            )
        else:
            self._rosa.set_result(rosa)

    def turn(
        self, text: str, cancellation: Cancellation, record: TurnRecord | None = None
    ) -> TurnResult:
        """One turn of ROSA, or the rest of the one in ``record``. Raises BrainUnavailable and
        TurnCancelled."""
        self.start()
        while not self._rosa.done():
            cancellation.sleep(0.05)
        from curiosity_rosa_demo.agent.journal import Journal
        from curiosity_rosa_demo.agent.model_call import unicode_only
        from curiosity_rosa_demo.agent.turn import TurnResult

        rosa = self._rosa.result()
        self._tools.cancellation = rosa.executor.cancellation = cancellation
        record = record or TurnRecord()
        rosa.executor.journal = Journal(record.calls, record.save)
        rosa.executor.last = None
        answer = rosa.invoke(unicode_only(text))
        return rosa.executor.last or TurnResult(ok=False, answer=answer)
