# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Loads ROSA and its model in the background: the import takes longer than the node's start."""

from __future__ import annotations

from collections.abc import Collection
from concurrent import futures
from concurrent.futures import Future
import sqlite3
import threading
from typing import TYPE_CHECKING
import warnings

from curiosity_rosa_demo.agent.react.turn import Turn, TurnEnvironment, TurnRequest
from curiosity_rosa_demo.domain.text import valid_unicode
from curiosity_rosa_demo.infra.event_thread import fulfil
from curiosity_rosa_demo.infra.spans import span

if TYPE_CHECKING:
    from curiosity_rosa_demo.agent.rosa_agent_factory import CuriosityRosa


class ModelUnavailable(Exception):
    """No turn is possible. The message gives the reason and the remedy."""


class RosaLoader:
    def __init__(self, environment: TurnEnvironment) -> None:
        self._environment, self._config = environment, environment.world.config
        self._agent: Future[CuriosityRosa] = Future()
        work = (self._agent, self._make)
        self._thread = threading.Thread(target=fulfil, args=work, name='rosa-loader', daemon=True)
        self._starting = threading.Lock()
        self._kept_threads: Collection[str] | None = None

    def start(self, keep: Collection[str] | None = None) -> None:
        """Start to load, once. Do not start early: the import occupies a core that starting nodes
        need. Checkpoints of threads that are not in ``keep`` are deleted; None: none are.
        """
        with self._starting:
            if self._thread.ident is None:
                self._kept_threads = keep
                self._thread.start()

    def _make(self) -> CuriosityRosa:
        """Raises ModelUnavailable."""
        llm, checkpoints = self._config.agent.llm, self._environment.checkpoints
        try:
            import langchain  # noqa: F401  its import enables all of its warnings

            # LangGraph's own import raises this warning, for a default that no turn uses.
            warnings.filterwarnings(
                'ignore', message='The default value of `allowed_objects`', module='langgraph'
            )
            from curiosity_rosa_demo.agent.llm.chat_model import make_chat_model, ModelSetupError
            from curiosity_rosa_demo.agent.react.loop import TurnCheckpointer
            from curiosity_rosa_demo.agent.rosa_agent_factory import CuriosityRosa
        except BaseException as error:  # not installed, incomplete, or it calls sys.exit()
            why = error if isinstance(error, Exception) else repr(error)
            raise ModelUnavailable(f'ROSA cannot be imported: {why}') from None
        try:
            model = make_chat_model(llm, self._environment.usage)
            saver = TurnCheckpointer(checkpoints)
            if self._kept_threads is not None:
                saver.delete_others(self._kept_threads)
            return CuriosityRosa(model, self._environment, saver)
        except ModelSetupError as error:
            raise ModelUnavailable(str(error)) from None
        except (OSError, sqlite3.Error) as error:
            why = f'Turns cannot be kept in {checkpoints}: {error}; move it away and restart'
            raise ModelUnavailable(why) from None
        except BaseException as error:  # for example an integration that cannot bind tools
            kind = type(error).__name__
            why = f"The model '{llm.model}' of {llm.provider} cannot be used ({kind})."
            raise ModelUnavailable(why) from None

    def wait_until_loaded(self) -> None:
        """Block until loading has succeeded or failed. Call ``start`` first."""
        futures.wait([self._agent])

    def run_turn(self, request: TurnRequest) -> Turn:
        """Run one turn of ROSA, or resume an interrupted one. Raises ModelUnavailable and
        TurnCancelled.
        """
        self.start()
        if not self._agent.done():
            with span('model load'):
                while not self._agent.done():
                    request.cancellation.sleep(0.05)
        rosa = self._agent.result()
        rosa.turn_executor.request, rosa.turn_executor.last_result = request, None
        answer = rosa.invoke(valid_unicode(request.said.text))
        return rosa.turn_executor.last_result or Turn(answer=answer)
