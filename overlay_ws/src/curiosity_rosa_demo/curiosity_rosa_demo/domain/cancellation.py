# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Stopping a turn: a request that anybody may make and that a broad except cannot swallow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import threading


class TurnCancelled(BaseException):
    """The turn was stopped; the message says by whom."""


class Cancellation:
    """The stop button of one turn."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self.reason = ''

    def cancel(self, reason: str) -> None:
        for callback in self.request(reason):
            callback()

    def request(self, reason: str) -> list[Callable[[], None]]:
        """Press the button, and return the callbacks that are still to be called for it."""
        with self._lock:
            if self._event.is_set():
                return []
            self.reason = reason
            self._event.set()
            return list(self._callbacks)

    @contextmanager
    def hold_back(self) -> Iterator[None]:
        """Within, the button cannot be pressed: who presses it waits. Raises TurnCancelled when it
        was pressed before. For a moment only.
        """
        with self._lock:
            self.check()
            yield

    @contextmanager
    def call_when_pressed(self, callback: Callable[[], None]) -> Iterator[None]:
        """Within, pressing the button calls ``callback``; at once if it was pressed before."""
        with self._lock:
            pressed = self._event.is_set()
            self._callbacks.append(callback)
        try:
            if pressed:
                callback()
            yield
        finally:
            with self._lock:
                self._callbacks.remove(callback)

    @property
    def requested(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        """Raises TurnCancelled when the button was pressed."""
        if self._event.is_set():
            raise TurnCancelled(self.reason)

    def sleep(self, seconds: float) -> None:
        """Wait, in steady seconds. Raises TurnCancelled at once when the button is pressed."""
        if self._event.wait(seconds):
            raise TurnCancelled(self.reason)
