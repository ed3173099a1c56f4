# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A thread that runs queued jobs one by one, and a periodic callback in between."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent import futures
import logging
import threading
from typing import TypeVar

T = TypeVar('T')
Job = Callable[[], object]
CLOSE_TIMEOUT_S = 5.0

_log = logging.getLogger('curiosity_rosa.worker')


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
        answer: futures.Future[T] = futures.Future()

        def job() -> None:
            try:
                answer.set_result(work())
            except Exception as error:
                answer.set_exception(error)
                raise

        self.post(job)
        try:
            return answer.result(timeout_s)
        except futures.TimeoutError:  # not the builtin one before Python 3.11
            if answer.done():
                raise
            raise TimeoutError(f'No answer within {timeout_s:g} s') from None

    def close(self) -> None:
        """End the thread after its current job."""
        with self._condition:
            self._closed, thread = True, self._thread
            self._condition.notify()
        if thread is not None:
            thread.join(CLOSE_TIMEOUT_S)

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
