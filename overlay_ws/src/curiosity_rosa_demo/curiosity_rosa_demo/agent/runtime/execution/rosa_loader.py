# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""ROSA with its model, made in the background: its import takes longer than the node's start."""

from __future__ import annotations

from collections.abc import Collection
from concurrent import futures
from concurrent.futures import Future
import sqlite3
import threading
from typing import TYPE_CHECKING

from curiosity_rosa_demo.agent.react.turn.request import Request, Surroundings, TurnResult

if TYPE_CHECKING:
    from curiosity_rosa_demo.agent.rosa_agent_factory import CuriosityRosa


class BrainUnavailable(Exception):
    """No turn is possible; the message says why and what to do."""


class Brain:
    def __init__(self, around: Surroundings) -> None:
        self._around, self._config = around, around.world.config
        self._rosa: Future[CuriosityRosa] = Future()
        self._thread = threading.Thread(target=self._make, name='import-rosa', daemon=True)
        self._starting = threading.Lock()
        self._keep: Collection[str] | None = None

    def start(self, keep: Collection[str] | None = None) -> None:
        """Begin, once. Not earlier than it must: the import takes a core from nodes that start.
        Turns that were cut are forgotten unless their thread is in ``keep``; None: none is.
        """
        with self._starting:
            if self._thread.ident is None:
                self._keep = keep
                self._thread.start()

    def _make(self) -> None:
        try:
            from curiosity_rosa_demo.agent.llm.chat_model import make_chat_model, ModelSetupError
            from curiosity_rosa_demo.agent.react.checkpointer import TurnSaver
            from curiosity_rosa_demo.agent.rosa_agent_factory import CuriosityRosa
        except BaseException as error:  # not installed, by halves, or it calls sys.exit()
            why = error if isinstance(error, Exception) else repr(error)
            self._rosa.set_exception(BrainUnavailable(f'ROSA cannot be imported: {why}'))
            return
        try:
            model = make_chat_model(self._config.agent.llm)
            saver = TurnSaver(self._around.checkpoints)
            if self._keep is not None:
                saver.keep(self._keep)
            rosa = CuriosityRosa(model, self._around, saver)
        except ModelSetupError as error:
            self._rosa.set_exception(BrainUnavailable(str(error)))
        except (OSError, sqlite3.Error) as error:
            file = self._around.checkpoints
            self._rosa.set_exception(
                BrainUnavailable(
                    f'Turns cannot be kept in {file}: {error}; move it out of the way'
                )
            )
        except BaseException as error:  # such as an integration that cannot bind tools
            self._rosa.set_exception(
                BrainUnavailable(
                    f"The model '{self._config.agent.llm.model}' of "
                    f'{self._config.agent.llm.provider} cannot be used ({type(error).__name__}).'
                )
            )
        else:
            self._rosa.set_result(rosa)

    def wait(self) -> None:
        """Until it is made, or it is known why it cannot be. Somebody has to ``start`` it."""
        futures.wait([self._rosa])

    def turn(self, request: Request) -> TurnResult:
        """One turn of ROSA, or the rest of one that was cut. Raises BrainUnavailable and
        TurnCancelled.
        """
        self.start()
        while not self._rosa.done():
            request.cancellation.sleep(0.05)
        from curiosity_rosa_demo.agent.react.turn.request import TurnResult
        from curiosity_rosa_demo.domain.text import valid_unicode

        rosa = self._rosa.result()
        rosa.executor.request, rosa.executor.last = request, None
        answer = rosa.invoke(valid_unicode(request.text))
        return rosa.executor.last or TurnResult(ok=False, answer=answer)
