# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What halts the work of the skills: a stop, a pause, a fault, or a kernel that fell silent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
import logging
import threading
import time
from typing import TypeVar

from curiosity_rosa_demo.agent.tasks import SkillFailed
from curiosity_rosa_demo.domain.cancellation import Cancellation, TurnCancelled
from curiosity_rosa_demo.domain.skills import Outcome
from curiosity_rosa_demo.infra.event_thread import fulfil, run_in_thread

T = TypeVar('T')
CHECKS_PER_LIMIT = 4  # checks per ``limit_s``
STOP_TIMEOUT_S = 10.0  # a stopped skill waits this long for the runner to end its task

_log = logging.getLogger('curiosity_rosa.halt')


class SkillsHalted(SkillFailed):
    """The work was stopped. The message names the caller of the stop."""


class Halt:
    """Knows the number of stops, the running work, and how to send a stop. Each stop that ends
    work is sent here; the end of a drive belongs to its tool. Thread-safe.

    From a halt on no work sends a command that could move the rover, and none begins until the
    halt is settled: that is when the tasks of its time have ended, or wait. The cancellation of an
    abandoned thread stays requested, so that it cannot act any more.

    ``on_stop`` is told of each ``stop``, once it is on its way, by its caller and number.
    """

    def __init__(self, stop_rover: Callable[[], Outcome]) -> None:
        self._stop_rover, self._lock = stop_rover, threading.Lock()
        self._running: dict[Cancellation, bool] = {}  # value: whether a pause may stop the work
        self._open: dict[int, tuple[str, bool]] = {}  # by number: reason, cancellable only
        self._last = 0
        self.stops = 0  # asked for so far; what was ordered before the last one is refused
        self.on_stop: Callable[[str, int], None] = lambda by, number: None

    @property
    def busy(self) -> bool:
        return bool(self._running)

    def stop(self, by: str) -> Future[Outcome]:
        """Halt all work and count the stop; needs neither a loop nor the model. ``by`` names the
        caller. Returns at once; the future is that of ``send``.
        """
        number, callbacks = self._hold(f'Stopped by {by}', count=True)
        outcome = self.send(callbacks)
        self.on_stop(by, number)
        return outcome

    def halt(self, reason: str, *, cancellable_only: bool = False, count: bool = False) -> int:
        """Halt all work, or that which a pause may stop. Returns its number, at once. ``count`` it
        as a stop; its caller then tells of it, not ``on_stop``.
        """
        number, callbacks = self._hold(reason, cancellable_only=cancellable_only, count=count)
        self.send(callbacks)
        return number

    def close(self, reason: str) -> None:
        """Halt all work for good, without a stop."""
        _, callbacks = self._hold(reason)
        _call_all(callbacks)

    def settle(self, number: int) -> None:
        """The tasks that the halt was about have ended or wait: others may run again."""
        with self._lock:
            self._open.pop(number, None)

    def send(self, callbacks: Sequence[Callable[[], None]] = ()) -> Future[Outcome]:
        """Send a stop from a new thread, so that nothing can delay it; then wake the work by its
        ``callbacks``, which may take a while, from another. The future gets the rover's answer;
        whoever waits for it may stop waiting, but cannot cancel it.
        """
        outcome: Future[Outcome] = Future()
        outcome.set_running_or_notify_cancel()
        threads = {'stop': partial(fulfil, outcome, self._stop_rover)}
        if callbacks:
            threads['stop-skills'] = partial(_call_all, callbacks)
        for name, work in threads.items():
            try:
                threading.Thread(target=work, name=name, daemon=True).start()
            except RuntimeError:  # no more threads can be started
                work()
        return outcome

    async def run(self, work: Callable[[Cancellation], T], *, cancellable: bool = True) -> T:
        """Run ``work``, of a skill, in a new thread; returns its result or raises its exception.

        A cancellation of this coroutine requests that of ``work`` and waits for its end.
        ``cancellable`` False: a pause does not stop the work, every other stop does. Raises
        SkillsHalted.
        """
        cancellation = self._enter(cancellable)

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

    def _enter(self, cancellable: bool) -> Cancellation:
        """For work that begins; cancelled: it must not."""
        cancellation = Cancellation()
        with self._lock:
            reasons = [why for why, is_pause in self._open.values() if cancellable or not is_pause]
            if reasons:
                cancellation.cancel(reasons[-1])
            else:
                self._running[cancellation] = cancellable
        return cancellation

    def _hold(
        self, reason: str, *, cancellable_only: bool = False, count: bool = False
    ) -> tuple[int, list[Callable[[], None]]]:
        with self._lock:
            self.stops += count
            self._last += 1
            number = self._last
            self._open[number] = reason, cancellable_only
            running = [one for one, may in self._running.items() if may or not cancellable_only]
        return number, [callback for one in running for callback in one.request(reason)]


def _call_all(callbacks: Sequence[Callable[[], None]]) -> None:
    for callback in callbacks:
        try:
            callback()
        except Exception:  # the callbacks of the other skills still run
            _log.exception('event=cancellation_callback_failed')


class Watchdog:
    """Calls ``lost`` with a reason when no ``beat`` came for ``limit_s``, once per silence. The
    watch begins with the first beat.
    """

    def __init__(
        self,
        limit_s: float,
        lost: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit_s, self._on_silence, self._clock = limit_s, lost, clock
        self._last: float | None = None
        self._reported_beat: float | None = None  # the last beat before the reported silence
        self._closing = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, name='watchdog', daemon=True).start()

    def beat(self) -> None:
        self._last = self._clock()

    def check(self) -> None:
        """Check the age of the last beat once."""
        last = self._last
        if last is None or last == self._reported_beat:
            return
        silent_s = self._clock() - last
        if silent_s > self._limit_s:
            self._reported_beat = last
            self._on_silence(f'the watchdog: the kernel was silent for {silent_s:.1f} s')

    def close(self) -> None:
        self._closing.set()

    def _run(self) -> None:
        while not self._closing.wait(self._limit_s / CHECKS_PER_LIMIT):
            try:
                self.check()
            except Exception:  # the thread must go on to detect the next silence
                _log.exception('event=lost_raised')
