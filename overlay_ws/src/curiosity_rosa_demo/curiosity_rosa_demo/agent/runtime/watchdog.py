# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Detects, in a separate thread, that the kernel has stopped ticking."""

from __future__ import annotations

from collections.abc import Callable
import logging
import threading
import time

CHECKS_PER_LIMIT = 4  # checks per ``limit_s``

_log = logging.getLogger('curiosity_rosa.watchdog')


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
