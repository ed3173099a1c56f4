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
import logging
import threading
from typing import Any, TypeVar

from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.infra.event_thread import run_in_thread

_log = logging.getLogger('curiosity_rosa.skills')

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
    """Runs and halts the threads of all skills. Thread-safe.

    The cancellation of an abandoned thread stays requested, so that it cannot act any more.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[Cancellation, bool] = {}  # value: whether a pause may stop the work
        self._halt_reasons: list[str] = []
        self._pause_reasons: list[str] = []

    @property
    def busy(self) -> bool:
        return bool(self._running)

    def halt(self, reason: str) -> None:
        """Cancel all work. After the return no work sends a command that could move the robot, and
        none starts until ``release`` was called as often as ``halt``. Thread-safe.
        """
        self.hold(reason)()

    def hold(self, reason: str) -> Callable[[], None]:
        """As ``halt``, but does not wake waiting work. The returned function wakes it and does not
        raise. The caller can send a stop to the rover between the two.
        """
        with self._lock:
            self._halt_reasons.append(reason)
            running = list(self._running)
        return self._request(running, reason)

    def hold_cancellable(self, reason: str) -> Callable[[], None]:
        """As ``hold``, but only for cancellable work, and until ``release_cancellable`` was called
        as often. Other work goes on, and may start.
        """
        with self._lock:
            self._pause_reasons.append(reason)
            running = [each for each, cancellable in self._running.items() if cancellable]
        return self._request(running, reason)

    @staticmethod
    def _request(running: list[Cancellation], reason: str) -> Callable[[], None]:
        callbacks = [each for one in running for each in one.request(reason)]

        def wake() -> None:
            for callback in callbacks:
                try:
                    callback()
                except Exception:  # the callbacks of the other skills still run
                    _log.exception('event=cancellation_callback_failed')

        return wake

    def release(self) -> None:
        with self._lock:
            self._halt_reasons.pop()

    def release_cancellable(self) -> None:
        with self._lock:
            self._pause_reasons.pop()

    async def run(self, work: Callable[[Cancellation], T], *, cancellable: bool = True) -> T:
        """Run ``work`` in a new thread; returns its result or raises its exception.

        A cancellation of this coroutine requests that of ``work`` and waits for its end.
        ``cancellable`` False: a pause does not stop the work, every other stop does. Raises
        SkillsHalted.
        """
        cancellation = self._check_admitted(cancellable)

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
                with self._lock:
                    self._running.pop(cancellation, None)

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

    def _check_admitted(self, cancellable: bool) -> Cancellation:
        cancellation = Cancellation()
        with self._lock:
            reasons = self._halt_reasons or (self._pause_reasons if cancellable else [])
            if reasons:
                cancellation.cancel(reasons[-1])
            else:
                self._running[cancellation] = cancellable
        return cancellation
