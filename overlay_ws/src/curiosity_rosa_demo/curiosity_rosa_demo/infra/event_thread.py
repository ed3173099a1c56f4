# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Threads: one that drains a queue, one that runs an event loop, one for a single call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
import threading
from typing import TypeVar

from curiosity_rosa_demo.domain.models import TraceEvent
from curiosity_rosa_demo.trace.trace_buffer import EventBus, EventsLost, Subscription

# --- A thread for work that is rare and may block: it lives only while there is some -----------


class DrainThread:
    """Calls ``drain`` after each ``wake``, in one thread at a time. Several wakes during a call
    lead to one further call. An exception of ``drain`` ends the thread; the next wake starts one.
    """

    def __init__(self, name: str, drain: Callable[[], None]) -> None:
        self._name, self._drain = name, drain
        self._condition = threading.Condition()
        self._woken = self._running = False

    def wake(self) -> None:
        """Have ``drain`` called. Thread-safe; never waits for a call."""
        with self._condition:
            self._woken = True
            if self._running:
                return
            self._running = True
        try:
            threading.Thread(target=self._run, name=self._name, daemon=True).start()
        except RuntimeError:  # no more threads can be started; the next wake tries again
            with self._condition:
                self._running = False

    def wait(self, timeout_s: float) -> bool:
        """Wait until all is done; False after ``timeout_s``."""
        with self._condition:
            return self._condition.wait_for(lambda: not self._running, timeout_s)

    def _run(self) -> None:
        go_on = True
        while go_on:
            with self._condition:
                self._woken = go_on = False
            try:
                self._drain()
                go_on = True
            finally:
                with self._condition:
                    self._running = go_on = go_on and self._woken
                    self._condition.notify_all()


# --- A subscriber of the event bus that may wait: for a file, a network or a picture -----------


MAX_BATCH = 50  # events that the thread takes from the ring at once
END_TIMEOUT_S = 4.0  # for the events that are not yet delivered

T = TypeVar('T')


class EventThread:
    """Calls ``listener`` with the own trace events, in their order, in a thread that lives while
    there are any. Its errors and losses are reported.
    """

    def __init__(self, bus: EventBus, name: str, listener: Callable[[TraceEvent], None]) -> None:
        self._bus, self._name, self._listener = bus, name, listener
        self._thread = DrainThread(f'events {name}', self._deliver)
        wake = self._thread.wake
        self._subscription = Subscription(bus, name, TraceEvent, own_only=True, wake=wake)

    def close(self, timeout_s: float = END_TIMEOUT_S) -> None:
        """Deliver what was published before, for ``timeout_s`` at most."""
        self._subscription.close()
        self._thread.wake()
        self._thread.wait(timeout_s)

    def _deliver(self) -> None:
        while (batch := self._subscription.read(MAX_BATCH)).events or batch.lost:
            if batch.lost:
                self._bus.report(self._name, EventsLost(batch.lost))
            for each in batch.events:
                try:
                    self._listener(each.event)
                except Exception as error:
                    self._bus.report(self._name, error)


# --- Blocking work that a coroutine awaits, in a thread of its own -----------------------------
# No pool: the work never waits for other work, no idle thread stays, and none keeps the process
# alive.


def fulfil(result: Future[T], work: Callable[[], T]) -> None:
    """Set ``result`` to what ``work`` returns, or to its exception."""
    try:
        result.set_result(work())
    except BaseException as error:
        result.set_exception(error)


async def run_in_thread(name: str, work: Callable[[], T]) -> T:
    """Run ``work`` in a new daemon thread; returns its result or raises its exception. Work goes
    on when the caller is cancelled.
    """
    result: Future[T] = Future()
    result.set_running_or_notify_cancel()  # a caller cannot cancel it

    threading.Thread(target=fulfil, args=(result, work), name=name, daemon=True).start()
    done = asyncio.wrap_future(result)
    # Its exception is not logged as unretrieved when the caller was cancelled.
    done.add_done_callback(lambda _: done.cancelled() or done.exception())
    return await done
