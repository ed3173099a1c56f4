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
from typing import Any, TypeVar

from curiosity_rosa_demo.agent.runtime.halt import Halt
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.infra.event_thread import run_in_thread

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
        cancellation = self._halt.enter(cancellable=cancellable)

        def guarded() -> T:
            try:
                return work(cancellation)
            except TurnCancelled as cancelled:
                raise SkillsHalted(str(cancelled)) from None
            except BaseException as error:
                if isinstance(error, Exception) and not isinstance(error, StopIteration):
                    raise
                # SystemExit would end the loop, and a future refuses a StopIteration.
                raise RuntimeError(f'It raised {error!r}') from None
            finally:
                self._halt.leave(cancellation)

        done = asyncio.ensure_future(run_in_thread('skill', guarded))
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
