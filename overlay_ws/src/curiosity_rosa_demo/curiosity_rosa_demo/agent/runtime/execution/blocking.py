# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Blocking work of a skill, in a separate thread that a stop cancels at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent import futures
from contextlib import suppress
import threading
from typing import Any, TypeVar

from curiosity_rosa_demo.agent.runtime.halt import Halt
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled

T = TypeVar('T')
CANCELLATION_POLL_S = 0.05
STOP_TIMEOUT_S = 10.0  # a stopped skill waits this long for the runner to end its task


def wait_for(
    work: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop, cancellation: Cancellation
) -> T:
    """From a skill's thread: run ``work`` in ``loop`` and return its result, or raise its
    exception. Raises TurnCancelled as soon as a cancellation is requested; ``work`` then goes on.
    """
    future = asyncio.run_coroutine_threadsafe(work, loop)
    while not futures.wait([future], CANCELLATION_POLL_S).done:
        cancellation.check()
    cancellation.check()
    return future.result()


class SkillsHalted(Exception):
    """The work was stopped. The message names the caller of the stop."""


class BlockingCalls:
    """Runs the threads of all skills, which ``halt`` may halt."""

    def __init__(self, halt: Halt) -> None:
        self._halt = halt

    async def run(self, work: Callable[[Cancellation], T], *, cancellable: bool = True) -> T:
        """Run ``work`` in a new thread; returns its result or raises its exception.

        A cancellation of this coroutine requests that of ``work`` and waits for its end.
        ``cancellable`` False: a pause does not stop the work, every other stop does. Raises
        SkillsHalted.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        cancellation = self._halt.enter(cancellable=cancellable)

        def run() -> None:
            try:
                result = work(cancellation)
            except TurnCancelled as cancelled:
                finish(done.set_exception, SkillsHalted(str(cancelled)))
            except BaseException as error:
                # SystemExit would end the loop, and a future refuses a StopIteration.
                plain = isinstance(error, Exception) and not isinstance(error, StopIteration)
                finish(
                    done.set_exception, error if plain else RuntimeError(f'It raised {error!r}')
                )
            else:
                finish(done.set_result, result)

        def finish(setter: Callable[..., None], value: object) -> None:
            self._halt.leave(cancellation)
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(setter, value)

        threading.Thread(target=run, name='skill', daemon=True).start()
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError as cancelled:
            cancellation.cancel(str(cancelled) or 'Interrupted')
            await asyncio.wait([done])
            done.exception()  # marks the exception as retrieved
            raise
        except SkillsHalted:
            # The caller of the stop also ends the task, with a more specific reason.
            await asyncio.sleep(STOP_TIMEOUT_S)
            raise
