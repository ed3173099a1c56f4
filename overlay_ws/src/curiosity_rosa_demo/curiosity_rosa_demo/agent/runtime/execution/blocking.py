# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Blocking work of a skill, in a thread of its own that a stop reaches at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
import logging
import threading
from typing import TypeVar

from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled

_log = logging.getLogger('curiosity_rosa.skills')

T = TypeVar('T')
STOP_TIMEOUT_S = 10.0  # a stopped skill waits this long for the runner to end its task


class SkillsHalted(Exception):
    """The work was stopped; the message says by whom."""


class BlockingCalls:
    """All threads of all skills. An abandoned thread has its cancellation requested for good, so
    that it can do nothing more.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[Cancellation, bool] = {}  # and whether a pause may stop it
        self._halt_reasons: list[str] = []
        self._pause_reasons: list[str] = []

    @property
    def busy(self) -> bool:
        return bool(self._running)

    def halt(self, reason: str) -> None:
        """From any thread: when it returns no work sends anything more that could move the robot,
        and none begins until ``release`` was called as often as ``halt``.
        """
        self.hold(reason)()

    def hold(self, reason: str) -> Callable[[], None]:
        """As ``halt``, but what wakes the work that waits is left to the caller: the result does
        it, and does not raise. A stop goes out between the two.
        """
        with self._lock:
            self._halt_reasons.append(reason)
            running = list(self._running)
        return self._request(running, reason)

    def hold_cancellable(self, reason: str) -> Callable[[], None]:
        """As ``hold``, but only for work that may be cancelled, and until ``release_cancellable``
        was called as often: other work goes on, and begins.
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
                except Exception:  # of one skill; the others are woken all the same
                    _log.exception('event=cancellation_callback_failed')

        return wake

    def release(self) -> None:
        with self._lock:
            self._halt_reasons.pop()

    def release_cancellable(self) -> None:
        with self._lock:
            self._pause_reasons.pop()

    async def run(self, work: Callable[[Cancellation], T], *, cancellable: bool = True) -> T:
        """What ``work`` returns or raises. When the coroutine is cancelled the work is told, and
        waited for. ``cancellable`` False: a pause does not stop the work, everything else does.
        Raises SkillsHalted.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        cancellation = self._check_admitted(cancellable)

        def run() -> None:
            try:
                result = work(cancellation)
            except TurnCancelled as cancelled:
                tell(done.set_exception, SkillsHalted(str(cancelled)))
            except BaseException as error:
                # SystemExit would end the loop, and a future refuses a StopIteration.
                plain = isinstance(error, Exception) and not isinstance(error, StopIteration)
                tell(done.set_exception, error if plain else RuntimeError(f'It raised {error!r}'))
            else:
                tell(done.set_result, result)

        def tell(setter: Callable[..., None], value: object) -> None:
            with self._lock:
                self._running.pop(cancellation, None)
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(setter, value)

        threading.Thread(target=run, name='skill', daemon=True).start()
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError as asked:
            cancellation.cancel(str(asked) or 'Interrupted')
            await asyncio.wait([done])
            done.exception()  # it was looked at
            raise
        except SkillsHalted:
            # Whoever stopped the work is about to end the task too, with a better reason.
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
