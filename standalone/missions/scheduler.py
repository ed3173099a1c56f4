# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A seeded scheduler with a virtual clock. It runs simulated threads as greenlets, one at a time.

A simulated thread runs until it waits. The scheduler then draws the next one that is ready. Time
passes only when no thread is ready: it jumps to the next timer. So the order of everything follows
from the seed. Times are seconds since the start of the scheduler.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import heapq
import random
import traceback
from typing import Any

from greenlet import getcurrent, greenlet

TICK_S = 1e-6  # the shortest wait: a shorter one might not change the time at all
MAX_SWITCHES_AT_ONCE = 200_000  # without a step of time: some thread spins


class Spinning(Exception):
    """Simulated threads keep each other busy, and time does not pass."""


class SimulatedProcess:
    """A process of the simulated machine. Its threads do not run while it is frozen, and never
    again after it was killed: no exception is raised in them, as with SIGKILL.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.alive, self.frozen = True, False
        self.threads: dict[int, SimulatedThread] = {}  # by ident; those that have not ended
        self.held_back: list[SimulatedThread] = []  # ready, but frozen


class SimulatedThread:
    __slots__ = (
        'debt_s', 'greenlet', 'ident', 'loop', 'name', 'parked', 'process', 'ticket', 'woken',
    )  # fmt: skip

    def __init__(self, process: SimulatedProcess, name: str, ident: int) -> None:
        self.process, self.name, self.ident = process, name, ident
        self.greenlet: Any = None
        self.loop: Any = None  # its running event loop
        self.parked = False
        self.ticket = 0  # number of its current wait: a timer of an earlier wait is ignored
        self.woken = False
        self.debt_s = 0.0  # time that its work has cost, such as a slow disk


class Timer:
    __slots__ = ('action', 'cancelled')

    def __init__(self, action: Callable[[], None]) -> None:
        self.action, self.cancelled = action, False


class Scheduler:
    """``preemption`` is the probability that a thread loses its turn when it releases a lock."""

    def __init__(self, chance: random.Random, *, preemption: float = 0.0) -> None:
        self.now_s = 0.0
        self.defects: list[str] = []  # exceptions that ended a simulated thread
        self.current: SimulatedThread | None = None
        self._chance, self._preemption = chance, preemption
        self._hub = getcurrent()
        self._ready: list[SimulatedThread] = []
        self._timers: list[tuple[float, float, int, Timer]] = []
        self._timer_count = self._thread_count = 0
        # A greenlet that nobody references would be ended by an exception, and would clean up.
        self._killed: list[SimulatedThread] = []

    # --- threads ------------------------------------------------------------------------------

    def spawn(
        self, process: SimulatedProcess, name: str, work: Callable[[], object]
    ) -> SimulatedThread:
        self._thread_count += 1
        thread = SimulatedThread(process, name, self._thread_count)

        def run() -> None:
            try:
                work()
            except SystemExit:
                pass
            except BaseException as error:
                trace = ''.join(traceback.format_exception(error))
                self.defects.append(f'{process.name}/{name}: {trace}')
            finally:
                process.threads.pop(thread.ident, None)

        thread.greenlet = greenlet(run, parent=self._hub)
        process.threads[thread.ident] = thread
        self._ready.append(thread)
        return thread

    def kill(self, process: SimulatedProcess) -> None:
        """As SIGKILL. A thread of ``process`` that calls it does not return."""
        process.alive = False
        self._killed += process.threads.values()
        self._ready = [each for each in self._ready if each.process is not process]
        if self.current is not None and self.current.process is process:
            self._hub.switch()

    def freeze(self, process: SimulatedProcess) -> None:
        """As SIGSTOP, to be ended by ``thaw``."""
        process.frozen = True

    def thaw(self, process: SimulatedProcess) -> None:
        process.frozen = False
        self._ready += process.held_back
        process.held_back = []

    # --- waiting: for simulated threads -------------------------------------------------------

    def park(self, timeout_s: float | None = None) -> bool:
        """Wait until ``wake`` or for ``timeout_s``. Returns whether it was woken. A wake that came
        earlier ends it at once.
        """
        me = self.current
        if me is None:
            raise RuntimeError('The scheduler itself may not wait')
        if not me.woken:
            me.ticket += 1
            if timeout_s is not None:
                ticket = me.ticket
                self.call_later(max(TICK_S, timeout_s), lambda: self._time_out(me, ticket))
            me.parked = True
            self._hub.switch()
        woken, me.woken = me.woken, False
        return woken

    def _time_out(self, thread: SimulatedThread, ticket: int) -> None:
        if thread.parked and thread.ticket == ticket:
            self._make_ready(thread)

    def wake(self, thread: SimulatedThread) -> None:
        """End the wait of ``thread``, or its next one. From a thread or the scheduler."""
        thread.woken = True
        if thread.parked:
            self._make_ready(thread)

    def _make_ready(self, thread: SimulatedThread) -> None:
        thread.parked = False
        if thread.process.alive:
            self._ready.append(thread)

    def may_preempt(self) -> None:
        """A place where the current thread may lose its turn."""
        if self._preemption and self._ready and self._chance.random() < self._preemption:
            self.give_way()

    def give_way(self) -> None:
        """Let the other threads that are ready have their turns, too."""
        if self.current is not None:
            self._ready.append(self.current)
            self._hub.switch()

    def charge(self, seconds: float) -> None:
        """Let the work of the current thread cost time, from its next turn on."""
        if self.current is not None:
            self.current.debt_s += seconds

    # --- time -----------------------------------------------------------------------------------

    def call_later(self, delay_s: float, action: Callable[[], None]) -> Timer:
        """Call ``action`` outside any thread; it may not wait."""
        self._timer_count += 1
        timer = Timer(action)
        # Timers of one moment fire in an order that the seed draws.
        entry = (self.now_s + delay_s, self._chance.random(), self._timer_count, timer)
        heapq.heappush(self._timers, entry)
        return timer

    def run_until(self, end_s: float, stop: Callable[[], bool] = lambda: False) -> None:
        """Run to the time ``end_s``, or until ``stop`` holds."""
        while True:
            self._run_ready()
            if stop():
                return
            if not self._timers or self._timers[0][0] > end_s:
                self.now_s = max(self.now_s, end_s)
                return
            at_s, _, _, timer = heapq.heappop(self._timers)
            self.now_s = max(self.now_s, at_s)
            if not timer.cancelled:
                timer.action()

    def _run_ready(self) -> None:
        budget = MAX_SWITCHES_AT_ONCE
        while ready := self._ready:
            budget -= 1
            if budget < 0:
                names = sorted({f'{each.process.name}/{each.name}' for each in ready})
                raise Spinning(f'at {self.now_s:.3f} s: {", ".join(names)}')
            count = len(ready)
            self._run(ready.pop(int(self._chance.random() * count) if count > 1 else 0))

    def _run(self, thread: SimulatedThread) -> None:
        process = thread.process
        if process.frozen:
            process.held_back.append(thread)
            return
        if thread.debt_s:
            debt, thread.debt_s = thread.debt_s, 0.0
            self.call_later(debt, lambda: self._make_ready(thread))
            return
        self.current = thread
        _set_running_loop(thread.loop)
        thread.greenlet.switch()
        thread.loop = _get_running_loop()
        _set_running_loop(None)
        self.current = None


_set_running_loop: Any = asyncio._set_running_loop
_get_running_loop: Any = asyncio._get_running_loop
