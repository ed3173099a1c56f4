# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Cancellation of a turn, requested from any thread. ``except Exception`` cannot swallow it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import threading


class TurnCancelled(BaseException):
    """The turn was cancelled. The message is the reason."""


class Cancellation:
    """The cancellation request of one turn. Thread-safe. Once requested, it stays requested."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self.reason = ''

    def cancel(self, reason: str) -> None:
        """Request the cancellation and run the callbacks. The first reason counts."""
        for callback in self.request(reason):
            callback()

    def request(self, reason: str) -> list[Callable[[], None]]:
        """Request the cancellation and return the callbacks, which the caller must run."""
        with self._lock:
            if self._event.is_set():
                return []
            self.reason = reason
            self._event.set()
            return list(self._callbacks)

    @contextmanager
    def hold_back(self) -> Iterator[None]:
        """Block ``request`` in other threads inside the context; keep the context short. Raises
        TurnCancelled when the cancellation is already requested.
        """
        with self._lock:
            self.check()
            yield

    @contextmanager
    def call_when_pressed(self, callback: Callable[[], None]) -> Iterator[None]:
        """Run ``callback`` on a cancellation inside the context, without the lock, on the thread
        that cancels. If already requested, run it at once on the caller's thread.
        """
        with self._lock:
            already_requested = self._event.is_set()
            self._callbacks.append(callback)
        try:
            if already_requested:
                callback()
            yield
        finally:
            with self._lock:
                self._callbacks.remove(callback)

    @property
    def requested(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        """Raises TurnCancelled when the cancellation is requested."""
        if self._event.is_set():
            raise TurnCancelled(self.reason)

    def sleep(self, seconds: float) -> None:
        """Wait, in steady seconds. Raises TurnCancelled as soon as a cancellation is requested."""
        if self._event.wait(seconds):
            raise TurnCancelled(self.reason)
