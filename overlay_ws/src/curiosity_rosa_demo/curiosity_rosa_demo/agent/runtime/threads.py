# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Threads with work of others: an asyncio loop with the jobs of those who share it, and a worker
that runs queued jobs one by one, with a periodic callback in between.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
import concurrent.futures
from contextlib import suppress
import logging
import threading
from typing import Any, TypeVar

T = TypeVar('T')
Job = Callable[[], object]
CALL_TIMEOUT_S = 10.0
CLOSE_TIMEOUT_S, WORKER_CLOSE_TIMEOUT_S = 3.0, 5.0

_log = logging.getLogger('curiosity_rosa.worker')


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


class PeriodicWorker:
    """Calls ``poll`` after every job and every ``wake``, and every ``every_s()`` seconds; None: no
    period. ``on_error`` is called in the thread with the exception of a job or of ``poll``; the
    thread goes on. A thread lives while there is a job or a period.
    """

    def __init__(
        self,
        name: str,
        *,
        poll: Job,
        every_s: Callable[[], float | None],
        on_error: Callable[[Exception], None],
    ) -> None:
        self._poll, self._every_s, self._on_error = poll, every_s, on_error
        self._condition = threading.Condition()
        self._jobs: deque[Job] = deque()
        self._woken = self._closed = False
        self._name = name
        self._thread: threading.Thread | None = None  # None: nothing to do

    def post(self, job: Job) -> None:
        """Queue ``job``, in the order of the calls. Thread-safe."""
        with self._condition:
            self._jobs.append(job)
            self._notify()

    def wake(self) -> None:
        with self._condition:
            self._woken = True
            self._notify()

    def _notify(self) -> None:
        """Call with the lock held."""
        if self._thread is None and not self._closed:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        self._condition.notify()

    def call(self, work: Callable[[], T], timeout_s: float) -> T:
        """Run ``work`` in the thread and return its result. Call it from another thread.

        Raises the exceptions of ``work``, and TimeoutError after ``timeout_s``. The work then
        still runs later, unless the thread has ended.
        """
        answer: concurrent.futures.Future[T] = concurrent.futures.Future()

        def job() -> None:
            try:
                answer.set_result(work())
            except Exception as error:
                answer.set_exception(error)
                raise

        self.post(job)
        try:
            return answer.result(timeout_s)
        except concurrent.futures.TimeoutError:  # not the builtin one before Python 3.11
            if answer.done():
                raise
            raise TimeoutError(f'No answer within {timeout_s:g} s') from None

    def close(self) -> None:
        """End the thread after its current job."""
        with self._condition:
            self._closed, thread = True, self._thread
            self._condition.notify()
        if thread is not None:
            thread.join(WORKER_CLOSE_TIMEOUT_S)

    def _run(self) -> None:
        while True:
            period_s = self._every_s()
            with self._condition:
                is_idle = period_s is None and not self._jobs and not self._woken
                if is_idle or self._closed:
                    self._thread = None
                    return
                self._condition.wait_for(
                    lambda: self._jobs or self._woken or self._closed, period_s
                )
                if self._closed:
                    return
                self._woken = False
                job = self._jobs.popleft() if self._jobs else self._poll
            self._run_job(job)
            if job is not self._poll:
                self._run_job(self._poll)

    def _run_job(self, job: Job) -> None:
        try:
            job()
        except Exception as error:
            _log.exception('event=job_failed')
            try:
                self._on_error(error)
            except Exception:
                _log.exception('event=on_error_failed')
