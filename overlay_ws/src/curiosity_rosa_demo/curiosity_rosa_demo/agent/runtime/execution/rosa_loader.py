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

from curiosity_rosa_demo.agent.react.turn.request import TurnEnvironment, TurnRequest, TurnResult

if TYPE_CHECKING:
    from curiosity_rosa_demo.agent.rosa_agent_factory import CuriosityRosa


class ModelUnavailable(Exception):
    """No turn is possible; the message says why and what to do."""


class RosaLoader:
    def __init__(self, environment: TurnEnvironment) -> None:
        self._environment, self._config = environment, environment.world.config
        self._agent: Future[CuriosityRosa] = Future()
        self._thread = threading.Thread(target=self._load, name='rosa-loader', daemon=True)
        self._starting = threading.Lock()
        self._kept_threads: Collection[str] | None = None

    def start(self, keep: Collection[str] | None = None) -> None:
        """Begin, once. Not earlier than it must: the import takes a core from nodes that start.
        Turns that were cut are forgotten unless their thread is in ``keep``; None: none is.
        """
        with self._starting:
            if self._thread.ident is None:
                self._kept_threads = keep
                self._thread.start()

    def _load(self) -> None:
        try:
            from curiosity_rosa_demo.agent.llm.chat_model import make_chat_model, ModelSetupError
            from curiosity_rosa_demo.agent.react.checkpointer import TurnCheckpointer
            from curiosity_rosa_demo.agent.rosa_agent_factory import CuriosityRosa
        except BaseException as error:  # not installed, by halves, or it calls sys.exit()
            why = error if isinstance(error, Exception) else repr(error)
            self._agent.set_exception(ModelUnavailable(f'ROSA cannot be imported: {why}'))
            return
        try:
            model = make_chat_model(self._config.agent.llm)
            saver = TurnCheckpointer(self._environment.checkpoints)
            if self._kept_threads is not None:
                saver.delete_others(self._kept_threads)
            rosa = CuriosityRosa(model, self._environment, saver)
        except ModelSetupError as error:
            self._agent.set_exception(ModelUnavailable(str(error)))
        except (OSError, sqlite3.Error) as error:
            file = self._environment.checkpoints
            self._agent.set_exception(
                ModelUnavailable(
                    f'Turns cannot be kept in {file}: {error}; move it out of the way'
                )
            )
        except BaseException as error:  # such as an integration that cannot bind tools
            self._agent.set_exception(
                ModelUnavailable(
                    f"The model '{self._config.agent.llm.model}' of "
                    f'{self._config.agent.llm.provider} cannot be used ({type(error).__name__}).'
                )
            )
        else:
            self._agent.set_result(rosa)

    def wait_until_loaded(self) -> None:
        """Until it is made, or it is known why it cannot be. Somebody has to ``start`` it."""
        futures.wait([self._agent])

    def run_turn(self, request: TurnRequest) -> TurnResult:
        """One turn of ROSA, or the rest of one that was cut. Raises ModelUnavailable and
        TurnCancelled.
        """
        self.start()
        while not self._agent.done():
            request.cancellation.sleep(0.05)
        from curiosity_rosa_demo.agent.react.turn.request import TurnResult
        from curiosity_rosa_demo.domain.text import valid_unicode

        rosa = self._agent.result()
        rosa.turn_executor.request, rosa.turn_executor.last_result = request, None
        answer = rosa.invoke(valid_unicode(request.text))
        return rosa.turn_executor.last_result or TurnResult(ok=False, answer=answer)
