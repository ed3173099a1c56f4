# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Limit the rate of messages without losing the last one. Pure except for a lock."""

from __future__ import annotations

from dataclasses import dataclass, field
import threading
from typing import Generic, TypeVar

T = TypeVar('T')


@dataclass
class Throttle(Generic[T]):
    """Passes at most one message per 1 / ``hz`` seconds and holds the newest of the others.

    ``hz``: None passes all, 0 none. Times are seconds of a steady clock. Thread-safe.
    """

    hz: float | None
    _next_s: float = float('-inf')
    _held_message: T | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def accept(self, message: T, now_s: float) -> T | None:
        """Return ``message`` if it may pass now. Otherwise hold it, in place of the held one."""
        if self.hz is None:
            return message
        with self._lock:
            if self.hz <= 0.0:
                return None
            if now_s < self._next_s:
                self._held_message = message
                return None
            return self._pass_on(message, now_s)

    def take_due(self, now_s: float) -> T | None:
        """Return the held message if it may pass now, else None."""
        with self._lock:
            if self._held_message is None or now_s < self._next_s:
                return None
            return self._pass_on(self._held_message, now_s)

    def _pass_on(self, message: T, now_s: float) -> T:
        assert self.hz is not None
        self._next_s, self._held_message = now_s + 1.0 / self.hz, None
        return message
