# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A thread for work that is rare and may block: it lives only while there is some."""

from __future__ import annotations

from collections.abc import Callable
import threading


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
        while True:
            with self._condition:
                if not self._woken:
                    self._running = False
                    self._condition.notify_all()
                    return
                self._woken = False
            try:
                self._drain()
            except BaseException:
                with self._condition:
                    self._running = False
                    self._condition.notify_all()
                raise
