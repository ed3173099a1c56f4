# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An asyncio loop in a separate thread, and the jobs of those who share it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
import concurrent.futures
from contextlib import suppress
import threading
from typing import Any, TypeVar

T = TypeVar('T')
CALL_TIMEOUT_S = 10.0
CLOSE_TIMEOUT_S = 3.0


class LoopJobs:
    """The jobs of one owner in a loop that it may share with others.

    ``on_error`` is called in the loop when a job of this owner has ended with an exception.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, on_error: Callable[[BaseException], None]
    ) -> None:
        self._loop, self._on_error = loop, on_error
        self._jobs: set[asyncio.Task[Any]] = set()

    def call(self, work: Coroutine[Any, Any, T], timeout_s: float = CALL_TIMEOUT_S) -> T:
        """Run ``work`` in the loop and wait for its result. Call it from another thread.

        Raises the exceptions of ``work``, and TimeoutError after ``timeout_s``; ``work`` is then
        cancelled, so that it takes no effect late.
        """
        future = self.submit(work)
        try:
            return future.result(timeout_s)
        except concurrent.futures.TimeoutError:  # not the builtin one before Python 3.11
            if future.done():
                raise
            future.cancel()
            raise TimeoutError(f'No answer from the loop within {timeout_s:g} s') from None

    def submit(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Run ``work`` in the loop without waiting for it. Work that is cancelled before the loop
        reaches it does not start. Raises RuntimeError when the loop has ended.
        """

        async def run() -> T:
            try:
                await asyncio.sleep(0)  # a pending cancellation takes effect here
                return await work
            finally:
                work.close()

        running = run()
        try:
            return asyncio.run_coroutine_threadsafe(running, self._loop)
        except RuntimeError:
            running.close()
            work.close()
            raise

    def call_soon(self, work: Callable[..., object], *arguments: Any) -> None:
        """Call ``work`` in the loop, in the order of the calls. Thread-safe. Has no effect after
        the loop has ended.
        """
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(work, *arguments)

    def start_job(self, work: Coroutine[Any, Any, Any]) -> None:
        """Start a job that may run until ``cancel_jobs``. Call it in the loop."""
        job = self._loop.create_task(work)
        self._jobs.add(job)
        job.add_done_callback(self._on_job_end)

    def _on_job_end(self, job: asyncio.Task[Any]) -> None:
        self._jobs.discard(job)
        if not job.cancelled() and (error := job.exception()) is not None:
            self._on_error(error)

    async def cancel_jobs(self) -> None:
        """Cancel the jobs of this owner, and wait CLOSE_TIMEOUT_S at most for their ends."""
        jobs = list(self._jobs)
        for job in jobs:
            job.cancel()
        if jobs:
            await asyncio.wait(jobs, timeout=CLOSE_TIMEOUT_S)


class EventLoopThread(LoopJobs):
    """A loop in a thread of its own, from ``start`` to ``close``, and the owner of that thread.

    Calls before ``start`` are queued.
    """

    def __init__(self, name: str, on_error: Callable[[BaseException], None]) -> None:
        super().__init__(asyncio.new_event_loop(), on_error)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def is_started(self) -> bool:
        return self._thread.ident is not None

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """For the LoopJobs of another owner, which end and fail apart from these."""
        return self._loop

    def close(self) -> None:
        """End the loop, from another thread."""
        if not self.is_started:
            self._loop.close()
            return
        self.call_soon(self._loop.stop)
        self._thread.join(CLOSE_TIMEOUT_S)
        if not self._thread.is_alive():
            self._loop.close()
